//! Repeated runs as a user meets them: folders of runs for every command, conditions as JUnit and Markdown, the ledger and wrong ones. The runs are of
//! `partune synth`: seeds make them differ as runs do.

use std::path::Path;
use std::process::{Command, Output};

use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use serde_json::Value;

use crate::archives::workspace;

fn partune(folder: &Path, args: &[&str]) -> Output {
    let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
    partune.current_dir(folder).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(folder: &Path, args: &[&str], status: i32) -> Value {
    let output = partune(folder, args);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// Three runs of a kind, in a folder as `record --repeat` leaves them.
fn repeats(folder: &Path, name: &str, options: &[&str], seeds: [u32; 3]) {
    for (number, seed) in seeds.iter().enumerate() {
        let to = format!("{name}/{}", number + 1);
        let made =
            partune(folder, &[&["synth", "--events", "2K", "-o", &to, "--seed", &seed.to_string()], options].concat());
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    }
}

fn runs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room for archives");
    repeats(folder.path(), "base", &["--ranks", "4"], [1, 2, 3]);
    repeats(folder.path(), "same", &["--ranks", "4"], [3, 4, 1]);
    repeats(folder.path(), "slow", &["--ranks", "4", "--slow", "2:2"], [5, 6, 7]);
    folder
}

#[test]
fn commands_for_one_run_take_the_median_one() {
    let folder = runs();
    let here = folder.path();
    let times: Vec<f64> = (1..=3)
        .map(|run| json(here, &["whatif", &format!("base/{run}"), "--json"], 0)["run_s"].as_f64().unwrap_or_default())
        .collect();
    let middle = (1..=3).find(|run| {
        let below = times.iter().filter(|time| **time < times[run - 1]).count();
        below == 1
    });
    let path = format!("base/{}", middle.expect("times of several seeds differ"));
    for command in ["analyze", "advise", "whatif"] {
        let (folder_of_runs, one) = (partune(here, &[command, "base"]), partune(here, &[command, &path]));
        let said = text(&[&folder_of_runs.stdout[..], &folder_of_runs.stderr].concat());
        assert!(said.contains(&format!("one of 3 runs, the one with the median run time: {path} (")), "{said}");
        if command != "analyze" {
            assert_eq!(text(&folder_of_runs.stdout), text(&one.stdout), "{command}");
        }
    }
    let report = partune(here, &["report", "base", "-o", "base.html"]);
    assert!(report.status.success() && text(&report.stderr).contains(&path), "{}", text(&report.stderr));
    // A run that failed is none of them; a folder of other archives still is no run.
    std::fs::write(here.join(&path).join("failed"), "").expect("there is room for a file");
    let said = text(&partune(here, &["whatif", "base"]).stderr);
    assert!(said.contains("one of 2 runs") && !said.contains(&path), "{said}");
    let several = partune(here, &["analyze", "."]);
    assert_eq!(several.status.code(), Some(1));
}

#[test]
fn sets_are_compared_beyond_their_noise() {
    let folder = runs();
    let here = folder.path();
    let worse = json(here, &["compare", "base", "slow", "--json", "--fail-on", "run > +3 %"], 3);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    assert_eq!((list(&worse["runs"]).len(), list(&worse["runs"][1]["repeats_s"]).len()), (2, 3));
    let condition = &worse["conditions"][0];
    assert_eq!((&condition["condition"], &condition["holds"]), (&"run > +3 %".into(), &true.into()));
    let low = condition["measured"][0]["low"].as_f64().unwrap_or_default();
    assert!(low > 0.03, "{condition}");
    assert!(list(&worse["callpaths"]).iter().any(|row| row["changes"][0]["verdict"] == "grown"));
    // Beyond what all pairs of runs say nothing holds, though the median may.
    let beyond = format!("run > {} %", 100.0 * low + 0.01);
    assert_eq!(partune(here, &["compare", "base", "slow", "--fail-on", &beyond]).status.code(), Some(0));
    let same = json(here, &["compare", "base", "same", "--json", "--fail-on", "run > 0 %"], 0);
    let told = |rows: &Value| {
        list(rows)
            .iter()
            .filter(|row| !["same", "too_small_to_tell"].iter().any(|it| row["changes"][0]["verdict"] == *it))
            .count()
    };
    assert_eq!((told(&same["callpaths"]), told(&same["findings"])), (0, 0), "{same:#}");
    let said = text(&partune(here, &["compare", "base", "same"]).stdout);
    assert!(said.contains("90 % confidence) to A, within noise"), "{said}");
    let said = text(&partune(here, &["compare", "base", "slow"]).stdout);
    assert!(said.contains("to A, beyond noise") && said.contains("3 runs: median"), "{said}");
    let few = text(&partune(here, &["compare", "base", "slow/1"]).stdout);
    assert!(few.contains("50 % confidence) to A, too few runs to tell whether that is noise"), "{few}");
}

#[test]
fn scale_takes_all_runs_of_a_folder() {
    let folder = runs();
    repeats(folder.path(), "two", &["--ranks", "2"], [1, 2, 3]);
    let scale = json(folder.path(), &["scale", "--weak", "--json", "base", "two"], 0);
    for point in scale["points"].as_array().expect("there are points") {
        assert_eq!(point["archives"].as_array().map(Vec::len), Some(3), "{point}");
    }
    let (first, last) = (&scale["points"][0], &scale["points"][1]);
    let range = &last["efficiency_range"];
    assert!(first["efficiency_range"].is_null() && range["low"].as_f64() <= range["high"].as_f64(), "{range}");
    assert!(range["low"].as_f64() <= last["efficiency"].as_f64(), "{last}");
    assert!(range["high"].as_f64() >= last["efficiency"].as_f64(), "{last}");
    let said = text(&partune(folder.path(), &["scale", "--weak", "base", "two"]).stdout);
    assert!(said.contains("efficiency by all") && said.contains("90 % confidence"), "{said}");
}

#[test]
fn conditions_are_junit_and_markdown() {
    let folder = runs();
    let here = folder.path();
    // Whatever a folder is called.
    let odd = "a|<b>&\"`'";
    std::fs::rename(here.join("slow"), here.join(odd)).expect("a folder may be called so");
    let conditions = ["--fail-on", "run > +3 %", "--fail-on", "parallel < 0.01"];
    let written = ["--junit", "c.xml", "--markdown", "c.md"];
    let output = partune(here, &[&["compare", "base", odd, "same"][..], &conditions, &written].concat());
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let report = std::fs::read_to_string(here.join("c.xml")).expect("it was written");
    let report = Report::deserialize_from_str(&report).expect("it is JUnit");
    assert_eq!((report.tests, report.failures), (2, 1));
    let cases = &report.test_suites[0].test_cases;
    assert!(report.test_suites[0].name.as_str().ends_with(&format!("{odd} same")));
    assert_eq!(cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>(), ["run > +3 %", "parallel < 0.01"]);
    let TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, message: Some(message), .. } = &cases[0].status
    else {
        panic!("{:?}", cases[0]);
    };
    assert!(message.as_str().starts_with("run > +3 % holds: B +"), "{message:?}");
    assert!(matches!(cases[1].status, TestCaseStatus::Success { .. }));
    let markdown = std::fs::read_to_string(here.join("c.md")).expect("it was written");
    assert!(markdown.contains("`a\\|<b>&\"''`") && markdown.contains("| `run > +3 %` | ❌ holds | B +"), "{markdown}");
    // All rows of a table have as many cells.
    for block in markdown.split("\n\n").filter(|block| block.starts_with('|')) {
        let cells: Vec<usize> = block.lines().map(|line| line.replace("\\|", "").matches('|').count()).collect();
        assert!(cells.windows(2).all(|pair| pair[0] == pair[1]), "{block}");
    }
    let nowhere = partune(here, &[&["compare", "base", "same"][..], &conditions, &["--junit", "no/c.xml"]].concat());
    assert!(nowhere.status.code() == Some(1) && text(&nowhere.stderr).contains("remedy"), "{}", text(&nowhere.stderr));
}

