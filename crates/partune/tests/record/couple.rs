//! The command: what is launched, not launched again, and said as text and as JSON alike. What is measured is tested where it is measured, in
//! `partune-couple`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::launch::{alone, run};
use crate::archives::workspace;

fn couple(folder: &Path, arguments: &[&str]) -> Output {
    let _alone = alone();
    let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
    partune.current_dir(folder).args(["couple", "plan.toml"]).args(arguments).output().expect("partune runs")
}

fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Two kernels that sleep: the second one shorter after the first one.
const PROGRAM: &str = r#"
#include "partune_couple.h"
static int before;
static void nap(long ms) { struct timespec time = {0, 1000000 * ms}; nanosleep(&time, NULL); }
static void a(void *data) { (void)data; nap(2); before = 1; }
static void b(void *data) { (void)data; nap(before == 1 ? 1 : 3); before = 2; }
int main(void)
{
    partune_couple_kernel("a", a, NULL);
    partune_couple_kernel("b", b, NULL);
    partune_couple_rerunnable();
    partune_couple_iterations(5);
    return partune_couple_measure() ? 0 : 4;
}
"#;

/// Compiles a program as `app` in a folder.
fn build(here: &Path, program: &str) {
    std::fs::write(here.join("app.c"), program).expect("a program is written");
    let mut gcc = Command::new("gcc");
    gcc.current_dir(here).arg("-I").arg(workspace().join("include")).args(["app.c", "-o", "app", "-lm"]);
    run(&mut gcc);
}

#[test]
fn a_plan_is_launched_once_and_said_in_two_ways() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let here = folder.path();
    build(here, PROGRAM);
    let plan = "command = './app'\nsizes = [1]\npes = [1]\nlaunches = 2\nbudget_s = 2.0\n";
    std::fs::write(here.join("plan.toml"), plan).expect("a plan is written");
    let (out, told) = said(&couple(here, &["--dry-run"]));
    assert!(
        out.is_empty()
            && told.contains("2 launches that measure for 2 s each, 4 s altogether: about 0.001 core-hours")
            && told.contains("is ended after 70 s, so 0.039 core-hours at most"),
        "{told}"
    );
    assert!(!here.join("plan.results.jsonl").exists());

    let (text, told) = said(&couple(here, &[]));
    assert!(told.contains("2 of 2: size 1 on 1 PE"), "{told}");
    let (json, told) = said(&couple(here, &["--json"]));
    assert!(told.contains("2 of 2 launches are in ./plan.results.jsonl"), "{told}");
    let document: Value = serde_json::from_str(&json).expect("it is JSON");
    let [chain, other] = &document["chains"].as_array().expect("a list")[..] else { panic!("{json}") };
    let coupling = chain["coupling"].as_f64().expect("a number");
    // 3 ms for 5 ms, and some of what a nap takes longer than asked for.
    assert!((0.5..0.75).contains(&coupling), "{json}");
    assert_eq!(
        (&chain["k"], &other["kernels"][0], &chain["interaction"]),
        (&2.into(), &"b".into(), &"constructive".into())
    );
    assert!(text.contains(&format!("{coupling:.3} ± ")), "{text}\n{json}");
    assert!(document["configurations"][0]["executed"] == "in_a_row" && !text.contains("one by one"), "{text}\n{json}");
    let prediction = &document["predictions"][0];
    let number = |key: &str| prediction[key].as_f64().expect("a number");
    assert!(number("low_s") <= number("predicted_s") && number("predicted_s") <= number("high_s"), "{json}");
    // 15 ms, and 25 ms by the sum.
    assert!((number("predicted_s") / number("actual_s") - 1.0).abs() < 0.2, "{json}");
    assert!(number("summation_s") > 1.3 * number("actual_s"), "{json}");

    // A launch that was cut off is launched again, and no other one.
    let path = here.join("plan.results.jsonl");
    let lines = std::fs::read_to_string(&path).expect("there are results");
    let cut: Vec<&str> = lines.lines().collect();
    std::fs::write(&path, cut[..cut.len() - 2].join("\n") + "\n").expect("results are written");
    let (_, told) = said(&couple(here, &["--dry-run"]));
    assert!(told.contains("1 of 2 launches are in") && told.contains("1 launches that measure for 2 s each"), "{told}");
}

