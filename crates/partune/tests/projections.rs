//! Projections logs, the whole way: the example, whose answers are computed by hand, and what recorded runs become as OTF2 archives.

use std::path::Path;
use std::process::{Command, Output};

use partune_trace::Trace;
use serde_json::Value;

use crate::archives::{shared, workspace};

fn partune(args: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn analyze(path: &Path) -> Value {
    serde_json::from_slice(&partune(&["analyze", "--json", &path.display().to_string()]).stdout).expect("a document")
}

fn microseconds(value: &Value) -> f64 {
    (value.as_f64().unwrap_or(f64::NAN) * 1e6).round()
}

/// PE 0 makes the workers at 100, for which PEs 1 and 2 idle since 50 and 60: 50 + 40. It works from 130 to 600 and sends to both at 500; PE 1 idles for that since 160: 340;
/// PE 2 is busy when it comes: nothing. PE 1 answers at 800, for which PE 0 idles since 650: 150. Nobody waits for what PE 1 idles for last.
#[test]
fn the_example_by_hand() {
    for name in ["", "steps.sts", "steps.1.log"] {
        let document = analyze(&workspace().join("examples/archives/projections").join(name));
        assert_eq!(document["quality"].as_array().map(Vec::len), Some(0), "{}", document["quality"]);
        assert_eq!((&document["pes"], &document["events"]), (&3.into(), &57.into()));
        let findings = document["findings"].as_array().expect("findings");
        let late: Vec<&Value> = findings.iter().filter(|it| it["pattern"] == "late_sender").collect();
        let [late] = late[..] else { panic!("one place waits: {findings:?}") };
        assert_eq!((microseconds(&late["seconds"]), &late["construct"]), (580.0, &"idle".into()));
        let of_pes: Vec<(u64, f64)> = late["pes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|it| (it["pe"].as_u64().expect("a PE"), microseconds(&it["seconds"])))
            .collect();
        assert_eq!(of_pes, [(0, 150.0), (1, 390.0), (2, 40.0)]);
        assert_eq!(late["causes"][0]["pe"], 0, "{late}");
    }
}

/// Everything that logs tell of messages, objects and what ran on them is in the archive that is written.
#[test]
fn an_archive_holds_what_logs_hold() {
    let recorded = ["charm-local-ge-4", "charm-local-jacobi2d-8-gz", "pipit-pingpong-2", "projections-test"];
    let recorded = shared("projections").into_iter().flat_map(|folder| recorded.map(|name| folder.join(name)));
    let summed = summed();
    for path in recorded.chain([workspace().join("examples/archives/projections"), summed.path().to_path_buf()]) {
        let folder = tempfile::tempdir().expect("there is room for files");
        let copy = folder.path().join("copy");
        partune(&["convert", &path.display().to_string(), &copy.display().to_string()]);
        let read = |path: &Path| partune_engine::inside::read(path, &()).expect("it opens");
        let (logs, archive) = (read(&path), read(&copy));
        assert_eq!(objects(&logs), objects(&archive), "{}", path.display());
        for (before, after) in logs.streams().iter().zip(archive.streams()) {
            assert!(before.visits.enter == after.visits.enter && before.visits.exit == after.visits.exit);
            assert!(before.executions == after.executions && before.metrics.len() == after.metrics.len());
            assert!(before.contributions == after.contributions);
            assert!(before.sends == after.sends && before.recvs == after.recvs, "{}", path.display());
        }
        let (before, after) = (analyze(&path), analyze(&copy));
        for key in ["efficiency", "bounds", "gaps"] {
            assert_eq!(before[key], after[key]);
        }
    }
}

/// The example's workers, of which each contributes to a sum that its main object gets.
fn summed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room for files");
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).expect("it is written");
    let table = workspace().join("examples/archives/projections/steps.sts");
    write("t.sts", &std::fs::read(table).expect("the example is there"));
    for pe in 0..3 {
        let sum = if pe == 0 {
            "14 30 0\n15 45 0\n2 0 3 45 -1 -1 0 0 0 0 0 0 0\n201 99 98 1\n3 0 3 46 -1 0 0 0\n"
        } else {
            ""
        };
        let (begin, part) = (10 + pe, 20 + pe);
        let work =
            format!("2 0 2 {begin} -1 -1 0 0 {pe} 0\n200 0 3 {part} 1 {pe} 8 1 0 7 0 99\n3 0 2 29 -1 {pe} 0 0\n");
        write(&format!("t.{pe}.log"), format!("PROJECTIONS-RECORD 0\n6 0\n{work}{sum}7 100\n").as_bytes());
    }
    folder
}

