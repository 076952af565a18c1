//! Loops whose schedule is the environment's. A runtime tells of a loop after it has looked that up, so the function that the compiler calls to begin it
//! is looked at before.

use std::cell::Cell;

use partune_collect::{Region, frame};

use super::abi::Word;
use crate::runtime::call;
use crate::work::{FOR, RUNTIME_FOR};

thread_local! {
    static NEXT_IS_RUNTIME: Cell<bool> = const { Cell::new(false) };
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

/// The functions of LLVM's runtime with which a thread begins its part of a loop.
macro_rules! dispatches {
    ($($name:ident;)*) => {$(
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
            let is_runtime = RUNTIME.contains(&(schedule as Word & !MODIFIERS));
            begins(if is_runtime { &RUNTIME_FOR } else { &FOR });
            call!(frame::here(), $name(place, thread, schedule, first, last, step, chunk))
        }
    )*};
}

dispatches! {
    __kmpc_dispatch_init_4;
    __kmpc_dispatch_init_4u;
    __kmpc_dispatch_init_8;
    __kmpc_dispatch_init_8u;
}
