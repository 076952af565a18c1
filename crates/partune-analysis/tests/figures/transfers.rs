//! Small transfers that could be one, and blocking ones that could overlap.

use partune_analysis::{Fit, Options, Pattern};
use partune_base::{PeId, Span};
use proptest::prelude::*;

use super::{analyze_with, close, figure};

#[test]
fn four_small_sends_in_a_row() {
    let text = "resolution 1
        pe 0: main 0..100 { repeat 5 every 10 { work 0..8 MPI_Send 8..10 send(to=1, bytes=8) } }
        pe 1: main 0..100 { repeat 5 every 10 { MPI_Recv 10..11 recv(from=0, bytes=8) } }";
    let (trace, outcome) = figure(text, "small_transfers");
    assert_eq!(outcome.findings.len(), 1);
    let finding = &outcome.findings[0];
    assert_eq!(
        (finding.pattern, finding.count, finding.pes.as_slice()),
        (Pattern::SmallTransfers, 1, &[(PeId(0), Span(8))][..])
    );
    // One size only: no line, o is the mean, 2; four of five could be saved.
    assert!(finding.facts.contains(&("transfers", 5.0)) && finding.facts.contains(&("overhead_seconds", 2.0)));
    let options = Options { small_run: 6, ..Options::default() };
    assert!(analyze_with(&trace, "small_transfers", &options).findings.is_empty());
}

#[test]
fn a_line_tells_what_is_small() {
    // t = 10 + s/10: below 100 bytes is small. Sends of 50 and 200 bytes, in turn, and four more of 50.
    let text = "resolution 1
        pe 0: main 0..1000 { repeat 4 every 60 { MPI_Send 0..15 send(to=1, bytes=50) MPI_Send 15..45 send(to=1, bytes=200) } }
        pe 1: main 0..1000";
    let (_, outcome) = figure(text, "small_transfers");
    assert_eq!(outcome.findings.len(), 1);
    let finding = &outcome.findings[0];
    let fact = |name| finding.facts.iter().find(|fact| fact.0 == name).unwrap().1;
    assert!(
        close(fact("overhead_seconds"), 10.0)
            && close(fact("seconds_per_byte"), 0.1)
            && close(fact("half_bytes"), 100.0)
    );
    assert!(close(fact("transfers"), 4.0));
    assert_eq!(finding.time, Span(30));
}

#[test]
fn synchronisation_ends_a_run() {
    for between in ["MPI_Barrier 5..6 barrier", "MPI_Recv 5..6 recv(from=1)"] {
        let text = format!(
            "resolution 1
            pe 0: main 0..100 {{ repeat 5 every 10 {{ MPI_Send 0..2 send(to=1, bytes=8) {between} }} }}
            pe 1: main 0..100"
        );
        assert!(figure(&text, "small_transfers").1.findings.is_empty(), "{between}");
    }
    // Completing own sends does not, and other PEs' transfers between do not.
    let text = "resolution 1
        pe 0: main 0..100 { repeat 5 every 10 { MPI_Isend 0..1 send(to=1, bytes=8, req=1) MPI_Send 2..3 send(to=2, bytes=5000) MPI_Wait 5..6 done(1) } }
        pe 1 2: main 0..100";
    assert_eq!(figure(text, "small_transfers").1.findings.len(), 1);
    // A quiet between puts does.
    let text = "resolution 1
        pe 0: main 0..100 { repeat 5 every 10 { shmem_putmem 0..1 put(to=1, bytes=8) shmem_quiet 5..6 } }
        pe 1: main 0..100";
    assert!(figure(text, "small_transfers").1.findings.is_empty());
}

#[test]
fn blocking_gets_from_different_pes_could_overlap() {
    let text = "resolution 1
        pe 0: main 0..100 { shmem_getmem 0..20 get(to=1, bytes=8) shmem_getmem 20..50 get(to=2, bytes=8) shmem_getmem 55..65 get(to=3, bytes=8) }
        pe 1 2 3: main 0..100";
    let (_, outcome) = figure(text, "serial_transfers");
    assert_eq!(outcome.findings.len(), 1);
    let finding = &outcome.findings[0];
    assert_eq!((finding.pattern, finding.count, finding.time), (Pattern::SerialBlockingTransfers, 1, Span(60 - 30)));
    assert!(finding.facts.contains(&("transfers", 3.0)));
}

#[test]
fn what_may_depend_is_not_serial() {
    for pe in [
        // The same PE.
        "shmem_getmem 0..20 get(to=1, bytes=8) shmem_getmem 20..40 get(to=1, bytes=8)",
        // Work between.
        "shmem_getmem 0..20 get(to=1, bytes=8) work 20..80 shmem_getmem 80..100 get(to=2, bytes=8)",
        // A receive between.
        "MPI_Send 0..20 send(to=1) MPI_Recv 20..21 recv(from=1) MPI_Send 21..40 send(to=2)",
        // Not blocking.
        "MPI_Isend 0..20 send(to=1, req=1) MPI_Isend 20..40 send(to=2, req=2)",
    ] {
        let text = format!("resolution 1\n pe 0: main 0..100 {{ {pe} }}\n pe 1 2: main 0..100");
        assert!(figure(&text, "serial_transfers").1.findings.is_empty(), "{pe}");
    }
}

#[test]
fn one_transfer_is_no_line() {
    let mut fit = Fit::default();
    assert!(fit.line().is_none() && fit.mean() == 0.0);
    for time in [1.0, 2.0, 3.0] {
        fit.add(8.0, time);
    }
    assert!(fit.line().is_none() && close(fit.mean(), 2.0));
}

proptest! {
    #[test]
    fn a_line_is_found_again(o in 1.0..1e4_f64, g in 0.001..10.0_f64, sizes in proptest::collection::vec(1_u32..10_000, 3..40)) {
        prop_assume!(sizes.iter().any(|size| size.abs_diff(sizes[0]) > 100));
        let (mut fit, mut rest) = (Fit::default(), Fit::default());
        for (at, size) in sizes.iter().enumerate() {
            let half = if at % 2 == 0 { &mut fit } else { &mut rest };
            half.add(f64::from(*size), o + g * f64::from(*size));
        }
        fit.merge(&rest);
        if let Some(line) = fit.line() {
            prop_assert!((line.overhead - o).abs() <= 1e-3 * (o + g * 1e4) && (line.per_byte - g).abs() <= 1e-3 * (g + o));
        }
    }
}
