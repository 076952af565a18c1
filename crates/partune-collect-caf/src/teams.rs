//! Teams of images: the world of all of them first, and those that the program forms.
//!
//! Who is in a team the library knows as the group of a communicator of MPI, which it gives for the team that was formed last. A library
//! without MPI has no such function; then nothing is told of what teams do.

use std::collections::HashMap;
use std::ffi::c_int;
use std::mem::transmute;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use partune_collect::Call;
use partune_collect::definitions::{self, Comm};
use partune_collect::facts::{Collective, NO_ROOT, SYNC_PROCESS};
use partune_collect::meeting::{Meeting, Set};
use partune_collect::next::find;

/// Images that are numbered together.
#[derive(Debug)]
pub(crate) struct Team {
    pub(crate) set: Set,
    /// Ranks in the world, by image number less one.
    members: Vec<u32>,
    /// How many coarrays were made in it.
    coarrays: AtomicU32,
}

/// All images, and the number of their world.
#[derive(Debug)]
struct World {
    number: u32,
    team: &'static Team,
    /// Handles of MPI, words: all images as a group. 0 if that is not known.
    group: usize,
}

static WORLD: OnceLock<World> = OnceLock::new();

/// The teams that the program has formed.
#[derive(Debug, Default)]
struct Teams {
    /// By the library's handles.
    formed: HashMap<usize, &'static Team>,
    /// Those that it is in, the innermost last.
    open: Vec<&'static Team>,
}

static TEAMS: Mutex<Option<Teams>> = Mutex::new(None);

fn with<T>(act: impl FnOnce(&mut Teams) -> T) -> T {
    act(TEAMS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

impl Team {
    fn new(world: u32, members: Vec<u32>, rank: u32, parent: Option<u32>, key: Option<u64>) -> &'static Team {
        let name = if parent.is_none() { "all images" } else { "" };
        let size = members.len() as u32;
        let sequence = if parent.is_none() { 0 } else { sequence(&members) };
        let comm = definitions::comm(&Comm { world, sequence, members: &members, remote: &[], parent, name });
        let window = definitions::window(comm, 0, "team", "images");
        let set = Set { comm, window, rank, size, world: key };
        // Teams are never ended.
        Box::leak(Box::new(Team { set, members, coarrays: AtomicU32::new(0) }))
    }

    /// The rank in this team of an image of the current one.
    pub(crate) fn rank_of(&self, image: i32) -> u32 {
        let at = (image - 1) as u32;
        let Some(current) = current().filter(|current| !std::ptr::eq(*current, self)) else { return at };
        let world = current.members.get(at as usize);
        let rank = world.and_then(|world| self.members.iter().position(|member| member == world));
        rank.map_or(at, |rank| rank as u32)
    }

    /// A window for another coarray of it.
    pub(crate) fn coarray(&self) -> u32 {
        let sequence = self.coarrays.fetch_add(1, Ordering::Relaxed) + 1;
        definitions::window(self.set.comm, sequence, "coarray", "coarray")
    }

    /// These images of it, as a group.
    pub(crate) fn group(&self, images: &[i32]) -> Option<u32> {
        static GROUPS: Mutex<Option<HashMap<Vec<u32>, u32>>> = Mutex::new(None);
        let member = |image: &i32| self.members.get((image - 1) as usize).copied();
        let mut members: Vec<u32> = images.iter().map(member).collect::<Option<_>>()?;
        members.sort_unstable();
        let number = WORLD.get()?.number;
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = groups.get_or_insert_default();
        Some(*groups.entry(members).or_insert_with_key(|members| definitions::group(number, members)))
    }

    pub(crate) fn images(&self) -> Vec<i32> {
        (1..=self.set.size as i32).collect()
    }
}

/// How many teams of the same members there were: forming them is collective, so all of them count alike.
fn sequence(members: &[u32]) -> u32 {
    static SEEN: Mutex<Option<HashMap<Vec<u32>, u32>>> = Mutex::new(None);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let count = seen.get_or_insert_default().entry(members.to_vec()).or_default();
    *count += 1;
    *count
}

/// The team that images are numbered in now; none before there are any.
pub(crate) fn current() -> Option<&'static Team> {
    let world = WORLD.get()?;
    Some(with(|teams| teams.open.last().copied()).unwrap_or(world.team))
}

