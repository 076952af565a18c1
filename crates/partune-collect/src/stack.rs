//! The marked regions that a thread is in.
//!
//! A call path is made of frames, which the walker finds, and of regions, which the program marks. A region belongs below the innermost
//! frame that was there when it was marked and still is: frames are the same as long as function and place on the stack are.

use crate::paths::Path;
use crate::region::Region;
use crate::unwind::Step;

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

/// Begun regions, outermost first.
#[derive(Default)]
pub(crate) struct Stack(pub(crate) Vec<Open>);

impl Stack {
    /// What call paths depend on besides the frames: the innermost region's path.
    #[inline]
    pub(crate) fn key(&self) -> Path {
        self.0.last().map_or(Path::NONE, |open| open.path)
    }

    /// Behind how many of `frames` (outermost first) each region stands.
    pub(crate) fn places<'a>(&'a self, frames: &'a [Step]) -> impl Iterator<Item = (usize, &'static Region)> + 'a {
        let mut least = 0;
        self.0.iter().map(move |open| {
            let same = |(a, b): &(&Step, &Step)| a.below == b.below && a.function == b.function;
            let shared = frames.iter().zip(open.frames.iter()).take_while(same).count();
            least = shared.max(least);
            (least, open.region)
        })
    }
}
