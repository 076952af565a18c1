//! A piece of a run, from the option to the document: a diagnosis worked out by hand, sums over pieces of real archives, and pieces that are
//! not there.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests fail as tests do, and seconds here are whole"
)]

use std::process::Command;

use partune_engine::{Diagnosis, Moment, Request, Selection, SelectionError, analyze, analyze_piece, open};
use serde_json::Value;

use crate::archives::{archives, workspace};

/// Two PEs, in seconds. PE 1 waits 6 s for a message that it receives at 14, PE 0 waits 6 s at the barrier, PE 1 waits 8 s from 22 on.
const TEXT: &str = "resolution 10
    pe 0: main 0..400 { work 0..80 MPI_Send 80..90 send(to=1) work 90..120 MPI_Barrier 120..200 barrier work 200..300 MPI_Send 300..320 send(to=1) MPI_Barrier 320..360 barrier }
    pe 1: main 0..400 { MPI_Recv 20..140 recv(from=0) work 140..180 MPI_Barrier 180..200 barrier MPI_Recv 220..320 recv(from=0) work 320..340 MPI_Barrier 340..360 barrier }";

fn seconds(from: f64, to: f64) -> Selection {
    Selection { from: Some(Moment::Seconds(from)), to: Some(Moment::Seconds(to)), ..Selection::default() }
}

fn diagnose(text: &str, selection: &Selection) -> Diagnosis {
    try_diagnose(text, selection).unwrap()
}

fn try_diagnose(text: &str, selection: &Selection) -> Result<Diagnosis, SelectionError> {
    analyze_piece(partune_testkit::trace(text), selection, &Request::default(), &())
}

fn document(diagnosis: &Diagnosis) -> Value {
    serde_json::from_str(&partune_report::document(diagnosis, "run")).unwrap()
}

fn scalar(diagnosis: &Diagnosis, section: &str, name: &str) -> f64 {
    diagnosis.section(section).and_then(|it| it.scalar(name)).unwrap_or_else(|| panic!("{section} has {name}"))
}

/// From 10 s to 26 s. PE 0 computes 10–12 and 20–26 and waits 12–18; PE 1 receives 10–14, its wait is over, computes 14–18 and 20–22, and
/// waits from 22 on for a send that comes later.
#[test]
fn a_piece_by_hand() {
    let diagnosis = diagnose(TEXT, &seconds(10.0, 26.0));
    let time = ["run", "outside_run", "computation", "waiting", "transfer", "io", "idle"];
    let time = time.map(|name| scalar(&diagnosis, "time", name));
    assert_eq!(time, [16.0, 0.0, 14.0, 10.0, 8.0, 0.0, 0.0]);
    // 14 of 32; (8 + 6) / 2 of 8; 8 of 16.
    let factors = ["parallel", "load_balance", "communication"].map(|name| scalar(&diagnosis, "efficiency", name));
    assert_eq!(factors, [0.4375, 0.875, 0.5]);

    let told = document(&diagnosis);
    assert_eq!(told["piece"], serde_json::json!({ "begin_s": 10.0, "end_s": 26.0, "of_s": 40.0 }));
    assert_eq!(told["duration_s"], 16.0);
    let findings: Vec<_> = told["findings"].as_array().unwrap().iter().collect();
    let wait = |pattern: &str| {
        findings.iter().find(|it| it["pattern"] == pattern).unwrap_or_else(|| panic!("{pattern} of {findings:?}"))
    };
    let (barrier, late) = (wait("wait_at_barrier"), wait("late_sender"));
    assert_eq!((barrier["seconds"].as_f64(), barrier["fraction"].as_f64()), (Some(6.0), Some(6.0 / 32.0)));
    assert_eq!(late["seconds"].as_f64(), Some(4.0));
    // Moments are those of the run.
    assert_eq!(
        (&late["instances"][0]["begin_s"], &late["instances"][0]["end_s"]),
        (&Value::from(22.0), &Value::from(26.0))
    );
    assert_eq!((&barrier["causes"][0]["pe"], &late["causes"][0]["pe"]), (&Value::from(1), &Value::from(0)));

    // Ideal 7; receiving takes PE 1 4 s more, 2 each; 8 and 10 in all, 1 over the average; by blocks 2 and 8, then 6 and 2, 14 together and
    // so 4 over the longest; the barrier itself 2.
    let gaps: Vec<f64> = told["gaps"].as_array().unwrap().iter().filter_map(|gap| gap["seconds"].as_f64()).collect();
    let told: Vec<f64> = gaps.iter().copied().filter(|gap| *gap != 0.0).collect();
    assert_eq!(told, [2.0, 1.0, 4.0, 2.0], "{gaps:?}");
    assert_eq!(diagnosis.section("bounds").unwrap().tables[0].columns.len(), 2);
    assert!(diagnosis.quality.entries().is_empty(), "{:?}", diagnosis.quality);
}

