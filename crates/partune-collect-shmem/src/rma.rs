//! Accesses to memory of other PEs, their completion, and waits for what others write.
//!
//! A blocking access is complete when its function returns: at its origin, as Score-P tells it too. One that does not block is complete when its
//! context becomes quiet; all of a context and segment share a number until then.

use std::sync::{Mutex, PoisonError};

use partune_collect::Call;
use partune_collect::facts::Atomic;

use crate::segments::{Segment, locate};
use crate::world::world;

/// The context of functions that have none; `SHMEM_CTX_DEFAULT` means the same.
pub(crate) const DEFAULT: usize = 0;

/// The bytes of a signal, there and back.
const SIGNAL: [u64; 2] = [8, 0];

/// An access that was told, and is complete when its function has returned.
pub(crate) struct Access {
    window: u32,
    matching: u64,
}

impl Access {
    #[inline]
    pub(crate) fn complete(&self, call: &mut Call<'_>) {
        call.rma_complete_blocking(self.window, self.matching);
    }
}

/// Accesses of a context that do not block and are not complete: a number for each segment, 0 for none.
struct Open {
    context: usize,
    numbers: [u64; 2],
}

static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());

#[inline(never)]
pub(crate) fn put(call: &mut Call<'_>, to: usize, bytes: usize, pe: i32) -> Access {
    iput(call, to, 1, bytes, pe)
}

#[inline(never)]
pub(crate) fn get(call: &mut Call<'_>, from: usize, bytes: usize, pe: i32) -> Access {
    iget(call, from, 1, bytes, pe)
}

/// What has holes touches other bytes than so many from its begin on: it has no offset.
pub(crate) fn iput(call: &mut Call<'_>, to: usize, stride: isize, bytes: usize, pe: i32) -> Access {
    let (window, offset) = place(to);
    let matching = call.next_id();
    call.rma_put(window, pe as u32, offset.filter(|_| stride == 1), bytes as u64, matching);
    Access { window, matching }
}

pub(crate) fn iget(call: &mut Call<'_>, from: usize, stride: isize, bytes: usize, pe: i32) -> Access {
    let (window, offset) = place(from);
    let matching = call.next_id();
    call.rma_get(window, pe as u32, offset.filter(|_| stride == 1), bytes as u64, matching);
    Access { window, matching }
}

#[inline(never)]
pub(crate) fn atomic(call: &mut Call<'_>, kind: Atomic, at: usize, bytes: [u64; 2], pe: i32) -> Access {
    let (window, offset) = place(at);
    let matching = call.next_id();
    call.rma_atomic(window, pe as u32, kind, offset, bytes, matching);
    Access { window, matching }
}

pub(crate) fn put_nbi(call: &mut Call<'_>, context: usize, to: usize, bytes: usize, pe: i32) {
    let ((segment, offset), matching) = (locate(to), begun(call, context, to));
    call.rma_put(window_of(segment), pe as u32, offset, bytes as u64, matching);
}

pub(crate) fn get_nbi(call: &mut Call<'_>, context: usize, from: usize, bytes: usize, pe: i32) {
    let ((segment, offset), matching) = (locate(from), begun(call, context, from));
    call.rma_get(window_of(segment), pe as u32, offset, bytes as u64, matching);
}

/// Data, and the signal for whoever waits for it there.
pub(crate) fn put_signal(call: &mut Call<'_>, to: usize, bytes: usize, signal: usize, pe: i32) -> [Access; 2] {
    [put(call, to, bytes, pe), atomic(call, Atomic::Accumulate, signal, SIGNAL, pe)]
}

pub(crate) fn put_signal_nbi(call: &mut Call<'_>, context: usize, to: usize, bytes: usize, signal: usize, pe: i32) {
    put_nbi(call, context, to, bytes, pe);
    atomic_nbi(call, context, Atomic::Accumulate, signal, SIGNAL, pe);
}

pub(crate) fn atomic_nbi(call: &mut Call<'_>, context: usize, kind: Atomic, at: usize, bytes: [u64; 2], pe: i32) {
    let ((segment, offset), matching) = (locate(at), begun(call, context, at));
    call.rma_atomic(window_of(segment), pe as u32, kind, offset, bytes, matching);
}

/// All accesses of a context are complete, at their targets.
pub(crate) fn quiet(call: &mut Call<'_>, context: usize) {
    let context = normal(context);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(at) = open.iter().position(|open| open.context == context) else { return };
    let Open { numbers, .. } = open.swap_remove(at);
    drop(open);
    for (segment, number) in [Segment::Heap, Segment::Data].into_iter().zip(numbers).filter(|it| it.1 != 0) {
        call.rma_complete_remote(window_of(segment), number);
    }
}

/// The call waits until another PE has written a value.
pub(crate) fn wait(call: &mut Call<'_>, at: usize) {
    let (window, offset) = place(at);
    call.rma_wait_change(window, offset);
}

/// A test for a value found it, or not.
pub(crate) fn tested(call: &mut Call<'_>, at: usize, found: bool) {
    call.polled(found);
    if found {
        wait(call, at);
    }
}

/// The number that an access has until its context is quiet.
fn begun(call: &mut Call<'_>, context: usize, address: usize) -> u64 {
    let context = normal(context);
    let at = locate(address).0 as usize;
    let mut all = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().position(|open| open.context == context).unwrap_or_else(|| {
        all.push(Open { context, numbers: [0; 2] });
        all.len() - 1
    });
    let number = &mut all[found].numbers[at];
    if *number == 0 {
        *number = call.next_id();
    }
    *number
}

/// The default context has an address of its own where it is named.
fn normal(context: usize) -> usize {
    world().filter(|world| context == world.default_context).map_or(context, |_| DEFAULT)
}

#[inline]
fn place(address: usize) -> (u32, Option<u64>) {
    let (segment, offset) = locate(address);
    (window_of(segment), offset)
}

#[inline]
pub(crate) fn window_of(segment: Segment) -> u32 {
    world().map_or(u32::MAX, |world| match segment {
        Segment::Heap => world.heap,
        Segment::Data => world.data,
    })
}
