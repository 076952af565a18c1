//! POP factors of small programs whose ideal run time can be told by hand.

use super::{close, figure, scalar};

/// parallel, load_balance, communication, serialization, transfer, ideal seconds.
fn factors(text: &str) -> [f64; 6] {
    let (_, outcome) = figure(text, "efficiency");
    let names = ["parallel", "load_balance", "communication", "serialization", "transfer", "ideal_seconds"];
    let values = names.map(|name| scalar(&outcome, name));
    assert!(close(values[0], values[1] * values[3] * values[4]), "{values:?}");
    assert!(close(values[2], values[3] * values[4]), "{values:?}");
    values
}

fn assert_factors(text: &str, expected: [f64; 6]) {
    let found = factors(text);
    assert!(found.iter().zip(expected).all(|(a, b)| close(*a, b)), "{found:?} is not {expected:?}");
}

#[test]
fn imbalance_is_load_balance() {
    let text = "resolution 1
        pe 0: main 0..10 { MPI_Barrier 10..10 barrier }
        pe 1: main 0..10 { MPI_Barrier 5..10 barrier }";
    assert_factors(text, [0.75, 0.75, 1.0, 1.0, 1.0, 10.0]);
}

#[test]
fn a_chain_of_messages_is_serialization() {
    // Each works 10, one after the other; the message takes 2.
    let text = "resolution 1
        pe 0: main 0..22 { MPI_Send 10..12 send(to=1) MPI_Finalize 12..22 finalize }
        pe 1: main 0..22 { MPI_Recv 0..12 recv(from=0) MPI_Finalize 22..22 finalize }";
    assert_factors(text, [10.0 / 22.0, 1.0, 10.0 / 22.0, 0.5, 20.0 / 22.0, 20.0]);
}

#[test]
fn start_up_and_shut_down_are_not_the_run() {
    let text = "resolution 1
        pe 0: main 0..100 { MPI_Init 0..50 init MPI_Comm_rank 50..50 MPI_Finalize 60..100 finalize }
        pe 1: main 0..100 { MPI_Init 10..50 init MPI_Finalize 60..100 finalize }";
    assert_factors(text, [1.0, 1.0, 1.0, 1.0, 1.0, 10.0]);
}

#[test]
fn transfers_that_only_take_time_are_transfer() {
    let text = "resolution 1
        pe 0 1: main 0..20 { MPI_Allreduce 10..20 allreduce }";
    assert_factors(text, [0.5, 1.0, 0.5, 1.0, 0.5, 10.0]);
}

#[test]
fn rooted_collectives_bind_only_whom_they_must() {
    // Nobody needs the receivers of a broadcast, so the root goes on; with a barrier they would meet at 10.
    let text = "resolution 1
        pe 0: main 0..15 { MPI_Bcast 5..15 bcast(root=0) }
        pe 1: main 0..15 { MPI_Bcast 10..15 bcast(root=0) }";
    assert!(close(factors(text)[5], 10.0));
    let text = "resolution 1
        pe 0: main 0..20 { MPI_Reduce 5..10 reduce(root=1) work 10..20 }
        pe 1: main 0..20 { MPI_Reduce 10..10 reduce(root=1) work 10..15 MPI_Barrier 15..20 }";
    assert!(close(factors(text)[5], 15.0), "{:?}", factors(text));
    // A scan: 2 needs 0 and 1, 0 needs nobody.
    let text = "resolution 1
        pe 0: main 0..16 { MPI_Scan 1..6 scan work 6..10 wait 10..16 { MPI_Pcontrol 10..16 } }
        pe 1: main 0..16 { MPI_Scan 6..6 scan work 6..10 wait 10..16 { MPI_Pcontrol 10..16 } }
        pe 2: main 0..16 { MPI_Scan 2..6 scan work 6..16 }";
    assert!(close(factors(text)[5], 16.0), "{:?}", factors(text));
}

#[test]
fn non_blocking_messages_bind_at_their_completion() {
    let text = "resolution 1
        pe 0: main 0..12 { MPI_Isend 10..10 send(to=1, req=1) MPI_Wait 10..12 done(1) }
        pe 1: main 0..12 { MPI_Irecv 0..0 posted(1) work 0..6 MPI_Wait 6..12 recv(from=0, req=1) }";
    let found = factors(text);
    assert!(close(found[5], 10.0), "{found:?}");
}

