//! What the fuzz target of models of data does with its input; the tests of `partune-mds` run it over changed models.
//!
//! Besides not panicking: a model that can be followed within narrow limits is followed to the same figures again, its parts add up to the run, and
//! what is formatted means the same.

use partune_mds::{Options, follow};
use partune_model::{Values, defaults, format, has_errors, lower, parse};

/// A model's text.
pub(crate) fn model_data(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(outcome) = followed(text) else { return };
    assert_eq!(followed(text).as_deref(), Some(&*outcome), "{text}");
    if let Some(formatted) = format(text) {
        assert_eq!(followed(&formatted).as_deref(), Some(&*outcome), "{text}\n{formatted}");
    }
}

/// The figures of all alternatives that can be followed.
fn followed(text: &str) -> Option<Vec<String>> {
    let (file, told) = parse(text);
    let values = defaults(&file, &Values::new());
    let (model, _) = lower(text, &file, &values, &|name| Err(["no file ", name].concat()));
    let model = model.filter(|_| !has_errors(&told))?;
    let few = Options { max_elements: 100_000, max_lines: 100_000, max_references: 100_000, max_turns: 100_000 };
    let mut all = Vec::new();
    for alternative in &model.alternatives {
        match follow(&model, alternative, &few) {
            Ok(outcome) => {
                let (sum, run) = (outcome.bounds.sum(), outcome.run_s);
                assert!((sum - run).abs() <= 1e-6 * run.abs() || !run.is_finite(), "{sum} {run}: {text}");
                all.push(std::format!("{outcome:?}"));
            }
            Err(error) => {
                assert!(text.get(error.span.range()).is_some(), "{error:?}");
                all.push(error.message);
            }
        }
    }
    Some(all)
}
