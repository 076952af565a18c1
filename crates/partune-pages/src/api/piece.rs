//! `piece` and `thresholds`: a run seen otherwise, as a run by itself with every analysis: a part of it, or with other thresholds.

use partune_engine::{THRESHOLDS, ThresholdKind};
use serde::Serialize;

use super::Ask;
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
pub(super) fn piece(runs: &Runs, number: &str, query: &str) -> Result<Piece, Error> {
    let run = &*runs.ready(number)?;
    let keys: Vec<&str> = ["from", "to"].into_iter().chain(THRESHOLDS.iter().map(|it| it.name)).collect();
    let query = Query::new(query, &keys)?;
    let piece = if query.text("from").or(query.text("to")).is_some() {
        run.needs_times()?;
        let (begin, end) = interval(run, &query)?;
        let since = |time| run.recorded().since_origin(time);
        Some((since(begin), since(end)))
    } else {
        None
    };
    let change = |options: &mut _| {
        for threshold in THRESHOLDS {
            if let Some(text) = query.text(threshold.name) {
                let value = text.parse::<f64>().map_err(|_| "a number".to_owned());
                let set = value.and_then(|value| threshold.set(options, value));
                let wrong =
                    |known| Error::question(format!("{} is no such value", threshold.name), format!("give {known}"));
                set.map_err(wrong)?;
            }
        }
        Ok(())
    };
    Ok(Piece { run: runs.otherwise(number, piece, change)? })
}

/// What the analyses of a run were made with; columns.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Thresholds {
    name: Vec<&'static str>,
    meaning: Vec<&'static str>,
    /// Shares are 0 to 1.
    kind: Vec<Kind>,
    least: Vec<f64>,
    value: Vec<f64>,
}

#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Kind {
    Share,
    Factor,
    Count,
    Bytes,
}

pub(super) fn thresholds(run: &Run, _: &Ask<'_>) -> Result<Thresholds, Error> {
    let mut all = Thresholds::default();
    for threshold in THRESHOLDS {
        all.name.push(threshold.name);
        all.meaning.push(threshold.meaning);
        all.kind.push(match threshold.kind {
            ThresholdKind::Share => Kind::Share,
            ThresholdKind::Factor => Kind::Factor,
            ThresholdKind::Count => Kind::Count,
            ThresholdKind::Bytes => Kind::Bytes,
        });
        all.least.push(threshold.least);
        all.value.push((threshold.value)(&run.diagnosis.options));
    }
    Ok(all)
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

        // One so short that its ends have the same digits.
        let few = format!("from={}&to={}", whole / 2, whole / 2 + 2000);
        let short = asked(&runs, "runs/0/piece", &few)["run"].as_u64().expect("a number");
        let name = opened(&runs, short)["name"].clone();
        assert!(name.as_str().is_some_and(|name| name.contains(" from ") && name.ends_with(" on")), "{name}");

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
    fn a_run_with_other_thresholds_has_the_findings_of_those() {
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives/ring");
        let runs = Runs::new(vec![archive.clone()]);
        runs.open(&Opening::default());
        opened(&runs, 0);
        let all = asked(&runs, "runs/0/findings", "")["findings"].as_array().map_or(0, Vec::len);
        assert_eq!(asked(&runs, "runs/0/piece", "minimum=0.001")["run"], 0, "it is so already");
        let number = asked(&runs, "runs/0/piece", "minimum=0.2&details=3")["run"].as_u64().expect("a number");
        let row = opened(&runs, number);
        assert_eq!((&row["state"], &row["name"]), (&"ready".into(), &"ring, minimum 20 %, details 3".into()));
        let path = format!("runs/{number}/findings");
        let findings = asked(&runs, &path, "")["findings"].as_array().expect("a list").clone();
        assert!(!findings.is_empty() && findings.len() < all, "{} of {all}", findings.len());
        assert!(findings.iter().all(|it| it["fraction"].as_f64() >= Some(0.2)));
        let told = asked(&runs, &format!("runs/{number}/thresholds"), "");
        let value = |name: &str| {
            let at = told["name"].as_array().and_then(|it| it.iter().position(|it| it == name)).expect("it is listed");
            told["value"][at].as_f64()
        };
        assert_eq!((value("minimum"), value("details"), value("hotspot")), (Some(0.2), Some(3.0), Some(0.02)));
        // A piece of it keeps them, and one of a piece keeps the piece.
        let piece = asked(&runs, &format!("runs/{number}/piece"), "from=300000000&to=400000000")["run"]
            .as_u64()
            .expect("a number");
        let name = opened(&runs, piece)["name"].clone();
        assert!(
            name.as_str().is_some_and(|it| it.ends_with("minimum 20 %, details 3") && it.contains(" to ")),
            "{name}"
        );
        let back = asked(&runs, &format!("runs/{piece}/piece"), "minimum=0.001&details=5")["run"].as_u64();
        let name = opened(&runs, back.expect("a number"))["name"].clone();
        assert!(name.as_str().is_some_and(|it| it.contains(" to ") && !it.contains("minimum")), "{name}");
        for wrong in ["minimum=2", "minimum=x", "minimum=NaN", "small_run=1.5", "file_block=0", "unknown=1"] {
            assert!(crate::answer(&runs, "runs/0/piece", wrong).is_err(), "{wrong}");
        }
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
