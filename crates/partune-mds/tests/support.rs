//! Models from text, followed.

use partune_mds::{Options, Outcome, PhaseRow, follow};
use partune_model::{Diagnostic, Values, has_errors, lower, parse};

/// Follows the first alternative; what is wrong comes as text with line and column.
pub(crate) fn tried(source: &str, given: &[(&str, i64)], options: &Options) -> Result<Outcome, String> {
    let (file, mut told) = parse(source);
    let mut values: Values = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    values.extend(partune_model::defaults(&file, &values));
    let (model, more) = lower(source, &file, &values, &|name| Err(format!("no file {name} in tests")));
    told.extend(more);
    let placed = |one: &Diagnostic| {
        let before = &source[..one.span.begin as usize];
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        format!("{}:{column}: {}", before.matches('\n').count() + 1, one.message)
    };
    if has_errors(&told) {
        return Err(told.iter().map(placed).collect::<Vec<_>>().join("\n"));
    }
    let model = model.ok_or("no model")?;
    follow(&model, &model.alternatives[0], options).map_err(|error| placed(&error))
}

#[track_caller]
pub(crate) fn followed(source: &str, given: &[(&str, i64)]) -> Outcome {
    tried(source, given, &Options::default()).unwrap_or_else(|told| panic!("{told}\n{source}"))
}

#[track_caller]
pub(crate) fn phase<'a>(outcome: &'a Outcome, name: &str) -> &'a PhaseRow {
    outcome.phases.iter().find(|phase| phase.name == name).unwrap_or_else(|| panic!("no phase {name}: {outcome:#?}"))
}
