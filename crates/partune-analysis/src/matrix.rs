//! Communication matrix: bytes, count and time between every two PEs that exchange data, sparse.
//!
//! A message's time begins when both its send and its receive are there and ends with the receive; a one-sided access lasts
//! from its start to its completion. So waiting for each other is not in it.

use partune_base::{Id, PeId, Span};
use partune_trace::RmaTransferKind;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::queries::{Query, add_rows};
use crate::receptions::Receptions;
use crate::{
    Analysis, AnalysisResult, Input, Needs, Outcome, Pair, Section, SectionShape, Shape, TableShape, profile_matrix,
};

/// Rows of the table.
const ROWS: usize = 100_000;

pub(crate) static MATRIX: Analysis = Analysis {
    name: "matrix",
    title: "Who sends how much to whom (communication matrix)",
    docs: DOCS,
    finds: false,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "matrix",
    scalars: &[],
    tables: &[
        TableShape {
            name: "exchanged",
            columns: &[
                ("pe", Shape::Pe),
                ("transfers", Shape::Count),
                ("sent", Shape::BYTES),
                ("received", Shape::BYTES),
            ],
        },
        TableShape {
            name: "communication",
            columns: &[
                ("from", Shape::Pe),
                ("to", Shape::Pe),
                ("messages", Shape::Count),
                ("rma", Shape::Count),
                ("bytes", Shape::BYTES),
                ("seconds", Shape::SECONDS),
            ],
        },
    ],
}];

const DOCS: &str = "\
# Communication matrix

One row for each pair of PEs that exchange data, from the one that gives (sender, put's origin, get's target) to the one that
gets. `messages` and `rma` count messages and one-sided accesses; atomics go from origin to target.

The time of a message is *receive's exit − max(send's enter, receive's enter)*, at least zero: what it takes once both are
there. Accesses last from the enter of the call that started them until they were complete: one that blocks until its call came
back, any other put or atomic until it was done at its target, if that was recorded. Messages whose partner is not in the archive count at the sender
with time zero. Collectives are not in it.

The table lists at most 100,000 pairs, most bytes first. A profile does not keep pairs: of it the table `exchanged` has what each PE sent and
received by messages and one-sided accesses.
";

/// Sums of one direction between two PEs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Cell {
    messages: u64,
    accesses: u64,
    bytes: u64,
    time: Span,
}

/// Cells of one PE as a dense row that is used again, and those that are not empty.
struct Row {
    cells: Vec<Cell>,
    touched: Vec<PeId>,
}

impl Row {
    fn cell(&mut self, pe: PeId) -> &mut Cell {
        let cell = &mut self.cells[pe.index()];
        if cell.messages + cell.accesses == 0 {
            self.touched.push(pe);
        }
        cell
    }

    fn take(&mut self) -> Vec<(PeId, Cell)> {
        self.touched.sort_unstable();
        let cells = &mut self.cells;
        self.touched.drain(..).map(|pe| (pe, std::mem::take(&mut cells[pe.index()]))).collect()
    }
}

/// All cells that are not empty, in order of pairs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Exchanges(Vec<(PeId, PeId, Cell)>);

impl Query for Exchanges {
    fn of(input: &Input<'_>) -> Exchanges {
        let receptions = input.receptions();
        let pes: Vec<PeId> = input.trace.pes().ids().collect();
        let row = || Row { cells: vec![Cell::default(); pes.len()], touched: Vec::new() };
        let rows: Vec<Vec<(PeId, PeId, Cell)>> =
            pes.par_iter().map_init(row, |row, pe| exchanges(input, receptions, *pe, row)).collect();
        // Gets go towards the PE whose row they are in, all else from it, so a pair can come twice.
        let mut exchanges = Exchanges(Vec::new());
        exchanges.add(Exchanges(rows.into_iter().flatten().collect()));
        exchanges
    }

    fn add(&mut self, next: Exchanges) {
        add_rows(
            &mut self.0,
            next.0,
            |(from, to, _)| (*from, *to),
            |(_, _, sum), (_, _, more)| {
                sum.messages += more.messages;
                sum.accesses += more.accesses;
                sum.bytes = sum.bytes.saturating_add(more.bytes);
                sum.time += more.time;
            },
        );
    }
}

impl Input<'_> {
    /// What PEs gave each other, in order of pairs: who, to whom, how often, how many bytes, and how long that took.
    pub fn given(&self) -> impl Iterator<Item = (PeId, PeId, u64, u64, Span)> {
        let pair =
            |(from, to, cell): &(PeId, PeId, Cell)| (*from, *to, cell.messages + cell.accesses, cell.bytes, cell.time);
        self.exchanges().0.iter().map(pair)
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    if let Some(profile) = trace.profile() {
        return profile_matrix::run(trace, profile);
    }
    let mut cells = input.exchanges().0.clone();
    if cells.is_empty() {
        return Outcome::default();
    }
    cells.sort_by_key(|(from, to, cell)| (std::cmp::Reverse((cell.bytes, cell.messages + cell.accesses)), *from, *to));
    let mut section = Section { name: "matrix", ..Section::default() };
    if cells.len() > ROWS {
        section.notes.push(format!("the table lists the first {ROWS} of {} pairs, by bytes", cells.len()));
        cells.truncate(ROWS);
    }
    let pair = |&(from, to, cell): &(PeId, PeId, Cell)| {
        let Cell { messages, accesses, bytes, time } = cell;
        Pair { from, to, messages, accesses, bytes, seconds: trace.clock().seconds(time) }
    };
    let pairs: Vec<Pair> = cells.iter().map(pair).collect();
    section.tables.push(Pair::table(&pairs, "communication"));
    section.result = Some(AnalysisResult::Pairs(pairs));
    Outcome { findings: Vec::new(), sections: vec![section] }
}

/// What a PE started to give to others, and to get from them by itself.
fn exchanges(input: &Input<'_>, receptions: &Receptions, pe: PeId, row: &mut Row) -> Vec<(PeId, PeId, Cell)> {
    let trace = input.trace;
    let stream = &trace.streams()[pe];
    for (index, send) in stream.sends.iter().enumerate().filter(|(_, send)| send.peer.is_some()) {
        let cell = row.cell(send.peer);
        cell.messages += 1;
        cell.bytes = cell.bytes.saturating_add(send.bytes);
        if let Some(message) = input.index.messages.number_of_send(pe, index) {
            cell.time += receptions.of(message).took;
        }
    }
    let mut cells: Vec<(PeId, PeId, Cell)> = row.take().into_iter().map(|(to, cell)| (pe, to, cell)).collect();
    for gets in [false, true] {
        for transfer in input.index.rma.of_pe(pe) {
            let Some(access) = stream.transfers.get(transfer.row as usize).filter(|access| access.target.is_some())
            else {
                continue;
            };
            if (access.kind == RmaTransferKind::Get) == gets {
                let cell = row.cell(access.target);
                cell.accesses += 1;
                cell.bytes = cell.bytes.saturating_add(access.bytes);
                let begin = if transfer.start.is_some() { stream.visits.at(transfer.start).enter } else { access.time };
                cell.time += transfer.completed.since(begin);
            }
        }
        let pair = |other: PeId| if gets { (other, pe) } else { (pe, other) };
        cells.extend(row.take().into_iter().map(|(other, cell)| (pair(other).0, pair(other).1, cell)));
    }
    cells
}
