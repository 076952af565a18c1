//! What is wrong with how files are used: small accesses, one PE for all, all for the same, and synchronisation again and again.

use std::collections::BTreeMap;

use partune_base::{CallPathId, FileId, Id, PeId, ProcessId, Span, Time};
use partune_trace::{IoKind, IoLayer, Role, Stream, Trace, VisitIx};

use crate::files::accesses;
use crate::finding::Told;
use crate::fit::Fit;
use crate::useful::{cpu_pes, role_of_path};
use crate::{Cause, Finding, Input, Pattern};

/// What small accesses could be put together to.
const LARGE: f64 = (1_u64 << 20) as f64;
/// Of all time on files, what one PE must have to be the one that does it all.
const ALONE: f64 = 0.9;

pub(crate) fn find(input: &Input<'_>) -> Vec<Finding> {
    let mut findings = small(input);
    findings.extend(serial(input));
    findings.extend(same(input));
    findings.extend(syncs(input));
    let least = input.least();
    let findings = crate::by_place(input.trace, findings, input.options.details);
    findings.into_iter().filter(|finding| finding.time.is_positive() && finding.time.0 >= least).collect()
}

/// Duration and call path of the operation of a row.
fn operation(stream: &Stream, visit: VisitIx) -> Option<(Span, CallPathId)> {
    stream.visits.get(visit).map(|visit| (visit.duration(), visit.path))
}

/// Small accesses of one PE to a file at a call path.
#[derive(Default)]
struct Small {
    count: u64,
    bytes: u64,
    time: Span,
    /// Those that have one before them, and those of them that begin at its end or behind it.
    seconds: u64,
    ahead: u64,
    end: Option<u64>,
}

fn small(input: &Input<'_>) -> Vec<Finding> {
    let (trace, options) = (input.trace, input.options);
    let mut fits = [Fit::default(); 2];
    let mut all: BTreeMap<(CallPathId, FileId, IoKind, PeId), Small> = BTreeMap::new();
    for pe in cpu_pes(trace) {
        let stream = &trace.streams()[pe];
        let direct = accesses(stream).filter(|row| row.layer == IoLayer::Direct && row.kind != IoKind::Flush);
        for row in direct {
            let (Some((took, path)), Some(file)) = (operation(stream, row.visit), row.file.some()) else { continue };
            fits[usize::from(row.kind == IoKind::Write)].add(row.bytes as f64, took.0 as f64);
            if row.bytes >= options.file_block {
                continue;
            }
            let it = all.entry((path, file, row.kind, pe)).or_default();
            it.count += 1;
            it.bytes += row.bytes;
            it.time += took;
            if let Some(offset) = row.offset
                && let Some(end) = it.end.replace(offset.saturating_add(row.bytes))
            {
                it.seconds += 1;
                it.ahead += u64::from(offset >= end);
            }
        }
    }
    let ticks_per_second = trace.clock().ticks_per_second() as f64;
    let finding = |((path, file, kind, pe), it): ((CallPathId, FileId, IoKind, PeId), Small)| {
        if it.count < options.file_accesses || it.bytes == 0 || 2 * it.ahead < it.seconds {
            return None;
        }
        let fit = &fits[usize::from(kind == IoKind::Write)];
        let blocks = (it.bytes as f64 / LARGE).ceil();
        let combined = match fit.line() {
            Some(line) => blocks * line.overhead + it.bytes as f64 * line.per_byte,
            None => blocks * it.time.0 as f64 / it.count as f64,
        };
        let time = Span((it.time.0 as f64 - combined).round() as i64);
        let mut facts = vec![
            ("accesses", it.count as f64),
            ("mean_bytes", it.bytes as f64 / it.count as f64),
            ("combined_seconds", combined / ticks_per_second),
        ];
        if let Some(line) = fit.line() {
            facts.push(("overhead_seconds", line.overhead / ticks_per_second));
            facts.push(("seconds_per_byte", line.per_byte / ticks_per_second));
        }
        let (count, pes) = (it.count, vec![(pe, time)]);
        let known = Finding::at(trace, Pattern::SmallAccesses, path);
        time.is_positive().then_some(Finding { time, count, pes, file, facts, ..known })
    };
    all.into_iter().filter_map(finding).collect()
}

/// Operations on files of a PE, in order, and the time of them up to each.
fn operations(trace: &Trace, pe: PeId) -> (Vec<VisitIx>, Vec<Span>) {
    let stream = &trace.streams()[pe];
    let is_io = |visit: &VisitIx| role_of_path(trace, stream.visits.path[visit.index()]) == Role::Io;
    let visits: Vec<VisitIx> = stream.operations.iter().copied().filter(is_io).collect();
    let mut sum = Span::ZERO;
    let until = std::iter::once(Span::ZERO).chain(visits.iter().map(|visit| {
        sum += stream.visits.at(*visit).duration();
        sum
    }));
    let until = until.collect();
    (visits, until)
}

