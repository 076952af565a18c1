//! UPC under `partune record`, by GASP: a runtime in C tells what its program does, in the numbering of either UPC, through what is linked with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use partune_testkit::outside;
use serde_json::Value;
use tempfile::TempDir;

use super::expect::line_of;
use super::launch::{self, Recorded, complaints, run};
use super::openmp::{self, CLANG, Met, TRIES, calls};

const COMPILERS: [&str; 2] = ["gcc", CLANG];
/// Runtimes by which of them numbers events.
const RUNTIMES: [&str; 2] = ["gnu", "berkeley"];
const THREADS: u64 = 4;

/// A program with the runtime and with what is linked for the recorder.
pub(super) struct Built {
    folder: TempDir,
    source: String,
}

impl Built {
    pub(super) fn new(compiler: &str, file: &str) -> Option<Built> {
        if !Command::new(compiler).arg("--version").output().is_ok_and(|it| it.status.success()) {
            outside::missing(compiler);
            return None;
        }
        let folder = tempfile::tempdir().expect("there is room for a program");
        let flags = ["-O2", "-g", "-w", "-fno-optimize-sibling-calls", "-o"];
        let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/partune_gasp.upc");
        let mut command = Command::new(compiler);
        command.args(flags).arg(folder.path().join("program")).args([source(file), source("runtime.c")]);
        run(command.args(["-pthread", "-x", "c"]).arg(header));
        Some(Built { source: std::fs::read_to_string(source(file)).expect("the program is here"), folder })
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    fn record(&self, runtime: &str, arguments: &[&str]) -> Recorded {
        self.record_with(&[], runtime, arguments)
    }

    /// With options of the recorder.
    pub(super) fn record_with(&self, options: &[&str], runtime: &str, arguments: &[&str]) -> Recorded {
        launch::record(|command| {
            command.args(options).arg("--").arg(self.program()).args([runtime, &THREADS.to_string()]).args(arguments);
        })
    }
}

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/gasp").join(file)
}

/// A way to wait: the pattern that is found, at which construct of either runtime and at which mark, and how long it was.
struct Way {
    name: &'static str,
    pattern: &'static str,
    constructs: [&'static str; 2],
    mark: &'static str,
    measure: fn(&Met) -> f64,
}

const BARRIER: Way = Way {
    name: "barrier",
    pattern: "wait_at_barrier",
    constructs: ["upc_barrier", "upc_wait"],
    mark: "BARRIER",
    measure: openmp::until_all_came,
};
const HALVES: Way = Way {
    name: "halves",
    pattern: "wait_at_barrier",
    constructs: ["upc_wait", "upc_wait"],
    mark: "HALVES",
    measure: openmp::until_each_left,
};
const LOCK: Way = Way {
    name: "lock",
    pattern: "wait_on_lock",
    constructs: ["upc_lock", "upc_lock"],
    mark: "LOCK",
    measure: openmp::until_each_could_leave,
};

fn check(way: &Way, balanced: bool) {
    for compiler in COMPILERS {
        let Some(built) = Built::new(compiler, "waits.c") else { continue };
        let line = line_of(&built.source, way.mark).expect("the mark is in the program");
        for (runtime, construct) in RUNTIMES.into_iter().zip(way.constructs) {
            let problems: Vec<String> =
                (0..TRIES).map_while(|_| problem(&built, way, runtime, construct, line, balanced)).collect();
            assert!(problems.len() < TRIES, "{compiler} {runtime} {}: {problems:#?}", way.name);
        }
    }
}

fn problem(built: &Built, way: &Way, runtime: &str, construct: &str, line: u64, balanced: bool) -> Option<String> {
    let recorded = built.record(runtime, &[&[way.name][..], if balanced { &["balanced"] } else { &[] }].concat());
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let expected = (way.measure)(&openmp::met(&recorded.output));
    let document = recorded.analysis();
    let (seconds, count, waiting, causes) = openmp::found(&document, way.pattern, &[construct], &(line..=line));
    let is_found = (seconds - expected).abs() <= 0.05 * expected + 0.001 * count.max(THREADS) as f64;
    let is_caused = balanced || !causes.is_empty() && !waiting.is_empty();
    let is_large = balanced || expected > 0.1;
    (!(is_found && is_caused && is_large))
        .then(|| format!("{seconds} s of {expected} s, {count} times, {waiting:?} for {causes:?}"))
}

#[test]
fn a_late_thread_at_a_barrier() {
    check(&BARRIER, false);
}

#[test]
fn threads_that_come_together_to_a_barrier() {
    check(&BARRIER, true);
}

/// Work between the halves is no wait.
#[test]
fn a_late_thread_at_a_barrier_in_halves() {
    check(&HALVES, false);
}

#[test]
fn a_lock_that_is_held_long() {
    check(&LOCK, false);
}

#[test]
fn a_lock_that_is_free() {
    check(&LOCK, true);
}

/// How often each thread does what, by the events' table in the specification.
fn expected(runtime: &str) -> BTreeMap<String, u64> {
    const BOTH: &str = "init 1 notify 1 wait 1 memput 1 memget 1 memcpy 2 memset 1 get 1 put 1 nb_get_init 1 nb_put_init 1 nb_sync 2 \
        all_broadcast 1 all_scatter 1 all_gather 1 all_gather_all 1 all_exchange 1 all_permute 1 all_reduce 1 all_prefix_reduce 1 \
        global_alloc 1 all_alloc 1 alloc 1 free 1 global_lock_alloc 1 all_lock_alloc 1 lock 1 unlock 2 lock_attempt 2 lock_free 1 \
        collective_exit 1";
    const GNU: &str = "nb_get_data 1 nb_put_data 1 fence 1 cache_miss 1 cache_hit 1 cache_invalidate 1 barrier 1";
    const BERKELEY: &str = "nb_memget_init 1 nb_memput_init 1 nb_memcpy_init 1 nb_trysync 3 static_shared 1";
    let (own, prefix) = if runtime == "gnu" { (GNU, "upc_") } else { (BERKELEY, "bupc_") };
    let rows = |text: &'static str, prefix: &'static str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let row = move |two: &[&str]| (format!("{prefix}{}", two[0]), two[1].parse::<u64>().expect("a number"));
        words.chunks(2).map(row).collect::<Vec<_>>()
    };
    let mut all: BTreeMap<String, u64> = rows(BOTH, "upc_").into_iter().chain(rows(own, prefix)).collect();
    if runtime == "berkeley" {
        // Its barrier is these two.
        all.extend([("upc_notify".to_owned(), 2), ("upc_wait".to_owned(), 2)]);
    }
    all.values_mut().for_each(|count| *count *= THREADS);
    all
}

