//! Exclusive time by call path within an interval of one PE.
//!
//! exclusive(c) = Σ duration of visits to c − Σ duration of visits to children of c, each clipped to the interval. That needs
//! the visits that begin inside, and those open at its begin, which parent links lead to: cost is the visits inside plus the
//! depth of the stack. Time outside of all visits is time of [`CallPathId::NONE`]: many recorders see only constructs. What forking and joining a team takes
//! is time of its parallel region, which mostly begins after the one and ends before the other. Memory: 4 bytes a visit, 24 a gap, while a timeline is in use.

use partune_base::{CallPathId, PeId, Span, Time};
use partune_trace::{CallPaths, TeamKind, Trace, VisitIx, Visits};

use crate::tiling::region_of_fork;
use crate::useful::forking;

/// Visits of a PE with the visit around each.
pub(crate) struct Timeline<'a> {
    visits: &'a Visits,
    paths: &'a CallPaths,
    parents: Vec<u32>,
    gaps: Vec<Gap>,
    /// Of a slice of a run: when its first event is, and where the PE was before.
    before: Option<(Time, CallPathId)>,
}

/// Time in which a team is forked or joined, and nothing is recorded: where it is, and which parallel region it is of.
struct Gap {
    begin: Time,
    end: Time,
    from: CallPathId,
    to: CallPathId,
}

/// Time by call path, of which few are not zero; the last is [`CallPathId::NONE`].
#[derive(Clone, Debug, Default)]
pub(crate) struct PathTimes {
    times: Vec<Span>,
    seen: Vec<bool>,
    touched: Vec<CallPathId>,
}

