//! What the operations of a run should have taken on the machine that the user gave, beside what they took.
//!
//! Each operation is looked up by its paradigm and role, the bytes that its PE gave or got (whichever is more) and the number of PEs that
//! took part: two, except for collective operations, and for those that name whom they meet. Its own recording lies inside its time: one event is added to the
//! baseline. Operations without a baseline are left out. One pass over operations and their rows, parallel over PEs. Of a profile the rows
//! of call paths are taken: their bytes are the mean of their executions, and what they waited is not known.

use std::iter::Peekable;

use partune_base::{CallPathId, GroupId, PeId, Span};
use partune_trace::{Participants, PathProfile, Profile, RmaSyncKind, Stream, Trace, VisitIx};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::machine_baselines::MachineBaselines;
use crate::queries::{Query, add_rows};
use crate::useful::role_of_path;
use crate::{Input, Wait};

/// The operations with a baseline of one call path on one PE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Expected {
    pub(crate) count: u64,
    pub(crate) time: Span,
    /// The part of `time` that other PEs' behaviour cost; none of a profile.
    pub(crate) waiting: Span,
    /// What they should have taken in sum, with recording them.
    pub(crate) seconds: f64,
}

/// In order of (call path, PE); empty without a machine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExpectedRows(pub(crate) Vec<(CallPathId, PeId, Expected)>);

impl Query for ExpectedRows {
    fn of(input: &Input<'_>) -> ExpectedRows {
        ExpectedRows(expected(input))
    }

    fn add(&mut self, next: ExpectedRows) {
        add_rows(&mut self.0, next.0, |(path, pe, _)| (*path, *pe), |sum, more| sum.2.add(&more.2));
    }
}

impl Expected {
    pub(crate) fn add(&mut self, more: &Expected) {
        self.count += more.count;
        self.time += more.time;
        self.waiting += more.waiting;
        self.seconds += more.seconds;
    }
}

fn expected(input: &Input<'_>) -> Vec<(CallPathId, PeId, Expected)> {
    let Some(machine) = &input.options.machine else { return Vec::new() };
    let baselines = MachineBaselines::new(input.trace, Some(machine));
    let event_s = machine.overheads.event_s;
    let met = met_without_row(input);
    let pes: Vec<PeId> = input.trace.cpu_pes().collect();
    let one = |pe: &PeId| match input.trace.profile() {
        Some(profile) => of_profile(input.trace, profile, *pe, &baselines, event_s),
        None => of_pe(input, *pe, &baselines, event_s, &met),
    };
    let parts: Vec<Vec<(CallPathId, PeId, Expected)>> = pes.par_iter().map(one).collect();
    let mut rows = parts.concat();
    rows.sort_unstable_by_key(|(path, pe, _)| (*path, *pe));
    rows
}

/// How many met in collective operations that no row tells of: barriers of a team of threads.
fn met_without_row(input: &Input<'_>) -> FxHashMap<(PeId, VisitIx), u32> {
    let mut met = FxHashMap::default();
    for instance in &input.index.collectives.instances {
        let members = input.index.collectives.members(instance);
        let count = members.len() as u32 + instance.missing;
        let bare = members.iter().filter(|member| member.row == u32::MAX);
        met.extend(bare.map(|member| ((member.pe, member.start), count)));
    }
    met
}

fn of_pe(
    input: &Input<'_>,
    pe: PeId,
    baselines: &MachineBaselines<'_>,
    event_s: f64,
    met: &FxHashMap<(PeId, VisitIx), u32>,
) -> Vec<(CallPathId, PeId, Expected)> {
    let trace = input.trace;
    let stream = &trace.streams()[pe];
    let mut sizes = Sizes::new(trace, pe, stream);
    let mut waits = input.waits.of_pe(pe).iter().peekable();
    let mut sums: FxHashMap<CallPathId, Expected> = FxHashMap::default();
    for operation in &stream.operations {
        let visit = stream.visits.at(*operation);
        let (bytes, pes) = sizes.of(*operation);
        let waiting = waiting(&mut waits, *operation);
        let role = role_of_path(trace, visit.path);
        let pes = if role.is_collective() { pes.or_else(|| met.get(&(pe, *operation)).copied()) } else { Some(2) };
        let baseline = pes.and_then(|pes| baselines.of(trace, visit.path).seconds(bytes, pes));
        let Some(seconds) = baseline else { continue };
        let sum = sums.entry(visit.path).or_default();
        sum.count += 1;
        sum.time += visit.duration();
        sum.waiting += waiting;
        sum.seconds += seconds + event_s;
    }
    sums.into_iter().map(|(path, sum)| (path, pe, sum)).collect()
}