fn serial(input: &Input<'_>) -> Vec<Finding> {
    let trace = input.trace;
    if trace.cpu_processes().count() < 2 {
        return Vec::new();
    }
    let pes = cpu_pes(trace);
    let total = |pe: &PeId| operations(trace, *pe).1.last().copied().unwrap_or_default();
    let totals: Vec<(Span, PeId)> = pes.iter().map(|pe| (total(pe), *pe)).collect();
    let all: Span = totals.iter().map(|(time, _)| *time).sum();
    let Some((most, alone)) = totals.into_iter().max_by_key(|(time, pe)| (*time, std::cmp::Reverse(*pe))) else {
        return Vec::new();
    };
    let share = most.0 as f64 / all.0.max(1) as f64;
    if share < ALONE {
        return Vec::new();
    }
    let stream = &trace.streams()[alone];
    let (visits, until) = operations(trace, alone);
    // Time in operations before a moment.
    let before = |time: Time| {
        let at = visits.partition_point(|visit| stream.visits.exit[visit.index()] <= time);
        let open = visits.get(at).map(|visit| stream.visits.enter[visit.index()]).filter(|enter| *enter < time);
        until[at] + open.map_or(Span::ZERO, |enter| time.since(enter))
    };
    let (mut lost, mut count, mut longest): (BTreeMap<PeId, Span>, u64, Option<(Span, Told)>) = Default::default();
    let mut at_paths: BTreeMap<CallPathId, Span> = BTreeMap::new();
    let mut at_operations: BTreeMap<usize, i64> = BTreeMap::new();
    for wait in input.waits.iter().filter(|wait| wait.pattern.is_wait() && wait.cause.pe == alone && wait.pe != alone) {
        let time = before(wait.end) - before(wait.begin);
        if !time.is_positive() {
            continue;
        }
        count += 1;
        *lost.entry(wait.pe).or_default() += time;
        let within = |at: usize| stream.visits.at(visits[at]);
        let first = visits.partition_point(|visit| stream.visits.exit[visit.index()] <= wait.begin);
        let last = visits.partition_point(|visit| stream.visits.enter[visit.index()] < wait.end);
        *at_operations.entry(first).or_default() += 1;
        *at_operations.entry(last).or_default() -= 1;
        // What of the first and of the last one lies outside.
        *at_paths.entry(within(first).path).or_default() += before(wait.begin) - until[first];
        *at_paths.entry(within(last - 1).path).or_default() += until[last] - before(wait.end);
        if longest.as_ref().is_none_or(|(known, _)| time > *known)
            && let Some((_, path)) = operation(&trace.streams()[wait.pe], wait.operation)
        {
            longest = Some((time, Told { time, pattern: wait.pattern, path }));
        }
    }
    let time: Span = lost.values().copied().sum();
    // How many waits each operation lies in.
    at_paths.values_mut().for_each(|time| *time = Span::ZERO - *time);
    let (mut waiting, mut from) = (0_i64, 0);
    for (at, change) in at_operations {
        for visit in visits[from..at].iter().filter(|_| waiting > 0) {
            let visit = stream.visits.at(*visit);
            *at_paths.entry(visit.path).or_default() += Span(visit.duration().0.saturating_mul(waiting));
        }
        (waiting, from) = (waiting + change, at);
    }
    let mut paths: Vec<(CallPathId, Span)> = at_paths.into_iter().filter(|(_, time)| time.is_positive()).collect();
    paths.sort_by_key(|(path, time)| (std::cmp::Reverse(*time), *path));
    let Some((path, _)) = paths.first().copied() else { return Vec::new() };
    if paths.len() == 1 {
        paths.clear();
    }
    let waits = longest.map(|(_, told)| Told { time, ..told });
    let causes = vec![Cause::code(alone, path, time)];
    let facts = vec![("io_share", share)];
    let pes = lost.into_iter().collect();
    vec![Finding { time, count, pes, causes, facts, waits, paths, ..Finding::at(trace, Pattern::SerialIo, path) }]
}

/// What a process read of a file.
#[derive(Default)]
struct Read {
    time: Span,
    count: u64,
    /// From and to, as they came.
    parts: Vec<(u64, u64)>,
    is_known: bool,
    pes: Vec<(PeId, Span)>,
    paths: BTreeMap<CallPathId, Span>,
}

