//! Functions that are left out: what is not wanted is not there, and what others refer to stays right.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::launch::{Built, CAF, MPICH, OPEN_MPI, OSHMEM, Recorded, complaints, run};
use super::openmp::{self, CLANG, calls};
use super::printed::counts;
use super::programs::check_counts;
use super::{gasp, threads};

const PROGRAM: &str = "choice/kinds.c";

fn built() -> impl Iterator<Item = Built<'static>> {
    [&OPEN_MPI, &MPICH].into_iter().filter_map(|mpi| Built::new(mpi, PROGRAM, &[]))
}

/// Records it with the options; counts of both ranks must be these, and nothing is found wrong with the archive. Messages about what lacks
/// its counterpart.
fn check(built: &Built<'_>, options: &[&str], expected: &[(&str, u64)]) -> Vec<String> {
    let recorded = built.record(options, &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let found = counts(&recorded.anchor);
    assert_eq!(found.len(), 2, "{}", recorded.said());
    for rank in found {
        for (name, number) in expected.iter().chain(&[("MPI_Init", 1), ("MPI_Finalize", 1)]) {
            assert_eq!(rank.get(*name).copied().unwrap_or(0), *number, "{name} with {options:?}: {rank:#?}");
        }
    }
    let document = recorded.analysis();
    let quality = document["quality"].as_array().expect("quality is a list");
    assert!(quality.iter().all(|it| it["severity"] == "info"), "{options:?}: {quality:#?}");
    let said = quality.iter().find(|it| it["code"] == "left-out-calls").map(|it| it["message"].to_string());
    assert!(said.is_some_and(|said| said.contains(&options.join(" "))), "{options:?}: {quality:#?}");
    let of_parts =
        quality.iter().filter(|it| it["remedy"].as_str().is_some_and(|it| it.contains("left out of the recording")));
    of_parts.map(|it| it["code"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn everything_is_recorded_unless_something_is_left_out() {
    for built in built() {
        let recorded = check_counts(&built, &[], &[]);
        let document = recorded.analysis();
        let quality = document["quality"].as_array().expect("quality is a list");
        assert!(quality.iter().all(|it| it["code"] != "left-out-calls"), "{quality:#?}");
    }
}

/// A communicator is known though the call that made it is not there; polls, tests and inquiries are gone.
#[test]
fn functions_classes_and_roles_are_left_out() {
    for built in built() {
        let all = [("sends", 14), ("received", 164), ("MPI_Allreduce", 2), ("MPI_Barrier", 3), ("MPI_Wait", 12)];
        let left_out = ["MPI_Iprobe", "MPI_Comm_dup", "MPI_Comm_free", "MPI_Comm_rank"].map(|name| (name, 0));
        let expected = [&all[..], &left_out].concat();
        assert_eq!(check(&built, &["--not", "test,communicator,MPI_Comm_rank"], &expected), [""; 0]);
        let expected = [("sends", 0), ("MPI_Isend", 0), ("MPI_Wait", 0), ("MPI_Allreduce", 2), ("MPI_Barrier", 3)];
        assert_eq!(check(&built, &["--only", "collective"], &[&expected[..], &left_out].concat()), [""; 0]);
        let expected = [("sends", 14), ("receives", 14), ("MPI_Allreduce", 0), ("MPI_Barrier", 0), ("MPI_Iprobe", 0)];
        assert_eq!(check(&built, &["--only", "p2p", "--not", "MPI_Iprobe"], &expected), [""; 0]);
    }
}

/// Whatever gives a request and whatever completes it may be left out, and handles that are used again mean what they mean then.
#[test]
fn requests_are_right_whichever_half_is_left_out() {
    for built in built() {
        // Of nine that are received by a request 4·8 + 5·4 bytes; the sends of both sides are the persistent and the blocking ones.
        let expected = [("MPI_Isend", 0), ("sends", 5), ("sent", 112), ("receives", 14), ("received", 164)];
        assert_eq!(check(&built, &["--not", "MPI_Isend"], &expected), ["unmatched-messages"]);
        // Five are never seen to complete.
        let expected = [("MPI_Waitall", 0), ("sends", 14), ("receives", 9), ("received", 144)];
        assert_eq!(check(&built, &["--not", "MPI_Waitall"], &expected), ["unmatched-messages", "uncompleted-receives"]);
        // A persistent request that nobody saw made is started.
        let expected = [("MPI_Send_init", 0), ("MPI_Start", 4), ("sends", 14), ("receives", 14), ("received", 164)];
        assert_eq!(check(&built, &["--not", "MPI_Send_init,MPI_Recv_init"], &expected), [""; 0]);
    }
}

#[test]
fn sends_to_receives_that_were_left_out_are_no_fault() {
    for built in built() {
        let expected = [("MPI_Recv", 0), ("sends", 14), ("receives", 11), ("received", 116)];
        assert_eq!(check(&built, &["--not", "MPI_Recv"], &expected), ["unmatched-messages"]);
    }
}

/// A profile has no calls of them either.
#[test]
fn a_profile_leaves_them_out_too() {
    for built in built() {
        let recorded = built.record(&["--profile", "--not", "MPI_Wait*"], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let document = recorded.analysis().to_string();
        assert!(document.contains("MPI_Isend") && !document.contains("\"MPI_Waitall\""), "{document}");
    }
}

#[test]
fn words_that_say_nothing_are_errors_before_the_run() {
    let folder = tempfile::tempdir().expect("there is room");
    let (ran, made) = (folder.path().join("ran"), folder.path().join("made"));
    let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
    partune.args(["record", "--not", "p2p,MPI_Iprob", "-o"]).arg(&made).args(["--", "touch"]).arg(&ran);
    let output = partune.output().expect("partune runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("is it MPI_Iprobe?"), "{said}");
    assert!(!ran.exists() && !made.exists(), "{said}");
}

/// A phase, a loop and its first turns; what is made outside of them is known inside.
#[test]
fn only_marked_phases_are_recorded() {
    let include = format!("-I{}/../../include", env!("CARGO_MANIFEST_DIR"));
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "choice/phases.c", &[&include]) else { continue };
        check_counts(&built, &[], &[]);
        let loops = |turns| {
            let messages = [
                ("main/MPI_Sendrecv", turns),
                ("main/MPI_Waitall", turns),
                ("sends", 2 * turns),
                ("received", 12 * turns),
            ];
            [&messages[..], &[("steps", 1 + turns), ("inner", 3 * turns), ("main/MPI_Barrier", 0)]].concat()
        };
        let barriers =
            |visits| vec![("main/MPI_Sendrecv", 0), ("main/MPI_Barrier", visits), ("output", visits), ("steps", 0)];
        let none = vec![("main/MPI_Sendrecv", 0), ("main/MPI_Barrier", 0), ("sends", 0), ("steps", 0), ("output", 0)];
        for (phase, expected) in [
            ("steps", loops(10)),
            ("steps:3", loops(3)),
            ("steps:99", loops(10)),
            ("output", barriers(3)),
            ("output:2", barriers(2)),
            ("nowhere", none),
        ] {
            let recorded = built.record(&["--phase", phase], &[]);
            assert!(recorded.output.status.success(), "{}", recorded.said());
            for rank in counts(&recorded.anchor) {
                for (name, number) in expected.iter().chain(&[("MPI_Init", 1), ("MPI_Finalize", 1)]) {
                    assert_eq!(rank.get(*name).copied().unwrap_or(0), *number, "{name} in {phase}: {rank:#?}");
                }
            }
            let is_said = recorded.said().contains("no phase, region or loop nowhere was marked");
            assert_eq!(is_said, phase == "nowhere", "{}", recorded.said());
            let document = recorded.analysis();
            let quality = document["quality"].as_array().expect("quality is a list");
            assert!(quality.iter().all(|it| it["severity"] == "info"), "{phase}: {quality:#?}");
        }
    }
}

/// Programs of threads alone, by both kinds of runtimes.
fn built_with_openmp() -> impl Iterator<Item = openmp::Built> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/choice/parts.c");
    let include = format!("-I{}/../../include", env!("CARGO_MANIFEST_DIR"));
    ["gcc", CLANG].into_iter().filter_map(move |it| openmp::Built::of(it, &source, &["-fopenmp", &include]))
}

#[test]
fn only_marked_phases_of_openmp_are_recorded() {
    for built in built_with_openmp() {
        for (phase, criticals) in [(None, 18), (Some("solve"), 9), (Some("solve:1"), 9)] {
            let options: Vec<&str> = phase.into_iter().flat_map(|phase| ["--phase", phase]).collect();
            let recorded = built.record_with(&options);
            assert!(recorded.output.status.success(), "{}", recorded.said());
            let document = recorded.analysis();
            assert_eq!(calls(&document)["omp critical"], criticals, "{options:?}: {document:#}");
            assert!(complaints(&document).is_empty(), "{options:?}: {:#}", document["quality"]);
        }
    }
}

/// Where nothing of a run was recorded by choice, all commands say so.
#[test]
fn of_nothing_that_was_chosen_there_is_nothing_to_analyse() {
    for built in built_with_openmp() {
        for (options, why) in [
            (["--phase", "nowhere"], "no phase, region or loop nowhere was marked"),
            (["--window", "1min.."], "before the time of which a recording was wanted began"),
            (["--toggle", "usr1"], "a process never got the signal"),
        ] {
            let recorded = built.record_with(&options);
            let said = recorded.said();
            assert!(said.contains(why) && !said.contains("next: "), "{said}");
            let mut analyze = Command::new(env!("CARGO_BIN_EXE_partune"));
            let output = analyze.arg("analyze").arg(&recorded.anchor).output().expect("partune runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains("no operation of the run was recorded, since recording was switched off"), "{said}");
        }
    }
}

/// What is done in a window is recorded, with start-up and shut-down, and nothing else; by the clock of the program itself.
#[test]
fn only_a_window_is_recorded() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "choice/window.c", &[]) else { continue };
        let recorded = built.record(&["--window", "2s..3s"], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let printed = String::from_utf8_lossy(&recorded.output.stdout).into_owned();
        for (rank, counted) in counts(&recorded.anchor).into_iter().enumerate() {
            let of = |name: &str| counted.get(name).copied().unwrap_or(0);
            let inside = printed.lines().find_map(|it| it.strip_prefix(&format!("inside {rank} ")));
            let inside = inside.and_then(|it| it.split_once(' ')).expect("it prints that");
            let [surely, perhaps] = [inside.0, inside.1].map(|it| it.parse::<u64>().expect("a number"));
            // The call at which it is seen that it has ended is recorded too.
            assert!(
                surely > 0 && (surely..=perhaps + 1).contains(&of("main/MPI_Barrier")),
                "{}: {inside:?}, {counted:#?}",
                mpi.name
            );
            assert_eq!([of("MPI_Init"), of("MPI_Finalize")], [1, 1], "{counted:#?}");
        }
    }
}

/// From one signal to the next.
#[test]
fn a_signal_turns_recording_on_and_off() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "choice/toggle.c", &[]) else { continue };
        for (arguments, barriers) in [(&[][..], 20), (&["once"], 40)] {
            let recorded = built.record(&["--toggle", "usr2"], arguments);
            assert!(recorded.output.status.success(), "{}", recorded.said());
            for counted in counts(&recorded.anchor) {
                let of = |name: &str| counted.get(name).copied().unwrap_or(0);
                let found = ["MPI_Init", "main/MPI_Barrier", "MPI_Finalize"].map(of);
                assert_eq!(found, [1, barriers, 1], "{}: {counted:#?}", mpi.name);
            }
        }
    }
}

