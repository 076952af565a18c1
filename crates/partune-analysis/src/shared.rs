//! What several analyses need: made once, by who asks first.

use std::sync::OnceLock;

use partune_base::{CallPathId, PeId, Table, Time};
use partune_index::Ties;
use serde::{Deserialize, Serialize};

use crate::queries::Answers;
use crate::receptions::Receptions;
use crate::sums::OperationSums;
use crate::times::PathTimes;
use crate::transfers::{self, TransferCosts};
use crate::useful::windows;
use crate::{Base, Input};

/// The answers so far to what analyses ask of one trace; see the methods of [`Input`].
#[derive(Debug, Default)]
pub struct Shared {
    pub(crate) answers: Answers,
    windows: Memo<Table<PeId, (Time, Time)>>,
    base: Memo<Base>,
    times: Memo<PathTimes>,
    receptions: Memo<Receptions>,
    transfer_costs: Memo<TransferCosts>,
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

/// A value that is there, or none.
impl<T: Serialize> Serialize for Memo<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.get().serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Memo<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Option::deserialize(from).map(Memo::known)
    }
}

impl<T> Memo<T> {
    /// A value that need not be made, if it is there.
    pub(crate) fn known(value: Option<T>) -> Memo<T> {
        Memo(value.map_or_else(OnceLock::new, OnceLock::from))
    }

    pub(crate) fn into_known(self) -> Option<T> {
        self.0.into_inner()
    }

    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.0.get() {
            return value;
        }
        let made = make();
        self.0.get_or_init(|| made)
    }
}

impl Shared {
    /// Where it is known what transfers cost, and nothing that depends on it was asked yet.
    pub(crate) fn with_costs(self, costs: Option<TransferCosts>) -> Shared {
        Shared { transfer_costs: Memo::known(costs), ..self }
    }

    /// What each message took, found with the ties of the run.
    pub(crate) fn receptions(&self, input: &Input<'_>, ties: &Ties) -> &Receptions {
        self.receptions.get(|| Receptions::find(input, ties))
    }

    /// Where all queries are answered.
    pub(crate) fn known(answers: Answers, costs: Option<TransferCosts>) -> Shared {
        Shared { answers, ..Shared::default().with_costs(costs) }
    }

    /// What is kept of it beside a run, to put it side by side with others, and to draw it if it is.
    #[must_use]
    pub fn for_later(self, is_drawn: bool) -> Shared {
        Shared { answers: self.answers.for_later(is_drawn), ..Shared::default() }
    }

    /// Makes what most analyses need, before they are run side by side.
    pub fn prepare(input: &Input<'_>, ties: Ties) {
        input.base();
        if input.trace.profile().is_some() {
            rayon::join(|| input.times(), || input.operations());
            return;
        }
        // The replay is made by one thread, and so are parts of the delays.
        rayon::join(
            || input.follow_ideally(&ties),
            || {
                input.shared.receptions(input, &ties);
                (input.times(), input.operations(), input.useful())
            },
        );
        // Ties are large, and nothing else needs them.
        drop(ties);
        rayon::join(|| input.delays(), || input.transfers());
    }
}

impl<'a> Input<'a> {
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
        &self.useful_ticks().0
    }

    /// Times and visits by call path of each PE.
    pub fn times(&self) -> &'a PathTimes {
        self.shared.times.get(|| self.path_sums().times(self.trace))
    }

    /// Executions and transfers by call path, over all PEs.
    pub(crate) fn operations(&self) -> &'a Table<CallPathId, OperationSums> {
        &self.operation_sums().0
    }

    /// What each message took once both sides were there.
    pub(crate) fn receptions(&self) -> &'a Receptions {
        self.shared.receptions.get(|| Receptions::find(self, &Ties::build(self.trace, self.index)))
    }

    /// What transfers of each kind cost.
    pub(crate) fn transfer_costs(&self) -> &'a TransferCosts {
        self.shared.transfer_costs.get(|| transfers::costs(self))
    }
}
