//! Ten operations of one-sided programs, computed by hand from what `otf2-print` shows: see docs/pgas-by-hand.md.

use std::collections::BTreeMap;

use partune_engine::inside::{self, Inside};
use partune_engine::{Diagnosis, Request, analyze, open};
use partune_testkit::outside;

use crate::archives::archives;

/// One operation and what it waited for; times in ticks since the begin of the archive's clock.
struct Expected {
    archive: &'static str,
    pe: u32,
    construct: &'static str,
    enter: i64,
    exit: i64,
    /// Pattern, PE, construct and enter of the cause, and how long.
    wait: Option<(&'static str, u32, &'static str, i64, i64)>,
}

const SHMEM: &str = "scorep84-prk-shmem-p2p-4";
const CAF: &str = "scorep84-caf-p2p-4";

const fn expect(
    archive: &'static str,
    (pe, construct, enter, exit): (u32, &'static str, i64, i64),
    wait: Option<(&'static str, u32, &'static str, i64, i64)>,
) -> Expected {
    Expected { archive, pe, construct, enter, exit, wait }
}

#[rustfmt::skip]
const EXPECTED: [Expected; 10] = [
    expect(SHMEM, (0, "shmem_int_wait_until", 3_915_352_351, 3_936_275_981), Some(("wait_on_value", 3, "shmem_int_p", 3_927_563_069, 12_211_938))),
    expect(SHMEM, (1, "shmem_int_wait_until", 3_980_198_945, 4_002_366_291), Some(("wait_on_value", 0, "shmem_int_p", 3_999_939_149, 19_740_600))),
    expect(SHMEM, (2, "shmem_int_wait_until", 3_900_776_453, 3_903_572_525), Some(("wait_on_value", 1, "shmem_int_p", 3_901_743_505, 967_518))),
    expect(SHMEM, (3, "shmem_int_wait_until", 3_947_198_153, 3_971_325_417), Some(("wait_on_value", 2, "shmem_int_p", 3_970_680_201, 23_482_444))),
    expect(SHMEM, (0, "shmem_barrier_all", 3_702_423_235, 3_713_418_905), Some(("wait_at_barrier", 1, "shmem_barrier_all", 3_713_241_745, 10_818_510))),
    expect(SHMEM, (2, "shmem_barrier_all", 3_903_930_005, 3_916_600_377), Some(("wait_at_barrier", 3, "shmem_barrier_all", 3_912_425_655, 8_495_650))),
    expect(SHMEM, (0, "shmem_long_max_to_all", 3_713_439_099, 3_718_769_957), Some(("wait_at_nxn", 1, "shmem_long_max_to_all", 3_717_607_181, 4_168_082))),
    expect(SHMEM, (0, "shmem_double_max_to_all", 3_999_949_529, 4_018_510_023), Some(("wait_at_nxn", 3, "shmem_double_max_to_all", 4_009_961_937, 10_012_408))),
    expect(CAF, (0, "MPI_Win_lock", 1_594_666_612, 1_595_360_122), None),
    expect(CAF, (3, "MPI_Waitany", 1_560_124_047, 1_561_217_711), Some(("late_sender", 2, "MPI_Send", 1_561_041_720, 917_673))),
];

/// Diagnoses of the archives that are here.
fn diagnoses() -> BTreeMap<String, Diagnosis> {
    let wanted = archives().into_iter().filter(|archive| archive.name == SHMEM || archive.name == CAF);
    wanted
        .map(|archive| {
            let opened = open(&archive.anchor, &()).expect("it opens");
            (archive.name, analyze(opened, &Request::default(), &()))
        })
        .collect()
}

#[test]
fn ten_operations_by_hand() {
    let diagnoses = diagnoses();
    for (number, expected) in EXPECTED.iter().enumerate().map(|(i, expected)| (i + 1, expected)) {
        let Some(Inside { trace, waits, .. }) = diagnoses.get(expected.archive).map(inside::of) else {
            outside::skipped(&format!("row {number}, since {} is not here", expected.archive));
            continue;
        };
        let (pe, stream) = trace.streams().iter_ids().find(|(pe, _)| pe.0 == expected.pe).expect("the PE is there");
        let at = stream.visits.enter.iter().position(|enter| enter.0 == expected.enter).expect("it is entered then");
        assert_eq!(stream.visits.exit[at].0, expected.exit, "row {number}");
        let construct = |pe, visit| trace.strings().get(trace.region_of(pe, visit).name);
        let mut found = waits.of_pe(pe).iter().filter(|wait| wait.operation.index() == at);
        let wait = found.next().map(|wait| {
            assert_eq!(construct(pe, wait.operation), expected.construct, "row {number}");
            let cause = wait.cause;
            (wait.pattern.name(), cause.pe.0, construct(cause.pe, cause.visit), cause.enter(trace).0, wait.duration().0)
        });
        assert_eq!(wait, expected.wait, "row {number}");
        assert!(found.next().is_none(), "row {number}: an operation waits once");
    }
}

#[test]
fn the_offsets_of_the_shmem_archive_are_not_believed() {
    let Some(diagnosis) = diagnoses().remove(SHMEM) else { return };
    let Inside { trace, index, repair, .. } = inside::of(&diagnosis);
    assert!(repair.offsets_taken_back);
    assert_eq!((repair.violated_collectives, repair.moved_events), (14, 0));
    assert!(!index.clocks.found.is_needed());
    // The k-th flag of a PE is set by the k-th put of the one before it: no PE saw its flag before it was set.
    let (pes, times): (Vec<_>, Vec<_>) = trace
        .streams()
        .iter_ids()
        .map(|(pe, stream)| {
            let visits = &stream.visits;
            let of = |name: &str| {
                let is = |i: &usize| {
                    let region = &trace.regions()[trace.paths().region(visits.path[*i])];
                    trace.strings().get(region.name) == name
                };
                (0..visits.len()).filter(is).map(|i| (visits.enter[i], visits.exit[i])).collect::<Vec<_>>()
            };
            (pe, (of("shmem_int_p"), of("shmem_int_wait_until")))
        })
        .unzip();
    for (pe, before) in pes.iter().zip(&pes).skip(1).map(|(pe, _)| (pe.0 as usize, pe.0 as usize - 1)) {
        let (puts, waits) = (&times[before].0, &times[pe].1);
        assert_eq!((puts.len(), waits.len()), (594, 594));
        assert!(puts.iter().zip(waits).all(|(put, wait)| put.0 <= wait.1), "PE {pe}");
    }
}

/// What the events of the archives become: rows by kind, all of them.
#[test]
fn every_one_sided_event_becomes_a_row() {
    let diagnoses = diagnoses();
    let counts = |name: &str| {
        let trace = inside::of(diagnoses.get(name)?).trace;
        let mut sum = [0; 5];
        for stream in trace.streams() {
            let rows = [
                stream.transfers.len(),
                stream.completions.len(),
                stream.rma_syncs.len(),
                stream.collectives.len(),
                stream.locks.len(),
            ];
            sum.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows);
        }
        Some(sum)
    };
    // Puts, completions, waits for changes or windows made and freed, collectives, locks.
    if let Some(counts) = counts(SHMEM) {
        assert_eq!(counts, [3576, 3576 + 8, 1788, 56, 0]);
    }
    if let Some(counts) = counts(CAF) {
        assert_eq!(counts, [472, 472 + 472, 12 + 12, 40 + 24, 476 + 476]);
    }
    // No two PEs want one lock, nobody puts where another does at the same time: no wait for locks or accesses.
    if let Some(Inside { index, waits, .. }) = diagnoses.get(CAF).map(inside::of) {
        assert_eq!(index.locks.grants.len(), 476);
        assert!(index.locks.by_lock().all(|grants| grants.iter().all(|grant| grant.pe == grants[0].pe)));
        let patterns = ["wait_on_lock", "competing_put_get"];
        assert!(waits.iter().all(|wait| !patterns.contains(&wait.pattern.name())));
    }
}
