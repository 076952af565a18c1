//! Paraver traces, the whole way: the example, whose answers are computed by hand, and EPOCH on 1 to 16 ranks, whose factors BSC computed
//! with its own tools and Dimemas.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use partune_base::{PeId, Span, Time};
use partune_trace::{Trace, VisitIx};
use serde_json::Value;

use crate::archives::{shared, workspace};

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs")
}

fn analyze(trace: &Path) -> Value {
    let output = partune(&["analyze", "--json", &trace.display().to_string()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a document")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// As far apart as numbers are that were rounded when they were written.
fn close(a: f64, b: f64, by: f64) -> bool {
    (a - b).abs() <= by
}

/// Three ranks between 20 and 980 µs. Rank 1 is in `MPI_Recv` from 100 and the message is sent at 400: 300. The barrier is entered at 500,
/// 520 and 700: 200 + 180. Rank 1 is in `MPI_Bcast` from 750 and its root enters at 850: 100. Nobody else waits.
#[test]
fn the_example_by_hand() {
    let document = analyze(&workspace().join("examples/archives/paraver"));
    assert_eq!(document["quality"].as_array().map(Vec::len), Some(0), "{}", document["quality"]);
    assert_eq!((&document["pes"], &document["events"]), (&3.into(), &34.into()));
    let findings = document["findings"].as_array().expect("findings");
    let said: Vec<String> = findings
        .iter()
        .map(|it| {
            let microseconds = (number(&it["seconds"]) * 1e6).round();
            let place = &it["location"];
            format!("{} {microseconds} {}:{}", it["pattern"], place["file"], place["line"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        said[..3],
        ["wait_at_barrier 380 main.c:14", "late_sender 300 exchange.c:33", "late_broadcast 100 main.c:15"],
        "{said:?}"
    );
    let waiting = findings
        .iter()
        .filter(|it| it["pattern"].as_str().is_some_and(|it| it.starts_with("late") || it.starts_with("wait")));
    assert_eq!(waiting.count(), 3, "{said:?}");
    let cause = &findings[1]["causes"][0];
    assert_eq!((&cause["pe"], &cause["location"]["line"]), (&0.into(), &31.into()));
    // Computing: 20..400, 405..500, 702..850, 853..980 of rank 0, and so on; the run takes 960.
    let useful = [380 + 95 + 148 + 127, 80 + 110 + 48 + 125, 680 + 278];
    let efficiency = &document["efficiency"];
    let sum: i32 = useful.iter().sum();
    assert!(close(number(&efficiency["parallel"]), f64::from(sum) / 3.0 / 960.0, 1e-12));
    assert!(close(number(&efficiency["load_balance"]), f64::from(sum) / 3.0 / 958.0, 1e-12));
}

/// What the waits of a trace are, as pattern, microseconds and construct.
fn waits(body: &str) -> Vec<(String, f64, String)> {
    let folder = tempfile::tempdir().expect("there is room for files");
    let path = folder.path().join("trace.prv");
    std::fs::write(&path, body).expect("a file is written");
    let document = analyze(&path);
    let is_wait =
        |it: &&Value| it["pattern"].as_str().is_some_and(|it| it.starts_with("late") || it.starts_with("wait"));
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let findings = document["findings"].as_array().into_iter().flatten().filter(is_wait);
    findings.map(|it| (text(&it["pattern"]), (number(&it["seconds"]) * 1e6).round(), text(&it["construct"]))).collect()
}

/// Rank 1 posts a receive in 10..12 and is in `MPI_Waitall` in 40..310. Rank 0 sends without blocking at `sent`.
fn non_blocking(sent: u32) -> String {
    let from = sent + 1;
    format!(
        "#Paraver (01/02/2026 at 10:11):1000_us:1(4):1:2(1:1,1:1),1\nc:1:1:2:1:2\n\
         2:2:1:2:1:10:50000001:4\n2:2:1:2:1:12:50000001:0\n2:2:1:2:1:40:50000001:6\n2:2:1:2:1:310:50000001:0\n\
         2:1:1:1:1:{sent}:50000001:3\n2:1:1:1:1:{from}:50000001:0\n3:1:1:1:1:{sent}:{from}:2:1:2:1:12:310:100:2\n\
         2:1:1:1:1:320:50000001:5\n2:1:1:1:1:325:50000001:0\n2:2:1:2:1:330:40000001:0\n"
    )
}

#[test]
fn a_late_sender_of_a_non_blocking_receive() {
    let late = |microseconds| vec![("late_sender".to_owned(), microseconds, "MPI_Waitall".to_owned())];
    assert_eq!(waits(&non_blocking(300)), late(260.0));
    assert_eq!(waits(&non_blocking(20)), vec![], "it was sent before anybody waited");
}

/// Two threads in 10..60; the first is in the barrier from 30 on, the second comes at `second`.
#[test]
fn a_barrier_of_threads() {
    let team = |second: u32| {
        format!(
            "#Paraver (01/02/2026 at 10:11):100_us:1(4):1:1(2:1)\n2:1:1:1:1:0:40000001:1\n2:1:1:1:1:10:60000001:3\n\
             2:1:1:1:1:11:60000018:1\n2:2:1:1:2:12:60000018:1\n2:1:1:1:1:30:60000005:1\n2:2:1:1:2:{second}:60000005:1\n\
             2:1:1:1:1:52:60000005:0\n2:2:1:1:2:53:60000005:0\n2:1:1:1:1:55:60000018:0\n2:2:1:1:2:55:60000018:0\n\
             2:1:1:1:1:60:60000001:0\n2:1:1:1:1:100:40000001:0\n"
        )
    };
    assert_eq!(waits(&team(50)), [("wait_at_barrier".to_owned(), 20.0, "omp barrier".to_owned())]);
    assert_eq!(waits(&team(30)), [], "they came together");
}

/// Without the small files there are no names of functions, which is said; everything else is as it was.
#[test]
fn without_names() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let from = workspace().join("examples/archives/paraver/trace.prv");
    let to = folder.path().join("trace.prv");
    std::fs::copy(&from, &to).expect("a file is copied");
    let (whole, bare) = (analyze(&from), analyze(&to));
    assert_eq!(whole["efficiency"], bare["efficiency"]);
    let severities: Vec<&Value> = bare["quality"].as_array().into_iter().flatten().map(|it| &it["severity"]).collect();
    assert_eq!(severities, ["info", "info"]);
    let pattern = |document: &Value| document["findings"][1]["pattern"].clone();
    assert_eq!((pattern(&whole), &bare["findings"][1]["construct"]), (pattern(&bare), &"MPI_Recv".into()));
}

#[test]
fn what_is_no_trace_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().expect("there is room for files");
    for (name, bytes, said) in [
        ("empty.prv.gz", &b"\x1f\x8b"[..], "cannot read empty.prv.gz"),
        ("other.prv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", "not a Paraver trace"),
        ("text.prv", b"1:1:1:1:1:0:10:1\n", "not a format that partune knows (OTF2, Paraver, Projections)"),
        ("nothing.prv", b"#Paraver (1/1/26 at 1:1):9_ns:0:1:1(1:1)\n", "holds no event"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file is written");
        let output = partune(&["analyze", &path.display().to_string()]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(said) && error.contains("remedy: "), "{name}: {error}");
    }
}

/// A run of EPOCH, and what BSC's tools say of it.
struct Epoch {
    trace: PathBuf,
    /// Parallel efficiency, load balance, communication, serialisation and transfer efficiency.
    factors: [f64; 5],
    /// Run time on Dimemas's ideal network, and the longest and mean time of computation, in seconds.
    ideal: f64,
    longest: f64,
    mean: f64,
    run: f64,
}

/// All five runs; none where the shared traces are not present.
fn epoch() -> Vec<Epoch> {
    let Some(folder) = shared("paraver/pypop-epoch-mpi-1to16") else { return Vec::new() };
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it lies beside the traces");
    let factors: Vec<Vec<f64>> = text("precomputed.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').filter_map(|field| field.parse().ok()).collect())
        .collect();
    // One line a figure, in microseconds, one field a run.
    let figures = text("modelfactors.csv");
    let figure = |name: &str, run: usize| -> f64 {
        let line = figures.lines().find(|line| line.starts_with(name)).expect("a figure");
        line.split(';').nth(run + 1).and_then(|field| field.parse::<f64>().ok()).expect("a number") / 1e6
    };
    let run = |(run, row): (usize, &Vec<f64>)| Epoch {
        trace: folder.join(format!("epoch_{}proc.prv.gz", row[0])),
        factors: [row[1], row[2], row[3], row[4], row[5]],
        ideal: figure("#Runtime (ideal)", run),
        longest: figure("#Useful duration (maximum)", run),
        mean: figure("#Useful duration (average)", run),
        run: figure("#Runtime (us)", run),
    };
    factors.iter().enumerate().map(run).collect()
}

/// BSC's time of computation: all of the run but calls of MPI, and what the recorder does. A process computes from its first event on.
fn computing(trace: &Trace, pe: PeId) -> Span {
    let stream = &trace.streams()[pe];
    let (Some(begin), Some(end)) = (stream.begin(), stream.end()) else { return Span::ZERO };
    let of = |visit: &VisitIx| stream.visits.at(*visit).duration();
    let operations: Span = stream.operations.iter().map(of).sum();
    let pauses: Span = stream.pauses.iter().map(|pause| pause.end.since(pause.begin)).sum();
    end.since(begin) - operations - pauses
}

/// BSC's factors are those of the whole trace. Computed so from what was read they are BSC's to five digits, and the ideal run time
/// that follows from the dependences is that of Dimemas's simulation to 0.2 %.
#[test]
fn epoch_is_read_as_bsc_reads_it() {
    for Epoch { trace: path, factors, ideal, longest, mean, run } in epoch() {
        let trace = partune_engine::inside::read(&path, &()).expect("the trace opens");
        let name = path.display();
        assert!(trace.quality().is_empty(), "{name}: {:?}", trace.quality());
        let seconds = |span: Span| trace.clock().seconds(span);
        let pes: Vec<PeId> = trace.cpu_pes().collect();
        let computing: Vec<f64> = pes.iter().map(|pe| seconds(computing(&trace, *pe))).collect();
        let (most, sum) = (computing.iter().copied().fold(0.0, f64::max), computing.iter().sum::<f64>());
        let average = sum / pes.len() as f64;
        let whole = seconds(trace.end().since(Time::ZERO));
        // The recorder's own start, one microsecond, is computing for us.
        for (ours, theirs) in [(whole, run), (most, longest), (average, mean)] {
            assert!(close(ours, theirs, 3e-6), "{name}: {ours} {theirs}");
        }
        for (ours, theirs) in [average / whole, average / most, most / whole].into_iter().zip(factors) {
            assert!(close(ours, theirs, 1e-5), "{name}: {ours} {theirs}");
        }
        let efficiency = analyze(&path)["efficiency"].clone();
        let saved = number(&efficiency["run_seconds"]) - number(&efficiency["ideal_seconds"]);
        assert!(close((whole - saved) / ideal, 1.0, 0.002), "{name}: {} {ideal}", whole - saved);
    }
}

/// What `analyze` shows leaves out what lies before the end of `MPI_Init` and after the begin of `MPI_Finalize`, where all ranks
/// compute alike. Where that is little of the run, its factors are BSC's within 0.3 points. Transfer is so for all runs; what it is
/// multiplied with is less by as much as start-up adds: never more than BSC's.
#[test]
fn epoch_has_the_factors_of_bsc() {
    for Epoch { trace, factors, run, .. } in epoch() {
        let efficiency = analyze(&trace)["efficiency"].clone();
        let names = ["parallel", "load_balance", "communication", "serialization", "transfer"];
        let ours = names.map(|name| number(&efficiency[name]));
        let window = number(&efficiency["run_seconds"]) / run;
        for ((name, ours), theirs) in names.iter().zip(ours).zip(factors) {
            if window > 0.9 || *name == "transfer" {
                assert!(close(ours, theirs, 0.003), "{}: {name} {ours} {theirs}", trace.display());
            }
        }
        // The whole run is the window, and a rest in which everybody computes: BSC's efficiency is the mean of both by their time.
        let all = ours[0] * window + (1.0 - window);
        assert!(close(all, factors[0], 0.006), "{}: {all} {}", trace.display(), factors[0]);
    }
}

/// Speed-up and efficiency of whole runs are BSC's speed-up and global efficiency.
#[test]
fn epoch_scales_as_bsc_says() {
    let runs = epoch();
    let Some(one) = runs.first() else { return };
    let traces: Vec<String> = runs.iter().map(|run| run.trace.display().to_string()).collect();
    let args: Vec<&str> = ["scale", "--json"].into_iter().chain(traces.iter().map(String::as_str)).collect();
    let output = partune(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let rows = document["points"].as_array().expect("points");
    assert_eq!(rows.len(), runs.len());
    for (row, run) in rows.iter().zip(&runs) {
        assert!(close(number(&row["speed_up"]), one.run / run.run, 1e-5), "{row}");
    }
}

/// The commands take traces of this format as any other.
#[test]
fn every_command_takes_them() {
    let example = workspace().join("examples/archives/paraver/trace.prv").display().to_string();
    let folder = tempfile::tempdir().expect("there is room for files");
    let page = folder.path().join("page.html").display().to_string();
    for args in [&["analyze", &example][..], &["compare", &example, &example], &["report", &example, "-o", &page]] {
        let output = partune(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(std::fs::read_to_string(&page).expect("it was written").contains("exchange.c"));
    let copy = folder.path().join("copy");
    let converted = partune(&["convert", &example, &copy.display().to_string()]);
    assert!(converted.status.success(), "{}", String::from_utf8_lossy(&converted.stderr));
    let (before, after) = (analyze(Path::new(&example)), analyze(&copy));
    for key in ["efficiency", "bounds", "gaps"] {
        assert_eq!(before[key], after[key]);
    }
    let seconds = |document: &Value| -> Vec<Value> {
        document["findings"].as_array().into_iter().flatten().map(|it| it["seconds"].clone()).collect()
    };
    assert_eq!(seconds(&before), seconds(&after));
}
