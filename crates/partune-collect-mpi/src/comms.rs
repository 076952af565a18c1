//! Communicators and groups: from handles to numbers in the archive, with members as ranks in the world.
//!
//! Nobody is asked which communicator of another process is the same. Its members are ranks in the world, and all of them make it
//! together; so members and how many with the same members came before are equal on all and name it. Two threads that make
//! communicators of the same members at the same time from different ones would break that; MPI programs order such calls.
//!
//! A look-up is a few instructions in a small table of the thread, else a lock and a hash. Processes that are not in this one's world
//! (spawned ones, or those of another job) are *strangers*: they are numbered after the ranks of the world where they are met, which is on
//! the other side of an intercommunicator. Who they are is found at completion. A communicator with members of whom nobody knows where they were met
//! is *foreign*: its calls are recorded and its messages are not.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Mutex, OnceLock, PoisonError};

use partune_collect::definitions;
use partune_mpi_abi::SUCCESS;

use crate::function::PARADIGM;
use crate::mpi::Mpi;
use crate::{memo, pmpi};

/// What handlers ask of a communicator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comm {
    pub(crate) number: u32,
    /// Rank of this process.
    pub(crate) rank: u32,
    pub(crate) size: u32,
    /// Size of the other group of an intercommunicator; 0 otherwise.
    pub(crate) remote: u32,
    pub(crate) is_inter: bool,
}

impl Comm {
    /// How many processes one talks to in a collective.
    pub(crate) fn partners(&self) -> u32 {
        if self.is_inter { self.remote } else { self.size }
    }
}

/// The processes that ranks in the archive count.
#[derive(Debug)]
pub(crate) struct World {
    /// A handle of MPI, kept as long as the program runs.
    group: usize,
    /// Its number in the log.
    number: u32,
    pub(crate) size: u32,
    /// Tells it from those of other jobs.
    pub(crate) key: u64,
}

static WORLD: OnceLock<World> = OnceLock::new();

static TABLE: Mutex<Option<Table>> = Mutex::new(None);

#[derive(Default)]
struct Table {
    /// None of a foreign one.
    comms: HashMap<usize, Option<Comm>>,
    /// How many there were with the same members; lists by a key of 128 bits.
    sequences: HashMap<u128, u32>,
    groups: HashMap<u128, u32>,
    strangers: Vec<Strangers>,
}

/// The other side of an intercommunicator, where that is of another world.
#[derive(Clone, Copy)]
struct Strangers {
    /// A handle of MPI, kept as long as the program runs.
    group: usize,
    /// The number of its rank 0 among members.
    first: u32,
    size: u32,
}

/// Says which processes are the world, and which of them this one is, if that was not said before.
pub(crate) fn set_world(group: usize, rank: u32, size: u32, key: u64) {
    WORLD.get_or_init(|| World { group, number: partune_collect::identify(PARADIGM, rank, size, key), size, key });
}

pub(crate) fn world() -> Option<&'static World> {
    WORLD.get()
}

/// The communicator of a handle; none if it is foreign or no communicator.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn find(mpi: &Mpi, handle: usize) -> Option<Comm> {
    memo::get(|memos| &mut memos.comms, handle, || known(mpi, handle))
}

/// The number of a communicator in the archive, as [`find`].
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn number_of(mpi: &Mpi, handle: usize) -> Option<u32> {
    find(mpi, handle).map(|comm| comm.number)
}

#[cold]
fn known(mpi: &Mpi, handle: usize) -> Option<Comm> {
    let found = with_table(|table| table.comms.get(&handle).copied());
    found.unwrap_or_else(|| register(mpi, handle, None, ""))
}

/// Keeps a communicator that was just made, from `parent`. None if it is foreign, or there is no world yet.
pub(crate) fn register(mpi: &Mpi, handle: usize, parent: Option<u32>, name: &str) -> Option<Comm> {
    keep(mpi, handle, &Origin { parent, name, call: None })
}

