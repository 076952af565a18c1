//! Rows with any content: nothing panics, everything found points to something.

use partune_base::{Clock, GroupId, PeId, ProcessId, Span, StringId, Time, WindowId};
use partune_index::{Index, Part, Ties, clock_repair};
use partune_trace::{
    Collective, Completion, Group, GroupKind, LockEvent, LockKind, Members, NO_REQUEST, Participants, Pe, PeKind,
    Process, Recv, Region, RegionKind, RequestEvent, RequestKind, RmaCompletion, RmaCompletionKind, RmaSync,
    RmaSyncKind, RmaTransfer, RmaTransferKind, Role, Send, Stream, TeamEvent, TeamKind, Trace, TraceBuilder, Visit,
    VisitIx, Window,
};
use proptest::prelude::*;

/// Six numbers make any row.
type Row = (u8, u8, u8, u8, u8, u16);

const PES: usize = 5;

fn time(row: Row) -> Time {
    Time(i64::from(row.5))
}

/// A small id, now and then none, now and then one that does not exist.
fn id(number: u8) -> u32 {
    if number % 16 == 15 { u32::MAX } else { u32::from(number % 7) }
}

fn request(number: u8) -> u64 {
    if number.is_multiple_of(3) { NO_REQUEST } else { u64::from(number % 5) }
}

fn pick<T: Copy>(from: &[T], number: u8) -> T {
    from[usize::from(number) % from.len()]
}

fn add(stream: &mut Stream, row: Row) {
    let (_, a, b, c, d, _) = row;
    let (time, visit) = (time(row), VisitIx(if d % 9 == 8 { u32::MAX } else { u32::from(d) % 12 }));
    let (peer, group, window) = (PeId(id(a)), GroupId(id(b)), WindowId(id(c) % 4));
    match row.0 % 10 {
        0 => stream.sends.push(Send {
            visit,
            time,
            peer,
            group,
            tag: id(c),
            bytes: 1,
            request: request(d),
            matching: request(c),
        }),
        1 => stream.recvs.push(Recv {
            visit,
            time,
            peer,
            group,
            tag: id(c),
            bytes: 1,
            request: request(d),
            matching: request(c),
        }),
        2 => {
            use RequestKind::{Cancelled, CollectiveStarted, RecvPosted, SendCompleted, Tested};
            let kind = pick(&[Cancelled, CollectiveStarted, RecvPosted, SendCompleted, Tested], a);
            stream.requests.push(RequestEvent { visit, time, kind, request: request(b) });
        }
        3 => {
            let roles: Vec<Role> = Role::ALL.into_iter().filter(|role| role.is_collective()).collect();
            let (role, end) = (pick(&roles, c), time + Span(i64::from(a)));
            let (sent, received) = (u64::from(a % 2), u64::from(b % 3));
            let request = request(d);
            stream.collectives.push(Collective {
                visit,
                begin: time,
                end,
                role,
                group,
                root: peer,
                sent,
                received,
                request,
            });
        }
        4 => {
            use RmaTransferKind::{Atomic, Get, Put};
            let (kind, matching) = (pick(&[Atomic, Get, Put], b), u64::from(d % 3));
            stream.transfers.push(RmaTransfer {
                visit,
                time,
                kind,
                window,
                target: peer,
                bytes: 8,
                address: None,
                matching,
            });
        }
        5 => {
            use RmaCompletionKind::{Blocking, NonBlocking, Remote, Tested};
            let (kind, matching) = (pick(&[Blocking, NonBlocking, Remote, Tested], b), u64::from(d % 3));
            stream.completions.push(RmaCompletion { visit, time, kind, window, matching });
        }
        6 => {
            let kinds =
                [RmaSyncKind::Group(group), RmaSyncKind::NotifyOut, RmaSyncKind::WaitChange, RmaSyncKind::Memory];
            stream.rma_syncs.push(RmaSync { visit, time, kind: pick(&kinds, d), window, target: peer, address: None });
        }
        7 => {
            use LockKind::{Acquired, Released, Requested, Tried};
            let kind = pick(&[Acquired, Released, Requested, Tried], a);
            stream.locks.push(LockEvent { visit, time, kind, lock: u64::from(b % 3), shared: c % 2 == 0 });
        }
        _ => {
            use TeamKind::{Begin, Create, End, Fork, Join, TeamBegin, TeamEnd, Wait};
            let kind = pick(&[Begin, Create, End, Fork, Join, TeamBegin, TeamEnd, Wait, Fork, TeamBegin, TeamEnd], a);
            stream.teams.push(TeamEvent { visit, time, kind, group, sequence: u64::from(c % 3) });
        }
    }
}

