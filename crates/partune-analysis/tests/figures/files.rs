//! Files: the table of a program whose numbers are known, and what is wrong with how files are used.

use partune_analysis::{Finding, Options, Outcome, Pattern, Values};
use partune_base::{PeId, Span};
use partune_trace::Trace;

use super::{analyze_with, close, column, figure};

fn counts(outcome: &Outcome, name: &str) -> Vec<u64> {
    match column(outcome, "file_table", name) {
        Values::Count(values) => values.clone(),
        Values::Number(_, values) => values.iter().map(|value| *value as u64).collect(),
        other => panic!("{other:?}"),
    }
}

fn found(outcome: &Outcome, pattern: Pattern) -> Vec<&Finding> {
    outcome.findings.iter().filter(|finding| finding.pattern == pattern).collect()
}

fn name<'a>(trace: &'a Trace, finding: &Finding) -> &'a str {
    trace.files().get(finding.file).map_or("-", |file| trace.strings().get(file.name))
}

#[test]
fn the_table_counts_what_was_done() {
    let text = "resolution 1
        pe 0: main 0..1000 {
            fopen 0..10 opened(file=a)
            pread64 10..30 read(bytes=4096, file=a, at=0)
            pread64 30..40 read(bytes=100, file=a, at=next)
            pread64 40..50 read(bytes=100, file=a, at=next)
            pread64 50..60 read(bytes=50, file=a, at=10000)
            pread64 60..70 read(bytes=50, file=a, at=8192)
            pwrite64 70..100 write(bytes=7, file=a, at=0)
            fseek 100..101 seek(file=a, at=9)
            fsync 101..111 sync(file=a)
            pread64 111..112 read(bytes=1, file=b)
        }
        pe 1: main 0..1000 { pread64 0..5 read(bytes=100, file=a, at=4) fclose 5..8 closed(file=a) }";
    let (_, outcome) = figure(text, "files");
    let of = |name: &str| counts(&outcome, name);
    assert_eq!((of("pes"), of("opens"), of("reads"), of("writes")), (vec![2, 1], vec![1, 0], vec![6, 1], vec![1, 0]));
    assert_eq!((of("seeks"), of("syncs"), of("read_bytes")), (vec![1, 0], vec![1, 0], vec![4496, 1]));
    assert_eq!(
        (of("written_bytes"), of("smallest_bytes"), of("largest_bytes")),
        (vec![7, 0], vec![7, 1], vec![4096, 1])
    );
    // Three of 100 bytes; two of 50.
    assert_eq!((of("common_bytes"), of("common_accesses")), (vec![100, 1], vec![3, 1]));
    // Two follow, one lies behind, one before; the write and the other PE's read are their first.
    assert_eq!((of("placed"), of("consecutive"), of("sequential")), (vec![7, 0], vec![2, 0], vec![3, 0]));
    // At 4196, at 10000, and the other PE's at 4.
    assert_eq!(of("unaligned"), [3, 0]);
    assert_eq!((of("read_seconds"), of("write_seconds")), (vec![65, 1], vec![30, 0]));
    // Open, seek, sync and close.
    assert_eq!(of("other_seconds"), [10 + 1 + 10 + 3, 0]);
}

#[test]
fn no_files_no_section() {
    let (_, outcome) = figure("pe 0: main 0..10 { work 0..10 }", "files");
    assert!(outcome.sections.is_empty() && outcome.findings.is_empty());
}

fn writes(count: u32, bytes: u32, how: &str) -> String {
    format!(
        "resolution 1
        pe 0: main 0..100000 {{ repeat {count} every 20 {{ pwrite64 0..10 write(bytes={bytes}, file=out{how}) }} }}
        pe 1: main 0..100000"
    )
}

#[test]
fn many_small_accesses_in_a_row_could_be_few() {
    let (trace, outcome) = figure(&writes(200, 100, ", at=next"), "files");
    let [finding] = found(&outcome, Pattern::SmallAccesses)[..] else { panic!("{:?}", outcome.findings) };
    // One size: what one takes on average. 20,000 bytes are one block of a mebibyte.
    assert_eq!((finding.time, finding.count, name(&trace, finding)), (Span(1990), 200, "out"));
    assert_eq!(finding.pes, [(PeId(0), Span(1990))]);
    assert!(finding.facts.contains(&("mean_bytes", 100.0)) && finding.facts.contains(&("combined_seconds", 10.0)));
}

#[test]
fn a_line_tells_what_a_block_would_take() {
    // t = 5 + s / 100: 200 of 100 bytes take 6, and 200 of 500 take 10 each.
    let text = "resolution 1
        pe 0: main 0..100000 {
            repeat 200 every 30 { pwrite64 0..6 write(bytes=100, file=out, at=next) pwrite64 10..20 write(bytes=500, file=out, at=next) }
        }
        pe 1: main 0..100000";
    let (_, outcome) = figure(text, "files");
    let [finding] = found(&outcome, Pattern::SmallAccesses)[..] else { panic!("{:?}", outcome.findings) };
    // 3,200 in all; 120,000 bytes at once take 5 + 1,200.
    assert_eq!(finding.time, Span(3200 - 1205));
    assert!(finding.facts.iter().any(|(name, value)| *name == "overhead_seconds" && close(*value, 5.0)));
}

