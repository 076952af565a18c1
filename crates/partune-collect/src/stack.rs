//! The marked regions that a thread is in.
//!
//! A call path is made of frames, which the walker finds, and of regions, which the program marks. A region belongs below the innermost
//! frame that was there when it was marked and still is: frames are the same as long as function and place on the stack are.

use crate::path::Path;
use crate::region::Region;
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
        self.places(frames).last().map_or((Path::NONE, 0), |(place, _)| (self.key, place))
    }

    /// After how many of `frames` (outermost first) each region stands.
    pub(crate) fn places<'a>(&'a self, frames: &'a [Step]) -> impl Iterator<Item = (usize, &'static Region)> + 'a {
        let mut least = 0;
        self.open.iter().map(move |open| {
            let in_one = |a: usize, b: usize| a == b || unwind::function(a) == unwind::function(b);
            let same = |(a, b): &(&Step, &Step)| a.below == b.below && in_one(a.address, b.address);
            let shared = frames.iter().zip(open.frames.iter()).take_while(same).count();
            least = shared.max(least);
            (least, open.region)
        })
    }
}
