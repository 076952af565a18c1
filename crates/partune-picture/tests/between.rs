//! What goes between PEs against what can be worked out by hand.

use partune_base::{PeId, Span};
use partune_index::Index;
use partune_picture::{Between, Exchanges, First, Fold, Moved};
use partune_testkit::{pe, trace};
use partune_trace::Trace;

/// Messages of 1, 2, … 40 bytes, each of them longer on its way; one that nobody receives; puts there, and gets back.
fn given() -> Trace {
    let messages = |line: &dyn Fn(usize) -> String| (1..=40).map(line).collect::<String>();
    let sends = messages(&|n| format!("MPI_Send {}..{} send(to=1, bytes={n}) ", n * 100, n * 100 + 5));
    let receives = messages(&|n| format!("MPI_Recv {}..{} recv(from=0, bytes={n}) ", n * 100, n * 100 + 10 + n));
    trace(&format!(
        "pe 0: main 0..9000 {{ {sends} MPI_Send 5000..5001 send(to=1, tag=9, bytes=7)
             shmem_putmem_nbi 6000..6001 put(to=1, bytes=64, id=7) shmem_quiet 6010..6020 complete(7, kind=remote)@6020 }}
         pe 1: main 0..9000 {{ {receives} shmem_getmem 7000..7030 get(from=0, bytes=32, id=8) complete(8)@7030 }}
         pe 2: main 0..9000"
    ))
}

fn between(trace: &Trace, from: &[PeId], to: &[PeId], asked: (First, usize)) -> Between {
    Between::new(trace, &Index::build(trace), (from, to), asked)
}

#[test]
fn what_one_gave_another_is_a_cell_of_the_matrix() {
    let trace = given();
    let [zero, one, two] = [0, 1, 2].map(|number| pe(&trace, number));
    let fold = Fold::new(vec![zero, one, two], 9);
    let exchanges = Exchanges::new(&trace, &Index::build(&trace), &fold);
    let pes = [zero, one, two];
    for (from, row) in pes.iter().zip(exchanges.rows()) {
        for (to, cell) in pes.iter().zip(row) {
            let found = between(&trace, &[*from], &[*to], (First::Slowest, 5));
            assert_eq!(found.total, *cell, "{from:?} to {to:?}");
            assert_eq!(found.sizes.iter().map(|class| class.count).sum::<u64>(), cell.count);
            assert_eq!(found.sizes.iter().map(|class| class.bytes).sum::<u64>(), cell.bytes);
        }
    }
    let all = between(&trace, &pes, &pes, (First::Slowest, 5));
    assert_eq!((all.total, all.total.count), (exchanges.total(), 43));
}

#[test]
fn sizes_and_times_are_in_classes() {
    let trace = given();
    let found = between(&trace, &[pe(&trace, 0)], &[pe(&trace, 1)], (First::Largest, 2));
    assert_eq!((found.unmatched, found.backwards), (1, 0));
    // 1; 2, 3; 4 to 7 and the lost one of 7; 8 to 15; 16 to 31; 32 to 40 and the get; the put.
    let sizes: Vec<(u64, Option<u64>, u64)> = found.sizes.iter().map(|it| (it.from, it.to, it.count)).collect();
    let expected = [1, 2, 4, 8, 16, 32, 64].map(|from| (from, Some(2 * from)));
    let counts = [1, 2, 5, 8, 16, 10, 1];
    assert_eq!(sizes, expected.iter().zip(counts).map(|((from, to), count)| (*from, *to, count)).collect::<Vec<_>>());
    // From the send's begin to the receive's end: 11 to 50 ns; the put 20, the get 30.
    let times: Vec<(i64, i64, u64)> = found.durations.iter().map(|it| (it.from, it.to, it.count)).collect();
    assert_eq!(times, [(10, 20, 9), (20, 50, 32), (50, 100, 1)]);
}

#[test]
fn the_first_are_those_that_are_asked_for() {
    let trace = given();
    let pes = [pe(&trace, 0), pe(&trace, 1)];
    let first = |order| -> Vec<i64> {
        let found = between(&trace, &pes[..1], &pes[1..], (order, 3));
        let lasted = |moved: &Moved| {
            let ((_, begin), (_, end)) = moved.ends(&trace);
            end.since(begin)
        };
        found.first.iter().map(|moved| lasted(moved).0).collect()
    };
    assert_eq!(first(First::Slowest), [50, 49, 48]);
    assert_eq!(first(First::Earliest), [11, 12, 13]);
    assert_eq!(first(First::Largest), [20, 50, 49], "the put has 64 bytes");
    assert_eq!(between(&trace, &pes[..1], &pes[1..], (First::Slowest, 0)).first, []);
    assert_eq!(between(&trace, &pes[1..], &pes[..1], (First::Slowest, 9)).total.time, Span::ZERO);
}