#[test]
fn accesses_that_are_few_large_buffered_or_scattered_are_not_blamed() {
    for text in [
        writes(99, 100, ", at=next"),
        writes(200, 4096, ", at=next"),
        writes(200, 100, ", at=next, by=stream"),
        writes(200, 100, ", at=next, by=mpi"),
        // Each where the last one began.
        writes(200, 100, ", at=500"),
    ] {
        let (_, outcome) = figure(&text, "files");
        assert!(found(&outcome, Pattern::SmallAccesses).is_empty(), "{text}: {:?}", outcome.findings);
    }
    let options = Options { file_block: 64, ..Options::default() };
    let (trace, _) = figure(&writes(200, 100, ", at=next"), "files");
    assert!(found(&analyze_with(&trace, "files", &options), Pattern::SmallAccesses).is_empty());
}

/// PE 0 writes for 500 while the others wait at a barrier.
fn one_writes(others: &str) -> String {
    format!(
        "resolution 1
        pe 0: main 0..1000 {{ work 0..100 pwrite64 100..600 write(bytes=9000000, file=out) work 600..700 MPI_Barrier 700..701 barrier }}
        pe 1 2: main 0..1000 {{ work 0..100 {others} MPI_Barrier 650..701 barrier }}"
    )
}

#[test]
fn one_writes_and_the_others_wait() {
    let text = one_writes("").replace("MPI_Barrier 650..701", "MPI_Barrier 200..701");
    let (trace, outcome) = figure(&text, "files");
    let [finding] = found(&outcome, Pattern::SerialIo)[..] else { panic!("{:?}", outcome.findings) };
    // From 200 to 600; from 600 to 700 it computes.
    assert_eq!((finding.time, finding.pes.as_slice()), (Span(800), &[(PeId(1), Span(400)), (PeId(2), Span(400))][..]));
    assert_eq!((finding.causes[0].pe, finding.causes[0].path), (PeId(0), finding.path));
    let region = trace.regions()[trace.paths().region(finding.path)].construct;
    assert_eq!(trace.strings().get(region), "pwrite64");
    assert!(finding.facts.contains(&("io_share", 1.0)));
}

#[test]
fn nobody_is_blamed_who_kept_nobody_waiting_or_was_not_alone() {
    // They come when it has written.
    let (_, outcome) = figure(&one_writes(""), "files");
    assert!(found(&outcome, Pattern::SerialIo).is_empty(), "{:?}", outcome.findings);
    let both = one_writes("pwrite64 100..190 write(bytes=9, file=out)")
        .replace("MPI_Barrier 650..701", "MPI_Barrier 200..701");
    assert!(found(&figure(&both, "files").1, Pattern::SerialIo).is_empty());
}

#[test]
fn all_read_the_same() {
    let text = "resolution 1
        pe 0: main 0..1000 { repeat 10 every 50 { pread64 0..20 read(bytes=1000, file=in, at=next) } }
        pe 1 2: main 0..1000 { pread64 0..100 read(bytes=10000, file=in, at=0) }";
    let (trace, outcome) = figure(text, "files");
    let [finding] = found(&outcome, Pattern::SameFileReadByAll)[..] else { panic!("{:?}", outcome.findings) };
    // All but the one that took longest, which took 200.
    assert_eq!((finding.time, finding.count, name(&trace, finding)), (Span(200), 12, "in"));
    assert!(finding.facts.contains(&("processes", 3.0)));
    for other in [
        text.replace(
            "pe 1 2: main 0..1000 { pread64 0..100 read(bytes=10000,",
            "pe 1 2: main 0..1000 { pread64 0..100 read(bytes=9999,",
        ),
        text.replace("pe 1 2: main 0..1000 {", "pe 2: main 0..1000 work 0..1000 pe 1: main 0..1000 {")
            .replace("main 0..1000 work 0..1000", "main 0..1000 { work 0..1000 }"),
        text.replace(", at=0", ""),
        text.replace(", at=0", ", at=0, by=mpi"),
    ] {
        assert!(found(&figure(&other, "files").1, Pattern::SameFileReadByAll).is_empty(), "{other}");
    }
}

#[test]
fn synchronised_again_and_again() {
    let text = |count: u32| {
        format!(
            "resolution 1 pe 0: main 0..1000 {{ repeat {count} every 50 {{ work 0..10 fsync 10..30 sync(file=out) }} }}"
        )
    };
    let (trace, outcome) = figure(&text(10), "files");
    let [finding] = found(&outcome, Pattern::SyncInLoop)[..] else { panic!("{:?}", outcome.findings) };
    assert_eq!((finding.time, finding.count, name(&trace, finding)), (Span(180), 10, "out"));
    assert!(found(&figure(&text(9), "files").1, Pattern::SyncInLoop).is_empty());
    // What a stream gathered is handed to the system, and is on no device.
    let handed = text(10).replace("fsync", "fflush").replace("file=out", "file=out, by=stream");
    assert!(found(&figure(&handed, "files").1, Pattern::SyncInLoop).is_empty());
}

#[test]
fn who_holds_the_lock_of_a_file_keeps_others_waiting() {
    let text = "resolution 1
        pe 0: main 0..100 { lockf 0..1 acquire(5) work 1..60 lockf 60..61 release(5) }
        pe 1: main 0..100 { work 0..10 lockf 10..62 acquire(5) work 62..70 lockf 70..71 release(5) }";
    let (_, outcome) = figure(text, "wait_states");
    let [finding] = found(&outcome, Pattern::WaitOnLock)[..] else { panic!("{:?}", outcome.findings) };
    assert_eq!((finding.time, finding.causes[0].pe), (Span(50), PeId(0)));
}
