//! Checks and repairs that turn a builder into a [`Trace`], whoever made it.

use partune_base::{CallPathId, Clock, FileId, GroupId, Id, MetricId, ObjectId, PeId, StringId, Table, Time, WindowId};
use partune_diag::{Code, Diagnostic, Quality};
use rayon::prelude::*;

use crate::fact::{Change, Fact, Rows};
use crate::facts::Stream;
use crate::polls::Polling;
use crate::profile::{BlockSums, Profile};
use crate::stream::{VisitIx, Visits};
use crate::trace::{Trace, TraceBuilder};
use crate::{CallPaths, Process, Region};

/// Bytes of a name that are kept. Documents say a name once for each row of a table: what is long in the archive would be long as many times.
pub(crate) const NAME: usize = 4096;

pub(crate) fn seal(mut built: TraceBuilder) -> Trace {
    let of_tables = check_tables(&mut built);
    built.regions.iter_mut().for_each(|region| region.shorten(&mut built.strings));
    built.strings.make_printable(NAME);
    built.paths.seal(&built.regions);
    let limits = Limits {
        pes: built.pes.len(),
        groups: built.groups.len(),
        windows: built.windows.len(),
        metrics: built.metrics.len(),
        files: built.files.len(),
        objects: built.objects.len(),
        paths: built.paths.len(),
    };
    let paths = &built.paths;
    let polling = Polling::of(paths, &built.regions, Clock::new(built.resolution).ticks_per_second());
    let mut open = built.slice.as_mut().map(|slice| std::mem::take(&mut slice.open)).unwrap_or_default();
    open.fill_up(built.streams.len(), Vec::new);
    let streams = built.streams.as_mut_slice().par_iter_mut().zip(open.as_mut_slice());
    let of_streams = streams.map(|(stream, open)| {
        let mut faults = Faults::default();
        limits.check(stream, &mut faults);
        repair_visits(&mut stream.visits, &mut faults);
        faults.unordered += stream.sort();
        if let Some(polling) = &polling {
            stream.join_polls(polling, open);
        }
        end_locks_at_their_bodies(stream, paths);
        find_operations(stream, paths);
        faults
    });
    let faults = of_streams.reduce(Faults::default, Faults::with);
    // Slices have the same tables.
    let is_told = built.slice.as_ref().is_some_and(|slice| slice.number > 0);
    let faults = if is_told { faults } else { faults.with(of_tables) };
    if let Some(slice) = &mut built.slice {
        slice.open = open;
    }
    faults.report(&mut built.quality);
    let (mut begin, mut end) = extent(&built.streams);
    if let Some(profile) = &mut built.profile {
        check_profile(profile, limits.pes, limits.paths);
        (begin, end) = profile.extent().unwrap_or_default();
    }
    Trace { built, begin, end, piece: None, summed: None }
}

/// What was repaired, counted.
#[derive(Clone, Copy, Default)]
struct Faults {
    /// Ids that are no position in their table.
    lost_ids: u64,
    /// Accesses and synchronisations of windows that are not known.
    lost_windows: u64,
    backward_times: u64,
    /// Visits that began in another one and ended after it.
    crossing_visits: u64,
    /// Rows before which there is a later one.
    unordered: u64,
}

impl Faults {
    fn with(mut self, more: Faults) -> Faults {
        self.lost_ids += more.lost_ids;
        self.lost_windows += more.lost_windows;
        self.backward_times += more.backward_times;
        self.crossing_visits += more.crossing_visits;
        self.unordered += more.unordered;
        self
    }

