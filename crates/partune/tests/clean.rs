//! Names that would steer a terminal: every text command on an archive, a model and a machine full of them.

use std::path::Path;
use std::process::{Command, Output};

use partune_base::sign;

/// Names of a synthetic archive, and what stands there instead, of equal length: the clipboard, a colour, a screen that is cleared and lines
/// that are overwritten, another direction and a control of the second set.
const NAMES: [(&str, &str); 4] = [
    ("check_residual", "\x1b]52;c;Y2FsYw\x07"),
    ("kernel_a", "\x1b[31mred"),
    ("solver.c", "\x1b[2J\r\n\tx"),
    ("exchange_halo", "\u{202e}txt.exe\u{9b}2"),
];

fn partune(args: &[&str], colour: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    command.args(args);
    if colour {
        command.env("CLICOLOR_FORCE", "1");
    }
    command.output().expect("the binary runs")
}

/// That nothing but ends of lines steers what was printed; our own colours may.
#[track_caller]
fn check(output: &Output, colour: bool, what: &str) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if colour {
        for code in ["0", "1", "2", "31", "32", "33"] {
            text = text.replace(&format!("\x1b[{code}m"), if code == "31" { "<RED>" } else { "" });
        }
        // Red is for errors, and there are none.
        assert!(!text.contains("<RED>"), "{what}: {text}");
    }
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let odd: Vec<char> = text.chars().filter(|it| *it != '\n' && sign(*it) != *it).collect();
    assert!(odd.is_empty(), "{what}: {odd:?} in {text}");
    text
}

fn evil_archive(folder: &Path, ranks: &str) -> String {
    let path = folder.join(ranks).display().to_string();
    let made = partune(&["synth", "--ranks", ranks, "--events", "4K", "-o", &path], false);
    assert!(made.status.success());
    let definitions = Path::new(&path).join("traces.def");
    let mut bytes = std::fs::read(&definitions).expect("definitions");
    for (name, evil) in NAMES {
        assert_eq!(name.len(), evil.len());
        let at = bytes.windows(name.len()).position(|it| it == name.as_bytes()).expect("a name of the archive");
        bytes[at..at + name.len()].copy_from_slice(evil.as_bytes());
    }
    std::fs::write(definitions, bytes).expect("definitions are written");
    path
}

#[test]
fn names_of_an_archive_reach_no_terminal_raw() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let run = evil_archive(folder.path(), "4");
    let half = evil_archive(folder.path(), "2");
    let page = folder.path().join("page.html").display().to_string();
    let copy = folder.path().join("copy").display().to_string();
    let arrows = folder.path().join("a.json").display().to_string();
    let commands: [&[&str]; 8] = [
        &["analyze", &run],
        &["analyze", "--full", &run],
        &["analyze", "--full", "--json", &run],
        &["compare", &run, &run],
        &["scale", &half, &run],
        &["report", &run, "-o", &page],
        &["convert", &run, &copy],
        &["convert", &run, &arrows],
    ];
    for args in commands {
        for colour in [false, true] {
            let output = partune(args, colour);
            // The second time, what is to be written is there already, and that is said.
            assert!(output.status.success() || colour, "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
            let text = check(&output, colour, &args.join(" "));
            if args.contains(&"--full") {
                assert!(text.contains("␛]52;c;Y2FsYw␇") && text.contains("␛[2J␍␊␉x"), "names are shown: {text}");
            }
        }
    }
    // A copy has the names that it was made from.
    let copied = std::fs::read(Path::new(&copy).join("traces.def")).expect("definitions");
    assert!(NAMES.iter().all(|(_, evil)| copied.windows(evil.len()).any(|it| it == evil.as_bytes())));
}

#[test]
fn paths_models_and_machines_reach_no_terminal_raw() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let model = folder.path().join("\x1b]0;title\x07.pam").display().to_string();
    std::fs::write(&model, "model m { \x1b[2J\u{202e} }").expect("a model is written");
    let missing = folder.path().join("\x1b[2Jnone").display().to_string();
    for args in [
        &["model", "check", &model][..],
        &["analyze", &missing],
        &["analyze", &model],
        &["machine", "show", &model],
        &["report", &missing],
        &["compare", &missing, &missing],
        &["convert", &missing, &model],
        &["record", "--complete", &missing],
    ] {
        for colour in [false, true] {
            let output = partune(args, colour);
            assert_eq!(output.status.code(), Some(1), "{args:?}");
            let text = check(&output, colour, &args.join(" "));
            assert!(text.contains('␛'), "the path is shown: {text}");
        }
    }
    // What another program reads is as it was written.
    let plain = folder.path().join("plain.pam").display().to_string();
    std::fs::write(&plain, "// a\tb\nmodel m {}\n").expect("a model is written");
    let formatted = partune(&["model", "fmt", &plain], false);
    assert_eq!(String::from_utf8_lossy(&formatted.stdout), "// a\tb\nmodel m { }\n");
}
