//! What several analyses need: made once, by who asks first.

use std::sync::OnceLock;

use partune_base::{CallPathId, PeId, Table, Time};
use partune_index::Ties;
use rayon::prelude::*;

use crate::ideal::Ideals;
use crate::receptions::Receptions;
use crate::sums::{OperationSums, operation_sums};
use crate::times::{PathTimes, path_times};
use crate::transfers::{self, TransferCosts, Transfers};
use crate::useful::{cpu_pes, windows};
use crate::{Base, Delays, Input, sums};

/// The answers so far to what analyses ask of one trace; see the methods of [`Input`].
#[derive(Debug, Default)]
pub struct Shared {
    delays: Memo<Delays>,
    windows: Memo<Table<PeId, (Time, Time)>>,
    base: Memo<Base>,
    useful: Memo<Vec<i64>>,
    times: Memo<PathTimes>,
    operations: Memo<Table<CallPathId, OperationSums>>,
    ideals: Memo<Ideals>,
    receptions: Memo<Receptions>,
    transfer_costs: Memo<TransferCosts>,
    transfers: Memo<Transfers>,
}

/// A value that is made when it is first asked for.
///
/// Whoever asks while it is being made makes it too: a thread that waited might be the one that has to make it, since threads that
/// share work take up other work while they wait for their own. Both get the same, and [`Shared::prepare`] makes it rare.
#[derive(Debug)]
pub(crate) struct Memo<T>(OnceLock<T>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo(OnceLock::new())
    }
}

impl<T> Memo<T> {
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.0.get() {
            return value;
        }
        let made = make();
        self.0.get_or_init(|| made)
    }
}

impl Shared {
    /// Makes what most analyses need, before they are run side by side.
    pub fn prepare(input: &Input<'_>, ties: Ties) {
        input.base();
        if input.trace.profile().is_some() {
            rayon::join(|| input.times(), || input.operations());
            return;
        }
        // The replay is made by one thread, and so are parts of the delays.
        rayon::join(
            || input.shared.ideals.get(|| Ideals::find(input, &ties)),
            || {
                input.shared.receptions.get(|| Receptions::find(input, &ties));
                (input.times(), input.operations(), input.useful())
            },
        );
        // Ties are large, and nothing else needs them.
        drop(ties);
        rayon::join(|| input.delays(), || input.transfers());
    }
}

impl<'a> Input<'a> {
    /// What delayed the causes of the waits.
    pub(crate) fn delays(&self) -> &'a Delays {
        self.shared.delays.get(|| Delays::find(self.trace, self.index, self.waits))
    }

    /// The measured interval of each PE.
    pub(crate) fn windows(&self) -> &'a Table<PeId, (Time, Time)> {
        self.shared.windows.get(|| windows(self.trace))
    }

    /// What shares are shares of.
    pub(crate) fn base(&self) -> Base {
        *self.shared.base.get(|| Base::within(self.trace, self.windows()))
    }

    /// Useful ticks of each PE of a CPU in its interval, in order.
    pub(crate) fn useful(&self) -> &'a [i64] {
        self.shared.useful.get(|| {
            let (pes, windows) = (cpu_pes(self.trace), self.windows());
            pes.par_iter().map(|pe| sums::useful(self.trace, *pe, windows[*pe])).collect()
        })
    }

    /// Times and visits by call path of each PE.
    pub(crate) fn times(&self) -> &'a PathTimes {
        self.shared.times.get(|| path_times(self.trace))
    }

    /// Executions and transfers by call path, over all PEs.
    pub(crate) fn operations(&self) -> &'a Table<CallPathId, OperationSums> {
        self.shared.operations.get(|| operation_sums(self.trace))
    }

    /// The run on an ideal network.
    pub(crate) fn ideals(&self) -> &'a Ideals {
        self.shared.ideals.get(|| Ideals::find(self, &self.ties()))
    }

    fn ties(&self) -> Ties {
        Ties::build(self.trace, self.index)
    }

    /// What each message took once both sides were there.
    pub(crate) fn receptions(&self) -> &'a Receptions {
        self.shared.receptions.get(|| Receptions::find(self, &self.ties()))
    }

    /// What transfers of each kind cost.
    pub(crate) fn transfer_costs(&self) -> &'a TransferCosts {
        self.shared.transfer_costs.get(|| transfers::costs(self))
    }

    /// Small transfers in a row, and serial ones.
    pub(crate) fn transfers(&self) -> &'a Transfers {
        self.shared.transfers.get(|| Transfers::find(self))
    }
}
