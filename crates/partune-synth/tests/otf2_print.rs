//! Archives are what the C library reads without a complaint, and hold what the answers say. Skipped where `otf2-print` is not
//! installed, unless `CI` is set.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{variants, written};

#[test]
fn the_c_library_reads_what_was_written() {
    if Command::new("otf2-print").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "otf2-print is not installed");
        return;
    }
    for (name, options) in variants() {
        let written = written(&options);
        let folder = tempfile::tempdir().expect("a folder");
        for (path, bytes) in &written.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, bytes).expect("a file");
        }
        let events = print(folder.path(), &[]);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut last = 0;
        for line in events.lines() {
            let mut words = line.split_whitespace();
            let (Some(kind), Some(location), Some(time)) = (words.next(), words.next(), words.next()) else { continue };
            let (Ok(_), Ok(time)) = (location.parse::<u64>(), time.parse::<u64>()) else { continue };
            *counts.entry(kind).or_default() += 1;
            assert!(time >= last, "{name}: in order of corrected time");
            last = time;
        }
        let expected: BTreeMap<&str, u64> = written.answers.record_events.iter().copied().collect();
        assert_eq!(counts, expected, "{name}");
        assert_eq!(counts.values().sum::<u64>(), written.answers.events, "{name}");

        let definitions = print(folder.path(), &["-G"]);
        for (location, events) in &written.answers.location_events {
            let known = definitions.lines().any(|line| {
                line.starts_with("LOCATION ")
                    && line.split_whitespace().nth(1) == Some(&location.to_string())
                    && line.contains(&format!("# Events: {events},"))
            });
            assert!(known, "{name}: location {location} with {events} events");
        }
        assert!(!definitions.contains("INVALID") && !definitions.contains("UNKNOWN"), "{name}: {definitions}");
        print(folder.path(), &["-A"]);
        print(folder.path(), &["-C"]);
    }
}

fn print(folder: &Path, options: &[&str]) -> String {
    let Output { status, stdout, stderr } =
        Command::new("otf2-print").args(options).arg(folder.join("traces.otf2")).output().expect("otf2-print runs");
    let errors = String::from_utf8_lossy(&stderr);
    assert!(status.success() && errors.is_empty(), "{errors}");
    String::from_utf8(stdout).expect("UTF-8")
}
