//! Blame: who pays for a wait. Seconds of waiting at one call path, charged to PEs and the call paths that they were in.
//!
//! | waiting | is charged to |
//! |---|---|
//! | barrier, all-to-all, fence | all that came later, by the Shapley value (see [`group`]) |
//! | lock | the holders, each for the time it held the lock while this PE waited; gaps stay unexplained |
//! | competing put or get | the other accesses to the same PE, in proportion to their overlap |
//! | everything else | the operation that ended the wait |
//!
//! Charged is the operation that ended the wait; [`crate::delay`] follows it to the code that was late.
//!
//! Cost: linear in waits and members of collectives, but for sorting members; O(g log g) for a group of g.

pub(crate) mod group;

use std::ops::Range;

use partune_base::{CallPathId, PeId, Time};
use partune_index::{Grant, Index, Place};
use partune_trace::Trace;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::finding::Kind;
use crate::waits::{contenders, holders};
use crate::{Delays, Pattern, Wait, Waits};

/// What is charged: the pattern and call path of the waiting, and the PE and call path that pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Account {
    pub(crate) pattern: Pattern,
    pub(crate) path: CallPathId,
    pub(crate) pe: PeId,
    pub(crate) cause: CallPathId,
}

/// How much.
#[derive(Clone, Debug, Default)]
pub(crate) struct Charge {
    pub(crate) ticks: f64,
    /// The waits whose causes were looked at, as links of [`crate::Delays`], and what each brought.
    pub(crate) links: Vec<(u32, f64)>,
    /// The longest wait charged here, to look at if none was.
    pub(crate) sample: Option<Sample>,
}

/// A wait, or the part of it that one PE pays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) wait: Wait,
    /// Since when that PE made others wait; none since both were last together.
    pub(crate) since: Option<Time>,
}

pub(crate) type Charges = FxHashMap<Account, Charge>;

/// All charges, in order of accounts.
pub(crate) fn ledger(trace: &Trace, index: &Index, waits: &Waits, delays: &Delays) -> Vec<(Account, Charge)> {
    let pes: Vec<PeId> = trace.pes().ids().collect();
    let mut parts: Vec<Charges> = pes
        .par_iter()
        .map(|pe| {
            let mut charges = Charges::default();
            let first = waits.first_of_pe(*pe);
            let rows = waits.of_pe(*pe);
            let mut links = delays.chains.links(first..first + rows.len()).peekable();
            for (i, wait) in rows.iter().enumerate() {
                let link = links.next_if(|link| delays.chains.wait(*link) == first + i);
                single(trace, index, wait, link.map(|link| link as u32), &mut charges);
            }
            charges
        })
        .collect();
    parts.extend(group::charges(trace, index, waits, delays));
    parts.push(competing(trace, index, waits));
    merge(parts)
}

/// Joins parts in their order, so that sums do not depend on hashes or threads.
fn merge(parts: Vec<Charges>) -> Vec<(Account, Charge)> {
    let mut all: Vec<(Account, Charge)> = parts.into_iter().flatten().collect();
    all.sort_by_key(|(account, _)| *account);
    let mut merged: Vec<(Account, Charge)> = Vec::new();
    for (account, charge) in all {
        match merged.last_mut() {
            Some((last, sum)) if *last == account => sum.join(charge),
            _ => merged.push((account, charge)),
        }
    }
    merged
}

impl Charge {
    /// Adds a wait, or a part of one that others pay too.
    pub(crate) fn add(&mut self, ticks: f64, sample: Sample) {
        self.ticks += ticks;
        self.keep(sample);
    }

    fn keep(&mut self, sample: Sample) {
        if self.sample.is_none_or(|kept| kept.wait.duration() < sample.wait.duration()) {
            self.sample = Some(sample);
        }
    }

    pub(crate) fn join(&mut self, other: Charge) {
        self.ticks += other.ticks;
        self.links.extend(other.links);
        other.sample.into_iter().for_each(|sample| self.keep(sample));
    }
}

/// The account of a wait at a place that pays.
pub(crate) fn account(trace: &Trace, wait: &Wait, cause: Place) -> Account {
    Account {
        pattern: wait.pattern,
        path: trace.visit(wait.pe, wait.operation).path,
        pe: cause.pe,
        cause: trace.visit(cause.pe, cause.visit).path,
    }
}

