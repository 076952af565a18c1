//! The runtime that calls the program's functions on its threads, where no function of ours stands between.
//!
//! A collector whose functions have returned before the program's are called cannot say what the frames of the runtime are. They are those in its
//! module: what the program does in a part of a team, or in a task, lies inside of the innermost of them that has called the program.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::modules;
use crate::unwind::Step;

static BEGIN: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// The runtime's code is where this address is. One that was linked into the program cannot be told from it.
pub fn is_at(address: usize) {
    // SAFETY: it looks a number up.
    let start = unsafe { libc::getauxval(libc::AT_ENTRY) } as usize;
    if let Some(((begin, end, _), _)) = modules::module_at(address)
        && !(begin..end).contains(&start)
    {
        END.store(end, Ordering::Relaxed);
        BEGIN.store(begin, Ordering::Relaxed);
    }
}

/// Where its code is; nowhere if nobody said.
pub(crate) fn code() -> Range<usize> {
    BEGIN.load(Ordering::Relaxed)..END.load(Ordering::Relaxed)
}

/// After how many of `frames` (outermost first) the program begins that the runtime has called.
pub(crate) fn inside(frames: &[Step]) -> usize {
    program(&code(), frames)
}

/// The frames, less those of the runtime that are innermost, which the program has called.
pub(crate) fn without_leaves(frames: &[Step]) -> &[Step] {
    let code = code();
    let leaves = frames.iter().rev().take_while(|step| code.contains(&step.address)).count();
    &frames[..frames.len() - leaves]
}

fn program(runtime: &Range<usize>, frames: &[Step]) -> usize {
    frames.iter().rposition(|step| runtime.contains(&step.address)).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_begins_inside_of_the_innermost_frame_of_the_runtime_that_called_it() {
        let frames = |addresses: &[usize]| -> Vec<Step> {
            addresses.iter().map(|address| Step { address: *address, below: 0, base: 0, told: 0 }).collect()
        };
        let inside = |addresses: &[usize]| program(&(50..60), &frames(addresses));
        // main, fork, invoke, part, fork, invoke, part of the inner team
        assert_eq!(inside(&[10, 55, 56, 11, 55, 56, 12]), 6);
        // A thread of the runtime's: the system's start, the runtime, a part and what it calls.
        assert_eq!(inside(&[90, 51, 52, 11, 12]), 3);
        // A part whose last act is another fork: the compiler made a jump of that.
        assert_eq!(inside(&[10, 55, 56]), 3);
        assert_eq!(inside(&[10, 11]), 0);
        assert_eq!(program(&(0..0), &frames(&[1, 2])), 0);
    }
}