#[test]
fn every_event_is_recorded_with_its_arguments() {
    let Some(built) = Built::new("gcc", "events.c") else { return };
    // Accesses, and bytes that are put and got.
    for (runtime, accesses, puts, gets) in [("gnu", 9, 940, 624), ("berkeley", 12, 940 + 128 + 256, 624 + 64)] {
        let recorded = built.record(runtime, &[]);
        let said = recorded.said();
        assert!(recorded.output.status.success() && said.contains("are not known, and not recorded"), "{said}");
        assert!(!said.contains("UPC threads that are threads"), "{said}");
        let document = recorded.analysis();
        let mut found = calls(&document);
        found.retain(|name, _| name.contains("upc_"));
        assert_eq!(found, expected(runtime), "{runtime}");
        // The program switches recording off, for longer where it waits for a processor meanwhile.
        assert!(complaints(&document).is_empty(), "{runtime}: {}", document["quality"]);
        are_gauges(&document);
        let Some(text) = recorded.printed() else { return };
        let bytes = |kind: &str| {
            let of = |line: &str| line.split_once("Bytes: ")?.1.split_once(',')?.0.parse::<u64>().ok();
            text.lines().filter(|line| line.starts_with(kind)).filter_map(of).sum::<u64>()
        };
        assert_eq!([bytes("RMA_PUT "), bytes("RMA_GET ")], [puts * THREADS, gets * THREADS], "{runtime}");
        // All are at 64 in the next thread's memory.
        let at_64 = text.lines().filter(|line| line.contains("PARTUNE::DISPLACEMENT") && line.ends_with(" 64)"));
        assert_eq!(at_64.count(), accesses * THREADS as usize, "{runtime}");
    }
}

/// Four begins with 1 to 4 and half of that, and a moment with 5 and 2.5, in the function that told of itself.
fn are_gauges(document: &Value) {
    let rows = document["gauges"].as_array().expect("there are values");
    let row = |name: &str, samples: u64| {
        let all: Vec<&Value> =
            rows.iter().filter(|row| row["metric"] == name && row["samples"] == samples * THREADS).collect();
        assert_eq!(all.len(), 1, "{name} {samples}: {rows:#?}");
        assert_eq!(all[0]["callpath"], serde_json::json!(["main", "run", "program", "step"]));
        ["min", "mean", "max"].map(|key| all[0][key].clone())
    };
    assert_eq!(row("step", 4), [1.0, 2.5, 4.0].map(Value::from));
    assert_eq!(row("step", 1), [5.0, 5.0, 5.0].map(Value::from));
    assert_eq!(row("step, value 2", 4), [0.5, 1.25, 2.0].map(Value::from));
    assert_eq!(row("step, value 2", 1), [2.5, 2.5, 2.5].map(Value::from));
}

#[test]
fn a_program_may_end_in_any_way() {
    let Some(built) = Built::new("gcc", "waits.c") else { return };
    for way in ["kill", "abort", "exit"] {
        let recorded = built.record("gnu", &[way]);
        assert_eq!(recorded.output.status.code(), Some(1), "{way}: {}", recorded.said());
        let document = recorded.analysis();
        assert_eq!(document["pes"], THREADS, "{way}");
        assert_eq!(calls(&document).get("upc_barrier"), Some(&(3 * THREADS)), "{way}");
    }
}

/// What is linked for the recorder does nothing without it.
#[test]
fn a_program_that_is_not_recorded_is_as_before() {
    let Some(built) = Built::new("gcc", "events.c") else { return };
    let output = run(Command::new(built.program()).args(["gnu", "2"]));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
}
