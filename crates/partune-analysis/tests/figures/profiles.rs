//! What a profile allows: factors, times and transfers by hand, the same as of a trace with these visits, and silence where it must be.

use partune_analysis::{PROFILE_ANALYSES, Pattern, Values};
use partune_base::{CallPathId, PeId, ProcessId, RegionId, Span, StringId, Time};
use partune_trace::{
    Completion, PathProfile, Pe, PeKind, PeProfile, Process, Profile, Region, RegionKind, Role, Stream, Trace,
    TraceBuilder, Transfers, Visit,
};

use super::{analyze, numbers, scalar};

/// main, its start-up, a message, a barrier and the shut-down.
const PATHS: [(Role, Option<u32>); 5] = [
    (Role::User, None),
    (Role::Init, Some(0)),
    (Role::Send, Some(0)),
    (Role::GroupSync, Some(0)),
    (Role::Finalize, Some(0)),
];

/// Visits of two PEs: path, enter, exit.
type Visits<'a> = [&'a [(u32, i64, i64)]; 2];

const UNEVEN: Visits<'static> = [
    &[(0, 0, 130), (1, 0, 10), (2, 60, 65), (2, 70, 75), (3, 90, 110), (4, 110, 130)],
    &[(0, 0, 130), (1, 0, 10), (2, 20, 25), (3, 50, 110), (4, 110, 130)],
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
        let (completion, kind, file) = (Completion::Blocking, RegionKind::Function, StringId::NONE);
        builder.regions.push(Region { name, construct: name, paradigm, role: *role, completion, kind, file, line: 0 });
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
            Some(PathProfile {
                path: CallPathId(path),
                visits: of_path().count() as u64,
                inclusive: Span(times().sum()),
                exclusive: Span(times().sum::<i64>() - inside),
                extremes: Some((Span(times().min()?), Span(times().max()?))),
                first: Time(of_path().map(|it| it.1).min()?),
                last: Time(of_path().map(|it| it.2).max()?),
                transfers: Transfers::default(),
            })
        };
        let rows = (0..PATHS.len() as u32).filter_map(row).collect();
        PeProfile { begin: Time(0), end: Time(130), paused: Span::ZERO, rows }
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

#[test]
fn figures_are_those_of_a_trace_with_these_visits() {
    for visits in [UNEVEN, [UNEVEN[1], UNEVEN[1]]] {
        let (trace, profile) = (trace(visits), profile(visits));
        assert_eq!((trace.begin(), trace.end()), (profile.begin(), profile.end()));
        for analysis in PROFILE_ANALYSES {
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

#[test]
fn uneven_work_is_found_and_even_work_is_not() {
    let found = analyze(&profile(UNEVEN), "balance");
    assert_eq!(
        found.findings.iter().map(|it| (it.pattern, it.time.0)).collect::<Vec<_>>(),
        [(Pattern::LoadImbalance, 35)]
    );
    assert_eq!(found.findings[0].path, CallPathId(0));
    assert!(analyze(&profile([UNEVEN[1], UNEVEN[1]]), "balance").findings.is_empty());
    for analysis in PROFILE_ANALYSES {
        let outcome = analyze(&profile([&[], &[]]), analysis.name);
        assert!(outcome.findings.is_empty(), "{}", analysis.name);
    }
}

#[test]
fn threads_are_useful_in_their_own_code_and_pauses_are_not() {
    let one = PathProfile {
        path: CallPathId(0),
        visits: 1,
        inclusive: Span(100),
        exclusive: Span(60),
        extremes: None,
        first: Time(0),
        last: Time(100),
        transfers: Transfers::default(),
    };
    let send = PathProfile { path: CallPathId(2), inclusive: Span(40), exclusive: Span(40), ..one };
    let pe = |paused, rows| PeProfile { begin: Time(0), end: Time(100), paused: Span(paused), rows };
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
