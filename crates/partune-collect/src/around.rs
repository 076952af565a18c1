//! The function of a runtime that the program called, seen from a function of ours that the runtime calls.
//!
//! The runtime says where the program goes on: a return address. The walker finds in whose frame that lies, once for each pair of that address and the
//! place in the runtime that calls us: between the two lies code of the runtime, whose frames are of the same sizes each time. A load proves that.
//! Where it does not say it, the innermost frame that is not its own is looked for each time. Wrappers of ours that stand between are passed over.

use crate::frame::Frame;
use crate::modules;
use crate::runtime::code;
use crate::unwind::{Step, Walker};

const KNOWN: usize = 64;
const WORD: usize = size_of::<usize>();

/// What was found: [`Found`] by a pair of addresses.
pub(crate) struct Around([Found; KNOWN]);

impl Default for Around {
    fn default() -> Around {
        Around([Found::default(); KNOWN])
    }
}

#[derive(Clone, Copy, Default)]
struct Found {
    /// Where the runtime goes on after our function, and what it said.
    back: usize,
    place: usize,
    /// Where the program goes on; 0 if there is no such frame.
    return_address: usize,
    /// From our frame to that of the function which the program called, and to where that has saved the caller's frame pointer.
    base: usize,
    saved: usize,
}

impl Around {
    pub(crate) fn find(&mut self, own: Frame, place: usize, walker: &mut Walker, steps: &mut Vec<Step>) -> Frame {
        let back = own.return_address;
        if place == 0 {
            let found = search(own, |address| !code().contains(&address), walker, steps);
            return found.filter(|_| !code().is_empty()).and_then(|found| found.at(own, walker)).unwrap_or(Frame::NONE);
        }
        let mixed = (back ^ place.rotate_left(24)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let found = &mut self.0[mixed >> (usize::BITS - KNOWN.trailing_zeros())];
        if (found.back, found.place) == (back, place)
            && let Some(frame) = found.at(own, walker)
        {
            return frame;
        }
        let searched = search(own, |address| address == place, walker, steps).unwrap_or_default();
        *found = Found { back, place, ..searched };
        found.at(own, walker).unwrap_or(Frame::NONE)
    }
}

impl Found {
    /// The frame, if it is there.
    fn at(&self, own: Frame, walker: &Walker) -> Option<Frame> {
        if self.return_address == 0 {
            return Some(Frame::NONE);
        }
        let (base, saved) = (own.base + self.base, own.base + self.saved);
        // SAFETY: a word of this thread's stack, above the current frame.
        let is_there = || unsafe { (base as *const usize).add(1).read_volatile() } == self.return_address;
        (walker.is_within(base + WORD) && is_there()).then_some(Frame {
            base,
            return_address: self.return_address,
            saved,
        })
    }
}

#[cold]
fn search(own: Frame, is: impl Fn(usize) -> bool, walker: &mut Walker, steps: &mut Vec<Step>) -> Option<Found> {
    /// More functions than a runtime calls before it calls ours.
    const FRAMES: usize = 40;
    walker.walk(own, FRAMES, steps);
    let modules = modules::known();
    let first = steps.iter().position(|step| is(step.address))?;
    let at = first + steps[first..].iter().position(|step| !modules.is_own(step.address))?;
    let base = steps[at].below - 2 * WORD;
    let saved = saved(&steps[..=at], own)?;
    walker.is_within(base + WORD).then_some(Found {
        return_address: steps[at].address,
        base: base - own.base,
        saved: saved - own.base,
        ..Found::default()
    })
}

/// Where the last one's frame pointer is stored: by the outermost of the functions inside that has changed the register, near the begin of its frame.
fn saved(steps: &[Step], own: Frame) -> Option<usize> {
    let base = steps.last()?.base;
    let Some(at) = steps.windows(2).rposition(|two| two[0].base != two[1].base) else { return Some(own.saved) };
    let frame = steps[at].below..steps[at + 1].below - WORD;
    // SAFETY: words of a frame of this thread that the walker has found.
    frame.step_by(WORD).rev().find(|place| unsafe { (*place as *const usize).read_volatile() } == base)
}