#[test]
fn the_ledger_is_kept_beside_the_recordings_and_never_lost() {
    let folder = runs();
    let here = folder.path();
    let advised = json(here, &["advise", "slow", "--all", "--json"], 0);
    let id = advised["advice"][0]["id"].as_str().expect("something can be done").to_owned();
    let compare = ["compare", "slow", "base", "--advice", &id];
    let kept = partune(here, &[&compare[..], &["--ledger"]].concat());
    assert_eq!(kept.status.code(), Some(0), "{}", text(&kept.stderr));
    let file = here.join("partune.toml");
    let first = std::fs::read_to_string(&file).expect("it was written");
    assert!(first.starts_with("# What partune advise predicted") && first.contains(&id), "{first}");
    for args in [
        &["advise", "--ledger"][..],
        &["advise", "base", "--ledger"],
        &["advise", "--ledger", "partune.toml"],
        &["advise", "--ledger", "."],
    ] {
        let said = text(&partune(here, args).stdout);
        assert!(
            said.contains(&id) && said.contains("slow → base") && said.contains("\n1 prediction: "),
            "{args:?}: {said}"
        );
    }
    // Another run after it is another entry; what a person adds stays.
    std::fs::write(&file, format!("# ours\n{first}note = \"kept\" # by hand\n")).expect("there is room for a file");
    let more = partune(here, &["compare", "slow", "base", "same", "--advice", &id, "--ledger", "partune.toml"]);
    assert_eq!(more.status.code(), Some(0), "{}", text(&more.stderr));
    assert_eq!(json(here, &["advise", "--ledger", "--json"], 0)["entries"].as_array().map(Vec::len), Some(2));
    let now = std::fs::read_to_string(&file).expect("it is there");
    assert!(now.starts_with("# ours\n# What") && now.contains("note = \"kept\" # by hand\n"), "{now}");
    for damaged in ["[[ledger]\n", "ledger = 1\n", &now.replace("outcome = \"", "outcome = \"x")] {
        std::fs::write(&file, damaged).expect("there is room for a file");
        let read = partune(here, &["advise", "--ledger"]);
        assert!(read.status.code() == Some(1) && text(&read.stderr).contains("\n  remedy: "), "{}", text(&read.stderr));
    }
    std::fs::write(&file, "ledger = 1\n").expect("there is room for a file");
    let refused = partune(here, &[&compare[..], &["--ledger"]].concat());
    assert!(
        refused.status.code() == Some(1) && text(&refused.stderr).contains("line 1: "),
        "{}",
        text(&refused.stderr)
    );
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "ledger = 1\n");
    let none = partune(here, &["advise", "--ledger", "none.toml"]);
    assert!(none.status.code() == Some(1) && text(&none.stderr).contains("remedy"), "{}", text(&none.stderr));
    for wrong in [&["compare", "slow", "base", "--ledger"][..], &["compare", "slow", "base", "--junit", "c.xml"]] {
        assert_eq!(partune(here, wrong).status.code(), Some(2), "{wrong:?}");
    }
    let committed = std::fs::read_to_string(workspace().join("docs/ledger.schema.json")).unwrap_or_default();
    let current = text(&partune(here, &["advise", "--ledger", "--schema"]).stdout);
    assert!(committed == current, "run: cargo run -p partune -- advise --ledger --schema > docs/ledger.schema.json");
}

