//! Barrier redundancy: barriers that order nothing.
//!
//! Where accesses to memory of others are recorded: all conflicts between accesses of different PEs become intervals of global synchronisations that could separate them; a
//! smallest set of barriers that stabs all of them must stay, the others are potentially redundant ([`crate::stabbing`], theory
//! 6.6; the simpler rule is PPW's: no access between two barriers). Elsewhere, between messages and between threads: barriers in a
//! row ([`crate::adjacent_barriers`]).

use partune_base::{CallPathId, Id, PeId, Span, Time};
use partune_index::{Instance, Member, shares_unseen};
use partune_trace::{RmaTransferKind, Role, Trace, VisitIx};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::adjacent_barriers;
use crate::places::together;
use crate::queries::Query;
use crate::stabbing::{SharedAccess, conflicts, keep};
use crate::useful::Useful;
use crate::{Analysis, Finding, Input, Needs, Outcome, Pattern, Section, SectionShape};

pub(crate) static BARRIERS: Analysis = Analysis {
    name: "barriers",
    title: "Barriers that order nothing",
    docs: DOCS,
    finds: true,
    needs: Needs::Queries,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape { name: "barriers", scalars: &[], tables: &[] }];

const DOCS: &str = "\
# Redundant barriers

**One-sided accesses.** A barrier orders accesses to shared memory. Two accesses conflict if they are of different PEs, touch the same
bytes, and one of them writes. Barriers that separate no conflict that another synchronisation does not separate already are
**potentially** redundant: a smallest set of barriers that separates all conflicts is kept (greedy stabbing of intervals, which is
optimal).

Puts, gets and atomics are recorded; a PE's plain loads and stores of its own memory are not. Each PE is therefore taken to read and
write all of its shared memory whenever it computes for more than ten microseconds between two synchronisations. Accesses without
recorded addresses touch the whole memory of their target. A barrier that completes accesses which did not block is needed.
What is over when a barrier is entered, to the tick, was before it; what begins at that tick counts as before and after. In a piece of a run
the barriers at its borders are not examined.

**Messages.** Of two barriers in a row with the same members the first is redundant if no PE of their processes communicates,
synchronises or reads or writes files between them; of a barrier and one with fewer of its members it is the one with fewer.
Computing between does not matter: nobody else can see it. Barriers of PEs that take part in one-sided accesses are examined as above. Nothing is said
of barriers of PEs that have a part in a window that several processes made, and do no accesses by calls: it is memory that they share, as that of a node, and loads and
stores there are not recorded.

**Threads.** The same of two barriers of one team, if no thread does anything between: no operation, no function or shared loop, and
no more than a microsecond passes, and one more for each function that ends between them. Threads share their memory, and their accesses are not recorded: such a barrier is a *candidate*
(fact `candidate`). An explicit barrier just before the implicit one that ends a construct is one.

Other I/O order and what a barrier is for in time (measuring, pacing) are not seen: check before removing one.

A finding names a barrier of the source: count is how many of its `instances` (fact) are redundant under one common choice; only if all
are, the statement can go. Its time is what these take after the last PE arrived; the waiting would only move elsewhere.

**Source**: PPW (Su, chapter 5) for the rule; conflict intervals and stabbing ours.
";

/// Whether each PE takes part in accesses to memory of others.
fn acts(trace: &Trace) -> Vec<bool> {
    let mut acts = vec![false; trace.pes().len()];
    for (pe, stream) in trace.streams().iter_ids() {
        for transfer in stream.transfers.iter().filter(|transfer| transfer.target.is_some() && transfer.target != pe) {
            acts[pe.index()] = true;
            acts[transfer.target.index()] = true;
        }
    }
    acts
}

/// Barriers in a row, by call path: those that are needed too.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Redundant {
    of_processes: Vec<Finding>,
    of_threads: Vec<Finding>,
}

