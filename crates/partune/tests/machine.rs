//! `partune machine`: measured for real, with every MPI that is installed, for a moment.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use partune_testkit::outside::missing;
use serde_json::Value;

use crate::record::alone;

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune"))
        .args(args)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn open_mpi() {
    measured("mpirun.openmpi", &["--oversubscribe", "-n", "2"], "Open MPI");
}

#[test]
fn mpich() {
    measured("mpirun.mpich", &["-n", "2"], "MPICH");
}

/// Two PEs are measured, and the file says so.
fn measured(launcher: &str, words: &[&str], library: &str) {
    if Command::new(launcher).arg("--version").output().is_err() {
        return missing(&format!("{launcher} is not installed"));
    }
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("machine.toml").display().to_string();
    let mut args = vec!["machine", "measure", "--json", "--budget", "2", "-o", &file, "--", launcher];
    args.extend(words);
    let _alone = alone();
    let output = partune(&args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let machine: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(machine["provenance"]["pes"], 2);
    assert_eq!(machine["provenance"]["launch"][0], launcher);
    assert!(machine["provenance"]["mpi"].as_str().is_some_and(|text| text.contains(library)), "{machine:#}");
    let positive = |value: &Value| value.as_f64().is_some_and(|number| number > 0.0);
    assert!(positive(&machine["rates"]["flops_all"]) && positive(&machine["overheads"]["event_s"]), "{machine:#}");
    // A loaded machine may leave most out, but never the first.
    let barrier = machine["baseline"].as_array().into_iter().flatten().find(|it| it["role"] == "group_sync");
    let barrier = barrier.unwrap_or_else(|| panic!("a barrier is measured: {machine:#}"));
    assert!(positive(&barrier["points"][0]["median_s"]) && barrier["pes"] == 2, "{barrier:#}");
    for baseline in machine["baseline"].as_array().into_iter().flatten() {
        let role = baseline["role"].as_str().unwrap_or_default();
        assert!(partune_trace::Role::ALL.iter().any(|known| known.name() == role), "{role} is a role");
        for point in baseline["points"].as_array().into_iter().flatten() {
            assert!(point["minimum_s"].as_f64() <= point["median_s"].as_f64(), "{baseline:#}");
        }
    }

    // Each model is there, or said to be missing; OpenSHMEM is Open MPI's.
    let notes = machine["notes"].to_string();
    for model in ["MPI", "pthread", "OpenMP", "OpenSHMEM", "CAF"] {
        let mut baselines = machine["baseline"].as_array().into_iter().flatten();
        let is_missing = notes.contains(&format!("{model} was not measured"));
        assert!(baselines.any(|it| it["paradigm"] == model) != is_missing, "{model}: {machine:#}");
    }
    assert_eq!(notes.contains("OpenSHMEM was not measured"), library != "Open MPI", "{notes}");

    let shown = partune(&["machine", "show", &file]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    assert!(text(&shown.stdout).contains("MPI_Barrier on 2 PEs"), "{}", text(&shown.stdout));
    let again = partune(&["machine", "show", "--json", &file]);
    assert_eq!(again.stdout, output.stdout, "a file says what was measured");
}

#[test]
fn one_process_needs_no_mpi() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("alone.toml");
    let output =
        partune(&["machine", "measure", "--budget", "0.5", "--threads", "2", "-o", &file.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(
        file.exists() && shown.contains("without a launcher") && shown.contains("pthread_barrier_wait on 2"),
        "{shown}"
    );
    // What it cannot measure so, it says.
    let file = file.display().to_string();
    let output =
        partune(&["machine", "measure", "--budget", "0.1", "--threads", "2", "--only", "mpi,threads", "-o", &file]);
    let shown = text(&output.stdout);
    assert!(
        shown.contains("MPI was not measured: it needs a launch line") && shown.contains("pthread_mutex_lock on"),
        "{shown}"
    );
}

#[test]
fn what_is_wrong_is_told_with_a_remedy() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(Path::new(&path("bad.toml")), "partune_machine = 1\nrates = 7\n").expect("the file is written");
    let (bad, none, out) = (path("bad.toml"), path("none.toml"), path("out.toml"));
    for args in [
        &["machine", "show", &bad][..],
        &["machine", "show", &none],
        &["machine", "measure", "-o", &out, "--", "no-such-launcher", "-n", "2"],
        &["machine", "measure", "-o", &out, "--", "echo"],
        &["machine", "measure", "--budget", "0.1", "-o", "/no/such/folder/machine.toml"],
    ] {
        let output = partune(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", text(&output.stdout));
        assert!(text(&output.stderr).contains("remedy"), "{args:?}: {}", text(&output.stderr));
    }
    assert!(text(&partune(&["machine", "show", &bad]).stderr).contains("line 2"));
    assert!(!Path::new(&out).exists());
    for args in [
        &["machine"][..],
        &["machine", "measure", "--budget", "0"],
        &["machine", "measure", "--only", "upc"],
        &["machine", "measure", "--threads", "1"],
        &["machine", "show"],
    ] {
        assert_eq!(partune(args).status.code(), Some(2), "{args:?}");
    }
    for args in [&["machine", "--help"][..], &["machine", "measure", "--help"], &["machine", "show", "--help"]] {
        assert!(text(&partune(args).stdout).contains("Example"), "{args:?}");
    }
}

#[test]
fn a_run_is_held_against_the_machine() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (run, file) = (path("run"), path("machine.toml"));
    assert_eq!(partune(&["synth", "--ranks", "4", "--events", "20K", "-o", &run]).status.code(), Some(0));
    // A machine on which everything is done at once, and recording costs next to nothing.
    std::fs::write(&file, machine(1e-9, 1e-12)).expect("the file is written");
    let found = analyze(&run, &file, "1");
    assert_eq!(found, analyze(&run, &file, "8"), "the same bytes on any number of threads");
    let document: Value = serde_json::from_slice(&found).expect("it is JSON");
    let patterns = |document: &Value| {
        let findings = document["findings"].as_array().cloned().unwrap_or_default();
        findings.iter().filter(|it| it["pattern"] == "above_baseline").count()
    };
    assert!(patterns(&document) > 0, "a barrier takes longer than a nanosecond: {document:#}");
    assert_eq!(recording_notes(&document), 0);
    // A machine that needs a second for everything, and ten microseconds for an event.
    std::fs::write(&file, machine(1.0, 1e-5)).expect("the file is written");
    let document: Value = serde_json::from_slice(&analyze(&run, &file, "2")).expect("it is JSON");
    assert_eq!(patterns(&document), 0, "{document:#}");
    assert_eq!(recording_notes(&document), 1, "{:#}", document["quality"]);

    std::fs::write(&file, machine(-1.0, 1e-5)).expect("the file is written");
    let output = partune(&["analyze", &run, "--machine", &file]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(message.contains("machine.toml") && message.contains("remedy"), "{message}");
}

fn analyze(run: &str, machine: &str, threads: &str) -> Vec<u8> {
    let output = partune(&["analyze", run, "--json", "--machine", machine, "--threads", threads]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    output.stdout
}

fn recording_notes(document: &Value) -> usize {
    let quality = document["quality"].as_array().cloned().unwrap_or_default();
    quality.iter().filter(|it| it["message"].as_str().is_some_and(|text| text.starts_with("recording "))).count()
}

/// A machine on which every collective operation of four PEs takes `seconds`, and recording an event `event_s`.
fn machine(seconds: f64, event_s: f64) -> String {
    let mut text = format!(
        "partune_machine = 1\n[provenance]\ndate = \"\"\nhosts = []\ncpu = \"\"\ncores = 1\nkernel = \"\"\n\
         launch = []\npes = 4\npartune = \"\"\ntook_s = 0.0\n[overheads]\ntimer_s = 1e-9\ntimer_step_s = 1e-9\n\
         event_s = {event_s:e}\n[rates]\nflops_one = 1e9\nflops_all = 1e9\nmemory_one = 1e9\nmemory_all = 1e9\n"
    );
    for role in ["group_sync", "one_to_all", "all_to_one", "all_to_all"] {
        let _ = write!(
            text,
            "[[baseline]]\noperation = \"{role}\"\nrole = \"{role}\"\npes = 4\n\
             points = [{{ bytes = 0, median_s = {seconds:e}, minimum_s = 0.0, samples = 1 }}]\n"
        );
    }
    text
}
