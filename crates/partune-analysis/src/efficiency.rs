//! Efficiency: the multiplicative factors of POP, with the ideal run time from following the trace's own dependences.
//!
//! u_q useful time of PE q, T run time, T_id run time with operations that cost nothing ([`crate::ideal`]):
//! PE = avg u / T = LB · Ser · Transfer, LB = avg u / max u, Comm = max u / T = Ser · Transfer, Ser = max u / T_id,
//! Transfer = T_id / T. Source: POP metrics as PyPOP computes them (theory 7.1); between processes and between threads as
//! OTF-CPT splits them.

use partune_base::{CallPathId, PeId, Table, Time};
use partune_trace::Trace;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ideal::Ideal;
use crate::queries::Query;
use crate::sums::useful_outside;
use crate::useful::{cpu_pes, operations_between_processes, span_of, total};
use crate::{Analysis, Efficiency, Input, Needs, Outcome, Section, SectionShape, Shape, TableShape, devices, phases};

pub(crate) static EFFICIENCY: Analysis = Analysis {
    name: "efficiency",
    title: "Parallel efficiency and its factors (POP, multiplicative)",
    docs: DOCS,
    finds: false,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "efficiency",
    scalars: Efficiency::SHOWS,
    tables: &[
        TableShape {
            name: "device_times",
            columns: &[
                ("device", Shape::Count),
                ("streams", Shape::Count),
                ("kernels", Shape::SECONDS),
                ("copies", Shape::SECONDS),
                ("idle", Shape::SECONDS),
            ],
        },
        TableShape {
            name: "device_waits",
            columns: &[
                ("callpath", Shape::Path),
                ("count", Shape::Count),
                ("seconds", Shape::SECONDS),
                ("computing", Shape::SECONDS),
                ("copying", Shape::SECONDS),
                ("idle", Shape::SECONDS),
            ],
        },
        TableShape {
            name: "phases",
            columns: &[
                ("phase", Shape::Region),
                ("visits", Shape::Count),
                ("pes", Shape::Count),
                ("seconds", Shape::SECONDS),
                ("useful", Shape::SECONDS),
                ("parallel", Shape::RATIO),
                ("load_balance", Shape::RATIO),
                ("communication", Shape::RATIO),
            ],
        },
    ],
}];

const DOCS: &str = "\
# Efficiency

With *u(q)* the useful time of PE *q* (outside operations), *T* the run time and *T_id* the run time on an ideal network:

| factor | formula |
|---|---|
| `parallel` | avg u / T = load balance × serialization × transfer |
| `load_balance` | avg u / max u |
| `communication` | max u / T = serialization × transfer |
| `serialization` | max u / T_id |
| `transfer` | T_id / T |

This is the **multiplicative** variant; the additive one of the same name gives other numbers.

*T* runs from the first end of a start-up operation to the last begin of a shut-down operation; without them from the first event
to the last (a PE is useful only between its own). PEs are all CPU PEs that recorded something. A main thread is useful whenever it is in no operation, also outside
of recorded regions; other threads only inside of recorded regions: between parallel regions they idle. I/O, management calls
and pauses of the recorder are not useful.

*T_id* follows the trace with operations that take no time: a receive ends when its send began, a collective when those it needs
arrived, a thread begins when it was forked, a lock is taken when its holder before gave it back, in the recorded order.

Where processes have several PEs, `process_…` are the same factors for main threads, with everything outside of operations
*between processes* as useful for as long as any thread of the process runs, and `thread_…` are the quotients: what is lost inside of processes.

Where the program marks phases, the table `phases` has `parallel` = `load_balance` × `communication` of each: *u(q)* is the useful time of PE *q*
in its visits to the phase and *T* the longest time that a PE spends in them. PEs that are never in a phase do not count for it; a
thread without visits of its own is in the phases of its process. Phases may nest.

Devices are told apart from the PEs, which are those of CPUs. With *k(d)* the time in which a kernel runs in a stream of device *d*, *a(d)* that
in which a kernel runs or a copy is under way, *N* devices and the same *T*:

| factor | formula |
|---|---|
| `device_parallel` | Σ k / (N · T) = load balance × communication × orchestration |
| `device_load_balance` | Σ k / (N · max k) |
| `device_communication` | max k / max a |
| `device_orchestration` | max a / T |

