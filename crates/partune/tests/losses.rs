//! The first screen of real archives: the largest loss has a row, no two rows read the same, and shares of operations add up.

use std::collections::BTreeSet;

use partune_engine::{Diagnosis, Request};
use partune_report::{Style, TextOptions};

use crate::archives::archives;

/// Share of the run from which a loss has to have a row.
const LARGE: f64 = 0.01;
/// Findings on the first screen.
const ROWS: usize = 4;

fn diagnoses() -> impl Iterator<Item = (String, Diagnosis)> {
    archives().into_iter().map(|archive| {
        let opened = partune_engine::open(&archive.anchor, &()).expect("the archive opens");
        (archive.name, partune_engine::analyze(opened, &Request::default(), &()))
    })
}

#[test]
fn the_largest_loss_has_a_row() {
    let mut balanced = 0;
    for (name, diagnosis) in diagnoses() {
        let Some((loss, share)) = diagnosis.largest_loss() else { continue };
        let rows = diagnosis.first(ROWS);
        let told = rows.iter().any(|at| diagnosis.findings[*at].finding.pattern.tells(loss));
        // Where the recorder itself took most, that is said instead.
        let written = diagnosis.mostly_written().is_some();
        assert!(told || written || share < LARGE, "{name}: {loss:?} is {share} of the run");
        if share < LARGE && rows.is_empty() {
            balanced += 1;
        }
    }
    assert!(balanced > 0 || partune_testkit::outside::traces().is_none(), "a balanced run has no row");
}

/// Where there is room for one finding only, it is the one that `next:` speaks of, though another one tells of what the run lost most by.
#[test]
fn what_is_next_has_a_row() {
    use partune_engine::Pattern;
    let text = "resolution 1
        pe 0: main@a.c:1 0..900 { f 0..300 MPI_Barrier^a.c:3 300..900 barrier }
        pe 1: main@a.c:1 0..900 { f 0..900 MPI_Barrier^a.c:3 900..900 barrier }";
    let mut diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
    let mut first = diagnosis.findings[0].clone();
    (first.finding.pattern, first.finding.paths) = (Pattern::WaitForProcessor, Vec::new());
    diagnosis.findings.insert(0, first);
    let (loss, _) = diagnosis.largest_loss().expect("one PE waits");
    assert!(!Pattern::WaitForProcessor.tells(loss) && diagnosis.findings[1].finding.pattern.tells(loss));
    assert_eq!([0, 1, 2].map(|count| diagnosis.first(count)), [vec![], vec![0], vec![0, 1]]);
    let options = TextOptions { findings: Some(1), table_rows: 0, style: Style::PLAIN };
    let text = partune_report::text(&diagnosis, "archive", options);
    assert!(text.contains("\n  1  ") && text.contains("wait for processor") && !text.contains("\n  2  "), "{text}");
}

#[test]
fn no_two_rows_read_the_same() {
    let options = TextOptions { findings: Some(ROWS), table_rows: 0, style: Style::PLAIN };
    for (name, diagnosis) in diagnoses() {
        let text = partune_report::text(&diagnosis, "archive", options);
        let headings = ["what costs most", "what to mend first"];
        let Some((_, list)) = headings.iter().find_map(|heading| text.split_once(heading)) else { continue };
        let (mut rows, mut row): (Vec<String>, String) = (Vec::new(), String::new());
        for line in list.lines().skip(1).take_while(|line| line.starts_with("  ")) {
            if !line.starts_with("     ") && !row.is_empty() {
                rows.push(std::mem::take(&mut row));
            }
            // How much it is tells nobody where to look.
            let is_place = !line.starts_with("     ");
            row.extend(line.chars().skip(5).take(63).filter(|it| is_place || !it.is_ascii_digit()));
        }
        rows.push(row);
        assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len(), "{name}: {rows:#?}");
    }
}

/// What the other PE of a process loses while the main thread is alone is told there, and not again as imbalance of the whole run.
#[test]
fn idle_threads_are_told_once() {
    let text = "resolution 1
         team t = 0.0 0.1
         pe 0.0: main 0..13 { before 0..6 pthread_create 6..6 create(t, seq=1) pthread_join 10..10 wait(t, seq=1) after 10..13 }
         pe 0.1: worker 6..10 begin(t, seq=1) end(t, seq=1)";
    let diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
    let found: Vec<_> = diagnosis.findings.iter().map(|it| (it.finding.pattern.name(), it.finding.time.0)).collect();
    assert_eq!(found.iter().map(|it| it.1).sum::<i64>(), 6 + 3, "{found:?}");
    assert!(found.iter().all(|it| it.0 == "serial_section"), "{found:?}");
}

/// Where the time went has operations as the table has them.
#[test]
fn operations_add_up() {
    for (name, diagnosis) in diagnoses() {
        let Some(time) = diagnosis.account() else { continue };
        let base = time.run.unwrap_or(0.0) * time.pes.unwrap_or(0.0);
        let busy = base - time.computation.unwrap_or(0.0) - time.idle.unwrap_or(0.0);
        let sum = |of: fn(&partune_engine::TopOperation) -> f64| diagnosis.operations().iter().map(of).sum::<f64>();
        let (seconds, waiting) = (sum(|it| it.seconds), sum(|it| it.waiting.unwrap_or(0.0)));
        assert!((seconds - busy).abs() < 1e-6 * base, "{name}: {seconds} in operations, not {busy}");
        assert!((sum(|it| it.share) * base - seconds).abs() < 1e-6 * base, "{name}: shares");
        assert!((waiting - time.waiting.unwrap_or(0.0)).abs() < 1e-6 * base, "{name}: {waiting} waiting");
    }
}
