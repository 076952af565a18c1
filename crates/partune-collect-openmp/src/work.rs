//! Shared work: loops whose iterations the runtime deals out, and sections.

use partune_collect::frame::{self, Frame};
use partune_collect::{Region, enter_region, leave_one_of};

use crate::adapt::{self, dealt};
use crate::awake;
use crate::ompt::loops;
use crate::runtime::call;
use crate::sync::{IMPLICIT_BARRIER, meet};

pub(crate) static FOR: Region = crate::construct("omp for");
/// A loop whose schedule is the environment's.
pub(crate) static RUNTIME_FOR: Region = crate::construct("omp for schedule(runtime)");
pub(crate) static LOOPS: [&Region; 2] = [&FOR, &RUNTIME_FOR];
pub(crate) static SECTIONS: Region = crate::construct("omp sections");

/// The functions with which a thread begins its part of the work.
macro_rules! begins {
    ($($region:ident $name:ident($($word:ident),*) $(dealt by $deal:ident)?;)*) => {$(
        /// Begins shared work.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, unused_variables, reason = "it is the runtime's, and only some are dealt")]
        pub unsafe extern "C" fn $name($($word: usize),*) -> usize {
            let (frame, words) = (frame::here(), [$($word),*]);
            if awake::world().is_some() {
                enter_region(&$region, frame);
            } else {
                loops::begins(&$region);
                $(if let Some(result) = $deal(frame, words) {
                    return result;
                })?
            }
            call!(frame, $name($($word),*))
        }
    )*};
}

/// Those with which it ends it, and waits for the others, or does not.
macro_rules! ends {
    ($($regions:expr => $name:ident $(waits $barrier:ident)?;)*) => {$(
        /// Ends shared work.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> usize {
            let frame = frame::here();
            let end = || call!(frame, $name());
            let result = ends!(end $(&$barrier, frame)?);
            if awake::world().is_some() {
                leave_one_of($regions);
            }
            result
        }
    )*};
    ($end:ident) => { $end() };
    ($end:ident $barrier:expr, $frame:ident) => { meet($barrier, $frame, $end) };
}

/// A loop with the environment's schedule, with the one that its region is tried with.
fn deal(frame: Frame, [start, end, step, first, last]: [usize; 5]) -> Option<usize> {
    let schedule = adapt::schedule(frame, || adapt::iterations(start, end, step));
    dealt!(frame, schedule, GOMP_loop_static_start GOMP_loop_guided_start GOMP_loop_dynamic_start(
        start, end, step; first, last
    ))
}

/// The same of one that counts without a sign.
fn deal_unsigned(frame: Frame, [up, start, end, step, first, last]: [usize; 6]) -> Option<usize> {
    let schedule = adapt::schedule(frame, || adapt::iterations(start, end, step));
    dealt!(frame, schedule, GOMP_loop_ull_static_start GOMP_loop_ull_guided_start GOMP_loop_ull_dynamic_start(
        up, start, end, step; first, last
    ))
}

begins! {
    FOR GOMP_loop_static_start(start, end, step, chunk, first, last);
    FOR GOMP_loop_dynamic_start(start, end, step, chunk, first, last);
    FOR GOMP_loop_guided_start(start, end, step, chunk, first, last);
    RUNTIME_FOR GOMP_loop_runtime_start(start, end, step, first, last) dealt by deal;
    FOR GOMP_loop_nonmonotonic_dynamic_start(start, end, step, chunk, first, last);
    FOR GOMP_loop_nonmonotonic_guided_start(start, end, step, chunk, first, last);
    RUNTIME_FOR GOMP_loop_nonmonotonic_runtime_start(start, end, step, first, last) dealt by deal;
    RUNTIME_FOR GOMP_loop_maybe_nonmonotonic_runtime_start(start, end, step, first, last) dealt by deal;
    FOR GOMP_loop_ordered_static_start(start, end, step, chunk, first, last);
    FOR GOMP_loop_ordered_dynamic_start(start, end, step, chunk, first, last);
    FOR GOMP_loop_ordered_guided_start(start, end, step, chunk, first, last);
    RUNTIME_FOR GOMP_loop_ordered_runtime_start(start, end, step, first, last);
    FOR GOMP_loop_start(start, end, step, schedule, chunk, first, last, reductions, memory);
    FOR GOMP_loop_ordered_start(start, end, step, schedule, chunk, first, last, reductions, memory);
    FOR GOMP_loop_doacross_static_start(count, counts, chunk, first, last);
    FOR GOMP_loop_doacross_dynamic_start(count, counts, chunk, first, last);
    FOR GOMP_loop_doacross_guided_start(count, counts, chunk, first, last);
    RUNTIME_FOR GOMP_loop_doacross_runtime_start(count, counts, first, last);
    FOR GOMP_loop_doacross_start(count, counts, schedule, chunk, first, last, reductions, memory);
    FOR GOMP_loop_ull_static_start(up, start, end, step, chunk, first, last);
    FOR GOMP_loop_ull_dynamic_start(up, start, end, step, chunk, first, last);
    FOR GOMP_loop_ull_guided_start(up, start, end, step, chunk, first, last);
    RUNTIME_FOR GOMP_loop_ull_runtime_start(up, start, end, step, first, last) dealt by deal_unsigned;
    FOR GOMP_loop_ull_nonmonotonic_dynamic_start(up, start, end, step, chunk, first, last);
    FOR GOMP_loop_ull_nonmonotonic_guided_start(up, start, end, step, chunk, first, last);
    RUNTIME_FOR GOMP_loop_ull_nonmonotonic_runtime_start(up, start, end, step, first, last) dealt by deal_unsigned;
    RUNTIME_FOR GOMP_loop_ull_maybe_nonmonotonic_runtime_start(up, start, end, step, first, last) dealt by deal_unsigned;
    FOR GOMP_loop_ull_ordered_static_start(up, start, end, step, chunk, first, last);
    FOR GOMP_loop_ull_ordered_dynamic_start(up, start, end, step, chunk, first, last);
    FOR GOMP_loop_ull_ordered_guided_start(up, start, end, step, chunk, first, last);
    RUNTIME_FOR GOMP_loop_ull_ordered_runtime_start(up, start, end, step, first, last);
    FOR GOMP_loop_ull_start(up, start, end, step, schedule, chunk, first, last, reductions, memory);
    FOR GOMP_loop_ull_ordered_start(up, start, end, step, schedule, chunk, first, last, reductions, memory);
    SECTIONS GOMP_sections_start(count);
    SECTIONS GOMP_sections2_start(count, reductions, memory);
}

ends! {
    &LOOPS => GOMP_loop_end waits IMPLICIT_BARRIER;
    &LOOPS => GOMP_loop_end_cancel waits IMPLICIT_BARRIER;
    &LOOPS => GOMP_loop_end_nowait;
    &[&SECTIONS] => GOMP_sections_end waits IMPLICIT_BARRIER;
    &[&SECTIONS] => GOMP_sections_end_cancel waits IMPLICIT_BARRIER;
    &[&SECTIONS] => GOMP_sections_end_nowait;
}
