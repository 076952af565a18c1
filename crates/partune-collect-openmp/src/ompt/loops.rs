//! Loops whose schedule is the environment's. A runtime tells of a loop after it has looked that up, so the function that the compiler calls to begin it
//! is looked at before.

use std::cell::Cell;

use partune_collect::Region;
use partune_collect::frame::{self, Frame};

use super::abi::Word;
use crate::adapt::{self, Schedule};
use crate::runtime::call;
use crate::work::{FOR, RUNTIME_FOR};

thread_local! {
    static NEXT_IS_RUNTIME: Cell<bool> = const { Cell::new(false) };
    /// The loop that the calling thread begins next has iterations that depend on each other.
    static IS_ORDERED: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread is about to begin a loop, of which the runtime will tell.
pub(crate) fn begins(region: &'static Region) {
    NEXT_IS_RUNTIME.set(std::ptr::eq(region, &raw const RUNTIME_FOR));
}

/// The loop that the runtime tells of.
pub(super) fn told() -> &'static Region {
    if NEXT_IS_RUNTIME.take() { &RUNTIME_FOR } else { &FOR }
}

/// LLVM's numbers of schedules that the environment says: plain, ordered, and both for loops that may not be merged.
const RUNTIME: [Word; 4] = [37, 69, 165, 197];
/// Bits of a schedule that say whether it is monotonic.
const MODIFIERS: Word = 0x6000_0000;

/// The schedule, and its chunk, that a loop of the environment's gets.
fn tried(frame: Frame, schedule: usize, chunk: usize, iterations: impl Fn() -> u64) -> (usize, usize) {
    /// LLVM's numbers.
    const STATIC: usize = 34;
    const DYNAMIC: usize = 35;
    const GUIDED: usize = 36;
    // What is said of the order stays.
    let order = schedule & MODIFIERS as usize;
    let tried = adapt::schedule(frame, iterations);
    let kind = match tried {
        Schedule::Own => return (schedule, chunk),
        Schedule::Static => STATIC,
        Schedule::Guided => GUIDED,
        Schedule::Dynamic(_) => DYNAMIC,
    };
    (kind | order, tried.chunk())
}

/// The functions of LLVM's runtime with which a thread begins its part of a loop.
macro_rules! dispatches {
    ($($name:ident $number:ty;)*) => {$(
        /// Begins a loop.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            place: usize,
            thread: usize,
            schedule: usize,
            first: usize,
            last: usize,
            step: usize,
            chunk: usize,
        ) -> usize {
            let frame = frame::here();
            let is_runtime = RUNTIME.contains(&(schedule as Word & !MODIFIERS));
            begins(if is_runtime { &RUNTIME_FOR } else { &FOR });
            // What is ordered stays so.
            let is_ordered = IS_ORDERED.take();
            let (schedule, chunk) = if schedule as Word & !MODIFIERS == RUNTIME[0] && !is_ordered {
                tried(frame, schedule, chunk, || {
                    // Numbers of 32 bits are in the low half of their words, whose other half is anything.
                    let [first, last] = [first, last].map(|word| word as $number as usize);
                    let step = if size_of::<$number>() == size_of::<usize>() { step } else { step as i32 as usize };
                    adapt::iterations(first, last.wrapping_add_signed((step as isize).signum()), step)
                })
            } else {
                (schedule, chunk)
            };
            call!(frame, $name(place, thread, schedule, first, last, step, chunk))
        }
    )*};
}

dispatches! {
    __kmpc_dispatch_init_4 i32;
    __kmpc_dispatch_init_4u u32;
    __kmpc_dispatch_init_8 i64;
    __kmpc_dispatch_init_8u u64;
}

/// Begins a loop whose iterations depend on each other, which is dispatched next.
///
/// # Safety
/// As the runtime's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_doacross_init(place: usize, thread: usize, count: usize, bounds: usize) -> usize {
    IS_ORDERED.set(true);
    call!(frame::here(), __kmpc_doacross_init(place, thread, count, bounds))
}

/// Ends it, whether or not it was dispatched.
///
/// # Safety
/// As the runtime's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_doacross_fini(place: usize, thread: usize) -> usize {
    IS_ORDERED.set(false);
    call!(frame::here(), __kmpc_doacross_fini(place, thread))
}
