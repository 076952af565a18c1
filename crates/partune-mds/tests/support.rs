//! Models from text, followed.

use partune_mds::{Options, Outcome, PhaseRow, follow, record};
use partune_model::model::Model;
use partune_model::{Diagnostic, Values, has_errors, lower, parse};
use partune_trace::Trace;

/// A model, and the first alternative of it; what is wrong comes as text with line and column.
fn lowered(source: &str, given: &[(&str, i64)]) -> Result<Model, String> {
    let (file, mut told) = parse(source);
    let mut values: Values = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    values.extend(partune_model::defaults(&file, &values));
    let (model, more) = lower(source, &file, &values, &|name| Err(format!("no file {name} in tests")));
    told.extend(more);
    if has_errors(&told) {
        return Err(told.iter().map(|one| placed(source, one)).collect::<Vec<_>>().join("\n"));
    }
    model.ok_or_else(|| "no model".to_owned())
}

fn placed(source: &str, one: &Diagnostic) -> String {
    let before = &source[..one.span.begin as usize];
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
    format!("{}:{column}: {}", before.matches('\n').count() + 1, one.message)
}

/// Follows the first alternative.
pub(crate) fn tried(source: &str, given: &[(&str, i64)], options: &Options) -> Result<Outcome, String> {
    let model = lowered(source, given)?;
    follow(&model, &model.alternatives[0], options).map_err(|error| placed(source, &error))
}

/// The same, and records it.
pub(crate) fn recorded(source: &str, options: &Options) -> Result<(Outcome, Trace), String> {
    let model = lowered(source, &[])?;
    record(&model, &model.alternatives[0], options).map_err(|error| placed(source, &error))
}

#[track_caller]
pub(crate) fn followed(source: &str, given: &[(&str, i64)]) -> Outcome {
    tried(source, given, &Options::default()).unwrap_or_else(|told| panic!("{told}\n{source}"))
}

#[track_caller]
pub(crate) fn phase<'a>(outcome: &'a Outcome, name: &str) -> &'a PhaseRow {
    outcome.phases.iter().find(|phase| phase.name == name).unwrap_or_else(|| panic!("no phase {name}: {outcome:#?}"))
}