/// Calls by construct of a run in which what `options` say is left out. Nothing is found wrong with it, and the archive says what was left out.
fn calls_with(record: impl Fn(&[&str]) -> Recorded, options: &[&str]) -> BTreeMap<String, u64> {
    let recorded = record(options);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let document = recorded.analysis();
    let quality = document["quality"].as_array().expect("quality is a list");
    assert!(quality.iter().all(|it| it["severity"] == "info"), "{options:?}: {quality:#?}");
    let said = quality.iter().find(|it| it["code"] == "left-out-calls").map(|it| it["message"].to_string());
    assert_eq!(said.is_some(), !options.is_empty(), "{quality:#?}");
    assert!(said.is_none_or(|said| said.contains(&options.join(" "))), "{options:?}: {quality:#?}");
    let mut calls = calls(&document);
    // Who runs a task, and whether it waits on, is up to the runtime.
    calls.remove("omp wait for tasks");
    calls
}

/// What is left out is gone, and all else is there as often as in a whole run; nothing comes to light from inside of what is gone. For each of some options,
/// what is gone with them. Calls of the whole run.
fn check_gone(record: impl Fn(&[&str]) -> Recorded, all: &[(&str, &[&str])]) -> BTreeMap<String, u64> {
    let whole = calls_with(&record, &[]);
    for (left_out, gone) in all {
        let mut expected = whole.clone();
        for name in *gone {
            assert!(expected.remove(*name).is_some_and(|calls| calls > 0), "{name}: {whole:#?}");
        }
        assert_eq!(calls_with(&record, &["--not", left_out]), expected, "{left_out}");
    }
    whole
}

