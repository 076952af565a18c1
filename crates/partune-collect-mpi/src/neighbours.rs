//! Collectives on neighbourhoods: who the neighbours are, and the bytes to and from them.

use std::ffi::c_int;

use partune_mpi_abi::{Kind, SUCCESS};

use crate::collective::{Bytes, Half, RECV, SEND};
use crate::comms::Comm;
use crate::invocation::Invocation;
use crate::place::Place;
use crate::pmpi;

/// Every process sends a block to each neighbour behind it and receives one from each before it; processes beyond the border of a grid
/// have a place in the arrays and get nothing.
pub(crate) fn exchanged(invocation: &Invocation<'_>, comm: &Comm) -> Bytes {
    let handle = invocation.handle(Place::Comm, Kind::Comm);
    let mut topology: c_int = 0;
    // SAFETY: the program's communicator, and a number that outlives the call.
    if unsafe { pmpi::topo_test(handle, address(&mut topology)) } != SUCCESS {
        return [0, 0];
    }
    let numbers = invocation.mpi.numbers;
    if topology == numbers.cart {
        return grid(invocation, handle);
    }
    let [sources, targets] = if topology == numbers.graph { graph(handle, comm.rank) } else { distributed(handle) };
    [of_first(SEND, invocation, targets), of_first(RECV, invocation, sources)]
}

fn of_first(half: Half, invocation: &Invocation<'_>, count: c_int) -> u64 {
    half.blocks(invocation, count.max(0) as u32, None)
}

/// Two neighbours in each dimension, before and behind.
fn grid(invocation: &Invocation<'_>, comm: usize) -> Bytes {
    let mut dimensions: c_int = 0;
    // SAFETY: the program's communicator, which has a grid, and a number that outlives the call.
    unsafe { pmpi::cartdim_get(comm, address(&mut dimensions)) };
    let mut bytes = [0_u64, 0];
    for dimension in 0..dimensions.max(0) as usize {
        let mut around: [c_int; 2] = [invocation.mpi.numbers.proc_null; 2];
        let [before, behind] = &mut around;
        // SAFETY: the program's communicator, a dimension of its grid, and numbers that outlive the call.
        unsafe { pmpi::cart_shift(comm, dimension, 1, address(before), address(behind)) };
        for (side, rank) in around.into_iter().enumerate() {
            if rank != invocation.mpi.numbers.proc_null {
                bytes[0] += SEND.block(invocation, 2 * dimension + side);
                bytes[1] += RECV.block(invocation, 2 * dimension + side);
            }
        }
    }
    bytes
}

/// Neighbours are neighbours both ways.
fn graph(comm: usize, rank: u32) -> [c_int; 2] {
    let mut count: c_int = 0;
    // SAFETY: the program's communicator, which has a graph, and a number that outlives the call.
    unsafe { pmpi::graph_neighbors_count(comm, rank as usize, address(&mut count)) };
    [count, count]
}

fn distributed(comm: usize) -> [c_int; 2] {
    let (mut sources, mut targets, mut weighted) = (0, 0, 0);
    // SAFETY: the program's communicator, which has a distributed graph, and numbers that outlive the call.
    unsafe {
        pmpi::dist_graph_neighbors_count(comm, address(&mut sources), address(&mut targets), address(&mut weighted));
    }
    [sources, targets]
}

fn address(number: &mut c_int) -> usize {
    std::ptr::from_mut(number) as usize
}
