//! Programs that use files: what is recorded is what they did, whichever library is between; the table says what is known by design, the findings
//! fire at their lines and are silent where files are used well; and nothing is added to what a program writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::expect::line_of;
use super::launch::{Built, LAUNCHED, MPICH, OPEN_MPI, Recorded, record, run};
use super::printed::counts;
use super::programs::check_counts;

fn built(file: &str) -> impl Iterator<Item = Built<'static>> {
    [&OPEN_MPI, &MPICH].into_iter().filter_map(move |mpi| Built::new(mpi, file, &[]))
}

/// The row of the table of files whose name ends so.
fn row<'a>(document: &'a Value, end: &str) -> &'a Value {
    let rows = document["file_table"].as_array().expect("there is a table of files");
    let is_it = |row: &&Value| row["file"].as_str().is_some_and(|name| name.ends_with(end));
    rows.iter().find(is_it).unwrap_or_else(|| panic!("{end} is not in {rows:#?}"))
}

fn numbers(row: &Value, names: &[(&str, u64)]) {
    for (name, expected) in names {
        assert_eq!(row[*name].as_f64(), Some(*expected as f64), "{name} of {row:#?}");
    }
}

/// `otf2-print` has nothing to say.
fn is_read_by_others(recorded: &Recorded) {
    let printed = run(Command::new("otf2-print").arg(&recorded.anchor));
    assert_eq!(String::from_utf8_lossy(&printed.stderr), "");
}

#[test]
fn calls_of_posix_and_of_the_c_library() {
    for built in built("files/calls.c") {
        let recorded = check_counts(&built, &[], &[]);
        is_read_by_others(&recorded);
        let printed = run(Command::new("otf2-print").arg(&recorded.anchor));
        let seek = "Offset Request: -8192, Whence: FROM_CURRENT, Offset Result: 1808";
        assert_eq!(String::from_utf8_lossy(&printed.stdout).matches(seek).count(), 2);
        let document = recorded.analysis();
        for rank in 0..2 {
            let row = row(&document, &format!("file.{rank}"));
            numbers(
                row,
                &[
                    ("pes", 1),
                    // As a descriptor, as a stream, and again.
                    ("opens", 3),
                    // 5 and one by an offset, one that finds nothing; formatted, lines, the last byte; and two bytes.
                    ("reads", 4 + 1 + 1 + 51 + 3 + 1),
                    ("writes", 100 + 1 + 1 + 52),
                    ("syncs", 2),
                    ("seeks", 4),
                    ("written_bytes", 10000 + 4096 + 42 + 50 * 23 + 12 + 32),
                    ("largest_bytes", 4096),
                    ("common_bytes", 100),
                    ("common_accesses", 101),
                ],
            );
            assert_eq!(row["placed"].as_u64(), Some(61 + 154), "{row:#?}");
        }
        numbers(row(&document, "/file"), &[("pes", 2), ("opens", 2), ("writes", 2), ("written_bytes", 2)]);
        // Below MPI-IO nothing is recorded.
        numbers(row(&document, "file.mpi"), &[("writes", 2), ("written_bytes", 20), ("reads", 0)]);
        for rank in 0..2 {
            let row = row(&document, &format!(".v{rank}"));
            // One is at the end, wherever that was.
            numbers(row, &[("opens", 1), ("reads", 2), ("writes", 3), ("written_bytes", 15), ("placed", 4)]);
        }
        let files = document["file_table"].as_array().map(Vec::len);
        assert_eq!(files, Some(6), "{:#?}", document["file_table"]);
    }
}

/// A profile counts the same calls and bytes.
#[test]
fn a_profile_has_the_bytes_too() {
    for built in built("files/calls.c") {
        let sums = |options: &[&str]| {
            let recorded = built.record(options, &[]);
            assert!(recorded.output.status.success(), "{}", recorded.said());
            let document = recorded.analysis();
            let rows = document["operations"].as_array().expect("operations").clone();
            let of = |name: &str| {
                let is_it =
                    |row: &&Value| row["callpath"].as_array().and_then(|path| path.last()).is_some_and(|it| it == name);
                let rows = || rows.iter().filter(is_it);
                let count: u64 = rows().filter_map(|row| row["count"].as_u64()).sum();
                (count, rows().filter_map(|row| row["bytes"].as_f64()).sum::<f64>())
            };
            ["write", "read", "pwrite", "fprintf", "fscanf"].map(of)
        };
        assert_eq!(sums(&["--profile"]), sums(&[]));
    }
}