#[test]
fn functions_of_openshmem_are_left_out_with_what_is_inside() {
    let Some(built) = Built::new(&OSHMEM, "shmem/counts.c", &[]) else { return };
    let record = |options: &[&str]| built.record(options, &[]);
    let whole = check_gone(
        record,
        &[
            ("shmem_barrier_all,shmem_quiet", &["shmem_barrier_all", "shmem_quiet", "shmem_ctx_quiet"]),
            // A function of a family alone, and all of it; those of long double are wrapped in another way.
            ("shmem_long_put", &["shmem_long_put"]),
            ("shmem_p", &["shmem_float_p", "shmem_long_p", "shmem_longdouble_p", "shmem_ctx_longdouble_p"]),
        ],
    );
    let part = calls_with(record, &["--only", "lock,shmem_long_put,shmem:inquiry"]);
    let kept = ["shmem_set_lock", "shmem_clear_lock", "shmem_long_put", "shmem_my_pe", "shmem_init", "shmem_finalize"];
    for name in kept {
        assert!(whole[name] > 0 && part.get(name) == whole.get(name), "{name}: {part:#?}");
    }
    for name in ["shmem_putmem", "shmem_barrier_all", "shmem_malloc"] {
        assert!(whole[name] > 0 && !part.contains_key(name), "{name}: {part:#?}");
    }
}

