//! What a sealed trace guarantees, whatever was put into its builder.

mod disorder;
mod ends;

use partune_base::{CallPathId, GroupId, PeId, ProcessId, RegionId, Span, StringId, Time, WindowId};
use partune_trace::{
    BlockSums, CallSite, Completion, NO_MATCHING, NO_REQUEST, PathProfile, Pe, PeKind, PeProfile, Polls, Process,
    Profile, Region, RmaTransfer, RmaTransferKind, Role, SIZE_CLASSES, Send, Slice, Stream, Trace, TraceBuilder,
    Transfers, Visit, VisitIx,
};

/// A builder of one PE with a path for each region; each region is called from the one before.
fn nested(roles: &[(Role, Option<&str>)]) -> TraceBuilder {
    let mut builder = TraceBuilder::default();
    let process = Process { name: StringId::NONE, rank: Some(0), node: StringId::NONE, pes: vec![PeId(0)] };
    builder.processes.push(process);
    let pe =
        Pe { name: StringId::NONE, kind: PeKind::Cpu, process: ProcessId(0), thread: 0, device: None, archive_id: 0 };
    builder.pes.push(pe);
    let mut parent = CallPathId::NONE;
    for (number, (role, paradigm)) in roles.iter().enumerate() {
        let name = builder.strings.intern(&format!("region {number}"));
        let paradigm = paradigm.map_or(StringId::NONE, |paradigm| builder.strings.intern(paradigm));
        builder.regions.push(Region::of_construct(name, paradigm, *role));
        parent = builder.paths.push(parent, RegionId(number as u32));
    }
    builder
}

/// Seals a builder with these visits, each (enter, exit, path), and rows that `more` adds.
fn sealed(mut builder: TraceBuilder, visits: &[(i64, i64, u32)], more: impl FnOnce(&mut Stream)) -> Trace {
    let mut stream = Stream::default();
    for (enter, exit, path) in visits {
        stream.visits.push(Visit { enter: Time(*enter), exit: Time(*exit), path: CallPathId(*path) });
    }
    more(&mut stream);
    builder.streams.push(stream);
    builder.seal()
}

fn send(visit: u32, time: i64, peer: u32) -> Send {
    let (visit, time, peer) = (VisitIx(visit), Time(time), PeId(peer));
    Send { visit, time, peer, group: GroupId(7), tag: 0, bytes: u64::MAX, request: NO_REQUEST, matching: NO_MATCHING }
}

#[test]
fn operations_are_the_outermost_visits_that_are_not_transparent() {
    let roles = [(Role::User, None), (Role::OneToAll, Some("A")), (Role::Send, Some("A")), (Role::User, None)];
    let trace = sealed(nested(&roles), &[(0, 90, 0), (10, 80, 1), (20, 70, 2), (30, 60, 3)], |stream| {
        stream.sends = vec![send(3, 30, 0), send(0, 85, 0)];
    });
    let stream = &trace.streams()[PeId(0)];
    assert_eq!(stream.operations, [VisitIx(1)]);
    assert_eq!(trace.paths().operation(CallPathId(3)), CallPathId(1));
    assert_eq!(trace.paths().operation(CallPathId(0)), CallPathId::NONE);
    // A message sent inside belongs to the operation, one outside to the user's code.
    assert_eq!([stream.sends[0].visit, stream.sends[1].visit], [VisitIx(1), VisitIx(0)]);
}

#[test]
fn ids_from_nowhere_become_none_and_impossible_sizes_are_bounded() {
    let trace = sealed(nested(&[(Role::User, None)]), &[(0, 10, 0)], |stream| {
        stream.sends = vec![send(0, 5, 99), send(12345, 6, 0)];
        let (visit, time, target) = (VisitIx(0), Time(7), PeId(0));
        let (kind, window) = (RmaTransferKind::Put, WindowId(3));
        stream.transfers =
            vec![RmaTransfer { visit, time, kind, window, target, bytes: 8, address: None, matching: 0 }];
    });
    let stream = &trace.streams()[PeId(0)];
    assert_eq!((stream.sends[0].peer, stream.sends[0].group), (PeId::NONE, GroupId::NONE));
    assert_eq!(stream.sends[1].visit, VisitIx::NONE);
    assert!(stream.sends[0].bytes < u64::MAX / 1024);
    assert!(stream.transfers.is_empty(), "an access to an unknown window says nothing");
}

