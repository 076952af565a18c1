//! Programs that make threads themselves, under `partune record`: waits of known length in every way in which threads wait, counts that another counter
//! agrees with, and threads and programs that end in all ways.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::launch::run;
use super::openmp::{Built, CLANG, Met, calls, counted, found, met, until_all_came, until_each_could_leave};

/// Sleep and start are at the mercy of a machine that may be busy, so a run has this many tries.
const TRIES: usize = 3;
/// The compilers of C, and those of C++.
const COMPILERS: [&str; 2] = ["gcc", CLANG];
const COMPILERS_OF_CXX: [&str; 2] = ["g++", "clang++-14"];

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/threads").join(file)
}

pub(super) fn built(compiler: &str, file: &str) -> Option<Built> {
    Built::of(compiler, &source(file), &["-pthread", "-fno-optimize-sibling-calls"])
}

/// Seconds that threads other than the first waited, until that let them go on.
fn until_the_first_has_gone(met: &Met) -> f64 {
    let gone = met[&1][0].gone;
    met.range(2..).flat_map(|(_, all)| all).map(|wait| (gone - wait.came).max(0.0)).sum()
}

/// Seconds until all workers came; the main thread has no part in it.
fn until_all_workers_came(met: &Met) -> f64 {
    until_all_came(&workers(met))
}

fn until_each_worker_could_leave(met: &Met) -> f64 {
    until_each_could_leave(&workers(met))
}

fn workers(met: &Met) -> Met {
    met.range(1..).map(|(thread, all)| (*thread, all.clone())).collect()
}

/// Seconds that the main thread waited for the first one to end.
fn until_the_first_ended(met: &Met) -> f64 {
    (met[&1][0].gone - met[&0][0].came).max(0.0)
}

/// A way to wait: the pattern that is found, at which construct and mark, who waits and who makes them wait, in which function, and how long it was.
struct Way {
    name: &'static str,
    pattern: &'static str,
    construct: &'static str,
    mark: &'static str,
    waiting: &'static [u64],
    cause: (&'static [u64], &'static str),
    measure: fn(&Met) -> f64,
}

const WAYS: [Way; 8] = [
    Way {
        name: "mutex",
        pattern: "wait_on_lock",
        construct: "pthread_mutex_lock",
        mark: "MUTEX",
        waiting: &[1, 2, 3, 4],
        cause: (&[1, 2, 3, 4], "at_mutex"),
        measure: until_each_worker_could_leave,
    },
    Way {
        name: "spin",
        pattern: "wait_on_lock",
        construct: "pthread_spin_lock",
        mark: "SPIN",
        waiting: &[2],
        cause: (&[1], "at_spin"),
        measure: until_each_worker_could_leave,
    },
    Way {
        name: "rwlock",
        pattern: "wait_on_lock",
        construct: "pthread_rwlock_rdlock",
        mark: "RWLOCK",
        waiting: &[2, 3, 4],
        cause: (&[1], "write_all"),
        measure: until_the_first_has_gone,
    },
    Way {
        name: "condition",
        pattern: "wait_on_value",
        construct: "pthread_cond_wait",
        mark: "CONDITION",
        waiting: &[2, 3, 4],
        cause: (&[1], "produce"),
        measure: until_the_first_has_gone,
    },
    Way {
        name: "semaphore",
        pattern: "wait_on_value",
        construct: "sem_wait",
        mark: "SEMAPHORE",
        waiting: &[2, 3, 4],
        cause: (&[1], "post"),
        measure: until_the_first_has_gone,
    },
    Way {
        name: "barrier",
        pattern: "wait_at_barrier",
        construct: "pthread_barrier_wait",
        mark: "BARRIER",
        waiting: &[1, 2, 3],
        cause: (&[4], "at_barrier"),
        measure: until_all_workers_came,
    },
    Way {
        name: "c11",
        pattern: "wait_on_value",
        construct: "cnd_wait",
        mark: "C11",
        waiting: &[2],
        cause: (&[1], "in_c11"),
        measure: until_the_first_has_gone,
    },
    Way {
        name: "join",
        pattern: "wait_for_thread",
        construct: "pthread_join",
        mark: "JOIN",
        waiting: &[0],
        cause: (&[1], "worker"),
        measure: until_the_first_ended,
    },
];

