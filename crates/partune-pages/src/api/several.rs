//! `compare` and `scaling`: several runs together. The engine compares; here its document is cut to what a page can show.

use std::sync::Arc;

use partune_engine::{CompareError, Diagnosis, Mode};
use partune_report::NamedRun;
use serde_json::{Map, Value};

use crate::error::{Answer, Error, json};
use crate::query::Query;
use crate::run::Run;
use crate::runs::Runs;
use crate::text;

/// Runs that are compared at once, rows of a table, entries of a list inside of a row.
const RUNS: usize = 64;
const ROWS: usize = 500;
const ENTRIES: usize = 64;

pub(super) fn compare(runs: &Runs, query: &str) -> Answer {
    let query = Query::new(query, &["runs"])?;
    let runs = some(runs, &query)?;
    let comparison = partune_engine::compare(&diagnoses(&runs)).map_err(|error| wrong(&error))?;
    let paths = paths(&runs);
    json(&bounded(partune_report::compare_value(&comparison, &named(&runs, &paths))))
}

pub(super) fn scaling(runs: &Runs, query: &str) -> Answer {
    let query = Query::new(query, &["runs", "mode"])?;
    let mode = query.word("mode", &[("strong", Mode::Strong), ("weak", Mode::Weak)])?;
    let runs = some(runs, &query)?;
    let scaling = partune_engine::scale(&diagnoses(&runs), mode).map_err(|error| wrong(&error))?;
    let paths = paths(&runs);
    json(&bounded(partune_report::scaling_value(&scaling, &named(&runs, &paths))))
}

/// The runs that are asked for: numbers with commas between, each once; all that are ready if none are.
fn some(runs: &Runs, query: &Query) -> Result<Vec<Arc<Run>>, Error> {
    let Some(list) = query.text("runs") else {
        let all = (0..runs.slots().len()).map(|number| runs.ready(&number.to_string()));
        return Ok(all.filter_map(Result::ok).take(RUNS).collect());
    };
    let numbers: Vec<&str> = list.split(',').collect();
    let twice = |at: usize| numbers[..at].contains(&numbers[at]);
    if numbers.len() > RUNS || (0..numbers.len()).any(twice) {
        let error = format!("runs are more than {RUNS}, or one is there twice");
        return Err(Error::question(error, "give each once, as in runs=0,1"));
    }
    numbers.iter().map(|number| runs.ready(number)).collect()
}

fn diagnoses(runs: &[Arc<Run>]) -> Vec<&Diagnosis> {
    runs.iter().map(|run| &run.diagnosis).collect()
}

fn paths(runs: &[Arc<Run>]) -> Vec<String> {
    runs.iter().map(|run| run.path.to_string_lossy().into_owned()).collect()
}

fn named<'a>(runs: &'a [Arc<Run>], paths: &'a [String]) -> Vec<NamedRun<'a>> {
    let named = runs.iter().zip(paths);
    named.map(|(run, archive)| NamedRun { archive, diagnosis: &run.diagnosis }).collect()
}

fn wrong(error: &CompareError) -> Error {
    let text = error.to_string();
    let (message, remedy) = text.split_once("\n  remedy: ").unwrap_or((&text, ""));
    Error::question(message, remedy)
}

/// The document with its first rows, which are those that matter most; `omitted` has the numbers of the others. Text is cut as everywhere.
fn bounded(document: Value) -> Value {
    let sentence = |value: Value| match value {
        Value::String(text) => Value::String(text::long(&text)),
        value => cut(value),
    };
    let Value::Object(document) = document else { return cut(document) };
    let mut omitted = Map::new();
    let mut bounded = Map::new();
    for (key, value) in document {
        let value = match value {
            Value::Array(mut rows) => {
                omitted.insert(key.clone(), Value::from(rows.len().saturating_sub(ROWS)));
                rows.truncate(ROWS);
                Value::Array(rows.into_iter().map(sentence).collect())
            }
            value => sentence(value),
        };
        bounded.insert(key, value);
    }
    bounded.insert("omitted".to_owned(), Value::Object(omitted));
    Value::Object(bounded)
}

/// Names without controls and of bounded length, lists of bounded length; of a call path, the inner part.
fn cut(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text::name(&text)),
        Value::Array(rows) => {
            let first = rows.len().saturating_sub(ENTRIES);
            Value::Array(rows.into_iter().skip(first).map(cut).collect())
        }
        Value::Object(fields) => Value::Object(fields.into_iter().map(|(key, value)| (key, cut(value))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
