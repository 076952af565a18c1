//! Who gives what to whom, and what bound whom.

use partune_index::{Binding, Index, Part, TieKind, Ties};
use partune_testkit::{pe, thread, visit};
use partune_trace::Trace;

fn bindings(trace: &Trace, index: &Index) -> Vec<Binding> {
    let ties = Ties::build(trace, index);
    trace.pes().ids().flat_map(|pe| ties.binding(trace, index, pe)).collect()
}

fn found(text: &str) -> (Trace, Vec<Binding>) {
    let (trace, index) = crate::index(text);
    let found = bindings(&trace, &index);
    (trace, found)
}

fn shape(row: &Binding) -> (TieKind, u32, i64, u32, i64) {
    (row.kind, row.taker.pe.0, row.since.0, row.gift.place.pe.0, row.gift.time.0)
}

/// PEs and times.
type Moments = Vec<(u32, i64)>;

/// For each tie of a kind: who gives and who takes, at which times.
fn ends(text: &str, kind: TieKind) -> Vec<(Moments, Moments)> {
    let (trace, index) = crate::index(text);
    let ties = Ties::build(&trace, &index);
    let sides = |tie: u32| {
        let mut sides: (Moments, Moments) = Default::default();
        for pe in trace.pes().ids() {
            for end in ties.of_pe(&trace, &index, pe).iter().filter(|end| end.tie == tie) {
                let side = if matches!(end.part, Part::Gives | Part::PassesOn) { &mut sides.0 } else { &mut sides.1 };
                side.push((pe.0, end.time.0));
            }
        }
        assert_eq!(sides.0.len(), ties.givers(tie) as usize, "what is expected is given");
        sides
    };
    (0..ties.len() as u32).filter(|tie| ties.kind(*tie) == kind).map(sides).collect()
}

#[test]
fn messages_both_ways() {
    let (trace, found) = found(
        "pe 0: main 0..100 { work 0..30 MPI_Send 30..32 send(1) MPI_Ssend 40..70 send(1, tag=1) }
         pe 1: main 0..100 { MPI_Recv 10..33 recv(0) work 33..60 MPI_Recv 60..70 recv(0, tag=1) }",
    );
    let all: Vec<_> = found.iter().map(shape).collect();
    assert_eq!(all, [(TieKind::Synchronous, 0, 40, 1, 60), (TieKind::Message, 1, 10, 0, 30)]);
    assert_eq!(found[1].taker.visit, partune_trace::VisitIx(1));
    assert_eq!(found[1].gift.place.visit, visit(&trace, 0, "main/MPI_Send"));
}

#[test]
fn a_send_that_may_wait_is_tied_to_a_late_receive_only() {
    let text = |send: &str, recv: &str| {
        format!(
            "pe 0: main 0..100 {{ {send} 10..40 send(1) }}
             pe 1: main 0..100 {{ MPI_Recv {recv} recv(0) }}"
        )
    };
    let late = ends(&text("MPI_Send", "20..41"), TieKind::Rendezvous);
    assert_eq!(late, [(vec![(1, 20)], vec![(0, 10)])]);
    assert_eq!(ends(&text("MPI_Send", "5..41"), TieKind::Rendezvous), []);
    assert_eq!(ends(&text("MPI_Bsend", "20..41"), TieKind::Rendezvous), []);
    // A synchronous one needs its receive whenever that came.
    assert_eq!(ends(&text("MPI_Ssend", "5..41"), TieKind::Synchronous), [(vec![(1, 5)], vec![(0, 10)])]);
}

/// A thread in a barrier runs a task that another one creates meanwhile, and then waits on, for the other one to come or, where that came before, for nobody.
#[test]
fn a_task_in_a_barrier_comes_from_its_creation() {
    let text = |end: i64| {
        format!(
            "team t = 0.0 0.1
             pe 0: \"!$omp parallel\" 0..100 fork join {{ \"!$omp parallel\" 0..99 team(t) {{
                 serial 0..40 \"!$omp create task\" 40..42 serial 42..60 \"!$omp implicit barrier\" 60..90 }} }}
             pe 0.1: \"!$omp parallel\" 1..98 team(t) {{ \"!$omp implicit barrier\" 2..42 \"!$omp task\" 42..{end} \"!$omp wait for tasks\" {end}..90 }}"
        )
    };
    let barrier = |end| ends(&text(end), TieKind::Collective);
    assert_eq!(ends(&text(80), TieKind::Task), [(vec![(1, 80)], vec![(0, 60)]), (vec![(0, 40)], vec![(1, 2)])]);
    assert_eq!(barrier(80), [(vec![(0, 60), (1, 2)], vec![(0, 60), (1, 80)])]);
    let bound = |end| {
        let (_, found) = found(&text(end));
        found.iter().filter(|row| row.kind != TieKind::Fork).map(shape).collect::<Vec<_>>()
    };
    assert_eq!(bound(80), [(TieKind::Task, 0, 60, 1, 80), (TieKind::Task, 1, 2, 0, 40)]);
    assert_eq!(bound(50), [(TieKind::Task, 1, 2, 0, 40), (TieKind::Collective, 1, 50, 0, 60)]);
}