impl Query for Redundant {
    fn of(input: &Input<'_>) -> Redundant {
        let unseen = shares_unseen(input.trace);
        let may_act: Vec<bool> = acts(input.trace).iter().zip(&unseen).map(|(acts, unseen)| *acts || *unseen).collect();
        let rows = adjacent_barriers::find(input, &may_act);
        let of_kind = |threads: bool| {
            let rows = rows.iter().filter(|row| row.threads == threads);
            by_path(input, rows.map(|row| (row.instance, row.redundant)))
        };
        Redundant { of_processes: of_kind(false), of_threads: of_kind(true) }
    }

    /// A slice ends where two barriers are not next to each other.
    fn add(&mut self, next: Redundant) {
        for (sums, next) in [(&mut self.of_processes, next.of_processes), (&mut self.of_threads, next.of_threads)] {
            sums.extend(next);
            *sums = together(std::mem::take(sums), |finding| finding.path, Finding::add_barriers);
        }
    }
}

impl Finding {
    /// Adds other instances of the same barrier.
    fn add_barriers(&mut self, other: Finding) {
        self.facts[0].1 += other.facts[0].1;
        self.count += other.count;
        self.time += other.time;
        other.pes.into_iter().for_each(|(pe, time)| self.add_time(pe, time));
    }

