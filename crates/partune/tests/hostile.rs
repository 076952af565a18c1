//! Archives whose files are not what they should be, or that ask for more than they hold: pipes, holes, huge claims.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::archives::workspace;

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A copy of an archive of the examples.
fn copy(to: &Path) -> PathBuf {
    let from = workspace().join("examples/archives/ring");
    std::fs::create_dir_all(to.join("traces")).expect("a folder is made");
    for folder in ["", "traces"] {
        for file in std::fs::read_dir(from.join(folder)).expect("the archive is there").flatten() {
            if file.path().is_file() {
                std::fs::copy(file.path(), to.join(folder).join(file.file_name())).expect("a file is copied");
            }
        }
    }
    to.to_owned()
}

fn analyze(archive: &Path) -> Value {
    let output = partune(&["analyze", "--json", &archive.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a document")
}

#[test]
fn a_pipe_in_place_of_a_file_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let whole = analyze(&copy(&folder.path().join("whole")));
    for name in ["traces.otf2", "traces.def", "traces/0.def", "traces/0.evt"] {
        let archive = copy(&folder.path().join(name.replace('/', "-")));
        let pipe = archive.join(name);
        // A local definition file need not be there.
        let _ = std::fs::remove_file(&pipe);
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        if name.starts_with("traces.") {
            let anchor = archive.join("traces.otf2").display().to_string();
            let to = folder.path().join("copy").display().to_string();
            for args in [&["analyze", &anchor][..], &["convert", &anchor, &to], &["compare", &anchor, &anchor]] {
                let output = partune(args);
                assert_eq!(output.status.code(), Some(1), "{args:?}");
                assert!(text(&output.stderr).contains("it is a pipe and not a file"), "{}", text(&output.stderr));
            }
        } else {
            let document = analyze(&archive);
            assert!(document["quality"].to_string().contains("it is a pipe and not a file"), "{}", document["quality"]);
            let lost = whole["events"].as_u64() > document["events"].as_u64();
            assert_eq!(lost, Path::new(name).extension().is_some_and(|it| it == "evt"), "{name}");
        }
    }
}

#[test]
fn a_hole_of_a_tebibyte_behind_the_events_changes_nothing() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let archive = copy(&folder.path().join("ring"));
    let whole = analyze(&archive);
    for name in ["traces/0.evt", "traces.def"] {
        let file = File::options().write(true).open(archive.join(name)).expect("it is there");
        file.set_len(1 << 40).expect("files may be sparse");
    }
    assert_eq!(analyze(&archive), whole);
}

#[test]
fn an_event_file_of_holes_is_refused_and_the_others_are_read() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let archive = copy(&folder.path().join("ring"));
    let whole = analyze(&archive);
    let file = File::options().write(true).open(archive.join("traces/0.evt")).expect("it is there");
    file.set_len(1 << 40).expect("files may be sparse");
    std::os::unix::fs::FileExt::write_all_at(&file, b"end", 1 << 40).expect("it is written");
    let document = analyze(&archive);
    assert!(document["quality"].to_string().contains("holes"), "{}", document["quality"]);
    assert!(document["events"].as_u64() < whole["events"].as_u64());
}
