//! What a profile allows: factors, times and transfers by hand, the same as of a trace with these visits, and silence where it must be.

use partune_analysis::{Needs, Pattern, Values, analyses_of};
use partune_base::{CallPathId, PeId, ProcessId, RegionId, Span, StringId, Time};
use partune_trace::{
    BlockSums, Completion, PathProfile, Pe, PeKind, PeProfile, Process, Profile, Region, Role, Stream, Trace,
    TraceBuilder, Visit,
};

use super::{analyze, numbers, scalar};

/// main, its start-up, a message, a barrier, the shut-down and another barrier.
const PATHS: [(Role, Option<u32>); 6] = [
    (Role::User, None),
    (Role::Init, Some(0)),
    (Role::Send, Some(0)),
    (Role::GroupSync, Some(0)),
    (Role::Finalize, Some(0)),
    (Role::GroupSync, Some(0)),
];

/// Visits of two PEs: path, enter, exit.
type Visits<'a> = [&'a [(u32, i64, i64)]; 2];

const UNEVEN: Visits<'static> = [
    &[(0, 0, 130), (1, 0, 10), (2, 60, 65), (2, 70, 75), (3, 90, 110), (4, 110, 130)],
    &[(0, 0, 130), (1, 0, 10), (2, 20, 25), (3, 50, 110), (4, 110, 130)],
];

/// A send of 1 and one of 20.
const SPIKED: Visits<'static> = [
    &[(0, 0, 130), (1, 0, 10), (2, 60, 61), (2, 70, 90), (3, 90, 110), (4, 110, 130)],
    &[(0, 0, 130), (1, 0, 10), (3, 90, 110), (4, 110, 130)],
];

fn builder() -> TraceBuilder {
    let mut builder = TraceBuilder { resolution: 100, ..TraceBuilder::default() };
    let paradigm = builder.strings.intern("MPI");
    for pe in 0..2 {
        let process = Process { name: StringId::NONE, rank: Some(pe), node: StringId::NONE, pes: vec![PeId(pe)] };
        builder.processes.push(process);
        let process = ProcessId(pe);
        builder.pes.push(Pe {
            name: StringId::NONE,
            kind: PeKind::Cpu,
            process,
            thread: 0,
            device: None,
            archive_id: pe.into(),
        });
    }
    for (number, (role, parent)) in PATHS.iter().enumerate() {
        let name = builder.strings.intern(role.name());
        let paradigm = if *role == Role::User { StringId::NONE } else { paradigm };
        builder.regions.push(Region::of_construct(name, paradigm, *role));
        builder.paths.push(parent.map_or(CallPathId::NONE, CallPathId), RegionId(number as u32));
    }
    builder
}

fn trace(visits: Visits<'_>) -> Trace {
    let mut builder = builder();
    for visits in visits {
        let mut stream = Stream::default();
        for &(path, enter, exit) in visits {
            stream.visits.push(Visit { enter: Time(enter), exit: Time(exit), path: CallPathId(path) });
        }
        builder.streams.push(stream);
    }
    builder.seal()
}

fn profile(visits: Visits<'_>) -> Trace {
    let mut builder = builder();
    let of_pe = |visits: &[(u32, i64, i64)]| {
        let row = |path: u32| {
            let of_path = || visits.iter().filter(move |it| it.0 == path);
            let times = || of_path().map(|it| it.2 - it.1);
            let inside: i64 =
                if path == 0 { visits.iter().filter(|it| it.0 > 0).map(|it| it.2 - it.1).sum() } else { 0 };
            // Only the barrier, which both reach once, ends a block: what lies between operations from the start-up to it.
            let barrier = visits.iter().find(|it| it.0 == 3).map_or(0, |it| it.1);
            let before = visits.iter().filter(|it| it.0 > 0 && it.2 <= barrier).map(|it| it.2 - it.1);
            let signature = if path == 3 { 77 } else { 0 };
            let time = Span(if path == 3 { barrier - before.sum::<i64>() } else { 0 });
            Some(PathProfile {
                visits: of_path().count() as u64,
                inclusive: Span(times().sum()),
                exclusive: Span(times().sum::<i64>() - inside),
                extremes: Some((Span(times().min()?), Span(times().max()?))),
                first: Time(of_path().map(|it| it.1).min()?),
                last: Time(of_path().map(|it| it.2).max()?),
                members: (path == 3).then_some(2),
                blocks: Some(BlockSums { time, cpu: None, signature }),
                ..PathProfile::new(CallPathId(path))
            })
        };
        let rows = (0..PATHS.len() as u32).filter_map(row).collect();
        let calls = visits.iter().filter(|it| it.0 > 0).count() as u64;
        let open_block = Some(BlockSums::default());
        PeProfile { begin: Time(0), end: Time(130), paused: Span::ZERO, calls, open_block, rows }
    };
    builder.profile = Some(Profile { pes: visits.map(of_pe).to_vec().into() });
    builder.seal()
}

