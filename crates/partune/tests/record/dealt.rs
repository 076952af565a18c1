//! Slices dealt out over a real MPI: the same bytes as one process gives, and an end whatever happens to one of them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use partune_engine::job::Alone;
use partune_engine::{Request, Sliced, analyze_in_slices};
use partune_testkit::outside;

use super::launch::{LAUNCHED, MPICH, Mpi, OPEN_MPI, alone};

/// The program that takes slices of any size; it is built with the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("the tests run");
    tests.ancestors().nth(2).expect("they are in a folder of the build").join("examples/in_slices")
}

fn synth(to: &Path, options: &[&str]) -> PathBuf {
    let made = Command::new(env!("CARGO_BIN_EXE_partune")).arg("synth").args(options).arg("-o").arg(to).output();
    assert!(made.expect("the binary runs").status.success());
    to.join("traces.otf2")
}

/// Starts so many processes that write into a file; none if this MPI is not here.
fn started(mpi: &Mpi, processes: usize, anchor: &Path, events: u64, to: &Path, fault: &[&str]) -> Option<Child> {
    let launcher = mpi.command("mpirun");
    let mut run = Command::new(&launcher);
    run.args(["-n", &processes.to_string()]).arg(program()).arg(anchor).arg(events.to_string()).arg(to).args(fault);
    run.envs(LAUNCHED).env("RAYON_NUM_THREADS", "1").stdout(Stdio::null()).stderr(Stdio::null());
    let child = run.spawn().ok();
    if child.is_none() {
        outside::missing(&launcher);
    }
    child
}

/// Whether the job ends in order, before it takes forever.
fn ends(mut job: Child) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_mins(1) {
        if let Some(status) = job.try_wait().expect("it is a child") {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = job.kill();
    panic!("the job does not end");
}

#[test]
fn any_number_of_processes_writes_the_same_bytes() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("there is room for archives");
    let plans: [(&[&str], u64); 3] = [
        (&["--ranks", "8", "--events", "60K", "--slow", "5:2"], 3000),
        (&["--ranks", "3", "--events", "8K", "--inject", "late-broadcast:0:500000:50"], 500),
        (&["--ranks", "8", "--events", "8K", "--inject", "late-receiver:1:500000:30", "--skew", "0.6"], 1),
    ];
    for (number, (options, events)) in plans.into_iter().enumerate() {
        let anchor = synth(&folder.path().join(number.to_string()), options);
        let request = Request { predicts: false, ..Request::default() };
        let one = match analyze_in_slices(&anchor, &request, events, &Alone, &()).expect("it opens") {
            Sliced::Diagnosed(diagnosis) => partune_report::document(&diagnosis, "archive"),
            Sliced::Whole(_) | Sliced::Elsewhere => panic!("it can be cut"),
        };
        for mpi in [&OPEN_MPI, &MPICH] {
            for processes in [1, 2, 3, 7] {
                let to = folder.path().join("document");
                let Some(job) = started(mpi, processes, &anchor, events, &to, &[]) else { continue };
                assert!(ends(job), "{processes} processes of {}", mpi.name);
                let text = std::fs::read_to_string(&to).expect("process 0 writes it");
                assert!(text == one, "{options:?}: {processes} processes of {}", mpi.name);
                std::fs::remove_file(&to).expect("it is there");
            }
        }
    }
}

#[test]
fn a_process_that_does_not_see_the_archive_is_named() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let anchor = synth(&folder.path().join("run"), &["--ranks", "4", "--events", "20K"]);
    for mpi in [&OPEN_MPI, &MPICH] {
        let to = folder.path().join("document");
        let Some(job) = started(mpi, 3, &anchor, 1000, &to, &["missing", "2"]) else { continue };
        assert!(ends(job), "{}", mpi.name);
        let text = std::fs::read_to_string(&to).expect("process 0 writes it");
        assert!(text.contains("process 2 on ") && text.contains("No such file"), "{text}");
        std::fs::remove_file(&to).expect("it is there");
    }
}

/// One that is killed, that panics, and that ends without a word, as the heap does with a full disk.
#[test]
fn a_process_that_dies_ends_the_job() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let anchor = synth(&folder.path().join("run"), &["--ranks", "4", "--events", "20K"]);
    for mpi in [&OPEN_MPI, &MPICH] {
        for fault in ["panic", "exit", "stuck"] {
            for rank in ["0", "2"] {
                let to = folder.path().join("pid");
                let Some(job) = started(mpi, 3, &anchor, 1000, &to, &[fault, rank]) else { continue };
                if fault == "stuck" {
                    kill_when_written(&to);
                }
                assert!(!ends(job), "{} {fault} {rank}", mpi.name);
            }
        }
    }
}

/// Kills the process whose number a file gets, and removes the file.
fn kill_when_written(file: &Path) {
    let begin = Instant::now();
    let process = loop {
        assert!(begin.elapsed() < Duration::from_mins(1), "no process writes {}", file.display());
        match std::fs::read_to_string(file).ok().and_then(|text| text.parse::<u32>().ok()) {
            Some(process) => break process,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    // The number is written at once, but perhaps not all of it is here yet.
    std::thread::sleep(Duration::from_millis(50));
    let process = std::fs::read_to_string(file).ok().and_then(|text| text.parse().ok()).unwrap_or(process);
    let killed = Command::new("kill").args(["-9", &process.to_string()]).status();
    assert!(killed.is_ok_and(|it| it.success()));
    std::fs::remove_file(file).expect("it is there");
}
