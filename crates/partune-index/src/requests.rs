//! What became of requests: which event began what other event ended, within one PE.
//!
//! A request's number may be used again after its end, so begins and ends are walked in program order. A begin whose end is
//! not in the trace (truncated, or lost by the producer) is *lost*: what followed it on the same channel may be out of step.

use partune_base::Time;
use partune_trace::{CallPaths, NO_REQUEST, RequestKind, Stream, VisitIx};
use rustc_hash::FxHashMap;

/// What became of the begins of one kind of request on one PE that have no end.
#[derive(Debug, Default)]
pub(crate) struct Requests {
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

impl Point {
    fn order(&self) -> (Time, VisitIx) {
        (self.time, self.visit)
    }
}

/// Where a request's part in this PE began: the operation and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    pub(crate) time: Time,
    pub(crate) visit: VisitIx,
}

/// When each receive of a PE was posted; 20 bytes a receive while messages are matched.
pub(crate) struct Posts {
    pub(crate) origins: Vec<Origin>,
    /// All rows in the order of their posts.
    pub(crate) order: Vec<u32>,
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
        let posts = events(stream, RequestKind::RecvPosted);
        let mut row_of_post = vec![u32::MAX; stream.requests.len()];
        let found = pair(posts, ends, events(stream, RequestKind::Cancelled), |post, recv| {
            let event = &stream.requests[post as usize];
            origins[recv as usize] = Origin { time: event.time, visit: event.visit };
            row_of_post[post as usize] = recv;
        });
        let order = order(&origins, &row_of_post);
        Posts { origins, order, lost: found.lost, first_lost: found.first_lost }
    }
}

/// Rows in the order of their posts: those with a recorded post are in the order of those, the others in their own.
fn order(origins: &[Origin], row_of_post: &[u32]) -> Vec<u32> {
    let mut posted = vec![false; origins.len()];
    let mut recorded = row_of_post.iter().copied().filter(|row| *row != u32::MAX).peekable();
    for row in recorded.clone() {
        posted[row as usize] = true;
    }
    let mut others = (0..origins.len() as u32).filter(|row| !posted[*row as usize]).peekable();
    let mut order = Vec::with_capacity(origins.len());
    while let Some(&row) = others.peek() {
        let other = origins[row as usize];
        order.extend(std::iter::from_fn(|| recorded.next_if(|row| origins[*row as usize] <= other)));
        order.extend(others.next());
    }
    order.extend(recorded);
    order
}

impl Fates {
    pub(crate) fn of(stream: &Stream) -> Fates {
        if stream.sends.iter().all(|row| row.request == NO_REQUEST) {
            return Fates { completions: None, cancelled: Vec::new() };
        }
        let begins = stream.sends.iter().enumerate().map(|(i, row)| point(row.time, row.visit, row.request, i));
        let mut completions: Vec<VisitIx> =
            stream.sends.iter().map(|row| if row.request == NO_REQUEST { row.visit } else { VisitIx::NONE }).collect();
        let ends = events(stream, RequestKind::SendCompleted);
        let found = pair(begins, ends, events(stream, RequestKind::Cancelled), |send, end| {
            completions[send as usize] = stream.requests[end as usize].visit;
        });
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

/// Starts of the non-blocking collectives among a PE's rows: positions in `requests` and in `collectives`, in order of the latter.
pub(crate) fn collective_starts(stream: &Stream) -> (Vec<(u32, u32)>, Requests) {
    let ends = stream.collectives.iter().enumerate().map(|(i, row)| point(row.end, row.visit, row.request, i));
    let starts = events(stream, RequestKind::CollectiveStarted);
    let mut pairs = Vec::new();
    let found = pair(starts, ends, events(stream, RequestKind::Cancelled), |start, row| pairs.push((start, row)));
    pairs.sort_unstable_by_key(|(_, row)| *row);
    (pairs, found)
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

/// Puts ends to the last open begin of the same request, walking the three sequences together in program order. Each sequence is
/// in order of time, as the rows of a sealed trace are.
fn pair(
    begins: impl Iterator<Item = Point>,
    ends: impl Iterator<Item = Point>,
    cancels: impl Iterator<Item = Point>,
    mut found_pair: impl FnMut(u32, u32),
) -> Requests {
    let real = |point: &Point| point.request != NO_REQUEST;
    let mut begins = begins.filter(real).peekable();
    let mut found = Requests::default();
    if begins.peek().is_none() {
        return found;
    }
    let (mut ends, mut cancels) = (ends.filter(real).peekable(), cancels.filter(real).peekable());
    let mut open = Open::default();
    let lose = |found: &mut Requests, begin: Point| {
        found.lost += 1;
        found.first_lost = Some(found.first_lost.map_or(begin.time, |first| first.min(begin.time)));
    };
    loop {
        let next = [begins.peek(), ends.peek(), cancels.peek()];
        // At one moment of one operation, a begin comes first.
        let first = (0..3).filter(|step| next[*step].is_some()).min_by_key(|step| next[*step].map(Point::order));
        match first {
            Some(0) => {
                if let Some(begin) = begins.next()
                    && let Some(earlier) = open.insert(begin)
                {
                    lose(&mut found, earlier);
                }
            }
            Some(1) => {
                if let Some(end) = ends.next()
                    && let Some(begin) = open.remove(end.request)
                {
                    found_pair(begin.index, end.index);
                }
            }
            Some(_) => {
                if let Some(cancel) = cancels.next()
                    && let Some(begin) = open.remove(cancel.request)
                {
                    found.cancelled.push(begin.index);
                }
            }
            None => break,
        }
    }
    for begin in open.left() {
        lose(&mut found, begin);
    }
    found
}

/// Requests that have begun and not ended: searched while they are few, hashed when they are many.
#[derive(Default)]
struct Open {
    few: Vec<Point>,
    many: FxHashMap<u64, Point>,
}

impl Open {
    const FEW: usize = 24;

    /// Opens a request; returns an earlier begin of the same that had not ended.
    fn insert(&mut self, begin: Point) -> Option<Point> {
        let earlier = self.remove(begin.request);
        if self.many.is_empty() && self.few.len() < Self::FEW {
            self.few.push(begin);
        } else {
            self.many.extend(self.few.drain(..).map(|point| (point.request, point)));
            self.many.insert(begin.request, begin);
        }
        earlier
    }

    fn remove(&mut self, request: u64) -> Option<Point> {
        if !self.many.is_empty() {
            return self.many.remove(&request);
        }
        let at = self.few.iter().position(|point| point.request == request)?;
        Some(self.few.swap_remove(at))
    }

    /// Those that never ended, in no order.
    fn left(self) -> Vec<Point> {
        self.few.into_iter().chain(self.many.into_values()).collect()
    }
}