impl<'a> Timeline<'a> {
    /// Links the visits of a PE; linear.
    pub(crate) fn new(trace: &'a Trace, pe: PeId) -> Timeline<'a> {
        let (visits, paths) = (&trace.streams()[pe].visits, trace.paths());
        let mut open: Vec<u32> = Vec::new();
        let parents = visits.path.iter().enumerate().map(|(i, path)| {
            let depth = paths.depth(*path) as usize;
            open.resize(depth.max(open.len()) + 1, u32::MAX);
            open.truncate(depth + 1);
            open[depth] = i as u32;
            depth.checked_sub(1).map_or(u32::MAX, |above| open[above])
        });
        let parents = parents.collect();
        let met = trace.slice().and_then(|slice| slice.met.as_ref());
        let before = trace.streams()[pe].begin().zip(met.and_then(|(_, paths)| paths.get(pe).copied()));
        let mut timeline = Timeline { visits, paths, parents, gaps: Vec::new(), before };
        timeline.gaps = timeline.gaps(trace, pe);
        timeline
    }

    /// In order and disjoint.
    fn gaps(&self, trace: &Trace, pe: PeId) -> Vec<Gap> {
        let stream = &trace.streams()[pe];
        let mut forks = stream.teams.iter().filter(|event| event.kind == TeamKind::Fork).peekable();
        let mut to = CallPathId::NONE;
        let mut last = Time::MIN;
        let gap = |(begin, end): (Time, Time)| {
            while let Some(fork) = forks.next_if(|fork| fork.time <= begin) {
                to = region_of_fork(trace, pe, (fork.visit, fork.time), Time::MAX);
            }
            let from =
                self.around(begin, end).filter(|from| *from != to && to.is_some() && begin >= last && end > begin)?;
            last = end;
            Some(Gap { begin, end, from, to })
        };
        forking(stream).into_iter().filter_map(gap).collect()
    }

    /// The call path of an interval in which no visit begins or ends.
    fn around(&self, begin: Time, end: Time) -> Option<CallPathId> {
        let (enters, exits) = (&self.visits.enter, &self.visits.exit);
        let first = enters.partition_point(|enter| *enter <= begin);
        if enters.get(first).is_some_and(|enter| *enter < end) {
            return None;
        }
        let mut open = first.checked_sub(1).unwrap_or(usize::MAX);
        while open < enters.len() && exits[open] < end {
            if exits[open] > begin {
                return None;
            }
            open = self.parents[open] as usize;
        }
        Some(self.visits.path.get(open).copied().unwrap_or(CallPathId::NONE))
    }

    /// About how many visits begin in an interval: the cost of [`Timeline::add`], if they were spread evenly.
    pub(crate) fn cost(visits: &Visits, begin: Time, end: Time) -> u64 {
        let (Some(first), Some(last)) = (visits.enter.first(), visits.enter.last()) else { return 0 };
        let inside = end.min(*last).since(begin.max(*first)).0 as f64;
        let all = last.since(*first).0.max(1) as f64;
        1 + (visits.len() as f64 * inside / all) as u64
    }

    /// Adds the exclusive times within `[begin, end)`. `near` is a visit that begins near the end, to look from.
    pub(crate) fn add(&self, begin: Time, end: Time, near: VisitIx, times: &mut PathTimes) {
        if end <= begin {
            return;
        }
        let first = self.gaps.partition_point(|gap| gap.end <= begin);
        for gap in self.gaps[first..].iter().take_while(|gap| gap.begin < end) {
            let clipped = gap.end.min(end) - gap.begin.max(begin);
            times.add(gap.from, -clipped);
            times.add(gap.to, clipped);
        }
        if let Some((until, path)) = self.before.filter(|(until, _)| *until > begin) {
            let clipped = until.min(end) - begin;
            times.add(CallPathId::NONE, -clipped);
            times.add(path, clipped);
        }
        let enters = &self.visits.enter;
        let mut next = near.index().min(enters.len());
        while next < enters.len() && enters[next] < end {
            next += 1;
        }
        while next > 0 && enters[next - 1] >= end {
            next -= 1;
        }
        while next > 0 && enters[next - 1] >= begin {
            next -= 1;
            let path = self.visits.path[next];
            let clipped = self.visits.exit[next].min(end) - enters[next];
            times.add(path, clipped);
            times.add(self.paths.parent(path), -clipped);
        }
        let mut open = next.checked_sub(1).unwrap_or(usize::MAX);
        while open < enters.len() {
            let exit = self.visits.exit[open];
            if exit > begin {
                let path = self.visits.path[open];
                let clipped = exit.min(end) - begin;
                times.add(path, clipped);
                // Above a visit that covers the whole interval all contributions cancel.
                if exit >= end {
                    return;
                }
                times.add(self.paths.parent(path), -clipped);
            }
            open = self.parents[open] as usize;
        }
        times.add(CallPathId::NONE, end - begin);
    }

    /// The call paths of the visits that end within `(begin, end]`, and how long each of them is there.
    pub(crate) fn ended(&self, begin: Time, end: Time, mut each: impl FnMut(CallPathId, Span)) {
        let (enters, exits) = (&self.visits.enter, &self.visits.exit);
        let first = enters.partition_point(|enter| *enter < begin);
        let inside = (first..enters.len()).take_while(|visit| enters[*visit] < end);
        let mut open = first.checked_sub(1).unwrap_or(usize::MAX);
        let around = std::iter::from_fn(|| {
            let visit = (open < enters.len()).then_some(open)?;
            open = self.parents[visit] as usize;
            Some(visit)
        });
        let ends = |visit: &usize| exits[*visit] > begin && exits[*visit] <= end;
        let of = |visit: usize| (self.visits.path[visit], exits[visit] - enters[visit].max(begin));
        inside.chain(around).filter(ends).map(of).for_each(|(path, time)| each(path, time));
    }
}

/// Adds the exclusive times of a whole PE; without time outside of visits.
pub(crate) fn profile(trace: &Trace, pe: PeId, times: &mut PathTimes) {
    let (visits, paths) = (&trace.streams()[pe].visits, trace.paths());
    for ((path, enter), exit) in visits.path.iter().zip(&visits.enter).zip(&visits.exit) {
        times.add(*path, *exit - *enter);
        if let Some(parent) = paths.parent(*path).some() {
            times.add(parent, *enter - *exit);
        }
    }
}

impl PathTimes {
    pub(crate) fn new(paths: usize) -> PathTimes {
        PathTimes { times: vec![Span::ZERO; paths + 1], seen: vec![false; paths + 1], touched: Vec::new() }
    }

    fn slot(&self, path: CallPathId) -> usize {
        (path.0 as usize).min(self.times.len() - 1)
    }

    pub(crate) fn add(&mut self, path: CallPathId, time: Span) {
        let i = self.slot(path);
        self.times[i] += time;
        if !self.seen[i] {
            self.seen[i] = true;
            self.touched.push(path);
        }
    }

    pub(crate) fn get(&self, path: CallPathId) -> Span {
        self.times[self.slot(path)]
    }

    /// The paths with time, in the order they were first seen.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (CallPathId, Span)> {
        self.touched.iter().map(|path| (*path, self.get(*path)))
    }

    pub(crate) fn clear(&mut self) {
        for path in std::mem::take(&mut self.touched) {
            let i = self.slot(path);
            self.times[i] = Span::ZERO;
            self.seen[i] = false;
        }
    }
}
