//! One pass over the operations of every PE for those that only their role tells of: barriers, start-up and shut-down that no
//! row belongs to, and waits for a value.

use partune_base::{CallPathId, Table};
use partune_trace::{RequestKind, Role, Stream, Trace, VisitIx};
use rayon::prelude::*;

/// What was found on one PE, in order.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Operations of a group that no row of a collective begins or ends in.
    pub(crate) bare: Vec<(VisitIx, Role)>,
    pub(crate) value_waits: Vec<VisitIx>,
}

impl Scan {
    /// Linear in operations; memory: 8 bytes an operation found.
    pub(crate) fn all(trace: &Trace) -> Vec<Scan> {
        let roles = roles(trace);
        trace.streams().as_slice().par_iter().map(|stream| Scan::of(stream, &roles)).collect()
    }

    fn of(stream: &Stream, roles: &Table<CallPathId, Role>) -> Scan {
        let mut scan = Scan::default();
        let mut ends = Marks::new(stream.collectives.iter().map(|row| row.visit));
        let starts = stream.requests.iter().filter(|row| row.kind == RequestKind::CollectiveStarted);
        let mut starts = Marks::new(starts.map(|row| row.visit));
        for &operation in &stream.operations {
            let role = roles[stream.visits.path[operation.index()]];
            if is_of_group(role) && !ends.reached(operation) && !starts.reached(operation) {
                scan.bare.push((operation, role));
            } else if role == Role::WaitOnValue {
                scan.value_waits.push(operation);
            }
        }
        scan
    }
}

/// Whether the members of an operation can be found by its role alone.
fn is_of_group(role: Role) -> bool {
    matches!(role, Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::Init | Role::Finalize)
}

/// The role of every call path.
pub(crate) fn roles(trace: &Trace) -> Table<CallPathId, Role> {
    let paths = trace.paths();
    paths.ids().map(|path| trace.regions()[paths.region(path)].role).collect()
}

/// Visits of rows, which are in order like the operations that are looked up.
struct Marks<I: Iterator<Item = VisitIx>> {
    visits: std::iter::Peekable<I>,
}

impl<I: Iterator<Item = VisitIx>> Marks<I> {
    fn new(visits: I) -> Self {
        Self { visits: visits.peekable() }
    }

    /// Whether a row belongs to this operation; operations are asked in order.
    fn reached(&mut self, operation: VisitIx) -> bool {
        while self.visits.next_if(|visit| *visit < operation || !visit.is_some()).is_some() {}
        self.visits.peek() == Some(&operation)
    }
}
