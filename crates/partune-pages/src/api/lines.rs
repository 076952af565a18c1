//! Lines of a time line: waits with what ended them, messages, collectives, the critical path. So many as can be drawn.

use partune_base::{GroupId, PeId, Time};
use partune_engine::{Fold, Member, TransferKind};
use serde::Serialize;

use super::timeline::Numbers;
use crate::run::Run;
use crate::text;

/// Lines of a kind, collectives, and members of all collectives.
const LINES: usize = 2000;
const COLLECTIVES: usize = 300;
const MEMBERS: usize = 20_000;

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Waits {
    pe: Vec<u32>,
    row: Vec<usize>,
    from: Vec<i64>,
    to: Vec<i64>,
    pattern: Vec<u32>,
    finding: Vec<Option<u32>>,
    cause_pe: Vec<Option<u32>>,
    cause_row: Vec<Option<usize>>,
    cause_from: Vec<Option<i64>>,
    cause_to: Vec<Option<i64>>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Messages {
    from_pe: Vec<Option<u32>>,
    from_row: Vec<Option<usize>>,
    sent: Vec<i64>,
    to_pe: Vec<Option<u32>>,
    to_row: Vec<Option<usize>>,
    received: Vec<i64>,
    bytes: Vec<u64>,
    tag: Vec<Option<u32>>,
    group: Vec<Option<u32>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Collectives {
    construct: String,
    group: String,
    members: Members,
    count: usize,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Members {
    row: Vec<usize>,
    pe: Vec<u32>,
    enter: Vec<i64>,
    exit: Vec<i64>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CriticalPath {
    pe: Vec<u32>,
    row: Vec<Option<usize>>,
    from: Vec<i64>,
    to: Vec<i64>,
}

/// All lines of a view, and the names that they use. How many there are is not known of a run that was looked at in slices.
pub(super) struct Lines {
    pub(super) waits: Waits,
    pub(super) waits_count: Option<usize>,
    pub(super) messages: Option<Messages>,
    pub(super) messages_count: Option<usize>,
    pub(super) collectives: Vec<Collectives>,
    pub(super) collectives_count: Option<usize>,
    pub(super) critical_path: CriticalPath,
    pub(super) critical_path_count: Option<usize>,
    pub(super) patterns: Vec<&'static str>,
    pub(super) findings: Vec<u32>,
    pub(super) groups: Vec<String>,
}

/// The lines of an interval, of each kind at most so many.
pub(super) fn lines(run: &Run, fold: &Fold, (begin, end): (Time, Time), most: usize) -> Lines {
    let lines = LINES.min(most);
    let (mut patterns, mut findings, mut groups) = (Numbers::new(), Numbers::new(), Numbers::new());
    let (waits, waits_count) = waits(run, fold, (begin, end), lines, &mut patterns, &mut findings);
    let (messages, messages_count) = messages(run, fold, (begin, end), lines, &mut groups);
    let (collectives, collectives_count) = collectives(run, fold, (begin, end), COLLECTIVES.min(most));
    let (critical_path, critical_path_count) = critical_path(run, fold, (begin, end), lines);
    let recorded = run.recorded();
    let known = |count| recorded.has_events().then_some(count);
    let group = |group: &GroupId| recorded.group(*group).map_or_else(String::new, |it| text::name(it.name));
    Lines {
        waits,
        waits_count: known(waits_count),
        messages,
        messages_count: known(messages_count),
        collectives,
        collectives_count: known(collectives_count),
        critical_path,
        critical_path_count: known(critical_path_count),
        patterns: patterns.order,
        findings: findings.order,
        groups: groups.order.iter().map(group).collect(),
    }
}

fn waits(
    run: &Run,
    fold: &Fold,
    (begin, end): (Time, Time),
    most: usize,
    patterns: &mut Numbers<&'static str>,
    findings: &mut Numbers<u32>,
) -> (Waits, usize) {
    let found = run.recorded().waits_within(fold, begin, end, most);
    let mut columns = Waits::default();
    for wait in &found.rows {
        let (Some(pe), Some(row)) = (run.number(wait.pe), fold.row_of(wait.pe)) else { continue };
        columns.pe.push(pe);
        columns.row.push(row);
        columns.from.push(run.ns(wait.begin));
        columns.to.push(run.ns(wait.end));
        columns.pattern.push(patterns.of(wait.pattern.name()));
        columns.finding.push(run.finding_at(wait.pattern, wait.path).map(|finding| findings.of(finding)));
        columns.cause_pe.push(run.number(wait.cause_pe));
        columns.cause_row.push(fold.row_of(wait.cause_pe));
        columns.cause_from.push(wait.cause.map(|visit| run.ns(visit.enter)));
        columns.cause_to.push(wait.cause.map(|visit| run.ns(visit.exit)));
    }
    (columns, found.count)
}

fn messages(
    run: &Run,
    fold: &Fold,
    (begin, end): (Time, Time),
    most: usize,
    groups: &mut Numbers<GroupId>,
) -> (Option<Messages>, usize) {
    let found = run.recorded().transfers_within(fold, begin, end, most);
    if found.count > found.rows.len() || !run.recorded().has_events() {
        return (None, found.count);
    }
    let mut columns = Messages::default();
    for line in &found.rows {
        columns.from_pe.push(run.number(line.from));
        columns.from_row.push(fold.row_of(line.from));
        columns.sent.push(run.ns(line.begin));
        columns.to_pe.push(run.number(line.to));
        columns.to_row.push(fold.row_of(line.to));
        columns.received.push(run.ns(line.end));
        let (tag, group) = match line.kind {
            TransferKind::Message { tag, group } => (Some(tag), group.some().map(|group| groups.of(group))),
            TransferKind::Put | TransferKind::Get | TransferKind::Atomic => (None, None),
        };
        columns.bytes.push(line.bytes);
        columns.tag.push(tag);
        columns.group.push(group);
    }
    (Some(columns), found.count)
}

fn collectives(run: &Run, fold: &Fold, (begin, end): (Time, Time), most: usize) -> (Vec<Collectives>, usize) {
    let recorded = run.recorded();
    let found = recorded.collectives_within(begin, end, most);
    let mut left = MEMBERS.min(most.saturating_mul(8));
    let mut rows = Vec::new();
    for collective in found.rows {
        // Of each row, the member that came last.
        let mut last: Vec<Option<Member>> = vec![None; fold.len()];
        for member in collective.members() {
            let Some(row) = fold.row_of(member.pe) else { continue };
            if last[row].is_none_or(|before| before.enter < member.enter) {
                last[row] = Some(member);
            }
        }
        let mut columns = Members::default();
        for (row, member) in last.iter().enumerate().filter_map(|(row, member)| Some((row, (*member)?))) {
            let Some(pe) = run.number(member.pe) else { continue };
            columns.row.push(row);
            columns.pe.push(pe);
            columns.enter.push(run.ns(member.enter));
            columns.exit.push(run.ns(member.exit));
        }
        if columns.row.is_empty() {
            continue;
        }
        let Some(rest) = left.checked_sub(columns.row.len()) else { break };
        left = rest;
        rows.push(Collectives {
            construct: text::construct(recorded, collective.path()),
            group: recorded.group(collective.group()).map_or_else(String::new, |group| text::name(group.name)),
            members: columns,
            count: collective.members().len(),
        });
    }
    (rows, found.count)
}

/// The pieces of the critical path in an interval; of many, one for each of so many moments.
fn critical_path(run: &Run, fold: &Fold, (begin, end): (Time, Time), most: usize) -> (CriticalPath, usize) {
    let parts = run.recorded().critical_path();
    let from = parts.partition_point(|(_, _, to)| *to <= begin);
    let to = from + parts[from..].partition_point(|(_, from, _)| *from < end);
    let inside = &parts[from..to];
    let chosen: Vec<&(PeId, Time, Time)> = if inside.len() <= most {
        inside.iter().collect()
    } else {
        let length = i128::from(end.since(begin).0);
        let moment = |slot: usize| {
            let ticks = length * (2 * slot as i128 + 1) / (2 * most as i128);
            Time::clamped(i128::from(begin.0) + ticks)
        };
        let at = |slot: usize| inside.partition_point(|(_, _, to)| *to <= moment(slot)).min(inside.len() - 1);
        let mut chosen: Vec<usize> = (0..most).map(at).collect();
        chosen.dedup();
        chosen.into_iter().map(|at| &inside[at]).collect()
    };
    let mut columns = CriticalPath::default();
    for (pe, from, to) in chosen {
        let Some(number) = run.number(*pe) else { continue };
        columns.pe.push(number);
        columns.row.push(fold.row_of(*pe));
        columns.from.push(run.ns(*from));
        columns.to.push(run.ns(*to));
    }
    (columns, inside.len())
}
