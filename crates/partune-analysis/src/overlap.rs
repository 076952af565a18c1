//! Accesses that did not block: what of their transfer was not overlapped by anything else, and what of that was delay.
//!
//! SB and SE are the begin and the end of the operation that completed an access, TC is when it was complete, TB when its
//! transfer began, which no recorder tells. Su, "Parallel Performance Wizard", figure 4-5.

use partune_base::{CallPathId, PeId, Span};
use partune_trace::{RmaTransfer, RmaTransferKind, Role};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::machine_baselines::MachineBaselines;
use crate::useful::role_of_path;
use crate::waits::{asks, completed};
use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Pattern, Section, SectionShape, Shape, TableShape, Unit,
    Values, Wait,
};

pub(crate) static OVERLAP: Analysis = Analysis {
    name: "overlap",
    title: "Accesses that did not block: what of their transfer was not overlapped",
    docs: DOCS,
    finds: false,
    needs: Needs::Events,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "overlap",
    scalars: &[],
    tables: &[TableShape {
        name: "overlap",
        columns: &[
            ("callpath", Shape::Path),
            ("synchronisation", Shape::Word),
            ("count", Shape::Count),
            ("seconds", Shape::SECONDS),
            ("accesses", Shape::Count),
            ("bytes", Shape::BYTES),
            ("transfer", Shape::SECONDS),
            ("not_overlapped", Shape::SECONDS),
            ("delay_least", Shape::SECONDS),
            ("delay_most", Shape::SECONDS),
        ],
    }],
}];

const DOCS: &str = "\
# Overlap of accesses that did not block

A put, get or atomic that came back before it was complete is completed by a later operation: SB is that one's begin. One row for each
call path of such operations, over all PEs.

| column | |
|---|---|
| `synchronisation` | *explicit*: the operation is there to complete accesses (fence, quiet, wait for a handle, end of an epoch, unlock of a window); *implicit*: it is a barrier or another collective |
| `count`, `seconds` | operations, and how long they took |
| `accesses`, `bytes` | what they completed |
| `transfer` | Σ (TC − enter of the call that started the access) |
| `not_overlapped` | Σ over operations (TC of the last access − SB): transfer that nothing hid |
| `delay_least`, `delay_most` | what of it other PEs' behaviour cost |

TC is when an access was complete: a put or atomic at its target, if that was recorded. Recorders mostly write it at the end of
the operation, so it is an upper bound, and so are the figures made of it.

PPW's delay is TC − SB for *implicit* accesses; it is a wait as well (`competing_put_get`), but for the time in which the barrier
waited for another PE. For *explicit* ones it is TB − SB, until the transfer begins. No archive has TB. A transfer takes
at least its baseline, so TB ≤ TC − baseline(bytes) and the delay lies between zero and TC − SB − baseline(bytes) of the access that
makes this largest; without a machine (`--machine`) the baseline is taken as zero.

Accesses whose completion is not recorded are not in the table.

**Source**: durations and delays of one-sided operations in PPW (Su, chapter 4, figure 4-5).
";

/// Sums of one call path.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    time: Span,
    accesses: u64,
    bytes: u64,
    transfer: Span,
    exposed: Span,
    least: Span,
    most: Span,
}

impl Sums {
    fn merge(&mut self, other: &Sums) {
        self.count += other.count;
        self.time += other.time;
        self.accesses += other.accesses;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.transfer += other.transfer;
        self.exposed += other.exposed;
        self.least += other.least;
        self.most += other.most;
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let pes: Vec<PeId> = input.trace.pes().ids().collect();
    let parts: Vec<FxHashMap<CallPathId, Sums>> = pes.par_iter().map(|pe| of_pe(input, *pe)).collect();
    let mut rows: Vec<(CallPathId, Sums)> = parts.into_iter().flatten().collect();
    rows.sort_by_key(|(path, _)| *path);
    rows.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1.merge(&later.1);
        }
        same
    });
    if rows.is_empty() {
        return Outcome::default();
    }
    rows.sort_by_key(|(path, sums)| (std::cmp::Reverse(sums.exposed), *path));
    let section = Section { name: "overlap", tables: vec![table(input, &rows)], ..Section::default() };
    Outcome { findings: Vec::new(), sections: vec![section] }
}

