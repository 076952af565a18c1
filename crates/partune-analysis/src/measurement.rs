//! What recording cost: how much of the run is the recorder's work, and computing times without it.
//!
//! The cost of one event is the machine's (`event_s`). It is a lower limit: what wraps a call, reads the stack or flushes a
//! buffer comes on top.

use partune_base::{CallPathId, PeId, Table};
use partune_machine::Machine;
use partune_trace::Trace;

use crate::times::PathTime;
use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Scalar, Section, SectionShape, Shape, TableShape, Unit, Values,
};

/// Rows of the table of places.
const ROWS: usize = 1000;
/// A place is listed if recording is at least this share of its exclusive time.
const SHARE: f64 = 0.01;

pub(crate) static MEASUREMENT: Analysis = Analysis {
    name: "measurement",
    title: "What recording cost, and computing times without it",
    docs: DOCS,
    finds: false,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "measurement",
    scalars: &[
        ("events", Unit::Count),
        ("event_seconds", Unit::Seconds),
        ("recording", Unit::Seconds),
        ("share", Unit::Ratio),
    ],
    tables: &[
        TableShape {
            name: "measured_pes",
            columns: &[("pe", Shape::Pe), ("events", Shape::Count), ("recording", Shape::SECONDS)],
        },
        TableShape {
            name: "sites",
            columns: &[
                ("callpath", Shape::Path),
                ("visits", Shape::Count),
                ("exclusive", Shape::SECONDS),
                ("recording", Shape::SECONDS),
                ("corrected", Shape::SECONDS),
            ],
        },
    ],
}];

const DOCS: &str = "\
# Measurement

Needs a machine: `partune analyze --machine machine.toml`. Without one it is silent.

Every recorded event took the program time: recording(PE) = events(PE) · e, where e is the machine's `event_s`. `share` is the sum over
PEs, relative to run time × PEs. It is a lower limit: wrapping a call, reading the stack and flushing buffers come on top.

A profile was no cheaper to take: of each recorded call the enter and the leave count as an event.

`sites` lists places of user code that are distorted by at least 1 %, on all PEs together. About half of an event's cost lies before its time
stamp and half after it, so a visit leaves one event inside the region that it visits and one inside the region around:

corrected(c) = max(0, exclusive(c) − e · (recorded visits of c + recorded visits of the call paths directly below c))

A function that is known from the call chains of operations or from samples alone has no recorded visits: nothing stopped for it.

Operations are not corrected: while one waits, recording it costs nothing.

**Source**: theory of the measurement's perturbation as in Malony, Reed, Wijshoff (1992), the time-based model; ours in this form.
";

/// A place of user code.
#[derive(Clone, Copy, Default)]
struct Site {
    visits: u64,
    exclusive: f64,
    recording: f64,
    corrected: f64,
}

fn run(input: &Input<'_>) -> Outcome {
    let Some(machine) = &input.options.machine else { return Outcome::default() };
    let trace = input.trace;
    let event_s = machine.overheads.event_s;
    let pes: Vec<PeId> = trace.active_pes().collect();
    let events: Vec<u64> = pes.iter().map(|pe| recorded_events(trace, *pe)).collect();
    let all: u64 = events.iter().sum();
    let recording = all as f64 * event_s;
    let total = trace.clock().seconds(trace.duration()) * pes.len() as f64;
    let mut section = Section { name: "measurement", ..Section::default() };
    section.scalars.push(Scalar::new("events", Unit::Count, all as f64));
    section.scalars.push(Scalar::new("event_seconds", Unit::Seconds, event_s));
    section.scalars.push(Scalar::new("recording", Unit::Seconds, recording));
    section.scalars.push(Scalar::new("share", Unit::Ratio, if total > 0.0 { recording / total } else { 0.0 }));
    let seconds = events.iter().map(|events| *events as f64 * event_s).collect();
    let of_pes = vec![
        Column::new("pe", Values::Pe(pes)),
        Column::new("events", Values::Count(events)),
        Column::seconds("recording", seconds),
    ];
    section.tables.push(DataTable { name: "measured_pes", columns: of_pes });
    let mut sites = sites(input, machine);
    sites.retain(|(_, site)| site.recording >= SHARE * site.exclusive);
    sites.sort_by(|(a, left), (b, right)| right.recording.total_cmp(&left.recording).then(a.cmp(b)));
    if sites.len() > ROWS {
        section.notes.push(format!("the table lists the first {ROWS} of {} places", sites.len()));
        sites.truncate(ROWS);
    }
    section.tables.push(table(sites));
    Outcome { findings: Vec::new(), sections: vec![section] }
}

/// Events that a PE stopped for.
fn recorded_events(trace: &Trace, pe: PeId) -> u64 {
    match trace.profile() {
        Some(profile) => profile.of(pe).map_or(0, |of_pe| of_pe.calls.saturating_mul(2)),
        None => trace.streams()[pe].events,
    }
}

/// Places of user code with their own and corrected times, in order of path.
fn sites(input: &Input<'_>, machine: &Machine) -> Vec<(CallPathId, Site)> {
    let trace = input.trace;
    let paths = trace.paths();
    let mut sites: Table<CallPathId, Site> = Table::filled(paths.len(), Site::default());
    for rows in input.times() {
        let events = |row: &PathTime| if paths.is_recorded(row.path) { row.visits } else { 0 };
        let mut inside: Vec<u64> = rows.iter().map(events).collect();
        for row in rows {
            if let Ok(at) = rows.binary_search_by_key(&paths.parent(row.path), |row| row.path) {
                inside[at] += events(row);
            }
        }
        let computing = |(row, _): &(&PathTime, u64)| !paths.operation(row.path).is_some();
        for (row, events) in rows.iter().zip(inside).filter(computing) {
            let exclusive = trace.clock().seconds(row.exclusive);
            let recording = events as f64 * machine.overheads.event_s;
            let site = &mut sites[row.path];
            site.visits += row.visits;
            site.exclusive += exclusive;
            site.recording += recording;
            site.corrected += (exclusive - recording).max(0.0);
        }
    }
    sites.iter_ids().filter(|(_, site)| site.visits > 0).map(|(path, site)| (path, *site)).collect()
}

fn table(sites: Vec<(CallPathId, Site)>) -> DataTable {
    let seconds = |part: &dyn Fn(&Site) -> f64| sites.iter().map(|(_, site)| part(site)).collect::<Vec<f64>>();
    let columns = vec![
        Column::new("visits", Values::Count(sites.iter().map(|(_, site)| site.visits).collect())),
        Column::seconds("exclusive", seconds(&|site| site.exclusive)),
        Column::seconds("recording", seconds(&|site| site.recording)),
        Column::seconds("corrected", seconds(&|site| site.corrected)),
    ];
    let paths = Column::new("callpath", Values::Path(sites.into_iter().map(|(path, _)| path).collect()));
    DataTable { name: "sites", columns: std::iter::once(paths).chain(columns).collect() }
}
