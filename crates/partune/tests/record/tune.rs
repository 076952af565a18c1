//! `partune tune`: what saves what is predicted is found, and nothing is touched where nothing would help.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::launch::{Built, LAUNCHED, MPICH, Mpi, OPEN_MPI, alone, run};
use super::openmp::{self, CLANG};

/// What saves 0.4 s is told from noise by 3 runs, unless the machine is very busy.
const TRIES: usize = 5;
/// By design, and what of it the limit saves.
const RUN: f64 = 8.0 * 0.150;
const SAVES: f64 = 8.0 * 0.060;

/// Tunes a command among variables, and keeps the hints, in vain if there are none.
fn tune(command: &[&str], variables: &[(&str, &str)], hints: &Path) -> Value {
    let _alone = alone();
    let mut tune = Command::new("timeout");
    tune.args(["--kill-after=5", "500", env!("CARGO_BIN_EXE_partune"), "tune", "--json", "--runs", "3", "-o"]);
    let output = run(tune.arg(hints).arg("--").args(command).envs(LAUNCHED).envs(variables.iter().copied()));
    serde_json::from_slice(&output.stdout).expect("only the document is printed")
}

/// The same of a program on two ranks.
fn tune_ranks(built: &Built<'_>, argument: &str, variables: &[(&str, &str)], hints: &Path) -> Value {
    let program = built.program().display().to_string();
    tune(&[&built.mpi.command("mpirun"), "-n", "2", &program, argument], variables, hints)
}

/// Tunes until something is kept that saves half of what was predicted: the document, what is kept, and the hints.
fn kept(tuned: impl Fn(&Path) -> Value) -> (Value, Value, toml::Table) {
    kept_if(0.5, tuned)
}

/// The same that saves at least that share of it.
fn kept_if(share: f64, tuned: impl Fn(&Path) -> Value) -> (Value, Value, toml::Table) {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let mut last = Value::Null;
    for round in 0..TRIES {
        let file = folder.path().join(format!("hints-{round}.toml"));
        last = tuned(&file);
        let Some(kept) = tried(&last).find(|it| it["kept"] == true).cloned() else { continue };
        assert!(kept["saved"]["low"].as_f64().is_some_and(|low| low > 0.0), "{last:#}");
        for (name, value) in kept["environment"].as_object().into_iter().flatten() {
            assert_eq!(&last["environment"][name], value, "{last:#}");
        }
        let hints = std::fs::read_to_string(&file).expect("hints are written");
        let least = kept["predicted_saves_s"].as_f64().map(|it| share * it);
        if kept["saved"]["estimate"].as_f64() >= least {
            return (last, kept, hints.parse().expect("it is TOML"));
        }
    }
    panic!("{last:#}");
}

/// Tunes where nothing would help: nothing is tried, unless the machine is very busy.
fn is_left_alone(tuned: impl Fn(&Path) -> Value) {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("hints.toml");
    let mut last = Value::Null;
    for _ in 0..TRIES {
        last = tuned(&file);
        if tried(&last).count() == 0 {
            assert_eq!(last["environment"], json!({}), "{last:#}");
            assert!(!file.exists());
            return;
        }
        let _ = std::fs::remove_file(&file);
    }
    panic!("{last:#}");
}

fn tried(document: &Value) -> impl Iterator<Item = &Value> {
    document["tried"].as_array().into_iter().flatten()
}

fn finds_the_limit(mpi: &Mpi, variable: &str) {
    let Some(built) = Built::new(mpi, "tune/late_receive.c", &[]) else { return };
    let (document, kept, hints) = kept(|hints| tune_ranks(&built, "0", &[], hints));
    // What the machine added may be saved too.
    let added = document["run_s"].as_f64().map_or(0.0, |run| (run - RUN).max(0.0));
    let expected = 0.6 * SAVES..1.2 * SAVES + added;
    assert!(kept["predicted_saves_s"].as_f64().is_some_and(|it| expected.contains(&it)), "{document:#}");
    assert_eq!(kept["at_most"], false);
    assert!(kept["value"].as_u64().is_some_and(|value| value >= 65536 && value.is_power_of_two()), "{document:#}");
    assert!(kept["environment"].as_object().into_iter().flatten().any(|it| it.0.contains(variable)), "{document:#}");
    assert_eq!(hints["knob"][0]["what"].as_str(), Some("eager_limit"));
    assert_eq!(hints["knob"][0]["value"].as_integer(), kept["value"].as_i64());
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
    is_left_alone(|hints| tune_ranks(&built, "1", &[], hints));
}

/// Who runs the program has chosen pieces of one byte.
#[test]
fn another_algorithm_of_a_slow_collective_is_found() {
    const ALGORITHM: &str = "OMPI_MCA_coll_tuned_bcast_algorithm";
    let Some(built) = Built::new(&OPEN_MPI, "tune/broadcast.c", &[]) else { return };
    let slow = [
        ("OMPI_MCA_coll_tuned_use_dynamic_rules", "1"),
        (ALGORITHM, "pipeline"),
        ("OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize", "1"),
    ];
    let (document, kept, hints) = kept(|hints| tune_ranks(&built, "0", &slow, hints));
    assert_eq!(kept["what"], "collective:bcast", "{document:#}");
    assert_eq!(kept["at_most"], true, "the replay does not know the algorithm that ran: {document:#}");
    assert_eq!(kept["changes"], json!(["scale MPI_Bcast time*0"]));
    assert_eq!(kept["environment"][ALGORITHM], kept["value"], "{document:#}");
    assert_eq!(kept["environment"][slow[0].0], "1", "{document:#}");
    // With each of these pieces are of one byte.
    let still_slow = ["pipeline", "chain", "binomial", "binary_tree"];
    assert!(kept["value"].as_str().is_some_and(|value| !still_slow.contains(&value)), "{document:#}");
    assert_eq!(hints["knob"][0]["what"].as_str(), Some("collective:bcast"));
    assert_eq!(hints["knob"][0]["value"].as_str(), kept["value"].as_str());
    assert!(hints["knob"][0]["evidence"].get("predicted_saves_at_most_s").is_some(), "{hints}");
}

