//! What the efficiency of scaling is the product of.
//!
//! With Σu useful seconds, PE = LB · Ser · Transfer the parallel efficiency and σ the share of the run between start-up and
//! shut-down, T · p = Σu / (PE · σ), so that E = C · LB/LB₀ · Ser/Ser₀ · Transfer/Transfer₀ · σ/σ₀ exactly, where C is the ideal
//! Σu to the real one: POP's computation scaling (theory 7.1).

use super::Mode;
use crate::Efficiency;
use crate::compare::Run;
use crate::compare::figures::efficiency;

/// Factors of the efficiency of scaling: each 1 if it is as good as at the first point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// Ideal to real useful time, summed over PEs.
    pub computation: f64,
    pub load_balance: f64,
    /// Serialization and transfer together.
    pub communication: f64,
    /// None for profiles.
    pub serialization: Option<f64>,
    /// None for profiles.
    pub transfer: Option<f64>,
    /// The share of the run that is not start-up or shut-down.
    pub start_up: f64,
}

/// Which factor limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Computation,
    LoadBalance,
    /// Serialization or transfer: a profile does not tell them apart.
    Communication,
    Serialization,
    Transfer,
    StartUp,
}

impl Limit {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Computation => "computation",
            Limit::LoadBalance => "load_balance",
            Limit::Communication => "communication",
            Limit::Serialization => "serialization",
            Limit::Transfer => "transfer",
            Limit::StartUp => "start_up",
        }
    }
}

impl Factors {
    /// The factors whose product is the efficiency.
    pub fn all(&self) -> Vec<(Limit, f64)> {
        let communication = match (self.serialization, self.transfer) {
            (Some(serialization), Some(transfer)) => {
                vec![(Limit::Serialization, serialization), (Limit::Transfer, transfer)]
            }
            _ => vec![(Limit::Communication, self.communication)],
        };
        let mut all = vec![(Limit::Computation, self.computation), (Limit::LoadBalance, self.load_balance)];
        all.extend(communication);
        all.push((Limit::StartUp, self.start_up));
        all
    }

    /// The smallest of them.
    pub fn smallest(&self) -> Limit {
        let smallest = self.all().into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
        smallest.map_or(Limit::Computation, |(limit, _)| limit)
    }
}

/// The factors of a run to those of the first; each with its PEs. None if one of them has no efficiency.
pub(super) fn relative(mode: Mode, first: (usize, &Run<'_>), run: (usize, &Run<'_>)) -> Option<Factors> {
    let k = run.0 as f64 / first.0 as f64;
    let (before, after) = (efficiency(first.1.sections)?, efficiency(run.1.sections)?);
    let positive = |value: Option<f64>| value.filter(|value| *value > 0.0);
    let ratio = |of: fn(&Efficiency) -> Option<f64>| Some(positive(of(&after))? / positive(of(&before))?);
    let measured = |run: &Run<'_>, of: &Efficiency| Some(positive(of.run_seconds)? / run.trace_seconds());
    Some(Factors {
        computation: mode.ideal(k, positive(before.useful_seconds)?) / positive(after.useful_seconds)?,
        load_balance: ratio(|it| it.load_balance)?,
        communication: ratio(|it| it.communication)?,
        serialization: ratio(|it| it.serialization),
        transfer: ratio(|it| it.transfer),
        start_up: measured(run.1, &after)? / measured(first.1, &before)?,
    })
}
