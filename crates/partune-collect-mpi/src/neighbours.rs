//! Collectives on neighbourhoods: who the neighbours are, and the messages to and from them.
//!
//! Nobody waits for anybody but its neighbours. So these are told as the messages that they are: one to each neighbour behind and one from
//! each before. Their tags are none that a program can have. In a grid, where a process can be a neighbour on several sides, the tag is the side;
//! in graphs the messages between two processes are in the order of their lists.
//!
//! MPI is asked for the neighbours of a communicator once. What a request will complete is kept here until then, in lists that are used again.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};

use partune_collect::{Call, Message};
use partune_mpi_abi::{Kind, SUCCESS};

use crate::collective::{Half, RECV, SEND};
use crate::comms::{self, Comm};
use crate::function::Mode;
use crate::invocation::Invocation;
use crate::mpi::Mpi;
use crate::place::Place;
use crate::requests::Work;
use crate::{p2p, pmpi};

/// The first tag of ours: tags of programs are no negative numbers of 32 bits.
const FIRST_TAG: u32 = 1 << 31;

/// A neighbour on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Neighbour {
    rank: u32,
    /// Its place in the arrays that a call is given. Processes beyond the border of a grid have one too, and get nothing.
    at: usize,
    tag: u32,
}

/// Those that a process receives from, and those that it sends to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Neighbours {
    sources: Vec<Neighbour>,
    targets: Vec<Neighbour>,
}

/// The messages of one call.
#[derive(Debug, Default)]
struct Exchange {
    sent: Vec<Message>,
    received: Vec<Message>,
}

#[derive(Default)]
struct Table {
    /// By the numbers of communicators; none of those without a neighbourhood.
    neighbours: HashMap<u32, Option<Arc<Neighbours>>>,
    /// By their numbers, what requests will complete.
    open: HashMap<u64, Exchange>,
    next: u64,
    spare: Vec<Exchange>,
}

static TABLE: Mutex<Option<Table>> = Mutex::new(None);

fn with_table<T>(act: impl FnOnce(&mut Table) -> T) -> T {
    let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    act(table.get_or_insert_with(Table::default))
}

/// Tells a call as messages. False if its neighbours are not known: then it was not made.
pub(crate) fn exchange(invocation: &mut Invocation<'_>) -> bool {
    let handle = invocation.handle(Place::Comm, Kind::Comm);
    let Some(comm) = comms::find(invocation.mpi, handle) else { return false };
    let Some(neighbours) = neighbours(invocation.mpi, handle, &comm) else { return false };
    let exchange = Exchange::new(invocation, comm.number, &neighbours);
    if invocation.mode() == Mode::Blocking {
        blocking(invocation, exchange);
        return true;
    }
    let number = exchange.open();
    let work = Work::Exchange { number, comm: comm.number };
    let id = if invocation.mode() == Mode::NonBlocking { p2p::tell_start(invocation, work) } else { None };
    if invocation.run() {
        p2p::keep(invocation, Some(work), id);
    } else {
        if let (Some(id), Some(call)) = (id, &mut invocation.call) {
            cancel(call, number, id);
        }
        close(number);
    }
    true
}

/// One that fails has told what it sends all the same: nobody knows what of it was sent.
fn blocking(invocation: &mut Invocation<'_>, exchange: Exchange) {
    if let Some(call) = &mut invocation.call {
        exchange.sent.iter().for_each(|message| call.sent(*message));
        call.awaits_all(exchange.received.iter().map(|message| (message.comm, message.peer)));
    }
    if invocation.run()
        && let Some(call) = &mut invocation.call
    {
        exchange.received.iter().for_each(|message| call.recv(*message));
    }
    exchange.spare();
}

/// Tells that the messages of a request begin. They are requests to the archive, numbered from `first` on.
pub(crate) fn tell_start(call: &mut Call<'_>, number: u64, first: u64) {
    let mut id = first;
    with_open(number, |exchange| {
        for message in &exchange.sent {
            call.isend(*message, id);
            id = call.next_id();
        }
        for _ in &exchange.received {
            call.irecv_request(id);
            id = call.next_id();
        }
    });
}

