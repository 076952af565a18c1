//! What became of requests: which event began what other event ended, within one PE.
//!
//! A request's number may be used again after its end, so begins and ends are walked in program order. A begin whose end is
//! not in the trace (truncated, or lost by the producer) is *lost*: what followed it on the same channel may be out of step.

use partune_base::Time;
use partune_trace::{CallPaths, NO_REQUEST, RequestKind, Stream, VisitIx};
use rustc_hash::FxHashMap;

/// Begins and ends of one kind of request on one PE, put together.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// `(begin, end)`: positions in the sequences they were given in.
    pub(crate) pairs: Vec<(u32, u32)>,
    /// Begins that were cancelled.
    pub(crate) cancelled: Vec<u32>,
    /// How many begins have no end, and when the first of them was.
    pub(crate) lost: u64,
    pub(crate) first_lost: Option<Time>,
}

/// When and where something happened to a request.
#[derive(Clone, Copy, Debug)]
struct Point {
    time: Time,
    visit: VisitIx,
    request: u64,
    index: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Begin,
    End,
    Cancel,
}

/// Where a request's part in this PE began: the operation and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    pub(crate) time: Time,
    pub(crate) visit: VisitIx,
}

/// When each receive of a PE was posted; 16 bytes a receive while messages are matched.
pub(crate) struct Posts {
    pub(crate) origins: Vec<Origin>,
    pub(crate) lost: u64,
    pub(crate) first_lost: Option<Time>,
}

/// What became of each send of a PE; 4 bytes a send while messages are matched, nothing if all were blocking.
pub(crate) struct Fates {
    /// The operation that completed it.
    completions: Option<Vec<VisitIx>>,
    /// Rows of cancelled sends, ascending.
    cancelled: Vec<u32>,
}

impl Posts {
    /// A blocking receive is posted when its operation is entered; one without a recorded post, when it completed.
    pub(crate) fn of(stream: &Stream, paths: &CallPaths) -> Posts {
        let origin = |visit: VisitIx, time: Time, blocking: bool| Origin {
            time: if blocking { operation_enter(stream, paths, visit).unwrap_or(time).min(time) } else { time },
            visit,
        };
        let mut origins: Vec<Origin> =
            stream.recvs.iter().map(|row| origin(row.visit, row.time, row.request == NO_REQUEST)).collect();
        let ends = stream.recvs.iter().enumerate().map(|(i, row)| point(row.time, row.visit, row.request, i));
        let found = pair(events(stream, RequestKind::RecvPosted), ends, events(stream, RequestKind::Cancelled));
        for (begin, end) in found.pairs {
            let event = &stream.requests[begin as usize];
            origins[end as usize] = Origin { time: event.time, visit: event.visit };
        }
        Posts { origins, lost: found.lost, first_lost: found.first_lost }
    }
}

impl Fates {
    pub(crate) fn of(stream: &Stream) -> Fates {
        if stream.sends.iter().all(|row| row.request == NO_REQUEST) {
            return Fates { completions: None, cancelled: Vec::new() };
        }
        let begins = stream.sends.iter().enumerate().map(|(i, row)| point(row.time, row.visit, row.request, i));
        let found = pair(begins, events(stream, RequestKind::SendCompleted), events(stream, RequestKind::Cancelled));
        let mut completions: Vec<VisitIx> =
            stream.sends.iter().map(|row| if row.request == NO_REQUEST { row.visit } else { VisitIx::NONE }).collect();
        for (begin, end) in found.pairs {
            completions[begin as usize] = stream.requests[end as usize].visit;
        }
        let mut cancelled = found.cancelled;
        cancelled.sort_unstable();
        Fates { completions: Some(completions), cancelled }
    }

    /// The operation that completed a send of `stream`; the send itself if it was blocking.
    pub(crate) fn completion(&self, stream: &Stream, send: usize) -> VisitIx {
        match &self.completions {
            Some(completions) => completions[send],
            None => stream.sends[send].visit,
        }
    }

    pub(crate) fn is_cancelled(&self, send: usize) -> bool {
        !self.cancelled.is_empty() && self.cancelled.binary_search(&(send as u32)).is_ok()
    }
}

/// Starts of the non-blocking collectives among a PE's rows: positions in `requests` and in `collectives`.
pub(crate) fn collective_starts(stream: &Stream) -> Requests {
    let ends = stream.collectives.iter().enumerate().map(|(i, row)| point(row.end, row.visit, row.request, i));
    pair(events(stream, RequestKind::CollectiveStarted), ends, events(stream, RequestKind::Cancelled))
}

/// Enter of a visit if it is an operation: user code around an event tells nothing of when the event began.
pub(crate) fn operation_enter(stream: &Stream, paths: &CallPaths, visit: VisitIx) -> Option<Time> {
    let path = *stream.visits.path.get(visit.index())?;
    (paths.operation(path) == path).then(|| stream.visits.enter[visit.index()])
}

/// Exit of a visit if it is an operation.
pub(crate) fn operation_exit(stream: &Stream, paths: &CallPaths, visit: VisitIx) -> Option<Time> {
    let path = *stream.visits.path.get(visit.index())?;
    (paths.operation(path) == path).then(|| stream.visits.exit[visit.index()])
}

fn point(time: Time, visit: VisitIx, request: u64, index: usize) -> Point {
    Point { time, visit, request, index: index as u32 }
}

fn events(stream: &Stream, kind: RequestKind) -> impl Iterator<Item = Point> + '_ {
    let rows = stream.requests.iter().enumerate().filter(move |(_, row)| row.kind == kind);
    rows.map(|(i, row)| point(row.time, row.visit, row.request, i))
}

/// Puts ends to the last open begin of the same request. Sorting only merges, since each sequence is in order of time.
fn pair(
    begins: impl Iterator<Item = Point>,
    ends: impl Iterator<Item = Point>,
    cancels: impl Iterator<Item = Point>,
) -> Requests {
    let real = |point: &Point| point.request != NO_REQUEST;
    let mut steps: Vec<(Step, Point)> = begins.filter(real).map(|point| (Step::Begin, point)).collect();
    if steps.is_empty() {
        return Requests::default();
    }
    steps.extend(ends.filter(real).map(|point| (Step::End, point)));
    steps.extend(cancels.filter(real).map(|point| (Step::Cancel, point)));
    steps.sort_by_key(|(step, point)| (point.time, point.visit, *step));

    let mut found = Requests::default();
    let mut open: FxHashMap<u64, Point> = FxHashMap::default();
    let lose = |found: &mut Requests, begin: Point| {
        found.lost += 1;
        found.first_lost = Some(found.first_lost.map_or(begin.time, |first| first.min(begin.time)));
    };
    for (step, point) in steps {
        match step {
            Step::Begin => {
                if let Some(earlier) = open.insert(point.request, point) {
                    lose(&mut found, earlier);
                }
            }
            Step::End => {
                if let Some(begin) = open.remove(&point.request) {
                    found.pairs.push((begin.index, point.index));
                }
            }
            Step::Cancel => {
                if let Some(begin) = open.remove(&point.request) {
                    found.cancelled.push(begin.index);
                }
            }
        }
    }
    let left: Vec<Point> = open.into_values().collect();
    for begin in left {
        lose(&mut found, begin);
    }
    found
}
