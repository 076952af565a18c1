//! `partune run --adapt` with programs that know nothing of it: what is faster is kept as long as it is, results are those without, and where nothing can
//! be chosen that is said.
//!
//! Work is sleep. What was chosen is judged where the program itself measured that the machine let it sleep as long as it wanted.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::launch::alone;
use super::openmp::{Built, CLANG, TRIES};

const TURNS: u64 = 200;
/// Seconds of a unit of work.
const UNIT: f64 = 0.001;

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/adapted").join(file)
}

fn built(compiler: &str) -> Option<Built> {
    Built::of(compiler, &source("drift.c"), &["-fopenmp"])
}

/// Runs the program with two threads and a static schedule. What it printed, and what was said of it.
fn run(built: &Built, options: &[&str], how: &str, dynamic: bool) -> (Output, Option<Value>) {
    let _alone = alone();
    let adapted = built.folder.path().join("adapted.json");
    let _ = std::fs::remove_file(&adapted);
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "100", env!("CARGO_BIN_EXE_partune"), "run"]).args(options);
    command.arg("--adapted").arg(&adapted).arg("--").arg(built.program());
    command.args([TURNS.to_string(), (UNIT * 1e9).to_string(), how.to_owned()]);
    command.envs([("OMP_NUM_THREADS", "2"), ("OMP_SCHEDULE", "static"), ("OMP_WAIT_POLICY", "passive")]);
    command.env("OMP_DYNAMIC", dynamic.to_string());
    let output = command.output().expect("timeout is a command of every system");
    let said = std::fs::read_to_string(adapted).ok();
    (output, said.map(|said| serde_json::from_str(&said).expect("it is JSON")))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Executions with a setting.
fn executions(region: &Value, setting: &str) -> u64 {
    let settings = region["settings"].as_array().into_iter().flatten();
    settings.filter(|it| it["setting"] == setting).filter_map(|it| it["executions"].as_u64()).sum()
}

