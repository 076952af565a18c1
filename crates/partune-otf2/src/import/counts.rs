//! What has to be known of all gaps of a location before functions can be put into them: a first pass over its events.

use serde::{Deserialize, Serialize};

use super::contexts::Contexts;
use super::gaps::{Gap, Visitor, length};
use super::lasting::{Lasting, Pairs};
use super::shares::{Generators, Shares};

/// Counts the gaps of a location.
pub(super) struct Counts<'a> {
    contexts: &'a Contexts,
    generators: &'a Generators,
    pairs: Pairs,
    /// Not where no samples are taken.
    shares: Option<Shares>,
}

/// What was counted, and is known of any of the location's gaps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Counted {
    pub(super) lasting: Lasting,
    pub(super) shares: Shares,
}

impl<'a> Counts<'a> {
    pub(super) fn new(contexts: &'a Contexts, generators: &'a Generators, has_samples: bool) -> Counts<'a> {
        Counts { contexts, generators, pairs: Pairs::default(), shares: has_samples.then(Shares::default) }
    }

    /// All gaps are counted. The location took `span` ticks and `serves` others if it is not its process's main thread; a second on a processor takes it `slowdown` seconds.
    pub(super) fn finish(self, serves: bool, span: u64, slowdown: f64) -> Counted {
        let lasting = Lasting::new(self.contexts, &self.pairs, serves, span);
        Counted { lasting, shares: self.shares.unwrap_or_default().counted(slowdown) }
    }
}

impl Visitor for Counts<'_> {
    fn gap(&mut self, gap: &Gap<'_>) {
        if let Some(next) = gap.next {
            self.pairs.operation(self.contexts, next.context);
            if let Some(before) = gap.before
                && self.contexts.kept(next.context, next.unwind_distance) == u32::MAX
            {
                self.pairs.count((before, next.context), 1, length(gap.begin, gap.end));
            }
        }
        if let Some(shares) = &mut self.shares {
            shares.count(gap, self.contexts, self.generators);
        }
    }
}