#[test]
fn the_screen_says_which_piece_and_what_is_left_out() {
    let options = partune_report::TextOptions { findings: Some(5), table_rows: 0, style: partune_report::Style::PLAIN };
    let screen = partune_report::text(&diagnose(TEXT, &seconds(10.0, 26.0)), "run", options);
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("a piece from 10.0 s to 26.0 s of 40.0 s"), "{screen}");
    assert!(
        words.contains("run 16.0 s on 2 PEs, from 10.0 s to 26.0 s of 40.0 s, of which all shares are"),
        "{screen}"
    );
    assert!(words.contains("left out: 10.0 s before, 14.0 s after"), "{screen}");
    let whole = partune_report::text(&diagnose(TEXT, &Selection::default()), "run", options);
    assert!(!whole.contains("piece") && !whole.contains("left out"), "{whole}");
}

/// Turns of 10 s after 5 s of start; PE 1 begins each a second later. PE 0 warms up for one turn.
const TURNS: &str = "resolution 1
    pe 0: main 0..40 { read_input 0..5 iteration step 5..15 { phase solve 6..9 } iteration step 15..25 { phase solve 16..19 } iteration step 25..35 { phase solve 26..29 } }
    pe 1: main 0..40 { read_input 0..6 iteration step 6..16 { phase solve 7..12 } iteration step 16..26 { phase solve 17..19 } iteration step 26..36 { phase solve 27..31 } }";

#[test]
fn a_phase_and_turns_are_pieces() {
    let piece = |selection: Selection| {
        let diagnosis = diagnose(TURNS, &selection);
        diagnosis.run.piece().map(|piece| (piece.begin.0, piece.end.0))
    };
    let phase = |name: &str| Selection { phase: Some(name.to_owned()), ..Selection::default() };
    assert_eq!(piece(phase("solve")), Some((6, 31)));
    assert_eq!(piece(phase("read_input")), Some((0, 6)));
    assert_eq!(piece(Selection { skip_turns: 1, ..Selection::default() }), Some((16, 40)));
    assert_eq!(piece(Selection { skip_turns: 2, ..phase("solve") }), Some((26, 31)));
    assert_eq!(
        piece(Selection { to: Some(Moment::Share(0.5)), skip_turns: 1, ..Selection::default() }),
        Some((16, 20))
    );
    // Longer than the run is to its end, and all of it is no piece.
    assert_eq!(piece(seconds(30.0, 1e30)), Some((30, 40)));
    assert_eq!(piece(seconds(0.0, 40.0)), None);
    assert_eq!(piece(phase("main")), None);
}

#[test]
fn what_is_not_there_is_refused_with_a_remedy() {
    let refused = |text: &str, selection: &Selection| {
        let error = try_diagnose(text, selection).err().unwrap_or_else(|| panic!("{selection:?} is refused"));
        assert!(error.to_string().contains("\n  remedy: "), "{error}");
        error
    };
    let phase = |name: &str| refused(TURNS, &Selection { phase: Some(name.to_owned()), ..Selection::default() });
    assert_eq!(phase("Solver"), SelectionError::NoPhase { name: "Solver".to_owned(), near: vec!["solve".to_owned()] });
    assert!(phase("something else").to_string().contains("--only profile"));
    assert_eq!(refused(TURNS, &seconds(40.0, 50.0)), SelectionError::Beyond { from: 40.0, run: 40.0 });
    assert_eq!(refused(TURNS, &seconds(20.0, 20.0)), SelectionError::Empty { from: 20.0, to: 20.0 });
    let skip = |skip_turns| Selection { skip_turns, ..Selection::default() };
    assert_eq!(refused(TURNS, &skip(3)), SelectionError::FewTurns { skipped: 3, turns: 3 });
    assert_eq!(refused(TEXT, &skip(1)), SelectionError::NoTurns);
    let managed = "resolution 1\npe 0 1: main 0..40 { MPI_Init 0..10 init work 10..30 MPI_Finalize 30..40 finalize }";
    let outside = |from, to| SelectionError::Outside { from, to, begin: 10.0, end: 30.0 };
    assert_eq!(refused(managed, &seconds(0.0, 9.0)), outside(0.0, 9.0));
    assert_eq!(refused(managed, &seconds(30.0, 35.0)), outside(30.0, 35.0));
    assert_eq!(scalar(&diagnose(managed, &seconds(5.0, 35.0)), "time", "run"), 20.0);
}

