//! From facts to rows.

use partune_base::{GroupId, PeId, Time};
use partune_trace::{
    Collective, File, HandleEvent, HandleKind, IoKind, IoLayer, IoTransfer, LockEvent, LockKind, MetricSample,
    NO_MATCHING, Pause, PauseKind, Polls, Recv, RequestEvent, RequestKind, RmaCompletion, RmaCompletionKind, RmaSync,
    RmaSyncKind, RmaTransfer, RmaTransferKind, Role, Send, Stream, TaskEvent, TaskKind, TeamEvent, TeamKind, VisitIx,
};

use crate::arguments::Given;
use crate::build::Maker;
use crate::names::define_metric;
use crate::syntax::{Fact, Item, integer};

/// The visit of a fact.
#[derive(Clone, Copy)]
pub(crate) struct Here {
    pub(crate) pe: PeId,
    pub(crate) rank: u32,
    pub(crate) thread: u32,
    pub(crate) visit: VisitIx,
    pub(crate) enter: Time,
    pub(crate) exit: Time,
    /// Moves written times.
    pub(crate) shift: i64,
}

/// Adds the rows of a fact.
pub(crate) fn record(maker: &mut Maker<'_, '_>, fact: &Fact, here: Here) {
    if fact.name == "metric" {
        return metrics(maker, fact, here);
    }
    if let Some((_, name)) = fact.arguments.iter().find(|(key, _)| key.as_deref() == Some("file"))
        && !maker.names.files.contains_key(name)
    {
        let of = maker.built.strings.intern(name);
        maker.names.files.insert(name.clone(), maker.built.files.push(File { name: of }));
    }
    let mut given = Given::new(maker.source, &maker.names, fact, here);
    let stream = &mut maker.built.streams[here.pe];
    stream.events += 1;
    let name = fact.name.as_str();
    let known = messages(name, &mut given, stream)
        || collective(name, &mut given, stream)
        || accesses(name, &mut given, stream, &mut maker.next_id)
        || window_syncs(name, &mut given, stream)
        || locks(name, &mut given, stream)
        || teams(name, &mut given, stream)
        || files(name, &mut given, stream)
        || others(name, &mut given, stream);
    if !known {
        given.fail(&format!("there is no fact `{name}`"));
    }
    if let Some((key, value)) = given.left.first() {
        given.fail(&format!(
            "`{name}` does not take `{}{value}`",
            key.as_ref().map_or(String::new(), |key| format!("{key}="))
        ));
    }
}

impl Item {
    /// Whether a fact with such a name is inside.
    pub(crate) fn has_fact(&self, is: &impl Fn(&str) -> bool) -> bool {
        match self {
            Item::Visit(visit) => {
                visit.facts.iter().any(|fact| is(&fact.name)) || visit.items.iter().any(|item| item.has_fact(is))
            }
            Item::Repeat { items, .. } => items.iter().any(|item| item.has_fact(is)),
        }
    }
}

fn messages(name: &str, given: &mut Given<'_, '_>, stream: &mut Stream) -> bool {
    let visit = given.here.visit;
    match name {
        "send" => {
            let (time, peer) = (given.at_enter(), given.pe(&["to", ""]));
            let (tag, bytes, request) = (given.tag(), given.bytes(), given.request());
            stream.sends.push(Send {
                visit,
                time,
                peer,
                group: given.group(false),
                tag,
                bytes,
                request,
                matching: NO_MATCHING,
            });
        }
        "recv" => {
            let (time, peer) = (given.at_exit(), given.pe(&["from", ""]));
            let (tag, bytes, request) = (given.tag(), given.bytes(), given.request());
            stream.recvs.push(Recv {
                visit,
                time,
                peer,
                group: given.group(false),
                tag,
                bytes,
                request,
                matching: NO_MATCHING,
            });
        }
        "polls" => {
            stream.polls.push(Polls { visit, time: given.at_enter(), count: given.need(&["count", ""]), found: false });
        }
        "posted" | "started" | "done" | "tested" | "cancel" => {
            let (kind, time) = match name {
                "posted" => (RequestKind::RecvPosted, given.at_enter()),
                "started" => (RequestKind::CollectiveStarted, given.at_enter()),
                "done" => (RequestKind::SendCompleted, given.at_exit()),
                "tested" => (RequestKind::Tested, given.at_exit()),
                _ => (RequestKind::Cancelled, given.at_exit()),
            };
            stream.requests.push(RequestEvent { visit, time, kind, request: given.need(&["req", ""]) });
        }
        _ => return false,
    }
    true
}