/// This process is one of so many images.
pub(crate) fn set_world(number: u32, rank: u32, size: u32, key: u64) {
    WORLD.get_or_init(|| World {
        number,
        team: Team::new(number, (0..size).collect(), rank, None, Some(key)),
        group: mpi::newest().unwrap_or(0),
    });
}

pub(crate) fn form(call: &mut Call<'_>) -> Meeting {
    Meeting::begin(call, set(current()), Collective::CreateHandle, SYNC_PROCESS, NO_ROOT, [0, 0])
}

/// It was formed, and its handle is stored there.
pub(crate) fn formed(place: usize) {
    let Some(world) = WORLD.get() else { return };
    let parent = current().map(|team| team.set.comm);
    let Some(members) = mpi::newest().and_then(|group| mpi::ranks(group, world.group)) else { return };
    let own = world.team.set.rank;
    let Some(rank) = members.iter().position(|member| *member == own) else { return };
    let team = Team::new(world.number, members, rank as u32, parent, None);
    with(|teams| teams.formed.insert(handle(place), team));
}

/// Everybody in a team waits for everybody.
pub(crate) fn meet(call: &mut Call<'_>, team: Option<&'static Team>, level: u32) -> Meeting {
    Meeting::begin(call, set(team), Collective::Barrier, level, NO_ROOT, [0, 0])
}

pub(crate) fn named(place: usize) -> Option<&'static Team> {
    with(|teams| teams.formed.get(&handle(place)).copied())
}

/// The program is in a team from now on. If that is not known, its images are numbered as before.
pub(crate) fn changed(place: usize) {
    let Some(team) = named(place).or_else(current) else { return };
    with(|teams| teams.open.push(team));
}

pub(crate) fn ended() {
    with(|teams| teams.open.pop());
}

pub(crate) fn set(team: Option<&Team>) -> Option<Set> {
    team.map(|team| team.set)
}

fn handle(place: usize) -> usize {
    // SAFETY: the program's variable of a team, if any.
    unsafe { (place as *const usize).as_ref() }.copied().unwrap_or(0)
}

/// What is asked of MPI. Handles are words, whatever they are for a library.
mod mpi {
    use super::{c_int, find, transmute};
    use crate::life::named;

    /// The group of the team that was formed last, or of all images.
    pub(super) fn newest() -> Option<usize> {
        let communicator = named("get_communicator")?;
        // SAFETY: the library's, which takes a team or nothing.
        let communicator: unsafe extern "C" fn(usize) -> c_int = unsafe { transmute(communicator) };
        // SAFETY: a function of MPI that only translates.
        let from_fortran: unsafe extern "C" fn(c_int) -> usize = unsafe { transmute(find("PMPI_Comm_f2c")?) };
        // SAFETY: a function of MPI, which is there.
        let group_of: unsafe extern "C" fn(usize, *mut usize) -> c_int = unsafe { transmute(find("PMPI_Comm_group")?) };
        let mut group = 0;
        // SAFETY: a communicator of the library's, and a place for the handle.
        let done = unsafe { group_of(from_fortran(communicator(0)), &raw mut group) } == 0;
        done.then_some(group)
    }

    /// The ranks in another group of a group's members.
    pub(super) fn ranks(group: usize, within: usize) -> Option<Vec<u32>> {
        // SAFETY: functions of MPI.
        let size_of: unsafe extern "C" fn(usize, *mut c_int) -> c_int = unsafe { transmute(find("PMPI_Group_size")?) };
        let translate = find("PMPI_Group_translate_ranks")?;
        // SAFETY: as above.
        let translate: unsafe extern "C" fn(usize, c_int, *const c_int, usize, *mut c_int) -> c_int =
            unsafe { transmute(translate) };
        let mut size = 0;
        // SAFETY: a handle, and a place for a number.
        if within == 0 || unsafe { size_of(group, &raw mut size) } != 0 {
            return None;
        }
        let own: Vec<c_int> = (0..size).collect();
        let mut there = own.clone();
        // SAFETY: as many ranks, and as many places.
        let done = unsafe { translate(group, size, own.as_ptr(), within, there.as_mut_ptr()) } == 0;
        there.into_iter().map(u32::try_from).collect::<Result<_, _>>().ok().filter(|_| done)
    }
}
