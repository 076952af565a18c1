//! Checks and repairs that turn a builder into a [`Trace`].

use partune_base::{CallPathId, GroupId, PeId, Table, Time};
use partune_diag::{Diagnostic, Quality};

use crate::CallPaths;
use crate::profile::{BlockSums, Profile};
use crate::rows::{RmaSyncKind, VisitIx};
use crate::stream::Stream;
use crate::trace::{Trace, TraceBuilder};

/// Bytes of a name that are kept. Documents say a name once for each row of a table: what is long in the archive would be long as many times.
const NAME: usize = 4096;

pub(crate) fn seal(mut built: TraceBuilder) -> Trace {
    while built.streams.len() < built.pes.len() {
        built.streams.push(Stream::default());
    }
    built.strings.make_printable(NAME);
    built.paths.seal(&built.regions);
    let limits = Limits {
        pes: built.pes.len(),
        groups: built.groups.len(),
        windows: built.windows.len(),
        paths: built.paths.len(),
    };
    for group in &mut built.groups {
        // Only a fault of a reader makes one that is not shared any more.
        if group.members.exceeds(limits.pes) {
            group.members = group.members.below(limits.pes);
        }
    }
    let lock_bodies: Vec<bool> = built.paths.ids().map(|path| built.paths.is_lock_body(path, &built.regions)).collect();
    let mut quality = Quality::default();
    for stream in &mut built.streams {
        limits.check(stream);
        let reordered = repair_times(stream);
        quality.add(
            Diagnostic::data_loss(
                "time stamps of a PE run backwards; such events were moved to the time of their predecessor",
                "the recorder's clock is not monotonic: record again with another timer",
            )
            .times(reordered),
        );
        end_locks_at_their_bodies(stream, &built.paths, &lock_bodies);
        find_operations(stream, &built.paths);
    }
    built.quality.merge(quality);
    let (mut begin, mut end) = extent(&built.streams);
    if let Some(profile) = &mut built.profile {
        check_profile(profile, limits.pes, limits.paths);
        (begin, end) = profile.extent().unwrap_or_default();
    }
    Trace { built, begin, end, piece: None }
}

/// Rows are in order of path, each path once, no PE is beyond the table and no end before its begin, and CPU time is at most time.
fn check_profile(profile: &mut Profile, pes: usize, paths: usize) {
    let mut rows = std::mem::take(&mut profile.pes).into_vec();
    rows.truncate(pes);
    for pe in &mut rows {
        pe.rows.retain(|row| (row.path.0 as usize) < paths && row.visits > 0);
        pe.rows.sort_by_key(|row| row.path);
        pe.rows.dedup_by_key(|row| row.path);
        pe.end = pe.end.max(pe.begin);
        pe.open_block.iter_mut().for_each(BlockSums::check);
        for row in &mut pe.rows {
            row.last = row.last.max(row.first);
            row.inclusive = row.inclusive.clamp_positive();
            row.exclusive = row.exclusive.clamp_positive().min(row.inclusive);
            row.cpu = row.cpu.map(|cpu| cpu.clamp_positive().min(row.exclusive));
            row.blocks.iter_mut().for_each(BlockSums::check);
        }
    }
    profile.pes = rows.into();
}

/// First and last time of all streams; both zero if there is none.
pub(crate) fn extent(streams: &Table<PeId, Stream>) -> (Time, Time) {
    let begin = streams.iter().filter_map(Stream::begin).min().unwrap_or_default();
    let end = streams.iter().filter_map(Stream::end).max().unwrap_or_default();
    (begin, end.max(begin))
}

/// More than one operation can move: what exceeds it is damage, and would make sums overflow.
const MAX_BYTES: u64 = 1 << 44;

/// Sizes of the tables that ids point into.
struct Limits {
    pes: usize,
    groups: usize,
    windows: usize,
    paths: usize,
}

impl Limits {
    fn pe(&self, pe: &mut PeId) {
        if pe.0 as usize >= self.pes {
            *pe = PeId::NONE;
        }
    }

    fn group(&self, group: &mut GroupId) {
        if group.0 as usize >= self.groups {
            *group = GroupId::NONE;
        }
    }