fn of_profile(
    trace: &Trace,
    profile: &Profile,
    pe: PeId,
    baselines: &MachineBaselines<'_>,
    event_s: f64,
) -> Vec<(CallPathId, PeId, Expected)> {
    let rows = profile.of(pe).map_or(&[][..], |of_pe| &of_pe.rows);
    let row = |row: &PathProfile| {
        let role = role_of_path(trace, row.path);
        let pes = if role.is_collective() { row.members } else { Some(2) };
        let bytes = row.transfers.sent.max(row.transfers.received) / row.visits;
        let seconds = row.visits as f64 * (baselines.of(trace, row.path).seconds(bytes, pes?)? + event_s);
        let expected = Expected { count: row.visits, time: row.inclusive, waiting: Span::ZERO, seconds };
        Some((row.path, pe, expected))
    };
    rows.iter().filter(|row| trace.paths().operation(row.path) == row.path).filter_map(row).collect()
}

/// What an operation waited. Waits and operations of a PE are in the same order.
fn waiting<'a>(waits: &mut Peekable<impl Iterator<Item = &'a Wait>>, operation: VisitIx) -> Span {
    let mut waiting = Span::ZERO;
    while let Some(wait) = waits.next_if(|wait| wait.operation <= operation) {
        if wait.operation == operation {
            waiting += wait.duration();
        }
    }
    waiting
}

/// Bytes and PEs of one operation after the other, from the rows of a PE, which are in order of their operations.
struct Sizes<'a> {
    trace: &'a Trace,
    pe: PeId,
    stream: &'a Stream,
    /// The next send, receive, collective, transfer and synchronisation.
    next: [usize; 5],
}

impl<'a> Sizes<'a> {
    fn new(trace: &'a Trace, pe: PeId, stream: &'a Stream) -> Self {
        Self { trace, pe, stream, next: [0; 5] }
    }

    /// Bytes that the PE gave or got in an operation, whichever is more, and the PEs of its group if it is a collective, or those that it names and
    /// this one.
    fn of(&mut self, operation: VisitIx) -> (u64, Option<u32>) {
        let stream = self.stream;
        let [sends, recvs, collectives, transfers, syncs] = &mut self.next;
        let (mut given, mut got, mut pes) = (0_u64, 0_u64, None);
        each(&stream.sends, sends, operation, |row| row.visit, |row| given = given.saturating_add(row.bytes));
        each(&stream.recvs, recvs, operation, |row| row.visit, |row| got = got.saturating_add(row.bytes));
        each(&stream.transfers, transfers, operation, |row| row.visit, |row| given = given.saturating_add(row.bytes));
        let members = |group: GroupId| self.trace.groups().get(group).map(|group| group.members.len() as u32);
        each(
            &stream.collectives,
            collectives,
            operation,
            |row| row.visit,
            |row| {
                given = given.saturating_add(row.sent);
                got = got.saturating_add(row.received);
                pes = members(row.group);
            },
        );
        if self.trace.region_of(self.pe, operation).participants == Participants::Named {
            let mut named = Vec::new();
            each(
                &stream.rma_syncs,
                syncs,
                operation,
                |row| row.visit,
                |row| match row.kind {
                    RmaSyncKind::NotifyIn | RmaSyncKind::NotifyOut => named.push(row.target),
                    RmaSyncKind::Group(group) => {
                        named.extend(self.trace.groups().get(group).into_iter().flat_map(|group| group.members.iter()));
                    }
                    _ => {}
                },
            );
            if !named.is_empty() {
                named.push(self.pe);
                named.sort_unstable();
                named.dedup();
                pes = Some(named.len() as u32);
            }
        }
        (given.max(got), pes)
    }
}

/// Calls `take` for the rows of an operation and moves `next` behind them. Rows outside of operations are passed over.
fn each<T>(rows: &[T], next: &mut usize, operation: VisitIx, visit: impl Fn(&T) -> VisitIx, mut take: impl FnMut(&T)) {
    while let Some(row) = rows.get(*next) {
        let at = visit(row);
        if at.is_some() && at > operation {
            return;
        }
        if at == operation {
            take(row);
        }
        *next += 1;
    }
}