/// Tells that they have come and gone.
pub(crate) fn tell_complete(call: &mut Call<'_>, number: u64, first: u64) {
    with_open(number, |exchange| {
        let mut ids = first..;
        exchange.sent.iter().zip(&mut ids).for_each(|(_, id)| call.isend_complete(id));
        exchange.received.iter().zip(ids).for_each(|(message, id)| call.irecv(*message, id));
    });
}

fn cancel(call: &mut Call<'_>, number: u64, first: u64) {
    with_open(number, |exchange| {
        exchange.sent.iter().chain(&exchange.received).zip(first..).for_each(|(_, id)| call.request_cancelled(id));
    });
}

fn with_open(number: u64, act: impl FnOnce(&Exchange)) {
    with_table(|table| table.open.get(&number).map(act));
}

/// No request will complete these messages any more.
pub(crate) fn close(number: u64) {
    if let Some(exchange) = with_table(|table| table.open.remove(&number)) {
        exchange.spare();
    }
}

/// The communicator is no more.
pub(crate) fn forget(comm: &Comm) {
    with_table(|table| table.neighbours.remove(&comm.number));
}

impl Exchange {
    /// What a call's arguments say.
    fn new(invocation: &Invocation<'_>, comm: u32, neighbours: &Neighbours) -> Exchange {
        let mut exchange = with_table(|table| table.spare.pop()).unwrap_or_default();
        let message = |half: Half, it: &Neighbour| {
            let bytes = half.block(invocation, it.at);
            Message { peer: it.rank, comm, tag: it.tag, bytes }
        };
        exchange.sent.extend(neighbours.targets.iter().map(|it| message(SEND, it)));
        exchange.received.extend(neighbours.sources.iter().map(|it| message(RECV, it)));
        exchange
    }

    /// Keeps it for a request; returns its number.
    fn open(self) -> u64 {
        with_table(|table| {
            table.next += 1;
            table.open.insert(table.next, self);
            table.next
        })
    }

    fn spare(mut self) {
        self.sent.clear();
        self.received.clear();
        with_table(|table| table.spare.push(self));
    }
}

/// The neighbours of a process; none without a neighbourhood.
fn neighbours(mpi: &Mpi, handle: usize, comm: &Comm) -> Option<Arc<Neighbours>> {
    let known = with_table(|table| table.neighbours.get(&comm.number).cloned());
    known.unwrap_or_else(|| {
        let asked = ask(mpi, handle, comm.rank).map(Arc::new);
        with_table(|table| table.neighbours.insert(comm.number, asked.clone()));
        asked
    })
}

#[cold]
fn ask(mpi: &Mpi, comm: usize, rank: u32) -> Option<Neighbours> {
    let mut topology: c_int = 0;
    // SAFETY: the program's communicator, and a number that outlives the call.
    let known = unsafe { pmpi::topo_test(comm, address(&mut topology)) } == SUCCESS;
    let null = mpi.numbers.proc_null;
    match topology {
        _ if !known => None,
        kind if kind == mpi.numbers.cart => Some(grid(&sides(comm, null)?, null)),
        kind if kind == mpi.numbers.graph => Some(listed(&graph(comm, rank)?, null)),
        kind if kind == mpi.numbers.dist_graph => Some(listed(&distributed(comm)?, null)),
        _ => None,
    }
}

/// Two neighbours in each dimension, before and behind. What is sent to one side comes from the other one.
fn grid(sides: &[[c_int; 2]], null: c_int) -> Neighbours {
    let mut neighbours = Neighbours::default();
    for (at, rank) in sides.iter().flatten().enumerate().filter(|(_, rank)| **rank != null) {
        let on = |side: usize| Neighbour { rank: *rank as u32, at, tag: FIRST_TAG + side as u32 };
        neighbours.targets.push(on(at));
        neighbours.sources.push(on(at ^ 1));
    }
    neighbours
}

/// Those that are listed, sources and targets.
fn listed(lists: &[Vec<c_int>; 2], null: c_int) -> Neighbours {
    let [sources, targets] = lists.each_ref().map(|ranks| {
        let of_places = ranks.iter().enumerate().filter(|(_, rank)| **rank != null);
        of_places.map(|(at, rank)| Neighbour { rank: *rank as u32, at, tag: FIRST_TAG }).collect()
    });
    Neighbours { sources, targets }
}

