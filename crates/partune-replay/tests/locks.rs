//! Locks: who comes first gets them, in whatever order they were got in the run.

use partune_base::Span;
use partune_replay::Refusal;

use super::{changes, replayed, runs, under};

#[test]
fn a_lock_that_is_seen_to_be_given_back_late_costs_no_more() {
    // Each time the next one has the lock of the window before it is told that it was given back.
    let text = "
        pe 0: main 0..218 { MPI_Win_lock 0..1 request(id=1) hold 1..50 MPI_Win_unlock 50..54 { told 53..54 release(id=1) } work 54..80
            MPI_Win_lock 80..101 request(id=1) hold 101..150 MPI_Win_unlock 150..154 { told 153..154 release(id=1) } work 154..218 }
        pe 1: main 0..218 { MPI_Win_lock 2..51 request(id=1) hold 51..100 MPI_Win_unlock 100..104 { told 103..104 release(id=1) } work 104..130
            MPI_Win_lock 130..151 request(id=1) hold 151..200 MPI_Win_unlock 200..204 { told 203..204 release(id=1) } work 204..218 }";
    let (plain, _) = runs(text, &["scale hold time*1"]);
    assert!((215..=225).contains(&plain), "{plain}");
}

#[test]
fn what_is_done_under_a_lock_is_not_shared_out() {
    // All work of 100 and of 40 ticks is under the lock: nobody else can do any of it.
    let locked = |begin: i64, got: i64, end: i64| {
        format!(
            "main 0..140 {{ pthread_mutex_lock {begin}..{got} lock(1) solve {got}..{end} pthread_mutex_unlock {end}..{end} unlock(1) }}"
        )
    };
    let text = format!("pe 0: {}\n pe 1: {}", locked(0, 0, 100), locked(0, 100, 140));
    assert_eq!(under(&text, &["balance solve"]).refused[0].why, Refusal::NoWork);
    // Beside the lock there are 60 and 20 ticks, of which each does 40.
    let text = "
        pe 0: main 0..90 { solve 0..60 pthread_mutex_lock 60..60 lock(1) solve 60..90 pthread_mutex_unlock 90..90 unlock(1) }
        pe 1: main 0..50 { solve 0..20 pthread_mutex_lock 20..20 lock(1) solve 20..50 pthread_mutex_unlock 50..50 unlock(1) }";
    assert_eq!(runs(text, &["balance solve"]), (90, 100));
}

/// In the order of the run the second one would wait for 50 ticks more.
#[test]
fn who_comes_first_has_a_lock_first() {
    let text = "
        pe 0: main 0..160 { solve 0..50 pthread_mutex_lock 50..50 lock(1) hold 50..60 pthread_mutex_unlock 60..60 unlock(1) rest 60..160 }
        pe 1: main 0..171 { work 0..55 pthread_mutex_lock 55..61 lock(1) hold 61..71 pthread_mutex_unlock 71..71 unlock(1) rest 71..171 }";
    let saves = |change: &str| replayed(text, |replay| replay.under(&changes(&[change])).saves(replay.plain()));
    assert_eq!(saves("scale solve time*2"), (Span(-39), Span(-39), Span(-39)));
    // Here nobody waits for it.
    assert_eq!(saves("scale solve time*0.5"), (Span(6), Span(6), Span(6)));
    assert_eq!(saves("scale solve time*1"), (Span(0), Span(0), Span(0)));
}

#[test]
fn nobody_gets_a_lock_later_than_what_it_protects() {
    let text = "
        pe 0: main 0..60 { shmem_set_lock 0..1 lock(1) step 1..20 shmem_clear_lock 20..21 unlock(1) work 21..60 }
        pe 1: main 0..60 { shmem_set_lock 0..21 lock(1) step 21..40 shmem_clear_lock 40..41 unlock(1) work 41..60 }";
    for change in ["nonblocking shmem_set_lock", "delay-wait shmem_set_lock past step", "remove shmem_set_lock"] {
        let outcome = under(text, &[change]);
        assert!(matches!(outcome.refused[0].why, Refusal::Excludes(_)), "{change}: {outcome:?}");
    }
}

