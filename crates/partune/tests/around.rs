//! A piece of a large run, of which only what lies around it is read, has the figures and findings that it has in the run.

use std::path::Path;

use partune_engine::{Diagnosis, Moment, Request, Selection, SelectionError, Sliced};
use serde_json::Value;

use crate::archives::archives;
use crate::slices::{forget_offsets, parsed, same, synth, with_files};

fn request() -> Request {
    Request { predicts: false, compares: true, ..Request::default() }
}

fn piece(from: Moment, to: Moment) -> Selection {
    Selection { from: Some(from), to: Some(to), ..Selection::default() }
}

fn shares(from: f64, to: f64) -> Selection {
    piece(Moment::Share(from), Moment::Share(to))
}

/// What is said of a piece of the run that was read as a whole.
fn of_whole(anchor: &Path, selection: &Selection) -> Result<Diagnosis, SelectionError> {
    let opened = partune_engine::open(anchor, &()).expect("the archive opens");
    partune_engine::analyze_piece(opened, selection, &request(), &())
}

/// What is said of a piece by itself, or why it is not looked at so; no more than twice `slice` records may lie around it.
fn alone(anchor: &Path, selection: &Selection, slice: u64) -> Result<Diagnosis, Option<String>> {
    match partune_engine::analyze_piece_alone(anchor, selection, &request(), slice, &()).expect("there is such a piece")
    {
        Sliced::Diagnosed(diagnosis) => Ok(*diagnosis),
        Sliced::Whole(why) => Err(why),
        Sliced::Elsewhere => panic!("there is one process"),
    }
}

/// The document without what is a matter of all of the run: what was noticed outside of the piece, and of how many events it is made, which is estimated by the visits around it.
fn told(diagnosis: &Diagnosis) -> Value {
    let mut document = parsed(&partune_report::document(diagnosis, "archive"));
    let object = document.as_object_mut().expect("a document is an object");
    ["quality", "events"].iter().for_each(|name| _ = object.remove(*name));
    document
}

/// Compares both; why the piece is not looked at by itself, if it is not.
fn compare(anchor: &Path, selection: &Selection, slice: u64, at: &str) -> Result<(), Option<String>> {
    let at = format!("{at} {selection:?}");
    let whole = of_whole(anchor, selection);
    let alone = alone(anchor, selection, slice);
    match (whole, alone) {
        (Ok(whole), Ok(alone)) => {
            let (whole, alone) = (told(&whole), told(&alone));
            same(&whole, &alone, &at);
            // Causes too.
            assert!(whole == alone, "{at}: {whole} {alone}");
            Ok(())
        }
        (_, Err(why)) => Err(why),
        (Err(error), Ok(_)) => panic!("{at}: {error}"),
    }
}

/// Pieces at several places, of several lengths.
fn pieces() -> Vec<Selection> {
    let mut pieces: Vec<Selection> =
        [(0.1, 0.2), (0.3, 0.31), (0.45, 0.7), (0.5, 0.501), (0.62, 0.93), (0.0, 0.25), (0.8, 1.0), (0.9, 0.95)]
            .map(|(from, to)| shares(from, to))
            .into();
    pieces.push(Selection { from: Some(Moment::Share(0.6)), ..Selection::default() });
    pieces.push(Selection { to: Some(Moment::Share(0.35)), ..Selection::default() });
    pieces
}

#[test]
fn pieces_of_archives_say_the_same() {
    let mut alone = 0;
    for archive in &archives() {
        for selection in pieces() {
            alone += usize::from(compare(&archive.anchor, &selection, 200, &archive.name).is_ok());
        }
    }
    assert!(alone >= 2, "pieces of an example at least are looked at by themselves");
}

#[test]
fn pieces_of_synthetic_runs_say_the_same() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let made: [&[&str]; 7] = [
        &["--ranks", "8", "--slow", "5:2", "--jitter", "0.3"],
        &["--ranks", "8", "--inject", "late-sender:2:2000000:100"],
        &["--ranks", "3", "--inject", "late-broadcast:0:500000:50"],
        &["--ranks", "8", "--inject", "late-receiver:1:500000:30", "--skew", "0.6"],
        &["--ranks", "4", "--threads", "2"],
        &["--ranks", "4", "--threads", "3", "--slow", "2:2", "--jitter", "0.3"],
        &["--ranks", "4", "--threads", "4", "--skew", "0.6"],
    ];
    for (number, options) in made.iter().enumerate() {
        let anchor = synth(&folder.path().join(number.to_string()), &[&["--events", "24K"], *options].concat());
        for selection in pieces() {
            assert_eq!(compare(&anchor, &selection, 11_000, &format!("{options:?}")), Ok(()), "{selection:?}");
        }
    }
}