/// From 10 to 110; useful are 70 of the first PE and 35 of the second.
#[test]
fn factors_by_hand() {
    let efficiency = analyze(&profile(UNEVEN), "efficiency");
    for (name, value) in [
        ("parallel", 52.5 / 100.0),
        ("load_balance", 52.5 / 70.0),
        ("communication", 70.0 / 100.0),
        ("run_seconds", 1.0),
        ("useful_seconds", 1.05),
    ] {
        assert!((scalar(&efficiency, name) - value).abs() < 1e-12, "{name}");
    }
    let names: Vec<&str> = efficiency.sections[0].scalars.iter().map(|it| it.name).collect();
    assert!(!names.contains(&"serialization") && !names.contains(&"transfer"), "{names:?}");
    assert_eq!(efficiency.sections[0].notes.len(), 1);
}

/// The first screen's table is the same of both, but for what waited; start-up and shut-down, which are outside of the run, have no row.
#[test]
fn operations_are_those_of_a_trace() {
    for visits in [UNEVEN, SPIKED] {
        let of = |trace: &Trace| {
            let outcome = analyze(trace, "operations");
            ["count", "seconds", "share"].map(|name| super::numbers(&outcome, "top_operations", name))
        };
        let (trace, profile) = (of(&trace(visits)), of(&profile(visits)));
        assert_eq!(trace, profile);
        let operations = visits.iter().flat_map(|it| it.iter()).filter(|it| [2, 3].contains(&it.0));
        let busy: i64 = operations.map(|it| it.2 - it.1).sum();
        assert!((trace[1].iter().sum::<f64>() - busy as f64 / 100.0).abs() < 1e-12, "{trace:?}");
    }
}

#[test]
fn figures_are_those_of_a_trace_with_these_visits() {
    for visits in [UNEVEN, SPIKED, [UNEVEN[1], UNEVEN[1]]] {
        let (trace, profile) = (trace(visits), profile(visits));
        assert_eq!((trace.begin(), trace.end()), (profile.begin(), profile.end()));
        // A profile has no turns, so that other bounds follow IPCOLM.
        for analysis in analyses_of(Needs::Sums).iter().filter(|analysis| analysis.name != "bounds") {
            let (mut of_trace, of_profile) = (analyze(&trace, analysis.name), analyze(&profile, analysis.name));
            assert_eq!(of_trace.sections.len(), of_profile.sections.len(), "{}", analysis.name);
            for (trace, profile) in of_trace.sections.iter_mut().zip(&of_profile.sections) {
                // What only events tell.
                trace.scalars.retain(|it| !["serialization", "transfer", "ideal_seconds"].contains(&it.name));
                for table in &mut trace.tables {
                    table
                        .columns
                        .retain(|it| !(analysis.name == "operations" && ["waiting", "transfer"].contains(&it.name)));
                }
                assert_eq!((&trace.scalars, &trace.tables), (&profile.scalars, &profile.tables));
            }
        }
    }
}

/// 1 and 20 are 10.5 on average: that is 10.5 times the shortest, and the longest 1.9 times the average.
#[test]
fn bottlenecks_by_hand() {
    let outcome = analyze(&profile(SPIKED), "bottlenecks");
    super::assert_close(&numbers(&outcome, "bottlenecks", "factor"), &[10.5]);
    assert!(outcome.sections[0].notes.is_empty());
    assert!(numbers(&analyze(&profile(UNEVEN), "bottlenecks"), "bottlenecks", "factor").is_empty());
    // Of a function that was executed twice, only the sum is known.
    let row = PathProfile {
        visits: 2,
        inclusive: Span(50),
        exclusive: Span(50),
        last: Time(50),
        ..PathProfile::new(CallPathId(0))
    };
    let mut builder = builder();
    builder.profile =
        Some(Profile { pes: vec![PeProfile { end: Time(50), rows: vec![row], ..PeProfile::default() }].into() });
    let outcome = analyze(&builder.seal(), "bottlenecks");
    assert!(numbers(&outcome, "bottlenecks", "factor").is_empty());
    assert_eq!(outcome.sections[0].notes.len(), 1, "it is said that it cannot be told");
}