`offload` = Σ u / (Σ u + calls): how much of what the CPUs do besides other operations is not spent in calls to devices; `device_call_seconds` is all of these
calls, `device_wait_seconds` those that wait for a device. `device_times` has each device; `device_waits` says for each place at which the
host waits how long a device of its process computed meanwhile, copied, or had nothing recorded to do.

A profile has `parallel`, `load_balance` and `communication` only: the other factors, phases and devices need events.

**Sources**: TALP for devices (Rahimi and others, arXiv 2603.26576; our own: streams of a device count as one, and where an archive does not tell the
device of a stream, the stream counts as one); POP Centre of Excellence (formulas as in its PyPOP); split as in OTF-CPT.
";

/// The factors of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Factors {
    pub(crate) parallel: f64,
    pub(crate) load_balance: f64,
    pub(crate) communication: f64,
    pub(crate) serialization: f64,
    pub(crate) transfer: f64,
}

impl Factors {
    /// From useful ticks of PEs, run time and ideal run time; `None` if nothing ran or nothing was useful.
    pub(crate) fn new(useful: &[i64], run_time: i64, ideal: i64) -> Option<Factors> {
        let max = useful.iter().copied().max().filter(|max| *max > 0)?;
        if run_time <= 0 {
            return None;
        }
        let average = useful.iter().map(|ticks| *ticks as f64).sum::<f64>() / useful.len() as f64;
        // No ideal run is longer than the real one, nor shorter than its busiest PE; clocks that disagree could say so.
        let ideal = ideal.clamp(max, run_time.max(max)) as f64;
        let (max, run_time) = (max as f64, run_time as f64);
        Some(Factors {
            parallel: average / run_time,
            load_balance: average / max,
            communication: max / run_time,
            serialization: max / ideal,
            transfer: ideal / run_time,
        })
    }

    fn quotient(&self, other: &Factors) -> Factors {
        Factors {
            parallel: self.parallel / other.parallel,
            load_balance: self.load_balance / other.load_balance,
            communication: self.communication / other.communication,
            serialization: self.serialization / other.serialization,
            transfer: self.transfer / other.transfer,
        }
    }

