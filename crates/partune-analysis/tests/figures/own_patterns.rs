//! Patterns of the user's own, and functions that are operations: answers that can be worked out by hand.

use partune_analysis::{Finding, Options, Waits};
use partune_base::{PeId, Span};
use partune_index::Index;

use super::analyze_with;

/// Name, seconds, count, and seconds by PE.
type Told = (&'static str, i64, u64, Vec<(PeId, Span)>);

/// The findings of a file in a trace.
fn found(text: &str, file: &str) -> Vec<Told> {
    let operations = partune_operations::read(file).unwrap();
    let trace = operations.assign(partune_testkit::trace(text));
    let told = |it: Finding| (it.pattern.name(), it.time.0, it.count, it.pes);
    let options = Options { operations, ..Options::default() };
    analyze_with(&trace, "own_patterns", &options).findings.into_iter().map(told).collect()
}

fn pes(of: &[(u32, i64)]) -> Vec<(PeId, Span)> {
    of.iter().map(|(pe, time)| (PeId(*pe), Span(*time))).collect()
}

/// Gaps before barriers: 0 has 30 and 5, 1 has 10 and 25, and the barriers of 1 end when 0 comes.
const GAPS: &str = "
    resolution 1000
    pe 0: main 0..100 { MPI_Barrier 0..1 barrier  MPI_Barrier 31..32 barrier  MPI_Barrier 37..58 barrier }
    pe 1: main 0..100 { MPI_Barrier 0..1 barrier  MPI_Barrier 11..32 barrier  MPI_Barrier 57..58 barrier }";

#[test]
fn a_pattern_that_speaks_of_gaps_counts_them() {
    let file = "[[pattern]]\nname = 'slow_gap'\nwhen = 'role = group_sync and gap_before > 20 ms'";
    assert_eq!(found(GAPS, file), [("user:slow_gap", 55, 2, pes(&[(0, 30), (1, 25)]))]);
    // Exactly 30 ms is not more, and the first operation has no gap, however late it is.
    let file = "[[pattern]]\nname = 'slow_gap'\nwhen = 'role = group_sync and gap_before > 30 ms'";
    assert_eq!(found(GAPS, file), []);
    let late = "resolution 1000  pe 0: main 0..100 { MPI_Barrier 90..91 barrier }";
    assert_eq!(found(late, "[[pattern]]\nname = 'any_gap'\nwhen = 'gap_before > 0'"), []);
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let file = "[[pattern]]\nname = 'a'\nwhen = 'time > 0'\n[[pattern]]\nname = 'b'\nwhen = 'gap_before > 0'";
    let pe = |pe: u32| format!("pe {pe}: main 0..100 {{ f 1..9 {{ MPI_Barrier 2..8 }} MPI_Barrier 20..90 }}\n");
    let pes: Vec<String> = (0..16).map(pe).collect();
    let operations = partune_operations::read(file).unwrap();
    let options = Options { operations, ..Options::default() };
    let trace = partune_testkit::trace(&pes.concat());
    let of = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| analyze_with(&trace, "own_patterns", &options).findings)
    };
    let one = of(1);
    let told: Vec<_> = one.iter().map(|it| (it.pattern.name(), it.time.0, it.count, it.occurrences.len())).collect();
    assert_eq!(told, [("user:a", 96, 16, 5), ("user:a", 1120, 16, 5), ("user:b", 192, 16, 5)]);
    assert_eq!(one, of(8));
}

#[test]
fn another_pattern_counts_the_operation() {
    let file =
        "[[pattern]]\nname = 'waits'\nwhen = 'waiting >= 20 ms'\n[[pattern]]\nname = 'long'\nwhen = 'time > 1 ms'";
    let both = pes(&[(0, 21), (1, 21)]);
    assert_eq!(found(GAPS, file), [("user:waits", 42, 2, both.clone()), ("user:long", 42, 2, both)]);
    assert_eq!(found(GAPS, "[[pattern]]\nname = 'long'\nwhen = 'time > 1 ms and role = send'"), []);
}

/// `put` of the user's has the bytes of the message inside; `idle` has none.
#[test]
fn functions_are_operations_with_what_happens_inside() {
    let text = "
        resolution 1
        pe 0: main 0..100 { my_put 10..30 { MPI_Send 12..30 send(to=1, bytes=2000) }  my_idle 40..70 }
        pe 1: main 0..100 { MPI_Recv 0..30 recv(from=0, bytes=2000) }";
    let file = "[[operation]]\nname = 'my_put'\nrole = 'send'\n[[operation]]\nname = 'my_idle'\nrole = 'send'\n\
                [[pattern]]\nname = 'moves'\nwhen = 'role = send and bytes >= 2 kB'\n\
                [[pattern]]\nname = 'by_name'\nwhen = \"construct = 'my_*'\"\n\
                [[pattern]]\nname = 'inside'\nwhen = 'construct = MPI_Send'";
    let by_name = [("user:by_name", 20, 1, pes(&[(0, 20)])), ("user:by_name", 30, 1, pes(&[(0, 30)]))];
    let mut expected = vec![("user:moves", 20, 1, pes(&[(0, 20)]))];
    expected.extend(by_name);
    assert_eq!(found(text, file), expected);
}

/// A barrier of the user's without any construct inside: who came early waits for the last one if it is one of the world.
#[test]
fn a_barrier_of_the_users_is_waited_at() {
    let text = "
        resolution 1
        pe 0: main 0..100 { my_barrier 10..61 MPI_Send 70..71 send(to=1, bytes=8) }
        pe 1: main 0..100 { my_barrier 60..61 MPI_Recv 70..71 recv(from=0, bytes=8) }";
    let waits = |file: &str| -> Vec<(PeId, i64)> {
        let trace = partune_operations::read(file).unwrap().assign(partune_testkit::trace(text));
        let found = Waits::find(&trace, &Index::build(&trace));
        found.iter().map(|wait| (wait.pe, wait.duration().0)).collect()
    };
    assert_eq!(waits("[[operation]]\nname = 'my_barrier'\nrole = 'group_sync'\ngroup = 'world'"), [(PeId(0), 50)]);
    assert_eq!(waits(""), []);
}
