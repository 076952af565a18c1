//! `partune hints` as a command: text and JSON say the same, files are written where something is kept, and errors have a remedy.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::archives::{shared, workspace};

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn document(path: &Path) -> Value {
    let output = partune(&["hints", "--json", &path.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the document is JSON")
}

/// A run of MPI, and of objects for which nothing is certain: said, without a file, and with status 0.
#[test]
fn nothing_to_hint_is_no_error() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let file = folder.path().join("hints.toml").display().to_string();
    let examples = workspace().join("examples/archives");
    let elimination = shared("projections").map(|folder| folder.join("charm-local-ge-4"));
    for path in [examples.join("ring"), examples.join("projections")].into_iter().chain(elimination) {
        let output = partune(&["hints", &path.display().to_string(), "-o", &file]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("nothing to hint"), "{}", text(&output.stdout));
        assert!(!Path::new(&file).exists(), "{}", path.display());
        let document = document(&path);
        assert_eq!(document["file"], Value::Null);
        assert_eq!(document["run"].is_null(), path.ends_with("ring"));
    }
}

#[test]
fn what_cannot_be_hinted_is_refused_with_a_remedy() {
    let profile = workspace().join("examples/archives/ring_profile").display().to_string();
    for wrong in [profile.as_str(), "no/such/archive"] {
        let output = partune(&["hints", wrong]);
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        assert!(text(&output.stderr).contains("remedy: "), "{}", text(&output.stderr));
    }
    assert_eq!(partune(&["hints"]).status.code(), Some(2));
}

/// The text has each hint of the document, kept or not.
#[test]
fn text_and_document_say_the_same() {
    let Some(folder) = shared("projections") else { return };
    let path = folder.join("charm-local-ge-4");
    let document = document(&path);
    let output = partune(&["hints", "--explain", &path.display().to_string()]);
    let said = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let hints = document["hints"].as_array().expect("a list");
    assert!(!hints.is_empty());
    for hint in hints {
        let words = hint["text"].as_str().expect("a text").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&words), "{words}: {said}");
        let kept = hint["saves_low_s"].as_f64() > Some(0.0);
        assert_eq!(hint["kept"].as_bool(), Some(kept), "{hint}");
    }
}