/// Functions in which the causes of a construct's waits are.
fn causing(document: &Value, pattern: &str, construct: &str) -> Vec<String> {
    let findings = document["findings"].as_array().into_iter().flatten();
    let it = findings.filter(|it| it["pattern"] == pattern && it["construct"] == construct);
    let causes = it.flat_map(|it| it["causes"].as_array().into_iter().flatten());
    causes.map(|cause| cause["location"]["function"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Numbers of PEs; of one process, those are of its threads.
fn distinct(mut pes: Vec<u64>) -> Vec<u64> {
    pes.sort_unstable();
    pes.dedup();
    pes
}

fn check(compiler: &str, way: &Way, balanced: bool) {
    let Way { name, pattern, construct, mark, waiting, cause: (causes, function), measure } = *way;
    let Some(built) = built(compiler, "waits.c") else { return };
    let line = built.line(mark);
    let mut problem = String::new();
    for _ in 0..TRIES {
        let recorded = built.record(&[&[name][..], if balanced { &["balanced"] } else { &[] }].concat());
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let expected = measure(&met(&recorded.output));
        let document = recorded.analysis();
        let (seconds, count, who, because) = found(&document, pattern, &[construct], &(line..=line));
        let allowed = 0.05 * expected + 0.001 * count.max(1) as f64;
        let is_found = (seconds - expected).abs() <= allowed;
        let is_named = causing(&document, pattern, construct).iter().any(|cause| cause == function);
        // Whoever was first in one turn may wait in the next.
        let (who, because) = (distinct(who), distinct(because));
        let is_caused =
            who == waiting && because.iter().all(|pe| causes.contains(pe)) && !because.is_empty() && is_named;
        // How long the threads of the twin wait is a matter of how busy the machine is; they know, and no more may be found.
        let is_right = balanced || is_caused && expected > 0.06;
        if is_found && is_right {
            return;
        }
        problem = format!("{compiler} {name}: {seconds} s of {expected} s, {count} times, {who:?} for {because:?}");
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
    at_a_mutex 0
    at_a_spin_lock 1
    at_a_lock_of_readers 2
    at_a_condition 3
    at_a_semaphore 4
    at_a_barrier 5
    at_a_condition_of_c 6
    for_a_thread 7
}

#[test]
fn threads_of_cxx_are_threads() {
    let all = COMPILERS_OF_CXX.iter().flat_map(|compiler| ["-O2", "-O0"].map(|level| (*compiler, level)));
    for (compiler, level) in all {
        let Some(built) = Built::of(compiler, &source("waits.cc"), &["-pthread", level]) else { continue };
        for late in [true, false] {
            let mut problem = String::new();
            let is_found = (0..TRIES).any(|_| {
                let recorded = built.record(if late { &[] } else { &["balanced"] });
                let said = String::from_utf8_lossy(&recorded.output.stdout).into_owned();
                let measured = |way: &str| -> f64 {
                    let seconds =
                        said.lines().filter(|line| line.contains(way)).filter_map(|line| line.rsplit(' ').next());
                    seconds.map(|text| text.parse::<f64>().expect("a number")).sum()
                };
                let document = recorded.analysis();
                // What the library of C++ has around calls of POSIX threads, inlined or not, is no place of the program's.
                let ways = [
                    ("condition", "wait_on_value", "pthread_cond_wait", "CONDITION"),
                    ("mutex", "wait_on_lock", "pthread_mutex_lock", "MUTEX"),
                ];
                problem = format!("{compiler} {level}: {said}{:#}", document["findings"]);
                ways.iter().all(|(way, pattern, construct, mark)| {
                    let line = built.line(mark);
                    let (seconds, count, ..) = found(&document, pattern, &[construct], &(line..=line));
                    let expected = measured(way);
                    let is_large = !late || expected > 0.05 && seconds > 0.05;
                    (seconds - expected).abs() <= 0.05 * expected + 0.001 * count.max(1) as f64 && is_large
                })
            });
            assert!(is_found, "{problem}");
        }
    }
}

/// What the main thread does while it is the only one costs the four others as much.
#[test]
fn a_process_with_one_thread_is_serial() {
    for compiler in COMPILERS {
        let Some(built) = built(compiler, "alone.c") else { continue };
        let recorded = built.record(&[]);
        let said = String::from_utf8_lossy(&recorded.output.stdout).into_owned();
        let measured: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let document = recorded.analysis();
        let problem = format!("{compiler}: {said}{:#}", document["findings"]);
        for (construct, mark, seconds) in
            [("pthread_create", "CREATE", measured[0]), ("pthread_join", "JOIN", measured[1])]
        {
            let line = built.line(mark);
            let (lost, _, who, because) = found(&document, "serial_section", &[construct], &(line..=line));
            // Making and joining threads is what the main thread does alone, too.
            assert!((4.0 * seconds..4.2 * seconds + 0.1).contains(&lost), "{lost} s at {construct}: {problem}");
            assert_eq!((distinct(who), distinct(because)), (vec![1, 2, 3, 4], vec![0]), "{problem}");
        }
        let share = document["serial"]["seconds"].as_f64().expect("seconds");
        let alone = measured.iter().sum::<f64>();
        assert!((alone..1.05 * alone + 0.05).contains(&share), "{share} s: {problem}");
        // Until it creates the first, and from one round to the next.
        let balanced = built.record(&["balanced"]).analysis();
        let serial = balanced["serial"]["seconds"].as_f64().expect("seconds");
        assert!(serial < 0.05, "{compiler}: {serial} s of {:#}", balanced["findings"]);
    }
}

/// What the recorder takes for its own start is no time that the program worked alone.
#[test]
fn a_slow_start_of_the_recorder_is_no_loss_of_the_program() {
    let Some(built) = built("gcc", "alone.c") else { return };
    let folder = tempfile::tempdir().expect("there is room for a library");
    let slow = folder.path().join("slow.so");
    run(Command::new("gcc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&slow).arg(source("slow_start.c")));
    let slept = folder.path().join("slept");
    let recorded = built.record_among(&["balanced"], &[("LD_PRELOAD", &slow), ("SLEPT", &slept)]).analysis();
    assert!(slept.exists(), "the start was slow");
    let serial = recorded["serial"]["seconds"].as_f64().expect("seconds");
    assert!(serial < 0.4, "{serial} s of {:#}", recorded["findings"]);
}

#[test]
fn operations_are_those_that_threads_waited_in() {
    for compiler in COMPILERS {
        let Some(built) = built(compiler, "counted.c") else { continue };
        let counter = built.folder.path().join("counter.so");
        run(Command::new("gcc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&counter).arg(source("counter.c")));
        let plain = run(Command::new(built.program()).env("LD_PRELOAD", &counter));
        let recorded = built.record(&[]);
        assert_eq!(recorded.output.stdout, plain.stdout, "the program computes the same");
        let document = recorded.analysis();
        let calls = calls(&document);
        let said = String::from_utf8_lossy(&plain.stderr);
        let counted = counted(&said);
        let of = |name: &str| calls.get(name).copied().unwrap_or_default();
        for name in ["pthread_create", "pthread_join", "pthread_barrier_wait"] {
            assert_eq!(of(name), counted[name], "{calls:?}");
        }
        // Of all those that got a lock, those that did not come first of four, and who came first of the second and the third four: others had waited for long by then.
        assert_eq!((counted["pthread_mutex_lock"], of("pthread_mutex_lock")), (312, 11), "{calls:?}");
        assert_eq!(of("pthread_mutex_unlock"), 12, "{calls:?}");
        // The threads of each round take the PEs of those of the one before.
        assert_eq!(document["pes"], 5);
        let Some(text) = recorded.printed() else { return };
        let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
        assert_eq!(
            [count("THREAD_CREATE "), count("THREAD_BEGIN "), count("THREAD_END "), count("THREAD_WAIT ")],
            [12, 13, 13, 12]
        );
        assert_eq!(count("THREAD_ACQUIRE_LOCK "), count("THREAD_RELEASE_LOCK "));
    }
}

/// A program that makes a thread for each task has as many PEs as it had threads at once, whose times and counts are those of all threads that they were.
#[test]
fn threads_follow_each_other_on_a_pe() {
    let Some(built) = built("gcc", "short.c") else { return };
    for profile in [false, true] {
        let counters = ["--counters", "cpu-time"];
        let recorded = built.record_with(&[&counters[..], if profile { &["--profile"] } else { &[] }].concat());
        let said = recorded.said();
        let of = |word: &str| -> f64 {
            let line = said.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
            line.and_then(|text| text.parse().ok()).expect("it says so")
        };
        let document = recorded.analysis();
        // The main thread and four others.
        assert_eq!(document["pes"], 5, "{said}");
        let calls = calls(&document);
        assert_eq!([calls["pthread_create"], calls["pthread_join"]], [400, 400]);
        let paths = document["callpaths"].as_array().expect("a table");
        let task = paths.iter().find(|row| row["callpath"] == serde_json::json!(["task"])).expect("it ran");
        let seconds = task["inclusive"].as_f64().expect("seconds");
        assert_eq!((&task["pes"], &task["visits"]), (&4.into(), &400.into()));
        // Threads lie next to each other; nothing of what is between them belongs to any.
        assert!((of("lasted")..of("alive")).contains(&seconds), "{seconds} s: {said}");
        let on = document["nodes"][0]["on_processor"].as_f64().expect("seconds");
        assert!((0.99 * of("computed")..1.01 * of("process") + 0.01).contains(&on), "{on} s: {said}");
        if !profile {
            let Some(text) = recorded.printed() else { return };
            check_lives(&text, of("computed"));
        }
    }
}

/// Threads of each PE begin after those before them have ended, and counters go on.
fn check_lives(text: &str, computed: f64) {
    let mut lives: BTreeMap<&str, (bool, u64, u64)> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(kind), Some(location)) = (words.next(), words.next()) else { continue };
        let value = line.rsplit("UINT64; ").next().and_then(|text| text.strip_suffix(')'));
        match kind {
            "THREAD_BEGIN" | "THREAD_END" => {
                let life = lives.entry(location).or_default();
                assert_eq!(life.0, kind == "THREAD_END", "{line}");
                *life = (!life.0, life.1 + u64::from(life.0), life.2);
            }
            "CALLING_CONTEXT_ENTER" => assert!(lives.get(location).is_some_and(|life| life.0), "{line}"),
            "METRIC" => {
                let value = value.and_then(|value| value.parse().ok()).expect("a number");
                let life = lives.entry(location).or_default();
                assert!(life.2 <= value, "{line}");
                life.2 = value;
            }
            _ => {}
        }
    }
    let ended: Vec<u64> = lives.values().map(|life| life.1).collect();
    assert_eq!((ended.len(), ended.iter().sum()), (5, 401), "{ended:?}");
    let counted: u64 = lives.iter().filter(|(location, _)| **location != "0").map(|(_, life)| life.2).sum();
    assert!(counted as f64 / 1e9 >= 0.99 * computed, "{counted} ns of {computed} s");
}

#[test]
fn other_readers_take_the_archives() {
    let Some(built) = built("gcc", "waits.c") else { return };
    for way in &WAYS {
        built.record(&[way.name]).printed();
    }
}

#[test]
fn threads_end_in_all_ways_and_calls_return_what_they_would() {
    for compiler in COMPILERS {
        let Some(built) = built(compiler, "ends.c") else { continue };
        for way in ["threads", "mutexes", "forks", "signals", "writes", "closes"] {
            let recorded = built.record(&[way]);
            assert_eq!(
                recorded.output.status.code(),
                Some(0),
                "{way}: {}{}",
                recorded.said(),
                String::from_utf8_lossy(&recorded.output.stdout)
            );
            let Some(text) = recorded.printed() else { return };
            let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
            assert_eq!(count("THREAD_BEGIN "), count("THREAD_END "), "{way}");
            assert_eq!(count("THREAD_ACQUIRE_LOCK "), count("THREAD_RELEASE_LOCK "), "{way}");
            assert_eq!(count("CALLING_CONTEXT_ENTER "), count("CALLING_CONTEXT_LEAVE "), "{way}");
            let document = recorded.analysis();
            assert_eq!(recorded.said().contains("handlers of signals"), way == "writes", "{way}: {}", recorded.said());
            // The one that no handler of a signal gives.
            let posts = calls(&document).get("sem_post").copied();
            assert!(way != "signals" || posts == Some(1), "{posts:?}");
        }
    }
}

/// A thread waits for a lock that nobody gives back when the program ends: that is the last that is known of it.
#[test]
fn a_program_may_end_while_threads_wait() {
    for compiler in COMPILERS {
        let Some(built) = built(compiler, "ends.c") else { continue };
        let ways = [("kill", 137), ("abort", 134), ("exit", 7), ("at once", 5), ("quick", 6), ("exec", 0), ("fork", 0)];
        for (way, status) in ways {
            let recorded = built.record(&[way]);
            assert_eq!(recorded.output.status.code(), Some(status), "{way}: {}", recorded.said());
            let document = recorded.analysis();
            assert_eq!(document["pes"], 2, "{way}");
            assert_eq!(calls(&document).get("pthread_mutex_lock"), Some(&1), "{way}");
            // A program that exits while threads are at work ends so, and nothing is missing.
            let quality = document["quality"].as_array().expect("a list");
            let tells = quality.iter().any(|it| it["message"].as_str().is_some_and(|it| it.contains("never left")));
            let is_early = ["kill", "abort"].contains(&way);
            assert_eq!((tells, document["ending"].is_null()), (is_early, !is_early), "{way}: {quality:#?}");
            if way == "kill" {
                let stuck = format!("ends.c:{}", built.line("STUCK"));
                let output = run(Command::new(env!("CARGO_BIN_EXE_partune")).arg("analyze").arg(&recorded.anchor));
                let text = String::from_utf8_lossy(&output.stdout);
                assert!(text.contains(&stuck), "{text}");
            }
        }
    }
}

/// What gives memory is the program's own, and is guarded by a lock for which threads wait: whoever gives that back and records it, needs memory.
#[test]
fn a_program_may_guard_its_heap() {
    for compiler in COMPILERS {
        let Some(built) = built(compiler, "heap.c") else { continue };
        let recorded = built.record(&[]);
        assert_eq!(recorded.output.status.code(), Some(0), "{}", recorded.said());
        assert!(calls(&recorded.analysis()).get("pthread_mutex_unlock").is_some_and(|count| *count > 0));
    }
}

/// Who makes no thread is not recorded, whatever it locks.
#[test]
fn a_program_without_threads_leaves_nothing() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let path = folder.path().join("alone.c");
    let text = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nint main(void) { pthread_mutex_lock(&m); return pthread_mutex_unlock(&m); }\n";
    std::fs::write(&path, text).expect("there is room for a program");
    let Some(built) = Built::of("gcc", &path, &["-pthread"]) else { return };
    let recorded = built.record(&[]);
    assert_eq!(recorded.output.status.code(), Some(0), "{}", recorded.said());
    assert!(!recorded.anchor.exists() && recorded.said().contains("made no thread"), "{}", recorded.said());
}

/// What the recorder does on their stacks has room, and they wait for each other as others do: for 10, 20 and 30 ms.
#[test]
fn threads_may_have_the_smallest_stacks() {
    for compiler in COMPILERS {
        let Some(built) = built(compiler, "small_stacks.c") else { continue };
        run(&mut Command::new(built.program()));
        let recorded = built.record(&[]);
        assert_eq!(recorded.output.status.code(), Some(0), "{}", recorded.said());
        let document = recorded.analysis();
        assert_eq!(calls(&document).get("pthread_mutex_lock"), Some(&3), "{document:#}");
    }
}

/// Idle threads of a library that computes for the program are no PEs; of a library of the program's, they are.
#[test]
fn threads_of_libraries_that_compute_are_their_own_business() {
    let Some(built) = built("gcc", "pool.c") else { return };
    for (name, pes) in [("libopenblas.so.0", 2), ("libpool.so", 4)] {
        let library = built.folder.path().join(name);
        let shared = ["-O2", "-shared", "-fPIC", "-pthread", "-DLIBRARY", "-o"];
        run(Command::new("gcc").args(shared).arg(&library).arg(source("pool.c")));
        let recorded = built.record(&[&library.display().to_string()]);
        assert_eq!(recorded.output.status.code(), Some(0), "{}", recorded.said());
        assert_eq!(recorded.analysis()["pes"], pes, "{name}");
    }
}

/// A thread that holds signals back by its own will is in no handler: what it gives to others is recorded.
#[test]
fn who_holds_signals_back_gives_signs_all_the_same() {
    let Some(built) = built("gcc", "held_back.c") else { return };
    let recorded = built.record(&[]);
    let said = recorded.said();
    let waited: f64 = said.lines().find_map(|line| line.strip_prefix("waited ")?.parse().ok()).expect("it says so");
    let document = recorded.analysis();
    let line = built.line("waits");
    let findings = document["findings"].as_array().into_iter().flatten();
    let found: Vec<&Value> =
        findings.filter(|it| it["pattern"] == "wait_on_value" && it["location"]["line"] == line).collect();
    let seconds: f64 = found.iter().filter_map(|it| it["seconds"].as_f64()).sum();
    assert!((seconds / waited - 1.0).abs() < 0.1, "{seconds} s of {waited} s: {found:?}");
    let causes: Vec<&Value> = found.iter().flat_map(|it| it["causes"].as_array().into_iter().flatten()).collect();
    let caused: f64 = causes.iter().filter(|it| it["pe"] == 1).filter_map(|it| it["seconds"].as_f64()).sum();
    assert!(caused > 0.8 * seconds, "{causes:?}");
}
