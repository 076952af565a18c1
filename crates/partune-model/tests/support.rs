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
