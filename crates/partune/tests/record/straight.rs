//! `partune -- PROGRAM`: from a program to the first screen, and to a recording that can be kept.

use std::path::Path;
use std::process::{Command, Output};

use super::launch::{Built, LAUNCHED, MPICH, OPEN_MPI, alone};

/// Runs `partune -- COMMAND` in a folder, with temporary folders below it.
fn straight(folder: &Path, command: &[&str]) -> Output {
    let _alone = alone();
    let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
    partune.arg("--").args(command).envs(LAUNCHED).env("TMPDIR", folder).current_dir(folder);
    partune.output().expect("partune runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Folders of recordings that are left.
fn left(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder).expect("the folder is there").flatten();
    files.filter(|file| file.file_name().to_string_lossy().starts_with("partune-")).count()
}

/// Rank 0 works before it sends: the receiver's wait and its line are on the screen, and the line that is said keeps the recording.
#[test]
fn one_command_leads_from_a_program_to_the_screen() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "waits/late_sender.c", &[]) else { continue };
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let program = built.program().display().to_string();
        let launcher = format!("mpirun.{}", mpi.name);
        let output = straight(folder.path(), &[&launcher, "-n", "2", &program]);
        let (screen, beside) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{screen}\n{beside}");
        for part in ["2 PEs in 2 processes", "efficiency", "late sender", "MPI_Recv", "late_sender.c:", "next: "] {
            assert!(screen.contains(part), "{part}:\n{screen}");
        }
        assert!(!screen.contains('\u{1b}') && screen.lines().all(|line| line.chars().count() < 200), "{screen}");
        let keep =
            beside.lines().find_map(|line| line.trim().strip_prefix("keep it: ")).expect("it says how to keep it");
        let kept = Command::new("sh").args(["-c", keep]).current_dir(folder.path()).status().expect("a shell runs");
        assert!(kept.success() && left(folder.path()) == 0, "{keep}");
        let again = Command::new(env!("CARGO_BIN_EXE_partune"))
            .args(["analyze", "recording"])
            .current_dir(folder.path())
            .output()
            .expect("partune runs");
        let after_name = |screen: &str| screen.split_once(": ").map(|(_, rest)| rest.to_owned());
        assert_eq!(after_name(&text(&again.stdout)), after_name(&screen), "analyze prints the same screen");
    }
}

#[test]
fn the_exit_status_is_that_of_the_program_and_nothing_is_left_where_nothing_was_recorded() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (command, status) in [
        (&["true"][..], 0),
        (&["/no/such/program"], 127),
        (&["sh", "-c", "exit 7"], 7),
        (&["sh", "-c", "kill -9 $$"], 128 + 9),
    ] {
        let output = straight(folder.path(), command);
        assert_eq!(output.status.code(), Some(status), "{command:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{command:?}");
    }
    assert_eq!(left(folder.path()), 0);
    let output = Command::new(env!("CARGO_BIN_EXE_partune")).arg("--").output().expect("partune runs");
    assert_eq!(output.status.code(), Some(2), "a program is needed");
}

/// It ran and failed: its status, and yet a screen of what was recorded.
#[test]
fn a_run_that_fails_is_shown_too() {
    let Some(built) = Built::new(&OPEN_MPI, "programs/abort.c", &[]) else { return };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program = built.program().display().to_string();
    let ranks = built.expected.ranks.to_string();
    let output = straight(folder.path(), &["mpirun.openmpi", "-n", &ranks, &program]);
    assert!(!output.status.success());
    assert!(text(&output.stdout).contains(" PEs in ") && text(&output.stderr).contains("keep it: "), "{output:?}");
    assert_eq!(left(folder.path()), 1);
}
