//! Messages and collectives: which operations they belong to.

use partune_base::PeId;
use partune_index::Index;
use partune_trace::{GroupKind, NO_REQUEST, RequestKind, Role, VisitIx};

use crate::texts::{header, members, noticed, shown, stream, times, trace, with_names};

/// Rank 0 computes until 60 and sends until 70; rank 1 receives in 20..72. The receiver waits from 20 to 60.
fn late_sender() -> String {
    header(&[1, 1])
        + "c:1:1:2:1:2\n\
           2:2:1:2:1:20:50000001:2\n\
           2:1:1:1:1:60:50000001:1\n\
           3:1:1:1:1:60:70:2:1:2:1:20:72:4096:7\n\
           2:1:1:1:1:70:50000001:0\n\
           2:2:1:2:1:72:50000001:0\n\
           2:1:1:1:1:100:40000001:0\n"
}

#[test]
fn blocking_both() {
    let trace = trace(&late_sender());
    assert_eq!(noticed(&trace), []);
    assert_eq!((trace.pes().len(), trace.events(), trace.clock().ticks_per_second()), (2, 6, 1_000_000_000));
    assert_eq!((shown(&trace, 0), shown(&trace, 1)), ("60-70 MPI_Send".into(), "20-72 MPI_Recv".into()));
    let (send, recv) = (stream(&trace, 0).sends[0], stream(&trace, 1).recvs[0]);
    assert_eq!((send.visit, send.time.0, send.peer, send.bytes, send.tag), (VisitIx(0), 60, PeId(1), 4096, 7));
    assert_eq!((recv.visit, recv.time.0, recv.peer, recv.bytes, recv.tag), (VisitIx(0), 72, PeId(0), 4096, 7));
    assert_eq!((send.request, recv.request, send.matching), (NO_REQUEST, NO_REQUEST, recv.matching));
    let group = &trace.groups()[send.group];
    assert_eq!((group.kind, members(&trace, send.group)), (GroupKind::World, vec![0, 1]));
    let index = Index::build(&trace);
    assert_eq!((index.messages.len(), index.messages.unmatched_sends, index.messages.unmatched_recvs), (1, 0, 0));
}

/// Rank 1 posts two receives in 10..12 and 12..14, computes, and completes both in `MPI_Waitall` in 40..90; the messages come in the
/// other order than they were posted in. Rank 0 sends them without blocking.
#[test]
fn non_blocking_both() {
    let text = header(&[1, 1])
        + "2:2:1:2:1:10:50000001:4\n2:2:1:2:1:12:50000001:0:50000001:4\n2:2:1:2:1:14:50000001:0\n\
           2:2:1:2:1:40:50000001:6\n2:2:1:2:1:90:50000001:0\n\
           2:1:1:1:1:50:50000001:3\n2:1:1:1:1:51:50000001:0\n2:1:1:1:1:80:50000001:3\n2:1:1:1:1:81:50000001:0\n\
           3:1:1:1:1:50:51:2:1:2:1:14:89:100:2\n\
           3:1:1:1:1:80:81:2:1:2:1:12:90:200:1\n";
    let trace = trace(&text);
    assert_eq!(noticed(&trace), []);
    assert_eq!(shown(&trace, 1), "10-12 MPI_Irecv, 12-14 MPI_Irecv, 40-90 MPI_Waitall");
    let (sends, recvs) = (&stream(&trace, 0).sends, &stream(&trace, 1).recvs);
    assert!(sends.iter().all(|send| send.request != NO_REQUEST));
    assert_eq!(times(recvs.iter().map(|recv| recv.time)), [89, 90]);
    assert!(recvs.iter().all(|recv| recv.visit == VisitIx(2) && recv.request != NO_REQUEST));
    // Posted at 12 by the first, at 14 by the second; tied to their receives by requests.
    let posts = &stream(&trace, 1).requests;
    assert!(posts.iter().all(|post| post.kind == RequestKind::RecvPosted));
    assert_eq!(posts.iter().map(|post| (post.visit.0, post.time.0)).collect::<Vec<_>>(), [(0, 12), (1, 14)]);
    assert_eq!([posts[0].request, posts[1].request], [recvs[1].request, recvs[0].request]);
    let index = Index::build(&trace);
    for (row, (bytes, post)) in [(100, 14), (200, 12)].into_iter().enumerate() {
        let message = index.messages.of_recv(PeId(1), row).expect("it is matched");
        assert_eq!((recvs[row].bytes, sends[message.send as usize].bytes), (bytes, bytes));
        assert_eq!(message.recv_posted.0, post);
    }
}