/// In the run PE 0 has the lock four times before PE 1 has it at all. With even parts they take turns, and only the first of these meet.
#[test]
fn with_even_parts_locks_are_got_in_turns() {
    let turn = |work: i64, end: i64| {
        let body = format!(
            "repeat 4 every {} {{ solve 0..{work} pthread_mutex_lock {work}..{work} lock(1) add {work}..{} pthread_mutex_unlock {}..{} unlock(1) }}",
            work + 2,
            work + 2,
            work + 2,
            work + 2
        );
        format!("main 0..130 {{ {body} MPI_Barrier {end}..130 barrier }}")
    };
    let text = format!("pe 0: {}\n pe 1: {}", turn(10, 48), turn(30, 128));
    assert_eq!(runs(&text, &["balance solve"]), (130, 4 * 22 + 2 + 2));
    assert_eq!(runs(&text, &["scale solve time*1"]), (130, 130));
    // PE 1 wants it at 47, when PE 0 has it from 46 to 48.
    assert_eq!(runs(&text, &["scale pe:1 time*0.5"]), (130, 4 * 16 + 1 + 2));
}

/// PE 1 is woken ten ticks after the lock was given back. Who comes meanwhile has it first, and PE 1 waits once more.
#[test]
fn who_comes_while_another_one_is_woken_has_the_lock_first() {
    let text = "
        pe 0: main 0..200 { pthread_mutex_lock 0..0 lock(1) hold 0..20 pthread_mutex_unlock 20..20 unlock(1) rest 20..200 }
        pe 1: main 0..200 { work 0..5 pthread_mutex_lock 5..30 lock(1) hold 30..130 pthread_mutex_unlock 130..130 unlock(1) last 130..200 }
        pe 2: main 0..155 { wait 0..150 pthread_mutex_lock 150..150 lock(1) hold 150..155 pthread_mutex_unlock 155..155 unlock(1) }";
    // It asks at 25 and has the lock until 30; at 40 PE 1 has it.
    assert_eq!(runs(text, &["scale wait time*0.1666667"]), (200, 210));
    // It asks at 15: PE 1 was there before, and it waits for PE 1 as long as that has the lock.
    assert_eq!(runs(text, &["scale wait time*0.1"]), (200, 200));
}

/// Readers have a lock together, in any order; a writer waits for all of them, and they for it.
#[test]
fn readers_wait_for_writers_only() {
    let text = "
        pe 0: main 0..100 { begin 0..5 pthread_rwlock_rdlock 5..5 lock(1, shared) read 5..40 pthread_rwlock_unlock 40..40 unlock(1) rest 40..100 }
        pe 1: main 0..100 { work 0..10 pthread_rwlock_rdlock 10..10 lock(1, shared) read 10..50 pthread_rwlock_unlock 50..50 unlock(1) rest 50..100 }
        pe 2: main 0..160 { plan 0..60 pthread_rwlock_wrlock 60..60 lock(1) write 60..160 pthread_rwlock_unlock 160..160 unlock(1) }";
    // The writer asks at 20, and has it from 50 to 150.
    assert_eq!(runs(text, &["scale plan time*0.3333333"]), (160, 150));
    // It asks first: both readers wait until 100, and go on together.
    assert_eq!(runs(text, &["scale plan time*0"]), (160, 195));
}

