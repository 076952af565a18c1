//! Completion under faults: at every system call that it makes the disk is full, or fails, or the process is killed. After that it is done
//! again, undisturbed, and the archive must be the one of a run without faults, byte for byte.
//!
//! The calls are counted and the faults are made by strace, from the first call of completion on. With `PARTUNE_FAULTS=all` there are
//! faults at calls that only read as well, a larger recording, kills at random moments, and a table is printed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use partune_record::{Mode, RecordError, Request};

use crate::process::{MARKS, acts, completion, recording};

/// Calls that change what is on the disk, or decide what is found there.
const CHANGES: [&str; 19] = [
    "syncfs",
    "openat",
    "mmap",
    "mkdir",
    "mkdirat",
    "link",
    "linkat",
    "rename",
    "renameat",
    "renameat2",
    "write",
    "pwrite64",
    "copy_file_range",
    "ftruncate",
    "fsync",
    "fdatasync",
    "unlink",
    "unlinkat",
    "rmdir",
];
/// Calls that only read.
const READS: [&str; 9] = ["mmap", "read", "pread64", "getdents64", "fstatfs", "statfs", "flock", "newfstatat", "statx"];
/// What is made of a call, in strace's words.
const FAULTS: [&str; 3] = ["error=ENOSPC", "error=EIO", "signal=KILL"];

/// Every file of a folder, by its path in it.
type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                found.insert(format!("{}/", path.strip_prefix(folder).expect("inside").display()), Vec::new());
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("inside").display().to_string();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

pub(crate) fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().expect("a command of every system").success());
}

/// Records what the acts do into a folder, and does not complete it.
pub(crate) fn record(folder: &Path, mode: Mode, steps: &[&str]) {
    record_as(&Request { mode, ..Request::default() }, folder, steps);
}

fn record_as(request: &Request, folder: &Path, steps: &[&str]) {
    let launched = partune_record::launch(&Request {
        command: acts(steps),
        folder: folder.to_owned(),
        depth: Some(0),
        buffer: Some(512 << 10),
        ..request.clone()
    });
    launched.expect("a shell is on every system");
}

/// Whether strace can trace here; where tests must not be skipped, it has to.
#[allow(clippy::print_stdout, reason = "what a test skips is said")]
fn has_strace() -> bool {
    let here = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let here = here.is_ok_and(|status| status.success());
    assert!(here || std::env::var_os("CI").is_none(), "strace must be present in CI");
    if !here {
        println!("skipped: no strace, or it may not trace here");
    }
    here
}

/// A call of completion: its name, which one of that name it is in the process, and its arguments.
struct Point {
    name: String,
    number: usize,
    about: String,
}

/// The calls of some names that a command makes between the two marks, or from the first one to its end; `add` says what the command is.
fn points(log: &Path, names: &[&str], add: impl Fn(&mut Command)) -> Vec<Point> {
    let mut command = Command::new("strace");
    // Calls that this processor does not have are no mistake.
    let all = names.iter().map(|name| format!("?{name}")).collect::<Vec<_>>().join(",");
    command.args(["-f", "-qq", "-s", "200", "-o"]).arg(log);
    command.args(["-e", &format!("trace={all},?stat,?statx,?newfstatat")]);
    add(&mut command);
    let output = command.output().expect("it was there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(log).expect("strace writes its log");
    let first = text.split_whitespace().next().expect("a process").to_owned();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut points, mut is_inside) = (Vec::new(), false);
    for line in text.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let Some((name, about)) = call.trim_start().split_once('(') else { continue };
        let is_begin = about.contains(MARKS[0]);
        if is_begin || about.contains(MARKS[1]) {
            is_inside = is_begin;
        }
        // Another thread, which only waits until the lock goes.
        if process != first {
            continue;
        }
        let number = numbers.entry(name).or_default();
        *number += 1;
        if is_inside && !is_begin && names.contains(&name) {
            points.push(Point { name: name.to_owned(), number: *number, about: about.to_owned() });
        }
    }
    assert!(!points.is_empty(), "it begins and makes calls:\n{text}");
    points
}

/// How the disturbed process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// It was done all the same: the fault was one that it need not care about.
    Done,
    Refused,
    Killed,
}

/// Runs a command with a fault at a point.
fn disturb(point: &Point, fault: &str, add: impl Fn(&mut Command)) -> (End, String) {
    let Point { name, number, .. } = point;
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={name}")]);
    command.args(["-e", &format!("inject={name}:{fault}:when={number}")]);
    add(&mut command);
    let output = command.output().expect("it was there");
    let end = match output.status.code() {
        Some(0) => End::Done,
        Some(1) => End::Refused,
        _ => End::Killed,
    };
    (end, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Whatever happened before: the archive is complete, and it is the right one.
fn check(folder: &Path, whole: &Files, about: &str) {
    partune_record::complete(folder).unwrap_or_else(|error| panic!("{about}: {error}"));
    let found = files(folder);
    let names = |files: &Files| files.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&found), names(whole), "{about}");
    for (name, bytes) in whole {
        assert!(found[name] == *bytes, "{about}: {name} differs");
    }
}

