//! Runs followed again, against times worked out by hand.

mod locks;

use std::fmt::Write;

use partune_base::{CallPathId, PeId, Span, Table, Time};
use partune_index::Index;
use partune_replay::{Change, ChangeError, Outcome, Refusal, Replay, Wanted};
use partune_trace::{CallSite, Region, Role, Trace, TraceBuilder};
use proptest::prelude::*;

/// From the first event to the last, or from the end of start-up to the begin of shut-down.
fn windows(trace: &Trace) -> Table<PeId, (Time, Time)> {
    let of = |stream: &partune_trace::Stream| (stream.begin().unwrap_or_default(), stream.end().unwrap_or_default());
    trace.streams().iter().map(of).collect()
}

fn replayed<T>(text: &str, look: impl FnOnce(&Replay<'_>) -> T) -> T {
    within(text, windows, look)
}

/// The same, measured from other begins to other ends.
fn within<T>(
    text: &str,
    windows: impl Fn(&Trace) -> Table<PeId, (Time, Time)>,
    look: impl FnOnce(&Replay<'_>) -> T,
) -> T {
    let trace = partune_testkit::trace(text);
    let index = Index::build(&trace);
    look(&Replay::new(&trace, &index, None, windows(&trace)))
}

fn changes(texts: &[&str]) -> Vec<Change> {
    texts.iter().map(|text| text.parse().unwrap_or_else(|error: ChangeError| panic!("{error}"))).collect()
}

fn under(text: &str, of: &[&str]) -> Outcome {
    replayed(text, |replay| replay.under(&changes(of)))
}

/// Ticks of the run without changes and with them.
fn runs(text: &str, of: &[&str]) -> (i64, i64) {
    replayed(text, |replay| {
        let outcome = replay.under(&changes(of));
        assert_eq!(outcome.refused, [], "{of:?}");
        (replay.plain().run().0, outcome.run().0)
    })
}

/// Ten turns: PE 0 works 100 ticks and PE 1 60, then a barrier of 2 ticks.
const TURNS: &str = "
    pe 0: main 0..1020 { repeat 10 every 102 { solve 0..100 MPI_Barrier 100..102 barrier } }
    pe 1: main 0..1020 { repeat 10 every 102 { solve 0..60 MPI_Barrier 60..102 barrier } }";

/// Four messages: the sender works 50 ticks before each, the receiver 20 after; a message is there 5 ticks after its send began.
const STREAM: &str = "
    pe 0: main 0..240 { repeat 4 every 60 { produce 0..50 MPI_Send 50..53 send(to=1, bytes=8) } }
    pe 1: main 0..260 { repeat 4 every 60 { MPI_Recv 0..55 recv(from=0, bytes=8) consume 55..60 } }";

/// Ten turns: PE 1 works 100 ticks and comes last to a barrier, which it leaves after 2; PE 0, which sleeps there, only wakes up after 10.
const WAKES: &str = "
    pe 0: main 0..1030 { repeat 10 every 102 { solve 8..58 MPI_Barrier 58..110 barrier } }
    pe 1: main 0..1030 { repeat 10 every 102 { solve 0..100 MPI_Barrier 100..102 barrier } }";

/// Loops at these lines of a function that is called twice, each with a function in it: the names of all call paths as of their statements.
fn statements(lines: &[u32]) -> Vec<String> {
    let mut building = TraceBuilder::default();
    let [file, step, construct, model, solve] =
        ["/home/a.c", "step", "omp for", "OpenMP", "solve"].map(|text| building.strings.intern(text));
    let around = building.regions.push(Region::of_user(step));
    let of_loop = building.regions.push(Region::of_construct(construct, model, Role::WorkSharing));
    let inside = building.regions.push(Region::of_user(solve));
    for _ in 0..2 {
        let called = building.paths.push(CallPathId::NONE, around);
        for line in lines {
            let path = building.paths.push_at(called, of_loop, CallSite { file, line: *line });
            building.paths.push(path, inside);
        }
    }
    let trace = building.seal();
    trace.paths().ids().map(|path| partune_replay::statement(&trace, path).to_string()).collect()
}

#[test]
fn constructs_of_one_name_in_a_function_are_told_apart_by_their_lines() {
    assert_eq!(statements(&[7]), ["step", "\"step/omp for\"", "solve"].repeat(2));
    assert_eq!(statements(&[7, 9]), ["step", "a.c:7", "solve", "a.c:9", "solve"].repeat(2));
    // No line is known that would tell more.
    assert_eq!(statements(&[0, 0])[1], "\"step/omp for\"");
}

#[test]
fn a_run_without_changes_is_the_run() {
    for text in [TURNS, STREAM, WAKES] {
        replayed(text, |replay| {
            let fidelity = replay.fidelity();
            assert_eq!(replay.plain().run(), replay.recorded_run());
            assert!(fidelity.error < 0.5, "{fidelity:?}");
            assert_eq!((fidelity.unmet, fidelity.recorded), (0, 0));
        });
    }
}

#[test]
fn balanced_work_is_the_mean_of_each_block() {
    // 80 and 2 ticks a turn in place of 100 and 2.
    assert_eq!(runs(TURNS, &["balance solve"]), (1020, 820));
    // What is balanced stays as it is.
    assert_eq!(runs(TURNS, &["balance solve", "balance solve"]), (1020, 820));
    // What PE 1 has less than the mean of others it gets, even where it had nothing.
    let serial = "
        pe 0: main 0..110 { init 0..100 MPI_Barrier 100..110 barrier }
        pe 1: main 0..110 { MPI_Barrier 0..110 barrier }";
    assert_eq!(runs(serial, &["balance init"]), (110, 60));
}

#[test]
fn who_had_no_share_does_it_where_it_waited_for_those_who_did() {
    // One PE prepares for 40 ticks, the broadcast takes 2, and both solve for 20: with 20 ticks of preparation each, it is that much less.
    let serial = "
        pe 0: main 0..134 { repeat 2 every 67 { prepare 0..40 MPI_Bcast 40..42 bcast(root=0, bytes=8) solve 42..62 MPI_Barrier 62..67 barrier } }
        pe 1: main 0..134 { repeat 2 every 67 { MPI_Bcast 0..42 bcast(root=0, bytes=8) solve 42..62 MPI_Barrier 62..67 barrier } }";
    assert_eq!(runs(serial, &["balance prepare"]), (134, 94));
    // Without a global synchronisation too: 25 ticks each, then 3 for the message until it is there, 10 times; 5 to begin the next one.
    let stream = "
        pe 0: main 0..530 { repeat 10 every 53 { produce 0..50 MPI_Send 50..53 send(to=1, bytes=8) } }
        pe 1: main 0..530 { repeat 10 every 53 { MPI_Recv 0..53 recv(from=0, bytes=8) } }";
    assert_eq!(runs(stream, &["balance produce"]), (530, 280));
    // Threads of a team do it before they are forked, while the first one does its own.
    let team = "
        team t = 0.0 0.1
        pe 0.0: main 0..200 { serial 0..100 parallel@a.c:9 100..200 fork join { work 100..200 team(t) } }
        pe 0.1: parallel@a.c:9 100..190 team(t) { work 100..190 }";
    assert_eq!(runs(team, &["balance serial"]), (200, 150));
    // A master that leaves its work to two others: each does half of it while the master would have.
    let master = "
        pe 0: main 0..200 { repeat 2 every 100 { work 0..90 MPI_Recv 90..95 recv(from=1, bytes=8) MPI_Send 95..100 send(to=1, bytes=8) } }
        pe 1: main 0..200 { repeat 2 every 100 { work 0..30 MPI_Send 30..35 send(to=0, bytes=8) MPI_Recv 35..100 recv(from=0, bytes=8) } }
        pe 2: main 0..20 { work 0..20 }";
    let (_, run) = runs(master, &["dedicate pe:0"]);
    assert!((150..=170).contains(&run), "30 + 45 ticks of work a turn, and messages: {run}");
}

#[test]
fn scaled_work_moves_what_waits_for_it() {
    assert_eq!(runs(TURNS, &["scale solve time*0.5"]), (1020, 520));
    // Only PE 0 is on the way: with 50 ticks it waits for PE 1 with its 60.
    assert_eq!(runs(TURNS, &["scale pe:0 time*0.5"]), (1020, 620));
    assert_eq!(runs(TURNS, &["scale pe:1 time*0.5"]), (1020, 1020));
    assert_eq!(runs(TURNS, &["scale cpu speed*2"]), (1020, 520));
    // The operations themselves.
    assert_eq!(runs(TURNS, &["scale MPI_Barrier time*0"]), (1020, 1000));
    // The sender needs 25 + 3 ticks for a message, and 7 until it begins the next one: the last begins after 3 · 35 + 25, is there 5 later, and is
    // consumed for 5; the receiver goes on for 20.
    let (_, run) = runs(STREAM, &["scale produce time*0.5"]);
    assert_eq!(run, 3 * 35 + 25 + 5 + 5 + 20);
}

#[test]
fn a_barrier_that_is_removed_lets_turns_overlap() {
    let turns = "
        pe 0: main 0..320 { step 0..100 MPI_Barrier 100..110 barrier step 110..150 MPI_Barrier 150..220 barrier step 220..320 }
        pe 1: main 0..320 { step 0..40 MPI_Barrier 40..110 barrier step 110..210 MPI_Barrier 210..220 barrier step 220..260 }";
    // 100 + 40 + 100 on PE 0, 40 + 100 + 40 on PE 1, which waits 60 at the end: its program ends with main's exit.
    assert_eq!(runs(turns, &["remove main/MPI_Barrier"]).1, 240);
    let refused = under(TURNS, &["remove solve"]).refused;
    assert_eq!(refused[0].why, Refusal::NoOperation(Wanted::Operation));
}

#[test]
fn what_orders_accesses_is_not_removed() {
    let text = "
        pe 0: main 0..100 { shmem_putmem 0..10 put(to=1, bytes=8) shmem_barrier_all 10..20 barrier use 20..100 }
        pe 1: main 0..100 { shmem_barrier_all 0..20 barrier use 20..100 }";
    let refused = under(text, &["remove shmem_barrier_all"]).refused;
    assert!(
        matches!(refused[0].why, Refusal::Orders { accesses: 1, origin: PeId(0), target: PeId(1), .. }),
        "{refused:?}"
    );
    let moves = under(STREAM, &["remove MPI_Recv"]).refused;
    assert!(matches!(moves[0].why, Refusal::MovesData(_)), "{moves:?}");
    // What makes or ends something is no barrier either.
    let ends = under("pe 0: main 0..100 { work 0..60 pthread_join 60..100 }", &["remove pthread_join"]).refused;
    assert!(matches!(ends[0].why, Refusal::Needed(_)), "{ends:?}");
}

#[test]
fn a_function_stands_for_the_operations_that_it_calls() {
    let text = "
        pe 0: main 0..100 { work 0..60 norm 60..70 { MPI_Barrier 60..70 barrier } work 70..100 }
        pe 1: main 0..100 { work 0..30 norm 30..70 { MPI_Barrier 30..70 barrier } work 70..100 }";
    assert_eq!(runs(text, &["remove norm"]), runs(text, &["remove norm/MPI_Barrier"]));
    assert_eq!(runs(text, &["remove norm"]).1, 90);
    assert_eq!(under(text, &["remove work"]).refused[0].why, Refusal::NoOperation(Wanted::Operation));
}

#[test]
fn one_pe_at_most_is_dedicated() {
    let outcome = under(TURNS, &["dedicate pe:0", "dedicate pe:1"]);
    assert_eq!(outcome.refused[0].why, Refusal::Dedicated);
}

#[test]
fn a_receive_that_does_not_block_waits_where_its_pe_next_meets_others() {
    let text = "
        pe 0: main 0..100 { work 0..60 MPI_Send 60..62 send(to=1, bytes=8) MPI_Barrier 62..100 barrier }
        pe 1: main 0..100 { MPI_Recv 0..65 recv(from=0, bytes=8) work 65..95 MPI_Barrier 95..100 barrier }";
    // The message is there at 65; 30 ticks of work are done by then, and the barrier takes 5 more.
    assert_eq!(runs(text, &["nonblocking MPI_Recv"]), (100, 70));
}

#[test]
fn a_larger_eager_limit_lets_long_sends_go() {
    // The send waits 50 ticks for its receive; at once it takes what a message takes, 10.
    let text = "
        pe 0: main 0..100 { MPI_Send 0..60 send(to=1, bytes=100000) work 60..100 }
        pe 1: main 0..70 { work 0..50 MPI_Recv 50..60 recv(from=0, bytes=100000) rest 60..70 }";
    assert_eq!(runs(text, &["set network eager=inf"]), (100, 70));
    assert_eq!(runs(text, &["set network eager=1Mi"]), (100, 70));
    let refused = under(text, &["set network eager=64KiB"]).refused;
    assert_eq!(refused[0].why, Refusal::NothingWaits { least: Some(100_000) });
    assert_eq!(under(STREAM, &["set network eager=1M"]).refused[0].why, Refusal::NothingWaits { least: None });
}

#[test]
fn operations_in_a_row_are_one() {
    // Eight messages of 10 ticks each and no bytes: all but the last of each four cost nothing, and what they give is given with it.
    let text = "
        pe 0: main 0..100 { repeat 8 every 10 { MPI_Send 0..10 send(to=1, bytes=0) } work 80..100 }
        pe 1: main 0..100 { repeat 8 every 10 { MPI_Recv 0..10 recv(from=0, bytes=0) } work 80..100 }";
    // What is sent as one is received as one.
    assert_eq!(runs(text, &["combine MPI_Send 4"]).1, 20 + 20);
    assert_eq!(runs(text, &["combine MPI_Recv 4"]).1, 20 + 20);
    assert_eq!(runs(text, &["combine MPI_Send 1"]).1, 100);
    // One alone has nothing to be combined with.
    assert_eq!(runs(TURNS, &["combine MPI_Barrier 100"]).0, 1020);
    let once = "
        pe 0: main 0..100 { work 0..60 MPI_Barrier 60..70 barrier work 70..100 }
        pe 1: main 0..100 { work 0..30 MPI_Barrier 30..70 barrier work 70..100 }";
    assert_eq!(runs(once, &["combine MPI_Barrier 8"]), (100, 100));
    // Receives that also get what somebody else sends one by one stay as they are.
    let others = "
        pe 0: main 0..100 { repeat 4 every 20 { MPI_Send 0..10 send(to=1, bytes=0) work 10..20 } work 80..100 }
        pe 1: main 0..100 { repeat 4 every 20 { MPI_Recv 0..10 recv(from=0, bytes=0) MPI_Recv 10..20 recv(from=2, bytes=0) } work 80..100 }
        pe 2: main 0..100 { repeat 4 every 20 { work 0..10 MPI_Bsend 10..20 send(to=1, bytes=0) } work 80..100 }";
    assert!(runs(others, &["combine MPI_Send 4"]).1 >= 100);
    let twice = "
        pe 0: main 0..140 { work 0..100 MPI_Barrier 100..110 barrier MPI_Barrier^a.c:9 110..120 barrier work 120..140 }
        pe 1: main 0..140 { work 0..50 MPI_Barrier 50..110 barrier MPI_Barrier^a.c:9 110..120 barrier work 120..140 }";
    assert_eq!(runs(twice, &["merge a.c:9"]), (140, 130));
    assert_eq!(under(STREAM, &["merge MPI_Send"]).refused[0].why, Refusal::NoOperation(Wanted::Collective));
}

#[test]
fn a_collective_by_another_algorithm_has_other_rounds() {
    // One round of two PEs in 2 ticks; around a ring it is two.
    assert_eq!(runs(TURNS, &["collective MPI_Barrier ring"]).1, 1040);
    assert_eq!(runs(TURNS, &["collective MPI_Barrier binomial"]).1, 1020);
}

#[test]
fn a_dedicated_pe_leaves_its_work_to_the_others() {
    let text = "
        pe 0: main 0..100 { work 0..90 MPI_Barrier 90..100 barrier }
        pe 1: main 0..100 { work 0..30 MPI_Barrier 30..100 barrier }
        pe 2: main 0..100 { work 0..30 MPI_Barrier 30..100 barrier }";
    assert_eq!(runs(text, &["dedicate pe:0"]), (100, 85));
}

/// What the root begins after it gave the others their data cannot be done by them before they have it.
#[test]
fn a_share_is_not_done_before_what_it_comes_after() {
    let text = "
        pe 0: main 0..103 { serial 0..60 MPI_Bcast 60..61 bcast(root=0) extra 61..101 MPI_Allreduce 101..103 allreduce }
        pe 1: main 0..103 { MPI_Bcast 0..62 bcast(root=0) own 62..102 MPI_Allreduce 102..103 allreduce }";
    // PE 1 has its data after 62, its own 40, and now 20 more; then all meet.
    let (plain, run) = runs(text, &["balance extra"]);
    assert_eq!(plain, 103);
    assert!((122..=124).contains(&run), "{run}");
}

/// A serial section that all ranks have alike is no matter between ranks: their threads share it. One that a single rank has is.
#[test]
fn what_main_threads_do_alike_is_shared_among_their_threads() {
    let ranks = |second: i64| {
        let rank = |rank: u32, end: i64| {
            let (join, worker) = (end + 20, format!("{rank}.1"));
            format!(
                "team t{rank} = {rank}.0 {worker}
                 pe {rank}.0: main 0..240 {{ repeat 3 every 80 {{ serial 0..{end}
                     parallel@a.c:9 {end}..{join} fork join {{ work {end}..{join} }} MPI_Barrier {join}..80 barrier }} }}
                 pe {worker}: repeat 3 every 80 {{ parallel@a.c:9 {end}..{join} team(t{rank}) {{ work {end}..{join} }} }}"
            )
        };
        format!("{}\n{}", rank(0, 40), rank(1, second))
    };
    let (plain, alike) = runs(&ranks(40), &["balance serial"]);
    let (_, uneven) = runs(&ranks(8), &["balance serial"]);
    // Each turn 20 on each of two threads, or 24 on each rank.
    assert!(plain - alike >= 3 * 15, "{plain} {alike}");
    assert!((3 * 10..=3 * 17).contains(&(plain - uneven)), "{plain} {uneven}");
}

/// Three turns of 80: a serial part of `main` itself for 40, a region in which each of two threads does 20, and `rest` for 20.
const SERIAL: &str = "
    team t = 0.0 0.1
    pe 0.0: main 0..240 { repeat 3 every 80 {
        \"!$omp parallel\" 40..60 fork join { work 40..60 \"!$omp implicit barrier\" 60..60 }
        rest 60..80 } }
    pe 0.1: repeat 3 every 80 { \"!$omp parallel\" 40..60 team(t) { work 40..60 \"!$omp implicit barrier\" 60..60 } }";

/// The serial part of a function is not shared out together with the regions that it has.
#[test]
fn what_is_serial_is_spread_over_the_team() {
    // At best thirty in place of sixty ticks a turn; what follows a join may be done with the next region only.
    let (plain, run) = runs(SERIAL, &["spread main"]);
    assert_eq!(plain, 240);
    assert!((150..=180).contains(&run), "{run}");
    // The region alone has nothing that is serial.
    assert_eq!(under(SERIAL, &["spread work"]).refused[0].why, Refusal::NoWork);
    // Without teams it is what is outside of regions, balanced.
    assert_eq!(runs(TURNS, &["spread solve"]), (1020, 820));
}

/// A PE is named by its number, or as the other answers name threads.
#[test]
fn a_thread_is_named_by_its_rank_and_number() {
    let team = "
        pe 0.0: main 0..100 { work 0..100 }
        pe 0.1: main 0..60 { work 0..60 }";
    assert_eq!(runs(team, &["scale pe:0.0 time*0.5"]), (100, 60));
    assert_eq!(runs(team, &["scale pe:0 time*0.5"]), (100, 60));
    assert_eq!(changes(&["dedicate pe:0.1"])[0].to_string(), "dedicate pe:0.1");
    assert_eq!(under(team, &["scale pe:1.0 time*0.5"]).refused[0].why, Refusal::NoPe);
}

/// What is not done any more is not in the run that is made, so that nobody takes it for a barrier that PEs left before all had come.
#[test]
fn what_is_removed_is_not_in_the_run_that_is_made() {
    let trace = partune_testkit::trace(TURNS);
    let index = Index::build(&trace);
    for change in ["remove MPI_Barrier", "p2p MPI_Barrier", "nonblocking MPI_Barrier"] {
        let (_, retimed) = Replay::new(&trace, &index, None, windows(&trace)).retimed(&changes(&[change]));
        let made = retimed.retime(trace.clone());
        let of = |trace: &Trace| -> (usize, usize) {
            let streams = trace.streams();
            (
                streams.iter().map(|stream| stream.operations.len()).sum(),
                streams.iter().map(|stream| stream.collectives.len()).sum(),
            )
        };
        assert!(of(&trace).0 > 0 && of(&trace).1 > 0);
        assert_eq!(of(&made), (0, 0), "{change}");
    }
}

/// Whoever makes threads and waits for their end has no part in what they do.
#[test]
fn who_waits_for_threads_does_none_of_their_work() {
    let text = "
        group threads = 0.0 0.1 0.2
        pe 0.0: main 0..102 { pthread_create 0..1 create(threads, seq=1) pthread_create 1..2 create(threads, seq=2)
            pthread_join 2..42 wait(threads, seq=1) pthread_join 42..102 wait(threads, seq=2) }
        pe 0.1: run 1..41 begin(threads, seq=1) end(threads, seq=1) { work 1..41 }
        pe 0.2: run 2..101 begin(threads, seq=2) end(threads, seq=2) { work 2..101 }";
    // 40 and 99 ticks are 69 and a half each.
    let (plain, run) = runs(text, &["balance work"]);
    assert_eq!(plain, 102);
    assert!((71..=75).contains(&run), "{run}");
}

/// What is measured ends where shut-down begins, for threads too that have nothing to do any more: they do not hold up what comes after them.
#[test]
fn what_is_measured_of_a_thread_ends_with_it() {
    let text = "team t = 0.0 0.1
        pe 0: main 0..120 { \"!$omp parallel\" 0..20 fork join { \"!$omp parallel\" 0..20 team(t) { solve 0..20 \"!$omp implicit barrier\" 20..20 } }
            output 20..100 MPI_Finalize 100..120 finalize }
        pe 0.1: \"!$omp parallel\" 0..20 team(t) { solve 0..20 \"!$omp implicit barrier\" 20..20 }";
    let run = |change: &str| {
        let until = |trace: &Trace| trace.streams().iter().map(|_| (Time(0), Time(100))).collect();
        within(text, until, |replay| (replay.plain().run().0, replay.under(&changes(&[change])).run().0))
    };
    assert_eq!(run("scale output time*0.5"), (100, 60));
}

/// Whoever comes last to the shut-down, it takes as long as it took.
#[test]
fn shut_down_takes_as_long_for_another_one_who_comes_last() {
    let text = "
        pe 0: main 0..120 { slow 0..60 MPI_Finalize 60..120 finalize }
        pe 1: main 0..118 { work 0..40 MPI_Finalize 40..118 finalize }";
    // PE 1 had 58 ticks of it after PE 0 came, and now comes last itself, after 40.
    assert_eq!(runs(text, &["scale slow time*0.5"]), (120, 98));
}

/// A receive that is only started, with nothing after it that meets others, is awaited before shut-down: its wait is not gone.
#[test]
fn what_was_started_is_awaited_before_shut_down() {
    let text = "
        pe 0: main 0..100 { slow 0..60 MPI_Send 60..62 send(to=1, bytes=8) rest 62..80 MPI_Finalize 80..100 finalize }
        pe 1: main 0..100 { MPI_Recv 0..65 recv(from=0, bytes=8) work 65..80 MPI_Finalize 80..100 finalize }";
    let until = |trace: &Trace| trace.streams().iter().map(|_| (Time(0), Time(80))).collect();
    let change = "nonblocking MPI_Recv";
    let run = within(text, until, |replay| replay.under(&changes(&[change])).run().0);
    // Its 15 ticks of work are done meanwhile, and PE 0 still takes 80.
    assert_eq!(run, 80);
    let alone = text.replace("rest 62..80 MPI_Finalize 80..100", "MPI_Finalize 62..100");
    let until = |trace: &Trace| {
        trace.streams().iter_ids().map(|(pe, _)| (Time(0), Time(if pe.0 == 0 { 62 } else { 80 }))).collect()
    };
    let run = within(&alone, until, |replay| replay.under(&changes(&[change])).run().0);
    assert!((62..=66).contains(&run), "{run}");
}

/// A thread that waits at the end of a region begins a task when it is created, not when the creating thread has come there, too.
#[test]
fn a_task_begins_when_it_was_created() {
    let text = "team t = 0.0 0.1
        pe 0: \"!$omp parallel\" 0..82 fork join { \"!$omp parallel\" 0..82 team(t) {
            serial 0..40 \"!$omp create task\" 40..42 serial 42..60 \"!$omp implicit barrier\" 60..82 } }
        pe 0.1: \"!$omp parallel\" 0..82 team(t) { \"!$omp implicit barrier\" 0..42 \"!$omp task\" 42..80 { cell 42..80 } \"!$omp wait for tasks\" 80..82 }";
    // It is created after 20 ticks, begins 2 later and takes 38, and then the team goes on after 2 more.
    assert_eq!(runs(text, &["scale serial time*0.5"]), (82, 62));
    // The creating thread comes after 60 ticks, the other one after 2 more than 42 and 4.
    assert_eq!(runs(text, &["scale cell time*0.1"]).0, 82);
    assert!((60..=62).contains(&runs(text, &["scale cell time*0.1"]).1), "{}", runs(text, &["scale cell time*0.1"]).1);
}

/// Loads and stores in memory that processes share are not recorded: what keeps them in order nobody knows. A file that one writes and another reads is kept
/// in order by what is between.
#[test]
fn barriers_stay_where_memory_or_files_may_need_them() {
    let turns = |window: &str, [first, second]: [&str; 2]| {
        let made = if window.is_empty() { "" } else { "MPI_Win_allocate_shared 0..1 alloc window_created(win=shared)" };
        format!(
            "{window}
             pe 0: main 0..100 {{ {made} {first} MPI_Barrier 30..50 barrier work 50..100 }}
             pe 1: main 0..100 {{ {made} work 1..48 MPI_Barrier 48..50 barrier {second} }}"
        )
    };
    let nothing = ["work 1..30", "work 50..100"];
    let why = |text: &str, change: &str| under(text, &[change]).refused.first().map(|it| it.why.clone());
    for change in ["remove MPI_Barrier", "p2p MPI_Barrier", "nonblocking MPI_Barrier"] {
        assert_eq!(why(&turns("", nothing), change), None, "{change}");
        let shared = turns("group node = 0 1\nwindow shared = node", nothing);
        assert_eq!(why(&shared, change), Some(Refusal::SharesMemory), "{change}");
        let files = turns("", ["write 1..30 write(bytes=8, file=data)", "read 50..100 read(bytes=8, file=data)"]);
        assert!(matches!(why(&files, change), Some(Refusal::SharesFile(_))), "{change}");
        let own = turns("", ["write 1..30 write(bytes=8, file=data)", "work 50..100"]);
        assert_eq!(why(&own, change), None, "{change}");
    }
}

#[test]
fn another_network_changes_messages_and_collectives() {
    let (_, run) = runs(STREAM, &["set network latency=0 bandwidth=inf"]);
    // 3 · (50 + 7) + 50 ticks until the last message, 5 of consuming, 20 of going on.
    assert_eq!(run, 3 * 57 + 50 + 5 + 20);
    let (_, run) = runs(TURNS, &["scale network latency*2"]);
    assert_eq!(run, 1040);
}

#[test]
fn a_send_that_takes_its_own_time_waits_for_nobody() {
    // Each send takes 30 ticks, whoever is there: the first receive is, the others are posted 5 ticks after it began.
    let text = "
        pe 0: main 0..1240 { repeat 4 every 60 { MPI_Send 0..30 send(to=1, bytes=8) } work 240..1240 }
        pe 1: main 0..245 { MPI_Recv 0..32 recv(from=0, bytes=8) consume 32..65 repeat 3 every 60 { MPI_Recv 65..92 recv(from=0, bytes=8) consume 92..125 } }";
    // The receiver is behind with 28 + 264 ticks a turn; the sender goes on.
    assert_eq!(runs(text, &["scale consume time*8"]), (1240, 1240));
}

#[test]
fn a_probe_waits_for_the_message_that_it_finds() {
    let text = "
        pe 0: main 0..400 { repeat 8 every 50 { build 0..40 MPI_Send 40..42 send(to=1, bytes=8) } }
        pe 1: main 0..402 { repeat 8 every 50 { MPI_Probe 0..43 MPI_Recv 43..45 recv(from=0, bytes=8) consume 45..50 } }";
    // Each turn takes 20 less.
    assert_eq!(runs(text, &["scale build time*0.5"]), (402, 242));
    // What the receiver does is done before the next message is there; the sender is there until 400.
    assert_eq!(runs(text, &["scale consume time*0"]), (402, 400));
}

#[test]
fn a_reduction_keeps_those_whom_it_kept_in_the_run() {
    // The library lets nobody go before PE 2 came; the root needs nothing of its own.
    let kept = "
        pe 0: main 0..402 { repeat 8 every 50 { little 2..10 MPI_Reduce 10..52 reduce(root=0) } }
        pe 1: main 0..402 { repeat 8 every 50 { little 2..10 MPI_Reduce 10..52 reduce(root=0) } }
        pe 2: main 0..402 { repeat 8 every 50 { much 0..48 MPI_Reduce 48..50 reduce(root=0) } }";
    assert_eq!(runs(kept, &["scale much time*0.5"]), (402, 402 - 8 * 24));
    // It lets PE 1 go at once: then that is not kept by a PE 2 that is later.
    let free = "
        pe 0: main 0..402 { repeat 8 every 50 { little 2..10 MPI_Reduce 10..52 reduce(root=0) } }
        pe 1: main 0..402 { repeat 8 every 50 { little 2..10 MPI_Reduce 10..12 reduce(root=0) more 12..52 } }
        pe 2: main 0..402 { repeat 8 every 50 { much 0..48 MPI_Reduce 48..50 reduce(root=0) } }";
    assert_eq!(runs(free, &["scale much time*0.5"]), (402, 402));
}

#[test]
fn who_only_finds_out_that_there_is_nothing_to_do_has_its_share_when_others_begin() {
    // PE 1 finds nothing to do for 1 tick, and then for 3. That says nothing of when it does the other 78 of the 82 of each: a share of each turn's 81 and 83.
    let text = "
        pe 0: main 0..200 { assign 0..80 MPI_Send 80..82 send(to=1, bytes=8) assign 100..180 MPI_Send 180..182 send(to=1, bytes=8) }
        pe 1: main 0..200 { assign 0..1 MPI_Recv 1..83 recv(from=0, bytes=8) assign 100..103 MPI_Recv 103..183 recv(from=0, bytes=8) }";
    // PE 0 sends at 41 and at 102. PE 1 has the first message at 44 and goes on for 17, does 3 + 39.5, receives in 3 what is there, and goes on for 17.
    assert_eq!(runs(text, &["balance assign"]), (200, 124));
}

#[test]
fn threads_follow_their_forks() {
    let text = "
        team t = 0.0 0.1
        pe 0.0: main 0..200 { serial 0..100 parallel@a.c:9 100..200 fork join { work 100..150 team(t) } }
        pe 0.1: parallel@a.c:9 100..190 team(t) { work 100..190 }";
    let (plain, faster) = runs(text, &["scale serial time*0.5"]);
    assert_eq!(plain - faster, 50);
}

#[test]
fn a_wait_is_delayed_past_work() {
    let text = "
        pe 0: main 0..100 { work 0..60 MPI_Send 60..62 send(to=1, bytes=8) MPI_Barrier 62..100 barrier }
        pe 1: main 0..100 { before 0..5 MPI_Recv 5..65 recv(from=0, bytes=8) inner 65..85 outer 85..95 MPI_Barrier 95..100 barrier }";
    // The message is there at 65 at the earliest: only what still comes after it counts then.
    assert_eq!(runs(text, &["delay-wait MPI_Recv past inner"]), (100, 80));
    assert_eq!(runs(text, &["delay-wait MPI_Recv past outer"]), (100, 70));
    assert_eq!(runs(text, &["delay-wait main/MPI_Recv past main/outer", "scale work time*0"]), (100, 45));
    let refused = |text, change| under(text, &[change]).refused[0].why.clone();
    assert_eq!(refused(text, "delay-wait MPI_Recv past before"), Refusal::NeverFollows);
    // What is sent on may be what was received.
    let passed_on = "
        pe 0: main 0..100 { work 0..60 MPI_Send 60..62 send(to=1, bytes=8) }
        pe 1: main 0..100 { MPI_Recv 0..65 recv(from=0, bytes=8) MPI_Send 65..67 send(to=2, bytes=8) inner 67..100 }
        pe 2: main 0..100 { MPI_Recv 0..70 recv(from=1, bytes=8) }";
    let why = refused(passed_on, "delay-wait MPI_Recv past inner");
    assert!(matches!(why, Refusal::GivesMeanwhile { waits: 1, .. }), "{why:?}");
    // Each turn for itself, and never past the next wait.
    let turns = "
        pe 0: main 0..240 { repeat 4 every 60 { produce 0..50 MPI_Send 50..53 send(to=1, bytes=8) } }
        pe 1: main 0..260 { repeat 4 every 60 { MPI_Recv 0..55 recv(from=0, bytes=8) consume 55..60 } finish 240..260 }";
    assert_eq!(runs(turns, &["delay-wait MPI_Recv past consume"]), (260, 255));
    // The last one alone can be put off past what comes but once.
    assert_eq!(runs(turns, &["delay-wait MPI_Recv past finish"]), (260, 240));
}

/// PE 0 writes to PE 1, all meet, and PE 0 reads what PE 2 wrote before; PE 3 has nothing to do with it.
const WRITTEN: &str = "
    pe 0: main 0..150 { work 0..20 shmem_putmem 20..20 put(to=1, bytes=8) shmem_barrier_all 20..100 barrier use 100..120
        shmem_getmem 120..120 get(from=2, bytes=8) use 120..150 }
    pe 1: main 0..180 { work 0..30 shmem_barrier_all 30..100 barrier use 100..180 }
    pe 2: main 0..110 { work 0..40 shmem_barrier_all 40..100 barrier use 100..110 }
    pe 3: main 0..110 { work 0..90 shmem_barrier_all 90..100 barrier use 100..110 }";

#[test]
fn a_barrier_becomes_the_signals_that_it_orders() {
    // A round of the barrier takes 5, two of them 10. PE 1 has the signal of 20 after 2 of giving it and 5; it comes at 30 itself. PE 0 has that
    // of PE 2, given at 40 after it came and 2 for giving it, at 45.
    let (plain, run) = runs(WRITTEN, &["p2p shmem_barrier_all"]);
    assert_eq!((plain, run), (180, 110));
    // PE 1 keeps its 80 ticks of use, PE 3 its 90 of work; of those, 30 + 80.
    let (_, run) = runs(WRITTEN, &["p2p shmem_barrier_all", "scale pe:1 time*0.1", "scale pe:3 time*0.1"]);
    assert_eq!(run, 45 + 50);
    // Nothing is left that anybody waits for where nobody accesses memory of others.
    assert_eq!(runs(TURNS, &["p2p MPI_Barrier"]).1, 1000);
    let team = "
        team t = 0.0 0.1
        pe 0.0: main 0..100 { parallel@a.c:9 0..100 fork join { work 0..50 \"!$omp barrier\" 50..100 } }
        pe 0.1: parallel@a.c:9 0..100 team(t) { work 0..90 \"!$omp barrier\" 90..100 }";
    assert_eq!(under(team, &["p2p \"!$omp barrier\""]).refused[0].why, Refusal::SharesMemory);
    assert_eq!(under(STREAM, &["p2p MPI_Send"]).refused[0].why, Refusal::NoOperation(Wanted::Barrier));
}

#[test]
fn messages_in_pieces_are_a_pipeline() {
    let once = "
        pe 0: main 0..100 { stage 0..100 MPI_Send 100..100 send(to=1, bytes=0) }
        pe 1: main 0..200 { MPI_Recv 0..100 recv(from=0, bytes=0) stage 100..200 MPI_Send 200..200 send(to=2, bytes=0) }
        pe 2: main 0..300 { MPI_Recv 0..200 recv(from=1, bytes=0) stage 200..300 }";
    // Three stages, four pieces of 25 ticks: (3 + 4 - 1) 25.
    assert_eq!(runs(once, &["split MPI_Send 4"]), (300, 150));
    assert_eq!(runs(once, &["split MPI_Recv 10"]), (300, 120));
    assert_eq!(runs(once, &["split MPI_Send 1"]), (300, 300));
    // A barrier brings nothing that could come in pieces.
    assert_eq!(under(TURNS, &["split MPI_Barrier 4"]).refused[0].why, Refusal::NoOperation(Wanted::Transfer));
    let twice = "
        pe 0: main 0..200 { repeat 2 every 100 { stage 0..100 MPI_Send 100..100 send(to=1, bytes=0) } }
        pe 1: main 0..300 { MPI_Recv 0..100 recv(from=0, bytes=0) stage 100..200 MPI_Send 200..200 send(to=2, bytes=0)
            MPI_Recv 200..200 recv(from=0, bytes=0) stage 200..300 MPI_Send 300..300 send(to=2, bytes=0) }
        pe 2: main 0..400 { MPI_Recv 0..200 recv(from=1, bytes=0) stage 200..300 MPI_Recv 300..300 recv(from=1, bytes=0) stage 300..400 }";
    assert_eq!(runs(twice, &["split MPI_Send 4"]), (400, 250));
    // The changed run is one: what is received was sent before.
    let trace = partune_testkit::trace(once);
    let index = Index::build(&trace);
    let (_, retimed) = Replay::new(&trace, &index, None, windows(&trace)).retimed(&changes(&["split MPI_Send 4"]));
    let changed = retimed.retime(trace.clone());
    let index = Index::build(&changed);
    assert_eq!((changed.duration(), index.messages.len()), (Span(150), 2));
    for message in &index.messages {
        let send = &changed.streams()[message.sender].sends[message.send as usize];
        let recv = &changed.streams()[message.receiver].recvs[message.recv as usize];
        assert!(recv.time >= send.time, "{message:?}");
    }
}

/// Ten round trips within a node, 10 ticks each way, and as many between two nodes, 50 ticks each way; 10 ticks of work after each.
const NODES: &str = "
    node a = 0 1 2
    node b = 3
    pe 0: main 0..300 { repeat 10 every 30 { MPI_Send 0..0 send(to=1, bytes=1000) MPI_Recv 0..20 recv(from=1, bytes=1000) work 20..30 } }
    pe 1: main 0..280 { MPI_Recv 0..10 recv(from=0, bytes=1000) MPI_Send 10..10 send(to=0, bytes=1000)
        repeat 9 every 30 { MPI_Recv 10..40 recv(from=0, bytes=1000) MPI_Send 40..40 send(to=0, bytes=1000) } }
    pe 2: main 0..1100 { repeat 10 every 110 { MPI_Send 0..0 send(to=3, bytes=1000) MPI_Recv 0..100 recv(from=3, bytes=1000) work 100..110 } }
    pe 3: main 0..1040 { MPI_Recv 0..50 recv(from=2, bytes=1000) MPI_Send 50..50 send(to=2, bytes=1000)
        repeat 9 every 110 { MPI_Recv 50..160 recv(from=2, bytes=1000) MPI_Send 160..160 send(to=2, bytes=1000) } }";

#[test]
fn another_placement_takes_the_other_link() {
    let mapped = |text: &str, file: &str| {
        let nodes = Some(partune_replay::mapping(file).unwrap_or_else(|error| panic!("{error:?}")));
        replayed(text, |replay| {
            let outcome = replay.under(&[Change::Map { file: "file".to_owned(), nodes }]);
            (outcome.refused.first().map(|refused| refused.why.clone()), outcome.run().0)
        })
    };
    assert_eq!(runs(NODES, &["set nodes =1"]), (1100, 300));
    assert_eq!(mapped(NODES, "a slots=4"), (None, 300));
    assert_eq!(mapped(NODES, "rank 0=x slot=0\nrank 2=y\nrank 1=y\n# the last\nrank 3=x").1, 1100);
    assert_eq!(mapped(NODES, "a:2\nb").0, Some(Refusal::FewNodes { named: 3, processes: 4 }));
    // Block by block: messages of both pairs stay within a node.
    assert_eq!(runs(NODES, &["set nodes =2"]).1, 300);
    assert_eq!(under(STREAM, &["set nodes =2"]).refused[0].why, Refusal::UnknownLink { remote: true });
    assert_eq!(under(NODES, &["map file"]).refused[0].why, Refusal::NotRead);
    for (wrong, line) in [("a\nrank 1", 2), ("rank x=a", 1), ("a:b", 1), ("a slots=99999999999", 1), ("rank 1=a\n", 1)]
    {
        assert_eq!(partune_replay::mapping(wrong).map_err(|error| error.0), Err(line), "{wrong}");
    }
}

/// Messages within a node take 7 ticks and one for each 8 bytes; nothing else is known.
const MACHINE: &str = "partune_machine = 1
    provenance = { date = '', hosts = [], cpu = '', cores = 1, kernel = '', launch = [], pes = 2, partune = '', took_s = 0.0 }
    overheads = { timer_s = 1e-9, timer_step_s = 1e-9, event_s = 1e-9 }
    rates = { flops_one = 1e9, flops_all = 1e9, memory_one = 1e9, memory_all = 1e9 }
    link = [{ scope = 'node', latency_s = 7e-9, bandwidth = 8e9, overhead_s = 1e-9, fit_error = 0.0, points = [] }]";

#[test]
fn a_machine_says_what_messages_take() {
    let on_machine = |text: &str, of: &[&str]| {
        let machine = partune_machine::read(MACHINE).unwrap_or_else(|error| panic!("{error}"));
        let trace = partune_testkit::trace(text);
        let index = Index::build(&trace);
        let replay = Replay::new(&trace, &index, Some(&machine), windows(&trace));
        (replay.plain().run().0, replay.under(&changes(of)).run().0)
    };
    // Nobody knows what lies between nodes, with the machine neither.
    let refused = |of: &str| {
        let machine = partune_machine::read(MACHINE).unwrap_or_else(|error| panic!("{error}"));
        let trace = partune_testkit::trace(STREAM);
        let index = Index::build(&trace);
        let replay = Replay::new(&trace, &index, Some(&machine), windows(&trace));
        replay.under(&changes(&[of])).refused.first().map(|refused| refused.why.clone())
    };
    assert_eq!(refused("set nodes =2"), Some(Refusal::UnknownLink { remote: true }));
    assert_eq!(refused("set nodes =1"), None);
    // Sends take 1 tick where they took 3, and messages 8 where they took 5: three turns of 50 + 1 + 7 ticks until the last one, then 50 + 8, 5 of
    // consuming and 20 of going on. What a send takes of its own is scaled with the whole.
    assert_eq!(on_machine(STREAM, &["scale network latency*2"]), (3 * 58 + 58 + 25, 3 * 59 + 65 + 25));
    // What completes messages waits for the last one and takes what all of them take: 7 + 2 for 16 bytes.
    let exchange = |pe: u32| {
        let other = 1 - pe;
        format!(
            "pe {pe}: main 0..200 {{ work 0..10 MPI_Irecv 10..10 posted(req=1) MPI_Isend 10..10 send(to={other}, bytes=16, req=2) work 10..{} MPI_Wait {}..150 recv(from={other}, bytes=16, req=1) work 150..200 }}\n",
            40 + 50 * pe,
            40 + 50 * pe
        )
    };
    let (run, _) = on_machine(&(exchange(0) + &exchange(1)), &[]);
    assert_eq!(run, 10 + 1 + 1 + 80 + 1 + 50, "PE 1: the message came while it worked");
    // A collective that was not measured is made of messages: a round of two PEs; pairwise as many.
    assert_eq!(on_machine(TURNS, &["collective MPI_Barrier pairwise"]), (10 * 107, 10 * 107));
}

#[test]
fn changes_that_are_none_are_told() {
    for wrong in [
        "",
        "balance",
        "balance solve time*2",
        "spread solve 2",
        "scale solve",
        "scale solve time*-1",
        "scale solve time*nan",
        "scale pe:x time*1",
        "scale cpu speed*0",
        "set network",
        "set network latency=-1",
        "set network colour=1",
        "set cpu speed=2",
        "frobnicate x",
        "combine x",
        "combine x 0",
        "combine x y",
        "collective x",
        "collective x magic",
        "remove \"a",
        "balance /",
        "set network bandwidth=0",
        "delay-wait a",
        "delay-wait a b",
        "delay-wait a past",
        "delay-wait a past b c",
        "p2p a 2",
        "split a",
        "split a 0",
        "split a 100000",
        "set nodes",
        "set nodes 4",
        "set nodes =0",
        "set nodes =-1",
        "map",
        "map a b",
        "set pes",
        "set pes =0",
        "set pes =1.5",
        "set pes 64",
        "set pes =64 =8",
        "scale pes =64",
    ] {
        assert!(wrong.parse::<Change>().is_err(), "{wrong}");
    }
    for right in [
        "balance solve",
        "spread main",
        "scale \"operator new\" time*0.5",
        "scale a.c:12 time*2",
        "scale pe:3 time*0.8",
        "remove main/MPI_Barrier",
        "nonblocking MPI_Recv",
        "combine put 8",
        "merge MPI_Barrier",
        "collective MPI_Bcast ring",
        "dedicate pe:0",
        "set network latency=2us bandwidth=10GB/s",
        "set network latency=0 bandwidth=inf",
        "scale network latency*0.5 bandwidth*2",
        "scale cpu speed*1.5",
        "delay-wait exchange/MPI_Wait past \"operator new\"",
        "p2p shmem_barrier_all",
        "split sweep 4",
        "set nodes =4",
        "map \"a file\"",
        "set pes =64",
        "set pes=1",
    ] {
        let change: Change = right.parse().unwrap_or_else(|error: ChangeError| panic!("{error}"));
        assert_eq!(change.to_string().parse::<Change>().as_ref(), Ok(&change), "{right}");
    }
    assert_eq!(under(TURNS, &["balance nowhere"]).refused[0].why, Refusal::NoPlace(Vec::new()));
    assert_eq!(under(TURNS, &["set pes =4"]).refused[0].why, Refusal::OneRun);
    assert_eq!(under(TURNS, &["scale pe:7 time*2"]).refused[0].why, Refusal::NoPe);
    assert_eq!(under(TURNS, &["balance MPI_Barrier"]).refused[0].why, Refusal::NoWork);
}

#[test]
fn the_run_under_changes_is_a_trace() {
    let trace = partune_testkit::trace(TURNS);
    let index = Index::build(&trace);
    let (_, retimed) = Replay::new(&trace, &index, None, windows(&trace)).retimed(&changes(&["balance solve"]));
    let changed = retimed.retime(trace.clone());
    assert_eq!(changed.duration(), Span(820));
    assert_eq!(changed.streams()[PeId(0)].visits.len(), trace.streams()[PeId(0)].visits.len());
    assert_eq!(Index::build(&changed).collectives.instances.len(), 10);
}

proptest! {
    /// Whatever is recorded and asked: it ends, nothing runs backwards, and what changes nothing changes nothing.
    #[test]
    fn following_ends_and_keeps_order(
        work in proptest::collection::vec(1_i64..500, 2..12),
        which in proptest::collection::vec(0_usize..12, 0..5),
        factor in 0.0_f64..4.0,
    ) {
        let mut text = String::new();
        let end: i64 = 1000 * work.len() as i64;
        for pe in 0..3 {
            let _ = write!(text, "pe {pe}: main 0..{end} {{ ");
            for (turn, ticks) in work.iter().enumerate() {
                let begin = 1000 * turn as i64;
                let own = (ticks * (pe + 1)) % 700 + 1;
                let _ = write!(text, "solve {begin}..{} MPI_Allreduce {}..{} allreduce(bytes=8) ", begin + own, begin + own, begin + 900);
            }
            text.push_str("}\n");
        }
        let all = [
            "balance solve".to_owned(), format!("scale solve time*{factor}"), "scale pe:1 time*0.3".to_owned(), "nonblocking MPI_Allreduce".to_owned(),
            "dedicate pe:0".to_owned(), "set network latency=0 bandwidth=inf".to_owned(), "remove MPI_Allreduce".to_owned(), "combine MPI_Allreduce 3".to_owned(), "merge MPI_Allreduce".to_owned(),
            "split MPI_Allreduce 3".to_owned(), "delay-wait MPI_Allreduce past solve".to_owned(), "p2p MPI_Allreduce".to_owned(),
        ];
        let chosen: Vec<&str> = which.iter().map(|at| all[*at].as_str()).collect();
        let trace = partune_testkit::trace(&text);
        let index = Index::build(&trace);
        let replay = Replay::new(&trace, &index, None, windows(&trace));
        let (outcome, retimed) = replay.retimed(&changes(&chosen));
        prop_assert!(outcome.refused.len() <= chosen.len());
        for stream in retimed.retime(trace.clone()).streams() {
            prop_assert!(stream.visits.enter.is_sorted());
            prop_assert!(stream.visits.iter().all(|visit| visit.exit >= visit.enter));
        }
        prop_assert_eq!(replay.under(&changes(&["scale solve time*1"])).run(), replay.plain().run());
    }
}