/// Of each dimension of a grid, the ranks before and behind.
fn sides(comm: usize, null: c_int) -> Option<Vec<[c_int; 2]>> {
    let mut dimensions: c_int = 0;
    // SAFETY: the program's communicator, which has a grid, and a number that outlives the call.
    if unsafe { pmpi::cartdim_get(comm, address(&mut dimensions)) } != SUCCESS {
        return None;
    }
    let around = |dimension| {
        let [mut before, mut behind] = [null; 2];
        // SAFETY: the program's communicator, a dimension of its grid, and numbers that outlive the call.
        let known = unsafe { pmpi::cart_shift(comm, dimension, 1, address(&mut before), address(&mut behind)) };
        (known == SUCCESS).then_some([before, behind])
    };
    (0..dimensions.max(0) as usize).map(around).collect()
}

/// Neighbours are neighbours both ways.
fn graph(comm: usize, rank: u32) -> Option<[Vec<c_int>; 2]> {
    let mut count: c_int = 0;
    // SAFETY: the program's communicator, which has a graph, and a number that outlives the call.
    if unsafe { pmpi::graph_neighbors_count(comm, rank as usize, address(&mut count)) } != SUCCESS {
        return None;
    }
    let mut ranks = numbers(count);
    // SAFETY: as above, and an array of as many numbers.
    let known =
        unsafe { pmpi::graph_neighbors(comm, rank as usize, ranks.len(), ranks.as_mut_ptr() as usize) } == SUCCESS;
    known.then(|| [ranks.clone(), ranks])
}

fn distributed(comm: usize) -> Option<[Vec<c_int>; 2]> {
    let [mut sources, mut targets, mut weighted] = [0; 3];
    // SAFETY: the program's communicator, which has a distributed graph, and numbers that outlive the call.
    let known = unsafe {
        pmpi::dist_graph_neighbors_count(comm, address(&mut sources), address(&mut targets), address(&mut weighted))
    };
    if known != SUCCESS {
        return None;
    }
    let mut ranks = [sources, targets].map(numbers);
    let mut weights = [sources, targets].map(numbers);
    let [[sources, targets], [of_sources, of_targets]] =
        [&mut ranks, &mut weights].map(|lists| lists.each_mut().map(|list| list.as_mut_ptr() as usize));
    let [most_sources, most_targets] = ranks.each_ref().map(Vec::len);
    // SAFETY: as above, and arrays of as many numbers.
    let known = unsafe {
        pmpi::dist_graph_neighbors(comm, most_sources, sources, of_sources, most_targets, targets, of_targets)
    };
    (known == SUCCESS).then_some(ranks)
}

fn numbers(count: c_int) -> Vec<c_int> {
    vec![0; count.max(0) as usize]
}

fn address(number: &mut c_int) -> usize {
    std::ptr::from_mut(number) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const NULL: c_int = -2;

    fn on(rank: u32, at: usize, side: u32) -> Neighbour {
        Neighbour { rank, at, tag: FIRST_TAG + side }
    }

    #[test]
    fn what_is_sent_to_one_side_of_a_grid_comes_from_the_other() {
        // Two processes in a ring: each is the other one's neighbour on both sides.
        let ring = grid(&[[1, 1]], NULL);
        assert_eq!(ring.targets, [on(1, 0, 0), on(1, 1, 1)]);
        assert_eq!(ring.sources, [on(1, 0, 1), on(1, 1, 0)]);
        // At the border there is nobody, and the arrays have a place for nobody.
        let corner = grid(&[[NULL, 4], [3, NULL]], NULL);
        assert_eq!(corner.targets, [on(4, 1, 1), on(3, 2, 2)]);
        assert_eq!(corner.sources, [on(4, 1, 0), on(3, 2, 3)]);
        assert_eq!(grid(&[], NULL), Neighbours::default());
    }

    #[test]
    fn neighbours_in_a_graph_are_in_the_order_of_its_lists() {
        let found = listed(&[vec![2, NULL, 2], vec![0]], NULL);
        assert_eq!(found, Neighbours { sources: vec![on(2, 0, 0), on(2, 2, 0)], targets: vec![on(0, 0, 0)] });
    }
}
