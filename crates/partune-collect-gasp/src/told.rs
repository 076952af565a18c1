//! What the arguments of an event say: accesses to shared memory, locks, collectives.
//!
//! Shared memory is one window, and an access is told with the thread that has the memory and the address there, as the runtime's own functions tell
//! them. One to memory of the thread's own is told too: that it needed no network is what is to be known of it.

use std::collections::HashMap;
use std::ffi::c_void;

use partune_collect::facts::{Collective, Lock, NO_ROOT, SYNC_MEMORY, SYNC_PROCESS};
use partune_collect::{ANYBODY, Call};

use crate::arguments::Arguments;
use crate::events::{Does, Shape, Side, Until};
use crate::world::{World, world};

/// All threads have a lock in common.
const ALL: u32 = u32::MAX;

/// Accesses that an operation has begun, by numbers that tell them from others: one or two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun([Option<u64>; 2]);

/// Accesses that are not complete, by their handles.
pub(crate) type Handles = HashMap<usize, Begun>;

/// Handles of accesses that were complete at once.
const TRIVIAL: [usize; 2] = [0, usize::MAX];

/// # Safety
/// The arguments are those that the begin of the event has.
pub(crate) unsafe fn begin(call: &mut Call<'_>, does: Does, mut arguments: Arguments) -> Begun {
    let Some(world) = world() else { return Begun::default() };
    // SAFETY: as the caller says.
    unsafe {
        match does {
            Does::Wait | Does::Exit => call.awaits(world.comm, ANYBODY),
            Does::Barrier | Does::Allocate | Does::Collective(_) => {
                call.rma_collective_begin();
                call.awaits(world.comm, ANYBODY);
            }
            Does::Lock => {
                let lock = identity(world, arguments.pointer());
                call.rma_request_lock(world.window, ALL, lock, Lock::Exclusive);
            }
            // It is free from now on: another thread may have it before this ends.
            Does::Unlock => {
                let lock = identity(world, arguments.pointer());
                call.rma_release_lock(world.window, ALL, lock);
            }
            Does::Copy { flagged, to, from, .. } => return copy(call, world, flagged, [to, from], &mut arguments),
            Does::Function
            | Does::Code
            | Does::WorkSharing
            | Does::Abort
            | Does::Notify
            | Does::Plain
            | Does::TryLock
            | Does::Sync
            | Does::TrySync => {}
        }
    }
    Begun::default()
}

/// # Safety
/// The arguments are those that the end of the event has.
pub(crate) unsafe fn end(call: &mut Call<'_>, does: Does, begun: Begun, arguments: Arguments, handles: &mut Handles) {
    let Some(world) = world() else { return };
    let mut arguments = arguments;
    // SAFETY: as the caller says.
    unsafe {
        match does {
            Does::Wait => call.met(world.size, Some(world.key)),
            Does::Barrier => meet(call, world, Collective::Barrier, SYNC_PROCESS | SYNC_MEMORY, (NO_ROOT, [0, 0])),
            Does::Allocate => meet(call, world, Collective::Allocate, SYNC_PROCESS, (NO_ROOT, [0, 0])),
            Does::Collective(shape) => {
                let moved = moved(world, shape, &mut arguments);
                meet(call, world, shape.op(), SYNC_PROCESS | SYNC_MEMORY, moved);
            }
            Does::Lock => {
                call.rma_acquire_lock(world.window, ALL, identity(world, arguments.pointer()), Lock::Exclusive);
            }
            Does::TryLock => {
                let lock = identity(world, arguments.pointer());
                if arguments.int() != 0 {
                    call.rma_acquire_lock(world.window, ALL, lock, Lock::Exclusive);
                }
            }
            Does::Copy { until: Until::Return, .. } => complete(call, world, begun, Until::Return),
            Does::Copy { flagged, to, from, until: Until::Sync } => {
                skip(flagged, [to, from], &mut arguments);
                let handle = arguments.pointer() as usize;
                if TRIVIAL.contains(&handle) {
                    complete(call, world, begun, Until::Return);
                } else {
                    handles.insert(handle, begun);
                }
            }
            Does::Sync | Does::TrySync => {
                let handle = arguments.pointer() as usize;
                let is_complete = does == Does::Sync || arguments.int() != 0;
                if let Some(begun) = is_complete.then(|| handles.remove(&handle)).flatten() {
                    complete(call, world, begun, Until::Sync);
                }
            }
            Does::Function
            | Does::Code
            | Does::WorkSharing
            | Does::Exit
            | Does::Abort
            | Does::Notify
            | Does::Plain
            | Does::Unlock => {}
        }
    }
}

