//! `whatif` and `advise` as a user meets them: on hand-made runs with known answers, on every archive, and where nothing can be said.

use std::process::{Command, Output};

use partune_engine::{AdviseRequest, Diagnosis, Request, Scope};
use partune_report::{Style, TextOptions};
use serde_json::Value;

use crate::archives::{archives, workspace};

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn diagnosis(text: &str) -> Diagnosis {
    partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &())
}

fn advice(text: &str, all: bool) -> Value {
    let diagnosis = diagnosis(text);
    let request = AdviseRequest { scope: if all { Scope::All } else { Scope::Likely }, ..AdviseRequest::default() };
    let advised = partune_engine::advise(&diagnosis, &request, &()).expect("it is no profile");
    serde_json::from_str(&partune_report::advice_document(&advised, &diagnosis, "run")).expect("it is JSON")
}

/// Ten turns of four PEs, which work so long each, and a barrier of 2 ticks; 1000 ticks a second.
fn turns(work: [u32; 4]) -> String {
    use std::fmt::Write;
    let longest = work.iter().max().copied().unwrap_or_default();
    let (turn, mut text) = (longest + 2, String::from("resolution 1000\n"));
    for (pe, own) in work.iter().enumerate() {
        let _ = writeln!(
            text,
            "pe {pe}: main@a.c:1 0..{} {{ repeat 10 every {turn} {{ solve@a.c:9 0..{own} MPI_Barrier^a.c:12 {own}..{turn} barrier }} }}",
            10 * turn
        );
    }
    text
}

#[test]
fn uneven_work_is_advised_to_be_balanced_and_the_saving_is_known() {
    // 70 ticks on average in place of 100, ten times.
    let document = advice(&turns([100, 60, 60, 60]), false);
    assert_eq!(document["run_s"], 1.02);
    assert_eq!(document["replayed_s"], 1.02);
    let first = &document["advice"][0];
    assert_eq!(first["change"], "balance solve");
    assert_eq!(first["place"]["function"], "solve");
    assert_eq!(first["place"]["line"], 9);
    let saves = first["saves_s"].as_f64().expect("it is predicted");
    assert!((saves - 0.3).abs() < 1e-9, "{saves}");
    assert!((first["predicted_run_s"].as_f64().unwrap_or_default() - 0.72).abs() < 1e-9);
    let bounds = [&first["saves_low_s"], &first["saves_high_s"]].map(|it| it.as_f64().unwrap_or(f64::NAN));
    assert!(bounds[0] <= saves && saves <= bounds[1], "{bounds:?}");
    assert!(!first["findings"].as_array().expect("a list").is_empty());
    for field in ["id", "action", "name", "text", "side_effects", "recipe"] {
        assert!(!first[field].is_null(), "{field}");
    }
}

#[test]
fn even_work_needs_no_advice() {
    let document = advice(&turns([100, 100, 100, 100]), true);
    let predicted = document["advice"].as_array().into_iter().flatten().filter(|it| !it["saves_s"].is_null());
    let useful: Vec<&Value> =
        predicted.filter(|it| it["change"].as_str().is_some_and(|it| it.starts_with("balance"))).collect();
    assert!(useful.is_empty(), "{useful:?}");
}

#[test]
fn a_run_that_is_another_one_when_it_is_followed_predicts_nothing() {
    use std::fmt::Write;
    // Barriers take 400 ticks, and in the second half, of which nothing can be known from the first, 2.
    let mut run = String::from("resolution 1000\n");
    for (pe, own) in [100, 60].iter().enumerate() {
        let turns = |times: u32, from: u32, to: u32| {
            let met = from + own;
            let turn = format!("solve@a.c:9 {from}..{met} MPI_Barrier^a.c:12 {met}..{to} barrier");
            format!("repeat {times} every {} {{ {turn} }}", to - from)
        };
        let _ = writeln!(run, "pe {pe}: main@a.c:1 0..20200 {{ {} {} }}", turns(20, 0, 500), turns(100, 10000, 10102));
    }
    let document = advice(&run, true);
    assert!(document["replayed_s"].as_f64().is_some_and(|it| it > 40.0), "{document:#}");
    let advice = document["advice"].as_array().expect("a list");
    assert!(!advice.is_empty() && advice.iter().all(|it| it["saves_s"].is_null()), "{advice:#?}");
    // Neither if it is asked, though it still tells how far it is off.
    let folder = tempfile::tempdir().expect("a folder");
    let [archive, changed] = ["run", "changed"].map(|name| folder.path().join(name));
    partune_engine::write(&partune_testkit::trace(&run), &archive).expect("it can be written");
    let asked = ["whatif", &archive.display().to_string(), "--change", "balance solve"].map(str::to_owned);
    let said =
        |more: &[&str]| partune(&asked.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>());
    let made = said(&["--json", "-o", &changed.display().to_string()]);
    assert_eq!((made.status.code(), changed.exists()), (Some(1), false), "{}", text(&made.stderr));
    let document: Value = serde_json::from_slice(&made.stdout).expect("it is JSON");
    assert_eq!((&document["predicted_run_s"], &document["saves_s"]), (&document["run_s"], &Value::from(0.0)));
    assert_eq!(document["refused"][0]["change"], "balance solve");
    assert!(document["replayed_s"].as_f64().is_some_and(|it| it > 40.0), "{document:#}");
    let words = text(&said(&[]).stdout);
    assert!(words.contains("balance solve: the run cannot be followed again") && !words.contains("saves"), "{words}");
    assert_eq!(partune(&["whatif", &asked[1]]).status.code(), Some(0));
}

