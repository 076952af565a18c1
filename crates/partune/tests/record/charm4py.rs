//! charm4py of PyPI, with the Charm++ runtime in its wheel: what is recorded is what the programs count themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use partune_testkit::outside;
use partune_trace::{NO_MATCHING, Trace};
use serde_json::Value;

use super::launch::{Recorded, alone, record, run};
use crate::archives::workspace;

/// A Python that has charm4py, in an environment that is made once; none where it cannot be had.
pub(super) fn python() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let _alone = alone();
        let has = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("charm4py");
        let interpreter = folder.join("bin/python");
        let has_it = || has(Command::new(&interpreter).args(["-c", "import charm4py, numpy"]).env("CHARM_NOLOAD", "1"));
        let install = "-m pip install -q --timeout 10 --retries 1 charm4py==1.1 numpy";
        let is_made = has_it()
            || has(Command::new("python3").args(["-m", "venv"]).arg(&folder))
                && has(Command::new(&interpreter).args(install.split(' ')))
                && has_it();
        if !is_made {
            outside::skipped("no charm4py from PyPI");
        }
        is_made.then_some(interpreter)
    });
    made.as_deref()
}

/// A program of the tests, or one of the examples.
pub(super) fn source(name: &str) -> PathBuf {
    let own = workspace().join("crates/partune/tests/record/charm4py").join(name);
    if own.exists() { own } else { workspace().join("examples/charm4py").join(name) }
}

/// Adds the start of a program on so many PEs, each a process; 0: this process alone.
pub(super) fn start(command: &mut Command, python: &Path, pes: u32, name: &str, arguments: &[&str]) {
    command.arg(python);
    if pes > 0 {
        command.args(["-m", "charmrun.start", &format!("+p{pes}")]);
    }
    command.arg(source(name)).args(arguments);
}

fn recorded(pes: u32, name: &str, arguments: &[&str]) -> Option<Recorded> {
    let python = python()?;
    Some(record(|command| {
        command.arg("--");
        start(command, python, pes, name, arguments);
    }))
}

fn trace(recorded: &Recorded) -> Trace {
    partune_engine::inside::read(&recorded.anchor, &()).unwrap_or_else(|error| panic!("{error}\n{}", recorded.said()))
}

/// What the program printed: numbers by the words before them.
fn printed(recorded: &Recorded) -> BTreeMap<String, f64> {
    let text = recorded.said();
    let lines = text.lines().filter_map(|line| line.rsplit_once(' '));
    lines.filter_map(|(what, number)| Some((what.to_owned(), number.parse().ok()?))).collect()
}

/// Executions by method, and how many messages made them run.
fn executions(trace: &Trace) -> BTreeMap<String, (u64, u64)> {
    let mut counts: BTreeMap<String, (u64, BTreeSet<u64>)> = BTreeMap::new();
    let sent: BTreeSet<u64> =
        trace.streams().iter().flat_map(|stream| &stream.sends).map(|send| send.matching).collect();
    for stream in trace.streams() {
        for row in &stream.executions {
            let visit = stream.visits.get(row.visit).expect("an execution has a visit");
            let region = trace.paths().region(visit.path);
            let name = trace.strings().get(trace.regions()[region].name);
            // Arrays of a class are told apart; the program counts methods.
            let method = name.split('(').next().unwrap_or(name).replace("#2::", "::");
            let (count, messages) = counts.entry(method).or_default();
            *count += 1;
            if row.message != NO_MATCHING && sent.contains(&row.message) {
                messages.insert(row.message);
            }
        }
    }
    counts.into_iter().map(|(name, (count, messages))| (name, (count, messages.len() as u64))).collect()
}

/// What is recorded is what the program counted: all executions of its methods, and the messages to one object of each.
fn check_counts(recorded: &Recorded, broadcasts: &[&str]) {
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let (printed, found) = (printed(recorded), executions(&trace(recorded)));
    let about = format!("{found:?}\n{}", recorded.said());
    let mut checked = 0;
    for (what, count) in &printed {
        let count = count.round() as u64;
        if let Some(method) = what.strip_prefix("ran ") {
            assert_eq!(found.get(method).map_or(0, |it| it.0), count, "{what}: {about}");
            checked += 1;
        } else if let Some(method) = what.strip_prefix("sent ").filter(|it| !broadcasts.contains(it)) {
            assert_eq!(found.get(method).map_or(0, |it| it.1), count, "{what}: {about}");
            checked += 1;
        }
    }
    assert!(checked >= 4, "{about}");
    let quality = recorded.analysis()["quality"].clone();
    let losses = quality.as_array().into_iter().flatten().filter(|it| it["severity"] == "data_loss");
    assert_eq!(losses.count(), 0, "{quality:#}\n{about}");
}

fn objects(recorded: &Recorded) -> Value {
    let mut analyze = Command::new(env!("CARGO_BIN_EXE_partune"));
    let output = run(analyze.args(["analyze", "--json", "--only", "objects"]).arg(&recorded.anchor));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn array<'a>(document: &'a Value, class: &str) -> &'a Value {
    let arrays = document["arrays"].as_array().expect("arrays");
    arrays.iter().find(|it| it["class"] == class).unwrap_or_else(|| panic!("no {class}: {document:#}"))
}