    fn add_time(&mut self, pe: PeId, time: Span) {
        match self.pes.binary_search_by_key(&pe, |(pe, _)| *pe) {
            Ok(at) => self.pes[at].1 += time,
            Err(at) => self.pes.insert(at, (pe, time)),
        }
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let acts = acts(trace);
    let mut outcome = Outcome::default();
    let Redundant { of_processes, of_threads } = input.barriers();
    outcome.findings = redundant(of_processes.clone());
    let candidate = |finding: Finding| Finding { facts: [finding.facts, vec![("candidate", 1.0)]].concat(), ..finding };
    outcome.findings.extend(redundant(of_threads.clone()).into_iter().map(candidate));
    let actors: Vec<PeId> = trace.pes().ids().filter(|pe| acts[pe.index()]).collect();
    if actors.len() > 1 {
        between_accesses(input, &actors, &mut outcome);
    }
    outcome
}

/// Barriers of PEs that access each other's memory.
fn between_accesses(input: &Input<'_>, actors: &[PeId], outcome: &mut Outcome) {
    let trace = input.trace;
    let syncs = global(input, actors);
    let completing = completing(input, actors);
    let completes = |member: &Member| completing.binary_search(&(member.pe, member.wait)).is_ok();
    let removable =
        |sync: &&Instance| sync.role == Role::GroupSync && !input.index.collectives.members(sync).iter().any(completes);
    let mut removable: Vec<bool> = syncs.iter().map(removable).collect();
    keep_at_borders(input, &syncs, &mut removable);
    if !removable.contains(&true) {
        return;
    }
    let entered = times(input, &syncs, false);
    let left = times(input, &syncs, true);
    let active: Vec<Vec<u32>> =
        actors.par_iter().map(|pe| active(input, *pe, &entered[pe.index()], &left[pe.index()])).collect();
    let mut by_target: Vec<Vec<(u32, SharedAccess)>> = vec![Vec::new(); trace.pes().len()];
    for pe in actors {
        for (target, window, access) in accesses(input, *pe, &entered[pe.index()]) {
            by_target[target.index()].push((window, access));
        }
    }
    let intervals: Vec<Vec<(u32, u32)>> =
        actors.par_iter().zip(&active).map(|(target, active)| intervals(&by_target[target.index()], active)).collect();
    let keep = keep(&removable, &intervals.concat());
    let kept = syncs.iter().zip(&removable).zip(&keep).filter(|((_, removable), _)| **removable);
    let mut found = redundant(by_path(input, kept.map(|((sync, _), keep)| (*sync, !keep))));
    if found.is_empty() {
        return;
    }
    let addresses = by_target.iter().flatten().any(|(_, access)| access.range.1 != u64::MAX);
    let mut notes =
        vec!["potentially redundant: own memory is taken as read and written wherever a PE computes".to_owned()];
    if !addresses {
        notes.push("accesses have no addresses here: each touches the whole shared memory of its target".to_owned());
    }
    outcome.findings.append(&mut found);
    outcome.sections.push(Section { name: "barriers", notes, ..Section::default() });
}

/// In a piece of a run nobody knows what the first and the last synchronisation in it order: what came before and comes after is left out.
fn keep_at_borders(input: &Input<'_>, syncs: &[&Instance], removable: &mut [bool]) {
    let Some(piece) = input.trace.piece() else { return };
    let inside: Vec<bool> = syncs.iter().map(|sync| is_inside(input, sync)).collect();
    removable.iter_mut().zip(&inside).filter(|(_, inside)| !**inside).for_each(|(removable, _)| *removable = false);
    let first = inside.iter().position(|inside| *inside).filter(|_| piece.begin > piece.run.0);
    let last = inside.iter().rposition(|inside| *inside).filter(|_| piece.end < piece.run.1);
    first.into_iter().chain(last).for_each(|at| removable[at] = false);
}

/// Whether all members entered and left within the piece of the run that is looked at; true for the whole run.
pub(crate) fn is_inside(input: &Input<'_>, sync: &Instance) -> bool {
    input.trace.piece().is_none_or(|piece| {
        let (begins, ends) = (piece.begin == piece.run.0, piece.end == piece.run.1);
        let members = input.index.collectives.members(sync);
        members.iter().all(|it| (begins || it.enter > piece.begin) && (ends || it.exit < piece.end))
    })
}

/// Operations that completed accesses of earlier ones, in order.
fn completing(input: &Input<'_>, actors: &[PeId]) -> Vec<(PeId, VisitIx)> {
    let all = actors.iter().flat_map(|pe| input.index.rma.of_pe(*pe));
    let later = all.filter(|transfer| transfer.completion.is_some() && transfer.completion != transfer.start);
    let mut found: Vec<(PeId, VisitIx)> = later.map(|transfer| (transfer.pe, transfer.completion)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Synchronisations of all PEs that act on shared memory, in order.
fn global<'a>(input: &Input<'a>, actors: &[PeId]) -> Vec<&'a Instance> {
    let collectives = &input.index.collectives;
    let all = |instance: &&Instance| {
        let members = collectives.members(instance);
        members.len() >= actors.len()
            && actors.iter().all(|pe| members.binary_search_by_key(pe, |member| member.pe).is_ok())
    };
    let waits_for_all = |role: Role| {
        matches!(
            role,
            Role::Init | Role::Finalize | Role::GroupSync | Role::AllToAll | Role::GlobalAlloc | Role::RmaGroupSync
        )
    };
    collectives.instances.iter().filter(|instance| waits_for_all(instance.role)).filter(all).collect()
}

/// When each PE entered, or left, each synchronisation.
fn times(input: &Input<'_>, syncs: &[&Instance], exits: bool) -> Vec<Vec<Time>> {
    let mut times = vec![Vec::new(); input.trace.pes().len()];
    for sync in syncs {
        for member in input.index.collectives.members(sync) {
            times[member.pe.index()].push(if exits { member.exit } else { member.enter });
        }
    }
    times
}

/// Segments in which a PE computes.
fn active(input: &Input<'_>, pe: PeId, entered: &[Time], left: &[Time]) -> Vec<u32> {
    let trace = input.trace;
    let mut useful = Useful::new(trace, pe, (trace.begin(), trace.end()));
    let negligible = trace.clock().span(1e-5).0;
    let begins = std::iter::once(trace.begin()).chain(left.iter().copied());
    let ends = entered.iter().copied().chain(std::iter::once(trace.end()));
    let computes = begins.zip(ends).map(|(begin, end)| {
        let before = useful.up_to(begin);
        useful.up_to(end) - before > negligible
    });
    computes.enumerate().filter(|(_, computes)| *computes).map(|(segment, _)| segment as u32).collect()
}

/// Accesses of a PE to memory of others: target, window, access.
///
/// What is over when a barrier is entered, to the tick, was before it. What begins at that tick may have been before or after, so it
/// counts as both, and the barrier orders it against what is on either side.
fn accesses<'a>(
    input: &Input<'a>,
    pe: PeId,
    entered: &'a [Time],
) -> impl Iterator<Item = (PeId, u32, SharedAccess)> + 'a {
    let stream = &input.trace.streams()[pe];
    let before = |time: Time| entered.partition_point(|enter| *enter < time) as u32;
    let after = |time: Time| entered.partition_point(|enter| *enter <= time) as u32;
    let rows = input.index.rma.of_pe(pe).iter().filter_map(|it| Some((it, stream.transfers.get(it.row as usize)?)));
    rows.filter(move |(_, row)| row.target.is_some() && row.target != pe).flat_map(move |(transfer, row)| {
        let range = row.address.map_or((0, u64::MAX), |address| (address, address.saturating_add(row.bytes.max(1))));
        let writes = match row.kind {
            RmaTransferKind::Put | RmaTransferKind::Atomic => true,
            RmaTransferKind::Get => false,
        };
        let end = before(transfer.completed);
        let of_segment = move |begin: u32| SharedAccess { pe: pe.0, segments: (begin, end.max(begin)), range, writes };
        let (first, last) = (before(row.time), after(row.time));
        let begins = std::iter::once(first).chain((last > first).then_some(last));
        begins.map(move |begin| (row.target, row.window.0, of_segment(begin)))
    })
}