/// The same for one that may lead to another world. The call that made it began and ended at moments of [`partune_collect::wall`].
pub(crate) fn register_met(mpi: &Mpi, handle: usize, parent: Option<u32>, call: (u64, u64)) -> Option<Comm> {
    keep(mpi, handle, &Origin { parent, name: "", call: Some(call) })
}

fn keep(mpi: &Mpi, handle: usize, origin: &Origin<'_>) -> Option<Comm> {
    if handle == mpi.comm_null || WORLD.get().is_none() {
        return None;
    }
    let comm = describe(handle, origin);
    with_table(|table| table.comms.insert(handle, comm));
    memo::forget();
    comm
}

/// Keeps a communicator that has the members of another one, without asking MPI: it may not be complete yet.
pub(crate) fn register_copy(handle: usize, of: usize, original: &Comm) -> Option<Comm> {
    let members = of_comm(of, pmpi::comm_group)?;
    let remote = if original.is_inter { of_comm(of, pmpi::comm_remote_group)? } else { Vec::new() };
    let number = number(&members, &remote, Some(original.number), "");
    let comm = Comm { number, ..*original };
    with_table(|table| table.comms.insert(handle, Some(comm)));
    memo::forget();
    Some(comm)
}

/// The handle will mean something else, or, if that failed, it goes on to mean `again`.
pub(crate) fn forget(handle: usize, again: Option<Comm>) {
    with_table(|table| match again {
        Some(_) => table.comms.insert(handle, again),
        None => table.comms.remove(&handle),
    });
    memo::forget();
}

/// The number of a group's handle in the archive; none if it has foreign members.
pub(crate) fn group(handle: usize) -> Option<u32> {
    let (world, members) = (world()?.number, members(handle)?);
    let key = key(&members, &[]);
    Some(with_table(|table| *table.groups.entry(key).or_insert_with(|| definitions::group(world, &members))))
}

fn with_table<T>(act: impl FnOnce(&mut Table) -> T) -> T {
    let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    act(table.get_or_insert_with(Table::default))
}

/// Where a communicator comes from.
struct Origin<'a> {
    parent: Option<u32>,
    name: &'a str,
    /// When the call that made it began and ended, if it may lead to another world.
    call: Option<(u64, u64)>,
}

/// Asks MPI about a communicator, all of it locally.
fn describe(handle: usize, origin: &Origin<'_>) -> Option<Comm> {
    let (mut inter, mut rank, mut remote_size) = (0, 0, 0);
    // SAFETY: a communicator of the program, and numbers that outlive the calls.
    let answered = unsafe {
        pmpi::comm_test_inter(handle, address(&mut inter)) == SUCCESS
            && pmpi::comm_rank(handle, address(&mut rank)) == SUCCESS
            && (inter == 0 || pmpi::comm_remote_size(handle, address(&mut remote_size)) == SUCCESS)
    };
    if !answered {
        return None;
    }
    let members = of_comm(handle, pmpi::comm_group)?;
    let is_inter = inter != 0;
    let known = if is_inter { of_comm(handle, pmpi::comm_remote_group) } else { Some(Vec::new()) };
    let (remote, met) = if let Some(remote) = known {
        (remote, None)
    } else {
        let (call, met) = (origin.call?, meet(handle, remote_size as u32)?);
        ((met.first..met.first + met.size).collect(), Some((met, call)))
    };
    let number = number(&members, &remote, origin.parent, origin.name);
    if let Some((met, call)) = met {
        definitions::meeting(number, met.first, met.size, call);
    }
    let (rank, size, remote) = (rank as u32, members.len() as u32, remote_size as u32);
    Some(Comm { number, rank, size, remote, is_inter })
}

/// Numbers the members on the other side of an intercommunicator.
fn meet(comm: usize, size: u32) -> Option<Strangers> {
    let (group, world) = (group_of(comm, pmpi::comm_remote_group)?, world()?.size);
    with_table(|table| {
        let first = table.strangers.last().map_or(world, |last| last.first + last.size);
        let met = Strangers { group, first, size };
        first.checked_add(size)?;
        table.strangers.push(met);
        Some(met)
    })
}

