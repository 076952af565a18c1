//! The language of test traces: what each form means, and that mistakes are found.

use partune_base::{CallPathId, GroupId, PeId, Span, Time};
use partune_testkit::{builder, path, path_name, pe, thread, trace, visit};
use partune_trace::{
    GroupKind, LockKind, NO_REQUEST, RegionKind, RequestKind, RmaCompletionKind, RmaSyncKind, Role, TeamKind,
};

#[test]
fn visits_nest_and_have_paths() {
    let trace = trace(
        "resolution 1000
         pe 0: main@a.c:3 0..100 { foo 0..40 { bar ..10 baz ..20 bar ..  } MPI_Send@a.c:9 40..52 send(1) }
         pe 1: main@a.c:3 0..60 { MPI_Recv 0..55 recv(0) }",
    );
    assert_eq!(trace.clock().ticks_per_second(), 1000);
    let names: Vec<String> = trace.paths().ids().map(|path| path_name(&trace, path)).collect();
    assert_eq!(names, ["main", "main/foo", "main/foo/bar", "main/foo/baz", "main/MPI_Send", "main/MPI_Recv"]);
    let visits: Vec<(i64, i64, u32)> =
        trace.streams()[PeId(0)].visits.iter().map(|v| (v.enter.0, v.exit.0, v.path.0)).collect();
    assert_eq!(visits, [(0, 100, 0), (0, 40, 1), (0, 10, 2), (10, 20, 3), (20, 40, 2), (40, 52, 4)]);
    assert_eq!(trace.events(), 12 + 1 + 4 + 1);
    let send = trace.region_of(PeId(0), visit(&trace, 0, "main/MPI_Send"));
    assert_eq!((send.role, send.line, trace.strings().get(send.file)), (Role::Send, 9, "a.c"));
    assert_eq!(trace.region_of(PeId(0), visit(&trace, 0, "main")).role, Role::User);
    assert_eq!(path(&trace, "main/foo"), CallPathId(1));
}

#[test]
fn messages_and_requests() {
    let trace = trace(
        "group row = 0 1
         pe 0: main 0..100 {
             MPI_Isend 0..2 send(to=1, tag=7, bytes=8, group=row, req=3)
             MPI_Irecv 2..4 posted(4)
             MPI_Waitall 10..30 done(3) @20 recv(from=1, req=4)
             MPI_Cancel 40..41 cancel(req=9)
         }
         pe 1: main 0..100 { MPI_Recv 5..9 recv(from=0, tag=7, bytes=8, group=row) MPI_Send 9..12 send(to=0) }",
    );
    let zero = &trace.streams()[pe(&trace, 0)];
    let send = zero.sends[0];
    assert_eq!(
        (send.time, send.peer, send.group, send.tag, send.bytes, send.request),
        (Time(0), PeId(1), GroupId(1), 7, 8, 3)
    );
    let kinds: Vec<_> = zero.requests.iter().map(|row| (row.kind, row.time.0, row.request)).collect();
    assert_eq!(
        kinds,
        [(RequestKind::RecvPosted, 2, 4), (RequestKind::SendCompleted, 20, 3), (RequestKind::Cancelled, 41, 9)]
    );
    assert_eq!((zero.recvs[0].time, zero.recvs[0].request), (Time(30), 4));
    assert_eq!(trace.streams()[pe(&trace, 1)].sends[0].request, NO_REQUEST);
}

#[test]
fn collectives_and_groups() {
    let trace = trace(
        "group row = 0 1
         group alone = 0
         inter pair = 0 | 1 2
         pe 0 1 2: main 0..100 { MPI_Barrier 10..20 barrier MPI_Bcast 20..30 bcast(root=1, bytes=8) }
         pe 0: more 100..200 { MPI_Allreduce 110..120 allreduce(row, sent=4, received=5, begin=111, end=119) }",
    );
    let group = |name: &str| trace.groups().iter().find(|group| trace.strings().get(group.name) == name).unwrap();
    assert_eq!(group("world").kind, GroupKind::World);
    assert!(group("world").members.iter().eq([PeId(0), PeId(1), PeId(2)]));
    assert_eq!(group("alone").kind, GroupKind::SelfOnly);
    assert_eq!((group("pair").kind, group("pair").members.split()), (GroupKind::Inter, 1));
    let rows = &trace.streams()[PeId(0)].collectives;
    assert_eq!(rows.len(), 3);
    assert_eq!((rows[0].role, rows[0].begin, rows[0].end), (Role::GroupSync, Time(10), Time(20)));
    assert_eq!((rows[1].role, rows[1].root, rows[1].sent), (Role::OneToAll, PeId(1), 8));
    let last = rows[2];
    assert_eq!((last.group, last.sent, last.received, last.begin, last.end), (GroupId(1), 4, 5, Time(111), Time(119)));
}