#[test]
fn a_profile_of_openshmem_leaves_them_out_too() {
    let Some(built) = Built::new(&OSHMEM, "shmem/counts.c", &[]) else { return };
    let document = built.record(&["--profile", "--not", "barrier"], &[]).analysis();
    let calls = calls(&document);
    assert!(calls.contains_key("shmem_long_put") && !calls.contains_key("shmem_barrier_all"), "{calls:#?}");
    assert!(calls.keys().all(|name| !name.contains("MPI_")), "{calls:#?}");
}

/// The library does with MPI what is left out, and none of that is shown. `get` is a role too, unless the paradigm is named.
#[test]
fn statements_of_coarrays_are_left_out_with_what_is_inside() {
    let Some(built) = Built::new(&CAF, "caf/counts.f90", &[]) else { return };
    check_gone(
        |options: &[&str]| built.record(options, &[]),
        &[
            ("sync all,CAF:get,event post", &["sync all", "get", "event post"]),
            ("form team,change team,end team", &["form team", "change team", "end team"]),
        ],
    );
}

/// With both kinds of runtimes: those that are recorded by their entry points, and those that tell of themselves.
#[test]
fn constructs_of_openmp_are_left_out() {
    for compiler in ["gcc", CLANG] {
        let Some(built) = openmp::Built::new(compiler, "counted.c") else { continue };
        let record = |options: &[&str]| built.record_with(options);
        let whole = check_gone(
            record,
            &[
                ("omp critical", &["omp critical"]),
                ("omp_set_lock,omp_unset_lock", &["omp_set_lock", "omp_unset_lock"]),
                ("omp_unset_lock", &["omp_unset_lock"]),
                ("omp barrier,omp ordered", &["omp barrier", "omp ordered"]),
            ],
        );
        let part = calls_with(record, &["--not", "task,work_sharing"]);
        for name in ["omp create task", "omp taskwait"] {
            assert!(whole[name] > 0 && !part.contains_key(name), "{compiler} {name}: {part:#?}");
        }
        for name in ["omp critical", "omp barrier", "omp_set_lock", "omp ordered"] {
            assert!(whole[name] > 0 && part.get(name) == whole.get(name), "{compiler} {name}: {part:#?}");
        }
    }
}

