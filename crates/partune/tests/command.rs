//! The command line as a user meets it: exit statuses, messages with a remedy, documents that keep their contract.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::archives::{archives, workspace};

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn bad_input_is_status_1_with_a_remedy_and_bad_usage_is_2() {
    for args in [&["analyze", "/no/such/archive"][..], &["analyze", file!()], &["analyze", "/"]] {
        let output = partune(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(text(&output.stderr).contains("remedy"), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    for args in [&["analyze"][..], &["analyze", "x", "--only", "nothing"], &["nonsense"], &["synth"]] {
        assert_eq!(partune(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn every_command_shows_an_example() {
    for command in ["analyze", "convert", "report", "synth"] {
        let output = partune(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(text(&output.stdout).contains("Example"), "{command}");
    }
}

#[test]
fn json_keeps_its_contract() {
    for archive in archives() {
        let output = partune(&["analyze", "--json", &archive.anchor.display().to_string()]);
        assert_eq!(output.status.code(), Some(0), "{}: {}", archive.name, text(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(document["partune"], 1, "{}", archive.name);
        let figures: &[&str] = if document["events"] == 0 { &[] } else { &["efficiency", "bounds", "gaps"] };
        for field in ["archive", "pes", "events", "duration_s", "quality", "findings"].iter().chain(figures) {
            assert!(!document[field].is_null(), "{}: {field}", archive.name);
        }
        for finding in document["findings"].as_array().expect("findings are a list") {
            let seconds = finding["seconds"].as_f64().expect("a finding has seconds");
            let of_pes: f64 =
                finding["pes"].as_array().into_iter().flatten().filter_map(|pe| pe["seconds"].as_f64()).sum();
            assert!((seconds - of_pes).abs() <= 1e-6 * seconds.abs() + 1e-9, "{}: {finding:#}", archive.name);
            for field in ["id", "pattern", "fraction", "count", "role", "construct", "location", "callpath", "causes"] {
                assert!(!finding[field].is_null(), "{}: {field}", archive.name);
            }
        }
    }
}

#[test]
fn the_committed_schema_is_current() {
    let committed = std::fs::read_to_string(workspace().join("docs/analyze.schema.json")).unwrap_or_default();
    let current = text(&partune(&["analyze", "--schema"]).stdout);
    assert!(committed == current, "run: cargo run -p partune -- analyze --schema > docs/analyze.schema.json");
}

#[test]
fn the_summary_fits_one_screen() {
    for archive in archives() {
        let output = partune(&["analyze", &archive.anchor.display().to_string()]);
        let text = text(&output.stdout);
        let summary = text.split("\ndata quality").next().expect("there is a first part");
        assert!(summary.lines().count() <= 40, "{}:\n{text}", archive.name);
    }
}

#[test]
fn synth_writes_what_analyze_finds() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let late = path("late");
    let output =
        partune(&["synth", "--ranks", "4", "--events", "20K", "--inject", "late-sender:2:2000000:100", "-o", &late]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(Path::new(&late).join("traces.otf2").exists());
    assert_eq!(partune(&["synth", "-o", &late]).status.code(), Some(1), "an archive is not overwritten");
    let output = partune(&["analyze", "--json", &late]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let late_sender = document["findings"].as_array().into_iter().flatten().find(|it| it["pattern"] == "late_sender");
    let late_sender = late_sender.expect("the planted pattern is found");
    let causes = late_sender["causes"].as_array().expect("it has causes");
    assert!(causes.iter().any(|cause| cause["pe"] == 2), "{late_sender:#}");
}
