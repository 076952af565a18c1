//! Small transfers: several in a row to one PE that could be one.
//!
//! A transfer is small if its size-dependent part is below its overhead: bytes < n½ = o/G of t(s) = o + G s, fitted to the own
//! durations of all transfers of its kind (theory 6.8). k of them in a row, without synchronisation between, could save (k−1) o.

use partune_base::{Id, PeId};
use partune_trace::Trace;
use rayon::prelude::*;

use crate::accesses::{Access, Kind, Loss, Losses, What, findings, walk};
use crate::fit::{Fit, Line};
use crate::{Analysis, Input, Outcome, Pattern};

pub(crate) static SMALL_TRANSFERS: Analysis = Analysis {
    name: "small_transfers",
    title: "Small transfers to one PE that could be one",
    docs: DOCS,
    finds: true,
    shows: &[],
    run,
};

const DOCS: &str = "\
# Small transfers

At least four (`small_run`) small messages, puts or gets of a PE to the same other PE, with no receive, collective, lock or wait
for a value between them, could be one transfer. (What is received may be an answer, or what is sent next: a pipeline sends as soon as
it can.) Completing own sends, and transfers to others, do not end such a run; for one-sided accesses a fence does.

*Small* means fewer bytes than *o/G*, where *t(s) = o + G s* is the least-squares line through the durations (without waiting)
over the sizes of all transfers of that kind. A message that has a receive of its own lasts until that is over, counted from when
both were there, or as long as its send, if that is longer: so *o* holds overhead and latency. If sizes do not differ, or the line explains less than half of the variance, it
means below 1024 bytes (`small_bytes`), and *o* is the mean duration of such transfers. A run of *k* costs *(k−1) o* too much.

Facts: transfers, runs, mean bytes, *o* and, if fitted, *G* per byte and the size *o/G*.

**Source**: frequency analysis of PPW (Su, chapter 5); LogGP (Alexandrov et al.) for the line.
";

/// What is known of a kind of transfers.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    line: Option<Line>,
    overhead: f64,
    /// Below this many bytes a transfer is small.
    small: f64,
}

impl Cost {
    pub(crate) fn is_small(&self, access: Access) -> bool {
        (access.bytes as f64) < self.small
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let pes = movers(trace);
    let costs = costs(input, &pes);
    let losses = pes.par_iter().map(|pe| (*pe, runs(input, *pe, &costs))).collect();
    let ticks_per_second = trace.clock().ticks_per_second() as f64;
    let facts = |loss: &Loss| {
        let cost = &costs[loss.kind as usize];
        let mut facts = vec![
            ("transfers", loss.transfers as f64),
            ("runs", loss.runs as f64),
            ("mean_bytes", loss.bytes as f64 / loss.transfers.max(1) as f64),
            ("overhead_seconds", cost.overhead / ticks_per_second),
        ];
        if let Some(line) = cost.line {
            facts.push(("seconds_per_byte", line.per_byte / ticks_per_second));
            facts.push(("half_bytes", cost.small));
        }
        facts
    };
    Outcome { findings: findings(trace, Pattern::SmallTransfers, losses, facts), sections: Vec::new() }
}

/// The PEs of CPUs that send messages or access others' memory. Streams of devices copy what the host told them to, one after the other.
pub(crate) fn movers(trace: &Trace) -> Vec<PeId> {
    let moves = |pe: &PeId| !(trace.streams()[*pe].sends.is_empty() && trace.streams()[*pe].transfers.is_empty());
    trace.cpu_pes().filter(moves).collect()
}

/// What transfers of each kind cost, from those of these PEs.
pub(crate) fn costs(input: &Input<'_>, pes: &[PeId]) -> [Cost; 3] {
    let small = input.options.small_bytes as f64;
    let of_pes: Vec<[(Fit, Fit); 3]> = pes.par_iter().map(|pe| fits(input, *pe, small)).collect();
    Kind::ALL.map(|kind| {
        let (mut all, mut of_small) = (Fit::default(), Fit::default());
        for fits in &of_pes {
            all.merge(&fits[kind as usize].0);
            of_small.merge(&fits[kind as usize].1);
        }
        match all.line() {
            Some(line) => Cost { line: Some(line), overhead: line.overhead, small: line.overhead / line.per_byte },
            None => Cost { line: None, overhead: of_small.mean(), small },
        }
    })
}

/// Fits of all, and of small, transfers of each kind.
fn fits(input: &Input<'_>, pe: PeId, small: f64) -> [(Fit, Fit); 3] {
    let mut fits = <[(Fit, Fit); 3]>::default();
    walk(input, pe, |operation| {
        if let What::Moves(access) = operation.what {
            let (all, of_small) = &mut fits[access.kind as usize];
            let (bytes, time) = (access.bytes as f64, access.took.0 as f64);
            all.add(bytes, time);
            if bytes < small {
                of_small.add(bytes, time);
            }
        }
    });
    fits
}

/// Runs of small transfers of a PE, summed by place of their first.
fn runs(input: &Input<'_>, pe: PeId, costs: &[Cost; 3]) -> Vec<Loss> {
    let mut losses = Losses::default();
    // One open run for each kind and peer, and those that are open.
    let mut open: Vec<Option<Loss>> = vec![None; input.trace.pes().len() * Kind::ALL.len()];
    let mut touched: Vec<usize> = Vec::new();
    let mut close = |touched: &mut Vec<usize>, open: &mut Vec<Option<Loss>>, keep_sends: bool| {
        touched.retain(|at| {
            let kept = keep_sends && open[*at].is_some_and(|run| run.kind == Kind::Send);
            if !kept
                && let Some(loss) = open[*at].take()
                && loss.transfers >= input.options.small_run
            {
                let time = (loss.transfers - 1) as f64 * costs[loss.kind as usize].overhead;
                losses.add(Loss { time, runs: 1, ..loss });
            }
            kept
        });
    };
    walk(input, pe, |operation| match operation.what {
        What::Moves(access) if costs[access.kind as usize].is_small(access) => {
            let at = access.peer.index() * Kind::ALL.len() + access.kind as usize;
            match &mut open[at] {
                Some(run) => {
                    run.transfers += 1;
                    run.bytes = run.bytes.saturating_add(access.bytes);
                }
                none => {
                    touched.push(at);
                    let (path, kind, bytes) = (operation.path(), access.kind, access.bytes);
                    *none = Some(Loss { path, kind, time: 0.0, runs: 0, transfers: 1, bytes, unknown: 0 });
                }
            }
        }
        What::Moves(_) | What::Neutral => {}
        What::Completes => close(&mut touched, &mut open, true),
        What::Orders => close(&mut touched, &mut open, false),
    });
    close(&mut touched, &mut open, false);
    losses.into_rows()
}
