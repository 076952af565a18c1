//! Who ended whose wait.

use partune_index::{Dependence, DependenceKind, Dependences, Place};
use partune_testkit::{pe, thread, visit};

fn dependences(text: &str) -> (partune_trace::Trace, Dependences) {
    let (trace, index) = crate::index(text);
    let found = Dependences::build(&trace, &index);
    (trace, found)
}

fn shape(row: &Dependence) -> (DependenceKind, u32, i64, u32, i64) {
    (row.kind, row.effect.pe.0, row.from.0, row.cause.pe.0, row.at.0)
}

#[test]
fn messages_both_ways() {
    let (trace, found) = dependences(
        "pe 0: main 0..100 { work 0..30 MPI_Send 30..32 send(1) MPI_Ssend 40..70 send(1, tag=1) }
         pe 1: main 0..100 { MPI_Recv 10..33 recv(0) work 33..60 MPI_Recv 60..70 recv(0, tag=1) }",
    );
    let all: Vec<_> = found.iter().map(shape).collect();
    assert_eq!(all, [(DependenceKind::Handshake, 0, 40, 1, 60), (DependenceKind::Message, 1, 10, 0, 30)]);
    let recv = Place { pe: pe(&trace, 1), visit: partune_trace::VisitIx(1) };
    assert_eq!(found.last_of(recv).map(|row| row.cause.visit), Some(visit(&trace, 0, "main/MPI_Send")));
    assert!(found.of(Place::NONE).is_empty());
}

#[test]
fn collectives_by_shape() {
    let (_, found) = dependences(
        "pe 0: main 0..200 { MPI_Barrier 10..31 barrier MPI_Bcast 50..60 bcast(root=0) MPI_Reduce 70..92 reduce(root=0) MPI_Scan 110..120 scan }
         pe 1: main 0..200 { MPI_Barrier 20..32 barrier MPI_Bcast 40..61 bcast(root=0) MPI_Reduce 90..91 reduce(root=0) MPI_Scan 101..120 scan }
         pe 2: main 0..200 { MPI_Barrier 30..33 barrier MPI_Bcast 55..62 bcast(root=0) MPI_Reduce 80..81 reduce(root=0) MPI_Scan 105..120 scan }",
    );
    let all: Vec<_> = found.iter().map(|row| (row.effect.pe.0, row.cause.pe.0, row.at.0)).collect();
    assert_eq!(all, [(0, 2, 30), (0, 1, 90), (1, 2, 30), (1, 0, 50), (1, 0, 110), (2, 0, 110)]);
}

#[test]
fn locks_values_and_teams() {
    let (trace, found) = dependences(
        "team t = 0.0 0.1
         pe 0: main 0..200 { \"!$omp parallel\" 0..80 fork join team(t)@2 { shmem_set_lock 10..31 lock(1) } shmem_wait_until 90..120 wait_change }
         pe 0.1: \"!$omp parallel\" 5..79 team(t) { shmem_set_lock 6..7 lock(1) shmem_clear_lock 29..30 unlock(1) }
         pe 1: main 0..200 { shmem_int_p 100..110 put(0) }",
    );
    let (main, worker) = (pe(&trace, 0), thread(&trace, 0, 1));
    let kinds: Vec<_> = found.iter().map(|row| (row.kind, row.effect.pe, row.cause.pe, row.at.0)).collect();
    assert!(kinds.contains(&(DependenceKind::Lock, main, worker, 29)), "{kinds:?}");
    assert!(kinds.contains(&(DependenceKind::Value, main, pe(&trace, 1), 110)), "{kinds:?}");
    assert!(kinds.contains(&(DependenceKind::Fork, worker, main, 0)), "{kinds:?}");
}