#[test]
fn a_long_wait_that_delays_nobody_saves_nothing() {
    // PE 1 waits for PE 0 most of the time, but everybody waits for PE 2.
    let document = advice(
        "resolution 1000
         pe 0: main 0..1000 { repeat 10 every 100 { produce 0..40 MPI_Send 40..41 send(to=1, bytes=8) MPI_Barrier 41..100 barrier } }
         pe 1: main 0..1000 { repeat 10 every 100 { MPI_Recv 0..42 recv(from=0, bytes=8) MPI_Barrier 42..100 barrier } }
         pe 2: main 0..1000 { repeat 10 every 100 { heavy 0..98 MPI_Barrier 98..100 barrier } }",
        true,
    );
    let of_decoy =
        |it: &&Value| it["change"].as_str().is_some_and(|it| it.contains("produce") || it.contains("MPI_Recv"));
    for advice in document["advice"].as_array().into_iter().flatten().filter(of_decoy) {
        assert!(advice["saves_s"].as_f64().is_none_or(|saves| saves < 0.011), "{advice:#}");
    }
    assert_eq!(document["advice"][0]["place"]["function"], "heavy");
}

#[test]
fn every_archive_has_advice_or_a_reason() {
    for archive in archives() {
        let anchor = archive.anchor.display().to_string();
        for command in [["whatif", "--json"], ["advise", "--json"]] {
            let output = partune(&[command[0], command[1], &anchor]);
            if output.status.code() != Some(0) {
                let said = text(&output.stderr);
                assert!(said.contains("remedy: "), "{}: {said}", archive.name);
                continue;
            }
            let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
            for field in ["run_s", "replayed_s"] {
                assert!(document[field].as_f64().is_some_and(|it| it >= 0.0), "{}: {field}", archive.name);
            }
            let saved: Vec<f64> =
                document["advice"].as_array().into_iter().flatten().filter_map(|it| it["saves_s"].as_f64()).collect();
            let run = document["run_s"].as_f64().unwrap_or_default();
            assert!(saved.windows(2).all(|pair| pair[0] >= pair[1] - 0.011 * run), "{}: {saved:?}", archive.name);
        }
    }
}

#[test]
fn what_cannot_be_done_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run").display().to_string();
    let made = partune(&["synth", "--ranks", "4", "--events", "2K", "-o", &run]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let wrong = partune(&["whatif", &run, "--change", "improve everything"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong.stderr));
    assert!(text(&wrong.stderr).contains("balance PLACE"), "{}", text(&wrong.stderr));
    let faster = folder.path().join("faster").display().to_string();
    let bare = text(&partune(&["whatif", &run, "balance main"]).stderr);
    assert!(bare.contains("no archive balance main") && bare.contains("--change 'balance main'"), "{bare}");
    // Nothing is written then, so that there is room for what is asked next.
    let nowhere = partune(&["whatif", &run, "--change", "balance nowhere", "-o", &faster, "--json"]);
    assert_eq!(nowhere.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&nowhere.stdout).expect("it is JSON");
    assert_eq!(document["refused"][0]["change"], "balance nowhere");
    assert_eq!(document["saves_s"], 0.0);
    let same = partune(&["whatif", &run, "--change", "scale cpu speed*1", "--json"]);
    let document: Value = serde_json::from_slice(&same.stdout).expect("it is JSON");
    assert_eq!(document["saves_s"], 0.0);
    // The changed run is an archive like any other, and takes as long as was said.
    let made = partune(&["whatif", &run, "--change", "scale cpu speed*2", "-o", &faster, "--json"]);
    let predicted: Value = serde_json::from_slice(&made.stdout).expect("it is JSON");
    let read = partune(&["whatif", &faster, "--json"]);
    let read: Value = serde_json::from_slice(&read.stdout).expect("it is JSON");
    let (followed, recorded) = (&predicted["replayed_s"], &read["run_s"]);
    let expected = followed.as_f64().unwrap_or_default() - predicted["saves_s"].as_f64().unwrap_or_default();
    assert!((recorded.as_f64().unwrap_or_default() - expected).abs() < 1e-6, "{recorded} {expected}");
}