/// A copy between two threads is a put of the one that has the data, a get of the one that wants it, and both of a third.
unsafe fn copy(
    call: &mut Call<'_>,
    world: &World,
    flagged: bool,
    [to, from]: [Side; 2],
    arguments: &mut Arguments,
) -> Begun {
    // SAFETY: as the caller says.
    unsafe {
        if flagged {
            arguments.int();
        }
        let mut place = |side: Side| match side {
            Side::Shared => Some(world.locate(arguments.pointer())),
            Side::Private => drop_argument(arguments.pointer()),
            Side::Value => drop_argument(arguments.int()),
        };
        let (to, from) = (place(to), place(from));
        let bytes = arguments.size();
        let is_own = |at: (u32, u64)| at.0 == world.rank;
        let gets = from.filter(|from| to.is_none() || !is_own(*from));
        let puts = to.filter(|to| from.is_none_or(is_own) || !is_own(*to));
        let got = gets.map(|(thread, address)| {
            let matching = call.next_id();
            call.rma_get(world.window, thread, Some(address), bytes, matching);
            matching
        });
        let put = puts.map(|(thread, address)| {
            let matching = call.next_id();
            call.rma_put(world.window, thread, Some(address), bytes, matching);
            matching
        });
        Begun([got, put])
    }
}

fn drop_argument<A, B>(_: A) -> Option<B> {
    None
}

unsafe fn skip(flagged: bool, sides: [Side; 2], arguments: &mut Arguments) {
    // SAFETY: as the caller says.
    unsafe {
        if flagged {
            arguments.int();
        }
        for side in sides {
            match side {
                Side::Shared | Side::Private => drop(arguments.pointer().cast::<c_void>()),
                Side::Value => drop(arguments.int()),
            }
        }
        arguments.size();
    }
}

/// Accesses are complete when what began them ends, or were waited for.
fn complete(call: &mut Call<'_>, world: &World, Begun(begun): Begun, until: Until) {
    for matching in begun.into_iter().flatten() {
        match until {
            Until::Return => call.rma_complete_blocking(world.window, matching),
            Until::Sync => call.rma_complete_non_blocking(world.window, matching),
        }
    }
}

fn meet(call: &mut Call<'_>, world: &World, op: Collective, level: u32, (root, bytes): (u32, [u64; 2])) {
    call.rma_collective_end(op, level, world.window, root, bytes);
    call.met(world.size, Some(world.key).filter(|_| root == NO_ROOT));
}

/// The root of a collective, and what this thread gives and gets.
unsafe fn moved(world: &World, shape: Shape, arguments: &mut Arguments) -> (u32, [u64; 2]) {
    // SAFETY: as the caller says.
    let ((to, _), (from, _), bytes) = unsafe {
        let (to, from) = (world.locate(arguments.pointer()), world.locate(arguments.pointer()));
        let bytes = match shape {
            Shape::Permute => {
                arguments.pointer();
                arguments.size()
            }
            Shape::Reduce | Shape::PrefixReduce => elements(arguments) / u64::from(world.size.max(1)),
            _ => arguments.size(),
        };
        (to, from, bytes)
    };
    let all = bytes.saturating_mul(world.size.into());
    let is = |root: u32| root == world.rank;
    match shape {
        Shape::Broadcast | Shape::Scatter => (from, [if is(from) { all } else { 0 }, bytes]),
        Shape::Gather => (to, [bytes, if is(to) { all } else { 0 }]),
        Shape::Reduce => (to, [bytes, if is(to) { bytes } else { 0 }]),
        Shape::GatherAll | Shape::Exchange => (NO_ROOT, [all, all]),
        Shape::Permute | Shape::PrefixReduce => (NO_ROOT, [bytes, bytes]),
    }
}

/// Bytes of all elements of a reduction.
unsafe fn elements(arguments: &mut Arguments) -> u64 {
    /// By `gasp_upc_reduction_t`.
    const SIZES: [u64; 11] = [1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 16];
    // SAFETY: as the caller says.
    unsafe {
        arguments.int();
        let (elements, _block) = (arguments.size(), arguments.size());
        arguments.pointer();
        arguments.int();
        let size = usize::try_from(arguments.int()).ok().and_then(|kind| SIZES.get(kind));
        elements.saturating_mul(size.copied().unwrap_or(0))
    }
}

/// What all threads call a lock.
unsafe fn identity(world: &World, lock: *const c_void) -> u64 {
    // SAFETY: a pointer to a shared pointer, as the caller says.
    let (thread, address) = unsafe { world.locate(lock) };
    address ^ u64::from(thread).rotate_right(16)
}
