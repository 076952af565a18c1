//! Delay costs: which code of which PE made others wait, directly or through a chain of waits.
//!
//! After Böhme, Geimer, Arnold, Voigtlaender, Wolf, "Identifying the root causes of wait states in large-scale parallel
//! applications" (ACM TOPC 3(2), 2016). For a wait of length ω that PE q caused on PE p, between their last common
//! synchronisation point and the wait: t_q(c), t_p(c) time by call path without waits; d(c) = max(0, t_q(c) − t_p(c)), D = Σ d;
//! W = Σ waits of q in the interval, which pass their share on. Short-term cost of c on q: d(c)·σ, σ = min(ω/(D+W), 1).
//! Backwards in time each wait ω' of W inherits ρ' = ω'·(σ + ρ/(D+W)), and books long-term cost d'(c)·ρ'/(D'+W').
//! So Σ short + Σ long = Σ min(ω, D+W), a law that is tested.
//!
//! Cost: linear, with three bounds that hold on any trace: at most 2^18 waits are looked at, each visit twice on average, and
//! the shortest waits, up to 1 % of all waiting, only where all of it costs little. The longest are looked at, and of those next in length every k-th.
//! The others are charged to the same call paths, in the same proportions, as those that were looked at and had a cause in the
//! same operation of the same PE (or to that operation itself if there is none), so that the law holds for all waits; what
//! they hand on to earlier waits is not followed. Memory: 4 bytes a visit, about 40 a wait, 50 more a wait that is looked at, 16 a
//! member of a collective; of it, about 60 bytes a wait that was looked at are kept, and 8 for each call path that was late.

mod chains;
mod excess;
mod propagate;
mod roots;
mod selection;

use partune_base::{CallPathId, PeId};
use partune_index::Index;
use partune_trace::Trace;
use serde::{Deserialize, Serialize};

use crate::queries::{Query, add_rows};
use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Pattern, Scalar, Section, SectionShape, Shape, TableShape,
    Unit, Values, Waits,
};

pub(crate) use chains::{Chains, Root};
pub(crate) use excess::Lookup;
pub(crate) use roots::{RootCharge, Roots};
pub(crate) use selection::NEGLIGIBLE;

/// How late code of one PE was, for one pattern of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayCost {
    pub pattern: Pattern,
    pub path: CallPathId,
    pub pe: PeId,
    /// Waiting caused directly, in ticks.
    pub short_term: f64,
    /// Waiting caused through waits of others, in ticks.
    pub long_term: f64,
}

/// All delay costs of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Delays {
    /// In order of (pattern, path, PE).
    pub costs: Vec<DelayCost>,
    /// Waiting for which no delay was found: no cause, or more waiting than delay (the cap of σ); in ticks.
    pub unattributed: f64,
    /// What is behind the waits that were looked at, to follow those of one place. Those of slices are not added up, so they do not travel.
    #[serde(skip)]
    pub(crate) chains: Chains,
}

impl Delays {
    /// Computes all costs from the waits.
    pub fn find(trace: &Trace, index: &Index, waits: &Waits) -> Delays {
        let excess = excess::all(trace, index, waits);
        let shares = propagate::shares(trace, waits, &excess);
        let mut delays = propagate::book(trace, waits, &excess, &shares);
        delays.chains = Chains::new(trace, waits, &excess);
        delays
    }
}

impl Query for Delays {
    fn of(input: &Input<'_>) -> Delays {
        Delays::find(input.trace, input.index, input.waits)
    }

    /// What is behind single waits is that of a slice, and is not kept.
    fn add(&mut self, next: Delays) {
        self.unattributed += next.unattributed;
        self.chains = Chains::default();
        let key = |cost: &DelayCost| (cost.pattern, cost.path, cost.pe);
        add_rows(&mut self.costs, next.costs, key, |sum, more| {
            sum.short_term += more.short_term;
            sum.long_term += more.long_term;
        });
    }
}

/// The analysis.
pub(crate) static DELAY: Analysis = Analysis {
    name: "delay",
    title: "Delay costs: the code that makes others wait",
    docs: DOCS,
    finds: false,
    needs: Needs::Queries,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "delay",
    scalars: &[("short_term_s", Unit::Seconds), ("long_term_s", Unit::Seconds), ("unattributed_s", Unit::Seconds)],
    tables: &[TableShape {
        name: "delays",
        columns: &[
            ("pattern", Shape::Word),
            ("pe", Shape::Pe),
            ("path", Shape::Path),
            ("short_term_s", Shape::SECONDS),
            ("long_term_s", Shape::SECONDS),
        ],
    }],
}];

const DOCS: &str = "
Which code made others wait, in seconds of waiting that it cost. A wait is traced back to what its cause did since both PEs were
last together: a call path in which the late PE spent more time than the waiting one is charged with its share of the wait.

- **short-term**: waiting that the late PE caused directly.
- **long-term**: waiting that came about because the late PE had itself been kept waiting before; it is handed on, backwards in
  time, until it ends at work and not at another wait.

For a wait ω, d(c) = max(0, time of the late PE in c − time of the waiting PE in c), D = Σ d(c), W = waits of the late PE in the
interval: cost(c) = d(c) · (σ + ρ/(D+W)) with σ = min(ω/(D+W), 1), and ρ = ω · Σ (σ + ρ/(D+W)) over the later waits that it
caused. Short and long-term costs together are the waiting time, except for `unattributed`: waits without a known cause, and
those longer than all delay found (transfer and overhead).

Costs are listed under the pattern of the wait where the delay is. In runs with more than 262,144 waits only the longest are looked
at; the others are charged in the same proportions as those that were kept by the same operation of the same PE.

Source: Böhme et al., Identifying the root causes of wait states in large-scale parallel applications, ACM TOPC 3(2), 2016.
";

fn run(input: &Input<'_>) -> Outcome {
    let delays = input.delays();
    let seconds = |ticks: f64| ticks / input.trace.clock().ticks_per_second() as f64;
    let total = |part: fn(&DelayCost) -> f64| seconds(delays.costs.iter().map(part).sum());
    let scalar = |name, value| Scalar { name, value, unit: Unit::Seconds };
    let mut rows: Vec<&DelayCost> = delays.costs.iter().collect();
    rows.sort_by(|a, b| (b.short_term + b.long_term).total_cmp(&(a.short_term + a.long_term)));
    let number = |part: fn(&DelayCost) -> f64| {
        Values::Number(Unit::Seconds, rows.iter().map(|row| seconds(part(row))).collect())
    };
    let table = DataTable {
        name: "delays",
        columns: vec![
            Column { name: "path", values: Values::Path(rows.iter().map(|row| row.path).collect()) },
            Column { name: "pe", values: Values::Pe(rows.iter().map(|row| row.pe).collect()) },
            Column { name: "pattern", values: Values::Word(rows.iter().map(|row| row.pattern.name()).collect()) },
            Column { name: "short_term_s", values: number(|row| row.short_term) },
            Column { name: "long_term_s", values: number(|row| row.long_term) },
        ],
    };
    let section = Section {
        name: "delay",
        scalars: vec![
            scalar("short_term_s", total(|row| row.short_term)),
            scalar("long_term_s", total(|row| row.long_term)),
            scalar("unattributed_s", seconds(delays.unattributed)),
        ],
        tables: vec![table],
        notes: Vec::new(),
        ..Section::default()
    };
    Outcome { findings: Vec::new(), sections: vec![section] }
}