#[test]
fn waits_of_threads_are_left_out() {
    for compiler in ["gcc", CLANG] {
        let Some(built) = threads::built(compiler, "counted.c") else { continue };
        let record = |options: &[&str]| built.record_with(options);
        let whole = check_gone(
            record,
            &[
                ("lock", &["pthread_mutex_lock", "pthread_mutex_unlock"]),
                ("pthread_mutex_unlock", &["pthread_mutex_unlock"]),
                ("barrier", &["pthread_barrier_wait"]),
            ],
        );
        // Which threads there are is always told.
        let part = calls_with(record, &["--not", "thread"]);
        assert_eq!(part.into_iter().collect::<Vec<_>>(), [("pthread_create".to_owned(), whole["pthread_create"])]);
    }
}

/// A wait for a lock has its cause though the call that gave the lock back is not there.
#[test]
fn who_gave_a_lock_back_is_known_without_the_call() {
    let Some(built) = threads::built("gcc", "counted.c") else { return };
    let document = built.record_with(&["--not", "pthread_mutex_unlock"]).analysis();
    let findings = document["findings"].as_array().into_iter().flatten();
    let causes = findings
        .filter(|it| it["pattern"] == "wait_on_lock")
        .flat_map(|it| it["causes"].as_array().into_iter().flatten());
    let given = causes.filter(|cause| cause["construct"] == "run").filter_map(|cause| cause["seconds"].as_f64());
    // Whoever holds it sleeps for 20 ms, three generations of threads, three of four times while others wait.
    assert!(given.sum::<f64>() > 3.0 * 0.020, "{:#?}", document["findings"]);
}

#[test]
fn events_of_upc_are_left_out() {
    for (runtime, barrier) in [("gnu", "upc_barrier"), ("berkeley", "upc_notify")] {
        let Some(built) = gasp::Built::new("gcc", "events.c") else { return };
        let record = |options: &[&str]| built.record_with(options, runtime, &[]);
        let left_out = format!("{barrier},upc_memget,upc_lock");
        check_gone(record, &[(&left_out, &[barrier, "upc_memget", "upc_lock"])]);
    }
}

/// Writes which functions of a recording cost more than they tell.
fn write_filter(recorded: &Recorded, file: &Path) -> String {
    let mut analyze = Command::new(env!("CARGO_BIN_EXE_partune"));
    run(analyze.arg("analyze").arg(&recorded.anchor).arg("--write-filter").arg(file));
    std::fs::read_to_string(file).expect("it was written")
}

/// A hot call that tells nothing is not recorded next time, and all else is as it was. Nothing more is to be left out then.
#[test]
fn what_costs_more_than_it_tells_is_left_out_next_time() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("filter");
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "choice/hot.c", &[]) else { continue };
        for mode in [&[][..], &["--profile"]] {
            let whole = built.record(mode, &[]);
            let text = write_filter(&whole, &file);
            let rules: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
            assert_eq!(rules, ["not MPI_Comm_rank"], "{text}");
            let options = [mode, &["--filter", file.to_str().expect("a name")]].concat();
            let part = built.record(&options, &[]);
            assert!(part.output.status.success(), "{}", part.said());
            let [mut whole, found] = [&whole, &part].map(|it| calls(&it.analysis()));
            assert_eq!(whole.remove("MPI_Comm_rank"), Some(40_002), "{whole:#?}");
            assert_eq!(found, whole);
            let text = write_filter(&part, &file);
            assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
        }
    }
}

#[test]
fn words_of_a_filter_that_say_nothing_are_errors_before_the_run() {
    let folder = tempfile::tempdir().expect("there is room");
    let [file, ran, made] = ["filter", "ran", "made"].map(|name| folder.path().join(name));
    std::fs::write(&file, "not MPI_Comm_rankk\n").expect("there is room");
    let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
    partune.args(["record", "--filter"]).arg(&file).arg("-o").arg(&made).args(["--", "touch"]).arg(&ran);
    let output = partune.output().expect("partune runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(125) && said.contains("is it MPI_Comm_rank?"), "{said}");
    assert!(!ran.exists() && !made.exists(), "{said}");
}
