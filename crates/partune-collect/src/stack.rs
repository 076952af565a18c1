//! The marked regions that a thread is in.
//!
//! A call path is made of frames, which the walker finds, and of regions, which the program marks. A region belongs below the innermost
//! frame that was there when it was marked and still is: frames are the same as long as function and place on the stack are.

use crate::path::Path;
use crate::region::Region;
use crate::runtime;
use crate::unwind::{self, Step};

/// A region that was begun and not ended.
pub(crate) struct Open {
    pub(crate) region: &'static Region,
    /// The path that ends in it.
    pub(crate) path: Path,
    /// Whether the path is the region alone.
    pub(crate) is_flat: bool,
    /// The frames when it was begun, outermost first.
    pub(crate) frames: std::rc::Rc<[Step]>,
    /// Whether its path is all that paths inside of it have of what is around: it was begun for this thread by another one, or by a runtime whose
    /// frames are no part of the program.
    pub(crate) is_root: bool,
}

/// Begun regions.
pub(crate) struct Stack {
    /// Outermost first.
    open: Vec<Open>,
    /// What call paths depend on besides the frames: the innermost region's path.
    pub(crate) key: Path,
}

impl Stack {
    pub(crate) const EMPTY: Stack = Stack { open: Vec::new(), key: Path::NONE };

    pub(crate) fn push(&mut self, open: Open) {
        self.key = open.path;
        self.open.push(open);
    }

    pub(crate) fn pop(&mut self) -> Option<Open> {
        let open = self.open.pop();
        self.key = self.open.last().map_or(Path::NONE, |open| open.path);
        open
    }

    /// Whether the path of what is in the innermost region is without frames.
    pub(crate) fn is_flat(&self) -> bool {
        self.open.last().is_none_or(|open| open.is_flat)
    }

    /// How many regions are around this one; none if it is not open.
    pub(crate) fn find(&self, region: &Region) -> Option<usize> {
        self.open.iter().rposition(|open| std::ptr::eq(open.region, region))
    }

    /// All of them, outermost first.
    pub(crate) fn regions(&self) -> impl DoubleEndedIterator<Item = &'static Region> + '_ {
        self.open.iter().map(|open| open.region)
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// The path of the innermost region, and after how many of `frames` (outermost first) it stands.
    pub(crate) fn innermost(&self, frames: &[Step]) -> (Path, usize) {
        self.places(runtime::without_leaves(frames)).last().map_or((Path::NONE, 0), |(place, _)| (self.key, place))
    }

    /// Where the path of a call with these frames (outermost first) begins: a path, how many of the frames are in it, and how many regions.
    pub(crate) fn root(&self, frames: &[Step]) -> (Path, usize, usize) {
        let Some(at) = self.open.iter().rposition(|open| open.is_root) else { return (Path::NONE, 0, 0) };
        let place = self.places(frames).nth(at).map_or(0, |(place, _)| place);
        (self.open[at].path, place, at + 1)
    }

    /// After how many of `frames` (outermost first) each region stands.
    pub(crate) fn places<'a>(&'a self, frames: &'a [Step]) -> impl Iterator<Item = (usize, &'static Region)> + 'a {
        let mut least = 0;
        self.open.iter().map(move |open| {
            let in_one = |a: usize, b: usize| a == b || unwind::function(a) == unwind::function(b);
            let same = |(a, b): &(&Step, &Step)| a.below == b.below && in_one(a.address, b.address);
            // Either may lack outer frames.
            let outer = |of: &[Step], inner: &[Step]| {
                inner.first().and_then(|first| of.iter().position(|step| step.below == first.below)).unwrap_or(0)
            };
            let (skipped, cut) = (outer(frames, &open.frames), outer(&open.frames, frames));
            let common = frames[skipped..].iter().zip(&open.frames[cut..]).take_while(same).count();
            let shared = if common > 0 { skipped + common } else { 0 };
            let runs = if open.is_root { runtime::inside(frames) } else { 0 };
            least = shared.max(runs).max(least);
            (least, open.region)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::Kind;

    /// Frames that lie at these places on the stack, outermost first, each in a function of its own.
    fn frames(places: &[usize]) -> Vec<Step> {
        places.iter().map(|place| Step { address: 1 << 40 | place, below: *place, base: 0, told: 0 }).collect()
    }

    /// After how many of `frames` a region stands that was begun in `begun`.
    fn place(begun: &[usize], at: &[usize]) -> usize {
        static REGION: Region = Region::new("region", Kind::Code);
        let mut stack = Stack::EMPTY;
        stack.push(Open {
            region: &REGION,
            path: Path(0),
            is_flat: false,
            frames: frames(begun).into(),
            is_root: false,
        });
        stack.innermost(&frames(at)).1
    }

    #[test]
    fn a_region_is_below_the_innermost_frame_that_is_still_there() {
        assert_eq!(place(&[90, 80, 70], &[90, 80, 70, 60]), 3);
        assert_eq!(place(&[90, 80, 70], &[90, 80, 75, 60]), 2);
        assert_eq!(place(&[90, 80, 70], &[91, 81]), 0);
    }

    #[test]
    fn outer_frames_that_were_not_walked_to_change_nothing() {
        // Those of the call were left out, or those of the region; and a call that is deeper inside of it.
        assert_eq!(place(&[90, 80, 70], &[80, 70, 60, 50]), 2);
        assert_eq!(place(&[70], &[90, 80, 70, 60]), 3);
        assert_eq!(place(&[90, 80, 70], &[60, 50, 40]), 0);
    }
}
