//! OpenMP programs under `partune record`: waits of known length in every way in which threads wait, counts that another counter agrees with, and
//! programs that end in all ways.
//!
//! Each runs with every OpenMP compiler that is here, whose runtimes are recorded in different ways.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use partune_testkit::outside;
use serde_json::Value;
use tempfile::TempDir;

use super::expect::line_of;
use super::launch::{self, Recorded, run};

/// Compilers with an OpenMP runtime that is recorded.
const COMPILERS: [&str; 2] = ["gcc", CLANG];
/// The one whose runtime has a tools interface.
pub(super) const CLANG: &str = "clang-14";
/// Sleep and start are at the mercy of a machine that may be busy, so a run has this many tries.
pub(super) const TRIES: usize = 3;

/// A program, compiled in a folder of its own.
pub(super) struct Built {
    pub(super) folder: TempDir,
    source: String,
}

impl Built {
    /// Compiles a file of the folder `openmp`. None: the compiler is not here.
    pub(super) fn new(compiler: &str, file: &str) -> Option<Built> {
        // Who ends with a parallel region stays on the stack.
        Built::of(compiler, &source(file), &["-fopenmp", "-fno-optimize-sibling-calls"])
    }

    /// Compiles any file, with flags.
    pub(super) fn of(compiler: &str, path: &Path, flags: &[&str]) -> Option<Built> {
        if !Command::new(compiler).arg("--version").output().is_ok_and(|it| it.status.success()) {
            outside::missing(compiler);
            return None;
        }
        let folder = tempfile::tempdir().expect("there is room for a program");
        let always = ["-O2", "-g", "-w", "-o"];
        run(Command::new(compiler).args(always).arg(folder.path().join("program")).arg(path).args(flags));
        Some(Built { source: std::fs::read_to_string(path).expect("the program is here"), folder })
    }

    pub(super) fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// With options of the recorder.
    pub(super) fn record_with(&self, options: &[&str]) -> Recorded {
        launch::record(|command| {
            command.args(options).arg("--").arg(self.program()).env("OMP_WAIT_POLICY", "passive");
        })
    }

    pub(super) fn record(&self, arguments: &[&str]) -> Recorded {
        self.record_among(arguments, &[])
    }

    /// With each of some arguments, all at a time.
    pub(super) fn record_all(&self, arguments: &[&str]) -> Vec<Recorded> {
        launch::record_all(arguments.iter().map(|own| move |command: &mut Command| self.add(command, &[own])))
    }

    /// With variables of the environment.
    pub(super) fn record_among(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Recorded {
        launch::record(|command| {
            self.add(command, arguments);
            command.envs(variables.iter().copied());
        })
    }

    fn add(&self, command: &mut Command, arguments: &[&str]) {
        // LLVM's threads would take the processors from each other while they wait.
        command.arg("--").arg(self.program()).args(arguments).env("OMP_WAIT_POLICY", "passive");
    }

    pub(super) fn line(&self, mark: &str) -> u64 {
        line_of(&self.source, mark).expect("the mark is in the program")
    }
}

pub(super) fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/openmp").join(file)
}

/// When a thread came to where it waited, when it went on, and when it let the next one go on; 0 for what cannot be seen.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    pub(super) came: f64,
    pub(super) left: f64,
    pub(super) gone: f64,
}

/// The waits of threads, by their numbers.
pub(super) type Met = BTreeMap<u32, Vec<Wait>>;

pub(super) fn met(output: &Output) -> Met {
    let mut met = Met::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let ["met", thread, came, left, gone] = line.split(' ').collect::<Vec<_>>()[..] {
            let number = |word: &str| word.parse().expect("a number");
            let wait = Wait { came: number(came), left: number(left), gone: number(gone) };
            met.entry(thread.parse().expect("a thread")).or_default().push(wait);
        }
    }
    met
}

/// Seconds that all threads waited: each time until the last of them came.
pub(super) fn until_all_came(met: &Met) -> f64 {
    let times = met.values().map(Vec::len).max().unwrap_or(0);
    let came = |time: usize| met.values().filter_map(move |all| Some(all.get(time)?.came)).collect::<Vec<_>>();
    (0..times)
        .map(|time| {
            let came = came(time);
            let last = came.iter().copied().fold(0.0, f64::max);
            came.iter().map(|own| last - own).sum::<f64>()
        })
        .sum()
}

