//! Blame: the golden cases of barriers and locks.

use partune_analysis::{Pattern, shapley};
use partune_base::Time;

use super::{Case, silent};

#[test]
fn a_group_shares_its_waiting() {
    let (waited, caused) = shapley(&[0, 3, 9, 10].map(Time));
    assert_eq!(waited, [10.0, 7.0, 1.0, 0.0]);
    assert_eq!(caused, [0.0, 1.0, 7.0, 10.0]);
    assert_eq!(shapley(&[9, 0, 10, 3].map(Time)).1, [7.0, 0.0, 10.0, 1.0]);
    assert_eq!(shapley(&[]), (vec![], vec![]));
}

#[test]
fn the_holder_pays_for_a_lock() {
    let case = Case::new(
        "paradigm OpenSHMEM
         resolution 10000
         pe 0: main 0..100 { shmem_set_lock 20..50 lock(1)  work 50..60  shmem_clear_lock 60..61 unlock(1) }
         pe 1: main 0..100 { shmem_set_lock 1..2 lock(1)  work 2..49  shmem_clear_lock 49..50 unlock(1) }",
    );
    assert_eq!(case.found(), [(Pattern::WaitOnLock, 0, 20, 49, Some(1))]);
    let finding = case.finding();
    assert_eq!(case.causes(&finding), [(1, "main/shmem_clear_lock".into(), "main/work".into(), 29)]);
    assert_eq!(finding.unexplained.0, 0);
}

/// A thread that its process makes was with nobody before: what others did until then is not why it waits.
#[test]
fn what_was_before_a_thread_began_is_not_why_it_waits() {
    let case = Case::new(
        "team t = 0.0 0.1
         pe 0.0: MPI_Init 0..40 init main 40..200 { MPI_Barrier 40..50 barrier pthread_create 50..50 create(t, seq=1) pthread_join 50..100 wait(t, seq=1) }
         pe 0.1: serve 50..100 begin(t, seq=1) end(t, seq=1) { MPI_Recv 51..90 recv(from=1) }
         pe 1: MPI_Init 0..45 init main 45..200 { MPI_Barrier 45..50 barrier work 50..89 MPI_Send 89..90 send(to=0) }",
    );
    let mut findings = case.run("wait_states").findings;
    findings.retain(|it| case.name(it.path).ends_with("MPI_Recv"));
    let origins: Vec<String> = case.causes(&findings[0]).into_iter().map(|cause| cause.2).collect();
    assert_eq!(origins, ["main/work"]);
}

#[test]
fn several_holders_pay_for_what_they_held() {
    let case = Case::new(
        "paradigm OpenSHMEM
         pe 0: main 0..100 { shmem_set_lock 20..50 lock(1)  shmem_clear_lock 60..61 unlock(1) }
         pe 1: main 0..100 { shmem_set_lock 1..2 lock(1)  shmem_clear_lock 30..31 unlock(1) }
         pe 2: main 0..100 { shmem_set_lock 19..32 lock(1)  shmem_clear_lock 48..49 unlock(1) }",
    );
    let mut findings = case.run("wait_states").findings;
    let finding = findings.remove(0);
    // PE 0 waited 28: 10 for PE 1, 16 for PE 2, 2 between them; PE 2 waited 11 for PE 1.
    let times: Vec<_> = finding.causes.iter().map(|cause| (cause.pe.0, cause.time.0)).collect();
    assert_eq!(times, [(1, 21), (2, 16)]);
    assert_eq!((finding.time.0, finding.unexplained.0), (39, 2));
}

#[test]
fn a_lock_that_nobody_held_is_unexplained() {
    let case = Case::new("paradigm OpenSHMEM pe 0: main 0..10 { shmem_set_lock 2..5 lock(1) } pe 1: main 0..10");
    let finding = case.finding();
    assert_eq!((finding.time.0, finding.unexplained.0), (3, 3));
    assert_eq!(finding.causes, []);
    // Uncontended acquisitions that take their usual time are no wait.
    let pe = |rank: u32| {
        let set = format!("shmem_set_lock {}..{} lock(1)", 2 + 4 * rank, 3 + 4 * rank);
        let clear = format!("shmem_clear_lock {}..{} unlock(1)", 3 + 4 * rank, 4 + 4 * rank);
        format!("pe {rank}: main 0..1000 {{ repeat 9 every 10 {{ {set} {clear} }} }} ")
    };
    silent(&format!("paradigm OpenSHMEM {} {}", pe(0), pe(1)));
}

/// PE 1 got the lock in no operation, and that is told at 80 only, after it wrote. PE 0 has waited for it since 20 all the same.
#[test]
fn who_got_a_lock_unseen_held_it_since_somebody_waits() {
    let case = Case::new(
        "paradigm OpenSHMEM
         pe 0: main 0..100 { shmem_set_lock 20..90 lock(1) shmem_clear_lock 95..96 unlock(1) }
         pe 1: main 0..100 acquire(1)@80 { work 2..70 shmem_clear_lock 85..88 unlock(1) }",
    );
    let finding = case.finding();
    assert_eq!(finding.unexplained.0, 0, "{:?}", finding.causes);
    // What it worked until 70, and what it did after.
    let causes: Vec<_> = finding.causes.iter().map(|cause| (cause.pe.0, cause.time.0)).collect();
    assert_eq!(causes, [(1, 50), (1, 15)]);
}
