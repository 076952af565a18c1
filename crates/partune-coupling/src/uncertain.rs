//! Values that remember which measurements they were made from, so that one which went into them twice is counted as one: propagation of errors to
//! the first order, `σ² = Σ (∂f/∂x σ_x)²` over independent `x`.

use crate::error::{CouplingError, Subject};
use crate::measured::{Combine, Measured, Metric, Quantity};

/// A value, and what each measurement adds to its error.
#[derive(Clone, Debug)]
pub(crate) struct Uncertain {
    pub(crate) value: f64,
    /// By number of the measurement, ascending: `∂value/∂x σ_x`.
    terms: Vec<(u32, f64)>,
}

/// Numbers measurements; each is independent of all others.
#[derive(Default)]
pub(crate) struct Sources(u32);

/// A quantity whose errors are known.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) amount: Uncertain,
    pub(crate) per: Uncertain,
}

impl Sources {
    pub(crate) fn measured(&mut self, measured: Measured) -> Uncertain {
        self.0 += 1;
        let terms = if measured.deviation > 0.0 { vec![(self.0, measured.deviation)] } else { Vec::new() };
        Uncertain { value: measured.value, terms }
    }

    pub(crate) fn pair(&mut self, quantity: &Quantity) -> Pair {
        Pair { amount: self.measured(quantity.amount), per: self.measured(quantity.per) }
    }
}

impl Uncertain {
    /// A function of others: its value, and its derivative by each of them. Terms of all of them, sorted.
    pub(crate) fn of<'a>(value: f64, parts: impl IntoIterator<Item = (f64, &'a Uncertain)>) -> Uncertain {
        let of = |(by, part): (f64, &'a Uncertain)| part.terms.iter().map(move |(source, term)| (*source, by * term));
        let mut terms: Vec<(u32, f64)> = parts.into_iter().flat_map(of).collect();
        terms.sort_by_key(|term| term.0);
        terms.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            first.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
        Uncertain { value, terms }
    }

    /// `Σ factor · part`.
    pub(crate) fn sum<'a>(parts: impl IntoIterator<Item = (f64, &'a Uncertain)>) -> Uncertain {
        let parts: Vec<(f64, &Uncertain)> = parts.into_iter().collect();
        Uncertain::of(parts.iter().map(|(factor, part)| factor * part.value).sum(), parts)
    }

    pub(crate) fn times(&self, other: &Uncertain) -> Uncertain {
        Uncertain::of(self.value * other.value, [(other.value, self), (self.value, other)])
    }

    pub(crate) fn by(&self, other: &Uncertain) -> Uncertain {
        let value = self.value / other.value;
        Uncertain::of(value, [(1.0 / other.value, self), (-value / other.value, other)])
    }

    /// What may leave the crate: nothing that has overflowed.
    pub(crate) fn finish(&self) -> Result<Measured, CouplingError> {
        let deviation = self.terms.iter().map(|(_, term)| term * term).sum::<f64>().sqrt();
        Measured { value: self.value, deviation }.check(&Subject::Result)
    }
}

impl Metric {
    /// The value of a metric.
    pub(crate) fn level(&self, pair: &Pair) -> Uncertain {
        match self.combine {
            Combine::Sum | Combine::Maximum => pair.amount.clone(),
            Combine::Ratio => pair.amount.by(&pair.per),
        }
    }

    /// What a chain weighs in the coefficients of its kernels: its value, as in the paper; of a ratio what it is counted per, which for a rate is
    /// time.
    pub(crate) fn weight(&self, pair: &Pair) -> Uncertain {
        match self.combine {
            Combine::Sum | Combine::Maximum => pair.amount.clone(),
            Combine::Ratio => pair.per.clone(),
        }
    }

    /// What several make that do nothing to each other, each so many times.
    pub(crate) fn combined<'a>(&self, parts: impl IntoIterator<Item = (f64, &'a Pair)>) -> Pair {
        let parts: Vec<(f64, &Pair)> = parts.into_iter().filter(|part| part.0 > 0.0).collect();
        match self.combine {
            Combine::Sum | Combine::Ratio => Pair {
                amount: Uncertain::sum(parts.iter().map(|(count, pair)| (*count, &pair.amount))),
                per: Uncertain::sum(parts.iter().map(|(count, pair)| (*count, &pair.per))),
            },
            Combine::Maximum => {
                let most = parts.iter().max_by(|a, b| a.1.amount.value.total_cmp(&b.1.amount.value));
                let none = || Uncertain { value: 0.0, terms: Vec::new() };
                most.map_or_else(|| Pair { amount: none(), per: none() }, |(_, pair)| (*pair).clone())
            }
        }
    }
}