#[test]
fn files_that_name_nodes_are_read_or_told() {
    let folder = tempfile::tempdir().expect("there is room for a run");
    let file = folder.path().join("map").display().to_string();
    let run = workspace().join("examples/archives/ring").display().to_string();
    let map = |lines: &str| {
        std::fs::write(&file, lines).expect("it can be written");
        partune(&["whatif", &run, "--change", &format!("map \"{file}\""), "--json"])
    };
    // All ranks stay on one node, so nothing is changed.
    let same: Value = serde_json::from_slice(&map("node slots=64").stdout).expect("it is JSON");
    assert_eq!((&same["saves_s"], &same["refused"]), (&Value::from(0.0), &Value::Array(Vec::new())), "{same:#}");
    let few: Value = serde_json::from_slice(&map("node").stdout).expect("it is JSON");
    assert!(few["refused"][0]["reason"].as_str().is_some_and(|it| it.contains("names nodes for 1 of")), "{few:#}");
    let apart: Value = serde_json::from_slice(&map("a\nb slots=64").stdout).expect("it is JSON");
    assert!(apart["refused"][0]["reason"].as_str().is_some_and(|it| it.contains("--machine")), "{apart:#}");
    for (wrong, said) in [("node slots=many", ", line 1: "), ("rank 0=a\nrank b=c", ", line 2: ")] {
        let output = map(wrong);
        assert_ne!(output.status.code(), Some(0));
        assert!(text(&output.stderr).contains(said) && text(&output.stderr).contains("remedy: "), "{wrong}");
    }
    std::fs::remove_file(&file).expect("it is there");
    let missing = partune(&["whatif", &run, "--change", &format!("map \"{file}\"")]);
    assert_ne!(missing.status.code(), Some(0));
    assert!(text(&missing.stderr).contains("remedy: name a file"), "{}", text(&missing.stderr));
}

