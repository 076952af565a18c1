//! `partune tune`: an eager limit that saves what is predicted is found, and nothing is touched where nothing would help.

use std::process::Command;

use serde_json::Value;

use super::launch::{Built, LAUNCHED, MPICH, Mpi, OPEN_MPI, alone, run};

/// What saves 0.48 s is told from noise by 3 runs, unless the machine is very busy.
const TRIES: usize = 5;
/// By design, and what of it the limit saves.
const RUN: f64 = 8.0 * 0.150;
const SAVES: f64 = 8.0 * 0.060;

fn tune(built: &Built<'_>, argument: &str, hints: &str) -> Value {
    let _alone = alone();
    let mut tune = Command::new("timeout");
    tune.args([
        "--kill-after=5",
        "100",
        env!("CARGO_BIN_EXE_partune"),
        "tune",
        "--json",
        "--runs",
        "3",
        "-o",
        hints,
        "--",
    ]);
    tune.args([built.mpi.command("mpirun").as_str(), "-n", "2"]).arg(built.program()).arg(argument).envs(LAUNCHED);
    serde_json::from_slice(&run(&mut tune).stdout).expect("only the document is printed")
}

fn finds_the_limit(mpi: &Mpi, variable: &str) {
    let Some(built) = Built::new(mpi, "tune/late_receive.c", &[]) else { return };
    let folder = tempfile::tempdir().expect("there is room for a file");
    let mut last = Value::Null;
    for round in 0..TRIES {
        let file = folder.path().join(format!("hints-{round}.toml"));
        last = tune(&built, "0", &file.display().to_string());
        let Some(kept) = last["tried"].as_array().into_iter().flatten().find(|it| it["kept"] == true) else { continue };
        let (predicted, saved) = (&kept["predicted_saves_s"], &kept["saved"]);
        // What the machine added may be saved too.
        let added = last["run_s"].as_f64().map_or(0.0, |run| (run - RUN).max(0.0));
        let expected = 0.6 * SAVES..1.2 * SAVES + added;
        assert!(predicted.as_f64().is_some_and(|it| expected.contains(&it)), "{last:#}");
        assert!(saved["low"].as_f64().is_some_and(|low| low > 0.0), "{last:#}");
        assert!(kept["value"].as_u64().is_some_and(|value| value >= 65536 && value.is_power_of_two()), "{last:#}");
        let name = kept["environment"].as_object().into_iter().flatten().find(|it| it.0.contains(variable));
        assert_eq!(name.map(|it| it.1), last["environment"].get(name.map_or("", |it| it.0)), "{last:#}");
        assert!(name.is_some(), "{last:#}");
        let hints: toml::Table =
            std::fs::read_to_string(&file).expect("hints are written").parse().expect("it is TOML");
        assert_eq!(hints["knob"][0]["what"].as_str(), Some("eager_limit"));
        assert_eq!(hints["knob"][0]["value"].as_integer(), kept["value"].as_i64());
        if saved["estimate"].as_f64() >= predicted.as_f64().map(|it| it / 2.0) {
            return;
        }
    }
    panic!("{last:#}");
}

#[test]
fn a_larger_eager_limit_is_found_for_open_mpi() {
    finds_the_limit(&OPEN_MPI, "_eager_limit");
}

#[test]
fn a_larger_eager_limit_is_found_for_mpich() {
    finds_the_limit(&MPICH, "UCX_RNDV_THRESH");
}

#[test]
fn nothing_is_touched_where_nothing_would_help() {
    let Some(built) = Built::new(&OPEN_MPI, "tune/late_receive.c", &[]) else { return };
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("hints.toml");
    let document = tune(&built, "1", &file.display().to_string());
    assert_eq!(document["tried"], Value::Array(Vec::new()), "{document:#}");
    assert_eq!(document["environment"], Value::Object(serde_json::Map::new()), "{document:#}");
    assert!(!file.exists());
}