/// A barrier orders what comes before the piece, or after it, too.
#[test]
fn barriers_at_the_borders_are_not_called_redundant() {
    let text = "resolution 1000
        pe 0: main 0..400 { shmem_putmem 50..60 put(to=1, bytes=8) work 60..150 shmem_barrier_all 150..160 barrier work 160..250 shmem_barrier_all 250..260 barrier work 260..350 shmem_barrier_all 350..360 barrier }
        pe 1: main 0..400 { work 0..150 shmem_barrier_all 150..160 barrier shmem_getmem 170..180 get(to=0, bytes=8) work 180..250 shmem_barrier_all 250..260 barrier work 260..350 shmem_barrier_all 350..360 barrier }";
    let redundant = |diagnosis: &Diagnosis| {
        let found = document(diagnosis)["findings"].as_array().unwrap().clone();
        found
            .iter()
            .filter(|it| it["pattern"] == "redundant_barrier")
            .map(|it| it["count"].as_u64().unwrap())
            .sum::<u64>()
    };
    // The second and the third order nothing after PE 1's get, which PE 0's computing needs one of.
    let whole = redundant(&diagnose(text, &Selection::default()));
    assert_eq!(redundant(&diagnose(text, &seconds(0.1, 0.2))), 0);
    assert_eq!(redundant(&diagnose(text, &seconds(0.165, 0.3))), 0);
    assert!(whole > 0);
}

/// What PEs did in two pieces beside each other is what they did in both.
#[test]
fn pieces_add_up_to_the_run() {
    let kinds = ["computation", "waiting", "device_waiting", "start_up", "transfer", "io", "idle"];
    let request = Request { only: vec!["time".to_owned(), "bounds".to_owned()], ..Request::default() };
    let mut checked = 0;
    for archive in archives() {
        let run = |selection: &Selection| analyze_piece(open(&archive.anchor, &()).unwrap(), selection, &request, &());
        let whole = run(&Selection::default()).unwrap();
        let Some(time) = whole.section("time").filter(|_| !whole.run.is_profile()) else { continue };
        let base = time.scalar("run").unwrap() * time.scalar("pes").unwrap();
        let borders = [Some(0.0), Some(0.9), Some(0.95), None];
        let pieces = borders.windows(2).map(|it| Selection {
            from: it[0].map(Moment::Share),
            to: it[1].map(Moment::Share),
            ..Selection::default()
        });
        let pieces: Vec<Diagnosis> = pieces
            .filter_map(|piece| match run(&piece) {
                Ok(diagnosis) => Some(diagnosis),
                // It only starts up, or shuts down: nothing is left of the base.
                Err(SelectionError::Outside { .. }) => None,
                Err(error) => panic!("{}: {error}", archive.name),
            })
            .collect();
        for kind in kinds {
            let sum: f64 = pieces.iter().map(|it| scalar(it, "time", kind)).sum();
            let whole = time.scalar(kind).unwrap();
            assert!((sum - whole).abs() <= 1e-9 * base, "{} {kind}: {sum} of {whole}", archive.name);
        }
        for piece in &pieces {
            let (length, told) = (scalar(piece, "time", "run"), document(piece));
            let first = told["bounds"][0]["seconds"].as_f64().unwrap();
            let gaps: Vec<f64> =
                told["gaps"].as_array().unwrap().iter().filter_map(|gap| gap["seconds"].as_f64()).collect();
            assert!((first + gaps.iter().sum::<f64>() - length).abs() <= 1e-6 * length.max(1e-9), "{}", archive.name);
            assert!(gaps.iter().all(|gap| *gap >= -1e-6 * length), "{} {gaps:?}", archive.name);
        }
        checked += 1;
    }
    assert!(checked > 0);
}

#[test]
fn every_command_that_analyses_takes_a_piece() {
    let archive = workspace().join("examples/archives");
    let archive =
        std::fs::read_dir(archive).unwrap().flatten().map(|it| it.path()).filter(|it| it.is_dir()).min().unwrap();
    let archive = archive.to_string_lossy();
    let report = tempfile::tempdir().unwrap();
    let page = report.path().join("report.html");
    let page = page.to_string_lossy();
    let all: [&[&str]; 3] = [
        &["analyze", &archive, "--json", "--from", "40%", "--to", "60%"],
        &["report", &archive, "-o", &page, "--from", "40%", "--to", "60%"],
        &["compare", &archive, &archive, "--json", "--from", "40%", "--to", "60%"],
    ];
    for args in all {
        let output = Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("\"piece\": {") || args[0] == "report", "{args:?}: {text}");
    }
    assert!(std::fs::read_to_string(&*page).unwrap().contains("This is a piece of the run, from "));
    let output =
        Command::new(env!("CARGO_BIN_EXE_partune")).args(["analyze", &archive, "--from", "1e9"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("remedy: give an earlier --from"));
    // No piece is every piece.
    let whole = analyze(open(std::path::Path::new(&*archive), &()).unwrap(), &Request::default(), &());
    assert_eq!(document(&whole)["piece"], Value::Null);
}