#[test]
fn what_was_predicted_is_held_against_what_was_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let base = path("base");
    let made = partune(&["synth", "--ranks", "4", "--events", "4K", "--slow", "2:2", "-o", &base]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let advised: Value =
        serde_json::from_slice(&partune(&["advise", "--all", "--json", &base]).stdout).expect("it is JSON");
    let first = &advised["advice"][0];
    let (id, change) = (first["id"].as_str().expect("an id"), first["change"].as_str().expect("a change"));
    let done = path("done");
    assert_eq!(partune(&["whatif", &base, "--change", change, "-o", &done]).status.code(), Some(0));
    let compared = partune(&["compare", &base, &done, "--advice", id, "--json", "--fail-on", "run > +3 %"]);
    assert_eq!(compared.status.code(), Some(0), "{}", text(&compared.stderr));
    let document: Value = serde_json::from_slice(&compared.stdout).expect("it is JSON");
    assert_eq!(document["advice"]["as_predicted"][0], true, "{}", document["advice"]);
    // The other way round nothing was saved, and the run is longer.
    let compared = partune(&["compare", &done, &base, "--fail-on", "run > +3 %"]);
    assert_eq!(compared.status.code(), Some(3), "{}", text(&compared.stderr));
    let compared = partune(&["compare", &base, &base, "--advice", id]);
    assert!(text(&compared.stdout).contains("not as predicted"), "{}", text(&compared.stdout));
    for (option, wrong, status) in [("--advice", "none", 1), ("--fail-on", "colour > 3", 1), ("--fail-on", "run", 2)] {
        let output = partune(&["compare", &base, &done, option, wrong]);
        assert_eq!(output.status.code(), Some(status), "{option} {wrong}");
        assert!(text(&output.stderr).contains("remedy: "), "{}", text(&output.stderr));
    }
    // Both a bound and a gap are called W.
    let output = partune(&["compare", &base, &done, "--fail-on", "W > 1000"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("say which: bounds.W or gaps.W"), "{}", text(&output.stderr));
    for (condition, status) in [("gaps.W > 1000", 0), ("bounds.W > 0", 3)] {
        assert_eq!(partune(&["compare", &base, &done, "--fail-on", condition]).status.code(), Some(status));
    }
}

/// What is said of a number of PEs, and whether it was refused.
fn on_pes(runs: &[&str], pes: u32, more: &[&str]) -> Value {
    let change = format!("set pes ={pes}");
    let output = partune(&[&["whatif", "--json", "--change", &change], more, runs].concat());
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let is_refused = document["refused"].as_array().is_some_and(|it| !it.is_empty());
    assert_eq!(output.status.code(), Some(i32::from(is_refused)), "{}", text(&output.stderr));
    document
}

#[test]
fn other_numbers_of_pes_are_predicted_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = |name: &str, options: &[&str]| {
        let to = folder.path().join(name).display().to_string();
        let made = partune(&[&["synth", "--events", "6K", "-o", &to], options].concat());
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
        to
    };
    let [two, four, eight] = ["2", "4", "8"].map(|ranks| made(ranks, &["--ranks", ranks]));
    let [threads, half] = [("threads", "4"), ("half", "2")].map(|it| made(it.0, &["--ranks", it.1, "--threads", "2"]));
    let again = made("again", &["--ranks", "4", "--seed", "7"]);
    let (all, few) = ([&*four, &*eight, &*two, &*again], [&*two, &*four]);
    let said = on_pes(&all, 16, &[]);
    let (number, other) = (|of: &Value, name: &str| of[name].as_f64().expect("a number"), &said["other_pes"]);
    assert_eq!(said["refused"].as_array().map(Vec::len), Some(0), "{said:#}");
    assert_eq!(said["archive"], eight);
    let (low, high) = (number(other, "predicted_low_s"), number(other, "predicted_high_s"));
    let (run, predicted) = (number(&said, "run_s"), number(&said, "predicted_run_s"));
    assert!(0.0 <= low && low <= predicted && predicted <= high, "{said:#}");
    assert!((run - predicted - number(&said, "saves_s")).abs() < 1e-9);
    assert!((run - high - number(&said, "saves_low_s")).abs() < 1e-9);
    let runs: Vec<(i64, i64)> = (0..3)
        .map(|at| &other["runs"][at])
        .map(|run| (run["pes"].as_i64().unwrap_or(0), run["runs"].as_i64().unwrap_or(0)))
        .collect();
    assert_eq!(runs, [(2, 1), (4, 2), (8, 1)]);
    let rows = other["places"].as_array().expect("a list");
    let sum: f64 = rows.iter().map(|row| number(row, "predicted_s")).sum();
    assert!((sum - predicted).abs() < 1e-9, "{said:#}");
    // A recorded number is predicted by the others, and by none where there are not two.
    let recorded = on_pes(&all, 8, &[]);
    assert_eq!((&recorded["other_pes"]["is_recorded"], &recorded["archive"]), (&false.into(), &Value::from(&*eight)));
    assert_eq!(recorded["other_pes"]["runs"][2]["fitted_s"], Value::Null);
    let alone = on_pes(&few, 4, &[]);
    assert_eq!((&alone["other_pes"]["is_recorded"], &alone["predicted_run_s"]), (&true.into(), &alone["run_s"]));
    // Where it cannot be said, the reason is.
    let ring = workspace().join("examples/archives/ring").display().to_string();
    let sums = workspace().join("examples/archives/ring_profile").display().to_string();
    for (runs, pes, more, reason) in [
        (&[&*two][..], 8, &[][..], "two numbers of PEs"),
        (&[&*four, &*again], 8, &[], "all runs have 4 PEs"),
        (&few, 33, &[], "record a run that is nearer"),
        (&few, 8, &["--change", "scale cpu speed*2"], "together with other changes"),
        (&[&*two, &*ring], 8, &[], "different programs"),
        (&[&*two, &*threads], 12, &[], "only one of both changes"),
        (&[&*threads, &*half], 11, &[], "no multiple"),
        (&[&*two, &*sums], 8, &[], "is a profile"),
    ] {
        let said = on_pes(runs, pes, more);
        let reasons: Vec<&str> =
            said["refused"].as_array().into_iter().flatten().filter_map(|it| it["reason"].as_str()).collect();
        assert!(reasons.iter().any(|it| it.contains(reason)), "{reason}: {said:#}");
        assert!(runs.len() == 1 || said["saves_s"] == 0.0, "{said:#}");
        let change = format!("set pes ={pes}");
        let told = partune(&[&["whatif", "--change", &change], more, runs].concat());
        assert!(text(&told.stdout).contains("  refused    set pes"), "{}", text(&told.stdout));
    }
    for wrong in [&["whatif", &two, &four][..], &["whatif", &two, &four, "--change", "set pes =8", "-o", "changed"]] {
        let output = partune(wrong);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("remedy: "), "{}", text(&output.stderr));
    }
}