fn trace(visits: &[Vec<(u8, u16, u16)>], rows: &[Vec<Row>], processes: &[u8]) -> Trace {
    let mut built = TraceBuilder { resolution: Clock::NANOSECONDS.ticks_per_second(), ..TraceBuilder::default() };
    let name = StringId::NONE;
    for _ in 0..3 {
        built.processes.push(Process { name, rank: None, node: name, pes: Vec::new() });
    }
    for (index, &process) in processes.iter().enumerate() {
        let process = ProcessId(u32::from(process % 4));
        let thread = built.processes.get(process).map_or(0, |process| process.pes.len() as u32);
        let kind = if index == 4 { PeKind::Accelerator } else { PeKind::Cpu };
        let pe = built.pes.push(Pe { name, kind, process, thread, device: None, archive_id: index as u64 });
        if built.processes.get(process).is_some() {
            built.processes[process].pes.push(pe);
        }
    }
    for (index, role) in Role::ALL.into_iter().enumerate() {
        let completion = pick(&[Completion::Blocking, Completion::Synchronous, Completion::NonBlocking], index as u8);
        let whom = [role.participants(), Participants::World, Participants::Team, Participants::Named];
        let participants = pick(&whom, index as u8);
        let kind = RegionKind::Function;
        let region = Region {
            name,
            whole: name,
            construct: name,
            paradigm: name,
            role,
            completion,
            participants,
            kind,
            file: name,
            line: 0,
        };
        let region = built.regions.push(region);
        let root = built.paths.push(partune_base::CallPathId::NONE, region);
        built.paths.push(root, region);
    }
    let kinds = [GroupKind::World, GroupKind::SelfOnly, GroupKind::Communicator, GroupKind::Team, GroupKind::Inter];
    for (index, kind) in kinds.into_iter().enumerate() {
        let mut members: Vec<PeId> = (0..PES as u32).map(PeId).filter(|pe| (pe.0 as usize) <= index + 1).collect();
        members.push(PeId(if index == 2 { u32::MAX } else { 77 }));
        let (first, second) = members.split_at(index.min(members.len()));
        let members = Members::joined(&first.to_vec().into(), &second.to_vec().into());
        built.groups.push(Group { name, kind, paradigm: name, members });
    }
    for group in [0, 2, 9] {
        built.windows.push(Window { name, group: GroupId(group) });
    }
    for (visits, rows) in visits.iter().zip(rows) {
        let mut stream = Stream::default();
        for &(path, enter, length) in visits {
            let path = partune_base::CallPathId(u32::from(path) % (2 * Role::ALL.len() as u32));
            let enter = Time(i64::from(enter));
            stream.visits.push(Visit { enter, exit: enter + Span(i64::from(length % 999)), path });
        }
        for row in rows {
            add(&mut stream, *row);
        }
        built.streams.push(stream);
    }
    built.seal()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn nothing_panics(
        mut visits in proptest::collection::vec(proptest::collection::vec(any::<(u8, u16, u16)>(), 0..20), PES),
        mut rows in proptest::collection::vec(proptest::collection::vec(any::<Row>(), 0..60), PES),
        processes in proptest::collection::vec(any::<u8>(), PES),
        ordered in any::<bool>(),
    ) {
        if ordered {
            for visits in &mut visits {
                visits.sort_by_key(|visit| visit.1);
            }
            for rows in &mut rows {
                rows.sort_by_key(|row| row.5);
            }
        }
        let trace = trace(&visits, &rows, &processes);
        let index = Index::build(&trace);
        for message in &index.messages {
            prop_assert_eq!(index.messages.of_recv(message.receiver, message.recv as usize), Some(message));
            prop_assert_eq!(index.messages.of_send(message.sender, message.send as usize), Some(message));
        }
        for instance in &index.collectives.instances {
            let members = index.collectives.members(instance);
            prop_assert!(!members.is_empty() && members.is_sorted_by_key(|member| member.pe));
        }
        let ties = Ties::build(&trace, &index);
        let mut given = vec![0; ties.len()];
        for pe in trace.pes().ids() {
            let ends = ties.of_pe(&trace, &index, pe);
            prop_assert!(ends.is_sorted_by_key(|end| (end.time, end.visit, end.part)));
            for end in ends.iter().filter(|end| matches!(end.part, Part::Gives | Part::PassesOn)) {
                given[end.tie as usize] += 1;
            }
            for row in ties.binding(&trace, &index, pe) {
                prop_assert!(row.gift.place.pe.is_some() && row.gift.time > row.since);
            }
        }
        // A replay gets all that it expects.
        let expected: Vec<u32> = (0..ties.len() as u32).map(|tie| ties.givers(tie)).collect();
        prop_assert_eq!(given, expected);
        let (fixed, _) = clock_repair::repair(trace, &index);
        let _ = Index::build(&fixed);
    }
}
