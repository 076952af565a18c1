//! What is wrong with how files are used: small accesses, one PE for all, all for the same, and synchronisation again and again.
//!
//! What is kept of accesses grows with PEs, files and call paths. Over slices, who waited is kept of at most 64 PEs that were at files meanwhile, and of what a process reads of a file 4096 separate ranges.

use std::collections::BTreeMap;

use partune_base::{CallPathId, FileId, Id, PeId, ProcessId, Span, Time};
use partune_trace::{IoKind, IoLayer, Role, Stream, Trace, VisitIx};
use serde::{Deserialize, Serialize};

use crate::files::{Extent, accesses};
use crate::finding::Told;
use crate::fit::Fit;
use crate::queries::Query;
use crate::useful::{cpu_pes, role_of_path};
use crate::{Cause, Finding, Input, Pattern, Wait};

/// What small accesses could be put together to.
const LARGE: f64 = (1_u64 << 20) as f64;
/// Of all time on files, what one PE must have to be the one that does it all.
const ALONE: f64 = 0.9;
/// PEs of which it is kept who waited for them, over slices: where there are more, those with this part of all time on files so far. One that has less at first and [`ALONE`] in the end loses the waits of
/// that time, which was less than a five-hundredth of its own.
const CANDIDATES: usize = 64;
/// Separate ranges of a file that a process read, over slices, 16 bytes each; where there are more, it is not told whether others read the same.
const RANGES: usize = 1 << 12;

/// What may be wrong, as far as it adds up.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Losses {
    /// Of reading, and of writing.
    fits: [Fit; 2],
    /// By place, file, whether it is written, and PE.
    small: BTreeMap<(CallPathId, FileId, bool, PeId), Small>,
    syncs: BTreeMap<(CallPathId, FileId, PeId), (u64, Span)>,
    reads: BTreeMap<FileId, BTreeMap<ProcessId, Read>>,
    /// Time in operations on files of those that have some.
    times: BTreeMap<PeId, Span>,
    /// By the PE that was at files.
    kept_waiting: BTreeMap<PeId, KeptWaiting>,
}

impl Query for Losses {
    /// Linear in accesses and waits.
    fn of(input: &Input<'_>) -> Losses {
        let trace = input.trace;
        let mut losses = Losses::default();
        if trace.files().is_empty() {
            return losses;
        }
        let is_several = trace.cpu_processes().count() > 1;
        for pe in cpu_pes(trace) {
            losses.add_accesses(input, pe);
            if is_several {
                losses.add_reads(trace, pe);
                let time = operations(trace, pe).1.last().copied().unwrap_or_default();
                losses.times.extend(time.is_positive().then_some((pe, time)));
            }
        }
        losses.reads.values_mut().flat_map(BTreeMap::values_mut).for_each(Read::put_together);
        losses.add_waits(input);
        losses
    }

    fn add(&mut self, next: Losses) {
        self.fits.iter_mut().zip(&next.fits).for_each(|(sum, next)| sum.merge(next));
        next.small.iter().for_each(|(key, next)| self.small.entry(*key).or_default().add(next));
        for (key, (count, time)) in next.syncs {
            let sum = self.syncs.entry(key).or_default();
            *sum = (sum.0 + count, sum.1 + time);
        }
        for (file, reads) in next.reads {
            let of_file = self.reads.entry(file).or_default();
            reads.into_iter().for_each(|(process, next)| of_file.entry(process).or_default().add(next));
        }
        next.times.into_iter().for_each(|(pe, time)| *self.times.entry(pe).or_default() += time);
        next.kept_waiting.into_iter().for_each(|(pe, next)| self.kept_waiting.entry(pe).or_default().add(next));
        if self.kept_waiting.len() > CANDIDATES {
            let all = self.times.values().map(|time| i128::from(time.0)).sum::<i128>();
            let time = |pe: &PeId| self.times.get(pe).map_or(0, |time| i128::from(time.0));
            self.kept_waiting.retain(|pe, _| time(pe) * CANDIDATES as i128 >= all);
        }
    }
}

