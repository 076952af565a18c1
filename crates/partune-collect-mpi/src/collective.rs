//! Collective operations: blocking, non-blocking and persistent, on groups and on neighbourhoods.
//!
//! Bytes are what crosses the interface of MPI, as OTF2's users know them from Score-P: a process sends a block to each it sends to, itself
//! included, and receives likewise; with `MPI_IN_PLACE` not to and from itself. Counts and types are read only where MPI says that they are
//! significant: at the root, or everywhere but there. Those on neighbourhoods are told as [messages](crate::neighbours).

use partune_collect::ANYBODY;
use partune_collect::facts::{Collective, NO_ROOT, SELF_ROOT};
use partune_mpi_abi::Kind;

use crate::comms::{self, Comm};
use crate::function::Mode;
use crate::invocation::Invocation;
use crate::p2p;
use crate::place::Place;
use crate::requests::Work;
use crate::{neighbours, types};

/// The root is in this process's group of an intercommunicator (`OTF2_COLLECTIVE_ROOT_THIS_GROUP`).
const ROOT_IN_THIS_GROUP: u32 = u32::MAX - 2;

/// Whom a process waits for in an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// For all of the communicator.
    All,
    /// For some, or not each for each.
    Some,
}

/// A function for each operation: what it is for the archive, its bytes, and whom it waits for.
macro_rules! collectives {
    ($($name:ident $op:ident $bytes:path, $reach:ident;)*) => {$(
        pub(crate) fn $name(invocation: &mut Invocation<'_>) {
            run(invocation, Collective::$op, $bytes, Reach::$reach);
        }
    )*};
}

collectives! {
    barrier Barrier nothing, All;
    bcast Broadcast broadcast, Some;
    scatter Scatter scattered, Some;
    scatterv Scatterv scattered, Some;
    gather Gather gathered, Some;
    gatherv Gatherv gathered, Some;
    reduce Reduce reduced, Some;
    allgather Allgather exchanged, All;
    allgatherv Allgatherv exchanged, All;
    alltoall Alltoall exchanged, All;
    alltoallv Alltoallv exchanged, All;
    alltoallw Alltoallw exchanged, All;
    allreduce Allreduce reduced_for_all, All;
    reduce_scatter ReduceScatter reduced_and_scattered, All;
    reduce_scatter_block ReduceScatterBlock reduced_and_scattered, All;
    scan Scan scanned, Some;
    exscan Exscan scanned_before, Some;
}

/// A function for each operation on a neighbourhood: what it is for the archive where nobody knows the neighbours.
macro_rules! on_neighbourhoods {
    ($($name:ident $op:ident;)*) => {$(
        pub(crate) fn $name(invocation: &mut Invocation<'_>) {
            if !neighbours::exchange(invocation) {
                run(invocation, Collective::$op, nothing, Reach::Some);
            }
        }
    )*};
}

on_neighbourhoods! {
    neighbor_allgather Allgather;
    neighbor_allgatherv Allgatherv;
    neighbor_alltoall Alltoall;
    neighbor_alltoallv Alltoallv;
    neighbor_alltoallw Alltoallw;
}

/// Bytes that a process sends and receives.
type Bytes = [u64; 2];

