//! What the arguments of an event say: accesses to shared memory, locks, collectives.
//!
//! Shared memory is one window, and an access is told with the thread that has the memory and the address there, as the runtime's own functions tell
//! them. One to memory of the thread's own is told too: that it needed no network is what is to be known of it.

use std::collections::HashMap;
use std::ffi::c_void;

use partune_collect::facts::{Collective, Lock, NO_ROOT, SYNC_MEMORY, SYNC_PROCESS};
use partune_collect::meeting::Meeting;
use partune_collect::{ANYBODY, Call};

use crate::arguments::Arguments;
use crate::events::{Does, Shape, Side, Until};
use crate::world::{World, world};

/// All threads have a lock in common.
const ALL: u32 = u32::MAX;

/// What an operation has begun, and its end completes.
#[derive(Debug)]
pub(crate) enum Begun {
    Nothing,
    Accesses(Accesses),
    Meeting(Meeting),
}

/// Numbers of accesses, which tell them from others: one or two.
type Accesses = [Option<u64>; 2];

/// Accesses that are not complete, by their handles.
pub(crate) type Handles = HashMap<usize, Accesses>;

/// Handles of accesses that were complete at once.
const TRIVIAL: [usize; 2] = [0, usize::MAX];

/// # Safety
/// The arguments are those that the begin of the event has.
pub(crate) unsafe fn begin(call: &mut Call<'_>, does: Does, mut arguments: Arguments) -> Begun {
    const BARRIER: u32 = SYNC_PROCESS | SYNC_MEMORY;
    let Some(world) = world() else { return Begun::Nothing };
    let meet = |call: &mut Call<'_>, op, level, (root, bytes)| {
        Begun::Meeting(Meeting::begin(call, Some(world.all), op, level, root, bytes))
    };
    // SAFETY: as the caller says.
    unsafe {
        match does {
            Does::Barrier => return meet(call, Collective::Barrier, BARRIER, (NO_ROOT, [0, 0])),
            Does::Allocate => return meet(call, Collective::Allocate, SYNC_PROCESS, (NO_ROOT, [0, 0])),
            Does::Collective(shape) => return meet(call, shape.op(), BARRIER, moved(world, shape, &mut arguments)),
            Does::Copy { flagged, to, from, .. } => {
                return Begun::Accesses(copy(call, world, flagged, [to, from], &mut arguments));
            }
            Does::Wait | Does::Exit => call.awaits(world.all.comm, ANYBODY),
            Does::Lock => {
                let lock = identity(world, arguments.pointer());
                call.rma_request_lock(world.all.window, ALL, lock, Lock::Exclusive);
            }
            // It is free from now on: another thread may have it before this ends.
            Does::Unlock => {
                let lock = identity(world, arguments.pointer());
                call.rma_release_lock(world.all.window, ALL, lock);
            }
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
    Begun::Nothing
}

/// # Safety
/// The arguments are those that the end of the event has.
pub(crate) unsafe fn end(call: &mut Call<'_>, does: Does, begun: Begun, arguments: Arguments, handles: &mut Handles) {
    let Some(world) = world() else { return };
    let mut arguments = arguments;
    match begun {
        Begun::Meeting(meeting) => meeting.end(call),
        // SAFETY: as the caller says.
        Begun::Accesses(accesses) => unsafe { began(call, world, does, accesses, arguments, handles) },
        // SAFETY: as the caller says.
        Begun::Nothing => unsafe {
            match does {
                Does::Wait => call.met(world.all.size, world.all.world),
                Does::Lock => acquired(call, world, arguments.pointer()),
                Does::TryLock => {
                    let lock = arguments.pointer();
                    if arguments.int() != 0 {
                        acquired(call, world, lock);
                    }
                }
                Does::Sync | Does::TrySync => {
                    let handle = arguments.pointer() as usize;
                    let is_complete = does == Does::Sync || arguments.int() != 0;
                    if let Some(accesses) = is_complete.then(|| handles.remove(&handle)).flatten() {
                        complete(call, world, accesses, Until::Sync);
                    }
                }
                Does::Function
                | Does::Code
                | Does::WorkSharing
                | Does::Exit
                | Does::Abort
                | Does::Barrier
                | Does::Notify
                | Does::Plain
                | Does::Allocate
                | Does::Unlock
                | Does::Copy { .. }
                | Does::Collective(_) => {}
            }
        },
    }
}

unsafe fn acquired(call: &mut Call<'_>, world: &World, lock: *const c_void) {
    // SAFETY: as the caller says.
    let lock = unsafe { identity(world, lock) };
    call.rma_acquire_lock(world.all.window, ALL, lock, Lock::Exclusive);
}

/// The copy ends: it is complete, or its handle is known now.
unsafe fn began(
    call: &mut Call<'_>,
    world: &World,
    does: Does,
    accesses: Accesses,
    mut arguments: Arguments,
    handles: &mut Handles,
) {
    let Does::Copy { flagged, to, from, until: Until::Sync } = does else {
        return complete(call, world, accesses, Until::Return);
    };
    // SAFETY: as the caller says.
    let handle = unsafe {
        skip(flagged, [to, from], &mut arguments);
        arguments.pointer() as usize
    };
    if TRIVIAL.contains(&handle) {
        complete(call, world, accesses, Until::Return);
    } else {
        handles.insert(handle, accesses);
    }
}

/// A copy between two threads is a put of the one that has the data, a get of the one that wants it, and both of a third.
unsafe fn copy(
    call: &mut Call<'_>,
    world: &World,
    flagged: bool,
    [to, from]: [Side; 2],
    arguments: &mut Arguments,
) -> Accesses {
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
        let is_own = |at: (u32, u64)| at.0 == world.all.rank;
        let gets = from.filter(|from| to.is_none() || !is_own(*from));
        let puts = to.filter(|to| from.is_none_or(is_own) || !is_own(*to));
        let got = gets.map(|(thread, address)| {
            let matching = call.next_id();
            call.rma_get(world.all.window, thread, Some(address), bytes, matching);
            matching
        });
        let put = puts.map(|(thread, address)| {
            let matching = call.next_id();
            call.rma_put(world.all.window, thread, Some(address), bytes, matching);
            matching
        });
        [got, put]
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
fn complete(call: &mut Call<'_>, world: &World, accesses: Accesses, until: Until) {
    for matching in accesses.into_iter().flatten() {
        match until {
            Until::Return => call.rma_complete_blocking(world.all.window, matching),
            Until::Sync => call.rma_complete_non_blocking(world.all.window, matching),
        }
    }
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
            Shape::Reduce | Shape::PrefixReduce => elements(arguments) / u64::from(world.all.size.max(1)),
            _ => arguments.size(),
        };
        (to, from, bytes)
    };
    let all = bytes.saturating_mul(world.all.size.into());
    let is = |root: u32| root == world.all.rank;
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