pub(crate) fn find(input: &Input<'_>) -> Vec<Finding> {
    let losses = input.file_losses();
    let mut findings = small(input, losses);
    findings.extend(serial(input, losses));
    findings.extend(same(input, losses));
    findings.extend(syncs(input, losses));
    let least = input.least();
    let findings = crate::by_place(input.trace, findings, input.options.details);
    findings.into_iter().filter(|finding| finding.time.is_positive() && finding.time.0 >= least).collect()
}

/// Duration and call path of the operation of a row.
fn operation(stream: &Stream, visit: VisitIx) -> Option<(Span, CallPathId)> {
    stream.visits.get(visit).map(|visit| (visit.duration(), visit.path))
}

/// Small accesses of one PE to a file at a call path.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Small {
    count: u64,
    bytes: u64,
    time: Span,
    /// Those that have one before them, and those of them that begin at its end or behind it.
    seconds: u64,
    ahead: u64,
    ends: Option<Extent>,
}

impl Small {
    fn add(&mut self, next: &Small) {
        self.count += next.count;
        self.bytes = self.bytes.saturating_add(next.bytes);
        self.time += next.time;
        self.seconds += next.seconds;
        self.ahead += next.ahead;
        self.follow(next.ends);
    }

    fn follow(&mut self, next: Option<Extent>) {
        if let Some(follows) = Extent::join(&mut self.ends, next) {
            self.seconds += 1;
            self.ahead += u64::from(follows.ahead);
        }
    }
}

impl Losses {
    /// Small accesses, and synchronisations.
    fn add_accesses(&mut self, input: &Input<'_>, pe: PeId) {
        let stream = &input.trace.streams()[pe];
        for row in accesses(stream) {
            let (Some((took, path)), Some(file)) = (operation(stream, row.visit), row.file.some()) else { continue };
            // What a stream hands to the system is on no device yet: that costs what a write does.
            if row.kind == IoKind::Flush && row.layer == IoLayer::Buffered {
                continue;
            }
            if row.kind == IoKind::Flush {
                let sum = self.syncs.entry((path, file, pe)).or_default();
                *sum = (sum.0 + 1, sum.1 + took);
                continue;
            }
            if row.layer != IoLayer::Direct {
                continue;
            }
            let writes = row.kind == IoKind::Write;
            self.fits[usize::from(writes)].add(row.bytes as f64, took.0 as f64);
            if row.bytes < input.options.file_block {
                let ends = row.offset.map(|offset| Extent::of(offset, row.bytes));
                let it = self.small.entry((path, file, writes, pe)).or_default();
                it.count += 1;
                it.bytes += row.bytes;
                it.time += took;
                it.follow(ends);
            }
        }
    }

    fn add_reads(&mut self, trace: &Trace, pe: PeId) {
        let stream = &trace.streams()[pe];
        // Processes that read together do so by themselves.
        let reads = accesses(stream).filter(|row| row.kind == IoKind::Read && row.layer != IoLayer::Parallel);
        for row in reads {
            let (Some((took, path)), Some(file)) = (operation(stream, row.visit), row.file.some()) else { continue };
            let read = self.reads.entry(file).or_default().entry(trace.pes()[pe].process).or_default();
            read.time += took;
            read.count += 1;
            read.is_unknown |= row.offset.is_none();
            if let Some(offset) = row.offset.filter(|_| row.bytes > 0) {
                let end = offset.saturating_add(row.bytes);
                match read.parts.last_mut() {
                    Some(last) if last.1 == offset => last.1 = end,
                    Some(_) | None => read.parts.push((offset, end)),
                }
            }
            *read.pes.entry(pe).or_default() += took;
            *read.paths.entry(path).or_default() += took;
        }
    }

    /// Who waited for PEs that were at files. Of a slice for any of them, since it is not known which has most of the time in the end.
    fn add_waits(&mut self, input: &Input<'_>) {
        let alone = self.alone().filter(|(_, share)| *share >= ALONE).map(|(pe, _)| pe);
        let is_asked =
            |pe: PeId| if input.trace.slice().is_some() { self.times.contains_key(&pe) } else { alone == Some(pe) };
        let is_kept = |wait: &&Wait| wait.pattern.is_wait() && wait.cause.pe != wait.pe && is_asked(wait.cause.pe);
        let mut waits: Vec<&Wait> = input.waits.iter().filter(is_kept).collect();
        // Stable: those for one PE stay in order.
        waits.sort_by_key(|wait| wait.cause.pe);
        let of_pe = |waits: &[&Wait]| (waits[0].cause.pe, KeptWaiting::of(input.trace, waits[0].cause.pe, waits));
        self.kept_waiting = waits.chunk_by(|a, b| a.cause.pe == b.cause.pe).map(of_pe).collect();
        self.kept_waiting.retain(|_, it| it.count > 0);
    }

