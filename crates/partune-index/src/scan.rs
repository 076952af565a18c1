//! One pass over the operations of every PE for those that only their role tells of: barriers, start-up and shut-down that no
//! row belongs to, waits for a value, and operations that meet those that they name.

use partune_base::{CallPathId, Table};
use partune_trace::{Completion, Participants, Region, RequestKind, Role, Stream, Trace, VisitIx};
use rayon::prelude::*;

/// What was found on one PE, in order.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Synchronisations of a world or team that no row of a collective begins or ends in.
    pub(crate) bare: Vec<(VisitIx, Role, Participants)>,
    pub(crate) value_waits: Vec<VisitIx>,
    /// Synchronisations with named PEs.
    pub(crate) named: Vec<VisitIx>,
}

impl Scan {
    /// Linear in operations; memory: 8 bytes an operation found.
    pub(crate) fn all(trace: &Trace) -> Vec<Scan> {
        let paths = trace.paths();
        let found = paths.ids().map(|path| Found::of(&trace.regions()[paths.region(path)])).collect();
        trace.streams().as_slice().par_iter().map(|stream| Scan::of(stream, &found)).collect()
    }

    fn of(stream: &Stream, found: &Table<CallPathId, Found>) -> Scan {
        let mut scan = Scan::default();
        let mut ends = Marks::new(stream.collectives.iter().map(|row| row.visit));
        let starts = stream.requests.iter().filter(|row| row.kind == RequestKind::CollectiveStarted);
        let mut starts = Marks::new(starts.map(|row| row.visit));
        for &operation in &stream.operations {
            match found[stream.visits.path[operation.index()]] {
                Found::Together(role, with) if !ends.reached(operation) && !starts.reached(operation) => {
                    scan.bare.push((operation, role, with));
                }
                Found::ValueWait => scan.value_waits.push(operation),
                Found::Named => scan.named.push(operation),
                Found::Together(..) | Found::Other => {}
            }
        }
        scan
    }
}

/// What operations of a call path are looked for as.
#[derive(Clone, Copy)]
enum Found {
    /// Its members can be found without a row.
    Together(Role, Participants),
    /// One that waits: a test looks and goes on.
    ValueWait,
    Named,
    Other,
}

impl Found {
    fn of(region: &Region) -> Found {
        let (role, with) = (region.role, region.participants);
        let is_whole = matches!(with, Participants::World | Participants::Group | Participants::Team);
        if is_whole
            && matches!(role, Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::Init | Role::Finalize)
        {
            Found::Together(role, with)
        } else if role == Role::GroupSync && with == Participants::Named {
            Found::Named
        } else if role == Role::WaitOnValue && region.completion != Completion::NonBlocking {
            Found::ValueWait
        } else {
            Found::Other
        }
    }
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