/// A line of the trace is the match, whatever the order of times says.
#[test]
fn lines_match_and_not_times() {
    let text = header(&[1, 1])
        + "2:1:1:1:1:10:50000001:1\n2:1:1:1:1:20:50000001:0\n2:1:1:1:1:30:50000001:1\n2:1:1:1:1:40:50000001:0\n\
           2:2:1:2:1:10:50000001:2\n2:2:1:2:1:50:50000001:0\n2:2:1:2:1:60:50000001:2\n2:2:1:2:1:70:50000001:0\n\
           3:1:1:1:1:10:20:2:1:2:1:60:70:1:0\n3:1:1:1:1:30:40:2:1:2:1:10:50:1:0\n";
    let trace = trace(&text);
    let index = Index::build(&trace);
    let send_of = |recv| index.messages.of_recv(PeId(1), recv).map(|message| message.send);
    assert_eq!([send_of(0), send_of(1)], [Some(1), Some(0)]);
}

/// `MPI_Sendrecv` of both in 10..30 and 20..32.
#[test]
fn send_and_receive_at_once() {
    let text = header(&[1, 1])
        + "2:1:1:1:1:10:50000001:41\n3:1:1:1:1:10:10:2:1:2:1:20:32:8:0\n2:2:1:2:1:20:50000001:41\n\
           3:2:1:2:1:20:20:1:1:1:1:10:30:8:0\n2:1:1:1:1:30:50000001:0\n2:2:1:2:1:32:50000001:0\n";
    let trace = trace(&text);
    for pe in [0, 1] {
        let stream = stream(&trace, pe);
        assert_eq!((stream.sends[0].visit, stream.recvs[0].visit), (VisitIx(0), VisitIx(0)));
        assert_eq!(
            (stream.sends[0].request, stream.recvs[0].request, stream.requests.len()),
            (NO_REQUEST, NO_REQUEST, 0)
        );
    }
}

/// What was sent before a receive began is no non-blocking receive, though the operation before ends where the receive begins.
#[test]
fn operations_that_touch() {
    let text = header(&[1, 1])
        + "2:2:1:2:1:10:50000001:4\n2:2:1:2:1:20:50000001:0:50000001:2\n2:2:1:2:1:30:50000001:0:50000001:2\n\
           2:2:1:2:1:40:50000001:0\n2:1:1:1:1:1:50000001:1\n2:1:1:1:1:2:50000001:0:50000001:1\n2:1:1:1:1:3:50000001:0\n\
           3:1:1:1:1:1:2:2:1:2:1:20:30:1:0\n3:1:1:1:1:2:3:2:1:2:1:30:40:1:0\n";
    let trace = trace(&text);
    let (sends, recvs) = (&stream(&trace, 0).sends, &stream(&trace, 1).recvs);
    assert_eq!(
        recvs.iter().map(|recv| (recv.visit.0, recv.request)).collect::<Vec<_>>(),
        [(1, NO_REQUEST), (2, NO_REQUEST)]
    );
    assert_eq!(sends.iter().map(|send| send.visit.0).collect::<Vec<_>>(), [0, 1]);
}

