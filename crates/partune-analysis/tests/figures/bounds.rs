//! Bounds of traces: Fig. 4 and Fig. 5 of Hung and Davidson, serial sections, CPU time, and no more gaps than time.

use std::fmt::Write;

use partune_analysis::Pattern;

use super::tensor::{FIGURE_4, FIGURE_5};
use super::{analyze, assert_close, close, column, figure, levels, numbers, scalar, seconds, step, words};

/// How the program of the figures is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Plain,
    /// Between start-up and shut-down, which take 3 and 2.
    Started,
    Marked,
    /// A barrier of its own before all of it.
    BarrierFirst,
    /// The whole five times.
    Repeated,
}

const SHAPES: [Shape; 5] = [Shape::Plain, Shape::Started, Shape::Marked, Shape::BarrierFirst, Shape::Repeated];

/// Two PEs that work in two regions, twice, each closed by a barrier of its own: the tensor as a trace.
fn trace(cells: [[[i64; 2]; 2]; 2], serial: i64, shape: Shape) -> String {
    let mut bodies = [String::new(), String::new()];
    let mut now = if shape == Shape::Started { 3 } else { 0 };
    for iteration in cells.repeat(if shape == Shape::Repeated { 5 } else { 1 }) {
        let length: i64 = iteration.iter().map(|work| work[0].max(work[1])).sum();
        if shape == Shape::Marked {
            bodies.iter_mut().for_each(|body| write!(body, "iteration turn {now}..{} {{", now + length).unwrap());
        }
        for (region, work) in iteration.into_iter().enumerate() {
            let end = now + work[0].max(work[1]);
            for (pe, body) in bodies.iter_mut().enumerate() {
                let arrival = now + work[pe];
                writeln!(body, "region{region} {now}..{end} {{ MPI_Barrier {arrival}..{end} barrier }}").unwrap();
            }
            now = end;
        }
        if shape == Shape::Marked {
            bodies.iter_mut().for_each(|body| body.push('}'));
        }
    }
    if serial > 0 {
        let end = now + serial;
        for (body, arrival) in bodies.iter_mut().zip([end, now]) {
            write!(body, "alone {now}..{end} {{ MPI_Barrier {arrival}..{end} barrier }}").unwrap();
        }
        now = end;
    }
    let (before, after) = match shape {
        Shape::Started => ("MPI_Init 0..3 init", format!("MPI_Finalize {now}..{} finalize", now + 2)),
        Shape::BarrierFirst => ("MPI_Barrier 0..0 barrier", String::new()),
        Shape::Plain | Shape::Marked | Shape::Repeated => ("", String::new()),
    };
    let end = if shape == Shape::Started { now + 2 } else { now };
    let pe = |(pe, body): (usize, &String)| format!("pe {pe}: main 0..{end} {{ {before}\n{body} {after} }}\n");
    "resolution 1\n".to_owned() + &bodies.iter().enumerate().map(pe).collect::<String>()
}

#[test]
fn figure_4_in_every_shape() {
    for shape in SHAPES {
        let (_, outcome) = figure(&trace(FIGURE_4, 0, shape), "bounds");
        let times = if shape == Shape::Repeated { 5.0 } else { 1.0 };
        assert_close(&levels(&outcome), &[41.0, 42.0, 46.0, 47.0, 47.0, 47.0, 47.0].map(|it| it * times));
        assert_eq!(words(&outcome, "gaps", "name"), ["C'", "O", "L", "M'", "D", "W", "S'", "X"]);
        let gaps = [0.0, 0.0, 1.0, 4.0, 1.0, 0.0, 0.0, 0.0].map(|it| it * times);
        assert_close(&numbers(&outcome, "gaps", "seconds"), &gaps);
        assert!(close(step(&outcome, "bounds", "IP"), 41.0 * times), "{shape:?}");
        assert_close(&[scalar(&outcome, "share"), scalar(&outcome, "pes")], &[0.0, 2.0]);
    }
}