fn address(number: &mut c_int) -> usize {
    std::ptr::from_mut(number) as usize
}

/// Numbers a communicator in the archive.
fn number(members: &[u32], remote: &[u32], parent: Option<u32>, name: &str) -> u32 {
    // Both sides of an intercommunicator count it under the same two lists.
    let (first, second) = if remote.is_empty() || members <= remote { (members, remote) } else { (remote, members) };
    let key = key(first, second);
    let sequence = with_table(|table| {
        let next = table.sequences.entry(key).or_insert(0);
        *next += 1;
        *next - 1
    });
    let world = world().map_or(0, |world| world.number);
    definitions::comm(&definitions::Comm { world, sequence, members, remote, parent, name })
}

type GroupOf = unsafe fn(usize, usize) -> c_int;

/// The members of a communicator's group.
fn of_comm(comm: usize, side: GroupOf) -> Option<Vec<u32>> {
    let mut group = group_of(comm, side)?;
    let members = members(group);
    // SAFETY: the group was made here.
    unsafe { pmpi::group_free(&raw mut group as usize) };
    members
}

/// A new handle of a communicator's group.
fn group_of(comm: usize, side: GroupOf) -> Option<usize> {
    let mut group: usize = 0;
    // SAFETY: a communicator of the program; the handle is written over the lower or the whole word.
    (unsafe { side(comm, &raw mut group as usize) } == SUCCESS).then_some(group)
}

/// The members of a group: ranks in the world, and numbers of strangers; none if one is neither.
fn members(group: usize) -> Option<Vec<u32>> {
    let mut size = 0;
    // SAFETY: a group of the program, and a number.
    if unsafe { pmpi::group_size(group, address(&mut size)) } != SUCCESS {
        return None;
    }
    let members = ranks_in(WORLD.get()?.group, group, size as usize)?;
    if members.iter().all(Option::is_some) {
        return members.into_iter().collect();
    }
    let strangers = with_table(|table| table.strangers.clone());
    let met = |known: Vec<Option<u32>>, them: &Strangers| {
        let theirs = ranks_in(them.group, group, size as usize)?;
        let number = |(known, theirs): (Option<u32>, Option<u32>)| known.or(theirs.map(|rank| them.first + rank));
        Some(known.into_iter().zip(theirs).map(number).collect())
    };
    strangers.iter().try_fold(members, met)?.into_iter().collect()
}

/// The ranks that the members of a group have in another one, if they are in it.
fn ranks_in(other: usize, group: usize, size: usize) -> Option<Vec<Option<u32>>> {
    let ranks: Vec<c_int> = (0..size as c_int).collect();
    let mut translated: Vec<c_int> = vec![-1; size];
    let (from, to) = (ranks.as_ptr() as usize, translated.as_mut_ptr() as usize);
    // SAFETY: arrays of `size` numbers.
    let known = unsafe { pmpi::group_translate_ranks(group, size, from, other, to) } == SUCCESS;
    known.then(|| translated.into_iter().map(|rank| u32::try_from(rank).ok()).collect())
}

/// A key of two lists: two sums that differ for different lists but for a chance of 2⁻¹²⁸.
fn key(first: &[u32], second: &[u32]) -> u128 {
    let mut key = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d ^ (first.len() as u128) << 64 ^ second.len() as u128;
    for rank in first.iter().chain(second) {
        key = (key ^ u128::from(*rank)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        key ^= key >> 67;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn lists_have_keys_of_their_own() {
        let lists: [(&[u32], &[u32]); 7] =
            [(&[], &[]), (&[0], &[]), (&[], &[0]), (&[0, 1], &[]), (&[1, 0], &[]), (&[0], &[1]), (&[1], &[0])];
        for (i, a) in lists.iter().enumerate() {
            for b in &lists[..i] {
                assert_ne!(key(a.0, a.1), key(b.0, b.1), "{a:?} {b:?}");
            }
        }
        assert_eq!(key(&[3, 4], &[5]), key(&[3, 4], &[5]));
    }
}
