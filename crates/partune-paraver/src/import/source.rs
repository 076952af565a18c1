//! A trace whose text is read, as a source: its parts are threads, each with all that the text said of it.

use std::sync::{Mutex, PoisonError};

use partune_base::{PeId, RegionId};
use partune_import::{Assembler, Joined, RegionKey, Segment, Source};
use partune_trace::TraceBuilder;

use super::decode::{Called, Context, Kept, segment};
use super::lanes::Lane;
use super::weave::{Chain, weave};
use super::{collectives, report};

pub(super) struct Threads {
    pub(super) context: Context,
    pub(super) chains: Vec<Chain>,
    /// By PE. Each is read once, and gone then.
    pub(super) lanes: Vec<Mutex<Option<Lane>>>,
}

impl Source for Threads {
    type Part = PeId;
    type Beside = Kept;

    fn parts(&self) -> Vec<PeId> {
        (0..self.lanes.len() as u32).map(PeId).collect()
    }

    /// Progress is that of reading the text, which is over.
    fn size(&self, _: &PeId) -> u64 {
        0
    }

    fn read(&self, pe: &PeId) -> Vec<(PeId, Segment<Kept>)> {
        vec![(*pe, self.whole(*pe))]
    }

    fn whole(&self, pe: PeId) -> Segment<Kept> {
        let lane = self.lanes.get(pe.0 as usize);
        match lane.and_then(|lane| lane.lock().unwrap_or_else(PoisonError::into_inner).take()) {
            Some(lane) => segment(lane, &self.context),
            None => Assembler::new(true).finish(),
        }
    }

    fn region(&self, _: PeId, key: RegionKey) -> RegionId {
        RegionId(key.0 as u32)
    }

    /// Adds the visits of functions, if calls have callers.
    fn joined(&self, _: PeId, joined: &mut Joined<Kept>) {
        let called: Vec<Called> = joined.beside().flat_map(|(kept, _)| kept.called.iter().copied()).collect();
        if called.is_empty() {
            return;
        }
        let recorded = joined.recorded(|key| RegionId(key.0 as u32));
        let replaced = weave(&recorded, &called, &self.chains, &self.context.regions);
        joined.replace(replaced);
    }

    fn report(&self, joined: &[Joined<Kept>], builder: &mut TraceBuilder) {
        report::threads(joined, &mut builder.quality);
    }

    fn complete(self, _: Vec<Kept>, builder: &mut TraceBuilder) {
        collectives::name_roots(builder.streams.as_mut_slice(), &mut builder.quality);
    }
}
