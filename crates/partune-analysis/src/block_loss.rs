//! What PEs lose between global synchronisations because another has more to do: findings of [`crate::bounds`].
//!
//! A block i of a region loses Σ_q (max w − w_q) in PE time; the PE with most work is charged for it.

use partune_base::{CallPathId, Span, Time};
use partune_trace::Role;
use rayon::prelude::*;

use crate::block_work::BlockWork;
use crate::tensor::RegionKind;
use crate::useful::role_of_path;
use crate::{Cause, Finding, Input, Occurrence, Pattern};

/// Imbalance and serial work of each region, as findings.
pub(crate) fn findings(input: &Input<'_>, work: &BlockWork, kinds: &[RegionKind]) -> Vec<Finding> {
    let n = work.pes.len();
    if n < 2 {
        return Vec::new();
    }
    let least = (input.trace.duration().0 as f64 * n as f64 * input.options.minimum) as i64;
    let mut lost: Vec<Lost> = work.regions.iter().map(|_| Lost::new(n)).collect();
    for ((region, ticks), extent) in work.iterations().zip(&work.rows) {
        lost[region].add(ticks, extent.begin, extent.end);
    }
    (0..work.regions.len())
        .into_par_iter()
        .filter(|region| lost[*region].time > least && work.is_known(*region))
        .map(|region| lost[region].finding(input, work, region, kinds[region]))
        .collect()
}

/// What PEs lose in a region because another has more to do.
struct Lost {
    time: i64,
    count: u64,
    waits: Vec<i64>,
    blame: Vec<i64>,
    /// (loss, begin, end, PE that has most) of the worst iterations.
    worst: Vec<(i64, Time, Time, usize)>,
}

impl Lost {
    fn new(pes: usize) -> Lost {
        Lost { time: 0, count: 0, waits: vec![0; pes], blame: vec![0; pes], worst: Vec::new() }
    }

    fn add(&mut self, ticks: &[i64], begin: Time, end: Time) {
        let Some((most, max)) =
            ticks.iter().copied().enumerate().max_by_key(|(pe, ticks)| (*ticks, std::cmp::Reverse(*pe)))
        else {
            return;
        };
        let mut lost = 0_i64;
        for (wait, ticks) in self.waits.iter_mut().zip(ticks) {
            *wait += max - ticks;
            lost = lost.saturating_add(max - ticks);
        }
        self.time = self.time.saturating_add(lost);
        self.count += u64::from(lost > 0);
        self.blame[most] = self.blame[most].saturating_add(lost);
        self.worst.push((lost, begin, end, most));
        if self.worst.len() > 64 {
            self.keep(32);
        }
    }

    fn keep(&mut self, count: usize) {
        self.worst.sort_unstable_by_key(|row| (std::cmp::Reverse(row.0), row.1));
        self.worst.truncate(count);
    }

    fn finding(&self, input: &Input<'_>, work: &BlockWork, region: usize, kind: RegionKind) -> Finding {
        let (from, to) = work.regions[region].source;
        let path = [work.turns[region], to, from].into_iter().find(|path| path.is_some()).unwrap_or(CallPathId::NONE);
        let role = path.some().map_or(Role::User, |path| role_of_path(input.trace, path));
        let details = input.options.details;
        let mut causes: Vec<Cause> = (0..work.pes.len())
            .filter(|pe| self.blame[*pe] > 0)
            .map(|pe| Cause {
                pe: work.pes[pe],
                path: from,
                origin: CallPathId::NONE,
                time: Span(self.blame[pe]),
                passed_on: Span::ZERO,
                via: Vec::new(),
            })
            .collect();
        causes.sort_by_key(|cause| (std::cmp::Reverse(cause.time), cause.pe));
        causes.truncate(details);
        for cause in &mut causes {
            cause.path = work.excess(input.trace, region, cause.pe).some().unwrap_or(from);
        }
        let mut worst = Lost { worst: self.worst.clone(), ..Lost::new(0) };
        worst.keep(details.min(32));
        let worst = worst.worst.into_iter().filter(|row| row.0 > 0);
        let occurrences = worst.map(|(_, begin, end, most)| {
            let pe = work.pes[most];
            Occurrence { pe, begin, end, cause: pe }
        });
        let shares = self.waits.iter().enumerate().filter(|(_, ticks)| **ticks > 0);
        Finding {
            pattern: if kind == RegionKind::Serial { Pattern::SerialSection } else { Pattern::LoadImbalance },
            role,
            path,
            time: Span(self.time),
            count: self.count,
            pes: shares.map(|(pe, ticks)| (work.pes[pe], Span(*ticks))).collect(),
            causes,
            unexplained: Span::ZERO,
            occurrences: occurrences.collect(),
            facts: vec![("level", 1.0)],
        }
    }
}