#[test]
fn collectives_by_shape() {
    let (_, found) = found(
        "pe 0: main 0..200 { MPI_Barrier 10..31 barrier MPI_Bcast 50..60 bcast(root=0) MPI_Reduce 70..92 reduce(root=0) MPI_Scan 110..120 scan }
         pe 1: main 0..200 { MPI_Barrier 20..32 barrier MPI_Bcast 40..61 bcast(root=0) MPI_Reduce 90..91 reduce(root=0) MPI_Scan 101..120 scan }
         pe 2: main 0..200 { MPI_Barrier 30..33 barrier MPI_Bcast 55..62 bcast(root=0) MPI_Reduce 80..81 reduce(root=0) MPI_Scan 105..120 scan }",
    );
    let all: Vec<_> = found.iter().map(|row| (row.taker.pe.0, row.gift.place.pe.0, row.gift.time.0)).collect();
    assert_eq!(all, [(0, 2, 30), (0, 1, 90), (1, 2, 30), (1, 0, 50), (1, 0, 110), (2, 0, 110)]);
}

#[test]
fn locks_values_and_teams() {
    let (trace, found) = found(
        "team t = 0.0 0.1
         pe 0: main 0..200 { \"!$omp parallel\" 0..80 fork join team(t)@2 { shmem_set_lock 10..31 lock(1) } shmem_wait_until 90..120 wait_change }
         pe 0.1: \"!$omp parallel\" 5..79 team(t) { shmem_set_lock 6..7 lock(1) shmem_clear_lock 29..30 unlock(1) }
         pe 1: main 0..200 { shmem_int_p 100..110 put(0) }",
    );
    let (main, worker) = (pe(&trace, 0), thread(&trace, 0, 1));
    let kinds: Vec<_> = found.iter().map(|row| (row.kind, row.taker.pe, row.gift.place.pe, row.gift.time.0)).collect();
    assert!(kinds.contains(&(TieKind::Lock, main, worker, 29)), "{kinds:?}");
    assert!(kinds.contains(&(TieKind::Value, main, pe(&trace, 1), 110)), "{kinds:?}");
    assert!(kinds.contains(&(TieKind::Fork, worker, main, 0)), "{kinds:?}");
}

#[test]
fn a_scan_goes_along_ranks_whatever_the_numbers_of_pes() {
    // Rank 0 is PE 1, rank 1 is PE 2, rank 2 is PE 0.
    let text = "group turned = 1 2 0
         pe 0: main 0..200 { MPI_Scan 110..130 scan(turned) }
         pe 1: main 0..200 { MPI_Scan 101..120 scan(turned) }
         pe 2: main 0..200 { MPI_Scan 105..120 scan(turned) }";
    assert_eq!(ends(text, TieKind::Collective), [(vec![(1, 101)], vec![(2, 105)]), (vec![(2, 105)], vec![(0, 110)])]);
    assert_eq!(found(text).1, []);
}

#[test]
fn who_wants_a_lock_alone_takes_it_from_all_that_shared_it() {
    let text = "pe 0: main 0..200 { shmem_set_lock 10..11 lock(1, shared) shmem_clear_lock 50..51 unlock(1, shared) }
         pe 1: main 0..200 { shmem_set_lock 12..13 lock(1, shared) shmem_clear_lock 30..31 unlock(1, shared) }
         pe 2: main 0..200 { shmem_set_lock 20..52 lock(1) shmem_clear_lock 60..61 unlock(1) }";
    // Those that share it do not need each other.
    assert_eq!(ends(text, TieKind::Lock), [(vec![(0, 50), (1, 30)], vec![(2, 20)])]);
    let bound: Vec<_> = found(text).1.iter().map(shape).collect();
    assert_eq!(bound, [(TieKind::Lock, 2, 20, 0, 50)]);
}

#[test]
fn groups_give_to_each_other_and_a_stranger_to_nobody() {
    let text = |root: &str| {
        format!(
            "inter both = 0 1 | 2
             pe 0: main 0..100 {{ MPI_Barrier 10..41 barrier(both) MPI_Bcast 50..60 bcast(both{root}) }}
             pe 1: main 0..100 {{ MPI_Barrier 20..41 barrier(both) MPI_Bcast 51..60 bcast(both{root}) }}
             pe 2: main 0..100 {{ MPI_Barrier 40..42 barrier(both) MPI_Bcast 52..60 bcast(both{root}) }}"
        )
    };
    let barrier = [(vec![(0, 10), (1, 20)], vec![(2, 40)]), (vec![(2, 40)], vec![(0, 10), (1, 20)])];
    // From PE 0 to the other side only: PE 1 has no part in it.
    let from_root = (vec![(0, 50)], vec![(2, 52)]);
    assert_eq!(ends(&text(", root=0"), TieKind::Collective), [&barrier[..], &[from_root]].concat());
    assert_eq!(ends(&text(""), TieKind::Collective), barrier);
}

#[test]
fn a_thread_needs_its_creation_and_its_end_is_needed() {
    let text = "group threads = 0.0 0.1
         pe 0: main 0..100 { pthread_create 10..12 create(threads, seq=1) pthread_join 30..61 wait(threads, seq=1) }
         pe 0.1: start 15..60 begin(threads, seq=1) end(threads, seq=1) { work 20..50 }";
    let ties = ends(text, TieKind::Creation);
    assert_eq!(ties, [(vec![(0, 10)], vec![(1, 15)]), (vec![(1, 60)], vec![(0, 30)])]);
    let bound: Vec<_> = found(text).1.iter().map(shape).collect();
    assert_eq!(bound, [(TieKind::Creation, 0, 30, 1, 60), (TieKind::Creation, 1, partune_base::Time::MIN.0, 0, 10)]);
}
