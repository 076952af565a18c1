//! The call paths of a location by what was found while its events were looked through: recorded regions and, where calling contexts name them, the functions around these. They are those
//! that visits get when they are read ([`super::weave`]).

use partune_base::RegionId;
use partune_import::{PePath, RegionKey, Tree};
use partune_trace::CallSite;
use rustc_hash::FxHashMap;

use super::contexts::{Contexts, NO_FRAME};
use super::resolve::global_region;
use super::scout::Step;

/// The call paths of a location.
#[derive(Default)]
pub(super) struct OwnPaths {
    /// And whether a visit of each was recorded.
    pub(super) paths: Vec<(PePath, bool)>,
    /// For each path of what was found, its position.
    pub(super) of: Vec<u32>,
}

impl OwnPaths {
    /// Of the steps of a location; `region` knows what events name.
    pub(super) fn new(steps: &Tree<Step>, contexts: &Contexts, region: impl Fn(RegionKey) -> RegionId) -> OwnPaths {
        let mut all = OwnPaths::default();
        let mut known: FxHashMap<PePath, u32> = FxHashMap::default();
        // The functions around each, as far as they are its own.
        let mut around: Vec<u32> = Vec::with_capacity(steps.len());
        for node in 0..steps.len() as u32 {
            let outer = steps.parent(node).map(|outer| outer as usize);
            let parent = outer.map(|outer| all.of[outer]);
            let of_outer = outer.map_or(NO_FRAME, |outer| around[outer]);
            let (at, inside) = match steps.step(node) {
                Step::Region(key) => (all.add(&mut known, (parent, region(key), CallSite::NONE), true), NO_FRAME),
                Step::Context(context) => {
                    let caller = all.add_functions(&mut known, contexts, parent, [of_outer, contexts.around(context)]);
                    let called = region(global_region(contexts.region(context)));
                    (all.add(&mut known, (caller, called, contexts.site(context)), true), contexts.inside(context))
                }
                Step::Frame(frame) => {
                    let at = all.add_functions(&mut known, contexts, parent, [of_outer, frame]);
                    (at.unwrap_or_default(), NO_FRAME)
                }
            };
            all.of.push(at);
            around.push(inside);
        }
        all
    }

    fn add(&mut self, known: &mut FxHashMap<PePath, u32>, path: PePath, is_recorded: bool) -> u32 {
        let paths = &mut self.paths;
        let at = *known.entry(path).or_insert_with(|| {
            paths.push((path, is_recorded));
            paths.len() as u32 - 1
        });
        paths[at as usize].1 |= is_recorded;
        at
    }

    /// Those of the functions of a frame that those around the path are not: returns the innermost path.
    fn add_functions(
        &mut self,
        known: &mut FxHashMap<PePath, u32>,
        contexts: &Contexts,
        parent: Option<u32>,
        [around, functions]: [u32; 2],
    ) -> Option<u32> {
        let mut frames = Vec::new();
        let (mut frame, base) = (functions, contexts.common(functions, around));
        while frame != base && frame != NO_FRAME {
            frames.push(contexts.frame(frame));
            frame = contexts.frame(frame).parent;
        }
        frames
            .into_iter()
            .rev()
            .fold(parent, |parent, frame| Some(self.add(known, (parent, frame.region, frame.site), false)))
    }
}