/// Whether the machine was idle enough to judge what was chosen, in one of several tries.
fn is_followed(compiler: &str, how: &str) -> bool {
    let Some(built) = built(compiler) else { return true };
    let mut wrong = Vec::new();
    for _ in 0..TRIES {
        let (output, said) = run(&built, &["--adapt"], how, false);
        let (printed, noted) = (text(&output.stdout), text(&output.stderr));
        // No schedule changes the sum, and the program is not told of another one than its own.
        assert_eq!(output.status.code(), Some(0), "{printed}{noted}");
        let done = format!("done {} schedule 1 of", TURNS * 57);
        assert!(printed.lines().any(|line| line.starts_with(&done)), "{printed}");
        let took: Vec<f64> = printed.lines().filter_map(|line| line.split_once(" took ")?.1.parse().ok()).collect();
        assert_eq!(took.len(), 3, "{printed}");
        let said = said.unwrap_or_else(|| panic!("nothing was written: {noted}"));
        let [region] = said["regions"].as_array().map_or(&[][..], Vec::as_slice) else { panic!("{said:#}") };
        assert_eq!(
            (&region["function"], &region["iterations"], &region["schedule"]),
            (&how.into(), &4.into(), &"static".into())
        );
        assert!(noted.contains(&format!("{how} (drift.c:{})", region["line"])), "{noted}");
        // The first two are looked at only.
        let all: u64 = ["own", "dynamic,1", "guided"].iter().map(|setting| executions(region, setting)).sum();
        assert_eq!(all, 3 * TURNS - 2, "{region:#}");
        let all_took = region["took_s"].as_f64().unwrap_or_default();
        assert!(
            all_took <= took.iter().sum::<f64>() && all_took > 0.9 * took.iter().sum::<f64>(),
            "{took:?} {region:#}"
        );
        // Making teams inside takes what it takes; there it is the sum that counts.
        if how == "nested" {
            return true;
        }
        // With what each phase takes at most, in units.
        let is_late = |(units, took): (f64, &f64)| *took > 1.3 * units * UNIT * TURNS as f64;
        if [4.0, 6.0, 5.0].into_iter().zip(&took).any(is_late) {
            continue;
        }
        let changes: Vec<(u64, &str)> = region["changes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| Some((it["at"].as_u64()?, it["to"].as_str()?)))
            .collect();
        // While all are alike nothing is changed; then one by one saves a third, as does LLVM's guided, and then it costs a quarter.
        let is_faster = |to: &str| to == "dynamic,1" || to == "guided" && compiler == CLANG;
        let [even, uneven] = [1, 2].map(|phase| changes.partition_point(|(at, _)| *at < phase * TURNS - 2));
        let [uneven, behind] = [&changes[even..uneven], &changes[uneven..]];
        // Chance has its part in what wins: it may be late once, but not each time.
        let is_right = even == 0
            && uneven.last().is_some_and(|(_, to)| is_faster(to))
            && behind.iter().any(|(_, to)| !is_faster(to))
            && took[1] < 6.0 * UNIT * TURNS as f64
            && region["saved_s"].as_f64() > Some(0.0);
        if !is_right {
            wrong.push(format!("{took:?} {region:#}"));
            continue;
        }
        return true;
    }
    assert!(wrong.len() < TRIES, "{}", wrong.join("\n"));
    false
}

#[test]
fn a_load_that_drifts_is_followed() {
    // On a runtime whose entry points are seen, and on one with a tools interface.
    for compiler in ["gcc", CLANG] {
        for how in ["alone", "inside", "nested"] {
            if !is_followed(compiler, how) {
                eprintln!("the machine was too busy to judge {compiler}, {how}");
            }
        }
    }
}

#[test]
fn a_smaller_team_is_kept_where_it_may_be_and_is_faster() {
    let Some(built) = built("gcc") else { return };
    for (options, dynamic) in [(["--adapt=threads"], false), (["--adapt"], true)] {
        let is_judged = |_| {
            let (output, said) = run(&built, &options, "crowded", dynamic);
            let said = said.unwrap_or_else(|| panic!("nothing was written: {}", text(&output.stderr)));
            let region = &said["regions"][0];
            let [own, one] = ["own", "1 thread"].map(|setting| executions(region, setting));
            assert!(output.status.success() && own + one == TURNS - 2 && one > 0, "{said:#}");
            // Where the program lets the runtime decide it may give one thread by itself, on a machine with other work.
            if dynamic {
                return true;
            }
            // Two threads work one after the other.
            let design = (2 * own + one) as f64 * UNIT;
            let is_idle = region["took_s"].as_f64() < Some(1.3 * design);
            let is_kept = region["changes"][0]["to"] == "1 thread" && one > own;
            assert!(!is_idle || is_kept && region["saved_s"].as_f64() > Some(0.0), "{said:#}");
            is_idle
        };
        if !(0..TRIES).any(is_judged) {
            eprintln!("the machine was too busy to judge a smaller team");
        }
    }
}

#[test]
fn what_a_program_relies_on_stays() {
    let library = ["-fopenmp", "-DLIBRARY", "-shared", "-fPIC"];
    for compiler in ["gcc", CLANG] {
        let file = source("kept.c");
        let (Some(program), Some(library), Some(loads)) = (
            Built::of(compiler, &file, &["-fopenmp"]),
            Built::of(compiler, &file, &library),
            Built::of(compiler, &source("loads.c"), &["-ldl"]),
        ) else {
            continue;
        };
        for words in [vec![program.program()], vec![loads.program(), library.program()]] {
            let _alone = alone();
            let mut command = Command::new("timeout");
            command.args(["--kill-after=5", "100", env!("CARGO_BIN_EXE_partune"), "run", "--adapt=threads", "--"]);
            command.args(&words).envs([
                ("OMP_NUM_THREADS", "4"),
                ("OMP_SCHEDULE", "static"),
                ("OMP_WAIT_POLICY", "passive"),
            ]);
            let output = command.output().expect("timeout is a command of every system");
            let (printed, noted) = (text(&output.stdout), text(&output.stderr));
            assert_eq!((output.status.code(), printed.as_str()), (Some(0), "kept\n"), "{compiler} {words:?}: {noted}");
            // It was adapted, which is what might have changed it.
            assert!(noted.contains("  kept  "), "{compiler} {words:?}: {noted}");
        }
    }
}

#[test]
fn where_nothing_can_be_chosen_that_is_said() {
    let Some(built) = built("gcc") else { return };
    let (output, said) = run(&built, &["--adapt"], "crowded", false);
    let noted = text(&output.stderr);
    assert!(output.status.success() && noted.contains("nothing was adapted: no parallel region has a loop"), "{noted}");
    assert_eq!(said.map(|said| said["regions"].as_array().map(Vec::len)), Some(Some(0)));
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        command.args(["run", "--adapt", "--"]).args(words).output().expect("the binary runs")
    };
    let none = run(&["sh", "-c", "echo out; exit 7"]);
    assert_eq!((none.status.code(), text(&none.stdout)), (Some(7), "out\n".to_owned()));
    assert!(
        text(&none.stderr).contains("no process that ended in order had a parallel region"),
        "{}",
        text(&none.stderr)
    );
    let missing = run(&["/nonexistent/program"]);
    assert_eq!(missing.status.code(), Some(127), "{}", text(&missing.stderr));
}