/// Seconds until each went on.
pub(super) fn until_each_left(met: &Met) -> f64 {
    met.values().flatten().map(|wait| wait.left - wait.came).sum()
}

/// Seconds until the one before let each go on. When it does, may be later: the machine may be busy.
pub(super) fn until_each_could_leave(met: &Met) -> f64 {
    let mut waits: Vec<Wait> = met.values().flatten().copied().collect();
    waits.sort_by(|a, b| a.left.total_cmp(&b.left));
    waits.windows(2).map(|two| (two[0].gone - two[1].came).max(0.0)).sum()
}

/// Three threads have nothing to do while one is alone.
fn three_idle(met: &Met) -> f64 {
    3.0 * until_each_left(met)
}

/// After its last task each waits for the last of all.
fn after_tasks(met: &Met) -> f64 {
    let last: Met = met.iter().map(|(thread, all)| (*thread, all[all.len() - 1..].to_vec())).collect();
    until_all_came(&last)
}

/// Those of two teams of two wait for each other.
fn in_pairs(met: &Met) -> f64 {
    let pairs: [Met; 2] = [0, 2].map(|first| met.range(first..first + 2).map(|(id, met)| (*id, met.clone())).collect());
    pairs.iter().map(until_all_came).sum()
}

/// A way to wait: the pattern that is found, at which constructs and mark, how many lines before that a compiler says that it is, and how long it was.
type Way = (&'static str, &'static str, &'static [&'static str], (&'static str, u64), fn(&Met) -> f64);

const WAYS: [Way; 10] = [
    ("barrier", "wait_at_barrier", &["omp barrier"], ("BARRIER", 0), until_all_came),
    ("region", "wait_at_barrier", &["omp implicit barrier"], ("REGION", 0), until_all_came),
    ("loop", "wait_at_barrier", &["omp implicit barrier"], ("LOOP", 2), until_all_came),
    ("critical", "wait_on_lock", &["omp critical"], ("CRITICAL", 0), until_each_could_leave),
    ("lock", "wait_on_lock", &["omp_set_lock"], ("LOCK", 0), until_each_could_leave),
    ("ordered", "wait_on_lock", &["omp ordered"], ("ORDERED", 4), until_each_could_leave),
    ("serial", "serial_section", &["omp parallel"], ("SERIAL", 1), three_idle),
    ("nested", "wait_at_barrier", &["omp implicit barrier"], ("NESTED", 0), in_pairs),
    ("tasks", "wait_for_task", &["omp wait for tasks", "omp implicit barrier"], ("TASKS", 0), after_tasks),
    ("taskloop", "wait_for_task", &["omp wait for tasks", "omp implicit barrier"], ("TASKLOOP", 0), after_tasks),
];

/// Seconds of a pattern at a line, how often it was there, and the PEs that waited and those that made them wait.
pub(super) fn found(
    document: &Value,
    pattern: &str,
    constructs: &[&str],
    lines: &RangeInclusive<u64>,
) -> (f64, u64, Vec<u64>, Vec<u64>) {
    let mut sum = (0.0, 0, Vec::new(), Vec::new());
    let findings = document["findings"].as_array().into_iter().flatten();
    let is_it = |it: &&Value| it["pattern"] == pattern && constructs.iter().any(|name| it["construct"] == *name);
    for finding in findings.filter(is_it) {
        let here = |it: &Value| it["line"].as_u64().is_none_or(|line| lines.contains(&line));
        let all = finding["lines"].as_array().filter(|lines| !lines.is_empty());
        let seconds = match all {
            Some(all) => all.iter().filter(|it| here(it)).filter_map(|it| it["seconds"].as_f64()).sum(),
            None if here(&finding["location"]) => finding["seconds"].as_f64().unwrap_or_default(),
            None => 0.0,
        };
        if seconds > 0.0 {
            let pes = |key: &str| {
                let all = finding[key].as_array().into_iter().flatten();
                let long = all.filter(|it| it["seconds"].as_f64().is_some_and(|it| it > 0.01));
                long.filter_map(|it| it["pe"].as_u64()).collect::<Vec<_>>()
            };
            sum.0 += seconds;
            sum.1 += finding["count"].as_u64().unwrap_or_default();
            sum.2.extend(pes("pes"));
            sum.3.extend(pes("causes"));
        }
    }
    sum
}

fn check(compiler: &str, way: &Way, balanced: bool) {
    let (name, pattern, constructs, (mark, before), measure) = way;
    let Some(built) = Built::new(compiler, "waits.c") else { return };
    let line = built.line(mark);
    let lines = line - before..=line;
    let mut problem = String::new();
    for _ in 0..TRIES {
        let recorded = built.record(&[&[*name][..], if balanced { &["balanced"] } else { &[] }].concat());
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let expected = measure(&met(&recorded.output));
        let (seconds, count, waiting, causes) = found(&recorded.analysis(), pattern, constructs, &lines);
        let allowed = 0.05 * expected + 0.001 * count.max(4) as f64;
        let is_found = (seconds - expected).abs() <= allowed;
        // Whoever made others wait all the time did not wait.
        let is_caused = balanced || !causes.is_empty() && !waiting.is_empty();
        let is_large = balanced || expected > 0.1;
        if is_found && is_caused && is_large {
            return;
        }
        problem = format!("{compiler} {name}: {seconds} s of {expected} s, {count} times, {waiting:?} for {causes:?}");
    }
    panic!("{problem}");
}

/// Two tests for each way to wait.
macro_rules! ways {
    ($($name:ident $at:literal)*) => {$(
        mod $name {
            use super::*;
            #[test] fn late() { COMPILERS.iter().for_each(|compiler| check(compiler, &WAYS[$at], false)); }
            #[test] fn balanced() { COMPILERS.iter().for_each(|compiler| check(compiler, &WAYS[$at], true)); }
        }
    )*};
}

ways! {
    at_a_barrier 0
    after_a_region 1
    after_a_loop 2
    at_critical_code 3
    at_a_lock 4
    at_ordered_code 5
    while_one_is_alone 6
    in_nested_teams 7
    without_a_task 8
    without_a_task_of_a_loop 9
}

/// Calls of each operation in the archive, by its construct.
pub(super) fn calls(document: &Value) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    for row in document["operations"].as_array().into_iter().flatten() {
        let construct = row["callpath"].as_array().and_then(|path| path.last()).and_then(Value::as_str);
        *calls.entry(construct.unwrap_or_default().to_owned()).or_default() +=
            row["count"].as_u64().unwrap_or_default();
    }
    calls
}

