//! What a PE is doing, moment by moment: its visits as intervals that follow each other, in one pass.

use partune_base::{CallPathId, Table, Time};
use partune_trace::{Role, Stream, Trace, VisitIx};

/// What a call path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Code of the user's, on this path; none outside of all that was recorded.
    Work(CallPathId),
    /// An operation: its outermost visit.
    Operation(VisitIx),
    /// Nothing: a thread between the regions that it runs.
    Idle,
}

/// Whether each call path is inside of an operation. Bodies of locks and of tasks are the user's, wherever they run.
pub(crate) fn operating(trace: &Trace) -> Table<CallPathId, bool> {
    let paths = trace.paths();
    let mut operating: Table<CallPathId, bool> = Table::new();
    for path in paths.ids() {
        let role = trace.regions()[paths.region(path)].role;
        let parent = paths.parent(path).some().is_some_and(|parent| operating[parent]);
        let inside = role != Role::TaskRun && !paths.is_lock_body(path) && (parent || !role.is_transparent());
        operating.push(inside);
    }
    operating
}

/// Shows a sweep what a PE does.
pub(crate) trait Watch {
    /// From where the last one ended to `until`.
    fn goes_on(&mut self, until: Time, doing: Doing);
    /// An operation begins, or ends: also one that took no time.
    fn begins(&mut self, at: Time, operation: VisitIx);
    fn ends(&mut self, at: Time, operation: VisitIx);
}

/// One visit that is open.
#[derive(Clone, Copy)]
struct Open {
    exit: Time,
    doing: Doing,
    /// It begins an operation.
    opens: Option<VisitIx>,
}

/// Goes over the visits of a PE in the order of time. Linear.
pub(crate) fn sweep(stream: &Stream, operating: &Table<CallPathId, bool>, outside: Doing, watch: &mut impl Watch) {
    let visits = &stream.visits;
    let mut open: Vec<Open> = Vec::new();
    let close = |open: &mut Vec<Open>, watch: &mut dyn FnMut(Open)| {
        if let Some(last) = open.pop() {
            watch(last);
        }
    };
    for index in 0..visits.len() {
        let (enter, path) = (visits.enter[index], visits.path[index]);
        while open.last().is_some_and(|last| last.exit <= enter) {
            close(&mut open, &mut |last| leave(watch, last));
        }
        let around = open.last().map_or(outside, |last| last.doing);
        watch.goes_on(enter, around);
        let visit = VisitIx(index as u32);
        let (doing, opens) = match around {
            Doing::Operation(_) if operating[path] => (around, None),
            _ if operating[path] => (Doing::Operation(visit), Some(visit)),
            _ => (Doing::Work(path), None),
        };
        if opens.is_some() {
            watch.begins(enter, visit);
        }
        open.push(Open { exit: visits.exit[index], doing, opens });
    }
    while !open.is_empty() {
        close(&mut open, &mut |last| leave(watch, last));
    }
    if let Some(end) = stream.end() {
        watch.goes_on(end, outside);
    }
}

fn leave(watch: &mut impl Watch, last: Open) {
    watch.goes_on(last.exit, last.doing);
    if let Some(visit) = last.opens {
        watch.ends(last.exit, visit);
    }
}