impl Read {
    /// The bytes, in order, each once.
    fn bytes(&mut self) -> &[(u64, u64)] {
        self.parts.sort_unstable();
        self.parts.dedup_by(|next, sum| {
            let joins = next.0 <= sum.1;
            sum.1 = if joins { sum.1.max(next.1) } else { sum.1 };
            joins
        });
        &self.parts
    }
}

fn same(input: &Input<'_>) -> Vec<Finding> {
    let trace = input.trace;
    let processes = trace.cpu_processes().count();
    if processes < 2 {
        return Vec::new();
    }
    let mut all: BTreeMap<FileId, BTreeMap<ProcessId, Read>> = BTreeMap::new();
    for pe in cpu_pes(trace) {
        let stream = &trace.streams()[pe];
        // Processes that read together do so by themselves.
        let reads = accesses(stream).filter(|row| row.kind == IoKind::Read && row.layer != IoLayer::Parallel);
        for row in reads {
            let (Some((took, path)), Some(file)) = (operation(stream, row.visit), row.file.some()) else { continue };
            let of_file = all.entry(file).or_default();
            let read =
                of_file.entry(trace.pes()[pe].process).or_insert_with(|| Read { is_known: true, ..Read::default() });
            read.time += took;
            read.count += 1;
            read.is_known &= row.offset.is_some();
            if let Some(offset) = row.offset.filter(|_| row.bytes > 0) {
                let end = offset.saturating_add(row.bytes);
                match read.parts.last_mut() {
                    Some(last) if last.1 == offset => last.1 = end,
                    Some(_) | None => read.parts.push((offset, end)),
                }
            }
            match read.pes.last_mut() {
                Some((last, time)) if *last == pe => *time += took,
                Some(_) | None => read.pes.push((pe, took)),
            }
            *read.paths.entry(path).or_default() += took;
        }
    }
    let finding = |(file, mut reads): (FileId, BTreeMap<ProcessId, Read>)| {
        let mut of_processes = reads.values_mut();
        let first = of_processes.next()?;
        let size: u64 = first.bytes().iter().map(|(from, to)| to - from).sum();
        let is_same = first.is_known && of_processes.all(|other| other.is_known && other.bytes() == first.bytes());
        if reads.len() < processes || !is_same || size < input.options.file_block {
            return None;
        }
        let slowest = reads.iter().max_by_key(|(process, read)| (read.time, std::cmp::Reverse(**process)))?.0.index();
        let others = || reads.iter().filter(|(process, _)| process.index() != slowest).map(|(_, read)| read);
        let time: Span = others().map(|read| read.time).sum();
        let mut pes: Vec<(PeId, Span)> = others().flat_map(|read| read.pes.iter().copied()).collect();
        pes.sort_unstable();
        let mut at: BTreeMap<CallPathId, Span> = BTreeMap::new();
        others().flat_map(|read| &read.paths).for_each(|(path, time)| *at.entry(*path).or_default() += *time);
        let mut paths: Vec<(CallPathId, Span)> = at.into_iter().collect();
        paths.sort_by_key(|(path, time)| (std::cmp::Reverse(*time), *path));
        let path = paths.first()?.0;
        if paths.len() == 1 {
            paths.clear();
        }
        let count = reads.values().map(|read| read.count).sum();
        let facts = vec![("processes", reads.len() as f64), ("accesses", count as f64)];
        let known = Finding::at(trace, Pattern::SameFileReadByAll, path);
        Some(Finding { time, count, pes, file, facts, paths, ..known })
    };
    all.into_iter().filter_map(finding).collect()
}

fn syncs(input: &Input<'_>) -> Vec<Finding> {
    let trace = input.trace;
    let mut all: BTreeMap<(CallPathId, FileId, PeId), (u64, Span)> = BTreeMap::new();
    for pe in cpu_pes(trace) {
        let stream = &trace.streams()[pe];
        for row in accesses(stream).filter(|row| row.kind == IoKind::Flush) {
            if let (Some((took, path)), Some(file)) = (operation(stream, row.visit), row.file.some()) {
                let sum = all.entry((path, file, pe)).or_default();
                *sum = (sum.0 + 1, sum.1 + took);
            }
        }
    }
    let finding = |((path, file, pe), (count, time)): ((CallPathId, FileId, PeId), (u64, Span))| {
        let time = Span((time.0 as f64 * (count - 1) as f64 / count as f64).round() as i64);
        let pes = vec![(pe, time)];
        let known = Finding::at(trace, Pattern::SyncInLoop, path);
        (count >= input.options.file_syncs).then_some(Finding { time, count, pes, file, ..known })
    };
    all.into_iter().filter_map(finding).collect()
}