    /// The PE with most time on files, and its share of that.
    fn alone(&self) -> Option<(PeId, f64)> {
        let all: Span = self.times.values().copied().sum();
        let (alone, most) = self.times.iter().max_by_key(|(pe, time)| (**time, std::cmp::Reverse(**pe)))?;
        Some((*alone, most.0 as f64 / all.0.max(1) as f64))
    }
}

fn small(input: &Input<'_>, losses: &Losses) -> Vec<Finding> {
    let (trace, options) = (input.trace, input.options);
    let ticks_per_second = trace.clock().ticks_per_second() as f64;
    let finding = |(&(path, file, writes, pe), it): (&(CallPathId, FileId, bool, PeId), &Small)| {
        if it.count < options.file_accesses || it.bytes == 0 || 2 * it.ahead < it.seconds {
            return None;
        }
        let fit = &losses.fits[usize::from(writes)];
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
    losses.small.iter().filter_map(finding).collect()
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

/// Those that waited for a PE while it was at files.
#[derive(Debug, Default, Serialize, Deserialize)]
struct KeptWaiting {
    lost: BTreeMap<PeId, Span>,
    count: u64,
    /// Of the longest wait: how long, whose, what and where.
    longest: Option<(Span, PeId, Pattern, CallPathId)>,
    /// What of the lost time each of its call paths had.
    paths: BTreeMap<CallPathId, Span>,
}

impl KeptWaiting {
    /// Of the waits for a PE, in order.
    fn of(trace: &Trace, alone: PeId, waits: &[&Wait]) -> KeptWaiting {
        let stream = &trace.streams()[alone];
        let (visits, until) = operations(trace, alone);
        // Time in operations before a moment.
        let before = |time: Time| {
            let at = visits.partition_point(|visit| stream.visits.exit[visit.index()] <= time);
            let open = visits.get(at).map(|visit| stream.visits.enter[visit.index()]).filter(|enter| *enter < time);
            until[at] + open.map_or(Span::ZERO, |enter| time.since(enter))
        };
        let mut found = KeptWaiting::default();
        let at_paths = &mut found.paths;
        let mut at_operations: BTreeMap<usize, i64> = BTreeMap::new();
        for wait in waits {
            let time = before(wait.end) - before(wait.begin);
            if !time.is_positive() {
                continue;
            }
            found.count += 1;
            *found.lost.entry(wait.pe).or_default() += time;
            let within = |at: usize| stream.visits.at(visits[at]);
            let first = visits.partition_point(|visit| stream.visits.exit[visit.index()] <= wait.begin);
            let last = visits.partition_point(|visit| stream.visits.enter[visit.index()] < wait.end);
            *at_operations.entry(first).or_default() += 1;
            *at_operations.entry(last).or_default() -= 1;
            // What of the first and of the last one lies outside.
            *at_paths.entry(within(first).path).or_default() += before(wait.begin) - until[first];
            *at_paths.entry(within(last - 1).path).or_default() += until[last] - before(wait.end);
            if found.longest.is_none_or(|(known, ..)| time > known)
                && let Some((_, path)) = operation(&trace.streams()[wait.pe], wait.operation)
            {
                found.longest = Some((time, wait.pe, wait.pattern, path));
            }
        }
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
        found
    }

    fn add(&mut self, next: KeptWaiting) {
        next.lost.into_iter().for_each(|(pe, time)| *self.lost.entry(pe).or_default() += time);
        self.count += next.count;
        // Of equal ones that of the first PE, as in a run at once.
        let before = |longest: &(Span, PeId, Pattern, CallPathId)| (longest.0, std::cmp::Reverse(longest.1));
        if next.longest.as_ref().map(before) > self.longest.as_ref().map(before) {
            self.longest = next.longest;
        }
        next.paths.into_iter().for_each(|(path, time)| *self.paths.entry(path).or_default() += time);
    }
}

fn serial(input: &Input<'_>, losses: &Losses) -> Option<Finding> {
    let trace = input.trace;
    let (alone, share) = losses.alone().filter(|(_, share)| *share >= ALONE)?;
    let KeptWaiting { lost, count, longest, paths } = losses.kept_waiting.get(&alone)?;
    let time: Span = lost.values().copied().sum();
    let positive = paths.iter().map(|(path, time)| (*path, *time)).filter(|(_, time)| time.is_positive());
    let mut paths: Vec<(CallPathId, Span)> = positive.collect();
    paths.sort_by_key(|(path, time)| (std::cmp::Reverse(*time), *path));
    let path = paths.first()?.0;
    if paths.len() == 1 {
        paths.clear();
    }
    let waits = longest.map(|(_, _, pattern, path)| Told { time, pattern, path });
    let causes = vec![Cause::code(alone, path, time)];
    let facts = vec![("io_share", share)];
    let pes = lost.iter().map(|(pe, time)| (*pe, *time)).collect();
    let known = Finding::at(trace, Pattern::SerialIo, path);
    Some(Finding { time, count: *count, pes, causes, facts, waits, paths, ..known })
}

/// What a process read of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Read {
    time: Span,
    count: u64,
    /// From and to: as they came, then [put together](Read::put_together).
    parts: Vec<(u64, u64)>,
    /// It is not known of all accesses where they are.
    is_unknown: bool,
    pes: BTreeMap<PeId, Span>,
    paths: BTreeMap<CallPathId, Span>,
}

impl Read {
    /// The bytes, in order, each once.
    fn put_together(&mut self) {
        self.parts.sort_unstable();
        self.parts.dedup_by(|next, sum| {
            let joins = next.0 <= sum.1;
            sum.1 = if joins { sum.1.max(next.1) } else { sum.1 };
            joins
        });
    }

    fn add(&mut self, next: Read) {
        self.time += next.time;
        self.count += next.count;
        self.parts.extend(next.parts);
        self.put_together();
        self.is_unknown |= next.is_unknown || self.parts.len() > RANGES;
        if self.is_unknown {
            self.parts = Vec::new();
        }
        next.pes.into_iter().for_each(|(pe, time)| *self.pes.entry(pe).or_default() += time);
        next.paths.into_iter().for_each(|(path, time)| *self.paths.entry(path).or_default() += time);
    }
}

fn same(input: &Input<'_>, losses: &Losses) -> Vec<Finding> {
    let trace = input.trace;
    let processes = trace.cpu_processes().count();
    let finding = |(file, reads): (&FileId, &BTreeMap<ProcessId, Read>)| {
        let first = reads.values().next()?;
        let size: u64 = first.parts.iter().map(|(from, to)| to - from).sum();
        let is_same = reads.values().all(|read| !read.is_unknown && read.parts == first.parts);
        if reads.len() < processes || !is_same || size < input.options.file_block {
            return None;
        }
        let slowest = reads.iter().max_by_key(|(process, read)| (read.time, std::cmp::Reverse(**process)))?.0.index();
        let others = || reads.iter().filter(|(process, _)| process.index() != slowest).map(|(_, read)| read);
        let time: Span = others().map(|read| read.time).sum();
        let mut pes: Vec<(PeId, Span)> =
            others().flat_map(|read| read.pes.iter().map(|(pe, time)| (*pe, *time))).collect();
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
        Some(Finding { time, count, pes, file: *file, facts, paths, ..known })
    };
    losses.reads.iter().filter_map(finding).collect()
}

fn syncs(input: &Input<'_>, losses: &Losses) -> Vec<Finding> {
    let trace = input.trace;
    let finding = |(&(path, file, pe), &(count, time)): (&(CallPathId, FileId, PeId), &(u64, Span))| {
        let time = Span((time.0 as f64 * (count - 1) as f64 / count as f64).round() as i64);
        let pes = vec![(pe, time)];
        let known = Finding::at(trace, Pattern::SyncInLoop, path);
        (count >= input.options.file_syncs).then_some(Finding { time, count, pes, file, ..known })
    };
    losses.syncs.iter().filter_map(finding).collect()
}