/// Figure 4 of the paper as a profile: two barriers a turn, blocks of (10, 5) and (10, 15), then (5, 6) and (15, 16). Of the first region, process 0 is 12 of 15
/// on a processor, of the second, process 1 30 of 31. A second profile has barriers that are not the same ones.
#[test]
fn bounds_by_hand() {
    let row = |path, waited, work, cpu, signature| PathProfile {
        visits: 2,
        inclusive: Span(waited),
        exclusive: Span(waited),
        last: Time(47),
        blocks: Some(BlockSums { time: Span(work), cpu: Some(Span(cpu)), signature }),
        ..PathProfile::new(CallPathId(path))
    };
    let figure_4 = |[first, second]: [u64; 2]| {
        let pe = |rows| PeProfile {
            end: Time(47),
            open_block: Some(BlockSums { cpu: Some(Span(0)), ..BlockSums::default() }),
            rows,
            ..PeProfile::default()
        };
        let mut builder = builder();
        let process_0 = vec![row(3, 1, 15, 12, 5), row(5, 6, 25, 25, 9)];
        let process_1 = vec![row(3, 5, 11, 11, first), row(5, 0, 31, 30, second)];
        builder.profile = Some(Profile { pes: vec![pe(process_0), pe(process_1)].into() });
        analyze(&builder.seal(), "bounds")
    };
    let same = figure_4([5, 9]);
    assert_eq!(super::words(&same, "bounds", "name"), ["IP", "IPC", "IPCO", "IPCOL", "IPCOLM", "actual"]);
    // What barriers take may be waiting: it is in the rest.
    super::assert_close(&numbers(&same, "bounds", "seconds"), &[0.39, 0.39, 0.41, 0.42, 0.46, 0.47]);
    assert_eq!(super::words(&same, "gaps", "name"), ["C'", "O", "L", "M'", "rest"]);
    super::assert_close(&numbers(&same, "gaps", "seconds"), &[0.0, 0.02, 0.01, 0.04, 0.01]);
    // Of the first region 15 of (15 + 11) / 2, of the second 31 of (25 + 31) / 2.
    super::assert_close(&numbers(&same, "block_regions", "imbalance"), &[0.03, 0.02]);
    let other = figure_4([9, 5]);
    super::assert_close(&numbers(&other, "bounds", "seconds"), &[0.39, 0.39, 0.41, 0.42, 0.42, 0.47]);
    assert_eq!(super::words(&other, "block_regions", "ended_by"), ["several"]);
    let mut builder = builder();
    let rows = || vec![PathProfile { blocks: None, ..row(3, 1, 15, 12, 5) }];
    let pe = || PeProfile { end: Time(47), rows: rows(), ..PeProfile::default() };
    builder.profile = Some(Profile { pes: vec![pe(), pe()].into() });
    assert!(analyze(&builder.seal(), "bounds").sections.is_empty(), "no blocks were kept");
}

/// Two blocks of (10, 20) and (20, 10) in a run of 60. Process 0 asks for 4, sends without blocking for 2 and writes a file for 6; process 1 only
/// sends, for 8, and may have waited. User code is 60 in all, so IP is 30; with what never waits 33; with the file 36. Process 0 has 42 in
/// all, so IPCOL is 42, though by user code it would be 30; by block user code is 20 + 20, which is less.
#[test]
fn calls_that_cannot_wait_and_files_are_work() {
    let calls = |completion: Completion| {
        let mut builder = builder();
        let paradigm = builder.strings.intern("MPI");
        for (role, completion) in
            [(Role::Inquiry, Completion::Blocking), (Role::Send, completion), (Role::Io, Completion::Blocking)]
        {
            let name = builder.strings.intern(role.name());
            let construct = Region::of_construct(name, paradigm, role);
            let region = builder.regions.push(Region { completion, ..construct });
            builder.paths.push(CallPathId(0), region);
        }
        let row = |path, took, first, last| PathProfile {
            visits: 1,
            inclusive: Span(took),
            exclusive: Span(took),
            first: Time(first),
            last: Time(last),
            ..PathProfile::new(CallPathId(path))
        };
        let barrier = |path, took, work, signature| PathProfile {
            blocks: Some(BlockSums { time: Span(work), cpu: None, signature }),
            ..row(path, took, 0, 60)
        };
        let pe =
            |rows| PeProfile { end: Time(60), open_block: Some(BlockSums::default()), rows, ..PeProfile::default() };
        let first =
            vec![barrier(3, 9, 10, 5), barrier(5, 9, 20, 9), row(6, 4, 0, 4), row(7, 2, 4, 6), row(8, 6, 6, 12)];
        let second = vec![barrier(3, 10, 20, 5), barrier(5, 12, 10, 9), row(2, 8, 0, 8)];
        builder.profile = Some(Profile { pes: vec![pe(first), pe(second)].into() });
        analyze(&builder.seal(), "bounds")
    };
    let told = calls(Completion::NonBlocking);
    super::assert_close(&numbers(&told, "bounds", "seconds"), &[0.30, 0.33, 0.36, 0.42, 0.42, 0.60]);
    super::assert_close(&numbers(&told, "gaps", "seconds"), &[0.03, 0.03, 0.06, 0.0, 0.18]);
    // Sends that may have waited are no certain work.
    let blocking = calls(Completion::Blocking);
    super::assert_close(&numbers(&blocking, "bounds", "seconds"), &[0.30, 0.32, 0.35, 0.40, 0.40, 0.60]);
}