/// Adds a frame of a program to the processes' paths: completion looks it up there. This small one stands for the recorded one, too: its debug data is
/// not what is to be read each time.
fn name_a_module(parts: &Path) {
    let small = fs::canonicalize("/bin/true").expect("a command of every system");
    let test = std::env::current_exe().expect("the test binary has a path");
    for log in fs::read_dir(parts).expect("parts").flatten().map(|entry| entry.path()) {
        if log.extension().is_some_and(|ending| ending == "log") {
            let text = fs::read_to_string(&log).expect("a log is text");
            let paths = text.lines().filter(|line| line.starts_with("path ")).count();
            let module = format!("module 0 0 ffffff 0 {}\npath {paths} - frame 0 2000\n", small.display());
            let text = text.replace(&test.display().to_string(), &small.display().to_string());
            fs::write(&log, text + &module).expect("room");
        }
    }
}

/// Whether the long version is wanted.
fn is_long() -> bool {
    std::env::var("PARTUNE_FAULTS").is_ok_and(|value| value == "all")
}

#[test]
fn after_a_fault_at_any_call_the_archive_is_the_undisturbed_one() {
    // A lane that was flushed and goes on in its ring, one that was not, and in the long version threads, too.
    if is_long() {
        let steps = ["kill 100000", "threads 3000", "many 300", "exit 60000"];
        disturb_completion(&Request::default(), &steps, 250_000 + 150_000 + 4 * 7500 + 28 * 750);
    } else {
        disturb_completion(&Request::default(), &["kill 60000", "exit 100"], 150_000 + 250);
    }
}

/// The same where newer events went over older ones, so that lanes are to begin together.
#[test]
fn nor_does_a_fault_harm_one_that_begins_late() {
    let request = Request { max_size: Some(3 << 20), keeps_newest: true, ..Request::default() };
    disturb_completion(&request, &["exit 100", "kill 400000"], 150_000);
}

/// Records what the acts do, of which so many events are kept at least, and disturbs completion at each of its calls.
#[allow(clippy::print_stdout, reason = "a table for whoever asks for it")]
fn disturb_completion(request: &Request, steps: &[&str], expected: u64) {
    if !has_strace() {
        return;
    }
    let all = is_long();
    let work = tempfile::tempdir().expect("a folder");
    let recorded = work.path().join("recorded");
    record_as(request, &recorded, steps);
    name_a_module(&recorded.join("parts"));
    let (whole, traced) = (work.path().join("whole"), work.path().join("traced"));
    copy(&recorded, &whole);
    copy(&recorded, &traced);
    let summary = partune_record::complete(&whole).expect("an archive").expect("it was not complete");
    assert!(summary.events >= expected, "{summary:?}");
    let whole = files(&whole);
    assert!(!whole.keys().any(|name| name.starts_with("parts") || name == "lock"), "{:?}", whole.keys());

    let names: Vec<&str> = if all { CHANGES.into_iter().chain(READS).collect() } else { CHANGES.to_vec() };
    let points = points(&work.path().join("log"), &names, |command| completion(command, &traced));
    assert!(files(&traced) == whole, "the traced one is the same");
    let mut table: BTreeMap<(&str, &str), BTreeMap<End, usize>> = BTreeMap::new();
    for (at, point) in points.iter().enumerate() {
        for fault in FAULTS {
            let folder = work.path().join("disturbed");
            copy(&recorded, &folder);
            let (end, said) = disturb(point, fault, |command| completion(command, &folder));
            let about = format!("{fault} at call {at}, {} {}", point.name, point.about);
            assert!(end == End::Killed || fault != "signal=KILL", "{about}: it is there, and a kill is one:\n{said}");
            match end {
                End::Done => {
                    let mut found = files(&folder);
                    // The last call removes it; whoever comes next takes it over.
                    found.remove("lock");
                    assert!(found == whole, "{about}: it was said to be done");
                }
                End::Refused => assert!(!said.trim().is_empty(), "{about}: nothing was said"),
                End::Killed => {
                    assert!(fault == "signal=KILL" || point.name == "mmap", "{about}: it must not die:\n{said}");
                }
            }
            check(&folder, &whole, &about);
            *table.entry((point.name.as_str(), fault)).or_default().entry(end).or_default() += 1;
            fs::remove_dir_all(&folder).expect("it was there");
        }
    }
    let ends = |end: End| table.values().filter_map(|ends| ends.get(&end)).sum::<usize>();
    assert!(ends(End::Refused) > points.len() && ends(End::Killed) >= points.len() / 2, "faults happen: {table:?}");
    println!("{:<18} {:<14} {:>6} {:>8} {:>7}   after completing again", "call", "fault", "done", "refused", "killed");
    for ((name, fault), ends) in &table {
        let of = |end: End| ends.get(&end).copied().unwrap_or(0);
        let [done, refused, killed] = [End::Done, End::Refused, End::Killed].map(of);
        println!("{name:<18} {fault:<14} {done:>6} {refused:>8} {killed:>7}   the same bytes");
    }
    if all {
        kill_at_random(&recorded, &whole);
    }
}

