//! Small transfers that could be one, and blocking ones that could overlap.

use partune_analysis::{Fit, Options, Pattern};
use partune_base::{PeId, Span};
use proptest::prelude::*;

use super::{analyze_with, assert_close, at_path, close, figure, numbers, words};

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

/// 2,000 messages of 8 bytes; the send takes 2, and 3 pass until the receive is over, which was posted before: o is 3.
#[test]
fn two_thousand_small_sends_in_a_row() {
    let text = |own: &str, theirs: &str| {
        format!(
            "resolution 1000000
             pe 0: main 0..20000 {{ repeat 2000 every 10 {{ MPI_Send 0..2 send(to=1, bytes=8) {own} }} }}
             pe 1: main 0..20000 {{ repeat 2000 every 10 {{ MPI_Recv 0..3 recv(from=0, bytes=8) {theirs} }} }}
             pe 2: main 0..20000 {{ MPI_Send 0..1 send(to=0, bytes=4, tag=9) }}"
        )
    };
    let (_, outcome) = figure(&text("", ""), "small_transfers");
    let [finding] = outcome.findings.as_slice() else { panic!("{:?}", outcome.findings) };
    assert_eq!((finding.count, finding.pes.as_slice()), (1, &[(PeId(0), finding.time)][..]));
    assert!(finding.facts.contains(&("transfers", 2000.0)));
    // PE 2's message, which nobody receives, takes 1: o is the mean of 2,001.
    let o = (2000.0 * 3.0 + 1.0) / 2001.0;
    assert!((finding.time.0 as f64 - 1999.0 * o).abs() <= 1.0, "{}", finding.time.0);
    // With an answer to each.
    let asks = text("MPI_Recv 5..7 recv(from=1, bytes=8)", "MPI_Send 4..6 send(to=0, bytes=8)");
    assert!(figure(&asks, "small_transfers").1.findings.is_empty());
}

#[test]
fn accesses_to_different_addresses_of_one_pe_could_overlap() {
    let text = |kind: &str, fact: &str, addresses: [&str; 3]| {
        let one = |at: usize, address: &str| {
            format!("shmem_{kind}mem {}..{} {fact}(to=1, bytes=4096{address})", 20 * at, 20 * at + 20)
        };
        let all: Vec<String> = addresses.iter().enumerate().map(|(at, address)| one(at, address)).collect();
        format!("resolution 1 pe 0: main 0..100 {{ {} }} pe 1: main 0..100", all.join(" "))
    };
    let apart = [", addr=0", ", addr=4096", ", addr=8192"];
    for (kind, addresses) in
        [("get", apart), ("put", apart), ("get", [""; 3]), ("put", [""; 3]), ("get", [", addr=0"; 3])]
    {
        let (_, outcome) = figure(&text(kind, kind, addresses), "serial_transfers");
        let [finding] = outcome.findings.as_slice() else { panic!("{kind} {addresses:?}: {:?}", outcome.findings) };
        // Three of 20: 60 less the longest.
        assert_eq!((finding.time, finding.count), (Span(40), 1));
        let unknown = finding.facts.iter().find(|fact| fact.0 == "unknown_addresses").map(|fact| fact.1);
        assert_eq!(unknown, addresses[0].is_empty().then_some(2.0));
    }
    // Puts to the same bytes keep their order.
    assert!(figure(&text("put", "put", [", addr=0"; 3]), "serial_transfers").1.findings.is_empty());
    // Small ones in a row could be one: told there, not twice.
    let small = "resolution 1
        pe 0: main 0..100 { repeat 5 every 10 { shmem_putmem 0..10 put(to=1, bytes=8) } } pe 1: main 0..100";
    assert_eq!(figure(small, "small_transfers").1.findings.len(), 1);
    assert!(figure(small, "serial_transfers").1.findings.is_empty());
}

/// A put of 1 MiB comes back at 1 and is done at its target at 38, within a quiet from 10 to 40.
fn put_without_blocking(completion: &str) -> String {
    format!(
        "resolution 1000
         pe 0: main 0..50 {{ shmem_putmem_nbi 0..1 put(to=1, bytes=1048576, id=7) complete(7)@1  work 1..10  {completion} }}
         pe 1: main 0..50 {{ work 0..40 shmem_barrier_all 40..41 barrier }}"
    )
}

#[test]
fn of_a_quiet_only_a_bound_can_be_told() {
    let text = put_without_blocking("shmem_quiet 10..40 complete(7, kind=remote)@38  shmem_barrier_all 40..41 barrier");
    let (trace, outcome) = figure(&text, "overlap");
    let at = |column: &str| at_path(&trace, &outcome, "overlap", "main/shmem_quiet", column);
    assert_eq!(words(&outcome, "overlap", "synchronisation"), ["explicit"]);
    // SE − SB; TC − Enter; TC − SB; the delay is between nothing and TC − SB.
    assert_close(
        &["seconds", "transfer", "not_overlapped", "delay_least", "delay_most"].map(at),
        &[0.03, 0.038, 0.028, 0.0, 0.028],
    );
    // A put takes 5 ms on this machine, so its transfer began no later than 33.
    let machine = super::machine::options(&[("put", 2, &[(1 << 20, 5e-3)])]);
    let outcome = analyze_with(&trace, "overlap", &machine);
    assert_close(&numbers(&outcome, "overlap", "delay_most"), &[0.023]);
    // In the matrix it lasts until it was done at its target.
    let (_, matrix) = figure(&text, "matrix");
    assert_close(&numbers(&matrix, "communication", "seconds"), &[0.038]);
    // One that blocked has nothing left to overlap.
    let blocking = "pe 0: main 0..50 { shmem_putmem 0..9 put(to=1, id=7) complete(7, kind=blocking)  shmem_quiet 10..40 complete(7, kind=remote)@38 }
         pe 1: main 0..50";
    assert!(figure(blocking, "overlap").1.sections.is_empty());
}

#[test]
fn a_barrier_that_completes_what_nobody_asked_for_was_delayed() {
    let text = put_without_blocking("shmem_barrier_all 10..41 barrier complete(7, kind=remote)@38");
    let (trace, outcome) =
        figure(&text.replace("40..41 barrier", "12..41 barrier").replace("work 0..40", "work 0..12"), "overlap");
    let at = |column: &str| at_path(&trace, &outcome, "overlap", "main/shmem_barrier_all", column);
    assert_eq!(words(&outcome, "overlap", "synchronisation"), ["implicit"]);
    // TC − SB is 28; the first 2 the barrier waited for PE 1.
    assert_close(&["not_overlapped", "delay_least", "delay_most"].map(at), &[0.028, 0.026, 0.026]);
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
        // The same bytes of the same PE.
        "shmem_putmem 0..20 put(to=1, bytes=8, addr=4) shmem_putmem 20..40 put(to=1, bytes=8, addr=0)",
        // The same PE, which gets messages in their order.
        "MPI_Send 0..20 send(to=1) MPI_Send 20..40 send(to=1)",
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