/// A kernel that only stands being executed again after another one.
const TAKES_BACK: &str = r#"
#include "partune_couple.h"
static double x;
static void nap(void) { struct timespec time = {0, 1000000}; nanosleep(&time, NULL); }
static void a(void *data) { (void)data; nap(); x = x > 0.0 ? INFINITY : 1.0; }
static void b(void *data) { (void)data; nap(); x = 0.0; }
int main(void)
{
    partune_couple_kernel("a", a, NULL);
    partune_couple_kernel("b", b, NULL);
    partune_couple_doubles(&x, 1);
    partune_couple_iterations(5);
    return partune_couple_measure() ? 0 : 4;
}
"#;

#[test]
fn what_was_executed_one_by_one_is_said_so() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let here = folder.path();
    build(here, TAKES_BACK);
    let plan = "command = './app'\nsizes = [1]\npes = [1]\nlaunches = 1\nbudget_s = 2.0\n";
    std::fs::write(here.join("plan.toml"), plan).expect("a plan is written");
    let (text, told) = said(&couple(here, &[]));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("note: kernels and chains were executed one by one"), "{text}\n{told}");
    let (json, _) = said(&couple(here, &["--json"]));
    let document: Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(document["configurations"][0]["executed"], "one_by_one", "{json}");
    assert_eq!(document["problems"], Value::Array(Vec::new()), "{json}");
}

/// What was started ends with partune, which ends as it was told to.
#[test]
fn an_interruption_ends_the_launch() {
    use std::os::unix::process::ExitStatusExt;
    let _alone = alone();
    let folder = tempfile::tempdir().expect("there is room for a plan");
    let here = folder.path();
    let plan = "command = 'sleep 1000 & echo $$ $! >pids; wait'\nsizes = [1]\npes = [1]\nlaunches = 2\n";
    std::fs::write(here.join("plan.toml"), plan).expect("a plan is written");
    for signal in ["INT", "TERM"] {
        let _ = std::fs::remove_file(here.join("pids"));
        let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
        partune.current_dir(here).args(["couple", "plan.toml"]).stderr(std::process::Stdio::piped());
        let child = partune.spawn().expect("partune runs");
        let pids = loop {
            let text = std::fs::read_to_string(here.join("pids")).unwrap_or_default();
            if text.ends_with('\n') {
                break text;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        run(Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]));
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.signal(), Some(if signal == "INT" { 2 } else { 15 }), "{output:?}");
        let (_, told) = said(&output);
        assert!(told.contains("interrupted; 0 of 2 launches are in ./plan.results.jsonl"), "{told}");
        // They were told to, and take their time: who never ends is found by the end of the test's own time.
        let is_gone = |pid: &str| {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        while !pids.split_whitespace().all(is_gone) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// With `nohup`, the end of a terminal ends nothing.
#[test]
fn an_ignored_signal_ends_no_launch() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("there is room for a plan");
    let plan = "command = 'kill -HUP $PPID; sleep 0.3; echo still there >&2; exit 3'\nsizes = [1]\npes = [1]\n";
    std::fs::write(folder.path().join("plan.toml"), plan).expect("a plan is written");
    let mut nohup = Command::new("nohup");
    nohup.current_dir(folder.path()).args([env!("CARGO_BIN_EXE_partune"), "couple", "plan.toml"]);
    let output = nohup.output().expect("nohup runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said(&output).1.contains("still there"), "{output:?}");
}

#[test]
fn what_goes_wrong_is_said_with_what_the_command_said() {
    let folder = tempfile::tempdir().expect("there is room for a plan");
    let here = folder.path();
    for (plan, expected) in [
        ("command = 'echo no input >&2; exit 3'\nsizes = [1]\npes = [1]\n", "no input"),
        ("command = 'true'\nsizes = [1]\npes = [1]\n", "the command ended, and measured nothing"),
        ("command = 'true'\nsizes = [1, 2]\npes = [1]\n", "plan.toml: command: {size} is not in it"),
        ("command = true\n", "plan.toml: line 1: "),
    ] {
        std::fs::write(here.join("plan.toml"), plan).expect("a plan is written");
        let output = couple(here, &[]);
        let (_, told) = said(&output);
        assert_eq!(output.status.code(), Some(1));
        assert!(told.contains(expected) && told.contains("\n  remedy: "), "{told}");
    }
}