#[test]
fn figure_5_in_every_shape() {
    for shape in SHAPES {
        let (trace, outcome) = figure(&trace(FIGURE_5, 0, shape), "bounds");
        let times = if shape == Shape::Repeated { 5.0 } else { 1.0 };
        assert_close(&levels(&outcome), &[40.0, 40.0, 40.0, 60.0, 60.0, 60.0, 60.0].map(|it| it * times));
        let gaps = [0.0, 0.0, 0.0, 0.0, 20.0, 0.0, 0.0, 0.0].map(|it| it * times);
        assert_close(&numbers(&outcome, "gaps", "seconds"), &gaps);
        // Two regions lose 20 PE-seconds each; both PEs hold up the other, once in each.
        assert_eq!(outcome.findings.len(), 2, "{shape:?}");
        for finding in &outcome.findings {
            assert_eq!((finding.pattern, finding.count), (Pattern::LoadImbalance, 2 * times as u64));
            assert!(close(seconds(&trace, finding), 20.0 * times));
            let blamed = |pe| (pe, 10 * times as i64);
            assert_eq!(
                finding.causes.iter().map(|cause| (cause.pe.0, cause.time.0)).collect::<Vec<_>>(),
                [blamed(0), blamed(1)]
            );
        }
    }
}

#[test]
fn a_serial_section_shifts_the_bounds_and_is_named() {
    let (trace, outcome) = figure(&trace(FIGURE_4, 7, Shape::Plain), "bounds");
    assert_close(&levels(&outcome), &[48.0, 49.0, 53.0, 54.0, 54.0, 54.0, 54.0]);
    assert!(close(scalar(&outcome, "share"), 7.0 / 54.0));
    let serial: Vec<_> = outcome.findings.iter().filter(|it| it.pattern == Pattern::SerialSection).collect();
    assert_eq!(serial.len(), 1);
    assert!(close(seconds(&trace, serial[0]), 7.0));
    assert_eq!(serial[0].causes[0].pe.0, 0);
    assert_eq!(partune_testkit::path_name(&trace, serial[0].causes[0].path), "main/alone");
}

/// PE 0 is in the barrier longer than PE 1, and what it does after that is its code's.
#[test]
fn an_operation_that_ends_is_not_what_goes_on() {
    for (code, cause) in [
        ("", "main"),
        ("work 12..52", "main/work"),
        ("solve 12..22 { MPI_Comm_rank 13..14 } output 22..52", "main/output"),
    ] {
        let text = format!(
            "resolution 1
             pe 0: main 0..60 {{ MPI_Barrier 0..12 barrier {code} MPI_Allreduce 52..54 allreduce }}
             pe 1: main 0..60 {{ MPI_Barrier 5..10 barrier MPI_Allreduce 11..54 allreduce }}"
        );
        let (trace, outcome) = figure(&text, "bounds");
        let worst = outcome.findings.iter().max_by_key(|it| it.time).expect("there is imbalance");
        let found = &worst.causes[0];
        assert_eq!((found.pe.0, partune_testkit::path_name(&trace, found.path)), (0, cause.to_owned()), "{code}");
    }
}

/// A function in which the last synchronisation was ends soon after it, and another one takes the time.
#[test]
fn a_function_that_ends_is_not_what_goes_on() {
    let text = "resolution 1
        pe 0: main 0..100 { solve 0..20 { MPI_Barrier 0..10 barrier MPI_Comm_rank 15..16 } output 20..90 MPI_Allreduce 90..94 allreduce }
        pe 1: main 0..100 { MPI_Barrier 5..10 barrier MPI_Allreduce 11..94 allreduce }";
    let (trace, outcome) = figure(text, "bounds");
    let worst = outcome.findings.iter().max_by_key(|it| it.time).expect("there is imbalance");
    assert_eq!(partune_testkit::path_name(&trace, worst.causes[0].path), "main/output");
}