    /// Replaces ids that point nowhere by none. A visit to an unknown path is a bug of the reader, not of the input.
    fn check(&self, stream: &mut Stream) {
        assert!(stream.visits.path.iter().all(|path| (path.0 as usize) < self.paths), "visits have known call paths");
        for row in &mut stream.sends {
            self.pe(&mut row.peer);
            self.group(&mut row.group);
        }
        for row in &mut stream.recvs {
            self.pe(&mut row.peer);
            self.group(&mut row.group);
        }
        for row in &mut stream.collectives {
            self.pe(&mut row.root);
            self.group(&mut row.group);
        }
        stream.transfers.iter_mut().for_each(|row| self.pe(&mut row.target));
        for row in &mut stream.rma_syncs {
            self.pe(&mut row.target);
            if let RmaSyncKind::Group(group) = &mut row.kind {
                self.group(group);
            }
        }
        stream.teams.iter_mut().for_each(|row| self.group(&mut row.group));
        stream.tasks.iter_mut().for_each(|row| self.group(&mut row.group));
        let bytes = stream.sends.iter_mut().map(|row| &mut row.bytes);
        let bytes = bytes.chain(stream.recvs.iter_mut().map(|row| &mut row.bytes));
        let bytes = bytes.chain(stream.collectives.iter_mut().flat_map(|row| [&mut row.sent, &mut row.received]));
        let bytes = bytes.chain(stream.transfers.iter_mut().map(|row| &mut row.bytes));
        bytes.chain(stream.io.iter_mut().map(|row| &mut row.bytes)).for_each(|bytes| *bytes = (*bytes).min(MAX_BYTES));
        let windows = self.windows;
        stream.transfers.retain(|row| (row.window.0 as usize) < windows);
        stream.completions.retain(|row| (row.window.0 as usize) < windows);
        stream.rma_syncs.retain(|row| (row.window.0 as usize) < windows);
    }
}

/// Makes enters non-decreasing and exits not before their enters; returns how many it moved. Readers clamp rows themselves
/// while they read, since only they know the order of the file.
fn repair_times(stream: &mut Stream) -> u64 {
    let mut moved = 0;
    let mut last = Time::MIN;
    for (enter, exit) in stream.visits.enter.iter_mut().zip(&mut stream.visits.exit) {
        if *enter < last {
            *enter = last;
            moved += 1;
        }
        last = *enter;
        if *exit < *enter {
            *exit = *enter;
            moved += 1;
        }
    }
    moved
}

/// Acquiring a lock ends where its body begins: the construct around a body (OpenMP's critical) is cut there, and the body
/// stands beside it in time.
fn end_locks_at_their_bodies(stream: &mut Stream, paths: &CallPaths, lock_bodies: &[bool]) {
    if !lock_bodies.contains(&true) {
        return;
    }
    let mut open: Vec<usize> = Vec::new();
    let visits = &mut stream.visits;
    for index in 0..visits.len() {
        let path = visits.path[index];
        while let Some(outer) = open.last().copied()
            && paths.depth(visits.path[outer]) >= paths.depth(path)
        {
            open.pop();
        }
        if lock_bodies[path.0 as usize]
            && let Some(outer) = open.last().copied()
            && visits.path[outer] == paths.parent(path)
        {
            visits.exit[outer] = visits.exit[outer].min(visits.enter[index]);
        }
        open.push(index);
    }
}

/// Fills `operations`, and lets rows point to the operation around the visit they were recorded in.
fn find_operations(stream: &mut Stream, paths: &CallPaths) {
    let visits = &stream.visits;
    let is_operation = |path: CallPathId| paths.operation(path) == path;
    let count = visits.path.iter().filter(|path| is_operation(**path)).count();
    let mut operations = Vec::with_capacity(count);
    operations.extend((0..visits.len() as u32).map(VisitIx).filter(|visit| is_operation(visits.path[visit.index()])));
    stream.operations = operations;

    let operations = &stream.operations;
    // Rows are in order of time and operations do not overlap, so the operation only moves forward.
    macro_rules! point {
        ($table:ident) => {{
            let mut next = 0;
            for row in &mut stream.$table {
                row.visit = match row.visit.some() {
                    Some(visit) if visit.index() >= visits.len() => VisitIx::NONE,
                    Some(visit) if paths.operation(visits.path[visit.index()]).is_some() => {
                        while next + 1 < operations.len() && operations[next + 1] <= visit {
                            next += 1;
                        }
                        operations.get(next).copied().filter(|operation| *operation <= visit).unwrap_or(visit)
                    }
                    _ => row.visit,
                };
            }
        }};
    }
    point!(sends);
    point!(recvs);
    point!(requests);
    point!(collectives);
    point!(transfers);
    point!(completions);
    point!(rma_syncs);
    point!(locks);
    point!(teams);
    point!(tasks);
    point!(metrics);
    point!(io);
}