fn of_pe(input: &Input<'_>, pe: PeId) -> FxHashMap<CallPathId, Sums> {
    let trace = input.trace;
    let stream = &trace.streams()[pe];
    let machine = MachineBaselines::new(trace, input.options.machine.as_ref());
    let mut waits = input.waits.of_pe(pe);
    let mut sums: FxHashMap<CallPathId, Sums> = FxHashMap::default();
    completed(trace, input.index, pe, |it| {
        let visit = trace.visit(pe, it.operation);
        let mut own = Sums { count: 1, time: visit.duration(), exposed: it.last.since(visit.enter), ..Sums::default() };
        for number in it.transfers {
            let transfer = &input.index.rma.transfers[*number as usize];
            let Some(row) = stream.transfers.get(transfer.row as usize) else { continue };
            let begin = stream.visits.get(transfer.start).map_or(row.time, |start| start.enter);
            own.accesses += 1;
            own.bytes = own.bytes.saturating_add(row.bytes);
            own.transfer += transfer.completed.since(begin);
            let exposed = transfer.completed.since(visit.enter) - needed(input, &machine, visit.path, row);
            own.most = own.most.max(exposed);
        }
        own.most = own.most.min(own.exposed);
        if !asks(role_of_path(trace, visit.path)) {
            // As long as the wait that was made of it.
            while waits.first().is_some_and(|wait| wait.operation < it.operation) {
                waits = &waits[1..];
            }
            let of_operation = waits.iter().take_while(|wait| wait.operation == it.operation);
            let delays = of_operation.filter(|wait| wait.pattern == Pattern::CompetingPutGet);
            own.least = delays.map(Wait::duration).sum();
            own.most = own.least;
        }
        sums.entry(visit.path).or_default().merge(&own);
    });
    sums
}

/// What a transfer takes at least, as far as the machine is known.
fn needed(input: &Input<'_>, machine: &MachineBaselines<'_>, path: CallPathId, row: &RmaTransfer) -> Span {
    let role = match row.kind {
        RmaTransferKind::Put => Role::Put,
        RmaTransferKind::Get => Role::Get,
        RmaTransferKind::Atomic => Role::Atomic,
    };
    let seconds = machine.of_role(input.trace, path, role).seconds(row.bytes, 2).unwrap_or(0.0);
    Span((seconds * input.trace.clock().ticks_per_second() as f64).round() as i64)
}

fn table(input: &Input<'_>, rows: &[(CallPathId, Sums)]) -> DataTable {
    let clock = input.trace.clock();
    let seconds =
        |of: &dyn Fn(&Sums) -> Span| rows.iter().map(|(_, sums)| clock.seconds(of(sums))).collect::<Vec<f64>>();
    let count = |of: &dyn Fn(&Sums) -> u64| Values::Count(rows.iter().map(|(_, sums)| of(sums)).collect());
    let word = |path: CallPathId| if asks(role_of_path(input.trace, path)) { "explicit" } else { "implicit" };
    DataTable {
        name: "overlap",
        columns: vec![
            Column::new("callpath", Values::Path(rows.iter().map(|(path, _)| *path).collect())),
            Column::new("synchronisation", Values::Word(rows.iter().map(|(path, _)| word(*path)).collect())),
            Column::new("count", count(&|sums| sums.count)),
            Column::seconds("seconds", seconds(&|sums| sums.time)),
            Column::new("accesses", count(&|sums| sums.accesses)),
            Column::new("bytes", Values::Number(Unit::Bytes, rows.iter().map(|(_, sums)| sums.bytes as f64).collect())),
            Column::seconds("transfer", seconds(&|sums| sums.transfer)),
            Column::seconds("not_overlapped", seconds(&|sums| sums.exposed)),
            Column::seconds("delay_least", seconds(&|sums| sums.least)),
            Column::seconds("delay_most", seconds(&|sums| sums.most)),
        ],
    }
}
