//! A run that does not fit into the memory that it may have: the same bytes as with all of it.

use std::path::Path;
use std::process::{Command, Output};

use crate::archives::{archives, shared};

/// What partune does when the system gives it so many MiB of memory that is nobody else's; files that are mapped are not counted.
fn within(mebibytes: u64, args: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -c 0; ulimit -d $0; exec \"$@\"", &(mebibytes << 10).to_string()]);
    shell.arg(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the shell runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_is_beyond_the_memory_changes_no_byte() {
    let folder = tempfile::tempdir_in("/var/tmp").expect("there is room for an archive");
    let run = folder.path().join("run").display().to_string();
    let plenty = 4096;
    let made = within(plenty, &["synth", "--ranks", "24", "--events", "3M", "--slow", "5:1.5", "-o", &run]);
    assert!(made.status.success(), "{}", said(&made));
    let whole = within(plenty, &["analyze", "--json", &run]);
    assert!(whole.status.success() && !whole.stdout.is_empty(), "{}", said(&whole));
    // All of it does not fit.
    let little = 144;
    let broken = within(little, &["analyze", "--json", "--memory", "8G", &run]);
    assert!(!broken.status.success(), "the limit of the system is none");
    for threads in ["1", "2"] {
        let spill = folder.path().display().to_string();
        let args = ["analyze", "--json", "--threads", threads, "--memory", "64M", "--spill", &spill, &run];
        let limited = within(little, &args);
        assert!(limited.status.success(), "{}", said(&limited));
        assert!(limited.stdout == whole.stdout, "on {threads} threads");
        assert!(said(&limited).contains("goes to a file in"), "{}", said(&limited));
    }
    // Who says nothing gets a share of what the system leaves.
    let usual = within(little, &["analyze", "--json", &run]);
    assert!(usual.status.success() && usual.stdout == whole.stdout, "{}", said(&usual));
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder is there").flatten().collect();
    assert_eq!(left.len(), 1, "nothing is left beside the archive: {left:?}");
}

#[test]
fn archives_of_others_say_the_same_with_the_least_memory() {
    let logs = shared("projections/charm-local-jacobi2d-8-gz").map(|folder| folder.join("jacobi2d.prj.sts"));
    for anchor in archives().into_iter().map(|it| it.anchor).chain(logs) {
        let name = anchor.display().to_string();
        let [whole, least] = [&["analyze", "--json", &name][..], &["analyze", "--json", "--memory", "64M", &name]]
            .map(|args| Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs"));
        assert!(whole.status == least.status && whole.stdout == least.stdout, "{name}: {}", said(&least));
    }
}

#[test]
fn a_limit_that_cannot_be_is_refused_with_a_remedy() {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives");
    let archive = archive.display().to_string();
    let refused = |args: &[&str]| {
        let output = within(4096, &[&["analyze"], args, &[&archive]].concat());
        (output.status.code(), said(&output))
    };
    let (status, text) = refused(&["--memory", "63M"]);
    assert!(status == Some(2) && text.contains("the least is 64M"), "{text}");
    let (status, text) = refused(&["--memory", "128M", "--spill", "/dev/shm"]);
    assert!(status == Some(1) && text.contains("in memory themselves\n  remedy: name a folder on a disk"), "{text}");
    let (status, text) = refused(&["--spill", "/nonexistent"]);
    assert!(status == Some(1) && text.contains("/nonexistent") && text.contains("remedy"), "{text}");
}