/// The turns of a loop come in their order, whoever is there first; so does what is `ordered` in it.
#[test]
fn what_is_ordered_stays_in_order() {
    let text = "
        pe 0: main 0..60 { solve 0..20 \"!$omp wait ordered\" 20..20 lock(1) hold 20..30 release 30..30 unlock(1) rest 30..60 }
        pe 1: main 0..60 { work 0..25 \"!$omp wait ordered\" 25..31 lock(1) hold 31..40 release 40..40 unlock(1) rest 40..60 }";
    assert_eq!(runs(text, &["scale solve time*2"]), (60, 80));
}

/// Who has a lock may have it once more, and others when it was given back as often.
#[test]
fn a_lock_in_itself_is_one() {
    let text = "
        pe 0: main 0..100 { omp_set_nest_lock 0..0 lock(1) hold 0..10 { omp_set_nest_lock 2..2 lock(1) omp_unset_nest_lock 4..4 unlock(1) } omp_unset_nest_lock 10..10 unlock(1) rest 10..100 }
        pe 1: main 0..100 { work 0..20 omp_set_nest_lock 20..20 lock(1) hold 20..90 omp_unset_nest_lock 90..90 unlock(1) rest 90..100 }";
    assert_eq!(runs(text, &["scale work time*0.25"]).1, 100);
    assert_eq!(runs(text, &["scale work time*0.25", "scale rest time*0"]).1, 10 + 70);
}

/// Who had a lock before all that is recorded gives it back, and that is all.
#[test]
fn a_lock_may_be_given_back_that_nobody_asked_for() {
    let text = "
        pe 0: main 0..100 { hold 0..10 pthread_mutex_unlock 10..10 unlock(1) rest 10..100 }
        pe 1: main 0..100 { work 0..20 pthread_mutex_lock 20..20 lock(1) hold 20..40 pthread_mutex_unlock 40..40 unlock(1) rest 40..100 }";
    assert_eq!(runs(text, &["scale work time*0.5"]), (100, 100));
}

/// Threads that need not wait for a lock tell only afterwards that they had it. The order of the run stays.
#[test]
fn a_lock_that_is_told_in_hindsight_goes_on_as_in_the_run() {
    let text = "
        pe 0: main 0..200 { solve 0..80 { told 70..71 acquire(1) } pthread_mutex_unlock 80..80 unlock(1) rest 80..200 }
        pe 1: main 0..200 { work 0..20 pthread_mutex_lock 20..81 lock(1) hold 81..121 pthread_mutex_unlock 121..121 unlock(1) rest 121..200 }";
    assert_eq!(runs(text, &["scale solve time*0.5"]), (200, 160));
}

/// Once somebody had to wait for a lock, all times that it is held for long are told, and whoever comes first has it.
#[test]
fn a_lock_that_is_told_from_some_time_on_is_free_from_then_on() {
    let text = "
        pe 0: main 0..200 { solve 0..80 { told 70..71 acquire(1) } pthread_mutex_unlock 80..80 unlock(1) other 80..105 pthread_mutex_lock 105..105 lock(1) hold 105..115 pthread_mutex_unlock 115..115 unlock(1) rest 115..200 }
        pe 1: main 0..300 { work 0..20 pthread_mutex_lock 20..81 lock(1) hold 81..101 pthread_mutex_unlock 101..101 unlock(1) step 101..120 pthread_mutex_lock 120..120 lock(1) hold 120..130 pthread_mutex_unlock 130..130 unlock(1) rest 130..300 }";
    assert_eq!(runs(text, &["scale other time*1"]), (300, 300));
    // In the order of the run the other one would wait until 140.
    assert_eq!(runs(text, &["scale other time*2"]), (300, 300));
    // The first time is waited for, though nobody asked.
    assert_eq!(runs(text, &["scale solve time*2"]), (300, 380));
}

/// One has next to no work, and takes its share of what the other one begins while it holds the lock after that.
#[test]
fn work_is_not_shared_out_into_a_lock() {
    let text = "
        pe 0: main 0..90 { compute 0..2 idle 2..75 pthread_mutex_lock 75..75 lock(1) hold 75..85 pthread_mutex_unlock 85..85 unlock(1) rest 85..90 }
        pe 1: main 0..300 { compute 0..40 other 40..80 compute 80..120 other 120..150 pthread_mutex_lock 150..150 lock(1) hold 150..155 pthread_mutex_unlock 155..155 unlock(1) rest 155..300 }";
    let (plain, balanced) = runs(text, &["balance compute"]);
    assert!(plain == 300 && (259..=262).contains(&balanced), "{balanced}");
}

/// A semaphore that whoever got it gives back is a lock; of one that others give, the wait can be put off.
#[test]
fn a_semaphore_may_be_a_lock() {
    let text = "
        group all = 0.0 0.1 0.2 0.3
        window w = all
        pe 0.0: main 0..100 { a 0..10 { sem_wait 1..10 wait_change(win=w, addr=8) } hold 10..20 sem_post 20..20 sign(win=w, addr=8) rest 20..100 }
        pe 0.1: main 0..100 { b 0..20 { sem_wait 1..20 wait_change(win=w, addr=8) } hold 20..30 sem_post 30..30 sign(win=w, addr=8) rest 30..100 }
        pe 0.2: main 0..100 { c 0..40 { sem_wait 1..40 wait_change(win=w, addr=16) } work 40..100 }
        pe 0.3: main 0..100 { work 0..40 sem_post 40..40 sign(win=w, addr=16) rest 40..100 }";
    let refused = |change: &str| under(text, &[change]).refused.first().map(|it| it.why.clone());
    assert!(matches!(refused("nonblocking a/sem_wait"), Some(Refusal::Excludes(_))));
    assert!(matches!(refused("delay-wait b/sem_wait past hold"), Some(Refusal::Excludes(_))));
    assert_eq!(refused("nonblocking c/sem_wait"), None);
}