#[test]
fn rma_locks_teams_and_metrics() {
    let trace = trace(
        "paradigm OpenSHMEM
         team four = 0.0 0.1
         metric cycles accumulated Hz
         pe 0: main 0..100 metric(cycles=5, depth=1.5) @7 {
             shmem_putmem 10..20 put(to=+1, bytes=8, addr=64)
             shmem_putmem_nbi 20..21 put(to=1, id=9)
             shmem_quiet 21..25 quiet complete(9)
             shmem_set_lock 30..40 lock(5)
             shmem_clear_lock 50..51 unlock(5)
             \"omp parallel\" 60..90 fork join { omp_body 61..80 team(four) }
             fwrite 90..95 write(100)
         }
         pe 1: main 0..100 { shmem_wait_until 10..30 wait_change  gap 40..50 pause }
         pe 0.1: body 62..80 team_begin(four) team_end(four)",
    );
    let zero = &trace.streams()[pe(&trace, 0)];
    assert_eq!(zero.transfers[0].target, pe(&trace, 1));
    assert_eq!((zero.transfers[0].address, zero.transfers[0].bytes), (Some(64), 8));
    let completions: Vec<_> = zero.completions.iter().map(|row| (row.kind, row.time.0)).collect();
    assert_eq!(completions, [(RmaCompletionKind::Blocking, 20), (RmaCompletionKind::NonBlocking, 25)]);
    assert_eq!(zero.completions[0].matching, zero.transfers[0].matching);
    assert_eq!(zero.rma_syncs[0].kind, RmaSyncKind::Memory);
    let locks: Vec<_> = zero.locks.iter().map(|row| (row.kind, row.time.0)).collect();
    assert_eq!(locks, [(LockKind::Requested, 30), (LockKind::Acquired, 40), (LockKind::Released, 50)]);
    let teams: Vec<_> = zero.teams.iter().map(|row| (row.kind, row.time.0)).collect();
    assert_eq!(teams, [(TeamKind::Fork, 60), (TeamKind::TeamBegin, 61), (TeamKind::TeamEnd, 80), (TeamKind::Join, 90)]);
    assert_eq!(zero.metrics.len(), 2);
    assert_eq!(trace.metrics().len(), 2);
    assert_eq!((zero.metrics[0].time, zero.io[0].end - zero.io[0].begin), (Time(7), Span(5)));
    let one = &trace.streams()[pe(&trace, 1)];
    assert_eq!(one.rma_syncs[0].kind, RmaSyncKind::WaitChange);
    assert_eq!((one.pauses[0].begin, one.pauses[0].end), (Time(40), Time(50)));
    assert_eq!(trace.streams()[thread(&trace, 0, 1)].teams.len(), 2);
    assert_eq!(thread(&trace, 0, 1), PeId(1), "PEs are in the order of ranks and threads");
}

#[test]
fn loops_and_templates() {
    let trace = trace(
        "define step { work 0..6 MPI_Send 6..8 send(to=+1, tag=1)@7 MPI_Recv 8..10 recv(from=-1, tag=1) }
         pe 0 1 2: main 0..1_000 { repeat 3 every 100 { repeat 2 every 10 { use step @5 } } }",
    );
    let enters: Vec<i64> = trace.streams()[PeId(1)].sends.iter().map(|row| row.time.0).collect();
    assert_eq!(enters, [12, 22, 112, 122, 212, 222]);
    assert_eq!(trace.streams()[PeId(0)].recvs[0].peer, PeId(2));
    assert_eq!(trace.streams()[PeId(2)].visits.len(), 1 + 6 * 3);
}

#[test]
fn call_sites_and_marks() {
    let trace = trace(
        "pe 0: main@m.c:1 0..100 { phase solve 0..90 { iteration step 0..40 { MPI_Send^h.c:4 0..1 send(to=0) MPI_Send^h.c:9 1..2 }
         iteration step@m.c:7 40..80 barrier } phase 90..95 }",
    );
    let paths = trace.paths();
    let sites: Vec<(&str, u32)> =
        paths.ids().map(|path| (trace.strings().get(paths.site(path).file), paths.site(path).line)).collect();
    assert_eq!(sites, [("", 0), ("", 0), ("", 0), ("h.c", 4), ("h.c", 9), ("", 0), ("", 0)]);
    let kinds: Vec<RegionKind> = paths.ids().map(|path| trace.regions()[paths.region(path)].kind).collect();
    let [function, phase, iteration] = [RegionKind::Function, RegionKind::Phase, RegionKind::Iteration];
    assert_eq!(kinds, [function, phase, iteration, function, function, iteration, function]);
}

#[test]
fn an_unsealed_trace_can_be_damaged() {
    let mut built = builder("pe 0: main 0..10");
    built.streams[PeId(0)].visits.exit[0] = Time(-5);
    assert_eq!(built.seal().streams()[PeId(0)].visits.exit[0], Time(0));
}

#[track_caller]
fn fails(text: &str, message: &str) {
    let caught = std::panic::catch_unwind(|| builder(text)).expect_err("it is wrong");
    let said = caught.downcast_ref::<String>().expect("a message").clone();
    assert!(said.contains(message), "{said}");
}

#[test]
fn mistakes_are_found() {
    fails("pe 0: main 0..10 {\n foo 0..11 }", "line 2: foo ends at 11, after its parent\n    foo 0..11 }");
    fails("pe 0: main 0..10 { foo 0..5 bar 4..6 }", "begins at 4");
    fails("pe 0: main 10..0", "begins at 10 and ends at 0");
    fails("pe 0: main 0..10 send(to=1)", "there is no PE 1");
    fails("pe 0: main 0..10 sned(to=1)", "there is no fact `sned`");
    fails("pe 0: main 0..10 send(to=0, from=1)", "does not take `from=1`");
    fails("pe 0: main 0..10 barrier(row)", "there is no group row");
    fails("pe 0: main 0..10 {", "ends too early");
    fails("pe 0: main zero..10", "not a pair of times");
    fails("pe 0: use step @3", "`step` is not defined above");
    fails("peo 0: main 0..10", "does not begin a definition");
}