#[test]
fn what_is_not_wanted_is_not_recorded() {
    for built in built("files/calls.c").take(1) {
        let recorded = built.record(&["--not", "file"], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        for rank in counts(&recorded.anchor) {
            assert!(
                ["open", "main/read", "fprintf", "writes", "MPI_File_open"]
                    .iter()
                    .all(|name| !rank.contains_key(*name)),
                "{rank:#?}"
            );
        }
        let recorded = built.record(&["--only", "read,collective"], &[]);
        for rank in counts(&recorded.anchor) {
            assert_eq!((rank.get("main/read"), rank.get("write"), rank.get("fread")), (Some(&5), None, None));
        }
    }
}

/// What the library of a language makes of reads and writes comes through as such, with all bytes.
#[test]
fn libraries_of_languages() {
    for (file, bytes) in [("files/fortran.f90", 400_000), ("files/streams.cpp", 400_000)] {
        for built in built(file) {
            let recorded = check_counts(&built, &[], &[]);
            is_read_by_others(&recorded);
            let document = recorded.analysis();
            for rank in 0..2 {
                let row = row(&document, &format!("file.{rank}"));
                numbers(row, &[("pes", 1), ("opens", 2), ("written_bytes", bytes), ("read_bytes", bytes)]);
                assert_eq!(row["placed"], row["reads"].as_u64().unwrap_or(0) + row["writes"].as_u64().unwrap_or(0));
            }
        }
    }
}

/// The elements of a list.
fn among(it: &Value, of: &str) -> Vec<Value> {
    it[of].as_array().cloned().unwrap_or_default()
}

/// Who waits for the lock of a file waits for the process that has it, from when it comes until that gives it back.
#[test]
fn processes_wait_for_locks_of_files() {
    for built in built("files/locked.c") {
        let times = |said: &str, what: &str, mark: &str| -> f64 {
            let words = format!("{what} {mark} ");
            let time = said.lines().find_map(|line| line.strip_prefix(&words)?.parse().ok());
            time.unwrap_or_else(|| panic!("it says when it {words}: {said}"))
        };
        let waits = |recorded: &Recorded| {
            let document = recorded.analysis();
            let findings = among(&document, "findings");
            let locks: Vec<&Value> = findings.iter().filter(|it| it["pattern"] == "wait_on_lock").collect();
            let seconds = |mark: &str| -> f64 {
                let here = locks.iter().flat_map(|it| {
                    let lines = among(it, "lines");
                    let own = vec![serde_json::json!({"line": it["location"]["line"], "seconds": it["seconds"]})];
                    if lines.is_empty() { own } else { lines }
                });
                here.filter(|it| it["line"].as_u64() == line_of(&built.source, mark))
                    .filter_map(|it| it["seconds"].as_f64())
                    .sum()
            };
            let by = |of: &str| locks.iter().flat_map(|it| among(it, of)).collect::<Vec<Value>>();
            (["FLOCK", "FCNTL", "OFD"].map(seconds), by("pes"), by("causes"))
        };
        let recorded = built.record(&[], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let said = recorded.said();
        let (found, pes, causes) = waits(&recorded);
        for (mark, found) in ["FLOCK", "FCNTL", "OFD"].into_iter().zip(found) {
            let waited = times(&said, "gave", mark) - times(&said, "came", mark);
            assert!((found - waited).abs() <= 0.05 * waited + 0.001 && waited > 0.2, "{mark}: {found} s of {waited} s");
        }
        assert!(pes.iter().all(|it| it["pe"] == 1) && causes.iter().all(|it| it["pe"] == 0), "{pes:?} {causes:?}");
        let functions = |it: &Value| it["origin"]["construct"] == "hold" || it["location"]["function"] == "hold";
        // What is around it may have to wait for a processor.
        let seconds = |all: &mut dyn Iterator<Item = &Value>| all.filter_map(|it| it["seconds"].as_f64()).sum::<f64>();
        let (own, all) = (seconds(&mut causes.iter().filter(|it| functions(it))), seconds(&mut causes.iter()));
        assert!(own > 0.0 && own >= 0.95 * all, "{causes:#?}");
        let balanced = built.record(&[], &["balanced"]);
        assert!(balanced.output.status.success(), "{}", balanced.said());
        let (found, ..) = waits(&balanced);
        assert!(found.iter().all(|seconds| *seconds < 0.02), "{found:?}");
    }
}

/// Findings of a pattern: line, file and what they lose.
fn found(document: &Value, pattern: &str) -> Vec<(u64, String, f64)> {
    let findings = document["findings"].as_array().expect("findings").iter().filter(|it| it["pattern"] == pattern);
    let of = |it: &Value| {
        let file = it["data_file"].as_str().unwrap_or_default().to_owned();
        (it["location"]["line"].as_u64().unwrap_or(0), file, it["seconds"].as_f64().unwrap_or(0.0))
    };
    findings.map(of).collect()
}

const PATTERNS: [&str; 4] = ["small_accesses", "serial_io", "same_file_read_by_all", "sync_in_loop"];

#[test]
fn files_that_are_used_badly_are_found_at_their_lines() {
    for built in built("files/slow.c") {
        let of = |how: &str| {
            let recorded = built.record(&[], &[how]);
            assert!(recorded.output.status.success(), "{}", recorded.said());
            recorded.analysis()
        };
        let own = of("own");
        let [(line, ..)] = found(&own, "small_accesses")[..] else { panic!("{:#?}", own["findings"]) };
        assert_eq!(Some(line), line_of(&built.source, "SMALL"));
        let [(line, ..)] = found(&own, "sync_in_loop")[..] else { panic!("{:#?}", own["findings"]) };
        assert_eq!(Some(line), line_of(&built.source, "SYNC"));
        assert!(found(&own, "serial_io").is_empty() && found(&own, "same_file_read_by_all").is_empty());

        let alone = of("alone");
        let [(line, _, lost)] = &found(&alone, "serial_io")[..] else { panic!("{:#?}", alone["findings"]) };
        assert_eq!(Some(*line), line_of(&built.source, "ALONE"));
        let of_file = row(&alone, "file.0");
        let time = |name: &str| of_file[name].as_f64().expect("a time");
        let time = time("write_seconds") + time("other_seconds");
        // Two wait for one, from when they come.
        assert!(*lost > 0.0 && *lost <= 2.0 * time, "{lost} of {time}");
        assert!(found(&alone, "small_accesses").is_empty() && found(&alone, "same_file_read_by_all").is_empty());

        let same = of("same");
        let [(line, file, _)] = &found(&same, "same_file_read_by_all")[..] else { panic!("{:#?}", same["findings"]) };
        assert!(Some(*line) == line_of(&built.source, "SAME") && file.ends_with("file.0"), "{line} {file}");

        let good = of("good");
        for pattern in PATTERNS {
            assert!(found(&good, pattern).is_empty(), "{pattern}: {:#?}", good["findings"]);
        }
    }
}

/// Threads of OpenMP alone: no MPI is there.
#[test]
fn threads_have_files_too() {
    let Some(built) = Built::new(&OPEN_MPI, "files/threads.c", &[]) else { return };
    let folder = tempfile::tempdir().expect("there is room");
    let name = folder.path().join("file");
    let recorded = record(|command| {
        command.arg("--").arg(built.program()).arg(&name).envs(LAUNCHED);
    });
    assert!(recorded.output.status.success(), "{}", recorded.said());
    is_read_by_others(&recorded);
    let document = recorded.analysis();
    let names = [
        ("pes", 4),
        ("writes", 40),
        ("written_bytes", 40 * 4096),
        ("placed", 40),
        ("consecutive", 36),
        ("unaligned", 0),
    ];
    numbers(row(&document, "file.all"), &names);
}

/// A process that only has files is not recorded, and what it writes is what it would have written.
#[test]
fn what_is_only_files_is_left_alone() {
    let folder = tempfile::tempdir().expect("there is room");
    let copy = folder.path().join("copy");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let recorded = record(|command| {
        command.args(["--", "sh", "-c", "cat \"$0\" > \"$1\""]).arg(&source).arg(&copy);
    });
    assert_eq!(fs::read(&copy).ok(), fs::read(&source).ok());
    assert!(!recorded.anchor.exists(), "{}", recorded.said());
}

/// What a handler of a signal calls is done and counted, and not recorded; who holds the signal back itself is in no handler.
#[test]
fn calls_of_handlers_are_told_from_those_of_who_holds_signals_back() {
    for built in built("files/handled.c") {
        let recorded = built.record(&[], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let document = recorded.analysis();
        for rank in 0..2 {
            let row = row(&document, &format!("file.{rank}"));
            numbers(row, &[("opens", 1), ("writes", 5), ("written_bytes", 50)]);
        }
        let said = recorded.said();
        assert!(said.contains("calls that handlers of signals may have made were not recorded: 6 (2 times)"), "{said}");
    }
}
