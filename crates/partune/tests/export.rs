//! What other tools get: Chrome's trace format and Parquet tables, read back with readers that are not ours.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use partune_engine::inside::{self, Inside};
use partune_engine::{Diagnosis, Request};
use serde_json::Value;

use crate::archives::{archives, workspace};

fn diagnosis(anchor: &Path) -> Diagnosis {
    partune_engine::analyze(partune_engine::open(anchor, &()).expect("the archive opens"), &Request::default(), &())
}

/// Picoseconds of a time in microseconds.
fn picos(value: &Value) -> i128 {
    (value.as_f64().expect("a time is a number") * 1e6).round() as i128
}

#[test]
fn a_time_line_is_what_the_format_asks_for() {
    for archive in archives() {
        let name = &archive.name;
        let diagnosis = diagnosis(&archive.anchor);
        let mut out = Vec::new();
        let written = partune_report::chrome(&diagnosis, &mut out);
        if diagnosis.run.is_profile() {
            assert!(matches!(written, Err(partune_report::ExportError::Profile)) && out.is_empty(), "{name}");
            continue;
        }
        written.expect("memory takes everything");
        let document: Value = serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{name}: {error}"));
        let events = document["traceEvents"].as_array().expect("there is a list of events");
        let of = |kind: &str| events.iter().filter(|it| it["ph"] == kind).collect::<Vec<_>>();
        let Inside { trace, index, waits: found, .. } = inside::of(&diagnosis);
        let visits: usize = trace.active_pes().map(|pe| trace.streams()[pe].visits.len()).sum();
        assert_eq!(of("X").len(), visits + found.len(), "{name}");
        let waits: Vec<f64> = of("X")
            .into_iter()
            .filter(|it| it["cat"] == "wait")
            .filter_map(|it| it["args"]["seconds"].as_f64())
            .collect();
        let expected: Vec<f64> = found.iter().map(|wait| trace.clock().seconds(wait.duration())).collect();
        // The reader of JSON may be off in the last digit.
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= b * 1e-12;
        assert!(waits.len() == expected.len() && waits.iter().zip(&expected).all(same), "{name}: {waits:?}");
        // Of sensors that are no PEs, too.
        let samples = trace.streams().iter().flat_map(|stream| &stream.metrics);
        assert_eq!(of("C").len(), samples.filter(|sample| sample.value.is_finite()).count(), "{name}");
        let (begins, ends) = (of("s"), of("f"));
        let messages = begins.iter().filter(|it| it["cat"] == "message").count();
        assert_eq!(messages, index.messages.len(), "{name}");
        arrows_have_both_ends(name, &begins, &ends);
        for event in events {
            assert!(event["pid"].is_u64() && event["tid"].is_u64() && event["name"].is_string(), "{name}: {event}");
            assert!(event["ph"] == "M" || picos(&event["ts"]) >= 0, "{name}: {event}");
        }
        // Visits of a thread nest, and arrows begin and end inside of one.
        let mut threads: BTreeMap<(u64, u64), Vec<(i128, i128)>> = BTreeMap::new();
        let thread = |event: &Value| (event["pid"].as_u64().unwrap_or(0), event["tid"].as_u64().unwrap_or(0));
        for event in of("X") {
            let begin = picos(&event["ts"]);
            threads.entry(thread(event)).or_default().push((begin, begin + picos(&event["dur"])));
        }
        for (thread, visits) in &threads {
            let mut open: Vec<i128> = Vec::new();
            for (begin, end) in visits {
                // A double holds sixteen digits; a reader's sums may be off in the last.
                while open.last().is_some_and(|last| *last <= *begin + 2000) {
                    open.pop();
                }
                assert!(open.last().is_none_or(|last| *end <= *last + 2000), "{name}: {thread:?} at {begin}");
                open.push(*end);
            }
        }
        for event in begins.iter().chain(&ends) {
            assert!(threads.contains_key(&thread(event)), "{name}: {event}");
        }
    }
}

/// A packed time line is the plain one for a reader that is not ours.
#[test]
fn a_time_line_can_be_packed() {
    let folder = tempfile::tempdir().expect("there is room");
    let [plain, packed] = ["run.json", "run.json.gz"].map(|name| folder.path().join(name));
    for to in [&plain, &packed] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        let output =
            command.arg("convert").arg(workspace().join("examples/archives/ring")).arg(to).output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let unpacked = Command::new("gzip").arg("-dc").arg(&packed).output().expect("gzip is on every system");
    let plain = std::fs::read(plain).expect("a time line");
    assert!(unpacked.status.success() && unpacked.stdout == plain);
    assert!(std::fs::metadata(packed).expect("a time line").len() * 5 < plain.len() as u64);
}

/// Each arrow has a number of its own, one begin and one end, the begin first.
fn arrows_have_both_ends(name: &str, begins: &[&Value], ends: &[&Value]) {
    let by_id = |events: &[&Value]| -> BTreeMap<u64, (String, i128)> {
        let of = |it: &&Value| (it["id"].as_u64().expect("it is a number"), (it["cat"].to_string(), picos(&it["ts"])));
        events.iter().map(of).collect()
    };
    let (from, to) = (by_id(begins), by_id(ends));
    assert_eq!((from.len(), to.len()), (begins.len(), ends.len()), "{name}: a number comes twice");
    assert_eq!(from.len(), to.len(), "{name}: an arrow has one end");
    for (id, (cat, begin)) in &from {
        let (other, end) = to.get(id).unwrap_or_else(|| panic!("{name}: arrow {id} does not end"));
        assert!(cat == other && begin <= end, "{name}: {cat} {id} from {begin} to {end}");
    }
}

