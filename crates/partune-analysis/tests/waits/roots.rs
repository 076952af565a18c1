//! Causes are roots: chains of waits end at the code that was late, with what was waited in between as `via`.

use partune_analysis::{Finding, Options, Pattern};

use super::Case;

/// A cause: rank, operation, origin, ticks.
type Root = (u32, String, String, i64);

/// Ticks that came through others, and these: ranks and operations.
type Way = (i64, Vec<(u32, String)>);

/// What makes PEs wait at a path.
fn roots(case: &Case, path: &str) -> Vec<(Root, Way)> {
    let findings = case.run("wait_states").findings;
    let finding = findings.iter().find(|it| case.name(it.path) == path).expect("there is a finding at the path");
    assert_eq!(finding.unexplained.0, 0);
    let ways = finding.causes.iter().map(|cause| {
        let via = cause.via.iter().map(|(pe, path)| (pe.0, case.name(*path)));
        (cause.passed_on.0, via.collect())
    });
    case.causes(finding).into_iter().zip(ways).collect()
}

fn root(rank: u32, path: &str, origin: &str, ticks: i64) -> Root {
    (rank, format!("main/{path}"), format!("main/{origin}"), ticks)
}

fn through(ticks: i64, via: &[(u32, &str)]) -> Way {
    (ticks, via.iter().map(|(rank, path)| (*rank, format!("main/{path}"))).collect())
}

fn directly() -> Way {
    (0, Vec::new())
}

/// PE 0 is late by 16 and by 20 ticks in a function that two others call: the code is one cause, with the path that cost most.
#[test]
fn code_that_several_call_is_one_cause() {
    let case = Case::new(
        "pe 0: main 0..44 { odd 0..20 { step 0..20 { relax 0..18 MPI_Barrier 18..20 barrier } }
                            even 20..44 { step 20..44 { relax 20..42 MPI_Barrier 42..44 barrier } } }
         pe 1: main 0..44 { odd 0..20 { step 0..20 { relax 0..2 MPI_Barrier 2..20 barrier } }
                            even 20..44 { step 20..44 { relax 20..22 MPI_Barrier 22..44 barrier } } }",
    );
    let relax = (root(0, "even/step/MPI_Barrier", "even/step/relax", 36), directly());
    assert_eq!(roots(&case, "main/even/step/MPI_Barrier"), [relax]);
}

/// PE 1 waits 4..30 for PE 0, all of it for `slow`. PE 2 waits 6..32 for PE 1, which in 0..32 worked 4 (PE 2 did more), waited 26
/// and received for 2: of 26 ticks 26·26/28 = 24.14 are passed on to `slow`, 26·2/28 = 1.86 are the receive's.
#[test]
fn a_message_that_is_passed_on_late_is_the_fault_of_the_first() {
    let text = |last: &str| {
        format!(
            "pe 0: main 0..100 {{ slow 0..30  MPI_Send 30..31 send(to=1) }}
             pe 1: main 0..100 {{ work 0..4  MPI_Recv 4..32 recv(from=0)  MPI_Send 32..33 send(to=2) }}
             pe 2: main 0..100 {{ work 0..6  {last} }}"
        )
    };
    let apart = Case::new(&text("end 6..50 { MPI_Recv 6..34 recv(from=1) }"));
    assert_eq!(roots(&apart, "main/MPI_Recv"), [(root(0, "MPI_Send", "slow", 26), directly())]);
    assert_eq!(
        roots(&apart, "main/end/MPI_Recv"),
        [
            (root(0, "MPI_Send", "slow", 24), through(24, &[(1, "MPI_Recv")])),
            (root(1, "MPI_Send", "MPI_Recv", 2), directly()),
        ]
    );
    // Both at one call path: 26 + 24.14 = 50.14, as the delay costs of `slow`.
    let together = Case::new(&text("MPI_Recv 6..34 recv(from=1)"));
    assert_eq!(
        roots(&together, "main/MPI_Recv"),
        [
            (root(0, "MPI_Send", "slow", 50), through(24, &[(1, "MPI_Recv")])),
            (root(1, "MPI_Send", "MPI_Recv", 2), directly()),
        ]
    );
    let delays = together.delays();
    let slow = delays.costs.iter().find(|cost| together.name(cost.path) == "main/slow");
    assert!(slow.is_some_and(|cost| (cost.short_term + cost.long_term - 50.142_857).abs() < 1e-5), "{slow:?}");
}

