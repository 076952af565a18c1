//! Models from text, and their numbers.

use partune_expr::{Number, Rat};
use partune_model::simulate::{Options, Outcome, simulate};
use partune_model::{Diagnostic, Model, Values, lower, parse};

pub(crate) fn values(list: &[(&str, i64)]) -> Values {
    list.iter().map(|(name, value)| ((*name).to_owned(), Rat::from(*value))).collect()
}

/// A model and what was told about it.
pub(crate) fn read(source: &str, given: &Values) -> (Option<Model>, Vec<Diagnostic>) {
    let (file, mut diagnostics) = parse(source);
    let (model, more) = lower(source, &file, given, &|name| Err(format!("no file {name} in tests")));
    let model = if diagnostics.is_empty() { model } else { None };
    diagnostics.extend(more);
    (model, diagnostics)
}

#[track_caller]
pub(crate) fn model(source: &str, given: &[(&str, i64)]) -> Model {
    let (model, diagnostics) = read(source, &values(given));
    model.unwrap_or_else(|| panic!("{source}\n{diagnostics:#?}"))
}

#[track_caller]
pub(crate) fn simulated(model: &Model) -> Outcome {
    simulate(model, &model.alternatives[0].term, &Options::default()).unwrap_or_else(|error| panic!("{error:?}"))
}

pub(crate) fn exact(value: i64) -> Number {
    Number::Exact(value.into())
}

#[track_caller]
pub(crate) fn rat(value: Number) -> Rat {
    match value {
        Number::Exact(value) => value,
        Number::Approx(value) => panic!("{value} is not exact"),
    }
}

/// Random numbers for tests: SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> i64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n) as i64
    }
}
