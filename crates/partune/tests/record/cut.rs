//! A recording that may not grow further keeps its begin, of all processes alike, or its end.

use super::launch::{Built, MPICH, Mpi, OPEN_MPI};
use super::printed::counts;

fn codes(document: &serde_json::Value) -> Vec<&str> {
    let entries = document["quality"].as_array().expect("a list");
    entries.iter().map(|entry| entry["code"].as_str().expect("a code")).collect()
}

fn check(mpi: &Mpi) {
    let Some(built) = Built::new(mpi, "cut/uneven.c", &[]) else { return };
    // Two processes of 1 MiB each: rings of 512 KiB, of which one was flushed.
    let recorded = built.record(&["--max-size", "2M"], &["20000"]);
    let said = recorded.said();
    assert!(recorded.output.status.success() && said.matches("done").count() == 2, "{said}");
    assert!(said.contains("since it was as large as --max-size lets it be"), "{said}");
    let traces = recorded.anchor.with_extension("");
    let size: u64 = std::fs::read_dir(traces)
        .expect("a folder")
        .map(|it| it.expect("a file").metadata().expect("it is there").len())
        .sum();
    assert!(size <= 2 << 20, "{size}");
    let document = recorded.analysis();
    assert!(
        codes(&document).contains(&"lost-events") && !codes(&document).contains(&"clocks-disagree"),
        "{document:#}"
    );
    // The begin: a message that was received was sent before, and in a ring of two a rank is at most two rounds of 25 ahead.
    let counts = counts(&recorded.anchor);
    let of = |rank: usize, name: &str| counts[rank].get(name).copied().unwrap_or(0);
    for rank in 0..2 {
        let next = (rank + 1) % 2;
        // Half of what rank 0 sends is to itself, and that it receives at once.
        let to_itself = |rank: usize| if rank == 0 { of(0, "sends") / 2 } else { 0 };
        let (sent, received) = (of(rank, "sends") - to_itself(rank), of(next, "receives") - to_itself(next));
        assert!(
            sent > 1000 && received <= sent + 1 && sent - received.min(sent) <= 50,
            "{}: {rank} sent {sent}, {next} received {received}",
            mpi.name
        );
    }
    assert!(of(0, "sends") < 40_000);
}

#[test]
fn a_recording_is_no_larger_than_it_may_be() {
    check(&OPEN_MPI);
    check(&MPICH);
}

/// The end, if that is wanted: all that was sent since the begin of what is kept is received in it, and matched.
#[test]
fn the_newest_events_are_kept_where_they_are_wanted() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "cut/uneven.c", &[]) else { continue };
        let recorded = built.record(&["--max-size", "2M", "--keep", "newest", "--buffer", "512K"], &["60000"]);
        let said = recorded.said();
        assert!(recorded.output.status.success() && said.matches("done").count() == 2, "{said}");
        assert!(said.contains("the newest events were kept"), "{said}");
        let document = recorded.analysis();
        assert!(
            codes(&document).contains(&"lost-events") && !codes(&document).contains(&"clocks-disagree"),
            "{document:#}"
        );
        let counts = counts(&recorded.anchor);
        let of = |rank: usize, name: &str| counts[rank].get(name).copied().unwrap_or(0);
        for rank in 0..2 {
            let next = (rank + 1) % 2;
            let to_itself = |rank: usize| if rank == 0 { of(0, "sends") / 2 } else { 0 };
            let (sent, received) = (of(rank, "sends") - to_itself(rank), of(next, "receives") - to_itself(next));
            // What was under way at the begin is received and was not sent.
            assert!(
                sent > 1000 && received >= sent.saturating_sub(1) && received - sent.min(received) <= 51,
                "{}: {sent} {received}",
                mpi.name
            );
        }
        assert!(of(0, "sends") < 100_000, "not all of them");
        // A late sender is one that was late: none is behind the run by all that is missing.
        let unmatched =
            document["quality"].as_array().into_iter().flatten().find(|it| it["code"] == "unmatched-messages");
        assert!(unmatched.is_none_or(|it| it["severity"] == "info"), "{unmatched:?}");
    }
}

/// Who hung long before the begin of what is kept goes on to hang, and whom it waits for is still known.
#[test]
fn whom_a_hung_process_waits_for_outlives_its_events() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "cut/hung.c", &[]) else { continue };
        let recorded = built.record(&["--max-size", "2M", "--keep", "newest", "--buffer", "512K"], &[]);
        assert!(recorded.said().contains("the newest events were kept"), "{}", recorded.said());
        let ending = recorded.analysis()["ending"].clone();
        let expected = (&serde_json::json!([0, 1]), &serde_json::json!(true));
        assert_eq!((&ending["chain"], &ending["deadlock"]), expected, "{}: {ending:#}", mpi.name);
    }
}

#[test]
fn what_is_small_enough_is_whole() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "cut/uneven.c", &[]) else { continue };
        let recorded = built.record(&["--max-size", "1G"], &["1000"]);
        assert!(!codes(&recorded.analysis()).contains(&"lost-events"), "{}", recorded.said());
        let counts = counts(&recorded.anchor);
        assert_eq!(counts.iter().map(|counts| counts["sends"]).collect::<Vec<_>>(), [2000, 1000]);
    }
}