#[test]
fn uneven_work_is_found_and_even_work_is_not() {
    let found = analyze(&profile(UNEVEN), "balance");
    assert_eq!(
        found.findings.iter().map(|it| (it.pattern, it.time.0)).collect::<Vec<_>>(),
        [(Pattern::LoadImbalance, 35)]
    );
    assert_eq!(found.findings[0].path, CallPathId(0));
    assert!(analyze(&profile([UNEVEN[1], UNEVEN[1]]), "balance").findings.is_empty());
    for analysis in analyses_of(Needs::Sums) {
        let outcome = analyze(&profile([&[], &[]]), analysis.name);
        assert!(outcome.findings.is_empty(), "{}", analysis.name);
    }
}

#[test]
fn threads_are_useful_in_their_own_code_and_pauses_are_not() {
    let one = PathProfile {
        visits: 1,
        inclusive: Span(100),
        exclusive: Span(60),
        last: Time(100),
        ..PathProfile::new(CallPathId(0))
    };
    let send = PathProfile { path: CallPathId(2), inclusive: Span(40), exclusive: Span(40), ..one };
    let pe = |paused, rows| PeProfile { end: Time(100), paused: Span(paused), rows, ..PeProfile::default() };
    let mut builder = builder();
    let mut second = builder.pes[PeId(1)].clone();
    (second.process, second.thread) = (ProcessId(0), 1);
    builder.pes[PeId(1)] = second;
    builder.processes[ProcessId(0)].pes = vec![PeId(0), PeId(1)];
    builder.processes[ProcessId(1)].pes = Vec::new();
    // The main thread: 100 less 40 in the message less 10 paused; the other one: 60 in its code.
    builder.profile = Some(Profile { pes: vec![pe(10, vec![one, send]), pe(0, vec![one, send])].into() });
    let outcome = analyze(&builder.seal(), "efficiency");
    assert!((scalar(&outcome, "useful_seconds") - (0.5 + 0.6)).abs() < 1e-12);
    // Between processes, the main thread is busy outside of the message.
    assert!((scalar(&outcome, "process_parallel") - 0.6).abs() < 1e-12);
    assert!((scalar(&outcome, "thread_parallel") - 0.55 / 0.6).abs() < 1e-12);
}

#[test]
fn sizes_of_transfers_of_messages_and_of_profiles() {
    let trace = partune_testkit::trace(
        "pe 0: MPI_Send 0..10 send(to=1, bytes=8) MPI_Send 20..30 send(to=1, bytes=2000)
         pe 1: MPI_Recv 0..12 recv(from=0, bytes=8) MPI_Recv 20..32 recv(from=0, bytes=2000)",
    );
    let outcome = analyze(&trace, "transfer_sizes");
    assert_eq!(numbers(&outcome, "sizes", "bytes"), [4.0, 1024.0]);
    assert_eq!(numbers(&outcome, "sizes", "transfers"), [2.0, 2.0]);
    assert!((scalar(&outcome, "small_share") - 0.5).abs() < 1e-12);
    assert!(matches!(super::column(&outcome, "sized_places", "small"), Values::Count(small) if small == &[1, 1]));
    assert!(analyze(&profile(UNEVEN), "transfer_sizes").sections.is_empty(), "nothing was transferred");
}
