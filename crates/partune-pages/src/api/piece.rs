//! `piece`: a part of a run as a run by itself, with every analysis.

use serde::Serialize;

use super::timeline::interval;
use crate::error::Error;
use crate::query::Query;
use crate::run::Run;
use crate::runs::Runs;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Piece {
    /// Its number in `runs`.
    run: usize,
}

/// Begins to open it, if it is not open yet.
pub(super) fn piece(runs: &Runs, run: &Run, query: &str) -> Result<Piece, Error> {
    let query = Query::new(query, &["from", "to"])?;
    run.needs_events()?;
    let (begin, end) = interval(run, &query)?;
    let since = |time| run.recorded().since_origin(time);
    Ok(Piece { run: runs.piece(run, (since(begin), since(end)))? })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, Instant};

    use partune_engine::{Moment, Request, Selection};
    use serde_json::Value;

    use crate::runs::{Opening, Runs};

    fn asked(runs: &Runs, path: &str, query: &str) -> Value {
        let answer = crate::answer(runs, path, query).unwrap_or_else(|error| panic!("{path}: {error:?}"));
        serde_json::from_slice(&answer).expect("it is JSON")
    }

    /// Waits until a run is open.
    fn opened(runs: &Runs, number: u64) -> Value {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            let row = asked(runs, "runs", "")[number as usize].clone();
            if row["state"] != "opening" {
                return row;
            }
            assert!(Instant::now() < end, "it opens");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_piece_is_a_run_with_every_analysis() {
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives/ring");
        let runs = Runs::new(vec![archive.clone()]);
        runs.open(&Opening::default());
        let whole = opened(&runs, 0)["duration_ns"].as_i64().expect("it is open");
        let query = format!("from={}&to={}", whole / 2, whole * 3 / 4);
        let number = asked(&runs, "runs/0/piece", &query)["run"].as_u64().expect("a number");
        assert_eq!(number, 1);
        assert_eq!(asked(&runs, "runs/0/piece", &query)["run"], 1, "the same again is the same");
        let row = opened(&runs, 1);
        assert_eq!(row["state"], "ready", "{row}");
        assert!(row["name"].as_str().is_some_and(|name| name.starts_with("ring, ") && name.contains(" to ")), "{row}");

        // It says what the command line says of the same piece.
        let seconds = |ns: i64| Some(Moment::Seconds(ns as f64 / 1e9));
        let selection = Selection { from: seconds(whole / 2), to: seconds(whole * 3 / 4), ..Selection::default() };
        let open = partune_engine::open(&archive, &()).expect("it opens");
        let diagnosis = partune_engine::analyze_piece(open, &selection, &Request::default(), &()).expect("it is there");
        let findings = asked(&runs, "runs/1/findings", "");
        let told: Vec<f64> =
            findings["findings"].as_array().expect("a list").iter().filter_map(|it| it["seconds"].as_f64()).collect();
        let expected: Vec<f64> = diagnosis.findings.iter().map(|it| diagnosis.run.seconds(it.finding.time)).collect();
        assert_eq!(told, expected);
        // And times by function are those that the selection has.
        let (profile, selected) = (asked(&runs, "runs/1/profile", ""), asked(&runs, "runs/0/selection", &query));
        assert_eq!(profile["regions"]["exclusive_s"], selected["functions"]["exclusive_s"]);
    }

    #[test]
    fn so_many_pieces_are_kept_and_no_more() {
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives/ring");
        let runs = Runs::new(vec![archive]);
        assert!(crate::answer(&runs, "runs/0/piece", "").is_err(), "it is not open yet");
        runs.open(&Opening::default());
        let whole = opened(&runs, 0)["duration_ns"].as_i64().expect("it is open");
        for turn in 1..=9 {
            let query = format!("from=0&to={}", whole - turn);
            let number = asked(&runs, "runs/0/piece", &query)["run"].as_u64().expect("a number");
            opened(&runs, number);
        }
        assert_eq!(opened(&runs, 1)["state"], "failed");
        assert!(opened(&runs, 1)["message"].as_str().is_some_and(|it| it.contains("let go")));
        assert!((2..=9).all(|number| opened(&runs, number)["state"] == "ready"));
    }
}