/// Intervals of conflicts on the memory of one PE: of others with its own computing, and of others with each other.
fn intervals(accesses: &[(u32, SharedAccess)], active: &[u32]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let mut windows: FxHashMap<u32, usize> = FxHashMap::default();
    let mut of_window: Vec<Vec<SharedAccess>> = Vec::new();
    for (window, access) in accesses {
        let at = active.partition_point(|segment| *segment < access.segments.0);
        found.extend(at.checked_sub(1).map(|before| (active[before], access.segments.0)));
        let after = active.partition_point(|segment| *segment <= access.segments.1);
        found.extend(active.get(after).map(|segment| (access.segments.1, *segment)));
        let at = *windows.entry(*window).or_insert_with(|| {
            of_window.push(Vec::new());
            of_window.len() - 1
        });
        of_window[at].push(*access);
    }
    for accesses in of_window {
        found.extend(conflicts(&accesses));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What is told of barriers of the source that have redundant instances.
fn redundant(mut barriers: Vec<Finding>) -> Vec<Finding> {
    barriers.retain(|finding| finding.count > 0);
    barriers.iter_mut().for_each(|finding| finding.pes.retain(|(_, time)| time.is_positive()));
    barriers
}

/// One finding a barrier of the source, and whether each instance is redundant in numbers.
fn by_path<'a>(input: &Input<'_>, barriers: impl Iterator<Item = (&'a Instance, bool)>) -> Vec<Finding> {
    let trace = input.trace;
    let mut places: Vec<Finding> = Vec::new();
    let mut known: FxHashMap<CallPathId, usize> = FxHashMap::default();
    for (barrier, redundant) in barriers {
        let members = input.index.collectives.members(barrier);
        let Some(first) = members.first() else { continue };
        let Some(path) = trace.streams()[first.pe].visits.get(first.wait).map(|visit| visit.path) else { continue };
        let at = *known.entry(path).or_insert_with(|| {
            let empty = Finding::at(trace, Pattern::RedundantBarrier, path);
            places.push(Finding { facts: vec![("instances", 0.0)], ..empty });
            places.len() - 1
        });
        let finding = &mut places[at];
        finding.facts[0].1 += 1.0;
        if !redundant {
            continue;
        }
        finding.count += 1;
        let last = members.iter().map(|member| member.enter).max().unwrap_or_default();
        for member in members {
            let time = member.exit.since(last.max(member.wait_enter));
            finding.time += time;
            finding.add_time(member.pe, time);
        }
    }
    places
}