fn objects(trace: &Trace) -> Vec<(String, Vec<i32>, Option<u32>)> {
    let object = |it: &partune_trace::Object| {
        (trace.strings().get(it.class).to_owned(), it.index.to_vec(), it.home.some().map(|pe| pe.0))
    };
    trace.objects().iter().map(object).collect()
}

/// The commands take logs as any other archive.
#[test]
fn every_command_takes_them() {
    let example = workspace().join("examples/archives/projections/steps.sts").display().to_string();
    let folder = tempfile::tempdir().expect("there is room for files");
    let page = folder.path().join("page.html").display().to_string();
    partune(&["analyze", "--full", &example]);
    partune(&["compare", &example, &example]);
    partune(&["whatif", &example, "--change", "scale cpu speed*2"]);
    partune(&["report", &example, "-o", &page]);
    assert!(std::fs::read_to_string(&page).expect("it was written").contains("Worker::work"));
}

/// A row of a table by the value of a column.
fn row<'a>(document: &'a Value, table: &str, column: &str, value: &str) -> &'a Value {
    let rows = document[table].as_array().into_iter().flatten();
    let mut found = rows.filter(|row| row[column] == value);
    found.next().unwrap_or_else(|| panic!("no {value} in {table}: {}", document[table]))
}

/// Worker 0 sends to workers 1 and 2; it has 10 and 470 us of work, worker 1 has 5 and 310, worker 2 has 35, 520 and 195.
#[test]
fn objects_of_the_example_by_hand() {
    let document = analyze(&workspace().join("examples/archives/projections"));
    let worker = row(&document, "arrays", "class", "Worker");
    assert_eq!((&worker["objects"], &worker["executions"], &worker["messages"]), (&3.into(), &7.into(), &2.into()));
    assert!((microseconds(&worker["time"]) - 1545.0).abs() < 0.5, "{worker}");
    assert_eq!(row(&document, "arrays", "class", "Main")["executions"], 1);
    let offsets: Vec<(Option<f64>, Option<u64>)> = document["offsets"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| (row["i"].as_f64(), row["messages"].as_u64()))
        .collect();
    assert_eq!(offsets, [(Some(1.0), Some(1)), (Some(2.0), Some(1))]);
    assert!(document["object_phases"].is_null(), "{}", document["object_phases"]);
    // What has no objects has no arrays.
    assert!(analyze(&workspace().join("examples/archives/ring")).get("arrays").is_none_or(Value::is_null));
}

/// Jacobi: 4 by 4 blocks that are no ring, for 90 turns: 12 pairs of neighbours in each of four directions.
#[test]
fn a_stencil_is_found() {
    let Some(folder) = shared("projections") else { return };
    let document = analyze(&folder.join("charm-local-jacobi2d-8-gz"));
    let jacobi = row(&document, "arrays", "class", "Jacobi");
    assert_eq!((&jacobi["objects"], &jacobi["dimensions"]), (&16.into(), &2.into()));
    assert_eq!(jacobi["locality"], "regular", "{jacobi}");
    let offsets: Vec<(i64, i64, i64)> = document["offsets"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| ["i", "j", "messages"].map(|name| row[name].as_f64().expect("a number") as i64).into())
        .collect();
    let mut directions: Vec<(i64, i64)> = offsets.iter().map(|(i, j, _)| (*i, *j)).collect();
    directions.sort_unstable();
    assert_eq!(directions, [(-1, 0), (0, -1), (0, 1), (1, 0)]);
    // A message of the runtime's own, or one on the border of the logs, may be taken for one more.
    assert!(offsets.iter().all(|(_, _, messages)| (1076..1085).contains(messages)), "{offsets:?}");
    // Each of its 90 iterations ends with a reduction, whose result all wait for.
    let phases = row(&document, "object_phases", "kind", "synchronous");
    assert_eq!((&phases["phases"], &phases["varying"]), (&90.into(), &"even".into()), "{phases}");
}

/// Gaussian elimination of 64 rows in 8 objects: each pivot goes to all, and the next one comes after it.
#[test]
fn pivots_are_phases() {
    let Some(folder) = shared("projections") else { return };
    let document = analyze(&folder.join("charm-local-ge-4"));
    let rows = row(&document, "arrays", "class", "Rows");
    assert_eq!((&rows["objects"], &rows["locality"]), (&8.into(), &"all_to_all".into()), "{rows}");
    let phases = row(&document, "object_phases", "kind", "initiation");
    assert_eq!(phases["begun_by"]["name"].as_str().or(phases["begun_by"].as_str()), Some("Rows::pivot"), "{phases}");
    assert!((62..=64).contains(&phases["phases"].as_u64().unwrap_or(0)), "{phases}");
}