/// Visits stand for 3 calls, for one that found nothing, and for more than there can have been; the last row has no visit.
#[test]
fn calls_that_visits_stand_for_can_be_added_up() {
    let counts = [(0, 3), (1, 1), (2, u64::MAX), (77, 9)];
    let trace = sealed(nested(&[(Role::Probe, Some("MPI"))]), &[(0, 10, 0), (20, 30, 0), (40, 50, 0)], |stream| {
        let row = |(visit, count)| Polls { visit: VisitIx(visit), time: Time(60), count, found: false };
        stream.polls = counts.map(row).into();
    });
    let repeated: Vec<(VisitIx, u64)> = trace.streams()[PeId(0)].repeated().collect();
    assert_eq!(repeated, [(VisitIx(0), 2), (VisitIx(1), 0), (VisitIx(2), (1 << 44) - 1)]);
}

/// Polls in a row become one visit; what goes on behind the slice is still known.
#[test]
fn what_goes_on_in_the_next_slice_is_found_behind_polls() {
    let mut builder = nested(&[(Role::User, None), (Role::Probe, Some("MPI"))]);
    let name = builder.strings.intern("solve");
    let solve = builder.regions.push(Region::of_construct(name, StringId::NONE, Role::User));
    let solve = builder.paths.push(CallPathId(0), solve);
    builder.regions[RegionId(1)].completion = Completion::NonBlocking;
    builder.resolution = 1_000_000_000;
    let open = vec![vec![VisitIx(0), VisitIx(4)]].into();
    builder.slice = Some(Slice { open, begun: vec![0].into(), ..Slice::default() });
    let visits = [(0, 1000, 0), (10, 20, 1), (30, 40, 1), (50, 60, 1), (500, 1000, solve.0)];
    let trace = sealed(builder, &visits, |_| {});
    let visits = &trace.streams()[PeId(0)].visits;
    assert_eq!(visits.len(), 3);
    let open = &trace.slice().unwrap().open[PeId(0)];
    assert_eq!(open.iter().map(|visit| visits.at(*visit).path).collect::<Vec<_>>(), [CallPathId(0), solve]);
}

#[test]
fn times_are_put_in_order_and_it_is_said() {
    let trace = sealed(nested(&[(Role::User, None)]), &[(10, 5, 0), (3, 20, 0)], |_| {});
    let visits = &trace.streams()[PeId(0)].visits;
    assert_eq!(visits.enter, [Time(10), Time(10)]);
    assert_eq!(visits.exit, [Time(10), Time(20)]);
    assert_eq!(trace.quality().entries().len(), 1);
    assert_eq!((trace.begin(), trace.end()), (Time(10), Time(20)));
}

#[test]
fn acquiring_a_lock_ends_where_its_body_begins() {
    let roles = [(Role::User, None), (Role::LockAcquire, Some("A")), (Role::WorkSharing, Some("A"))];
    let trace = sealed(nested(&roles), &[(0, 100, 0), (10, 90, 1), (40, 80, 2)], |_| {});
    let stream = &trace.streams()[PeId(0)];
    assert_eq!(stream.operations, [VisitIx(1)]);
    assert_eq!(stream.visits.exit[1], Time(40));
    assert_eq!(trace.paths().operation(CallPathId(2)), CallPathId::NONE, "the body is the user's");
    // A user's function inside of a construct of another kind stays part of it.
    let roles = [(Role::LockAcquire, Some("A")), (Role::User, None)];
    let trace = sealed(nested(&roles), &[(10, 90, 0), (40, 80, 1)], |_| {});
    assert_eq!(trace.paths().operation(CallPathId(1)), CallPathId(0));
}

#[test]
fn an_empty_trace_is_a_trace() {
    let trace = TraceBuilder::default().seal();
    assert_eq!((trace.events(), trace.duration().0, trace.active_pes().count()), (0, 0, 0));
}

