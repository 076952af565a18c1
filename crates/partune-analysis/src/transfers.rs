//! Transfers that each PE started, in two walks over its operations: what those of a kind cost, and which could be one or run at once.

use partune_base::PeId;
use partune_trace::Trace;
use serde::{Deserialize, Serialize};

use crate::Input;
use crate::accesses::{self, Access, Loss, What, walk};
use crate::fit::{Fit, Line};
use crate::fold::{Fold, fold};
use crate::queries::{Query, add_rows};
use crate::receptions::Receptions;
use crate::serial_transfers::Serial;
use crate::small_transfers::Small;

/// What is known of a kind of transfers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// Whether there was any; else the rest says nothing.
    pub(crate) is_known: bool,
    pub(crate) line: Option<Line>,
    pub(crate) overhead: f64,
    /// Below this many bytes a transfer is small.
    pub(crate) small: f64,
}

/// What transfers of each kind cost.
pub(crate) type TransferCosts = [Cost; 3];

/// What each PE loses, in order of PE.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Transfers {
    pub(crate) small: Vec<(PeId, Vec<Loss>)>,
    pub(crate) serial: Vec<(PeId, Vec<Loss>)>,
}

impl Cost {
    pub(crate) fn is_small(&self, access: Access) -> bool {
        (access.bytes as f64) < self.small
    }
}

/// The PEs of CPUs that send messages or access others' memory. Streams of devices copy what the host told them to, one after the other.
fn movers(trace: &Trace) -> Vec<PeId> {
    let moves = |pe: &PeId| !(trace.streams()[*pe].sends.is_empty() && trace.streams()[*pe].transfers.is_empty());
    trace.cpu_pes().filter(moves).collect()
}

/// Durations over sizes of all, and of small, transfers of each kind.
struct Fits<'a>(&'a Input<'a>, &'a Receptions);

impl Fold for Fits<'_> {
    type Part = PeId;
    type Partial = [(Fit, Fit); 3];
    type Output = TransferCosts;
    type Room = ();

    fn room(&self) {}

    fn map(&self, (): &mut (), pe: PeId) -> Self::Partial {
        let (input, small) = (self.0, self.0.options.small_bytes as f64);
        let mut fits = Self::Partial::default();
        walk(input, pe, |operation| {
            if let What::Moves(access) = operation.what {
                let (all, of_small) = &mut fits[access.kind as usize];
                let (bytes, time) = (access.bytes as f64, operation.took(input, self.1, pe, &access).0 as f64);
                all.add(bytes, time);
                if bytes < small {
                    of_small.add(bytes, time);
                }
            }
        });
        fits
    }

    fn merge(&self, all: &mut Self::Partial, next: Self::Partial) {
        for (all, next) in all.iter_mut().zip(next) {
            all.0.merge(&next.0);
            all.1.merge(&next.1);
        }
    }

    fn finish(&self, all: Option<Self::Partial>) -> TransferCosts {
        all.unwrap_or_default().map(|(all, of_small)| {
            let (overhead, small) = match all.line() {
                Some(line) => (line.overhead, line.overhead / line.per_byte),
                None => (of_small.mean(), self.0.options.small_bytes as f64),
            };
            Cost { is_known: all != Fit::default(), line: all.line(), overhead, small }
        })
    }
}

pub(crate) fn costs(input: &Input<'_>) -> TransferCosts {
    fold(&Fits(input, input.receptions()), movers(input.trace))
}

/// Runs of small and of serial transfers.
struct Runs<'a>(&'a Input<'a>, &'a TransferCosts);

impl Fold for Runs<'_> {
    type Part = PeId;
    type Partial = Transfers;
    type Output = Transfers;
    type Room = Vec<Option<Loss>>;

    fn room(&self) -> Vec<Option<Loss>> {
        Small::room(self.0.trace.pes().len())
    }

    fn map(&self, room: &mut Vec<Option<Loss>>, pe: PeId) -> Transfers {
        let Runs(input, costs) = *self;
        let mut small = Small::new(room, input.options.small_run, costs);
        let mut serial = Serial::new(input.options.small_run, costs);
        walk(input, pe, |operation| {
            small.add(operation);
            serial.add(operation);
        });
        Transfers { small: vec![(pe, small.finish())], serial: vec![(pe, serial.finish())] }
    }

    fn merge(&self, all: &mut Transfers, next: Transfers) {
        all.small.extend(next.small);
        all.serial.extend(next.serial);
    }

    fn finish(&self, all: Option<Transfers>) -> Transfers {
        all.unwrap_or_default()
    }
}

impl Query for Transfers {
    fn of(input: &Input<'_>) -> Transfers {
        fold(&Runs(input, input.transfer_costs()), movers(input.trace))
    }

    fn add(&mut self, next: Transfers) {
        for (sums, next) in [(&mut self.small, next.small), (&mut self.serial, next.serial)] {
            add_rows(sums, next, |(pe, _)| *pe, |sum, more| accesses::join(&mut sum.1, std::mem::take(&mut more.1)));
        }
    }
}
