//! OpenMP, functions, counters, pauses, states.

use partune_base::Time;
use partune_index::Index;
use partune_trace::{LockKind, MetricValues, PauseKind, RegionKind, Role, TeamKind};

use crate::texts::{header, noticed, shown, stream, times, trace, with_names};

/// A team of two threads in 10..60: each runs the outlined function, thread 1 until 30, thread 2 until 50, and waits in the barrier.
#[test]
fn a_parallel_region() {
    let pcf = "EVENT_TYPE\n0 60000018 Executed OpenMP parallel function\nVALUES\n0 End\n1 main._omp_fn.0\n";
    let text = header(&[2])
        + "2:1:1:1:1:10:60000001:3\n2:1:1:1:1:11:60000018:1\n2:2:1:1:2:12:60000018:1\n\
           2:1:1:1:1:30:60000005:1\n2:2:1:1:2:50:60000005:1\n2:1:1:1:1:52:60000005:0\n2:2:1:1:2:53:60000005:0\n\
           2:1:1:1:1:55:60000018:0\n2:2:1:1:2:55:60000018:0\n2:1:1:1:1:60:60000001:0\n";
    let trace = with_names(&text, pcf);
    assert_eq!(noticed(&trace), []);
    assert_eq!(shown(&trace, 0), "10-60 omp parallel, 11-55 main._omp_fn.0, 30-52 omp barrier");
    assert_eq!(shown(&trace, 1), "12-55 main._omp_fn.0, 50-53 omp barrier");
    let teams: Vec<_> = stream(&trace, 0).teams.iter().map(|row| (row.kind, row.time.0)).collect();
    assert_eq!(teams, [(TeamKind::Fork, 10), (TeamKind::Join, 60)]);
    let index = Index::build(&trace);
    assert_eq!(index.teams.forks.len(), 1);
    let parts: Vec<_> = index.teams.forks[0].members.iter().map(|(pe, begin, end)| (pe.0, begin.0, end.0)).collect();
    assert_eq!(parts, [(0, 10, 60), (1, 12, 55)]);
}

/// Two threads at the same named lock, one at another.
#[test]
fn locks() {
    let lock = |thread, [asked, taken, back, free]: [u32; 4], address| {
        let at = |time, value| format!("2:1:1:1:{thread}:{time}:60000006:{value}\n");
        let held = format!("2:1:1:1:{thread}:{taken}:60000006:6:60000032:{address}\n");
        at(asked, 3) + &held + &at(back, 5) + &at(free, 0)
    };
    let text =
        header(&[3]) + &lock(1, [10, 11, 20, 21], 77) + &lock(2, [12, 22, 30, 31], 77) + &lock(3, [12, 13, 30, 31], 78);
    let trace = trace(&text);
    assert_eq!(noticed(&trace), []);
    assert_eq!(shown(&trace, 1), "12-22 omp wait critical, 22-30 omp critical sblock, 30-31 omp_unset_lock");
    let locks = |pe| stream(&trace, pe).locks.iter().map(|row| (row.kind, row.time.0, row.visit.0)).collect::<Vec<_>>();
    assert_eq!(locks(1), [(LockKind::Requested, 12, 0), (LockKind::Acquired, 22, 0), (LockKind::Released, 30, 2)]);
    let which = |pe| stream(&trace, pe).locks[0].lock;
    assert!(which(0) == which(1) && which(1) != which(2));
}

/// Functions of the program nest, and have the lines that come with them; a function that is open hides callers.
#[test]
fn functions_of_the_program() {
    let pcf = "EVENT_TYPE\n0 60000019 User function\nVALUES\n0 End\n1 main\n2 work\n\nEVENT_TYPE\n0 60000119 User function line\n\
               VALUES\n0 End\n1 3 (a.c, app)\n2 9 (a.c, app)\n";
    let text = header(&[1])
        + "2:1:1:1:1:1:60000019:1:60000119:1\n2:1:1:1:1:5:60000019:2:60000119:2\n2:1:1:1:1:7:50000001:1\n\
           2:1:1:1:1:8:50000001:0\n2:1:1:1:1:9:60000019:0\n2:1:1:1:1:20:60000019:0\n";
    let trace = with_names(&text, pcf);
    assert_eq!((shown(&trace, 0), noticed(&trace)), ("1-20 main, 5-9 work, 7-8 MPI_Send".into(), vec![]));
    let lines: Vec<u32> = trace.regions().iter().map(|region| region.line).collect();
    assert_eq!(lines, [3, 9, 0]);
}

