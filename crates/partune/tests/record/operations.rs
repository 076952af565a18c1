//! Functions and marked regions of a recorded program that a file makes operations, and patterns of the user's own, held against what the
//! program measured itself.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::launch::{alone, run};

const FILE: &str = r#"
[[operation]]
name = "my_halo_*"
role = "comm_sync"

[[operation]]
name = "store"
role = "io"

[[pattern]]
name = "slow_gap"
when = "role = comm_sync and gap_before > 50 ms"
text = "Exchanges come late."
next = "Exchange before the work."

[[pattern]]
name = "exchanges"
when = "construct = my_halo_exchange and time > 1 ms"

[[pattern]]
name = "endless"
when = "time > 1000 s or bytes > 0 or construct = pack"
"#;

fn partune(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).current_dir(folder).args(arguments).output().expect("it starts")
}

/// The findings of a pattern in a document.
fn findings<'a>(document: &'a Value, pattern: &str) -> Vec<&'a Value> {
    let all = document["findings"].as_array().expect("findings are a list");
    all.iter().filter(|finding| finding["pattern"] == pattern).collect()
}

fn assert_near(measured: f64, seconds: &Value) {
    let seconds = seconds.as_f64().expect("seconds are a number");
    assert!(
        (seconds - measured).abs() <= 0.05 * measured + 0.005,
        "{seconds} s, and the program measured {measured} s"
    );
}

#[test]
fn functions_of_a_recorded_program_are_operations() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let at = folder.path();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new("gcc");
    compiler.current_dir(at).args(["-g", "-O1", "-fno-inline", "-finstrument-functions", "-Wall", "-Werror", "-I"]);
    compiler.arg(here.join("../../include")).arg(here.join("tests/record/operations/exchange.c"));
    run(compiler.args(["-o", "program"]));
    std::fs::write(at.join("mine.toml"), FILE).expect("there is room for a file");
    let recorded = {
        let _alone = alone();
        partune(at, &["record", "-o", "run", "--operations", "mine.toml", "--", "./program"])
    };
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let printed = String::from_utf8_lossy(&recorded.stdout).into_owned();
    let measured: Vec<f64> = printed.split_whitespace().map(|it| it.parse().expect("it prints numbers")).collect();

    let read = |arguments: &[&str]| -> Value {
        let output = partune(at, &[&["analyze", "run", "--json"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("it is JSON")
    };
    // The file beside the archive is found; another one counts instead of it.
    let document = read(&[]);
    let [gap] = findings(&document, "user:slow_gap")[..] else { panic!("there is one: {}", document["findings"]) };
    assert_eq!(gap["count"].as_f64(), Some(measured[1]), "{gap}");
    assert_near(measured[2], &gap["seconds"]);
    assert_eq!((&gap["construct"], &gap["role"]), (&"my_halo_exchange".into(), &"comm_sync".into()));
    assert_eq!(gap["location"]["function"], "main");
    assert_eq!(gap["text"], "Exchanges come late.");
    assert_eq!(gap["advice"][0]["text"], "Exchange before the work.");
    let [exchanges] = findings(&document, "user:exchanges")[..] else {
        panic!("there is one: {}", document["findings"])
    };
    assert_eq!(exchanges["count"], 5);
    assert_near(measured[0], &exchanges["seconds"]);
    assert_eq!(findings(&document, "user:endless"), [&Value::Null; 0]);
    assert_near(measured[3], &document["time"]["io"]);
    let screen = partune(at, &["analyze", "run"]).stdout;
    let screen = String::from_utf8_lossy(&screen).into_owned();
    assert!(screen.contains("slow gap, ") && screen.contains("Exchanges come late."), "{screen}");
    std::fs::write(at.join("other.toml"), "[[operation]]\nname = 'my_halo_exchang'\nrole = 'send'\n")
        .expect("there is room");
    let other = read(&["--operations", "other.toml"]);
    assert_eq!(findings(&other, "user:slow_gap"), [&Value::Null; 0]);
    assert_eq!(other["time"]["io"].as_f64(), Some(0.0));
    assert!(other["quality"].to_string().contains("the run has my_halo_exchange"), "{}", other["quality"]);

    // A file that says nothing sensible: given, it is an error; beside the archive, it is told and left out.
    std::fs::write(at.join("wrong.toml"), FILE.replace("50 ms", "50 msec")).expect("there is room");
    let wrong = partune(at, &["analyze", "run", "--operations", "wrong.toml"]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(1), "{said}");
    assert!(said.contains("wrong.toml: line 12, column 46: \"msec\" is no unit\n  remedy: write ns, us"), "{said}");
    let wrong = partune(at, &["record", "-o", "none", "--operations", "wrong.toml", "--", "./program"]);
    assert_eq!((wrong.status.code(), at.join("none").exists()), (Some(125), false));
    std::fs::copy(at.join("wrong.toml"), at.join("run/operations.toml")).expect("there is room");
    let without = read(&[]);
    assert!(without["quality"].to_string().contains("damaged-operations"), "{}", without["quality"]);
    assert_eq!(findings(&without, "user:slow_gap"), [&Value::Null; 0]);
}
