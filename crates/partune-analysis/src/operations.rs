//! Operations: how often, how long, how many bytes and how much of it waiting, by role and by call path.
//!
//! duration = exit − enter; waiting = the program-induced delay inside (theory 6.1; Su, "Parallel Performance Wizard", figures
//! 4-4 to 4-7); the rest is transfer and overhead of the library: what a better network or fewer calls would change.

use partune_base::{CallPathId, PeId, Span, Table};
use partune_trace::{Role, Stream, Trace, VisitIx};
use rayon::prelude::*;

use crate::times::path_times;
use crate::useful::role_of_path;
use crate::{Analysis, Column, DataTable, Input, Outcome, Section, Unit, Values};

/// Rows of the table of places.
const ROWS: usize = 1000;

pub(crate) static OPERATIONS: Analysis = Analysis {
    name: "operations",
    title: "Operations by role and by place: count, time, bytes, waiting",
    docs: DOCS,
    run,
};

const DOCS: &str = "\
# Operations

Every operation lasts from its enter to its exit. What other PEs' behaviour cost it is *waiting*; the rest is *transfer*: moving
data and the library's own work. Non-blocking operations are two: their start, and the operation that completes them.

`roles` sums by what constructs do, `operations` by call path (at most 1000, longest first). `bytes` counts what an operation
started to send, received, contributed to and got from a collective, or accessed in another PE's memory; `mean` is the mean
duration of one operation.

**Source**: generic operation types, durations and delays of PPW (Su, chapter 4, figures 4-4 to 4-7).
";

/// Sums of the operations of one place or role.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: u64,
    time: Span,
    waiting: Span,
    bytes: u64,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.count += other.count;
        self.time += other.time;
        self.waiting += other.waiting;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let mut places: Table<CallPathId, Sums> = Table::filled(trace.paths().len(), Sums::default());
    for row in path_times(trace).iter().flatten().filter(|row| trace.paths().operation(row.path) == row.path) {
        places[row.path].add(&Sums { count: row.visits, time: row.inclusive, ..Sums::default() });
    }
    let bytes: Vec<Vec<(CallPathId, u64)>> = trace.streams().as_slice().par_iter().map(bytes_by_path).collect();
    for (path, bytes) in bytes.into_iter().flatten() {
        places[path].bytes = places[path].bytes.saturating_add(bytes);
    }
    for wait in input.waits {
        places[path_at(trace, wait.pe, wait.operation)].waiting += wait.duration();
    }
    let mut roles = Role::ALL.map(|role| (role, Sums::default()));
    let mut rows = Vec::new();
    for (path, sums) in places.iter_ids().filter(|(_, sums)| sums.count > 0) {
        let role = role_of_path(trace, path);
        if let Some((_, of_role)) = roles.iter_mut().find(|(it, _)| *it == role) {
            of_role.add(sums);
        }
        rows.push((path, *sums));
    }
    if rows.is_empty() {
        return Outcome::default();
    }
    rows.sort_unstable_by_key(|(path, sums)| (std::cmp::Reverse(sums.time), *path));
    let mut section = Section { name: "operations", ..Section::default() };
    if rows.len() > ROWS {
        section.notes.push(format!("the table lists the longest {ROWS} of {} places", rows.len()));
        rows.truncate(ROWS);
    }
    let roles: Vec<(Role, Sums)> = roles.into_iter().filter(|(_, sums)| sums.count > 0).collect();
    let names = roles.iter().map(|(role, _)| role.name()).collect();
    let sums: Vec<Sums> = roles.iter().map(|(_, sums)| *sums).collect();
    section.tables.push(table(trace, "roles", vec![Column::new("role", Values::Word(names))], &sums));
    let words = rows.iter().map(|(path, _)| role_of_path(trace, *path).name()).collect();
    let (paths, sums): (Vec<CallPathId>, Vec<Sums>) = rows.into_iter().unzip();
    let keys = vec![Column::new("callpath", Values::Path(paths)), Column::new("role", Values::Word(words))];
    section.tables.push(table(trace, "operations", keys, &sums));
    Outcome { findings: Vec::new(), sections: vec![section] }
}

fn path_at(trace: &Trace, pe: PeId, visit: VisitIx) -> CallPathId {
    trace.streams()[pe].visits.path[visit.index()]
}

/// Bytes that the operations of a PE moved, in order of rows; equal neighbours are one.
fn bytes_by_path(stream: &Stream) -> Vec<(CallPathId, u64)> {
    let mut sums: Vec<(CallPathId, u64)> = Vec::new();
    let mut add = |visit: VisitIx, bytes: u64| {
        let Some(visit) = visit.some() else { return };
        let path = stream.visits.path[visit.index()];
        match sums.iter_mut().rev().take(8).find(|(last, _)| *last == path) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => sums.push((path, bytes)),
        }
    };
    stream.sends.iter().for_each(|row| add(row.visit, row.bytes));
    stream.recvs.iter().for_each(|row| add(row.visit, row.bytes));
    stream.collectives.iter().for_each(|row| add(row.visit, row.sent.saturating_add(row.received)));
    stream.transfers.iter().for_each(|row| add(row.visit, row.bytes));
    stream.io.iter().for_each(|row| add(row.visit, row.bytes));
    sums
}

fn table(trace: &Trace, name: &'static str, mut columns: Vec<Column>, rows: &[Sums]) -> DataTable {
    let clock = trace.clock();
    let seconds = |of: &dyn Fn(&Sums) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    columns.push(Column::new("count", Values::Count(rows.iter().map(|sums| sums.count).collect())));
    columns.push(Column::seconds("seconds", seconds(&|sums| clock.seconds(sums.time))));
    columns.push(Column::seconds("waiting", seconds(&|sums| clock.seconds(sums.waiting))));
    columns.push(Column::seconds("transfer", seconds(&|sums| clock.seconds(sums.time - sums.waiting))));
    columns.push(Column::seconds("mean", seconds(&|sums| clock.seconds(sums.time) / sums.count.max(1) as f64)));
    columns
        .push(Column::new("bytes", Values::Number(Unit::Bytes, rows.iter().map(|sums| sums.bytes as f64).collect())));
    DataTable { name, columns }
}