/// PE 1 waits 30 for `slow`. PE 2 waits 42 for PE 1, which waited 30 of them, received for 2 and did `extra` for 10. PE 3 waits 44 for
/// PE 2, which received for 2 and waited 42: of these 30 are for `slow`, 10 for `extra`, 2 for the receive of PE 1.
#[test]
fn who_adds_to_a_delay_pays_for_what_it_adds() {
    let case = Case::new(
        "pe 0: main 0..100 { slow 0..30  MPI_Send 30..31 send(to=1) }
         pe 1: main 0..100 { MPI_Recv 0..32 recv(from=0)  extra 32..42  MPI_Send 42..43 send(to=2) }
         pe 2: main 0..100 { MPI_Recv 0..44 recv(from=1)  MPI_Send 44..45 send(to=3) }
         pe 3: main 0..100 { end 0..46 { MPI_Recv 0..46 recv(from=2) } }",
    );
    assert_eq!(
        roots(&case, "main/end/MPI_Recv"),
        [
            (root(0, "MPI_Send", "slow", 30), through(30, &[(2, "MPI_Recv"), (1, "MPI_Recv")])),
            (root(1, "MPI_Send", "extra", 10), through(10, &[(2, "MPI_Recv")])),
            (root(1, "MPI_Send", "MPI_Recv", 2), through(2, &[(2, "MPI_Recv")])),
            (root(2, "MPI_Send", "MPI_Recv", 2), directly()),
        ]
    );
    // The waits of PE 1 and PE 2 are another finding: 30 + 30 for `slow`, 10 for `extra`, 2 for the receive.
    assert_eq!(
        roots(&case, "main/MPI_Recv"),
        [
            (root(0, "MPI_Send", "slow", 60), through(30, &[(1, "MPI_Recv")])),
            (root(1, "MPI_Send", "extra", 10), directly()),
            (root(1, "MPI_Send", "MPI_Recv", 2), directly()),
        ]
    );
}

/// Enters of the barrier: 2, 2, 31, 32, so S = (0, 0, 14.5, 15.5). PE 2 and PE 3 pay 14.5 to PE 0 and 15.5 to PE 1 each, PE 0 pays 1
/// to PE 1. What PE 1 gets from PE 2 and PE 3 is passed on to `slow` but for 2 of 32: 31·30/32 = 29.06; 1.94 and the 1 of PE 0,
/// which PE 1 received in since the message was sent, are its receive's. Of PE 0's 29, 30/31 are `slow` and 1/31 the send.
#[test]
fn chains_go_on_behind_collectives() {
    let case = Case::new(
        "pe 0: main 0..100 { slow 0..30  MPI_Send 30..31 send(to=1)  MPI_Barrier 31..33 barrier }
         pe 1: main 0..100 { MPI_Recv 0..32 recv(from=0)  MPI_Barrier 32..33 barrier }
         pe 2 3: main 0..100 { work 0..2  MPI_Barrier 2..33 barrier }",
    );
    assert_eq!(
        roots(&case, "main/MPI_Barrier"),
        [
            (root(0, "MPI_Send", "slow", 57), through(29, &[(1, "MPI_Recv")])),
            (root(1, "MPI_Barrier", "MPI_Recv", 3), directly()),
            (root(0, "MPI_Barrier", "MPI_Send", 1), directly()),
        ]
    );
}