#[test]
fn a_path_knows_where_it_is_called() {
    let mut builder = nested(&[(Role::User, None), (Role::Send, Some("MPI"))]);
    let file = builder.strings.intern("halo.c");
    let sites = [42, 50].map(|line| CallSite { file, line });
    let paths = sites.map(|site| builder.paths.push_at(CallPathId(0), RegionId(1), site));
    let trace = builder.seal();
    assert_eq!(paths.map(|path| trace.paths().site(path)), sites);
    assert_eq!(paths.map(|path| trace.paths().operation(path)), paths, "each is an operation of its own");
    assert_eq!(trace.paths().site(CallPathId(1)), CallSite::NONE);
    assert!(!CallSite::NONE.is_some() && !CallSite { file, line: 0 }.is_some());
}

#[test]
fn a_profile_is_what_the_pes_did_and_sealed_as_streams_are() {
    // The work of a block is 5, of which 9 on a processor, which cannot be.
    let block = Some(BlockSums { time: Span(5), cpu: Some(Span(9)), signature: 1 });
    let row = |path: u32, visits: u64, inclusive: i64| PathProfile {
        visits,
        inclusive: Span(inclusive),
        exclusive: Span(2 * inclusive),
        first: Time(30),
        last: Time(20),
        cpu: Some(Span(2 * inclusive)),
        blocks: block,
        ..PathProfile::new(CallPathId(path))
    };
    let mut builder = nested(&[(Role::User, None), (Role::Send, Some("MPI")), (Role::User, None)]);
    let rows = vec![row(1, 3, 7), row(0, 1, 50), row(1, 9, 9), row(9, 1, 1), row(0, 0, 1), row(2, u64::MAX, 4)];
    let pe = PeProfile { begin: Time(10), end: Time(60), open_block: block, rows, ..PeProfile::default() };
    // The second PE is not in the tables.
    builder.profile = Some(Profile { pes: vec![pe.clone(), pe].into() });
    let trace = builder.seal();
    assert_eq!((trace.begin(), trace.end(), trace.events()), (Time(10), Time(60), 0));
    assert_eq!(trace.active_pes().collect::<Vec<_>>(), [PeId(0)]);
    let pes = &trace.profile().unwrap().pes;
    assert_eq!(pes.len(), 1);
    let rows: Vec<(u32, u64, i64)> =
        pes[PeId(0)].rows.iter().map(|it| (it.path.0, it.visits, it.exclusive.0)).collect();
    assert_eq!(rows, [(0, 1, 50), (1, 3, 7), (2, 1 << 44, 4)]);
    assert!(pes[PeId(0)].rows.iter().all(|it| it.first <= it.last));
    let cpu: Vec<Option<i64>> = pes[PeId(0)].rows.iter().map(|it| it.cpu.map(|cpu| cpu.0)).collect();
    assert_eq!(cpu, [Some(50), Some(7), Some(4)]);
    let blocks = pes[PeId(0)].rows.iter().map(|it| it.blocks).chain([pes[PeId(0)].open_block]);
    assert!(blocks.flatten().all(|it| (it.time, it.cpu) == (Span(5), Some(Span(5)))));

    let silent = nested(&[(Role::User, None)]).seal();
    assert!(silent.profile().is_none() && silent.active_pes().next().is_none());
}

#[test]
fn transfers_are_counted_by_powers_of_four() {
    let mut transfers = Transfers::default();
    for (sent, received) in [(0, 0), (3, 1), (0, 4), (1023, 5), (1024, 0), (1 << 40, 0)] {
        transfers.add(sent, received);
    }
    let used: Vec<(usize, u64)> = (0..SIZE_CLASSES).map(|it| (it, transfers.sizes[it])).filter(|it| it.1 > 0).collect();
    assert_eq!(used, [(0, 1), (1, 1), (2, 1), (5, 1), (6, 1), (12, 1)]);
    assert_eq!((transfers.count, transfers.received), (6, 10));
    assert_eq!([0, 1, 2, 5, 12].map(Transfers::least), [0, 1, 4, 256, 4 << 20]);
    assert!((1..SIZE_CLASSES).all(|class| Transfers::class(Transfers::least(class)) == class));
    let mut twice = transfers;
    twice.merge(&transfers);
    assert_eq!((twice.count, twice.sizes[6]), (12, 2));
}