#[test]
fn the_committed_schemas_are_current() {
    for (command, file) in [
        ("whatif", "docs/whatif.schema.json"),
        ("advise", "docs/advice.schema.json"),
        ("kernel", "docs/kernel.schema.json"),
        ("tune", "docs/tune.schema.json"),
        ("run", "docs/adapted.schema.json"),
        ("hints", "docs/hints.schema.json"),
        ("couple", "docs/couple.schema.json"),
        ("model data", "docs/model-data.schema.json"),
        ("model decide", "docs/model-decide.schema.json"),
        ("model tune", "docs/model-tune.schema.json"),
        ("model calibrate", "docs/model-calibrate.schema.json"),
    ] {
        let committed = std::fs::read_to_string(workspace().join(file)).unwrap_or_default();
        let words: Vec<&str> = command.split(' ').chain(["--schema"]).collect();
        let current = text(&partune(&words).stdout);
        assert!(committed == current, "run: cargo run -p partune -- {command} --schema > {file}");
    }
}

/// Each finding's pattern with what `analyze` predicts that mending it saves.
fn mended(text: &str) -> Vec<(String, Option<f64>)> {
    let document: Value =
        serde_json::from_str(&partune_report::document(&diagnosis(text), "run")).expect("the document is JSON");
    let findings = document["findings"].as_array().expect("a list");
    let of = |it: &Value| {
        let predicted = it["advice"].as_array().into_iter().flatten().filter_map(|it| it["predicted_gain_s"].as_f64());
        (it["pattern"].as_str().unwrap_or_default().to_owned(), predicted.reduce(f64::max))
    };
    findings.iter().map(of).collect()
}

#[test]
fn findings_are_in_the_order_of_what_mending_them_saves() {
    // Three PEs lose more by waiting for PE 0 than all do by waiting for PE 2, but the run waits for PE 2.
    let receiver =
        "main 0..1000 { repeat 10 every 100 { MPI_Recv 0..72 recv(from=0, bytes=8) MPI_Allreduce 72..100 allreduce } }";
    let run = &format!(
        "resolution 1000
         pe 0: main 0..1000 {{ repeat 10 every 100 {{ produce 0..70 MPI_Send 70..71 send(to=1, bytes=8) send(to=3, bytes=8) send(to=4, bytes=8)
             MPI_Allreduce 71..100 allreduce }} }}
         pe 1: {receiver}
         pe 2: main 0..1000 {{ repeat 10 every 100 {{ heavy 0..98 MPI_Allreduce 98..100 allreduce }} }}
         pe 3: {receiver}
         pe 4: {receiver}"
    );
    let found = mended(run);
    let position = |pattern: &str| found.iter().position(|it| it.0 == pattern).expect("it is found");
    assert!(position("wait_at_nxn") < position("late_sender"), "{found:?}");
    let saved = found[position("wait_at_nxn")].1.expect("it is predicted");
    assert!(saved > 0.05, "{found:?}");
    let ranked: Vec<f64> = found.iter().map(|it| it.1.unwrap_or(0.0)).collect();
    assert!(ranked.is_sorted_by(|a, b| a >= b), "{found:?}");
}

#[test]
fn analyze_predicts_what_advise_does() {
    let run = turns([100, 60, 60, 60]);
    let found = mended(&run);
    let advised = advice(&run, true);
    let saves = advised["advice"][0]["saves_s"].as_f64();
    assert_eq!(found[0].1, saves, "{found:?}");
    let options = TextOptions { findings: None, table_rows: 0, style: Style::PLAIN };
    let text = partune_report::text(&diagnosis(&run), "run", options);
    assert!(text.contains("fix         balance solve saves 300 ms, 29.4 % of the run"), "{text}");
    assert!(text.contains("what to mend first"), "{text}");
    // What was not looked for is not said.
    let request = Request { predicts: false, ..Request::default() };
    let without = partune_engine::analyze(partune_testkit::trace(&run), &request, &());
    let text = partune_report::text(&without, "run", options);
    assert!(text.contains("what costs most") && !text.contains("fix  "), "{text}");
    assert!(!partune_report::document(&without, "run").contains("\"predicted_gain_s\": 0"));
}