#[test]
fn a_synchronous_send_needs_its_receiver() {
    let text = "resolution 1
        pe 0: main 0..20 { MPI_Ssend 2..10 send(to=1) work 10..20 }
        pe 1: main 0..20 { work 0..10 MPI_Recv 10..10 recv(from=0) MPI_Wtime 10..20 }";
    assert!(close(factors(text)[5], 20.0));
}

#[test]
fn threads_idle_outside_of_teams_and_split_from_processes() {
    let text = "resolution 1
        team t = 0.0 0.1
        pe 0.0: main 0..20 { par 10..20 fork join { \"!$omp parallel\" 10..20 team(t) { \"!$omp implicit barrier\" 20..20 } } }
        pe 0.1: \"!$omp parallel\" 10..20 team(t) { \"!$omp implicit barrier\" 20..20 }";
    let (_, outcome) = figure(text, "efficiency");
    for (name, value) in [
        ("parallel", 0.75),
        ("load_balance", 0.75),
        ("serialization", 1.0),
        ("transfer", 1.0),
        ("process_parallel", 1.0),
        ("thread_parallel", 0.75),
        ("thread_load_balance", 0.75),
        ("ideal_seconds", 20.0),
    ] {
        assert!(close(scalar(&outcome, name), value), "{name} is {}", scalar(&outcome, name));
    }
}

#[test]
fn messages_between_processes_are_not_lost_to_threads() {
    // Rank 1 waits 10 of 20 for rank 0; the thread of each works half of the rest.
    let team = |rank: u32| format!("team t{rank} = {rank}.0 {rank}.1\n");
    let text = format!(
        "resolution 1\n{}{}
        pe 0.0: main 0..20 {{ par 0..10 fork join {{ \"!$omp parallel\" 0..10 team(t0) {{ \"!$omp implicit barrier\" 10..10 }} }} MPI_Send 10..10 send(to=1) MPI_Finalize 10..20 finalize }}
        pe 0.1: \"!$omp parallel\" 0..10 team(t0) {{ \"!$omp implicit barrier\" 5..10 }}
        pe 1.0: main 0..20 {{ MPI_Recv 0..10 recv(from=0) par 10..20 fork join {{ \"!$omp parallel\" 10..20 team(t1) {{ \"!$omp implicit barrier\" 20..20 }} }} MPI_Finalize 20..20 finalize }}
        pe 1.1: \"!$omp parallel\" 10..20 team(t1) {{ \"!$omp implicit barrier\" 15..20 }}",
        team(0),
        team(1)
    );
    let (_, outcome) = figure(&text, "efficiency");
    assert!(close(scalar(&outcome, "process_parallel"), 0.5), "{:?}", outcome.sections[0].scalars);
    assert!(close(scalar(&outcome, "process_serialization"), 0.5));
    assert!(close(scalar(&outcome, "thread_load_balance"), 0.75));
    assert!(close(scalar(&outcome, "parallel"), 0.375));
}

/// The main thread is known until 2 of 20: it has ended, or the program was killed while it waited for another thread.
#[test]
fn a_process_goes_on_while_its_threads_do() {
    let (_, outcome) = figure("resolution 1\npe 0.0: main 0..2\npe 0.1: work 0..20", "efficiency");
    for (name, value) in [("parallel", 0.55), ("process_parallel", 1.0), ("thread_parallel", 0.55)] {
        assert!(close(scalar(&outcome, name), value), "{name} is {}", scalar(&outcome, name));
    }
    // What is last known of it is that it waits for another process.
    let text = "resolution 1\npe 0.0: main 0..2 { MPI_Recv 2..2 }\npe 0.1: work 0..20";
    let (_, outcome) = figure(text, "efficiency");
    assert!(close(scalar(&outcome, "process_parallel"), 0.1), "{:?}", outcome.sections[0].scalars);
}

#[test]
fn silent_without_useful_time() {
    let (_, outcome) = figure("resolution 1\n pe 0: MPI_Barrier 0..10", "efficiency");
    assert!(outcome.sections.is_empty());
}
