//! What the fuzz target of models of data does with its input; the tests of `partune-mds` run it over changed models.
//!
//! Besides not panicking: a model that can be followed within narrow limits is followed to the same figures again, also where it is recorded, its parts add
//! up to the run, and what is formatted means the same.

use partune_mds::tune::tune;
use partune_mds::{Options, follow, record};
use partune_model::change::Original;
use partune_model::{Values, defaults, format, has_errors, lower, parse};

/// A model's text.
pub(crate) fn model_data(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Behind a line of this, changes of the model are tried.
    if let Some((model, changes)) = text.split_once("\n--try\n") {
        tried(model, changes);
    }
    let Some(outcome) = followed(text) else { return };
    assert_eq!(followed(text).as_deref(), Some(&*outcome), "{text}");
    if let Some(formatted) = format(text) {
        assert_eq!(followed(&formatted).as_deref(), Some(&*outcome), "{text}\n{formatted}");
    }
}

const FEW: Options = Options {
    max_elements: 100_000,
    max_lines: 100_000,
    max_references: 100_000,
    max_turns: 100_000,
    max_visits: 100_000,
    order: true,
};

/// Tries changes, each line alone: the best is not worse than the rest, and errors have places in the two texts.
fn tried(source: &str, changes: &str) {
    let (file, told) = parse(source);
    let given = Values::new();
    let files = |name: &str| Err(["no file ", name].concat());
    let (model, _) = lower(source, &file, &defaults(&file, &given), &files);
    let Some(model) = model.filter(|_| !has_errors(&told)) else { return };
    let tries: Vec<String> = changes.lines().take(4).map(str::to_owned).collect();
    for alternative in &model.alternatives {
        let original = Original { text: source, file: &file, values: &given, model: &model, alternative };
        match tune(&original, &tries, &files, &FEW) {
            Ok(tuned) => {
                // No run is shorter than its tasks and barriers need.
                for it in tuned.tries.iter().map(|it| &it.found).chain([&tuned.original]) {
                    let (least, run) = (it.least_s.unwrap_or(0.0), it.outcome.run_s);
                    assert!(run.is_nan() || least <= run * (1.0 + 1e-9), "{least} {run}: {source}\n{changes}");
                }
                let sound = tuned.tries.iter().filter(|it| it.is_sound).map(|it| it.found.outcome.run_s);
                assert!(sound.is_sorted_by(|a, b| a <= b || a.is_nan() || b.is_nan()), "{source}\n{changes}");
            }
            Err(wrong) => {
                for (at, error) in wrong {
                    let both = [source, "\n", at.map_or("", |at| &tries[at])].concat();
                    assert!(both.get(error.span.range()).is_some(), "{error:?}: {both}");
                }
            }
        }
    }
}

/// The figures of all alternatives that can be followed.
fn followed(text: &str) -> Option<Vec<String>> {
    let (file, told) = parse(text);
    let values = defaults(&file, &Values::new());
    let (model, _) = lower(text, &file, &values, &|name| Err(["no file ", name].concat()));
    let model = model.filter(|_| !has_errors(&told))?;
    let mut all = Vec::new();
    for alternative in &model.alternatives {
        match follow(&model, alternative, &FEW) {
            Ok(outcome) => {
                let (sum, run) = (outcome.bounds.sum(), outcome.run_s);
                assert!((sum - run).abs() <= 1e-6 * run.abs() || !run.is_finite(), "{sum} {run}: {text}");
                let told = std::format!("{outcome:?}");
                if let Ok((recorded, _)) = record(&model, alternative, &FEW) {
                    assert_eq!(std::format!("{recorded:?}"), told, "{text}");
                }
                all.push(told);
            }
            Err(error) => {
                assert!(text.get(error.span.range()).is_some(), "{error:?}");
                all.push(error.message);
            }
        }
    }
    Some(all)
}
