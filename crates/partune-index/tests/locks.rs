//! Lock histories.

use partune_testkit::{pe, visit};
use partune_trace::VisitIx;

use crate::index;

/// Hung and Davidson's lock: PE 0 asks from 2 to 5 ms, PE 1 gives it back at 4.9 ms.
#[test]
fn the_holder_made_the_other_wait() {
    let (trace, index) = index(
        "resolution 10000
         pe 0: main 0..100 { shmem_set_lock 20..50 lock(1) shmem_clear_lock 60..61 unlock(1) }
         pe 1: main 0..100 { shmem_set_lock 5..6 lock(1) work 6..48 shmem_clear_lock 48..50 unlock(1)@49 }",
    );
    let grants = index.locks.of_lock(1);
    assert_eq!(grants.len(), 2);
    let (first, second) = (grants[0], grants[1]);
    assert_eq!((first.pe, first.released.0), (pe(&trace, 1), 49));
    assert_eq!((second.pe, second.requested.0, second.acquired.0), (pe(&trace, 0), 20, 50));
    assert_eq!(index.locks.grants[second.enabled_by as usize], first);
    assert_eq!(first.release, visit(&trace, 1, "main/shmem_clear_lock"));
    assert_eq!(first.enabled_by, u32::MAX);
}

#[test]
fn a_release_without_acquisition_counts_as_held_from_the_start() {
    let (trace, index) = index(
        "pe 0: main 0..100 { shmem_set_lock 20..50 lock(1) }
         pe 1: main 0..100 { shmem_clear_lock 49..50 unlock(1) }",
    );
    let grants = index.locks.of_lock(1);
    assert_eq!((grants[0].pe, grants[0].acquired.0, grants[0].operation), (pe(&trace, 1), 0, VisitIx::NONE));
    assert_eq!((grants[1].pe, grants[1].enabled_by, grants[1].released.0), (pe(&trace, 0), 0, 100));
    assert!(!grants[0].recorded && grants[1].recorded);
}

#[test]
fn windows_ask_and_give_back_only() {
    let (_, index) = index(
        "pe 0: main 0..100 { MPI_Win_lock 10..12 request(7) MPI_Win_unlock 30..40 release(7)@39 }
         pe 1: main 0..100 { MPI_Win_lock 35..36 request(7) MPI_Win_unlock 50..60 release(7)@59 }",
    );
    let times: Vec<_> =
        index.locks.grants.iter().map(|it| (it.requested.0, it.acquired.0, it.released.0, it.recorded)).collect();
    assert_eq!(times, [(10, 12, 39, false), (35, 36, 59, false)]);
}

/// A release does not say that its lock was shared: the request did.
#[test]
fn who_asked_to_share_a_lock_shared_it() {
    let (_, index) = index(
        "pe 0: main 0..100 { MPI_Win_lock_all 10..12 request(7, shared) MPI_Win_unlock_all 30..40 release(7)
                             MPI_Win_lock 70..71 request(7) MPI_Win_unlock 80..81 release(7) }
         pe 1: main 0..100 { MPI_Win_lock_all 15..31 request(7, shared) MPI_Win_unlock_all 50..60 release(7) }",
    );
    let grants = index.locks.of_lock(7);
    assert_eq!(grants.iter().map(|it| it.shared).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn critical_sections_and_nested_locks() {
    let (trace, index) = index(
        "pe 0: main 0..100 { \"!$omp critical\" 10..30 acquire(3)@12 release(3)@29 }
         pe 0.1: main 0..100 { \"!$omp critical\" 11..50 acquire(3)@31 release(3)@49 }
         pe 1: main 0..100 {
             omp_set_nest_lock 1..2 acquire(4) omp_set_nest_lock 3..4 acquire(4)
             omp_unset_nest_lock 5..6 release(4) omp_unset_nest_lock 7..8 release(4)
         }",
    );
    let three = index.locks.of_lock(3);
    assert_eq!((three[0].requested.0, three[0].acquired.0, three[0].released.0), (10, 12, 29));
    assert_eq!((three[1].requested.0, three[1].acquired.0, three[1].enabled_by), (11, 31, 0));
    let four: Vec<_> = index.locks.of_lock(4).iter().map(|it| (it.acquired.0, it.released.0)).collect();
    assert_eq!(four, [(2, 7), (4, 5)]);
    assert!(index.locks.of_lock(4).iter().all(|grant| grant.pe == pe(&trace, 1)));
    assert_eq!(index.locks.by_lock().count(), 2);
}

#[test]
fn a_writer_waits_for_the_last_reader() {
    let (trace, index) = index(
        "pe 0: main 0..100 { MPI_Win_lock 1..2 lock(9, shared) MPI_Win_unlock 40..41 unlock(9) }
         pe 1: main 0..100 { MPI_Win_lock 3..4 lock(9, shared) MPI_Win_unlock 60..61 unlock(9) }
         pe 2: main 0..100 { MPI_Win_lock 5..62 lock(9) MPI_Win_unlock 70..71 unlock(9) }",
    );
    let writer = index.locks.of_lock(9).last().copied().unwrap();
    assert_eq!(writer.pe, pe(&trace, 2));
    assert_eq!(index.locks.grants[writer.enabled_by as usize].pe, pe(&trace, 1));
}

/// PE 1 got the lock at 6, PE 2 at 20, and no release is recorded: PE 1's hold ended when PE 2 got it, PE 2's when PE 0 did.
#[test]
fn a_lock_that_was_never_given_back_was_held_until_the_next_got_it() {
    let (trace, index) = index(
        "pe 0: main 0..100 { shmem_set_lock 20..50 lock(1) shmem_clear_lock 60..61 unlock(1) }
         pe 1: main 0..100 { shmem_set_lock 5..6 lock(1) }
         pe 2: main 0..100 { shmem_set_lock 10..20 lock(1) }",
    );
    let grants = index.locks.of_lock(1);
    assert_eq!(grants.iter().map(|it| (it.pe.0, it.released.0)).collect::<Vec<_>>(), [(1, 20), (2, 50), (0, 60)]);
    assert_eq!(grants.iter().map(|it| it.enabled_by).collect::<Vec<_>>(), [u32::MAX, 0, 1]);
    assert_eq!(grants[1].last_seen().visit, visit(&trace, 2, "main/shmem_set_lock"));
    // A reader may hold it beside other readers, until a writer gets it.
    let (_, index) = crate::index(
        "pe 0: main 0..100 { shmem_set_lock 5..6 lock(1, shared) }
         pe 1: main 0..100 { shmem_set_lock 10..20 lock(1, shared) }
         pe 2: main 0..100 { shmem_set_lock 25..30 lock(1) }",
    );
    assert_eq!(index.locks.of_lock(1).iter().map(|it| it.released.0).collect::<Vec<_>>(), [30, 30, 100]);
}