    fn report(self, quality: &mut Quality) {
        let remedy = "a fault of what wrote the archive, unless it is damaged: copy or record it again";
        let mut lost = |code: Code, count: u64, message: &str, remedy: &str| {
            quality.add(Diagnostic::data_loss(code, message, remedy).times(count));
        };
        lost(
            Code::BackwardTimes,
            self.backward_times,
            "time stamps of a PE run backwards; such events were moved to the time of their predecessor",
            "the recorder's clock is not monotonic: record again with another timer",
        );
        lost(
            Code::CrossingVisits,
            self.crossing_visits,
            "a region ends after the one it began in; it was ended with that one",
            remedy,
        );
        lost(
            Code::UnorderedRecords,
            self.unordered,
            "records of a PE are not in the order of time; they were sorted",
            remedy,
        );
        lost(
            Code::UndefinedReference,
            self.lost_ids,
            "something that is referred to is not defined; it is taken as unknown",
            remedy,
        );
        let message = "accesses to, or synchronisations of, RMA windows that are not defined were left out";
        lost(Code::UndefinedWindow, self.lost_windows, message, remedy);
    }
}

/// Makes tables refer to each other and to nothing else, and gives every PE a stream.
fn check_tables(built: &mut TraceBuilder) -> Faults {
    let mut lost_ids = 0;
    let mut lost = |is_lost: bool| {
        lost_ids += u64::from(is_lost);
        is_lost
    };
    let (pes, groups) = (built.pes.len(), built.groups.len());
    built.streams.fill_up(pes, Stream::default);
    for process in &mut built.processes {
        process.pes.retain(|pe| !lost(pe.index() >= pes));
    }
    for (number, pe) in (0..).map(PeId).zip(&mut built.pes) {
        if lost(pe.process.index() >= built.processes.len()) {
            let (name, node) = (StringId::NONE, StringId::NONE);
            pe.process = built.processes.push(Process { name, rank: None, node, pes: vec![number] });
        }
    }
    for group in &mut built.groups {
        if lost(group.members.exceeds(pes)) {
            group.members = group.members.below(pes);
        }
    }
    for object in &mut built.objects {
        if object.home.is_some() && lost(object.home.index() >= pes) {
            object.home = PeId::NONE;
        }
    }
    for window in &mut built.windows {
        if window.group.is_some() && lost(window.group.index() >= groups) {
            window.group = GroupId::NONE;
        }
    }
    if lost(!built.paths.are_in(&built.regions)) {
        let name = built.strings.intern("unknown region");
        let unknown = built.regions.push(Region::of_user(name));
        built.paths.end_at_most_in(unknown);
    }
    Faults { lost_ids, ..Faults::default() }
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
            row.visits = row.visits.min(MOST);
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

/// More bytes than one operation can move, and more calls than one row can stand for: what exceeds it is damage, and would make sums overflow.
const MOST: u64 = 1 << 44;

/// Sizes of the tables that ids point into.
struct Limits {
    pes: usize,
    groups: usize,
    windows: usize,
    metrics: usize,
    files: usize,
    objects: usize,
    paths: usize,
}

impl Limits {
    /// Replaces ids that point nowhere by none. A visit to an unknown path is a bug of the reader, not of the input.
    fn check(&self, stream: &mut Stream, faults: &mut Faults) {
        assert!(stream.visits.path.iter().all(|path| (path.0 as usize) < self.paths), "visits have known call paths");
        stream.change(&mut Checks { limits: self, visits: stream.visits.len(), lost: &mut faults.lost_ids });
        stream.polls.iter_mut().for_each(|row| row.count = row.count.min(MOST));
        let rows = stream.facts();
        stream.transfers.retain(|row| row.window.is_some());
        stream.completions.retain(|row| row.window.is_some());
        stream.rma_syncs.retain(|row| row.window.is_some());
        faults.lost_windows += (rows - stream.facts()) as u64;
    }
}

struct Checks<'a> {
    limits: &'a Limits,
    visits: usize,
    lost: &'a mut u64,
}

impl Checks<'_> {
    fn check<I: Id + PartialEq>(&mut self, id: &mut I, none: I, count: usize) {
        if id.index() >= count && *id != none {
            *id = none;
            *self.lost += 1;
        }
    }
}

