//! A run beside another one: their stages, and what the same piece of both takes in each.

use std::collections::BTreeMap;

use partune_analysis::{Aligned, Stages, align, has_stages, same_regions};
use partune_base::RegionId;
use partune_picture::Flat;

use super::{Run, Selected};

/// A function in two runs, or the code outside of all. Seconds are of all PEs together; without calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InBoth {
    /// What it is in each; none where the run does not have it, and in both for the code outside of all.
    pub here: RegionId,
    pub there: RegionId,
    pub seconds: (f64, f64),
    pub waiting: (f64, f64),
    pub visits: (u64, u64),
}

impl Run {
    pub fn has_stages(&self, stages: Stages) -> bool {
        has_stages(&self.trace, &self.index, stages)
    }

    /// Which stages of this run are which of another, and where a moment of this one is in that.
    pub fn aligned(&self, there: &Run, stages: Stages) -> Aligned {
        align((&self.trace, &self.index), (&there.trace, &there.index), stages)
    }

    /// What each function takes in a part of this run, and in one of another: those first that differ most.
    pub fn in_both(&self, part: &Selected, there: &Run, other: &Selected) -> Vec<InBoth> {
        let of = |part: &Selected| -> BTreeMap<RegionId, Flat> {
            part.content.functions.iter().map(|row| (row.region, *row)).collect()
        };
        let (in_part, in_other) = (of(part), of(other));
        let outside = (vec![RegionId::NONE], vec![RegionId::NONE]);
        let mut rows: Vec<InBoth> = Vec::new();
        for (ours, theirs) in same_regions(&self.trace, &there.trace).into_iter().chain([outside]) {
            let mut row = InBoth {
                here: ours.first().copied().unwrap_or(RegionId::NONE),
                there: theirs.first().copied().unwrap_or(RegionId::NONE),
                seconds: (0.0, 0.0),
                waiting: (0.0, 0.0),
                visits: (0, 0),
            };
            for flat in ours.iter().filter_map(|region| in_part.get(region)) {
                row.seconds.0 += self.seconds(flat.exclusive);
                row.waiting.0 += self.seconds(flat.waiting);
                row.visits.0 += flat.visits;
            }
            for flat in theirs.iter().filter_map(|region| in_other.get(region)) {
                row.seconds.1 += there.seconds(flat.exclusive);
                row.waiting.1 += there.seconds(flat.waiting);
                row.visits.1 += flat.visits;
            }
            if row.seconds != (0.0, 0.0) || row.visits != (0, 0) {
                rows.push(row);
            }
        }
        let differs = |row: &InBoth| (row.seconds.1 - row.seconds.0).abs();
        rows.sort_by(|a, b| differs(b).total_cmp(&differs(a)).then((a.here, a.there).cmp(&(b.here, b.there))));
        rows
    }
}
