//! Atomic procedures and events. Their images are those of the team that made the variable, and 0 is this one.
//!
//! To post an event is an atomic access to its count, and to wait for it is to wait for that access; counts are of 4 bytes, one after the other.

use partune_collect::facts::Atomic;
use partune_collect::{ANYBODY, Call, Region};

use crate::coarrays::{self, Coarray};
use crate::regions;
use crate::rma::Access;

/// Bytes of the count of an event.
const COUNT: usize = 4;

/// The rank in the coarray's team.
fn rank(coarray: &Coarray, image: usize) -> u32 {
    match image as i32 {
        0 => coarray.team.set.rank,
        image => (image - 1) as u32,
    }
}

fn access(call: &mut Call<'_>, kind: Atomic, at: (usize, usize, usize), bytes: [usize; 2]) -> Option<Access> {
    let (token, offset, image) = at;
    let coarray = coarrays::find(token)?;
    let access = Access::new(call, coarray);
    access.atomic(call, rank(&coarray, image), kind, offset, bytes.map(|bytes| bytes as u64));
    Some(access)
}

/// `at`: token, offset in bytes, image.
pub(crate) fn define(call: &mut Call<'_>, at: (usize, usize, usize), kind: usize) -> Option<Access> {
    access(call, Atomic::Accumulate, at, [kind, 0])
}

pub(crate) fn reference(call: &mut Call<'_>, at: (usize, usize, usize), kind: usize) -> Option<Access> {
    access(call, Atomic::FetchAndAccumulate, at, [0, kind])
}

pub(crate) fn compare(call: &mut Call<'_>, at: (usize, usize, usize), kind: usize) -> Option<Access> {
    access(call, Atomic::CompareAndSwap, at, [2 * kind, kind])
}

/// `libcaf_atomic_codes` of gfortran.
pub(crate) fn operation(code: usize, old: usize) -> &'static Region {
    match (code as i32, old) {
        (1, 0) => &regions::ATOMIC_ADD,
        (2, 0) => &regions::ATOMIC_AND,
        (3, 0) => &regions::ATOMIC_OR,
        (4, 0) => &regions::ATOMIC_XOR,
        (1, _) => &regions::ATOMIC_FETCH_ADD,
        (2, _) => &regions::ATOMIC_FETCH_AND,
        (3, _) => &regions::ATOMIC_FETCH_OR,
        (4, _) => &regions::ATOMIC_FETCH_XOR,
        _ => &regions::ATOMIC_OP,
    }
}

pub(crate) fn operate(
    call: &mut Call<'_>,
    code: usize,
    at: (usize, usize, usize),
    old: usize,
    kind: usize,
) -> Option<Access> {
    let (fetched, received) = if old == 0 { (false, 0) } else { (true, kind) };
    let what = match (code, fetched) {
        (1, true) => Atomic::FetchAndAdd,
        (_, true) => Atomic::FetchAndAccumulate,
        (_, false) => Atomic::Accumulate,
    };
    access(call, what, at, [kind, received])
}

pub(crate) fn post(call: &mut Call<'_>, token: usize, index: usize, image: usize) -> Option<Access> {
    access(call, Atomic::Accumulate, (token, index.wrapping_mul(COUNT), image), [COUNT, 0])
}

/// The call waits until others have posted.
pub(crate) fn wait(call: &mut Call<'_>, token: usize, index: usize) {
    if let Some(coarray) = coarrays::find(token) {
        call.rma_wait_change(coarray.window, Some(index.wrapping_mul(COUNT) as u64));
        call.awaits(coarray.team.set.comm, ANYBODY);
    }
}

/// It was looked how often an event was posted.
pub(crate) fn queried(call: &mut Call<'_>, token: usize, index: usize, count: usize) {
    // SAFETY: the program's number, if any.
    let found = unsafe { (count as *const i32).as_ref() }.is_some_and(|count| *count > 0);
    call.polled(found);
    if found && let Some(coarray) = coarrays::find(token) {
        call.rma_wait_change(coarray.window, Some(index.wrapping_mul(COUNT) as u64));
    }
}