#[test]
fn tables_hold_what_the_trace_and_the_findings_do() {
    for archive in archives() {
        let name = &archive.name;
        let diagnosis = diagnosis(&archive.anchor);
        let folder = tempfile::tempdir().expect("there is room for tables");
        partune_report::parquet(&diagnosis, &mut |file| partune_engine::create(folder.path(), file))
            .expect("tables are written");
        let reader = |file: &str| {
            let file = File::open(folder.path().join(file)).expect("the table is there");
            SerializedFileReader::new(file).expect("it is a table")
        };
        let rows = |file: &str| reader(file).metadata().file_metadata().num_rows() as usize;
        for file in partune_report::PARQUET_FILES {
            rows(file);
        }
        let Inside { trace, waits, .. } = inside::of(&diagnosis);
        let operations: usize = trace.active_pes().map(|pe| trace.streams()[pe].operations.len()).sum();
        assert_eq!(rows("operations.parquet"), operations, "{name}");
        assert_eq!(rows("pes.parquet"), trace.pes().len(), "{name}");
        assert_eq!(rows("findings.parquet"), diagnosis.findings.len(), "{name}");

        let column = |file: &str, column: &str| -> Vec<f64> {
            let reader = reader(file);
            let schema = reader.metadata().file_metadata().schema_descr_ptr();
            let at = schema.columns().iter().position(|it| it.name() == column).expect("the column is there");
            let rows = reader.get_row_iter(None).expect("rows are read");
            rows.map(|row| row.and_then(|row| row.get_double(at)).expect("it is a number")).collect()
        };
        let waits: partune_base::Span = waits.iter().map(partune_analysis::Wait::duration).sum();
        let waited: f64 = column("operations.parquet", "wait_s").iter().sum();
        let expected = trace.clock().seconds(waits);
        assert!((waited - expected).abs() <= 1e-9 + expected * 1e-9, "{name}: {waited} of {expected} s");
        let lost: Vec<f64> = diagnosis.findings.iter().map(|it| trace.clock().seconds(it.finding.time)).collect();
        assert_eq!(column("findings.parquet", "seconds"), lost, "{name}");
    }
}

/// An operation that waits for another PE, and then for its own put: 2 + 26 ms in one row. PE 1 is late since PE 0 sent late.
#[test]
fn tables_have_all_waits_of_an_operation_and_who_passed_them_on() {
    let rows = |text: &str, file: &str| -> Vec<String> {
        let diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
        let folder = tempfile::tempdir().expect("there is room for tables");
        let mut create = |file: &str| partune_engine::create(folder.path(), file);
        partune_report::parquet(&diagnosis, &mut create).expect("tables are written");
        let reader = SerializedFileReader::new(File::open(folder.path().join(file)).expect("it is there"))
            .expect("it is a table");
        let rows = reader.get_row_iter(None).expect("rows are read");
        rows.map(|row| row.expect("a row").to_string()).collect()
    };
    let two = rows(
        "resolution 1000
             pe 0: main 0..50 { shmem_putmem_nbi 0..1 put(to=1, bytes=64, id=7) work 1..10 shmem_barrier_all 10..40 barrier complete(7, kind=remote)@38 }
             pe 1: main 0..50 { work 0..12 shmem_barrier_all 12..40 barrier }",
        "operations.parquet",
    );
    let barrier: Vec<&String> = two.iter().filter(|row| row.contains("shmem_barrier_all")).collect();
    assert!(
        barrier[0].contains("wait_s: 0.028") && barrier[0].contains(r#"wait: "wait_at_barrier, competing_put_get""#),
        "{barrier:?}"
    );
    assert!(
        barrier[0].contains("cause: 1") && barrier[1].contains("wait_s: 0E0") && barrier[1].contains(r#"wait: """#),
        "{barrier:?}"
    );

    let chain = rows(
        "resolution 1000
         pe 0: main 0..90 { slow 0..50 MPI_Send 50..51 send(to=1) work 51..90 }
         pe 1: main 0..90 { MPI_Recv 10..52 recv(from=0) MPI_Send 52..53 send(to=2) work 53..90 }
         pe 2: main 0..90 { MPI_Recv 10..54 recv(from=1) work 54..90 }",
        "finding_causes.parquet",
    );
    assert!(
        chain.iter().any(|row| row.contains("main > slow") && row.contains("MPI_Recv in main of PE 1")),
        "{chain:?}"
    );
}

#[test]
fn a_time_line_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let to = folder.path().join("trace.json");
    std::fs::write(&to, "mine").expect("it is written");
    let from = archives().remove(0).anchor;
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_partune"))
        .args([Path::new("convert"), &from, &to])
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("remedy"));
    assert_eq!(std::fs::read_to_string(&to).expect("it is there"), "mine");
}
