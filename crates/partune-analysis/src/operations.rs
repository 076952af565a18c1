//! Operations: how often, how long, how many bytes and how much of it waiting, by role and by call path.
//!
//! duration = exit − enter; waiting = the program-induced delay inside (theory 6.1; Su, "Parallel Performance Wizard", figures
//! 4-4 to 4-7); the rest is transfer and overhead of the library: what a better network or fewer calls would change.

use partune_base::{CallPathId, PeId, Span, Table};
use partune_trace::{Role, Trace, VisitIx};
use serde::{Deserialize, Serialize};

use crate::queries::Query;
use crate::sums::OperationSums;
use crate::useful::role_of_path;
use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Section, SectionShape, Shape, TableShape, Values,
    top_operations,
};

/// Rows of the table of places.
const ROWS: usize = 1000;

pub(crate) static OPERATIONS: Analysis = Analysis {
    name: "operations",
    title: "Operations by role and by place: count, time, bytes, waiting",
    docs: DOCS,
    finds: false,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[
    SectionShape {
        name: "operations",
        scalars: &[],
        tables: &[
            TableShape {
                name: "roles",
                columns: &[
                    ("role", Shape::Word),
                    ("count", Shape::Count),
                    ("seconds", Shape::SECONDS),
                    ("waiting", Shape::SECONDS),
                    ("transfer", Shape::SECONDS),
                    ("mean", Shape::SECONDS),
                    ("shortest", Shape::SECONDS),
                    ("longest", Shape::SECONDS),
                    ("transfers", Shape::Count),
                    ("bytes", Shape::BYTES),
                ],
            },
            TableShape {
                name: "operations",
                columns: &[
                    ("callpath", Shape::Path),
                    ("role", Shape::Word),
                    ("count", Shape::Count),
                    ("seconds", Shape::SECONDS),
                    ("waiting", Shape::SECONDS),
                    ("transfer", Shape::SECONDS),
                    ("mean", Shape::SECONDS),
                    ("shortest", Shape::SECONDS),
                    ("longest", Shape::SECONDS),
                    ("transfers", Shape::Count),
                    ("bytes", Shape::BYTES),
                ],
            },
        ],
    },
    SectionShape {
        name: "top_operations",
        scalars: &[],
        tables: &[TableShape {
            name: "top_operations",
            columns: &[
                ("construct", Shape::Construct),
                ("role", Shape::Word),
                ("count", Shape::Count),
                ("seconds", Shape::SECONDS),
                ("waiting", Shape::SECONDS),
                ("bytes", Shape::BYTES),
                ("share", Shape::RATIO),
            ],
        }],
    },
];

const DOCS: &str = "\
# Operations

Every operation lasts from its enter to its exit. What other PEs' behaviour cost it is *waiting*; the rest is *transfer*: moving
data and the library's own work. Non-blocking operations are two: their start, and the operation that completes them.

`roles` sums by what constructs do, `operations` by call path (at most 1000, longest first). `bytes` counts what an operation
started to send, received, contributed to and got from a collective, or accessed in another PE's memory, in so many `transfers`;
`mean`, `shortest` and `longest` are durations of one operation. A profile does not tell what is waiting, so these columns are missing
there.

`top_operations` is the table of the first screen: one row a construct, longest first, of what PEs of CPUs spent in it between start-up and shut-down.
`share` is of the run on all PEs; all rows together are what the account of time has as waiting, for others, for devices or in start-up, as transfer and as
input and output.

**Source**: generic operation types, durations and delays of PPW (Su, chapter 4, figures 4-4 to 4-7).
";

/// Sums of the operations of one place or role.
#[derive(Clone, Copy, Default)]
struct Sums {
    own: OperationSums,
    waiting: Span,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.own.merge(&other.own);
        self.waiting += other.waiting;
    }
}

/// Waiting by call path, over all PEs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Waiting(pub(crate) Table<CallPathId, Span>);