/// Charges a wait that is no matter of a group.
fn single(trace: &Trace, index: &Index, wait: &Wait, link: Option<u32>, charges: &mut Charges) {
    // A fence is a matter of its group; an epoch has no instance. Who competes for memory is not late.
    let is_single = match wait.pattern.kind() {
        Kind::Wait => wait.pattern != Pattern::CompetingPutGet,
        Kind::GroupWait => wait.pattern == Pattern::LateFence && wait.instance == u32::MAX,
        Kind::Cost | Kind::Reason | Kind::Uneven | Kind::Own => false,
    };
    if wait.pattern == Pattern::WaitOnLock {
        for (holder, held, ticks) in holder_times(index, wait) {
            let sample = Sample { wait: Wait { end: held.end, cause: holder, ..*wait }, since: Some(held.start) };
            charges.entry(account(trace, wait, holder)).or_default().add(ticks, sample);
        }
    } else if is_single && wait.cause.is_some() {
        let charge = charges.entry(account(trace, wait, wait.cause)).or_default();
        let ticks = wait.duration().0 as f64;
        charge.add(ticks, Sample { wait: *wait, since: None });
        charge.links.extend(link.map(|link| (link, ticks)));
    }
}

/// Who held a lock while this PE waited for it, from when to when, and the ticks that it pays: places where they gave it back.
/// Shared holders divide the time that they held it together in proportion.
fn holder_times(index: &Index, wait: &Wait) -> Vec<(Place, Range<Time>, f64)> {
    let number = wait.instance as usize;
    let Some(grant) = index.locks.grants.get(number) else { return Vec::new() };
    let first = index.locks.grants.partition_point(|other| other.lock < grant.lock);
    let grants = &index.locks.grants[first..];
    let mut held_by: Vec<Grant> = holders(grants, number - first).filter(|holder| holder.release.is_some()).collect();
    held_by.sort_by_key(|holder| (holder.acquired, holder.pe));
    let mut free = wait.begin;
    let times = held_by.into_iter().map(|holder| {
        // Who got it in no operation has it since nobody else had, and tells that late.
        let is_late = holder.requested == holder.acquired;
        let since = if is_late { holder.acquired.min(free) } else { holder.acquired };
        free = free.max(holder.released);
        let held = since.max(wait.begin)..holder.released.min(wait.end);
        let ticks = held.end.since(held.start).0 as f64;
        (Place { pe: holder.pe, visit: holder.release }, held, ticks)
    });
    let mut times: Vec<(Place, Range<Time>, f64)> = times.filter(|(.., ticks)| *ticks > 0.0).collect();
    let sum: f64 = times.iter().map(|(.., ticks)| ticks).sum();
    let most = wait.duration().0 as f64;
    if sum > most {
        times.iter_mut().for_each(|(.., ticks)| *ticks *= most / sum);
    }
    times
}

/// Charges the waits of accesses for others.
fn competing(trace: &Trace, index: &Index, waits: &Waits) -> Charges {
    let mut charges = Charges::default();
    let rows: FxHashMap<u32, Wait> = waits
        .iter()
        .filter(|wait| wait.pattern == Pattern::CompetingPutGet)
        .map(|wait| (wait.instance, *wait))
        .collect();
    if rows.is_empty() {
        return charges;
    }
    let pairs = contenders(trace, index, &|number| rows.contains_key(&number));
    for part in pairs.chunk_by(|a, b| a.0 == b.0) {
        let Some(wait) = rows.get(&part[0].0) else { continue };
        let sum: i64 = part.iter().map(|(_, _, overlap)| overlap.0).sum();
        for (_, other, overlap) in part {
            let ticks = wait.duration().0 as f64 * overlap.0 as f64 / sum as f64;
            // They were not late: what they did before does not matter, so there is nothing to look at.
            charges.entry(account(trace, wait, *other)).or_default().ticks += ticks;
        }
    }
    charges
}

/// For tests and tables: the totals of a group of which each member waits for the last. `enters` in any order; returns what
/// each waited and what each made others wait, in ticks.
pub fn shapley(enters: &[Time]) -> (Vec<f64>, Vec<f64>) {
    let mut order: Vec<usize> = (0..enters.len()).collect();
    order.sort_by_key(|i| (enters[*i], *i));
    let sorted: Vec<Time> = order.iter().map(|i| enters[*i]).collect();
    let levels = group::Levels::new(sorted);
    let caused_sorted = levels.caused(&sorted_weights(&levels));
    let last = levels.last();
    let mut caused = vec![0.0; enters.len()];
    for (i, blame) in order.iter().zip(caused_sorted) {
        caused[*i] = blame;
    }
    let waited = enters.iter().map(|enter| last.since(*enter).0 as f64).collect();
    (waited, caused)
}

/// Everybody waits from its own enter.
fn sorted_weights(levels: &group::Levels) -> Vec<(Time, f64)> {
    levels.enters().iter().map(|enter| (*enter, 1.0)).collect()
}