/// The answers that a page holds.
fn held(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"answers\">").expect("there are answers");
    serde_json::from_str(rest.split("</script>").next().unwrap_or_default()).expect("they are JSON")
}

#[test]
fn a_history_marks_what_changed_beyond_noise() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let here = folder.path();
    repeats(here, "all/r9", &["--ranks", "4"], [1, 2, 3]);
    repeats(here, "all/r10", &["--ranks", "4"], [3, 4, 1]);
    repeats(here, "all/r11-slow", &["--ranks", "4", "--slow", "2:2"], [5, 6, 7]);
    repeats(here, "all/r12 <mended>", &["--ranks", "4"], [2, 8, 9]);
    std::fs::create_dir_all(here.join("all/r13")).expect("a folder is made");
    std::fs::write(here.join("all/note.txt"), "no revision").expect("a file is written");
    let made = partune(here, &["report", "--history", "all", "-o", "out"]);
    let said = text(&made.stderr);
    assert_eq!(made.status.code(), Some(0), "{said}");
    assert_eq!(text(&made.stdout), "out/index.html: 4 revisions\n");
    assert!(said.contains("left out") && said.contains("r13"), "{said}");
    let page = std::fs::read_to_string(here.join("out/index.html")).expect("the page is there");
    assert!(!page.contains("<mended>"), "names are data");
    let history = &held(&page)["history"];
    let of = |list: &Value, key: &str| -> Vec<Value> {
        list.as_array().into_iter().flatten().map(|it| it[key].clone()).collect()
    };
    assert_eq!(of(&history["revisions"], "name"), ["r9", "r10", "r11-slow", "r12 <mended>"]);
    let reports = ["1-r9.html", "2-r10.html", "3-r11-slow.html", "4-r12--mended-.html"];
    assert_eq!(of(&history["revisions"], "report"), reports);
    for report in reports {
        let page = std::fs::read_to_string(here.join("out").join(report)).expect("the report is there");
        assert_eq!(held(&page)["runs"].as_array().map(Vec::len), Some(1), "{report}");
    }
    let run = &history["figures"][0];
    assert_eq!(
        (run["label"].as_str(), run["unit"].as_str()),
        (Some("Run time without start-up and shut-down"), Some("seconds"))
    );
    assert_eq!(of(&run["values"], "changed"), [Value::Null, Value::Null, "more".into(), "less".into()]);
    // The numbers are those of compare, whose first run stands for the repeats.
    let compared = json(here, &["compare", "all/r9", "all/r11-slow", "--json"], 0);
    for (revision, run) in [(0, 0), (2, 1)] {
        let median = &compared["runs"][run]["repeats_s"][0];
        assert!(median.is_f64() && history["figures"][0]["values"][revision]["value"] == *median, "{revision}");
    }
    let balance = history["figures"].as_array().expect("a list").iter().find(|it| it["name"] == "load_balance");
    let balance = balance.expect("it has the POP factors");
    assert_eq!(of(&balance["values"], "changed"), [Value::Null, Value::Null, "less".into(), "more".into()]);
    let findings = history["findings"].as_array().expect("a list");
    let marks: Vec<Value> =
        findings.iter().flat_map(|it| it["changed"].as_array().cloned().unwrap_or_default()).collect();
    assert!(marks.iter().any(|it| it == "new" || it == "more"), "the slow PE makes others wait");
    for finding in findings {
        assert_eq!(finding["changed"][0], Value::Null);
        assert_eq!(finding["changed"][1], Value::Null, "noise makes no mark: {finding}");
        assert_eq!(finding["seconds"].as_array().map(Vec::len), Some(4));
    }
    assert_eq!(partune(here, &["report", "--history", "all", "-o", "again"]).status.code(), Some(0));
    assert!(
        page == std::fs::read_to_string(here.join("again/index.html")).expect("the page is there"),
        "the same bytes"
    );

    for (from, remedy) in
        [("nowhere", "remedy: give a folder"), ("all/r13", "remedy: give a folder with a folder for each revision")]
    {
        let ended = partune(here, &["report", "--history", from, "-o", "none"]);
        let said = text(&ended.stderr);
        assert!(ended.status.code() == Some(1) && said.contains(remedy), "{said}");
        assert!(!here.join("none").exists(), "nothing is begun");
    }
}