fn collective(name: &str, given: &mut Given<'_, '_>, stream: &mut Stream) -> bool {
    let role = match name {
        "barrier" => Role::GroupSync,
        "barrier_notify" => Role::GroupNotify,
        "barrier_wait" => Role::GroupWait,
        "bcast" | "scatter" => Role::OneToAll,
        "reduce" | "gather" => Role::AllToOne,
        "allreduce" | "allgather" | "alltoall" => Role::AllToAll,
        "scan" => Role::Scan,
        "alloc" => Role::GlobalAlloc,
        "init" => Role::Init,
        "finalize" => Role::Finalize,
        "rma_sync" => Role::RmaGroupSync,
        _ => return false,
    };
    let bytes = given.bytes();
    let begin = given.time("begin").unwrap_or(given.here.enter);
    let end = given.time("end").unwrap_or_else(|| given.at_exit());
    let root = given.optional(&["root"]).map_or(PeId::NONE, |word| given.find_pe(&word));
    let (sent, received) = (given.number(&["sent"]).unwrap_or(bytes), given.number(&["received"]).unwrap_or(bytes));
    let (request, group, visit) = (given.request(), given.group(true), given.here.visit);
    stream.events += 1;
    stream.collectives.push(Collective { visit, begin, end, role, group, root, sent, received, request });
    true
}

fn accesses(name: &str, given: &mut Given<'_, '_>, stream: &mut Stream, next_id: &mut u64) -> bool {
    let kind = match name {
        "put" => RmaTransferKind::Put,
        "get" => RmaTransferKind::Get,
        "atomic" => RmaTransferKind::Atomic,
        "complete" => {
            let kind = match given.optional(&["kind"]).as_deref() {
                None | Some("nonblocking") => RmaCompletionKind::NonBlocking,
                Some("blocking") => RmaCompletionKind::Blocking,
                Some("tested") => RmaCompletionKind::Tested,
                Some("remote") => RmaCompletionKind::Remote,
                Some(word) => given.fail(&format!("a completion is not `{word}`")),
            };
            let (visit, time, window) = (given.here.visit, given.at_exit(), given.window(false));
            stream.completions.push(RmaCompletion { visit, time, kind, window, matching: given.need(&["id", ""]) });
            return true;
        }
        _ => return false,
    };
    let Here { visit, exit, .. } = given.here;
    let (time, window, target) = (given.at_enter(), given.window(false), given.pe(&["to", "from", ""]));
    let (bytes, address) = (given.bytes(), given.number(&["addr"]));
    let matching = given.number(&["id"]).unwrap_or_else(|| {
        *next_id += 1;
        stream.events += 1;
        let kind = RmaCompletionKind::Blocking;
        stream.completions.push(RmaCompletion { visit, time: exit, kind, window, matching: *next_id });
        *next_id
    });
    stream.transfers.push(RmaTransfer { visit, time, kind, window, target, bytes, address, matching });
    true
}

fn window_syncs(name: &str, given: &mut Given<'_, '_>, stream: &mut Stream) -> bool {
    let (kind, target, time) = match name {
        "fence" | "epoch" => (RmaSyncKind::Group(given.group(true)), PeId::NONE, given.at_exit()),
        "quiet" => (RmaSyncKind::Memory, PeId::NONE, given.at_exit()),
        "wait_change" => (RmaSyncKind::WaitChange, PeId::NONE, given.at_exit()),
        "notify" => (RmaSyncKind::NotifyOut, given.pe(&["to", ""]), given.at_enter()),
        "sign" => (RmaSyncKind::NotifyOut, PeId::NONE, given.at_enter()),
        "wait_notify" => (RmaSyncKind::NotifyIn, given.pe(&["from", ""]), given.at_exit()),
        "window_created" => (RmaSyncKind::WindowCreated, PeId::NONE, given.at_exit()),
        "window_freed" => (RmaSyncKind::WindowFreed, PeId::NONE, given.at_exit()),
        _ => return false,
    };
    let (visit, window, address) = (given.here.visit, given.window(true), given.number(&["addr"]));
    stream.rma_syncs.push(RmaSync { visit, time, kind, window, target, address });
    true
}

fn locks(name: &str, given: &mut Given<'_, '_>, stream: &mut Stream) -> bool {
    let Here { visit, enter, .. } = given.here;
    let (kind, time) = match name {
        "lock" | "acquire" => (LockKind::Acquired, given.at_exit()),
        "request" => (LockKind::Requested, given.at_enter()),
        "try" => (LockKind::Tried, given.at_exit()),
        "unlock" | "release" => (LockKind::Released, given.at_enter()),
        _ => return false,
    };
    let lock = given.need(&["id", ""]);
    let shared = given.optional(&["shared", ""]).is_some();
    if name == "lock" {
        stream.events += 1;
        stream.locks.push(LockEvent { visit, time: enter, kind: LockKind::Requested, lock, shared });
    }
    stream.locks.push(LockEvent { visit, time, kind, lock, shared });
    true
}

