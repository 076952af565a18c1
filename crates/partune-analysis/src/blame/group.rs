//! Blame in a group whose members all wait for the last: the Shapley value of the waiting game.
//!
//! Sort enters e_1 ≤ … ≤ e_g, Δ_k = e_{k+1} − e_k, S_1 = 0, S_{k+1} = S_k + Δ_k/(g−k). A PE that begins to wait at time o owes
//! S_q − S(o) to every q with e_q > o, where S(o) is S interpolated: between e_k and e_{k+1} the g−k members that are missing
//! share the waiting equally. The sum over q is e_g − o. Golden case: enters (0, 3, 9, 10): S = (0, 1, 4, 5), waits 10, 7, 1, 0,
//! caused 0, 1, 7, 10.

use partune_base::{CallPathId, Time};
use partune_index::{Index, Place};
use partune_trace::Trace;
use rayon::prelude::*;

use super::{Charges, Sample, account};
use crate::finding::Kind;
use crate::{Delays, Wait, Waits};

/// Instances that one task looks at.
const CHUNK: usize = 4096;

/// The enters of a group in order, and S at each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    enters: Vec<Time>,
    levels: Vec<f64>,
}

impl Levels {
    /// From enters in order.
    pub(crate) fn new(enters: Vec<Time>) -> Levels {
        let count = enters.len();
        let mut level = 0.0;
        let mut levels = Vec::with_capacity(count);
        for k in 0..count {
            if k > 0 {
                level += enters[k].since(enters[k - 1]).0 as f64 / (count - k) as f64;
            }
            levels.push(level);
        }
        Levels { enters, levels }
    }

    pub(crate) fn enters(&self) -> &[Time] {
        &self.enters
    }

    pub(crate) fn last(&self) -> Time {
        self.enters.last().copied().unwrap_or_default()
    }

    /// S at any time.
    fn at(&self, time: Time) -> f64 {
        let next = self.enters.partition_point(|enter| *enter <= time);
        match next.checked_sub(1) {
            None => 0.0,
            Some(before) if next == self.enters.len() => self.levels[before],
            Some(before) => {
                let missing = (self.enters.len() - next) as f64;
                self.levels[before] + time.since(self.enters[before]).0 as f64 / missing
            }
        }
    }

    /// What one who begins to wait at a time owes to one who enters later.
    fn between(&self, begin: Time, enter: Time) -> f64 {
        self.at(enter) - self.at(begin)
    }

    /// What each member, in order of enters, owes to waits that begin at given times (in order) and count with a weight.
    pub(crate) fn caused(&self, waits: &[(Time, f64)]) -> Vec<f64> {
        let (mut weight, mut owed) = (0.0, 0.0);
        let mut next = waits.iter().peekable();
        let mut caused = Vec::with_capacity(self.enters.len());
        for (enter, level) in self.enters.iter().zip(&self.levels) {
            while let Some((origin, share)) = next.next_if(|(origin, _)| origin < enter) {
                weight += share;
                owed += share * self.at(*origin);
            }
            caused.push(weight * level - owed);
        }
        caused
    }
}

/// Charges all waits in groups; one part a chunk of instances.
pub(super) fn charges(trace: &Trace, index: &Index, waits: &Waits, delays: &Delays) -> Vec<Charges> {
    let mut rows: Vec<(u32, u32)> = (0_u32..)
        .zip(waits.iter())
        .filter(|(_, wait)| {
            wait.pattern.kind() == Kind::GroupWait && (wait.instance as usize) < index.collectives.instances.len()
        })
        .map(|(i, wait)| (wait.instance, i))
        .collect();
    rows.par_sort_unstable();
    let instances: Vec<&[(u32, u32)]> = rows.chunk_by(|a, b| a.0 == b.0).collect();
    instances
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut charges = Charges::default();
            for rows in chunk {
                charge(trace, index, waits, delays, rows, &mut charges);
            }
            charges
        })
        .collect()
}

/// Charges the waits of one instance.
fn charge(trace: &Trace, index: &Index, waits: &Waits, delays: &Delays, rows: &[(u32, u32)], charges: &mut Charges) {
    let instance = &index.collectives.instances[rows[0].0 as usize];
    let mut members = index.collectives.members(instance).to_vec();
    members.sort_by_key(|member| (member.enter, member.pe));
    let levels = Levels::new(members.iter().map(|member| member.enter).collect());
    // The waits of one call path, in order of their begins.
    let mut rows: Vec<(CallPathId, Time, u32)> = rows
        .iter()
        .map(|(_, i)| {
            let wait = &waits.as_slice()[*i as usize];
            (trace.visit(wait.pe, wait.operation).path, wait.begin, *i)
        })
        .collect();
    rows.sort_unstable();
    for part in rows.chunk_by(|a, b| a.0 == b.0) {
        let longest = &waits.as_slice()[part[0].2 as usize];
        // A wait that was cut at its own exit counts for less.
        let weights: Vec<(Time, f64)> = part
            .iter()
            .map(|(_, begin, i)| {
                let whole = levels.last().since(*begin).0.max(1) as f64;
                (*begin, waits.as_slice()[*i as usize].duration().0 as f64 / whole)
            })
            .collect();
        for (member, ticks) in members.iter().zip(levels.caused(&weights)) {
            let cause = Place { pe: member.pe, visit: member.start };
            if ticks <= 0.0 || !cause.is_some() {
                continue;
            }
            let charge = charges.entry(account(trace, longest, cause)).or_default();
            charge.add(ticks, Sample { wait: Wait { end: member.enter, cause, ..*longest }, since: None });
            if cause == longest.cause {
                let links = part.iter().zip(&weights).filter_map(|((.., i), (begin, weight))| {
                    Some((delays.chains.link(*i as usize)?, weight * levels.between(*begin, member.enter)))
                });
                charge.links.extend(links);
            }
        }
    }
}