/// An event type of the program's own that is called iteration: each value ends the one before.
#[test]
fn iterations_and_constructs_by_their_labels() {
    let pcf = "EVENT_TYPE\n0 1000 Iteration\n\nEVENT_TYPE\n0 61000000 pthread call\nVALUES\n0 Outside\n3 pthread_join\n8 pthread_mutex_lock\n\n\
               EVENT_TYPE\n0 2000 Colour\nVALUES\n1 red\n2 MPI_Recv\n3 green\n4 blue\n";
    let text = header(&[1])
        + "2:1:1:1:1:10:1000:1\n2:1:1:1:1:12:61000000:8:2000:1\n2:1:1:1:1:14:61000000:0:2000:2\n2:1:1:1:1:20:1000:2\n2:1:1:1:1:30:1000:0\n";
    let trace = with_names(&text, pcf);
    assert_eq!(noticed(&trace), []);
    assert_eq!(shown(&trace, 0), "10-20 Iteration, 12-14 pthread_mutex_lock, 20-30 Iteration");
    assert_eq!(
        trace.regions().iter().map(|region| region.kind).collect::<Vec<_>>(),
        [RegionKind::Iteration, RegionKind::Function]
    );
}

/// What was counted between two events belongs to what ran between them: before the call, in it, after it.
#[test]
fn counters_and_pauses() {
    let pcf = "EVENT_TYPE\n7 42000050 PAPI_TOT_INS [Instr completed]\n";
    let text = header(&[1])
        + "2:1:1:1:1:1:42000050:0\n2:1:1:1:1:10:50000002:10:42000050:900\n2:1:1:1:1:20:50000002:0:42000050:100\n\
           2:1:1:1:1:30:40000003:1\n2:1:1:1:1:35:40000003:0:42000050:50\n2:1:1:1:1:40:40000012:0\n1:1:1:1:1:40:60:14\n2:1:1:1:1:60:40000012:1\n";
    let trace = with_names(&text, pcf);
    assert_eq!(noticed(&trace), []);
    let metric = trace.metrics().iter().next().expect("a counter");
    assert_eq!((trace.strings().get(metric.name), metric.values), ("PAPI_TOT_INS", MetricValues::Last));
    let samples: Vec<_> = stream(&trace, 0)
        .metrics
        .iter()
        .map(|row| (row.time.0, row.value as i64, row.visit.some().map(|it| it.0)))
        .collect();
    assert_eq!(samples, [(1, 0, None), (10, 900, Some(0)), (20, 100, Some(0)), (35, 50, None)]);
    let pauses: Vec<_> = stream(&trace, 0).pauses.iter().map(|row| (row.begin.0, row.end.0, row.kind)).collect();
    assert_eq!(pauses, [(30, 35, PauseKind::Flush), (40, 60, PauseKind::Off)]);
}

/// A thread without events is in the operations that its states say; with events, states say nothing more.
#[test]
fn states_alone() {
    let text = header(&[1, 1])
        + "1:1:1:1:1:0:10:1\n1:1:1:1:1:10:40:3\n1:1:1:1:1:40:60:1\n1:1:1:1:1:60:-1:13\n\
           1:2:1:2:1:0:20:1\n1:2:1:2:1:20:25:4\n2:2:1:2:1:20:50000001:1\n2:2:1:2:1:25:50000001:0\n1:2:1:2:1:25:70:1\n\
           3:2:1:2:1:20:25:1:1:1:1:10:40:8:0\n1:1:1:1:1:70:70:1\n";
    let trace = trace(&text);
    assert_eq!(shown(&trace, 0), "10-40 Waiting a message, 60-70 Group Communication");
    assert_eq!(shown(&trace, 1), "20-25 MPI_Send");
    assert_eq!(trace.role_of(partune_base::PeId(0), stream(&trace, 0).recvs[0].visit), Role::Recv);
    assert_eq!(noticed(&trace).len(), 1, "that there are states and no events");
    assert_eq!(times(stream(&trace, 1).present.map(|(begin, end)| [begin, end]).into_iter().flatten()), [0, 70]);
    assert_eq!((trace.begin(), trace.end()), (Time(0), Time(70)));
}
