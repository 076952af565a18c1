//! Serial blocking transfers: one after the other to different PEs or addresses, where they could run at once.
//!
//! Blocking transfers to different PEs or addresses with nothing between that could make one depend on the other lose Σ − max of
//! their own durations (theory 6.8; the gain that PPW's FT study got from non-blocking gets).

use partune_base::{CallPathId, PeId, Span};
use partune_trace::Completion;

use crate::accesses::{Access, Kind, Loss, Losses, Operation, What, findings};
use crate::transfers::{Cost, TransferCosts};
use crate::{Analysis, Input, Needs, Outcome, Pattern};

pub(crate) static SERIAL_TRANSFERS: Analysis = Analysis {
    name: "serial_transfers",
    title: "Blocking transfers to different PEs or addresses that could overlap",
    docs: DOCS,
    finds: true,
    needs: Needs::Queries,
    shows: &[],
    run,
};

const DOCS: &str = "\
# Serial blocking transfers

Blocking sends, puts or gets of a PE that follow each other could be started together and completed together, if each goes to another
PE than the one before, or is an access to other addresses of the same PE. They follow each other if no operation lies between that
receives, synchronises or completes, and the code between takes no longer than the shorter of the two: then it hardly computes what
the next one sends.

Gets never depend on each other. Puts to one PE do where they write the same bytes. Where no addresses are recorded, they are taken
to be others, since a program that writes the same bytes twice in a row is rare: the fact `unknown_addresses` counts
them. Messages to one PE keep their order and are not looked at; small accesses to one PE in a row, from `small_run` on, are
`small_transfers` and not told twice.

A run loses Σ − max of the durations of its transfers, without waiting for partners. This is an upper limit: transfers share the network.

**Source**: frequency analysis and FT study of PPW (Su, chapters 5 and 6).
";

/// Transfers that follow each other.
struct Run {
    kind: Kind,
    path: CallPathId,
    last: Operation,
    peer: PeId,
    /// From the first byte to behind the last that was accessed of this peer; none if an address is not known.
    range: Option<(u64, u64)>,
    transfers: u64,
    bytes: u64,
    unknown: u64,
    /// Whether all were small and to one PE.
    could_be_one: bool,
    sum: Span,
    max: Span,
}

impl Run {
    fn new(operation: &Operation, access: Access, cost: &Cost) -> Run {
        let (kind, peer, bytes) = (access.kind, access.peer, access.bytes);
        Run {
            kind,
            path: operation.path(),
            last: *operation,
            peer,
            range: access.range,
            transfers: 1,
            bytes,
            unknown: 0,
            could_be_one: cost.is_small(access),
            sum: operation.own,
            max: operation.own,
        }
    }

    fn continues(&self, operation: &Operation, access: Access) -> bool {
        let between = operation.visit.enter.since(self.last.visit.exit);
        let independent = self.peer != access.peer
            || match self.kind {
                Kind::Send => false,
                Kind::Get => true,
                Kind::Put => self.range.zip(access.range).is_none_or(|(a, b)| a.1 <= b.0 || b.1 <= a.0),
            };
        self.kind == access.kind && independent && between <= operation.own.min(self.last.own)
    }

    fn add(&mut self, operation: &Operation, access: Access, cost: &Cost) {
        let same = self.peer == access.peer;
        self.unknown += u64::from(same && self.range.zip(access.range).is_none());
        let both = self.range.zip(access.range).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        self.range = if same { both } else { access.range };
        self.could_be_one &= same && cost.is_small(access);
        self.last = *operation;
        self.peer = access.peer;
        self.transfers += 1;
        self.bytes = self.bytes.saturating_add(access.bytes);
        self.sum += operation.own;
        self.max = self.max.max(operation.own);
    }

    fn loss(&self, small_run: u64) -> Option<Loss> {
        let time = (self.sum - self.max).0 as f64;
        let (path, kind, transfers, bytes, unknown) = (self.path, self.kind, self.transfers, self.bytes, self.unknown);
        let told = self.could_be_one && transfers >= small_run;
        (transfers > 1 && !told).then_some(Loss { path, kind, time, runs: 1, transfers, bytes, unknown })
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let losses = input.transfers().serial.clone();
    let facts = |loss: &Loss| {
        let mut facts = vec![("transfers", loss.transfers as f64), ("runs", loss.runs as f64)];
        if loss.unknown > 0 {
            facts.push(("unknown_addresses", loss.unknown as f64));
        }
        facts
    };
    Outcome { findings: findings(trace, Pattern::SerialBlockingTransfers, losses, facts), sections: Vec::new() }
}

/// Runs of serial transfers of a PE, summed by place of their first.
pub(crate) struct Serial<'a> {
    costs: &'a TransferCosts,
    small_run: u64,
    open: Option<Run>,
    losses: Losses,
}

impl<'a> Serial<'a> {
    pub(crate) fn new(small_run: u64, costs: &'a TransferCosts) -> Serial<'a> {
        Serial { costs, small_run, open: None, losses: Losses::default() }
    }

    /// The next operation.
    pub(crate) fn add(&mut self, operation: &Operation) {
        let blocks = match operation.completion {
            Completion::Blocking | Completion::Synchronous => true,
            Completion::Buffered | Completion::NonBlocking | Completion::Persistent => false,
        };
        match operation.what {
            What::Moves(access) if blocks => {
                let cost = &self.costs[access.kind as usize];
                match &mut self.open {
                    Some(run) if run.continues(operation, access) => run.add(operation, access, cost),
                    _ => {
                        self.close();
                        self.open = Some(Run::new(operation, access, cost));
                    }
                }
            }
            What::Neutral => {}
            What::Moves(_) | What::Completes | What::Orders => self.close(),
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Loss> {
        self.close();
        self.losses.into_rows()
    }

    fn close(&mut self) {
        let loss = self.open.take().and_then(|run| run.loss(self.small_run));
        loss.into_iter().for_each(|loss| self.losses.add(loss));
    }
}