/// Whoever holds a lock pays for the time it held it: 10..40, in which PE 1 worked 10, waited 18 for PE 2 and took 2 to see it. Of the 18,
/// 18·37/38 = 17.53 are for `long`, the rest for the put. What PE 1 did before it had the lock does not matter.
#[test]
fn a_holder_is_followed_within_the_time_it_held_the_lock() {
    let case = Case::new(
        "paradigm OpenSHMEM
         pe 0: main 0..100 { other 10..50 { shmem_set_lock 10..41 lock(1)  shmem_clear_lock 41..42 unlock(1) } }
         pe 1: main 0..100 {
             before 0..9  shmem_set_lock 9..10 lock(1)  work 10..20  shmem_int_wait_until 20..40 wait_change
             shmem_clear_lock 40..41 unlock(1)
         }
         pe 2: main 0..100 { long 0..37  shmem_int_p 37..38 put(to=1, bytes=4) }",
    );
    assert_eq!(
        roots(&case, "main/other/shmem_set_lock"),
        [
            (root(2, "shmem_int_p", "long", 18), through(18, &[(1, "shmem_int_wait_until")])),
            (root(1, "shmem_clear_lock", "work", 10), directly()),
            (root(1, "shmem_clear_lock", "shmem_int_wait_until", 2), directly()),
        ]
    );
}

/// Two PEs that keep each other waiting in turn: PE 0 is late in even rounds, PE 1 in odd ones. Each pays half, nothing is lost and no
/// way goes round.
#[test]
fn a_circle_ends() {
    let rounds = 500;
    let pe = |rank: i64| {
        let round = |k: i64| {
            let begin = 20 * k;
            let work = if k % 2 == rank { 15 } else { 1 };
            let sent = begin + work;
            format!(
                "work {begin}..{sent}  MPI_Isend {sent}..{} send(to=+1, tag={k})  MPI_Recv {}..{} recv(from=+1, tag={k})\n",
                sent + 1,
                sent + 1,
                begin + 20
            )
        };
        format!("pe {rank}: main 0..{} {{ {} }}\n", 20 * rounds, (0..rounds).map(round).collect::<String>())
    };
    let case = Case::new(&(pe(0) + &pe(1)));
    // Each round one waits from 2 to 15.
    let finding = case.finding();
    assert_eq!((finding.time.0, finding.count), (13 * rounds, rounds as u64));
    charged(&finding, 13 * rounds);
    let late: Vec<_> = finding.causes.iter().take(2).map(|cause| (cause.pe.0, case.name(cause.origin))).collect();
    assert_eq!(late.len(), 2);
    assert!(late.contains(&(0, "main/work".to_owned())) && late.contains(&(1, "main/work".to_owned())), "{late:?}");
    let ways: Vec<_> = finding.causes.iter().map(|cause| &cause.via).collect();
    assert!(ways.iter().all(|via| via.len() <= 2), "{ways:?}");
}

/// All is charged but for rounding.
fn charged(finding: &Finding, time: i64) {
    assert!(finding.causes.len() < Options::default().details);
    let sum: i64 = finding.causes.iter().map(|cause| cause.time.0).sum();
    assert!((sum - time).abs() <= 3, "{sum} of {time}");
}

/// A wait behind which nobody is known: PE 1 asks for a lock that nobody was seen to hold, 2..30, and is late with its message. The time
/// went by there.
#[test]
fn a_chain_ends_where_nobody_is_known() {
    let case = Case::new(
        "paradigm OpenSHMEM
         pe 0: main 0..100 { shmem_int_wait_until 0..31 wait_change }
         pe 1: main 0..100 { work 0..2  shmem_set_lock 2..30 lock(1)  shmem_int_p 30..31 put(to=0, bytes=4) }",
    );
    let lock = case.waits.iter().find(|wait| wait.pattern == Pattern::WaitOnLock).expect("the lock is waited for");
    assert!(!lock.cause.is_some());
    let causes = roots(&case, "main/shmem_int_wait_until");
    assert_eq!(causes[0], (root(1, "shmem_int_p", "shmem_set_lock", 28), directly()));
}
