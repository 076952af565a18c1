//! A small language that writes traces in tests.
//!
//! For the tests of everybody above the event model: what happened is written down, with its times, and comes out as a
//! [`Trace`]. It is a test tool: a mistake in the text panics with its line.
//!
//! ```
//! let trace = partune_testkit::trace(
//!     "resolution 1000                 # ticks per second; nanoseconds if left out
//!      pe 0: main@app.c:3 0..100 {
//!          work      0..40
//!          MPI_Send 40..52 send(to=1, tag=7, bytes=8)
//!          MPI_Barrier 80..90 barrier
//!      }
//!      pe 1: main@app.c:3 0..100 {
//!          MPI_Recv 10..54 recv(from=0, tag=7, bytes=8)
//!          MPI_Barrier 60..90 barrier
//!      }",
//! );
//! let (zero, one) = (partune_testkit::pe(&trace, 0), partune_testkit::pe(&trace, 1));
//! assert_eq!(trace.streams()[one].recvs[0].peer, zero);
//! assert_eq!(trace.streams()[one].recvs[0].time.0, 54);
//! ```
//!
//! # Grammar
//!
//! Words are separated by space or `{ } ( ) , =`; `#` begins a comment; a name with other letters is written `"in quotes"`.
//!
//! ```text
//! text   = { "resolution" N | "paradigm" NAME | group | device | node | window | metric | define | pe }
//! group  = "group" NAME "=" PE…              a communicator; `world` (all main PEs) is there always, `self` if only of one
//!        | "team" NAME "=" PE…               threads of a parallel region
//!        | "inter" NAME "=" PE… "|" PE…      an inter-communicator
//! device = "device" NAME "=" PE…            these PEs are streams of a device, not threads
//! node   = "node" NAME "=" PE…              their processes are on it; all are on `node` if none is written
//! window = "window" NAME "=" GROUP           a symmetric heap `heap` over `world` is there if none is written
//! metric = "metric" NAME ["accumulated" | "point" | "last" | "next"] [UNIT]       `point` if only used
//! define = "define" NAME "{" item… "}"
//! pe     = "pe" PE… ":" item…                the same for each of the PEs; a second block goes on where the first ended
//! PE     = RANK | RANK "." THREAD
//! item   = [MARK] NAME["@"FILE":"LINE]["^"FILE":"LINE] BEGIN ".." END fact… ["{" item… "}"]
//!                                            a visit; @ where the region is defined, ^ where it is called
//! MARK   = "phase" | "iteration" | "block"   what the user marked the region as
//!        | "repeat" N "every" PERIOD "{" item… "}"     all times inside move by PERIOD each time
//!        | "use" NAME "@" OFFSET                       what was defined, with its times moved by OFFSET
//! fact   = NAME ["(" argument, … ")"] ["@" TIME]
//! argument = [NAME "="] VALUE
//! ```
//!
//! Without BEGIN a visit begins where its predecessor ended (or its parent began); without END it ends with its parent. Visits
//! must nest and follow each other. A region's role is what `partune_paradigm::recognise` says of its name; others are user
//! code. In facts a PE can be given relative to the own one: `to=+1` is the next rank, round the corner.
//!
//! # Facts
//!
//! Where a fact is recorded if it has no `@`: at the enter (<) or at the exit (>) of its visit. Arguments in brackets can be left
//! out; the first one needs no name.
//!
//! | fact | row |
//! |---|---|
//! | `send(to, [tag, bytes, group, req])` < | message handed over |
//! | `recv(from, [tag, bytes, group, req])` > | message received; with `req`, the completion of a non-blocking receive |
//! | `posted(req)` <, `started(req)` <, `done(req)` >, `tested(req)` >, `cancel(req)` > | receive posted, collective started, send completed, … |
//! | `polls(count)` < | polls that found nothing, and are one visit |
//! | `barrier`, `barrier_notify`, `barrier_wait`, `bcast`, `scatter`, `reduce`, `gather`, `allreduce`, `allgather`, `alltoall`, `scan`, `alloc`, `init`, `finalize`, `rma_sync` `([group, root, bytes, sent, received, req, begin, end])` | collective, from enter to exit |
//! | `put`, `get`, `atomic` `(to, [bytes, addr, win, id])` < | access; without `id` it is complete (blocking) at the exit |
//! | `complete(id, [kind, win])` > | completion; kind `nonblocking` (default), `blocking`, `tested`, `remote` |
//! | `fence([group, win])` >, `epoch([group, win])` > (its post, start, complete or wait), `quiet([win])` >, `wait_change([win, addr])` >, `notify(to, [win])` <, `sign([win, addr])` < (to whoever waits there), `wait_notify(from, [win])` >, `window_created([win])` >, `window_freed([win])` > | synchronisation on a window |
//! | `lock(id, [shared])` | requested at the enter, acquired at the exit |
//! | `request(id, [shared])` <, `acquire(id, [shared])` >, `try(id)` >, `unlock(id)` <, `release(id)` < | the steps of a lock one by one |
//! | `fork` <, `join` >, `team(group)` <>, `team_begin(group)` <, `team_end(group)` > | team; `team` is begin and end |
//! | `create`, `begin`, `wait`, `end` `(group, [seq])` | PE created, …; < < > > |
//! | `task_created(task, [group])` >, `task_switched` <, `task_completed` > | task |
//! | `metric(name=value, …)` < | samples |
//! | `read(bytes, [file, at, by])`, `write(…)`, `sync([file, by])` | access to a file, from enter to exit; `at=next`: where the last one of this PE ended; `by=stream` through a buffer, `by=mpi` through a library of all processes |
//! | `opened(file, [by])` >, `closed(file, [by])` <, `seek(file, at, [by])` > | a handle was opened, closed, positioned |
//! | `pause([begin, end])`, `flush([begin, end])` | not recorded; from enter to exit |

