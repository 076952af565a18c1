//! Loops that poll: whatever a program waits with, its wait is the same; many polls are one record with their number.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::expect::line_of;
use super::launch::{Built, MPICH, Mpi, OPEN_MPI, Recorded};
use super::printed;

/// What rank 0 printed of one way to wait; times in seconds.
#[derive(Debug)]
struct Way {
    mark: String,
    polls: u64,
    waited: f64,
    long: f64,
    inside: f64,
    away: f64,
}

fn ways(stdout: &[u8]) -> Vec<Way> {
    let way = |line: &str| {
        let mut words = line.strip_prefix("way ")?.split(' ');
        let (mark, polls) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
        let mut seconds = || words.next()?.parse().ok();
        Some(Way { mark, polls, waited: seconds()?, long: seconds()?, inside: seconds()?, away: seconds()? })
    };
    String::from_utf8_lossy(stdout).lines().filter_map(way).collect()
}

/// Lines at which a way polls.
fn lines(built: &Built<'_>, mark: &str) -> Vec<u64> {
    let marks: &[&str] = if mark == "x" { &["x", "y"] } else { &[mark] };
    marks.iter().map(|mark| line_of(&built.source, mark).expect("the line is marked")).collect()
}

/// Starts and ends of waits are at the mercy of a machine that may be busy, so a run has this many tries.
const TRIES: usize = 3;

/// Each way to wait is a late sender of the same length, and all calls are counted.
fn check_waits(mpi: &Mpi, options: &[&str], milliseconds: &str) {
    let Some(built) = Built::new(mpi, "polls/polls.c", &[]) else { return };
    let mut last = Ok(());
    for _ in 0..TRIES {
        let recorded = built.record(options, &["pmrijtaslgwxn", "3", milliseconds]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let (ways, document) = (ways(&recorded.output.stdout), recorded.analysis());
        assert_eq!(ways.len(), 13, "{}", recorded.said());
        check_counts(&built, &recorded, &ways);
        last =
            ways.iter().try_for_each(|way| check_wait(way, &lines(&built, &way.mark), !options.is_empty(), &document));
        if last.is_ok() {
            return;
        }
    }
    last.unwrap_or_else(|problem| panic!("{}: {problem}", mpi.name));
}

fn check_counts(built: &Built<'_>, recorded: &Recorded, ways: &[Way]) {
    let calls = printed::calls(&recorded.anchor, "polls.c");
    for way in ways {
        let found: u64 = lines(built, &way.mark).iter().map(|line| calls.get(line).copied().unwrap_or(0)).sum();
        assert_eq!(found, way.polls, "{way:?}");
    }
}

fn check_wait(way: &Way, lines: &[u64], is_exact: bool, document: &Value) -> Result<(), String> {
    let findings = document["findings"].as_array().into_iter().flatten();
    let late = findings.filter(|it| it["pattern"] == "late_sender");
    // A finding at one line has it as its location, one at several has them in a list.
    let parts = late.flat_map(|it| match it["lines"].as_array().filter(|lines| !lines.is_empty()) {
        Some(lines) => lines.iter().map(|line| (line["line"].as_u64(), line["seconds"].as_f64())).collect(),
        None => vec![(it["location"]["line"].as_u64(), it["seconds"].as_f64())],
    });
    let here = parts.filter(|(line, _)| line.is_some_and(|line| lines.contains(&line)));
    let found: f64 = here.filter_map(|(_, seconds)| seconds).sum();
    let (least, most) = match way.mark.as_str() {
        // Nothing came.
        "n" => (0.0, 0.0),
        // The program worked meanwhile; polls in whose loop the system took the core away went on.
        "w" => (0.0, way.inside + way.away + 0.01 * way.waited),
        _ => {
            // In turns that took long the program lost its core, maybe outside of its polls as the recorder sees them: between a clock that is read here
            // and one that is read there. Only the recorder's own rows hold places that poll in turns.
            let known = match (is_exact, way.mark.as_str()) {
                (false, _) => 0.95 * (way.waited - way.long),
                (true, "x") => 0.0,
                (true, _) => 0.7 * (way.waited - way.long),
            };
            (known, 1.02 * way.waited + 1e-3)
        }
    };
    let is_right = (least..=most).contains(&found);
    if is_right { Ok(()) } else { Err(format!("{found} s are not in {least}..{most}: {way:?}")) }
}

macro_rules! polls {
    ($($name:ident $mpi:ident $options:expr, $milliseconds:literal;)*) => {
        $(#[test] fn $name() { check_waits(&$mpi, &$options, $milliseconds); })*
    };
}

polls! {
    open_mpi_waits_alike OPEN_MPI [], "50";
    mpich_waits_alike MPICH [], "50";
    open_mpi_waits_alike_in_exact_polls OPEN_MPI ["--exact-polls"], "10";
    mpich_waits_alike_in_exact_polls MPICH ["--exact-polls"], "10";
}

fn bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("the folder is there").flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => bytes(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

#[test]
fn a_second_of_polling_is_small_unless_every_poll_is_wanted() {
    for built in [&OPEN_MPI, &MPICH].into_iter().filter_map(|mpi| Built::new(mpi, "polls/polls.c", &[])) {
        let recorded = built.record(&[], &["i", "10", "100"]);
        let size = bytes(recorded.anchor.parent().expect("it is in a folder"));
        assert!(recorded.output.status.success() && size < 1_000_000, "{size}: {}", recorded.said());
        let exact = built.record(&["--exact-polls"], &["i", "1", "20"]);
        let (ways, enters) = (ways(&exact.output.stdout), printed::counts(&exact.anchor));
        assert_eq!(enters[0]["MPI_Iprobe"], ways[0].polls);
    }
}

#[test]
fn a_killed_process_has_all_its_polls() {
    for built in [&OPEN_MPI, &MPICH].into_iter().filter_map(|mpi| Built::new(mpi, "polls/polls.c", &[])) {
        for options in [&[][..], &["--exact-polls"]] {
            let recorded = built.record(options, &["k", "1", "5000"]);
            assert!(!recorded.output.status.success(), "{}", recorded.said());
            let said = recorded.said();
            let polls = said.lines().find_map(|line| line.strip_prefix("killed after ")?.parse().ok());
            let polls: u64 = polls.unwrap_or_else(|| panic!("{options:?}: {said}"));
            let calls = printed::calls(&recorded.anchor, "polls.c");
            assert_eq!(calls.get(&lines(&built, "k")[0]), Some(&polls), "{options:?}: {said}");
            assert!(polls > 100, "{options:?}: {said}");
        }
    }
}