#[test]
fn elimination_with_pivot_rows() {
    let Some(recorded) = recorded(4, "gauss.py", &["--n", "12", "--count"]) else { return };
    check_counts(&recorded, &[]);
    let document = objects(&recorded);
    assert_eq!(array(&document, "Row")["locality"], "all_to_all", "{document:#}");
    assert_eq!(array(&document, "Row")["objects"], 12, "{document:#}");
}

#[test]
fn a_stencil() {
    let Some(recorded) = recorded(4, "jacobi.py", &["--tiles", "4", "--turns", "5", "--count"]) else { return };
    check_counts(&recorded, &["Tile::start"]);
    let document = objects(&recorded);
    assert_eq!(array(&document, "Tile")["locality"], "regular", "{document:#}");
    assert_eq!(array(&document, "Tile")["dimensions"], 2, "{document:#}");
}

#[test]
fn a_tree() {
    let Some(recorded) = recorded(3, "factorial.py", &["--n", "200", "--grain", "20", "--count"]) else { return };
    check_counts(&recorded, &[]);
    let document = objects(&recorded);
    assert_eq!(array(&document, "Range")["locality"], "tree", "{document:#}");
}

#[test]
fn values_that_are_collected() {
    let Some(recorded) = recorded(2, "collect.py", &["--n", "20", "--rounds", "3", "--count"]) else { return };
    check_counts(&recorded, &["Value::work"]);
    let document = objects(&recorded);
    assert_eq!(array(&document, "Sum")["locality"], "single", "{document:#}");
}

/// Coroutines that wait, sections, objects that move, channels, conditions, arrays of one class.
#[test]
fn kinds_of_executions() {
    for pes in [2, 3] {
        let Some(recorded) = recorded(pes, "kinds.py", &[]) else { return };
        check_counts(&recorded, &[]);
        let document = objects(&recorded);
        assert_eq!(array(&document, "Cell")["objects"], 6, "{document:#}");
        assert_eq!(array(&document, "Cell#2")["objects"], 4, "{document:#}");
        assert_eq!(array(&document, "Worker")["objects"], 3, "{document:#}");
    }
}

/// PE 0 idles while an object on PE 1 sleeps, and again for the result of a reduction to which an object there contributes late: no longer than PE 0 measured, and most of the
/// sleep, of which PE 0 may miss the begin on a machine that is busy.
#[test]
fn who_idles_waits_for_who_sleeps() {
    let Some(recorded) = recorded(2, "waits.py", &[]) else { return };
    let (printed, document) = (printed(&recorded), recorded.analysis());
    let about = format!("{}\n{document:#}", recorded.said());
    let findings = document["findings"].as_array().expect("findings");
    let late = findings.iter().filter(|it| it["pattern"] == "late_sender" && it["construct"] == "idle");
    let causes: Vec<&Value> = late.flat_map(|it| it["causes"].as_array().into_iter().flatten()).collect();
    for (method, slept, most) in
        [("Sleeper::sleep", printed["slept"], printed["waited"]), ("Sleeper::late", 0.3, printed["reduced"])]
    {
        let is_it = |it: &&&Value| it["pe"] == 1 && it["origin"]["location"]["function"] == method;
        let seconds: f64 = causes.iter().filter(is_it).filter_map(|it| it["seconds"].as_f64()).sum();
        assert!(seconds > slept / 2.0 && seconds < most, "{method}: {slept} {seconds} {most}: {about}");
    }
}

/// What was written before a process was killed is there.
#[test]
fn a_program_that_is_killed() {
    let Some(recorded) = recorded(0, "dies.py", &[]) else { return };
    assert_eq!(recorded.output.status.code(), Some(128 + 9), "{}", recorded.said());
    assert!(recorded.said().contains("logs end before the computation does"), "{}", recorded.said());
    assert_eq!(executions(&trace(&recorded))["Step::step"], (101, 101), "{}", recorded.said());
}

/// A Python without charm4py does what it would; one that has a `sitecustomize` of its own keeps it.
#[test]
fn a_program_without_charm4py() {
    let folder = tempfile::tempdir().expect("there is room for files");
    fs::write(folder.path().join("sitecustomize.py"), "print('mine')\nvalue = 7\n").expect("a file is written");
    let program = "import sys, sitecustomize; print(sitecustomize.value); sys.exit(5)";
    let recorded = record(|command| {
        command.args(["--", "python3", "-c", program]).env("PYTHONPATH", folder.path());
    });
    assert_eq!(recorded.output.status.code(), Some(5), "{}", recorded.said());
    assert_eq!(String::from_utf8_lossy(&recorded.output.stdout), "mine\n7\n", "{}", recorded.said());
    assert!(recorded.said().contains("no process was recorded"), "{}", recorded.said());
}

/// One that imports charm4py and starts nothing ends as it would.
#[test]
fn a_program_that_does_not_start_the_runtime() {
    let Some(python) = python() else { return };
    let recorded = record(|command| {
        command.arg("--").arg(python).args(["-c", "import charm4py, sys; sys.exit(3)"]);
    });
    assert_eq!(recorded.output.status.code(), Some(3), "{}", recorded.said());
}
