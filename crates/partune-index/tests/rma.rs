//! One-sided communication.

use partune_index::Place;
use partune_testkit::{pe, visit};
use partune_trace::VisitIx;

use crate::index;

#[test]
fn completions_of_reused_numbers() {
    let (trace, index) = index(
        "pe 0: main 0..100 {
             shmem_put 1..3 put(1, id=0) complete(0, kind=blocking)@2
             shmem_put_nbi 4..5 put(1, id=0)
             shmem_put_nbi 6..7 put(1, id=0)
             shmem_quiet 10..20 complete(0, kind=remote)@19
             shmem_put_nbi 30..31 put(1, id=0)
         }
         pe 1: main 0..100",
    );
    let found: Vec<_> = index.rma.of_pe(pe(&trace, 0)).iter().map(|it| (it.completion, it.completed.0)).collect();
    let (put, quiet) = (visit(&trace, 0, "main/shmem_put"), visit(&trace, 0, "main/shmem_quiet"));
    assert_eq!(found, [(put, 2), (quiet, 19), (quiet, 19), (VisitIx::NONE, 31)]);
    assert!(index.rma.of_pe(pe(&trace, 1)).is_empty());
}

/// Two puts and a get come back before they are complete; their handles are waited for, then the window is flushed.
#[test]
fn a_put_is_over_when_it_is_done_at_its_target() {
    let (trace, index) = index(
        "pe 0: main 0..100 {
             MPI_Rput 1..2 put(1, id=1)  MPI_Rget 2..3 get(1, id=2)
             MPI_Waitall 5..10 complete(1)@8 complete(2)@9
             MPI_Rput 11..12 put(1, id=1)
             MPI_Wait 13..14 complete(1)@14
             MPI_Win_flush 20..50 complete(1, kind=remote)@48 complete(2, kind=remote)@49
         }
         pe 1: main 0..100",
    );
    let found: Vec<_> = index.rma.of_pe(pe(&trace, 0)).iter().map(|it| (it.completion, it.completed.0)).collect();
    let (flush, all) = (visit(&trace, 0, "main/MPI_Win_flush"), visit(&trace, 0, "main/MPI_Waitall"));
    assert_eq!(found, [(flush, 48), (all, 9), (flush, 48)]);
}

#[test]
fn the_last_access_within_the_wait_fulfils_it() {
    let (trace, index) = index(
        "pe 0: main 0..100 { shmem_wait_until 10..50 wait_change shmem_wait_until 60..61 wait_change }
         pe 1: main 0..100 { shmem_put 20..30 put(0) shmem_int_p 40..48 put(0) shmem_put 70..80 put(0) }
         pe 2: main 0..100 { shmem_put 1..5 put(0) shmem_put 44..47 put(1) }",
    );
    let waits = &index.rma.value_waits;
    assert_eq!(waits.len(), 2);
    assert_eq!(waits[0].cause, Place { pe: pe(&trace, 1), visit: visit(&trace, 1, "main/shmem_int_p") });
    assert_eq!((waits[0].fulfilled.0, waits[0].pe), (48, pe(&trace, 0)));
    assert_eq!((waits[1].cause, waits[1].fulfilled.0), (Place::NONE, 61), "the value was there already");
}

#[test]
fn an_access_to_other_bytes_does_not_fulfil_a_wait() {
    let cause = |wait: &str| {
        let (trace, index) = index(&format!(
            "pe 0: main 0..100 {{ shmem_wait_until 10..50 {wait} }}
             pe 1: main 0..100 {{ shmem_put 20..30 put(0, bytes=8, addr=64) }}
             pe 2: main 0..100 {{ shmem_put 30..40 put(0, bytes=8, addr=72) }}
             pe 3: main 0..100 {{ shmem_long_atomic_fetch_add 40..45 atomic(0, bytes=16, addr=80) }}",
        ));
        let wait = index.rma.value_waits[0];
        (0..4).find(|number| pe(&trace, *number) == wait.cause.pe).map(|number| (number, wait.fulfilled.0))
    };
    assert_eq!(cause("wait_change(addr=64)"), Some((1, 30)));
    assert_eq!(cause("wait_change(addr=72)"), Some((2, 40)));
    assert_eq!(cause("wait_change(addr=80)"), Some((3, 45)));
    assert_eq!(cause("wait_change(addr=88)"), None, "the bytes of an atomic access count both ways");
    assert_eq!(cause("wait_change"), Some((3, 45)), "it may have been any");
}

/// Whose writes are early, to other bytes, or late, is not what a wait for two values waited for.
#[test]
fn a_wait_for_several_values_ends_by_the_last_of_them() {
    let cause = |waits: &str| {
        let (trace, index) = index(&format!(
            "pe 0: main 0..100 {{ shmem_wait_until_all 10..50 {waits} }}
             pe 1: main 0..100 {{ shmem_put 2..3 put(0, bytes=8, addr=64) shmem_put 49..60 put(0, bytes=8, addr=64) }}
             pe 2: main 0..100 {{ shmem_put 30..40 put(0, bytes=8, addr=80) }}
             pe 3: main 0..100 {{ shmem_put 44..45 put(0, bytes=8, addr=72) }}",
        ));
        assert_eq!(index.rma.value_waits.len(), 1);
        let wait = index.rma.value_waits[0];
        ((0..4).find(|number| pe(&trace, *number) == wait.cause.pe), wait.fulfilled.0)
    };
    assert_eq!(cause("wait_change(addr=64) wait_change(addr=80)"), (Some(2), 40));
    assert_eq!(cause("wait_change(addr=80) wait_change(addr=64)"), (Some(2), 40));
    assert_eq!(cause("wait_change(addr=80) wait_change(addr=72)"), (Some(3), 45));
    assert_eq!(cause("wait_change(addr=96) wait_change(addr=104)"), (None, 50));
}

#[test]
fn an_access_under_way_counts_if_none_ended() {
    let (trace, index) = index(
        "pe 0: main 0..100 { shmem_wait_until 10..50 wait_change }
         pe 1: main 0..100 { shmem_put 48..55 put(0) }
         pe 2: main 0..100 { shmem_put 51..52 put(0) }",
    );
    let wait = index.rma.value_waits[0];
    assert_eq!((wait.cause.pe, wait.fulfilled.0), (pe(&trace, 1), 50));
}

#[test]
fn windows_are_apart() {
    let (_, index) = index(
        "group both = 0 1
         window a = both
         window b = both
         pe 0: main 0..100 { shmem_wait_until 10..50 wait_change(win=a) }
         pe 1: main 0..100 { shmem_put 40..45 put(0, win=b) }",
    );
    assert_eq!(index.rma.value_waits[0].cause, Place::NONE);
}