fn teams(name: &str, given: &mut Given<'_, '_>, stream: &mut Stream) -> bool {
    let (kind, time) = match name {
        "fork" => (TeamKind::Fork, given.at_enter()),
        "join" => (TeamKind::Join, given.at_exit()),
        "team" | "team_begin" => (TeamKind::TeamBegin, given.at_enter()),
        "team_end" => (TeamKind::TeamEnd, given.at_exit()),
        "create" => (TeamKind::Create, given.at_enter()),
        "begin" => (TeamKind::Begin, given.at_enter()),
        "wait" => (TeamKind::Wait, given.at_exit()),
        "end" => (TeamKind::End, given.at_exit()),
        _ => return false,
    };
    let Here { visit, exit, .. } = given.here;
    let grouped = !matches!(kind, TeamKind::Fork | TeamKind::Join);
    let group = if grouped { given.group(true) } else { GroupId::NONE };
    let sequence = given.number(&["seq"]).unwrap_or(0);
    stream.teams.push(TeamEvent { visit, time, kind, group, sequence });
    if name == "team" {
        stream.events += 1;
        stream.teams.push(TeamEvent { visit, time: exit, kind: TeamKind::TeamEnd, group, sequence });
    }
    true
}

fn files(name: &str, given: &mut Given<'_, '_>, stream: &mut Stream) -> bool {
    let Here { visit, enter, exit, .. } = given.here;
    let kind = match name {
        "read" => Some(IoKind::Read),
        "write" => Some(IoKind::Write),
        "sync" => Some(IoKind::Flush),
        "opened" | "closed" | "seek" => None,
        _ => return false,
    };
    let file = given.file();
    let layer = match given.optional(&["by"]).as_deref() {
        None => IoLayer::Direct,
        Some("stream") => IoLayer::Buffered,
        Some("mpi") => IoLayer::Parallel,
        Some(word) => given.fail(&format!("there is no layer `{word}`")),
    };
    if let Some(kind) = kind {
        let bytes = if kind == IoKind::Flush { 0 } else { given.need(&["bytes", ""]) };
        let last = stream.io.iter().rfind(|row| row.file == file);
        let next = last.map_or(Some(0), |row| Some(row.offset? + row.bytes));
        let offset = match given.optional(&["at"]).as_deref() {
            Some("next") => next,
            Some(word) => Some(integer(word).unwrap_or_else(|| given.fail("`at` needs a number")) as u64),
            None => None,
        };
        stream.events += 1;
        stream.io.push(IoTransfer { visit, begin: enter, end: exit, bytes, kind, file, layer, offset });
        return true;
    }
    let (kind, time) = match name {
        "opened" => (HandleKind::Opened, given.at_exit()),
        "closed" => (HandleKind::Closed, given.at_enter()),
        _ => (HandleKind::Positioned(given.need(&["at"])), given.at_exit()),
    };
    stream.handles.push(HandleEvent { visit, time, kind, file, layer });
    true
}

fn others(name: &str, given: &mut Given<'_, '_>, stream: &mut Stream) -> bool {
    let Here { visit, enter, exit, .. } = given.here;
    match name {
        "task_created" | "task_switched" | "task_completed" => {
            let (kind, time) = match name {
                "task_created" => (TaskKind::Created, given.at_exit()),
                "task_switched" => (TaskKind::Switched, given.at_enter()),
                _ => (TaskKind::Completed, given.at_exit()),
            };
            let (task, group) = (given.need(&["task", ""]), given.group(false));
            stream.tasks.push(TaskEvent { visit, time, kind, group, task });
        }
        "pause" | "flush" => {
            let (begin, end) = (given.time("begin").unwrap_or(enter), given.time("end").unwrap_or(exit));
            let kind = if name == "flush" { PauseKind::Flush } else { PauseKind::Off };
            stream.events += 1;
            stream.pauses.push(Pause { begin, end, kind });
        }
        _ => return false,
    }
    true
}

fn metrics(maker: &mut Maker<'_, '_>, fact: &Fact, here: Here) {
    let time = fact.time.map_or(here.enter, |time| Time(time + here.shift));
    maker.built.streams[here.pe].events += 1;
    for (name, value) in &fact.arguments {
        let Some(name) = name else { maker.source.fail(fact.line, "a metric is written name=value") };
        let known = maker.names.metrics.get(name).copied();
        let metric = known
            .unwrap_or_else(|| define_metric(maker.source, fact.line, name, &[], &mut maker.built, &mut maker.names));
        let Ok(value) = value.parse() else { maker.source.fail(fact.line, &format!("`{value}` is not a number")) };
        maker.built.streams[here.pe].metrics.push(MetricSample { visit: here.visit, time, metric, value });
    }
}
