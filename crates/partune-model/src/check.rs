//! All that is wrong with a model as far as it can be told without a run of it: for `partune model check`.

use crate::ast::File;
use crate::diagnostic::{Diagnostic, has_errors};
use crate::estimate::fault;
use crate::lower::{Files, Values, defaults, lower};
use crate::model::Model;

/// As [`lower`]. Defaults of parameters are checked as values that are given are, and where all have one, so is what a run would meet.
pub fn check(source: &str, file: &File, values: &Values, files: Files<'_>) -> (Option<Model>, Vec<Diagnostic>) {
    let (model, mut diagnostics) = lower(source, file, values, files);
    let mut given = defaults(file, values);
    given.extend(values.clone());
    let (complete, more) = lower(source, file, &given, files);
    let alternatives = complete.iter().flat_map(|model| model.alternatives.iter().map(move |it| (model, &it.term)));
    let faults = alternatives.filter_map(|(model, term)| fault(model, term));
    for one in more.into_iter().chain(faults) {
        if !diagnostics.contains(&one) {
            diagnostics.push(one);
        }
    }
    diagnostics.sort_by_key(|one| one.span);
    (model.filter(|_| !has_errors(&diagnostics)), diagnostics)
}