impl Query for Waiting {
    fn of(input: &Input<'_>) -> Waiting {
        let mut waiting = Table::filled(input.trace.paths().len(), Span::ZERO);
        for wait in input.waits {
            waiting[path_at(input.trace, wait.pe, wait.operation)] += wait.duration();
        }
        Waiting(waiting)
    }

    fn add(&mut self, next: Waiting) {
        self.0.iter_mut().zip(&next.0).for_each(|(sum, next)| *sum += *next);
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let mut places: Table<CallPathId, Sums> =
        input.operations().iter().map(|own| Sums { own: *own, waiting: Span::ZERO }).collect();
    places.iter_mut().zip(&input.waiting().0).for_each(|(place, waiting)| place.waiting += *waiting);
    let mut roles = Role::ALL.map(|role| (role, Sums::default()));
    let mut rows = Vec::new();
    for (path, sums) in places.iter_ids().filter(|(_, sums)| sums.own.count > 0) {
        let role = role_of_path(trace, path);
        if let Some((_, of_role)) = roles.iter_mut().find(|(it, _)| *it == role) {
            of_role.add(sums);
        }
        rows.push((path, *sums));
    }
    if rows.is_empty() {
        return Outcome::default();
    }
    rows.sort_unstable_by_key(|(path, sums)| (std::cmp::Reverse(sums.own.time), *path));
    let mut section = Section { name: "operations", ..Section::default() };
    if rows.len() > ROWS {
        section.notes.push(format!("the table lists the longest {ROWS} of {} places", rows.len()));
        rows.truncate(ROWS);
    }
    let roles: Vec<(Role, Sums)> = roles.into_iter().filter(|(_, sums)| sums.own.count > 0).collect();
    let names = roles.iter().map(|(role, _)| role.name()).collect();
    let sums: Vec<Sums> = roles.iter().map(|(_, sums)| *sums).collect();
    section.tables.push(table(trace, "roles", vec![Column::new("role", Values::Word(names))], &sums));
    let words = rows.iter().map(|(path, _)| role_of_path(trace, *path).name()).collect();
    let (paths, sums): (Vec<CallPathId>, Vec<Sums>) = rows.into_iter().unzip();
    let keys = vec![Column::new("callpath", Values::Path(paths)), Column::new("role", Values::Word(words))];
    section.tables.push(table(trace, "operations", keys, &sums));
    let sections = std::iter::once(section).chain(top_operations::section(input)).collect();
    Outcome { findings: Vec::new(), sections }
}

fn path_at(trace: &Trace, pe: PeId, visit: VisitIx) -> CallPathId {
    trace.streams()[pe].visits.path[visit.index()]
}

fn table(trace: &Trace, name: &'static str, mut columns: Vec<Column>, rows: &[Sums]) -> DataTable {
    let clock = trace.clock();
    let seconds = |of: &dyn Fn(&Sums) -> Span| rows.iter().map(|sums| clock.seconds(of(sums))).collect::<Vec<f64>>();
    let count = |of: &dyn Fn(&OperationSums) -> u64| Values::Count(rows.iter().map(|sums| of(&sums.own)).collect());
    columns.push(Column::new("count", count(&|it| it.count)));
    columns.push(Column::seconds("seconds", seconds(&|sums| sums.own.time)));
    // A profile does not tell what was waiting; no figure is better than a wrong one.
    if trace.profile().is_none() {
        columns.push(Column::seconds("waiting", seconds(&|sums| sums.waiting)));
        columns.push(Column::seconds("transfer", seconds(&|sums| sums.own.time - sums.waiting)));
    }
    let mean = rows.iter().map(|sums| clock.seconds(sums.own.time) / sums.own.count.max(1) as f64).collect();
    columns.push(Column::seconds("mean", mean));
    columns.push(Column::seconds("shortest", seconds(&|sums| sums.own.min)));
    columns.push(Column::seconds("longest", seconds(&|sums| sums.own.max)));
    columns.push(Column::new("transfers", count(&|it| it.transfers.count)));
    let bytes = rows.iter().map(|sums| sums.own.transfers.bytes() as f64).collect();
    columns.push(Column::bytes("bytes", bytes));
    DataTable { name, columns }
}