mod arguments;
mod build;
mod facts;
mod lexer;
pub mod mutate;
mod names;
pub mod outside;
mod syntax;

use partune_base::{CallPathId, Id, PeId};
use partune_trace::{Trace, TraceBuilder};

/// The trace that a text describes, sealed.
///
/// # Panics
/// With line and excerpt, if the text is wrong.
pub fn trace(text: &str) -> Trace {
    builder(text).seal()
}

/// The same before it is sealed, for tests that damage or extend it.
///
/// # Panics
/// With line and excerpt, if the text is wrong.
pub fn builder(text: &str) -> TraceBuilder {
    let source = lexer::Source::new(text);
    build::build(&source, &syntax::parse(&source))
}

/// The main PE of a rank.
///
/// # Panics
/// If there is none.
pub fn pe(trace: &Trace, rank: u32) -> PeId {
    thread(trace, rank, 0)
}

/// A thread of a rank.
///
/// # Panics
/// If there is none.
pub fn thread(trace: &Trace, rank: u32, thread: u32) -> PeId {
    let process = trace.processes().iter().find(|process| process.rank == Some(rank));
    let process = process.unwrap_or_else(|| panic!("there is no rank {rank}"));
    let pe = process.pes.iter().copied().find(|pe| trace.pes()[*pe].thread == thread);
    pe.unwrap_or_else(|| panic!("rank {rank} has no thread {thread}"))
}

/// The call path of region names from the root: `main/foo/MPI_Send`.
///
/// # Panics
/// If there is none; the message lists those that there are.
pub fn path(trace: &Trace, names: &str) -> CallPathId {
    trace.paths().ids().find(|id| path_name(trace, *id) == names).unwrap_or_else(|| {
        let known: Vec<String> = trace.paths().ids().map(|id| path_name(trace, id)).collect();
        panic!("there is no call path {names}; there are {}", known.join(", "))
    })
}

/// The region names of a call path from the root, as [`path`] takes them.
pub fn path_name(trace: &Trace, path: CallPathId) -> String {
    let mut names: Vec<&str> = trace
        .paths()
        .ancestors(path)
        .map(|path| trace.strings().get(trace.regions()[trace.paths().region(path)].name))
        .collect();
    names.reverse();
    names.join("/")
}

/// The only visit of a rank's main PE to a call path that is given as in [`path`].
///
/// # Panics
/// If there is none or more than one.
pub fn visit(trace: &Trace, rank: u32, names: &str) -> partune_trace::VisitIx {
    let (pe, path) = (pe(trace, rank), path(trace, names));
    let visits = &trace.streams()[pe].visits.path;
    let mut found = (0..visits.len()).filter(|index| visits[*index].index() == path.index());
    match (found.next(), found.next()) {
        (Some(index), None) => partune_trace::VisitIx(index as u32),
        (None, _) => panic!("rank {rank} never visits {names}"),
        _ => panic!("rank {rank} visits {names} more than once"),
    }
}