/// No algorithm helps those who wait for a late root.
#[test]
fn no_algorithm_is_tried_where_a_collective_waits() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "tune/broadcast.c", &[]) else { continue };
        is_left_alone(|hints| tune_ranks(&built, "1", &[], hints));
    }
}

/// The same iterations by one entry of the runtime and by another: both are loops whose schedule the environment says.
#[test]
fn another_schedule_of_an_uneven_loop_is_found() {
    for compiler in ["gcc", CLANG] {
        let Some(built) = built_loop(compiler) else { continue };
        let (document, kept, hints) = kept(|hints| tune_loop(&built, "0", hints));
        assert_eq!(kept["what"], "env:OMP_SCHEDULE", "{document:#}");
        assert_eq!(kept["environment"], json!({ "OMP_SCHEDULE": kept["value"] }), "{document:#}");
        // By design 0.4 s of 0.96 s, less 2 ms of what is done before and after every other loop.
        let share = kept["predicted_saves_s"].as_f64().zip(document["run_s"].as_f64()).map(|(saves, run)| saves / run);
        assert!(share.is_some_and(|share| (0.25..0.45).contains(&share)), "{document:#}");
        assert_eq!(kept["at_most"], true);
        assert_eq!(hints["knob"][0]["value"].as_str(), kept["value"].as_str());
    }
}

#[test]
fn no_schedule_is_tried_where_none_helps() {
    for compiler in ["gcc", CLANG] {
        let Some(built) = built_loop(compiler) else { continue };
        for argument in ["1", "2"] {
            is_left_alone(|hints| tune_loop(&built, argument, hints));
        }
    }
}

/// Threads that spin on the one processor that they have.
#[test]
fn threads_that_share_a_processor_give_it_up_when_they_wait() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/tune/barriers.c");
    let Some(built) = openmp::Built::of("gcc", &path, &["-fopenmp"]) else { return };
    let one = processors()[0].to_string();
    let command = ["taskset", "-c", &one, &built.program().display().to_string()];
    let (document, kept, _) = kept(|hints| tune(&command, &[("OMP_WAIT_POLICY", "active")], hints));
    assert_eq!(kept["environment"], json!({ "OMP_WAIT_POLICY": "passive" }), "{document:#}");
    assert_eq!(kept["changes"], json!([]), "no change predicts it: {document:#}");
}

/// Threads that give up the one processor that they have whenever they wait, which is all that they do.
#[test]
fn fewer_threads_are_found_for_one_processor() {
    let Some(built) = built_team() else { return };
    let one = processors()[0].to_string();
    let command = ["taskset", "-c", &one, &built.program().display().to_string(), "1"];
    let variables = [("OMP_NUM_THREADS", "4"), ("OMP_WAIT_POLICY", "passive")];
    // Of the recorded run, which bounds it, most is the recorder: it does nothing but barriers.
    let (document, kept, hints) = kept_if(0.1, |hints| tune(&command, &variables, hints));
    assert_eq!(kept["environment"], json!({ "OMP_NUM_THREADS": "1" }), "{document:#}");
    assert_eq!(hints["knob"][0]["what"].as_str(), Some("env:OMP_NUM_THREADS"));
    assert_eq!(hints["knob"][0]["value"].as_integer(), Some(1));
}

/// Work that takes no processor is done by each thread at the same time, however busy the machine is.
#[test]
fn more_threads_are_found_for_idle_processors() {
    let Some(built) = built_team() else { return };
    let processors = processors().len();
    let program = built.program().display().to_string();
    let few = |hints: &Path| tune(&[&program], &[("OMP_NUM_THREADS", "1"), ("OMP_WAIT_POLICY", "passive")], hints);
    if processors == 1 {
        return is_left_alone(few);
    }
    let (document, kept, _) = kept(few);
    assert_eq!(kept["environment"], json!({ "OMP_NUM_THREADS": processors.to_string() }), "{document:#}");
    assert_eq!(kept["at_most"], true);
    // A run of 1.28 s at least, of which a thread less leaves that part.
    let saves = 1.28 * (1.0 - 1.0 / processors as f64);
    assert!(kept["predicted_saves_s"].as_f64().is_some_and(|it| it > 0.9 * saves), "{document:#}");
}

/// Those that this process may run on.
fn processors() -> Vec<u32> {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells of a process");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("also this");
    let number = |text: &str| text.parse::<u32>().expect("processors have numbers");
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        number(first)..=number(last)
    };
    allowed.trim().split(',').flat_map(range).collect()
}

fn built_team() -> Option<openmp::Built> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/tune/team.c");
    openmp::Built::of("gcc", &path, &["-fopenmp"])
}

fn built_loop(compiler: &str) -> Option<openmp::Built> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/tune/loop.c");
    openmp::Built::of(compiler, &path, &["-fopenmp"])
}

fn tune_loop(built: &openmp::Built, argument: &str, hints: &Path) -> Value {
    let variables = [("OMP_SCHEDULE", "static"), ("OMP_WAIT_POLICY", "passive")];
    tune(&[&built.program().display().to_string(), argument], &variables, hints)
}
