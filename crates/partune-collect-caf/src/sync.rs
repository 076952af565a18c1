//! What images do together: synchronisation, locks and critical blocks, collectives.
//!
//! Bytes of collectives are what crosses the interface: an image sends its value to each member, itself included, and receives likewise; the
//! root of a broadcast receives nothing, and the others of a reduction to one image neither.

use partune_collect::facts::{Collective, Lock, NO_ROOT, SYNC_MEMORY, SYNC_PROCESS, Sync};
use partune_collect::meeting::Meeting;
use partune_collect::{ANYBODY, Call, Region};

use crate::array::Array;
use crate::{coarrays, life, regions, teams};

/// A synchronisation completes what its images have begun.
pub(crate) const BARRIER: u32 = SYNC_PROCESS | SYNC_MEMORY;

pub(crate) fn everybody(call: &mut Call<'_>) -> Meeting {
    life::is_running();
    teams::meet(call, teams::current(), BARRIER)
}

/// Images that are named, and those that name this one, wait for each other.
pub(crate) fn images(call: &mut Call<'_>, count: usize, images: usize) {
    const ALL: i32 = -1;
    life::is_running();
    let Some(team) = teams::current() else { return };
    let set = team.set;
    let named = match count as i32 {
        ALL => team.images(),
        // SAFETY: as many numbers of the program.
        count @ 1.. => unsafe { std::slice::from_raw_parts(images as *const i32, count as usize) }.to_vec(),
        _ => Vec::new(),
    };
    if let [image] = named[..] {
        let rank = (image - 1) as u32;
        call.rma_sync(set.window, rank, Sync::NotifyOut);
        call.awaits(set.comm, rank);
    } else if let Some(group) = team.group(&named).filter(|_| !named.is_empty()) {
        call.rma_group_sync(BARRIER, set.window, group);
        call.awaits(set.comm, ANYBODY);
    }
}

/// A lock variable: its coarray, which of them if it is an array, and on which image.
#[derive(Clone, Copy)]
struct Place {
    window: u32,
    rank: u32,
    index: u64,
    comm: u32,
}

fn place(token: usize, index: usize, image: usize) -> Option<Place> {
    let coarray = coarrays::find(token)?;
    let set = coarray.team.set;
    let rank = if image as i32 == 0 { set.rank } else { (image as i32 - 1) as u32 };
    Some(Place { window: coarray.window, rank, index: index as u64, comm: set.comm })
}

/// What a call for a lock is called; `acquired` is where the program wants to know whether it has it.
pub(crate) fn locking(token: usize, acquired: usize) -> &'static Region {
    match coarrays::find(token).is_some_and(|coarray| coarray.is_critical) {
        true => &regions::CRITICAL,
        false if acquired != 0 => &regions::TRY_LOCK,
        false => &regions::LOCK,
    }
}

pub(crate) fn unlocking(token: usize) -> &'static Region {
    let is_critical = coarrays::find(token).is_some_and(|coarray| coarray.is_critical);
    if is_critical { &regions::END_CRITICAL } else { &regions::UNLOCK }
}

/// Asks for a lock, and waits for it unless the program wants to know whether it has it.
pub(crate) fn request(call: &mut Call<'_>, (token, index, image): (usize, usize, usize), acquired: usize) {
    if let Some(Place { window, rank, index, comm }) = place(token, index, image).filter(|_| acquired == 0) {
        call.rma_request_lock(window, rank, index, Lock::Exclusive);
        call.awaits(comm, ANYBODY);
    }
}

/// The call has returned, with the lock if nothing says otherwise.
pub(crate) fn requested(
    call: &mut Call<'_>,
    (token, index, image): (usize, usize, usize),
    acquired: usize,
    status: usize,
) {
    // SAFETY: the program's variables, if any.
    let (acquired, status) = unsafe { ((acquired as *const i32).as_ref(), (status as *const i32).as_ref()) };
    let is_held = acquired.is_none_or(|acquired| *acquired != 0) && status.is_none_or(|status| *status == 0);
    call.polled(is_held);
    if let Some(Place { window, rank, index, .. }) = place(token, index, image).filter(|_| is_held) {
        call.rma_acquire_lock(window, rank, index, Lock::Exclusive);
    }
}

/// It is free from when the call begins: another image may have it before that returns.
pub(crate) fn release(call: &mut Call<'_>, (token, index, image): (usize, usize, usize)) {
    if let Some(Place { window, rank, index, .. }) = place(token, index, image) {
        call.rma_release_lock(window, rank, index);
    }
}

pub(crate) fn broadcast(call: &mut Call<'_>, array: usize, image: usize) -> Meeting {
    collective(
        call,
        array,
        Collective::Broadcast,
        image,
        |is_root, bytes, all| if is_root { [all, 0] } else { [0, bytes] },
    )
}

/// What a reduction is called: one to all images, or one to that with this number.
pub(crate) fn reduction([to_all, to_one]: [&'static Region; 2], image: usize) -> &'static Region {
    if image as i32 == 0 { to_all } else { to_one }
}

/// To all images, or with a number to that one.
pub(crate) fn reduce(call: &mut Call<'_>, array: usize, image: usize) -> Meeting {
    if image as i32 == 0 {
        return collective(call, array, Collective::Allreduce, image, |_, _, all| [all, all]);
    }
    collective(call, array, Collective::Reduce, image, |is_root, bytes, all| [bytes, if is_root { all } else { 0 }])
}

/// `moved`: sent and received, by whether this is the root, the bytes of a value, and those of as many as there are images.
fn collective(
    call: &mut Call<'_>,
    array: usize,
    op: Collective,
    image: usize,
    moved: impl FnOnce(bool, u64, u64) -> [u64; 2],
) -> Meeting {
    let set = teams::set(teams::current());
    let root = (image as u32).checked_sub(1).unwrap_or(NO_ROOT);
    let bytes = Array::at(array).map_or(0, Array::bytes);
    let moved = set.map_or([0, 0], |set| moved(set.rank == root, bytes, bytes * u64::from(set.size)));
    Meeting::begin(call, set, op, BARRIER, root, moved)
}