/// A piece that begins while all wait for one, or ends so.
#[test]
fn a_piece_may_begin_and_end_within_a_meeting() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let anchor = synth(&folder.path().join("run"), &["--ranks", "8", "--events", "24K", "--slow", "5:2"]);
    let all = told(&of_whole(&anchor, &shares(0.2, 0.8)).expect("there is such a piece"));
    let findings = all["findings"].as_array().expect("a list");
    let waits = findings.iter().flat_map(|finding| finding["instances"].as_array().into_iter().flatten());
    let mut waits: Vec<(f64, f64)> = waits
        .filter_map(|wait| Some((wait["begin_s"].as_f64()?, wait["end_s"].as_f64()?)))
        .filter(|(begin, end)| begin < end)
        .collect();
    waits.sort_by(|one, other| one.0.total_cmp(&other.0));
    assert!(waits.len() > 4, "{}", waits.len());
    let within = |(begin, end): (f64, f64)| Moment::Seconds(begin.midpoint(end));
    for pair in waits.chunks(2).filter(|pair| pair[0].1 < pair[pair.len() - 1].0) {
        let selection = piece(within(pair[0]), within(pair[1]));
        assert_eq!(compare(&anchor, &selection, 11_000, "within"), Ok(()), "{selection:?}");
    }
    let (first, last) = (waits[0], waits[waits.len() - 1]);
    for selection in [
        piece(within(first), Moment::Seconds(first.1)),
        piece(Moment::Seconds(first.0), Moment::Seconds(first.1)),
        piece(Moment::Seconds(first.1), Moment::Seconds(last.1)),
        piece(Moment::Seconds(first.1), Moment::Seconds(last.0)),
    ] {
        assert_eq!(compare(&anchor, &selection, 11_000, "at its ends"), Ok(()), "{selection:?}");
    }
}

#[test]
fn what_is_done_with_files_in_a_piece_is_the_same() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    for is_alone in [true, false] {
        let anchor = folder.path().join(is_alone.to_string());
        partune_engine::write(&partune_testkit::trace(&with_files(is_alone)), &anchor).expect("it can be written");
        let anchor = anchor.join("traces.otf2");
        let all = of_whole(&anchor, &Selection::default()).expect("it is there").run.events();
        for selection in pieces() {
            assert_eq!(compare(&anchor, &selection, all / 3, "files"), Ok(()), "{is_alone} {selection:?}");
        }
    }
}

/// Only so much is read as lies between two meetings.
#[test]
fn what_lies_around_a_piece_is_small() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let anchor = synth(&folder.path().join("run"), &["--ranks", "8", "--events", "60K", "--slow", "5:2"]);
    let short = shares(0.5, 0.501);
    assert_eq!(compare(&anchor, &short, 300, "short"), Ok(()));
    let why = alone(&anchor, &shares(0.3, 0.5), 300).err();
    assert_eq!(why, Some(Some("processes do not meet near by the piece, or it is large itself".to_owned())));
    for other in [
        Selection::default(),
        Selection { phase: Some("main".to_owned()), ..short.clone() },
        Selection { skip_turns: 1, ..short },
        // The program only starts up, which is said of the whole run.
        shares(0.0, 1e-6),
    ] {
        assert_eq!(alone(&anchor, &other, 300).err(), Some(None), "{other:?}");
    }
    assert!(alone(&anchor, &shares(0.0, 1.0), 300).is_ok(), "all of the run is looked at in slices");
    for none in [piece(Moment::Seconds(1e6), Moment::Share(1.0)), shares(0.6, 0.4)] {
        let found = partune_engine::analyze_piece_alone(&anchor, &none, &request(), 300, &());
        let (said, of_whole) = (found.err(), of_whole(&anchor, &none).err());
        assert_eq!(said.map(|it| it.to_string()), of_whole.map(|it| it.to_string()), "{none:?}");
    }
}

/// Clocks that disagree are repaired for the whole run, and what goes across keeps it whole.
#[test]
fn what_is_a_matter_of_the_whole_run_is_read_as_a_whole() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let made = |name: &str, options: &[&str]| {
        let all = ["--ranks", "8", "--events", "60K"];
        synth(&folder.path().join(name), &[&all[..], options].concat())
    };
    let selection = shares(0.4, 0.5);
    let plain = made("plain", &[]);
    assert_eq!(compare(&plain, &selection, 11_000, "plain"), Ok(()));
    let skewed = made("skewed", &["--clock-offset-ns", "20000"]);
    forget_offsets(&plain, &skewed, 8);
    let why = alone(&skewed, &selection, 11_000).err().flatten().expect("it is said why");
    assert_eq!(why, "clocks disagree in the piece or near by, and are repaired for the whole run");
    let shmem = made("shmem", &["--model", "shmem"]);
    let why = alone(&shmem, &selection, 11_000).err().flatten().expect("it is said why");
    assert_eq!(why, "PEs access memory of each other");
}
