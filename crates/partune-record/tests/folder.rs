//! One recording, one folder; signals; a full disk: what is refused is refused with a reason, and nothing is lost by it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use partune_record::{Mode, RecordError, Request};

use crate::faults::{copy, files, record};
use crate::process::{acts, completion};

fn request(folder: &Path, steps: &[&str]) -> Request {
    Request { command: acts(steps), folder: folder.to_owned(), depth: Some(0), ..Request::default() }
}

#[test]
fn an_archive_that_is_complete_stays_as_it_is() {
    let work = tempfile::tempdir().expect("a folder");
    let folder = work.path().join("out");
    record(&folder, Mode::Trace, &["exit 100"]);
    assert!(partune_record::complete(&folder).expect("an archive").is_some());
    let before = files(&folder);
    assert!(partune_record::complete(&folder).expect("it is there").is_none());
    assert!(files(&folder) == before);
    let error = partune_record::launch(&request(&folder, &["exit 1"])).expect_err("it is taken");
    assert!(matches!(error, RecordError::Occupied { .. }), "{error}");
    assert!(files(&folder) == before);
}

#[test]
fn profiles_are_completed_again_into_the_same_bytes() {
    let work = tempfile::tempdir().expect("a folder");
    let (folder, again) = (work.path().join("out"), work.path().join("again"));
    record(&folder, Mode::Profile, &["kill 5000", "exit 100"]);
    copy(&folder, &again);
    for folder in [&folder, &again] {
        let summary = partune_record::complete(folder).expect("an archive").expect("it was not complete");
        assert_eq!(summary.calls, Some(5100));
    }
    assert!(files(&folder) == files(&again));
}

#[test]
fn two_recordings_do_not_share_a_folder() {
    let work = tempfile::tempdir().expect("a folder");
    let folder = work.path().join("out");
    let launched = partune_record::launch(&request(&folder, &["exit 100"])).expect("a shell is on every system");
    // It is not completed yet, and somebody comes.
    let this = format!("process {} on ", std::process::id());
    for error in [
        partune_record::launch(&request(&folder, &["exit 7"])).expect_err("it is held"),
        partune_record::complete(&folder).expect_err("it is held"),
    ] {
        assert!(error.to_string().contains(&this), "{error}");
    }
    let summary = launched.complete().expect("an archive");
    assert_eq!((summary.pes, summary.events), (1, 250));
}

#[test]
fn what_was_left_is_completed_before_somebody_else_records() {
    let work = tempfile::tempdir().expect("a folder");
    let folder = work.path().join("out");
    record(&folder, Mode::Trace, &["exit 100"]);
    let error = partune_record::launch(&request(&folder, &["exit 1"])).expect_err("it is taken");
    assert!(error.to_string().contains("partune record --complete"), "{error}");
    let summary = partune_record::complete(&folder).expect("an archive").expect("it was not complete");
    assert_eq!((summary.pes, summary.events), (1, 250));
}

#[test]
fn a_process_that_still_records_is_named() {
    let work = tempfile::tempdir().expect("a folder");
    let folder = work.path().join("out");
    let mut command = acts(&["stay 100"]).into_iter();
    let mut child = Command::new(command.next().expect("a shell"))
        .args(command)
        .env("PARTUNE_DIR", &folder)
        .env("PARTUNE_DEPTH", "0")
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell is on every system");
    let parts = folder.join("parts");
    let is_there = || files_of(&parts).iter().any(|name| name == "recorded");
    while !is_there() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let so_far = partune_record::so_far(&folder);
    assert_eq!((so_far.processes, so_far.threads, so_far.events), (1, 1, 250));
    assert!((1000..10_000).contains(&so_far.bytes), "{so_far:?}");
    let error = partune_record::complete(&folder).expect_err("it lives");
    assert!(matches!(error, RecordError::Living { .. }), "{error}");
    let before = files(&parts);
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
    assert!(before.keys().all(|name| parts.join(name).exists()), "nothing was taken away");
    fs::remove_file(parts.join("recorded")).expect("it was there");
    let summary = partune_record::complete(&folder).expect("an archive").expect("it was not complete");
    assert_eq!((summary.pes, summary.events), (1, 500));
    // Whoever comes when it is complete is not recorded.
    let late = crate::process::record(&folder, "late 1", &[]);
    assert!(late.success() && !parts.exists());
}

fn files_of(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A scheduler ends a job by a signal to whoever is in it, and kills what is left some seconds later.
#[test]
fn a_request_to_end_reaches_the_command_and_the_archive_is_completed() {
    let work = tempfile::tempdir().expect("a folder");
    for (signal, is_for_group) in [("TERM", false), ("TERM", true), ("INT", false), ("HUP", false), ("USR1", false)] {
        let folder = work.path().join(format!("{signal}{is_for_group}"));
        let mut command = Command::new("setsid");
        crate::process::launching(&mut command, &folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("a command of every system");
        let parts = folder.join("parts");
        while !files_of(&parts).iter().any(|name| name == "recorded") {
            assert!(child.try_wait().expect("a child").is_none(), "it waits for a signal");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let to = format!("{}{}", if is_for_group { "-" } else { "" }, child.id());
        assert!(Command::new("kill").args(["-s", signal, "--", &to]).status().expect("a command").success());
        let status = child.wait().expect("it ends");
        // The act of the child: 2 if the command was ended by a signal and the archive has all events.
        assert_eq!(status.code(), Some(2), "{signal} {is_for_group}: {status}");
        assert!(folder.join("traces.otf2").exists() && !parts.exists());
    }
}

/// A file system that is too small, where one can be mounted.
#[test]
#[allow(clippy::print_stdout, reason = "what a test skips is said")]
fn a_full_disk_is_said_before_anything_is_made() {
    let work = tempfile::tempdir().expect("a folder");
    let recorded = work.path().join("recorded");
    record(&recorded, Mode::Trace, &["kill 60000"]);
    let disk = work.path().join("disk");
    fs::create_dir(&disk).expect("a folder");
    let script = "mount -t tmpfs -o size=4m none \"$1\" && cp -a \"$2\" \"$1/out\" && \
                  dd if=/dev/zero of=\"$1/fill\" bs=4k 2>/dev/null; shift 2; \"$@\"; echo \"status $?\"; \
                  rm -f ${DISK}/fill; \"$@\"; echo \"status $?\"; ls \"$DISK/out\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(&disk).arg(&recorded);
    completion(&mut command, &disk.join("out"));
    let output = command.env("DISK", &disk).output();
    let Some(output) = output.ok().filter(|it| !String::from_utf8_lossy(&it.stderr).contains("unshare:")) else {
        println!("skipped: no file system can be mounted here");
        return;
    };
    let said = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
    assert!(said.contains("MB are needed in") && said.contains("partune record --complete"), "{said}");
    assert!(said.contains("status 1") && said.contains("status 0") && said.contains("traces.otf2"), "{said}");
}
