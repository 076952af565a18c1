//! Commands of partune that `mpirun` starts as several processes: one answer, the same to the byte as without it.

use std::process::{Command, Output, Stdio};

use partune_testkit::outside;

use super::launch::{LAUNCHED, MPICH, Mpi, OPEN_MPI, alone};
use crate::archives::{archives, workspace};

/// What a launcher of this MPI prints that starts so many processes; none if it is not here.
fn launched(mpi: &Mpi, processes: usize, command: &[&str]) -> Option<Output> {
    let launcher = mpi.command("mpirun");
    let mut run = Command::new(&launcher);
    run.args(["-n", &processes.to_string()]).args(command).envs(LAUNCHED);
    let output = run.output().ok();
    if output.is_none() {
        outside::missing(&launcher);
    }
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn any_number_of_processes_give_one_answer() {
    let _alone = alone();
    let partune = env!("CARGO_BIN_EXE_partune");
    let all = archives();
    let anchors: Vec<String> = all.iter().take(3).map(|it| it.anchor.display().to_string()).collect();
    assert!(!anchors.is_empty());
    for anchor in &anchors {
        let plain = Command::new(partune).args(["analyze", "--json", anchor]).output().expect("the binary runs");
        assert!(plain.status.success() && !plain.stdout.is_empty(), "{}", said(&plain));
        for mpi in [&OPEN_MPI, &MPICH] {
            for processes in [1, 2, 3, 7] {
                let command = [partune, "analyze", "--json", "--threads", "1", anchor];
                let Some(output) = launched(mpi, processes, &command) else { continue };
                assert!(output.status.success(), "{}", said(&output));
                assert!(output.stdout == plain.stdout, "{anchor}: {processes} processes of {}", mpi.name);
                // And they share their processors.
                let words = format!("the first of the {processes} processes here gives it, on {processes} threads");
                assert_eq!(said(&output).contains(&words), processes > 1, "{}", said(&output));
                let others = said(&output).matches("the others have nothing to do").count();
                assert_eq!(others, usize::from(processes > 1), "{}", said(&output));
            }
        }
    }
}

#[test]
fn text_is_plain_where_the_launcher_gives_a_terminal_too() {
    let _alone = alone();
    let ring = workspace().join("examples/archives/ring").display().to_string();
    let partune = [env!("CARGO_BIN_EXE_partune"), "analyze", &ring, "--threads", "1"];
    let plain = Command::new(partune[0]).args(&partune[1..]).output().expect("the binary runs");
    let launcher = OPEN_MPI.command("mpirun");
    let mut run = Command::new(&launcher);
    // Open MPI gives a terminal to the first process, and only where it has a standard input itself.
    run.args(["-n", "2"]).args(partune).envs(LAUNCHED).stdin(Stdio::inherit());
    run.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("TERM", "xterm-256color");
    let Ok(output) = run.output() else { return outside::missing(&launcher) };
    assert!(output.status.success(), "{}", said(&output));
    assert!(output.stdout == plain.stdout, "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn an_error_is_told_once_and_ends_the_job() {
    let _alone = alone();
    for mpi in [&OPEN_MPI, &MPICH] {
        let command = [env!("CARGO_BIN_EXE_partune"), "analyze", "/nonexistent"];
        let Some(output) = launched(mpi, 3, &command) else { continue };
        assert!(!output.status.success());
        assert_eq!(said(&output).matches("/nonexistent: No such file").count(), 1, "{}", said(&output));
    }
}

/// Processes that do not find each other give no answer, and not one each; but of a small archive, where there is nothing to deal out, one gives it.
#[test]
fn the_library_of_another_launcher_is_refused_once() {
    let _alone = alone();
    let ring = workspace().join("examples/archives/ring");
    let partune = env!("CARGO_BIN_EXE_partune");
    let plain = Command::new(partune).args(["analyze", "--json"]).arg(&ring).output().expect("the binary runs");
    // As large as one with slices, by its files.
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let copied = Command::new("cp").arg("-r").arg(&ring).arg(folder.path()).status().expect("cp runs");
    assert!(copied.success());
    let large = folder.path().join("ring");
    std::fs::write(large.join("traces.more"), vec![0; 140 << 20]).expect("there is room for it");
    let [ring, large] = [ring, large].map(|folder| folder.display().to_string());
    for (mpi, other) in [(&OPEN_MPI, MPICH.library), (&MPICH, OPEN_MPI.library), (&OPEN_MPI, "libnothing.so.1")] {
        let Some(output) = launched(mpi, 3, &[partune, "analyze", "--json", &ring, "--mpi-library", other]) else {
            continue;
        };
        assert!(output.status.success() && output.stdout == plain.stdout, "{}", said(&output));
        let output = launched(mpi, 3, &[partune, "analyze", &large, "--mpi-library", other]).expect("it ran before");
        assert!(!output.status.success() && output.stdout.is_empty(), "{}", said(&output));
        let told = ["it is not the launcher's library", "no MPI library is found"];
        let times: usize = told.iter().map(|text| said(&output).matches(text).count()).sum();
        assert!(times == 1 && said(&output).contains("remedy: "), "{}", said(&output));
    }
}

#[test]
fn each_process_of_a_script_is_by_itself() {
    let _alone = alone();
    for mpi in [&OPEN_MPI, &MPICH] {
        // The shell stays, as it would around what a longer script does.
        let script = format!("{} analyze --schema && true", env!("CARGO_BIN_EXE_partune"));
        let Some(output) = launched(mpi, 2, &["sh", "-c", &script]) else { continue };
        assert!(output.status.success(), "{}", said(&output));
        let schemas = |output: &Output| String::from_utf8_lossy(&output.stdout).matches("\"$schema\"").count();
        assert_eq!(schemas(&output), 2, "{}", mpi.name);
        // One that became partune is told from partune by nothing but what the user says.
        for (each, answers) in [("", 1), ("env PARTUNE_EACH=1 ", 2)] {
            let script = format!("exec {each}{} analyze --schema", env!("CARGO_BIN_EXE_partune"));
            let output = launched(mpi, 2, &["sh", "-c", &script]).expect("it ran before");
            assert_eq!(schemas(&output), answers, "{}: {}", mpi.name, said(&output));
            assert_eq!(said(&output).contains("PARTUNE_EACH"), answers == 1, "{}", said(&output));
        }
    }
}