impl Change for Checks<'_> {
    fn visit(&mut self, visit: &mut VisitIx) {
        if visit.is_some() && visit.index() >= self.visits {
            *visit = VisitIx::NONE;
            *self.lost += 1;
        }
    }

    fn pe(&mut self, pe: &mut PeId) {
        self.check(pe, PeId::NONE, self.limits.pes);
    }

    fn group(&mut self, group: &mut GroupId) {
        self.check(group, GroupId::NONE, self.limits.groups);
    }

    fn window(&mut self, window: &mut WindowId) {
        self.check(window, WindowId::NONE, self.limits.windows);
    }

    fn metric(&mut self, metric: &mut MetricId) {
        self.check(metric, MetricId::NONE, self.limits.metrics);
    }

    fn file(&mut self, file: &mut FileId) {
        self.check(file, FileId::NONE, self.limits.files);
    }

    fn object(&mut self, object: &mut ObjectId) {
        self.check(object, ObjectId::NONE, self.limits.objects);
    }

    fn bytes(&mut self, bytes: &mut u64) {
        *bytes = (*bytes).min(MOST);
    }
}

/// Makes enters non-decreasing, exits not before their enters, and visits end within those they began in.
fn repair_visits(visits: &mut Visits, faults: &mut Faults) {
    let mut last = Time::MIN;
    // Exits of the visits around, innermost last.
    let mut around: Vec<Time> = Vec::new();
    for (enter, exit) in visits.enter.iter_mut().zip(&mut visits.exit) {
        if *enter < last {
            *enter = last;
            faults.backward_times += 1;
        }
        last = *enter;
        if *exit < *enter {
            *exit = *enter;
            faults.backward_times += 1;
        }
        while around.last().is_some_and(|outer| *outer <= *enter) {
            around.pop();
        }
        if let Some(outer) = around.last()
            && *exit > *outer
        {
            *exit = *outer;
            faults.crossing_visits += 1;
        }
        around.push(*exit);
    }
}

/// Acquiring a lock ends where its body begins: the construct around a body (OpenMP's critical) is cut there, and the body
/// stands beside it in time.
fn end_locks_at_their_bodies(stream: &mut Stream, paths: &CallPaths) {
    if !paths.has_lock_bodies() {
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
        if paths.is_lock_body(path)
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
    let visits = std::mem::take(&mut stream.visits);
    let is_operation = |path: CallPathId| paths.operation(path) == path;
    let count = visits.path.iter().filter(|path| is_operation(**path)).count();
    let mut operations = Vec::with_capacity(count);
    let mut ended = Time::MIN;
    for visit in (0..visits.len() as u32).map(VisitIx).filter(|visit| is_operation(visits.path[visit.index()])) {
        // One that begins in another is part of it, whatever its call path says.
        if visits.enter[visit.index()] >= ended {
            operations.push(visit);
            ended = visits.exit[visit.index()];
        }
    }
    stream.tables(&mut Point { visits: &visits, paths, operations: &operations, next: 0 });
    (stream.visits, stream.operations) = (visits, operations);
}

/// Lets rows point to operations. Rows are in order of time and operations do not overlap, so the operation only moves forward.
struct Point<'a> {
    visits: &'a Visits,
    paths: &'a CallPaths,
    operations: &'a [VisitIx],
    next: usize,
}

impl Rows for Point<'_> {
    fn table<F: Fact>(&mut self, rows: &mut Vec<F>) {
        self.next = 0;
        rows.iter_mut().for_each(|row| row.change(self));
    }
}

impl Change for Point<'_> {
    fn visit(&mut self, visit: &mut VisitIx) {
        let Some(recorded) = visit.some() else { return };
        if !self.paths.operation(self.visits.path[recorded.index()]).is_some() {
            return;
        }
        let operations = self.operations;
        while operations.get(self.next + 1).is_some_and(|next| *next <= recorded) {
            self.next += 1;
        }
        // Rows of equal times may go back.
        if operations.get(self.next).is_some_and(|operation| *operation > recorded) {
            self.next = operations.partition_point(|operation| *operation <= recorded).saturating_sub(1);
        }
        let around = operations.get(self.next).copied().filter(|operation| *operation <= recorded);
        *visit = around.unwrap_or(recorded);
    }
}