    /// Puts these, which are of main threads, and what is left inside of processes where `all` are the factors of all PEs.
    fn put_between_processes(&self, all: &Factors, into: &mut Efficiency) {
        into.process_parallel = Some(self.parallel);
        into.process_load_balance = Some(self.load_balance);
        into.process_communication = Some(self.communication);
        into.process_serialization = Some(self.serialization);
        into.process_transfer = Some(self.transfer);
        let inside = all.quotient(self);
        into.thread_parallel = Some(inside.parallel);
        into.thread_load_balance = Some(inside.load_balance);
        into.thread_communication = Some(inside.communication);
        into.thread_serialization = Some(inside.serialization);
        into.thread_transfer = Some(inside.transfer);
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let pes = cpu_pes(trace);
    let windows = input.windows();
    let (begin, end) = span_of(windows, &pes);
    let run_time = end.since(begin).0;
    let useful = input.useful();
    if run_time <= 0 || useful.iter().all(|ticks| *ticks == 0) {
        return Outcome::default();
    }
    if trace.profile().is_some() {
        return without_events(input, useful, run_time);
    }
    let ideal = input.ideals().all;
    let Some(factors) = Factors::new(useful, run_time, ideal.run_time) else { return Outcome::default() };
    let seconds = |ticks: i64| Some(trace.clock().seconds(partune_base::Span(ticks)));
    let mut result = Efficiency {
        parallel: Some(factors.parallel),
        load_balance: Some(factors.load_balance),
        communication: Some(factors.communication),
        serialization: Some(factors.serialization),
        transfer: Some(factors.transfer),
        run_seconds: seconds(run_time),
        ideal_seconds: seconds(ideal.run_time),
        useful_seconds: seconds(total(useful.iter().copied())),
        ..Efficiency::default()
    };
    let mut notes = vec![
        "multiplicative factors of POP; a PE is a thread, and its operations (also I/O) are not useful time".to_owned(),
    ];
    remark(&ideal, run_time, &mut notes);
    let mut tables = devices::tell(trace, total(useful.iter().copied()), (begin, end), &mut result);
    if let Some(table) = phases::table(trace, input.phase_shares()) {
        result.phases = Some(table.columns.first().map_or(0, |column| column.values.len()) as f64);
        tables.push(table);
    }
    if let Some(process) = between_processes(input, run_time) {
        process.put_between_processes(&factors, &mut result);
    }
    let section = Section { tables, notes, ..result.section("efficiency") };
    Outcome { findings: Vec::new(), sections: vec![section] }
}

/// What sums tell: the factors that need no ideal run time.
fn without_events(input: &Input<'_>, useful: &[i64], run_time: i64) -> Outcome {
    let Some(factors) = Factors::new(useful, run_time, run_time) else { return Outcome::default() };
    let seconds = |ticks: i64| Some(input.trace.clock().seconds(partune_base::Span(ticks)));
    let mut result = Efficiency {
        parallel: Some(factors.parallel),
        load_balance: Some(factors.load_balance),
        communication: Some(factors.communication),
        run_seconds: seconds(run_time),
        useful_seconds: seconds(total(useful.iter().copied())),
        ..Efficiency::default()
    };
    if let Some(process) = between_processes(input, run_time) {
        process.put_between_processes(&factors, &mut result);
        // Those that are known of no level.
        for unknown in [
            &mut result.process_serialization,
            &mut result.process_transfer,
            &mut result.thread_serialization,
            &mut result.thread_transfer,
        ] {
            *unknown = None;
        }
    }
    let notes =
        vec!["serialization and transfer are not told apart: that needs events, and this is a profile".to_owned()];
    let section = Section { notes, ..result.section("efficiency") };
    Outcome { findings: Vec::new(), sections: vec![section] }
}

fn remark(ideal: &Ideal, run_time: i64, notes: &mut Vec<String>) {
    if ideal.unmet > 0 {
        let count = ideal.unmet;
        notes.push(format!(
            "{count} dependences form circles and were ignored for the ideal run time: the archive is damaged"
        ));
    }
    if ideal.run_time > run_time {
        notes.push(
            "the ideal run time exceeds the run time, so clocks disagree; it was taken as the run time".to_owned(),
        );
    }
}

/// The measured interval of a process, by its main thread. It goes on while any of its threads does, also where the main thread has ended, or no more
/// is known of it; but not if it is in an operation between processes then. A profile does not say where it is.
fn while_threads_run(
    trace: &Trace,
    pes: &[PeId],
    main: PeId,
    windows: &Table<PeId, (Time, Time)>,
    busy: &Table<CallPathId, bool>,
) -> (Time, Time) {
    let (begin, end) = windows[main];
    let (stream, process) = (&trace.streams()[main], trace.pes()[main].process);
    let is_busy = stream.operations.last().is_some_and(|visit| {
        let at = visit.index();
        busy[stream.visits.path[at]] && stream.visits.exit[at] >= end
    });
    if is_busy || trace.profile().is_some() {
        return (begin, end);
    }
    let threads = trace.processes()[process].pes.iter().filter(|pe| pes.binary_search(pe).is_ok());
    (begin, threads.map(|pe| windows[*pe].1).fold(end, Time::max))
}

/// The factors of main threads, if some process has other PEs too.
fn between_processes(input: &Input<'_>, run_time: i64) -> Option<Factors> {
    let useful = &input.main_useful().0;
    if useful.is_empty() {
        return None;
    }
    if input.trace.profile().is_some() {
        return Factors::new(useful, run_time, run_time);
    }
    Factors::new(useful, run_time, input.ideals().between_processes?.run_time)
}

/// Useful ticks of processes, by their main threads: what is not in operations between them. Nothing where no process has other PEs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MainUseful(Vec<i64>);

impl Query for MainUseful {
    fn of(input: &Input<'_>) -> MainUseful {
        let (trace, windows, pes) = (input.trace, input.windows(), cpu_pes(input.trace));
        let main: Vec<PeId> = pes.iter().copied().filter(|pe| trace.pes()[*pe].thread == 0).collect();
        if main.len() == pes.len() {
            return MainUseful(Vec::new());
        }
        let busy = operations_between_processes(trace);
        let interval = |pe: PeId| while_threads_run(trace, &pes, pe, windows, &busy);
        MainUseful(main.par_iter().map(|pe| useful_outside(trace, *pe, interval(*pe), &busy)).collect())
    }

    fn add(&mut self, next: MainUseful) {
        self.0.iter_mut().zip(next.0).for_each(|(sum, ticks)| *sum = sum.saturating_add(ticks));
    }
}