type BytesOf = fn(&Invocation<'_>, &Comm) -> Bytes;

fn run(invocation: &mut Invocation<'_>, op: Collective, bytes: BytesOf, reach: Reach) {
    let found = comms::find(invocation.mpi, invocation.handle(Place::Comm, Kind::Comm));
    let work = found.map(|comm| {
        let root = root(invocation, &comm);
        Work::Collective { op, comm: comm.number, root, bytes: bytes(invocation, &comm) }
    });
    match invocation.mode() {
        Mode::Blocking => {
            if let (Some(comm), Some(call)) = (found, &mut invocation.call) {
                call.collective_begin();
                call.awaits(comm.number, ANYBODY);
            }
            // One that failed met nobody: told, it would be matched with one that the others did.
            if !invocation.run() {
                return;
            }
            if let (Some(Work::Collective { op, comm, root, bytes: [sent, received] }), Some(call)) =
                (work, &mut invocation.call)
            {
                call.collective_end(op, comm, root, sent, received);
            }
            if let (Some(comm), Some(call)) = (found, &mut invocation.call) {
                call.met(comm.size + comm.remote, together(&comm, reach));
            }
        }
        Mode::NonBlocking => {
            let id = work.and_then(|work| p2p::tell_start(invocation, work));
            if invocation.run() {
                p2p::keep(invocation, work, id);
            } else {
                p2p::cancel(invocation, id);
            }
        }
        Mode::Persistent => {
            if invocation.run() {
                p2p::keep(invocation, work, None);
            }
        }
    }
}

/// Which processes these are, if they are a whole world and all wait for all.
fn together(comm: &Comm, reach: Reach) -> Option<u64> {
    let world = comms::world().filter(|world| reach == Reach::All && !comm.is_inter && comm.size == world.size)?;
    Some(world.key)
}

/// The root as the archive has it.
fn root(invocation: &Invocation<'_>, comm: &Comm) -> u32 {
    if !invocation.has(Place::Root) {
        return NO_ROOT;
    }
    let root = invocation.int(Place::Root);
    let numbers = invocation.mpi.numbers;
    match (comm.is_inter, root) {
        (true, root) if root == numbers.root => SELF_ROOT,
        (true, root) if root == numbers.proc_null => ROOT_IN_THIS_GROUP,
        (_, root) => root as u32,
    }
}

/// Where this process stands in an operation with a root.
enum Side {
    Root,
    /// One of those that the root talks to.
    Other,
    /// In the root's group of an intercommunicator: it has no part.
    Neither,
}

fn side(invocation: &Invocation<'_>, comm: &Comm) -> Side {
    let root = invocation.int(Place::Root);
    let numbers = invocation.mpi.numbers;
    if !comm.is_inter {
        return if root as u32 == comm.rank { Side::Root } else { Side::Other };
    }
    match root {
        root if root == numbers.root => Side::Root,
        root if root == numbers.proc_null => Side::Neither,
        _ => Side::Other,
    }
}

/// Which of a function's two sets of arguments.
#[derive(Clone, Copy)]
pub(crate) struct Half {
    buffer: Place,
    count: Place,
    counts: Place,
    datatype: Place,
    datatypes: Place,
}

pub(crate) const SEND: Half = Half {
    buffer: Place::Send,
    count: Place::SendCount,
    counts: Place::SendCounts,
    datatype: Place::SendType,
    datatypes: Place::SendTypes,
};

pub(crate) const RECV: Half = Half {
    buffer: Place::Recv,
    count: Place::RecvCount,
    counts: Place::RecvCounts,
    datatype: Place::RecvType,
    datatypes: Place::RecvTypes,
};

impl Half {
    fn is_in_place(self, invocation: &Invocation<'_>) -> bool {
        invocation.is_in_place(self.buffer)
    }

    /// Bytes to or from the process at an index.
    pub(crate) fn block(self, invocation: &Invocation<'_>, index: usize) -> u64 {
        let count = if invocation.has(self.counts) {
            invocation.element(self.counts, index)
        } else {
            invocation.number(self.count)
        };
        let datatype = if invocation.has(self.datatypes) {
            if count <= 0 {
                return 0;
            }
            invocation.stored_at(invocation.word(self.datatypes), Kind::Datatype, index)
        } else {
            invocation.handle(self.datatype, Kind::Datatype)
        };
        (count.max(0) as u64).saturating_mul(types::size(datatype))
    }

    /// Bytes to or from the first processes, without one of them if it is said.
    fn blocks(self, invocation: &Invocation<'_>, partners: u32, without: Option<u32>) -> u64 {
        if !invocation.has(self.counts) {
            return self.block(invocation, 0).saturating_mul(u64::from(partners - u32::from(without.is_some())));
        }
        let others = (0..partners).filter(|rank| Some(*rank) != without);
        others.fold(0, |sum: u64, rank| sum.saturating_add(self.block(invocation, rank as usize)))
    }
}

fn nothing(_: &Invocation<'_>, _: &Comm) -> Bytes {
    [0, 0]
}

fn broadcast(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    let block = || SEND.block(invocation, 0);
    match side(invocation, comm) {
        Side::Root if comm.is_inter => [block() * u64::from(comm.remote), 0],
        Side::Root => [block() * u64::from(comm.size), block()],
        Side::Other => [0, block()],
        Side::Neither => [0, 0],
    }
}

/// One block for each: the root's arguments tell all of them, the others' their own.
fn scattered(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    let [received, sent] = rooted(invocation, comm, RECV, SEND);
    [sent, received]
}

fn gathered(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    rooted(invocation, comm, SEND, RECV)
}

/// Bytes of a process's own block, and at the root of all.
fn rooted(invocation: &Invocation<'_>, comm: &Comm, own: Half, all: Half) -> Bytes {
    match side(invocation, comm) {
        Side::Root if comm.is_inter => [0, all.blocks(invocation, comm.remote, None)],
        Side::Root if own.is_in_place(invocation) => [0, all.blocks(invocation, comm.size, Some(comm.rank))],
        // Blocks of the same process are equal on both sides.
        Side::Root => [all.block(invocation, comm.rank as usize), all.blocks(invocation, comm.size, None)],
        Side::Other => [own.block(invocation, 0), 0],
        Side::Neither => [0, 0],
    }
}

fn reduced(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    match side(invocation, comm) {
        Side::Neither => [0, 0],
        Side::Other => [SEND.block(invocation, 0), 0],
        Side::Root => {
            let block = SEND.block(invocation, 0);
            let is_in_place = SEND.is_in_place(invocation);
            let own = !comm.is_inter && !is_in_place;
            let from = comm.partners() - u32::from(!comm.is_inter && is_in_place);
            [if own { block } else { 0 }, block * u64::from(from)]
        }
    }
}

/// Everybody sends to everybody.
fn exchanged(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    if SEND.is_in_place(invocation) {
        let received = RECV.blocks(invocation, comm.size, Some(comm.rank));
        let is_gather = invocation.has(Place::RecvCounts) && !invocation.has(Place::SendCounts);
        let own = || RECV.block(invocation, comm.rank as usize) * u64::from(comm.size - 1);
        return [if is_gather { own() } else { received }, received];
    }
    let partners = comm.partners();
    [SEND.blocks(invocation, partners, None), RECV.blocks(invocation, partners, None)]
}

fn reduced_for_all(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    let without = u32::from(SEND.is_in_place(invocation));
    let bytes = SEND.block(invocation, 0) * u64::from(comm.partners() - without);
    [bytes, bytes]
}

/// The parts of the result, one for each process of this group.
fn reduced_and_scattered(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    let without = SEND.is_in_place(invocation).then_some(comm.rank);
    // The type is that of both buffers.
    let parts = Half { datatype: Place::SendType, ..RECV };
    let sent = parts.blocks(invocation, comm.size, without);
    let from = comm.partners() - u32::from(without.is_some());
    [sent, parts.block(invocation, comm.rank as usize) * u64::from(from)]
}

fn scanned(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    prefix(invocation, comm, !SEND.is_in_place(invocation))
}

fn scanned_before(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    prefix(invocation, comm, false)
}

/// To the later ranks and from the earlier ones, and to and from itself.
fn prefix(invocation: &Invocation<'_>, comm: &Comm, itself: bool) -> Bytes {
    let block = SEND.block(invocation, 0);
    let itself = u64::from(itself);
    let (later, earlier) = (u64::from(comm.size - comm.rank - 1), u64::from(comm.rank));
    [block * (later + itself), block * (earlier + itself)]
}
