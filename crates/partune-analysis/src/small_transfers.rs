//! Small transfers: several in a row to one PE that could be one.
//!
//! A transfer is small if its size-dependent part is below its overhead: bytes < n½ = o/G of t(s) = o + G s, fitted to the own
//! durations of all transfers of its kind (theory 6.8). k of them in a row, without synchronisation between, could save (k−1) o.

use partune_base::Id;

use crate::accesses::{Kind, Loss, Losses, Operation, What, findings};
use crate::transfers::TransferCosts;
use crate::{Analysis, Input, Needs, Outcome, Pattern};

pub(crate) static SMALL_TRANSFERS: Analysis = Analysis {
    name: "small_transfers",
    title: "Small transfers to one PE that could be one",
    docs: DOCS,
    finds: true,
    needs: Needs::Queries,
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
means below 1024 bytes (`small_bytes`), and *o* is the mean duration of such transfers. (Of a run that is looked at in slices, the line is that of the first one with messages.) A run of *k* costs *(k−1) o* too much.

Facts: transfers, runs, mean bytes, *o* and, if fitted, *G* per byte and the size *o/G*.

**Source**: frequency analysis of PPW (Su, chapter 5); LogGP (Alexandrov et al.) for the line.
";

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let (costs, losses) = (input.transfer_costs(), input.transfers().small.clone());
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

/// Runs of small transfers of a PE, summed by place of their first.
pub(crate) struct Small<'a> {
    costs: &'a TransferCosts,
    least: u64,
    /// One open run for each kind and peer, and those that are open.
    open: &'a mut [Option<Loss>],
    touched: Vec<usize>,
    losses: Losses,
}

impl<'a> Small<'a> {
    /// Where the runs of a PE are while they are open; it is empty again when they are closed, for the next PE.
    pub(crate) fn room(pes: usize) -> Vec<Option<Loss>> {
        vec![None; pes * Kind::ALL.len()]
    }

    pub(crate) fn new(open: &'a mut [Option<Loss>], least: u64, costs: &'a TransferCosts) -> Small<'a> {
        Small { costs, least, open, touched: Vec::new(), losses: Losses::default() }
    }

    /// The next operation.
    pub(crate) fn add(&mut self, operation: &Operation) {
        match operation.what {
            What::Moves(access) if self.costs[access.kind as usize].is_small(access) => {
                let at = access.peer.index() * Kind::ALL.len() + access.kind as usize;
                match &mut self.open[at] {
                    Some(run) => {
                        run.transfers += 1;
                        run.bytes = run.bytes.saturating_add(access.bytes);
                    }
                    none => {
                        self.touched.push(at);
                        let (path, kind, bytes) = (operation.path(), access.kind, access.bytes);
                        *none = Some(Loss { path, kind, time: 0.0, runs: 0, transfers: 1, bytes, unknown: 0 });
                    }
                }
            }
            What::Moves(_) | What::Neutral => {}
            What::Completes => self.close(true),
            What::Orders => self.close(false),
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Loss> {
        self.close(false);
        self.losses.into_rows()
    }

    fn close(&mut self, keep_sends: bool) {
        let Small { costs, least, open, touched, losses } = self;
        touched.retain(|at| {
            let kept = keep_sends && open[*at].is_some_and(|run| run.kind == Kind::Send);
            if !kept
                && let Some(loss) = open[*at].take()
                && loss.transfers >= *least
            {
                let time = (loss.transfers - 1) as f64 * costs[loss.kind as usize].overhead;
                losses.add(Loss { time, runs: 1, ..loss });
            }
            kept
        });
    }
}
