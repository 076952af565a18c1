//! `metrics`: which there are. `counters`: one of them over time, on rows of PEs.

use partune_base::{Id, MetricId, PeId};
use partune_engine::{Fold, Reading, View};
use serde::Serialize;

use super::Ask;
use super::rows::{Rows, chosen};
use super::timeline::interval;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Metrics that are listed, and limits of a view.
const METRICS: usize = 1000;
const ROWS: usize = 128;
const COLUMNS: usize = 2048;
/// Numbers of an answer, and pairs of searches that are made for it.
const NUMBERS: usize = 1 << 15;
const SEARCHES: usize = 1 << 20;

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Metrics {
    name: Vec<String>,
    unit: Vec<String>,
    /// It is a counter, and not a gauge.
    counts: Vec<bool>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Counters {
    from: i64,
    to: i64,
    columns: usize,
    reading: &'static str,
    /// Of PEs that have samples of the metric.
    rows: Rows,
    values: Vec<Vec<Option<f64>>>,
}

impl Metrics {
    /// The first so many.
    pub(super) fn new(run: &Run, most: usize) -> Metrics {
        let mut metrics = Metrics::default();
        for metric in run.recorded().metrics().take(most) {
            metrics.name.push(text::name(metric.name));
            metrics.unit.push(text::name(metric.unit));
            metrics.counts.push(metric.counts);
        }
        metrics
    }
}

pub(super) fn metrics(run: &Run, ask: &Ask<'_>) -> Result<Metrics, Error> {
    Ok(Metrics::new(run, METRICS.min(ask.most)))
}

pub(super) fn counters(run: &Run, ask: &Ask<'_>) -> Result<Counters, Error> {
    run.needs_events()?;
    let recorded = run.recorded();
    let metric = MetricId::from_index(ask.query.needed("metric", 0..=u32::MAX)? as usize);
    if recorded.metric(metric).is_none() {
        return Err(Error::question("there is no such metric", "runs/R/metrics lists them"));
    }
    let (begin, end) = interval(run, &ask.query)?;
    let words = [("level", ("level", Reading::Level)), ("rate", ("rate", Reading::Rate))];
    let (name, reading) = ask.query.word("as", &words)?;
    let rows = ask.query.number("rows", 1..=ROWS)?.unwrap_or(32).min(ask.most);
    let columns = ask.query.number("columns", 1..=COLUMNS)?.unwrap_or(512).min(ask.most);
    let (asked, _) = chosen(run, &ask.query)?;
    let counters = recorded.counters(metric);
    let measured: Vec<PeId> = counters.pes().collect();
    let known = asked.into_iter().filter(|pe| measured.binary_search(pe).is_ok());
    // Sources of metrics are no PEs that one can choose.
    let sources = measured.iter().copied().filter(|pe| run.number(*pe).is_none());
    let fold = Fold::new(known.chain(sources).collect(), rows);
    let ticks = usize::try_from(end.since(begin).0).unwrap_or(usize::MAX);
    let most = (NUMBERS / fold.len().max(1)).min(SEARCHES / fold.pes().len().max(1)).min(ticks);
    let columns = columns.min(most).max(1);
    Ok(Counters {
        from: run.ns(begin),
        to: run.ns(end),
        columns,
        reading: name,
        rows: Rows::new(run, &fold),
        values: counters.read(&fold, View { begin, end, columns }, reading),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use partune_engine::Request;
    use serde_json::{Value, json};

    use crate::runs::Runs;

    #[test]
    fn a_metric_is_told_over_time() {
        let trace = partune_testkit::trace(
            "metric ins accumulated #
             metric queue next #
             pe 0: main 0..40 { work 0..40 metric(ins=0)@0 metric(ins=40)@40 metric(queue=3)@20 }
             pe 1: main 0..40 { work 0..40 metric(ins=0)@20 metric(ins=40)@40 }
             pe 2: main 0..40 { work 0..40 }",
        );
        let runs = Runs::of(Path::new("metrics"), partune_engine::analyze(trace, &Request::default(), &()));
        let question = |path: &str, query: &str| -> Value {
            let answer = crate::answer(&runs, &format!("runs/0/{path}"), query).expect("it is answered");
            serde_json::from_slice(&answer).expect("JSON")
        };
        let list = json!({"name": ["ins", "queue"], "unit": ["#", "#"], "counts": [true, false]});
        assert_eq!(question("metrics", ""), list);
        assert_eq!(question("environment", "")["metrics"], list);
        let asked = |query: &str| question("counters", query);
        let rate = asked("metric=0&as=rate&columns=2");
        assert_eq!(rate["values"], json!([[1e9, 1e9], [null, 2e9]]));
        assert_eq!(rate["rows"], json!({"label": ["0", "1"], "first": [0, 1], "count": [1, 1]}));
        assert_eq!(asked("metric=0&as=rate&columns=2&rows=1")["values"], json!([[1e9, 3e9]]));
        assert_eq!(asked("metric=0&columns=2&only=1")["values"], json!([[null, 20.0]]));
        assert_eq!(asked("metric=1&columns=2")["values"], json!([[null, 3.0]]));
        assert_eq!(asked("metric=0&as=rate&from=20&to=40&columns=2000")["columns"], 20, "not finer than the clock");
        for wrong in ["", "metric=2", "metric=0&as=mean", "metric=0&columns=0", "metric=0&only=5"] {
            assert!(crate::answer(&runs, "runs/0/counters", wrong).is_err(), "{wrong}");
        }
    }
}