/// What a counter says that it has counted.
pub(super) fn counted(said: &str) -> BTreeMap<&str, u64> {
    let counts = said.lines().filter_map(|line| line.strip_prefix("counted ")?.rsplit_once(' '));
    counts.map(|(name, count)| (name, count.parse().expect("a number"))).collect()
}

#[test]
fn operations_are_those_that_the_runtime_was_asked_for() {
    let Some(built) = Built::new("gcc", "counted.c") else { return };
    let counter = built.folder.path().join("counter.so");
    run(Command::new("gcc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&counter).arg(source("counter.c")));
    let plain = run(Command::new(built.program()).env("LD_PRELOAD", &counter));
    let recorded = built.record(&[]);
    assert_eq!(recorded.output.stdout, plain.stdout, "the program computes the same");
    let calls = calls(&recorded.analysis());
    let said = String::from_utf8_lossy(&plain.stderr);
    let counted = counted(&said);
    let of = |name: &str| calls.get(name).copied().unwrap_or_default();
    assert_eq!(of("omp critical"), counted["GOMP_critical_start"] + counted["GOMP_critical_name_start"], "{calls:?}");
    assert_eq!(of("omp barrier"), counted["GOMP_barrier"], "{calls:?}");
    assert_eq!(of("omp create task"), counted["GOMP_task"], "{calls:?}");
    assert_eq!(of("omp taskwait"), counted["GOMP_taskwait"], "{calls:?}");
    assert_eq!(of("omp_set_lock"), counted["omp_set_lock"], "{calls:?}");
    assert_eq!(of("omp_unset_lock"), counted["omp_unset_lock"], "{calls:?}");
    assert_eq!(of("omp ordered"), counted["GOMP_ordered_start"], "{calls:?}");
    // Those of loops and sections, and one for each thread of each team.
    let ends = counted["GOMP_loop_end"] + counted["GOMP_sections_end"];
    assert_eq!(of("omp implicit barrier"), ends + 4 * counted["GOMP_parallel"], "{calls:?}");
    assert!(counted.values().all(|count| *count > 0), "{counted:?}");
}

#[test]
fn other_readers_take_the_archive() {
    for compiler in COMPILERS {
        let Some(built) = Built::new(compiler, "counted.c") else { continue };
        let recorded = built.record(&[]);
        let Some(text) = recorded.printed() else { return };
        let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
        assert_eq!(count("THREAD_FORK "), count("THREAD_JOIN "));
        assert_eq!(count("THREAD_TEAM_BEGIN "), count("THREAD_TEAM_END "));
        assert_eq!(count("THREAD_ACQUIRE_LOCK "), count("THREAD_RELEASE_LOCK "));
        assert_eq!(count("THREAD_TASK_CREATE "), count("THREAD_TASK_COMPLETE "));
    }
}

/// How a program ends, with which status, and after how many whole regions.
#[test]
fn a_program_may_end_in_any_way() {
    for compiler in COMPILERS {
        let Some(built) = Built::new(compiler, "ends.c") else { continue };
        for (way, status) in [("kill", Some(137)), ("abort", Some(134)), ("exit", Some(7)), ("fork", Some(0))] {
            let recorded = built.record(&[way]);
            assert_eq!(recorded.output.status.code(), status, "{way}: {}", recorded.said());
            let document = recorded.analysis();
            let calls = calls(&document);
            // Three teams of three, each with a barrier, before the end.
            assert!(calls.get("omp barrier").is_some_and(|count| *count >= 9), "{way}: {calls:?}");
            assert_eq!(document["pes"], 3, "{way}");
        }
    }
}

/// There are as many PEs as threads were in teams at once, however many the runtime makes.
#[test]
fn threads_that_are_made_anew_are_those_before_them() {
    for compiler in COMPILERS {
        let Some(built) = Built::new(compiler, "alive.c") else { continue };
        for (depth, pes) in [("0", 4), ("2", 4), ("3", 8)] {
            let recorded = built.record(&[depth]);
            assert!(recorded.output.status.success(), "{}", recorded.said());
            let document = recorded.analysis();
            assert_eq!(document["pes"], pes, "{compiler}, depth {depth}");
            // Each part of a team ends at a barrier; two members of a team have a team below them.
            let parts: u64 = match depth {
                "0" => 3 * (4 + 2),
                "2" => 6 * (2 + 4),
                _ => 6 * (2 + 4 + 8),
            };
            let barriers = calls(&document).get("omp implicit barrier").copied();
            assert_eq!(barriers, Some(parts), "{compiler}, depth {depth}");
        }
    }
}

/// A region of a runtime whose constructs the recorder wraps has the recorder's frames on the stack; who works in it is found all the same.
#[test]
fn samples_find_who_works_in_a_region() {
    for compiler in ["gcc", CLANG] {
        let Some(built) = Built::new(compiler, "sampled.c") else { continue };
        let document = built.record(&[]).analysis();
        let seconds = |name: &str| -> f64 {
            let paths = document["callpaths"].as_array().into_iter().flatten();
            let of = paths
                .filter(|it| it["callpath"].as_array().and_then(|path| path.last()).is_some_and(|last| last == name));
            of.filter_map(|it| it["inclusive"].as_f64()).sum()
        };
        let (quick, slow) = (seconds("quick"), seconds("slow"));
        // 0.1 and 0.9 seconds on processors; who waits for one takes longer.
        assert!(slow > 0.85 && slow > 4.0 * quick && quick > 0.02, "{compiler}: {quick} s and {slow} s");
    }
}
