//! Timeline: what PEs did in each column of time, at the level of detail of the picture.
//!
//! A bin is a row and a column. It has the role that took most of its time, and the share of its PEs' time that was waiting. The time
//! of an operation is that of its outermost construct, as everywhere; other time of a main thread between its first and last event is
//! user code, and that of other threads inside of recorded regions.

use partune_analysis::{Wait, Waits};
use partune_base::{PeId, Span, Time};
use partune_trace::{PeKind, Role, Stream, Trace};
use rayon::prelude::*;

use crate::Fold;

/// What part of a run is seen, and how fine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub begin: Time,
    pub end: Time,
    /// Columns of equal length, at least one.
    pub columns: usize,
}

/// A row in a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// What took most of the time; none if nothing was recorded.
    pub role: Option<Role>,
    /// Waiting, as a share of the time of the row's PEs.
    pub waiting: f32,
}

/// The bins of a view, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    pub view: View,
    bins: Vec<Bin>,
}

/// Ticks by role in each column, and ticks of waiting.
struct Scratch {
    edges: Vec<Time>,
    roles: Vec<[i64; Role::ALL.len()]>,
    waiting: Vec<i64>,
}

impl View {
    /// The whole run.
    pub fn whole(trace: &Trace, columns: usize) -> View {
        View { begin: trace.begin(), end: trace.end(), columns }
    }

    /// Where a column begins; where the last one ends, for the column after it.
    pub fn edge(&self, column: usize) -> Time {
        let length = i128::from(self.end.since(self.begin).0);
        let columns = self.columns.max(1) as i128;
        Time::clamped(i128::from(self.begin.0) + length * (column as i128).min(columns) / columns)
    }

    /// Where a time is, as a share of the view: 0 at its begin, 1 at its end.
    pub fn position(&self, time: Time) -> f64 {
        let length = self.end.since(self.begin).0;
        if length == 0 { 0.0 } else { (time - self.begin).0 as f64 / length as f64 }
    }
}

impl Timeline {
    /// Linear in the operations of the PEs within the view, and in the visits of those that are no main threads; parallel over rows. A
    /// profile has no times, so its bins are empty.
    pub fn new(trace: &Trace, waits: &Waits, fold: &Fold, view: View) -> Timeline {
        let rows: Vec<&[PeId]> = fold.rows().collect();
        let bins: Vec<Vec<Bin>> = rows
            .into_par_iter()
            .map_init(
                || Scratch::new(&view),
                |scratch, pes| {
                    pes.iter().for_each(|pe| scratch.add(trace, waits, *pe));
                    scratch.take(pes.len())
                },
            )
            .collect();
        Timeline { view, bins: bins.concat() }
    }

    /// The bins of each row, from the first column on.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Bin]> {
        self.bins.chunks(self.view.columns.max(1))
    }
}

impl Scratch {
    fn new(view: &View) -> Scratch {
        let columns = view.columns.max(1);
        let edges = (0..=columns).map(|column| view.edge(column)).collect();
        Scratch { edges, roles: vec![[0; Role::ALL.len()]; columns], waiting: vec![0; columns] }
    }

    fn begin(&self) -> Time {
        self.edges[0]
    }

    fn end(&self) -> Time {
        self.edges[self.edges.len() - 1]
    }

    fn add(&mut self, trace: &Trace, waits: &Waits, pe: PeId) {
        let Some(stream) = trace.streams().get(pe) else { return };
        let main = trace.pes()[pe].thread == 0 && trace.pes()[pe].kind == PeKind::Cpu;
        if main && let (Some(begin), Some(end)) = (stream.begin(), stream.end()) {
            self.recorded(&mut 0, begin, end);
        } else if !main {
            self.visited(stream);
        }
        let visits = &stream.visits;
        // Operations do not overlap, so their exits are in order too.
        let first = stream.operations.partition_point(|visit| visits.exit[visit.index()] <= self.begin());
        let mut column = 0;
        for visit in &stream.operations[first..] {
            let (enter, exit) = (visits.enter[visit.index()], visits.exit[visit.index()]);
            if enter >= self.end() {
                break;
            }
            let role = trace.role_of(pe, *visit) as usize;
            self.spread(&mut column, enter, exit, |scratch, column, ticks| {
                scratch.roles[column][role] += ticks;
                scratch.roles[column][Role::User as usize] -= ticks;
            });
        }
        self.waiting(waits.of_pe(pe));
        self.waiting(waits.management_of_pe(pe));
    }

    /// Time inside of the outermost visits.
    fn visited(&mut self, stream: &Stream) {
        let (mut column, mut end) = (0, Time::MIN);
        for (enter, exit) in stream.visits.enter.iter().zip(&stream.visits.exit) {
            if *enter >= self.end() {
                break;
            }
            if *exit > end {
                self.recorded(&mut column, (*enter).max(end), *exit);
                end = *exit;
            }
        }
    }

    fn recorded(&mut self, column: &mut usize, begin: Time, end: Time) {
        self.spread(column, begin, end, |scratch, column, ticks| scratch.roles[column][Role::User as usize] += ticks);
    }

    fn waiting(&mut self, waits: &[Wait]) {
        let first = waits.partition_point(|wait| wait.end <= self.begin());
        let (mut column, end) = (0, self.end());
        for wait in waits[first..].iter().take_while(|wait| wait.begin < end) {
            self.spread(&mut column, wait.begin, wait.end, |scratch, column, ticks| scratch.waiting[column] += ticks);
        }
    }

    /// Deals an interval out to the columns it lies in. Begins must not run backwards between calls with one cursor.
    fn spread(&mut self, cursor: &mut usize, begin: Time, end: Time, add: impl Fn(&mut Scratch, usize, i64)) {
        let (begin, end) = (begin.max(self.begin()), end.min(self.end()));
        while *cursor + 2 < self.edges.len() && self.edges[*cursor + 1] <= begin {
            *cursor += 1;
        }
        let mut column = *cursor;
        while column + 1 < self.edges.len() && self.edges[column] < end {
            let ticks = end.min(self.edges[column + 1]).since(begin.max(self.edges[column]));
            add(self, column, ticks.0);
            column += 1;
        }
    }

    /// The bins of a row of so many PEs; empties the scratch.
    fn take(&mut self, pes: usize) -> Vec<Bin> {
        let columns = self.roles.len();
        (0..columns)
            .map(|column| {
                let ticks = std::mem::replace(&mut self.roles[column], [0; Role::ALL.len()]);
                let waiting = std::mem::take(&mut self.waiting[column]);
                let most = Role::ALL.iter().zip(ticks).filter(|(_, ticks)| *ticks > 0);
                let role = most.max_by_key(|(role, ticks)| (*ticks, std::cmp::Reverse(**role))).map(|(role, _)| *role);
                let all = self.edges[column + 1].since(self.edges[column]).0.saturating_mul(pes as i64);
                let waiting = if all > 0 { Span(waiting).0 as f32 / all as f32 } else { 0.0 };
                Bin { role, waiting }
            })
            .collect()
    }
}
