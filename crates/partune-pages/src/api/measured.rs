//! `measured`: one measure by call path, and of one call path by PE.

use partune_base::{Id, MetricId, PeId};
use partune_engine::{Amount, Fold, Measure};
use serde::Serialize;

use super::Ask;
use super::rows::{Rows, by_row, chosen};
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Call paths that are listed, those that have most; and rows of PEs.
const PATHS: usize = 2000;
const ROWS: usize = 512;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Measured {
    /// Seconds, bytes, the unit of a counter; empty for plain numbers.
    unit: String,
    paths: Paths,
    paths_omitted: usize,
    /// Of the call path that is asked for, or all of the program.
    rows: Rows,
    own: Vec<f64>,
    whole: Vec<f64>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Paths {
    /// None for the code outside of all.
    path: Vec<Option<u32>>,
    own: Vec<f64>,
    whole: Vec<f64>,
}

pub(super) fn measured(run: &Run, ask: &Ask<'_>) -> Result<Measured, Error> {
    let (query, recorded) = (&ask.query, run.recorded());
    let words = [("time", 0), ("waiting", 1), ("visits", 2), ("bytes", 3), ("counter", 4)];
    let seconds = || "s".to_owned();
    let (measure, unit) = match query.word("of", &words)? {
        0 => (Measure::Time, seconds()),
        1 => (Measure::Waiting, seconds()),
        2 => (Measure::Visits, String::new()),
        3 => (Measure::Bytes, "B".to_owned()),
        _ => {
            if recorded.is_in_slices() {
                return Err(Error::slices());
            }
            let metric = MetricId::from_index(query.needed("metric", 0..=u32::MAX)? as usize);
            let known = recorded.metric(metric).filter(|it| it.counts);
            let known =
                known.ok_or_else(|| Error::question("there is no such counter", "runs/R/metrics lists them"))?;
            (Measure::Counter(metric), text::name(known.unit))
        }
    };
    let path = query.number("path", 0..=u32::MAX)?.map(|path| run.call_path(path)).transpose()?;
    let rows = query.number("rows", 1..=ROWS)?.unwrap_or(128).min(ask.most);
    let (mut pes, _) = chosen(run, query)?;
    // Sources of metrics are no PEs that one can choose.
    let sources = |pe: &PeId| run.number(*pe).is_none();
    let measured = recorded.measured(measure);
    let all: Vec<PeId> = (0..recorded.pes().len()).map(PeId::from_index).filter(sources).collect();
    let counted = measured.by_pe(None, &all);
    pes.extend(all.iter().zip(counted).filter(|(_, it)| it.whole != 0.0).map(|it| *it.0));
    let scale = |value: f64| if unit == "s" { value / recorded.clock().ticks_per_second() as f64 } else { value };
    let mut by_path = measured.by_path();
    by_path.sort_by(|a, b| b.1.whole.total_cmp(&a.1.whole).then(a.0.cmp(&b.0)));
    let listed = PATHS.min(ask.most);
    let mut paths = Paths::default();
    for (path, amount) in by_path.iter().take(listed) {
        paths.path.push(path.some().map(|path| path.0));
        paths.own.push(scale(amount.own));
        paths.whole.push(scale(amount.whole));
    }
    let fold = Fold::new(pes, rows);
    let amounts = measured.by_pe(path, fold.pes());
    let sums = |of: fn(&Amount) -> f64| by_row(&fold, &amounts).map(|row| scale(row.iter().map(of).sum())).collect();
    Ok(Measured {
        paths,
        paths_omitted: by_path.len().saturating_sub(listed),
        rows: Rows::new(run, &fold),
        own: sums(|it| it.own),
        whole: sums(|it| it.whole),
        unit,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use partune_engine::Request;
    use serde_json::{Value, json};

    use crate::runs::Runs;

    fn asked(runs: &Runs, path: &str) -> Value {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let answer = crate::answer(runs, &format!("runs/0/{path}"), query);
        serde_json::from_slice(&answer.unwrap_or_else(|error| panic!("{path}?{query}: {error:?}"))).expect("it is JSON")
    }

    #[test]
    fn a_measure_is_told_by_call_path_and_pe() {
        let trace = partune_testkit::trace(
            "metric ins accumulated #
             resolution 1000
             pe 0: main 0..100 { work 0..40 metric(ins=0)@0 metric(ins=40)@40 { inner 10..20 } MPI_Send 50..60 send(to=1, bytes=800) metric(ins=90)@60 }
             pe 1: main 0..100 { work 0..70 metric(ins=0)@0 metric(ins=7)@70 { MPI_Recv 30..60 recv(from=0, bytes=800) } }",
        );
        let runs = Runs::of(Path::new("measured"), partune_engine::analyze(trace, &Request::default(), &()));
        let tree = asked(&runs, "tree?depth=64");
        let told = asked(&runs, "measured?of=time");
        // The same as in the call tree, path by path.
        let nodes = |key: &str| tree["nodes"][key].as_array().expect("a list").clone();
        assert_eq!(told["paths"]["path"].as_array().map(Vec::len), Some(nodes("path").len()));
        for (at, path) in nodes("path").iter().enumerate() {
            let position = told["paths"]["path"].as_array().and_then(|it| it.iter().position(|it| it == path));
            let position = position.expect("it is measured");
            assert_eq!(told["paths"]["own"][position], nodes("exclusive_s")[at], "{path}");
            assert_eq!(told["paths"]["whole"][position], nodes("inclusive_s")[at], "{path}");
        }
        assert_eq!((&told["whole"], &told["unit"]), (&json!([0.1, 0.1]), &json!("s")));
        let path = |name: &str| {
            let at = nodes("name").iter().position(|it| it == name).expect("it is there");
            nodes("path")[at].as_u64().expect("a number")
        };
        let of = |measure: &str, name: &str| {
            let told = asked(&runs, &format!("measured?of={measure}&path={}", path(name)));
            (told["own"].clone(), told["whole"].clone())
        };
        assert_eq!(of("time", "work"), (json!([0.03, 0.04]), json!([0.04, 0.07])));
        assert_eq!(of("visits", "inner"), (json!([1.0, 0.0]), json!([1.0, 0.0])));
        assert_eq!(of("bytes", "main"), (json!([0.0, 0.0]), json!([800.0, 800.0])));
        assert_eq!(of("waiting", "MPI_Recv"), (json!([0.0, 0.02]), json!([0.0, 0.02])));
        // By the table of metrics: growth belongs to the code of the first sample.
        let counted = of("counter&metric=0", "main");
        assert_eq!(counted, (json!([50.0, 0.0]), json!([90.0, 7.0])));
        assert_eq!(of("counter&metric=0", "work").0, json!([40.0, 7.0]));
        assert_eq!(asked(&runs, "measured?of=counter&metric=0")["whole"], json!([90.0, 7.0]));
        assert!(crate::answer(&runs, "runs/0/measured", "of=counter&metric=9").is_err());
    }
}