/// Calls that the recorder makes inside the program.
const RECORDS: [&str; 9] =
    ["openat", "mkdir", "mmap", "munmap", "fallocate", "write", "pwrite64", "ftruncate", "fstatfs"];

/// The program goes on whatever happens to its recording, and every event is in the archive or counted as lost.
#[test]
fn after_a_fault_at_any_call_of_the_recorder_the_program_goes_on_and_losses_are_counted() {
    const CALLS: u64 = 60_000;
    const EVENTS: u64 = CALLS / 2 * 5;
    if !has_strace() {
        return;
    }
    let work = tempfile::tempdir().expect("a folder");
    let folder = work.path().join("out");
    let recording = |command: &mut Command| {
        recording(command, CALLS);
        command.env("PARTUNE_DIR", &folder).env("PARTUNE_DEPTH", "0").env("PARTUNE_BUFFER", "524288");
    };
    fs::create_dir(&folder).expect("room");
    let points = points(&work.path().join("log"), &RECORDS, recording);
    fs::remove_dir_all(&folder).expect("it was there");
    let (mut whole, mut lossy) = (0, 0);
    for point in &points {
        for fault in FAULTS {
            fs::create_dir(&folder).expect("room");
            let (end, said) = disturb(point, fault, recording);
            let about = format!("{fault} at {} {}", point.name, point.about);
            let is_killed = fault == "signal=KILL";
            assert_eq!(end, if is_killed { End::Killed } else { End::Done }, "{about}: {said}");
            let completed = partune_record::complete(&folder);
            match completed {
                Ok(summary) => {
                    let summary = summary.expect("it was not complete");
                    let lost = summary
                        .quality
                        .entries()
                        .iter()
                        .filter_map(|entry| entry.message.split_once(" events are lost")?.0.parse::<u64>().ok());
                    let lost: u64 = lost.sum();
                    lossy += usize::from(lost > 0);
                    whole += usize::from(lost == 0 && summary.events >= EVENTS);
                    // A flush is an event, too.
                    let all = summary.events + lost;
                    let is_left_out =
                        summary.quality.entries().iter().any(|entry| entry.message.contains("is not recorded"));
                    let is_all = all >= EVENTS || is_left_out && all == 0;
                    assert!(all <= EVENTS + 10 && (is_killed || is_all), "{about}: {all} of {EVENTS}");
                }
                // Its log or its only lane could not be made.
                Err(RecordError::Nothing { .. } | RecordError::NoRecording { .. }) => {
                    assert!(is_killed || point.is_about_a_beginning(), "{about}: nothing is there");
                }
                Err(error) => panic!("{about}: {error}"),
            }
            fs::remove_dir_all(&folder).expect("it was there");
        }
    }
    assert!(whole > 5 && lossy > 1, "{} points, {whole} whole, {lossy} with losses", points.len());
}

impl Point {
    /// Whether it makes a file without which there is nothing.
    fn is_about_a_beginning(&self) -> bool {
        let about = &self.about;
        self.name == "mkdir" || about.contains("O_EXCL") || about.contains("partune ") || about.contains("process ")
    }
}

/// Kills completion after random times, a hundred times.
#[allow(clippy::print_stdout, reason = "as above")]
fn kill_at_random(recorded: &Path, whole: &Files) {
    let folder = recorded.with_file_name("disturbed");
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut killed = 0;
    for round in 0..100 {
        copy(recorded, &folder);
        random = random.wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(17) ^ round;
        let mut command = Command::new("env");
        completion(&mut command, &folder);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("env is on every system");
        std::thread::sleep(Duration::from_micros(random % 60_000));
        child.kill().expect("a child can be killed");
        killed += usize::from(child.wait().expect("it ends").code().is_none());
        check(&folder, whole, &format!("kill {round}"));
        fs::remove_dir_all(&folder).expect("it was there");
    }
    println!("killed at random moments: {killed} of 100 before the end, and the same bytes after all of them");
}
