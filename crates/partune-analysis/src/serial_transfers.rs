//! Serial blocking transfers: one after the other to different PEs, where they could run at once.
//!
//! Blocking transfers to different PEs with nothing between them that could make one depend on the other lose Σ − max of their
//! own durations (theory 6.8; the gain that PPW's FT study got from non-blocking gets).

use partune_base::{CallPathId, PeId, Span};
use partune_trace::Completion;
use rayon::prelude::*;

use crate::accesses::{Access, Kind, Loss, Losses, Operation, What, findings, walk};
use crate::{Analysis, Input, Outcome, Pattern};

pub(crate) static SERIAL_TRANSFERS: Analysis = Analysis {
    name: "serial_transfers",
    title: "Blocking transfers to different PEs that could overlap",
    docs: DOCS,
    finds: true,
    shows: &[],
    run,
};

const DOCS: &str = "\
# Serial blocking transfers

Blocking sends, puts or gets of a PE that follow each other, each to another PE than the one before, could be started together and
completed together. They follow each other if no operation lies between that receives, synchronises or completes, and the code
between takes no longer than the shorter of the two: then it hardly computes what the next one sends.

A run loses Σ − max of the durations of its transfers, without waiting for partners. This is an upper limit: transfers share the network.

**Source**: frequency analysis and FT study of PPW (Su, chapters 5 and 6).
";

/// Transfers that follow each other.
struct Run {
    kind: Kind,
    path: CallPathId,
    last: Operation,
    peer: PeId,
    transfers: u64,
    bytes: u64,
    sum: Span,
    max: Span,
}

impl Run {
    fn new(operation: &Operation, access: Access) -> Run {
        let (kind, peer, bytes) = (access.kind, access.peer, access.bytes);
        Run {
            kind,
            path: operation.path(),
            last: *operation,
            peer,
            transfers: 1,
            bytes,
            sum: operation.own,
            max: operation.own,
        }
    }

    fn continues(&self, operation: &Operation, access: Access) -> bool {
        let between = operation.visit.enter.since(self.last.visit.exit);
        self.kind == access.kind && self.peer != access.peer && between <= operation.own.min(self.last.own)
    }

    fn loss(&self) -> Option<Loss> {
        let time = (self.sum - self.max).0 as f64;
        let (path, kind, transfers, bytes) = (self.path, self.kind, self.transfers, self.bytes);
        (transfers > 1).then_some(Loss { path, kind, time, runs: 1, transfers, bytes })
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let moves = |pe: &PeId| !(trace.streams()[*pe].sends.is_empty() && trace.streams()[*pe].transfers.is_empty());
    let pes: Vec<PeId> = trace.pes().ids().filter(moves).collect();
    let losses = pes.par_iter().map(|pe| (*pe, runs(input, *pe))).collect();
    let facts = |loss: &Loss| vec![("transfers", loss.transfers as f64), ("runs", loss.runs as f64)];
    Outcome { findings: findings(trace, Pattern::SerialBlockingTransfers, losses, facts), sections: Vec::new() }
}

fn runs(input: &Input<'_>, pe: PeId) -> Vec<Loss> {
    let mut losses = Losses::default();
    let mut open: Option<Run> = None;
    let mut close = |run: Option<Run>| run.and_then(|run| run.loss()).into_iter().for_each(|loss| losses.add(loss));
    walk(input, pe, |operation| {
        let blocks = match operation.completion {
            Completion::Blocking | Completion::Synchronous => true,
            Completion::Buffered | Completion::NonBlocking | Completion::Persistent => false,
        };
        match operation.what {
            What::Moves(access) if blocks => match &mut open {
                Some(run) if run.continues(operation, access) => {
                    run.last = *operation;
                    run.peer = access.peer;
                    run.transfers += 1;
                    run.bytes = run.bytes.saturating_add(access.bytes);
                    run.sum += operation.own;
                    run.max = run.max.max(operation.own);
                }
                _ => close(open.replace(Run::new(operation, access))),
            },
            What::Neutral => {}
            What::Moves(_) | What::Completes | What::Orders => close(open.take()),
        }
    });
    close(open);
    losses.into_rows()
}