/// A barrier of all, and a broadcast from rank 1 of the communicator of ranks 0 and 1, between two of rank 2 alone.
#[test]
fn collectives_and_roots() {
    let text = header(&[1, 1, 1])
        + "c:1:1:3:1:2:3\nc:1:5:2:1:2\nc:1:6:1:3\n\
           2:1:1:1:1:10:50000002:8:50100001:0:50100002:0:50100004:1\n2:1:1:1:1:33:50000002:0\n\
           2:2:1:2:1:20:50000002:8:50100001:0:50100002:0:50100004:1\n2:2:1:2:1:34:50000002:0\n\
           2:3:1:3:1:30:50000002:8:50100001:0:50100002:0:50100004:1\n2:3:1:3:1:35:50000002:0\n\
           2:1:1:1:1:40:50000002:7:50100001:0:50100002:64:50100004:5\n2:1:1:1:1:52:50000002:0\n\
           2:2:1:2:1:50:50000002:7\n2:2:1:2:1:50:50100001:64:50100002:0:50100004:5:50100003:1\n2:2:1:2:1:51:50000002:0\n\
           2:3:1:3:1:60:50000002:7:50100001:1:50100002:0:50100004:6:50100003:1\n2:3:1:3:1:61:50000002:0\n";
    let trace = trace(&text);
    assert_eq!(noticed(&trace), []);
    let rows = |pe| {
        let rows = stream(&trace, pe).collectives.iter();
        let row = |row: &partune_trace::Collective| {
            let group = members(&trace, row.group);
            (row.role, row.begin.0, row.end.0, group, row.root.some().map(|pe| pe.0), row.sent, row.received)
        };
        rows.map(row).collect::<Vec<_>>()
    };
    let (sync, cast) = (Role::GroupSync, Role::OneToAll);
    let all = vec![0, 1, 2];
    assert_eq!(rows(0), [(sync, 10, 33, all.clone(), None, 0, 0), (cast, 40, 52, vec![0, 1], Some(1), 0, 64)]);
    assert_eq!(rows(1), [(sync, 20, 34, all.clone(), None, 0, 0), (cast, 50, 51, vec![0, 1], Some(1), 64, 0)]);
    assert_eq!(rows(2), [(sync, 30, 35, all, None, 0, 0), (cast, 60, 61, vec![2], Some(2), 1, 0)]);
}

/// The callers of a call are visits around it, as far as the next call has them too; lines are those of the calls.
#[test]
fn callers_are_functions() {
    let pcf = "EVENT_TYPE\n0 70000001 Caller at level 1\n0 70000002 Caller at level 2\nVALUES\n0 End\n1 Unresolved\n\
               2 main\n3 solve\n4 exch..nge [exchange]\n\n\
               EVENT_TYPE\n0 80000001 Line\n0 80000002 Line\nVALUES\n0 End\n1 10 (a.c, app)\n2 20 (a.c, app)\n3 30 (b.c, app)\n";
    let text = header(&[1])
        + "2:1:1:1:1:10:50000001:1:70000001:4:80000001:3:70000002:3:80000002:2\n2:1:1:1:1:12:50000001:0\n\
           2:1:1:1:1:20:50000001:1:70000001:4:80000001:3:70000002:3:80000002:2\n2:1:1:1:1:22:50000001:0\n\
           2:1:1:1:1:30:50000001:1\n2:1:1:1:1:30:70000001:3:80000001:1:70000002:1:80000002:1\n2:1:1:1:1:32:50000001:0\n\
           2:1:1:1:1:40:50000003:20\n2:1:1:1:1:41:50000003:0\n";
    let trace = with_names(&text, pcf);
    assert_eq!(
        shown(&trace, 0),
        "10-32 solve, 10-22 exchange, 10-12 MPI_Send, 20-22 MPI_Send, 30-32 MPI_Send, 40-41 MPI_Comm_size"
    );
    let lines = stream(&trace, 0).visits.path.iter().map(|path| {
        let site = trace.paths().site(*path);
        format!("{}:{}", trace.strings().get(site.file), site.line)
    });
    assert_eq!(lines.collect::<Vec<_>>().join(" "), ":0 a.c:20 b.c:30 b.c:30 a.c:10 :0");
}