/// What is serial before a region and after the last one is told at the same place.
#[test]
fn a_place_has_one_finding() {
    let threads = "team t = 0.0 0.1
        pe 0.0: main 0..30 { repeat 2 every 10 { alone 0..4 par 4..10 fork join { \"!$omp parallel\" 4..10 team(t) { \"!$omp implicit barrier\" 9..10 } } } rest 20..30 }
        pe 0.1: repeat 2 every 10 { \"!$omp parallel\" 4..10 team(t) { \"!$omp implicit barrier\" 9..10 } }";
    let (_, outcome) = figure(&format!("resolution 1\n{threads}"), "bounds");
    let serial: Vec<_> = outcome.findings.iter().filter(|it| it.pattern == Pattern::SerialSection).collect();
    assert_eq!((serial.len(), serial[0].time.0, serial[0].count), (1, 4 + 4 + 10, 3), "{serial:?}");
    assert_eq!(serial[0].pes.len(), 1, "{serial:?}");
}

/// What makes a PE late is told of each turn: `read` of the first, where it takes longest, and `alone` of the others.
#[test]
fn turns_of_a_region_may_be_late_for_different_reasons() {
    let region = |at: i64| {
        format!(
            "par {at}..{0} fork join {{ \"!$omp parallel\" {at}..{0} team(t) {{ \"!$omp implicit barrier\" {0}..{0} }} }}",
            at + 6
        )
    };
    let text = format!(
        "resolution 1
         team t = 0.0 0.1
         pe 0.0: main 0..42 {{ read 0..6 {} alone 12..16 {} alone 22..26 {} alone 32..36 {} }}
         pe 0.1: repeat 4 every 10 {{ \"!$omp parallel\" 6..12 team(t) {{ \"!$omp implicit barrier\" 12..12 }} }}",
        region(6),
        region(16),
        region(26),
        region(36)
    );
    let (trace, outcome) = figure(&text, "bounds");
    let serial: Vec<_> = outcome.findings.iter().filter(|it| it.pattern == Pattern::SerialSection).collect();
    assert_eq!((serial.len(), serial[0].time.0), (1, 6 + 3 * 4), "{serial:?}");
    let causes: Vec<(i64, String)> =
        serial[0].causes.iter().map(|it| (it.time.0, partune_testkit::path_name(&trace, it.path))).collect();
    assert_eq!(causes, [(12, "main/alone".to_owned()), (6, "main/read".to_owned())]);
}

/// A team of two of which each forks a team of two: all four work this long, and wait for the longest; what the runtime needs takes 10 to 20 in all.
fn nested(work: [i64; 4]) -> String {
    let inner = [0, 1].map(|pair| 4 + work[pair].max(work[pair + 2]));
    let end = inner[0].max(inner[1]);
    let part = |begin: i64, pe: usize| {
        let (worked, until) = (begin + work[pe], inner[pe % 2] + 6 - i64::from(pe > 1));
        let team = ["one", "two"][pe % 2];
        format!(
            "\"!$omp parallel\" {begin}..{0} team({team}) {{ solve {begin}..{worked} \"!$omp implicit barrier\" {worked}..{until} }}",
            until + 1
        )
    };
    let outer = |pe: usize| {
        let joined = inner[pe] + 8;
        format!(
            "\"!$omp parallel\" 1..{} team(outer) {{ call 2..{joined} fork join {{ {} }} \"!$omp implicit barrier\" {joined}..{} }}",
            end + 15,
            part(3, pe),
            end + 14
        )
    };
    format!(
        "resolution 1
         team outer = 0.0 0.1
         team one = 0.0 0.2
         team two = 0.1 0.3
         pe 0.0: main 0..{0} {{ call 0..{0} fork join {{ {1} }} }}
         pe 0.1: {2}
         pe 0.2: {3}
         pe 0.3: {4}",
        end + 16,
        outer(0),
        outer(1),
        part(4, 2),
        part(4, 3)
    )
}

#[test]
fn threads_of_nested_teams_work_in_the_region_of_the_outer_one() {
    let about = |level: f64, ticks: f64| assert!((ticks..ticks + 25.0).contains(&level), "{level} is not {ticks}");
    let (_, outcome) = figure(&nested([500; 4]), "bounds");
    levels(&outcome).into_iter().for_each(|level| about(level, 500.0));
    // 562.5 in the mean, and at least what the fourth does.
    let (_, outcome) = figure(&nested([250, 500, 500, 1000]), "bounds");
    about(levels(&outcome)[0], 562.5);
    about(levels(&outcome)[3], 1000.0);
}

#[test]
fn synchronisation_itself_is_a_gap() {
    let text = "resolution 1
        pe 0: main 0..20 { MPI_Barrier 10..14 barrier work 14..18 MPI_Barrier 18..20 barrier }
        pe 1: main 0..20 { MPI_Barrier 8..13 barrier work 13..17 MPI_Barrier 17..20 barrier }";
    let (_, outcome) = figure(text, "bounds");
    // Tiles (10, 8) and (4, 4). PE 0 comes last both times and leaves 4 and 2 after it came.
    assert_close(&levels(&outcome), &[13.0, 14.0, 14.0, 14.0, 14.0, 20.0, 20.0]);
    let gaps = numbers(&outcome, "gaps", "seconds");
    assert!(close(gaps.iter().sum::<f64>(), 20.0 - 13.0));
    assert!(close(numbers(&outcome, "gaps", "fraction").iter().sum::<f64>(), 7.0 / 20.0));
}

/// PEs that notify at 10, compute to 50, wait for a second, and compute to 60.
const SPLIT: &str = "resolution 1000
    pe 0 1 2: main 0..60 { upc_notify 10..10 barrier_notify work 10..50 upc_wait 50..51 barrier_wait more 51..60 }";

#[test]
fn a_split_barrier_costs_what_is_spent_in_its_calls() {
    let non_blocking = SPLIT
        .replace("upc_notify 10..10 barrier_notify", "MPI_Ibarrier 10..10 started(req=1)")
        .replace("upc_wait 50..51 barrier_wait", "MPI_Wait 50..51 barrier(req=1)");
    for text in [SPLIT, &non_blocking] {
        let (_, outcome) = figure(text, "bounds");
        // 50 and 9 of work, 1 of waiting calls: nothing is left to explain.
        assert_close(&levels(&outcome), &[0.059, 0.059, 0.059, 0.059, 0.059, 0.060, 0.060]);
    }
}

#[test]
fn a_split_barrier_that_keeps_nobody_apart_ends_no_tile() {
    // PE 0 computes 40 between its notify and its wait, PE 1 after its wait: side by side, not one after the other.
    let text = "resolution 1000
        pe 0: main 0..45 { upc_notify 0..0 barrier_notify early 0..40 upc_wait 40..40 barrier_wait MPI_Barrier 40..45 barrier }
        pe 1: main 0..45 { upc_notify 0..0 barrier_notify upc_wait 0..0 barrier_wait late 0..40 MPI_Barrier 40..45 barrier }";
    let (_, outcome) = figure(text, "bounds");
    assert_close(&levels(&outcome), &[0.040, 0.040, 0.040, 0.040, 0.040, 0.045, 0.045]);
}

#[test]
fn what_lies_between_synchronisations_has_its_own_gaps() {
    // PE 0: 10 of work, 2 in a send. PE 1: 4 of work, 8 waiting in a receive that takes 9, 3 on a file. Then a barrier at 16.
    let text = "resolution 1
        pe 0: main 0..18 { work 0..10 MPI_Send 10..12 send(to=1) MPI_Barrier 12..18 barrier }
        pe 1: main 0..18 { work 0..2 MPI_Recv 2..11 recv(from=0) MPI_File_read 11..14 read(64) work 14..16 MPI_Barrier 16..18 barrier }";
    let (_, outcome) = figure(text, "bounds");
    // u: 10, 4; k: 2, 1; o: 0, 3. IP 7, IPC 8.5, IPCO 10, the rest max(12, 8) = 12.
    // PE 1 arrives last, at 16, after 8 of waiting: 8 - (12 - 8) = 4 of it are not hidden. The barrier takes 2.
    let all = numbers(&outcome, "bounds", "seconds");
    assert_close(&all, &[7.0, 8.5, 10.0, 12.0, 12.0, 12.0, 16.0, 18.0, 18.0]);
}

#[test]
fn what_was_not_recorded_is_not_explained() {
    let text = "resolution 1
        pe 0: main 0..20 { work 0..5 gap 5..15 pause MPI_Barrier 20..20 barrier }
        pe 1: main 0..20 { work 0..8 MPI_Barrier 8..20 barrier }";
    let (_, outcome) = figure(text, "bounds");
    // PE 0 arrives last; of its 20 a pause of 10 is nobody's work.
    assert_close(&levels(&outcome), &[9.0, 10.0, 10.0, 10.0, 10.0, 10.0, 20.0]);
    assert!(close(step(&outcome, "gaps", "X"), 10.0));
}

#[test]
fn cpu_time_gives_the_gap_o() {
    let text = "resolution 1
        metric ru_utime accumulated s
        pe 0: main 0..20 metric(ru_utime=100) { MPI_Barrier 10..10 metric(ru_utime=106) barrier work 10..20 { MPI_Barrier 20..20 metric(ru_utime=116) barrier } }
        pe 1: main 0..20 metric(ru_utime=5) { MPI_Barrier 10..10 metric(ru_utime=15) barrier work 10..20 { MPI_Barrier 20..20 metric(ru_utime=21) barrier } }";
    let (_, outcome) = figure(text, "bounds");
    // PE 0 computed 6 and 10 of its 10 and 10 seconds, PE 1 10 and 6.
    assert_close(&numbers(&outcome, "bounds", "seconds")[..3], &[16.0, 16.0, 20.0]);
    assert!(close(step(&outcome, "gaps", "O"), 4.0));
}

#[test]
fn main_thread_outside_of_teams_is_serial() {
    let text = "resolution 1
        team t = 0.0 0.1
        pe 0.0: main 0..30 { before 0..10 par 10..20 fork join { \"!$omp parallel\" 10..20 team(t) { \"!$omp implicit barrier\" 20..20 } } after 20..30 }
        pe 0.1: \"!$omp parallel\" 10..20 team(t) { \"!$omp implicit barrier\" 18..20 }";
    let (_, outcome) = figure(text, "bounds");
    assert!(close(scalar(&outcome, "seconds"), 20.0), "{:?}", outcome.sections);
    assert_close(&levels(&outcome), &[29.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0]);
    assert!(outcome.findings.iter().any(|it| it.pattern == Pattern::SerialSection));
}

/// The main thread works 6 alone, creates a thread, works `with` beside it, waits until it has worked 4, and works 3 alone.
fn created(with: i64) -> String {
    let joins = 6 + with;
    format!(
        "resolution 1
         team t = 0.0 0.1
         pe 0.0: main 0..13 {{ before 0..6 pthread_create 6..6 create(t, seq=1) pthread_join {joins}..10 wait(t, seq=1) after 10..13 }}
         pe 0.1: worker 6..10 begin(t, seq=1) end(t, seq=1)"
    )
}

#[test]
fn the_main_thread_is_serial_while_no_thread_that_it_created_lives() {
    let (trace, outcome) = figure(&created(4), "bounds");
    assert!(close(scalar(&outcome, "seconds"), 9.0), "{:?}", outcome.sections);
    // 9 alone, and 4 side by side.
    assert_close(&levels(&outcome), &[13.0; 7]);
    let found = |outcome: &partune_analysis::Outcome| -> Vec<(Pattern, i64, String)> {
        let name = |path| partune_testkit::path_name(&trace, path);
        outcome.findings.iter().map(|it| (it.pattern, it.time.0, name(it.causes[0].path))).collect()
    };
    let serial = |time, path: &str| (Pattern::SerialSection, time, path.to_owned());
    let mut all = found(&outcome);
    all.sort_by_key(|it| it.1);
    assert_eq!(all, [serial(3, "main/after"), serial(6, "main/before")]);
    // Who waits for the whole of what a thread does leaves it alone with its work: that is serial too.
    let (_, outcome) = figure(&created(0), "bounds");
    assert!(close(scalar(&outcome, "seconds"), 13.0), "{:?}", outcome.sections);
}

/// The last of them ends while the main thread still waits to go on from joining another one: what is after that is serial, and a region of its own.
#[test]
fn threads_that_are_joined_after_their_end_close_a_block_of_their_own() {
    let text = "resolution 1
        team t = 0.0 0.1 0.2
        pe 0.0: main 0..14 { before 0..6 pthread_create 6..6 create(t, seq=1) pthread_create 6..6 create(t, seq=2) pthread_join 6..11 wait(t, seq=1) pthread_join 11..11 wait(t, seq=2) after 11..14 }
        pe 0.1: worker 6..9 begin(t, seq=1) end(t, seq=1)
        pe 0.2: worker 6..10 begin(t, seq=2) end(t, seq=2)";
    let (trace, outcome) = figure(text, "bounds");
    let partune_analysis::Values::Path(to) = column(&outcome, "block_regions", "to") else { panic!("paths") };
    let mut closed: Vec<String> = to.iter().map(|path| partune_testkit::path_name(&trace, *path)).collect();
    closed.sort_unstable();
    assert_eq!(closed[1..], ["main/pthread_create", "main/pthread_join"], "{closed:?}");
    assert_eq!(words(&outcome, "block_regions", "kind").iter().filter(|kind| **kind == "serial").count(), 2);
}

#[test]
fn threads_that_live_from_begin_to_end_leave_nothing_serial() {
    let text = "resolution 1
        team t = 0.0 0.1
        pe 0.0: main 0..10 { pthread_create 0..0 create(t, seq=1) pthread_join 8..10 wait(t, seq=1) }
        pe 0.1: worker 0..10 begin(t, seq=1) end(t, seq=1)";
    let (_, outcome) = figure(text, "bounds");
    assert!(close(scalar(&outcome, "seconds"), 0.0), "{:?}", outcome.sections);
    assert!(outcome.findings.iter().all(|it| it.pattern == Pattern::LoadImbalance), "{:?}", outcome.findings);
    // One of two lives on while the other is replaced: they are never none.
    let text = "resolution 1
        team t = 0.0 0.1 0.2
        pe 0.0: main 0..10 { pthread_create 0..0 create(t, seq=1) pthread_create 0..0 create(t, seq=2) pthread_create 5..5 create(t, seq=3) }
        pe 0.1: worker 0..5 begin(t, seq=1) end(t, seq=1) worker 5..10 begin(t, seq=3) end(t, seq=3)
        pe 0.2: worker 0..10 begin(t, seq=2) end(t, seq=2)";
    let (_, outcome) = figure(text, "bounds");
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
}

#[test]
fn created_threads_of_processes_are_cut_where_they_live() {
    // Two processes of which each works 6 alone, 4 beside a thread, and 3 alone.
    let process = |process: u32| {
        format!(
            "pe {process}.0: MPI_Init 0..0 init main 0..14 {{ pthread_create 6..6 create(t{process}, seq=1) pthread_join 10..10 wait(t{process}, seq=1) MPI_Barrier 13..14 barrier }}
             pe {process}.1: worker 6..10 begin(t{process}, seq=1) end(t{process}, seq=1)\n"
        )
    };
    let teams = "resolution 1\n team t0 = 0.0 0.1\n team t1 = 1.0 1.1\n";
    let (_, outcome) = figure(&(teams.to_owned() + &process(0) + &process(1)), "bounds");
    let threads = ["IPCO", "IPCOL", "IPCOLMD", "actual"].map(|name| step(&outcome, "thread_bounds", name));
    assert_close(&threads, &[13.0; 4]);
    let serial: Vec<i64> =
        outcome.findings.iter().filter(|it| it.pattern == Pattern::SerialSection).map(|it| it.time.0).collect();
    // Threads of both, at the same places: six each before, and three each after.
    assert_eq!(serial.iter().sum::<i64>(), 2 * (6 + 3), "{:?}", outcome.findings);
}

#[test]
fn threads_of_processes_have_a_chain_of_their_own() {
    // Two processes of two threads. Each computes 10 alone; then a team: threads 10 and 6 in one process, 8 and 8 in the other; then
    // a barrier of processes. Process 0 is ready at 20, process 1 at 18.
    let team = |process: u32, work: [i64; 2], end: i64| {
        let [first, second] = work.map(|work| 10 + work);
        format!(
            "pe {process}.0: MPI_Init 0..0 init main 0..22 {{ alone 0..10 par 10..{end} fork join {{ \"!$omp parallel\" 10..{end} team(t{process}) {{ \"!$omp implicit barrier\" {first}..{end} }} }} MPI_Barrier {end}..22 barrier }}
             pe {process}.1: \"!$omp parallel\" 10..{end} team(t{process}) {{ \"!$omp implicit barrier\" {second}..{end} }}\n"
        )
    };
    let teams = "resolution 1\n team t0 = 0.0 0.1\n team t1 = 1.0 1.1\n";
    let (_, outcome) = figure(&(teams.to_owned() + &team(0, [10, 6], 20) + &team(1, [8, 8], 18)), "bounds");
    // Processes compute 20 and 18.
    assert_close(&levels(&outcome), &[19.0, 20.0, 20.0, 20.0, 20.0, 22.0, 22.0]);
    // Threads: 10 alone and 8 in the mean, in both; at least 10 + 10 and 10 + 8. The mean of 20 and 18 is what processes start from.
    let threads = ["IPCO", "IPCOL", "IPCOLMD", "actual"].map(|name| step(&outcome, "thread_bounds", name));
    assert_close(&threads, &[18.0, 19.0, 19.0, 19.0]);
    assert!(close(step(&outcome, "thread_gaps", "L"), 1.0));
}

#[test]
fn one_pe_has_bounds_without_gaps_and_no_finding() {
    let (_, outcome) = figure("resolution 1\n pe 0: main 0..10", "bounds");
    assert_close(&numbers(&outcome, "gaps", "seconds"), &[0.0; 8]);
    assert!(outcome.findings.is_empty());
    assert!(
        matches!(column(&outcome, "block_regions", "from"), partune_analysis::Values::Path(paths) if paths.len() == 1)
    );
}

#[test]
fn balanced_blocks_are_silent() {
    let text = "resolution 1
        pe 0 1 2: main 0..100 { MPI_Barrier 40..41 barrier MPI_Barrier 99..100 barrier }";
    let (_, outcome) = figure(text, "bounds");
    assert!(outcome.findings.is_empty());
    for name in ["L", "M'", "D", "W", "X"] {
        assert!(close(step(&outcome, "gaps", name), 0.0), "{name}");
    }
}

#[test]
fn a_wait_and_the_imbalance_behind_it_are_one_finding() {
    use partune_analysis::once;
    // Figure 5: two regions with 20 PE-seconds of imbalance each, which are 20 of waiting at the barrier of each.
    let trace = partune_testkit::trace(&trace(FIGURE_5, 0, Shape::Plain));
    let mut findings = analyze(&trace, "wait_states").findings;
    let imbalance = analyze(&trace, "bounds").findings;
    findings.extend(imbalance.clone());
    let told = once(&trace, findings, 0);
    assert_eq!(told.len(), 2);
    for finding in &told {
        assert_eq!((finding.pattern, finding.time.0), (Pattern::WaitAtBarrier, 20));
        assert!(finding.facts.contains(&("load_imbalance", 20.0)), "{:?}", finding.facts);
    }
    // Without the findings of waits nobody else tells of it.
    assert_eq!(once(&trace, imbalance.clone(), 0), imbalance);
}

#[test]
fn imbalance_that_nobody_waited_for_is_not_told_again() {
    // PE 1 leaves start-up at 5 and works 5 where PE 0 works 20: an imbalance of 15, of which it waits for 10.
    let trace = partune_testkit::trace(
        "resolution 1
         pe 0: MPI_Init 0..0 init main 0..20 { work 0..20 MPI_Barrier 20..20 barrier }
         pe 1: MPI_Init 0..5 init main 5..20 { work 5..10 MPI_Barrier 10..20 barrier }",
    );
    let imbalance = analyze(&trace, "bounds").findings;
    assert_eq!(imbalance.iter().map(|it| it.time.0).collect::<Vec<_>>(), [15]);
    let waits = analyze(&trace, "wait_states").findings;
    let told = partune_analysis::once(&trace, [waits, imbalance].concat(), 0);
    assert_eq!(told.iter().map(|it| (it.pattern, it.time.0)).collect::<Vec<_>>(), [(Pattern::WaitAtBarrier, 10)]);
    assert!(told[0].facts.contains(&("load_imbalance", 15.0)));
}

#[test]
fn time_between_start_up_and_shut_down_is_accounted_for() {
    let text = "resolution 1
        pe 0: MPI_Init 0..2 init work 2..10 MPI_Send 10..12 send(to=1) MPI_Finalize 12..20 finalize
        pe 1: MPI_Init 0..2 init work 2..4 MPI_Recv 4..11 recv(from=0) work 11..14 MPI_File_read 14..15 read(64) work 15..16 MPI_Finalize 16..20 finalize";
    let (_, outcome) = figure(text, "time");
    // From 2 to 16 on two PEs. PE 0: 8 of work, 2 in the send, 4 at the shut-down for PE 1. PE 1: 6 of work, 6 until the send, 1 to receive, 1
    // on a file.
    let found =
        ["run", "outside_run", "computation", "waiting", "transfer", "io", "idle"].map(|it| scalar(&outcome, it));
    assert_close(&found, &[14.0, 6.0, 14.0, 10.0, 3.0, 1.0, 0.0]);
}

/// The run is from 2, when PE 0 leaves the start-up, to 12: PE 1 is in it for 3 of these 20 ticks, and leaves the shut-down's wait, 2, to PE 0.
#[test]
fn start_up_that_lasts_into_the_run_is_told_as_such() {
    let text = "resolution 1
        pe 0: MPI_Init 0..2 init work 2..10 MPI_Finalize 10..14 finalize
        pe 1: MPI_Init 0..5 init work 5..12 MPI_Finalize 12..14 finalize";
    let (_, outcome) = figure(text, "time");
    let found = ["run", "computation", "waiting", "start_up", "transfer", "idle"].map(|it| scalar(&outcome, it));
    assert_close(&found, &[10.0, 15.0, 2.0, 3.0, 0.0, 0.0]);
}

/// PE 1 enters nothing between the barriers: it is in `main`, and not in the barrier that ended before.
#[test]
fn code_in_a_block_without_visits_is_what_goes_on() {
    let (trace, outcome) = figure(
        "resolution 1
         pe 0: main 0..200 { MPI_Barrier 0..10 barrier MPI_Barrier 20..100 barrier MPI_Barrier 190..200 barrier }
         pe 1: main 0..200 { step 0..150 { MPI_Barrier 0..10 barrier MPI_Barrier 99..100 barrier } MPI_Barrier 199..200 barrier }",
        "bounds",
    );
    let uneven = outcome.findings.iter().filter(|it| it.pattern == Pattern::LoadImbalance);
    let mut causes: Vec<String> = uneven
        .flat_map(|it| &it.causes)
        .filter(|cause| cause.pe.0 == 1)
        .map(|cause| partune_testkit::path_name(&trace, cause.path))
        .collect();
    causes.sort();
    causes.dedup();
    assert!(!causes.is_empty() && causes.iter().all(|it| it == "main" || it == "main/step"), "{causes:?}");
}
