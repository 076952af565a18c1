//! A simulated run as a trace: lanes are threads of one process, servers are locks, uses and delays are user code.
//!
//! So analyses see waiting for a resource as waiting for a lock, with the process that held it as the cause. A unit of time of the model is a
//! second.

use partune_base::{CallPathId, PeId, ProcessId, StringId, Table, Time};
use partune_trace::{LockEvent, LockKind, Pe, PeKind, Process, Region, Role, Stream, Trace, TraceBuilder, Visit};

use crate::simulate::{Recording, What};

/// A time of a model in nanoseconds.
pub fn nanoseconds(seconds: f64) -> Time {
    Time::clamped((seconds * 1e9).round() as i128)
}

/// A trace in the making: a process that is a model, with threads of these names.
pub fn of_threads(names: impl Iterator<Item = String>) -> TraceBuilder {
    let mut builder = TraceBuilder { resolution: 1_000_000_000, ..TraceBuilder::default() };
    for (thread, name) in names.enumerate() {
        let (name, process) = (builder.strings.intern(&name), ProcessId(0));
        let archive_id = thread as u64;
        builder.pes.push(Pe { name, kind: PeKind::Cpu, process, thread: thread as u32, device: None, archive_id });
    }
    let pes = (0..builder.pes.len() as u32).map(PeId).collect();
    let name = builder.strings.intern("model");
    builder.processes.push(Process { name, rank: None, node: StringId::NONE, pes });
    builder
}

/// The call paths of a model: its root, and what is called from there.
struct Paths {
    root: CallPathId,
    lock: CallPathId,
    unlock: CallPathId,
    delay: CallPathId,
    wait: CallPathId,
    /// By resource.
    resources: Vec<CallPathId>,
}

impl Paths {
    fn new(recording: &Recording, builder: &mut TraceBuilder) -> Paths {
        let mut path = |name: &str, paradigm: &str, role, parent| {
            let name = builder.strings.intern(name);
            let paradigm = if role == Role::User { StringId::NONE } else { builder.strings.intern(paradigm) };
            let region = builder.regions.push(Region::of_construct(name, paradigm, role));
            builder.paths.push(parent, region)
        };
        let root = path("model", "", Role::User, CallPathId::NONE);
        Paths {
            root,
            // A mutex and a condition of POSIX, which every reader of archives knows.
            lock: path("pthread_mutex_lock", "Pthread", Role::LockAcquire, root),
            unlock: path("pthread_mutex_unlock", "Pthread", Role::LockRelease, root),
            delay: path("delay", "", Role::User, root),
            wait: path("pthread_cond_wait", "Pthread", Role::WaitOnValue, root),
            resources: recording.names.iter().map(|(name, _)| path(name, "", Role::User, root)).collect(),
        }
    }
}

/// The run as a sealed trace.
pub fn trace(recording: &Recording) -> Trace {
    let mut builder = of_threads((0..recording.lanes).map(|lane| format!("lane {lane}")));
    let paths = Paths::new(recording, &mut builder);
    let mut free: Vec<Vec<f64>> = recording.names.iter().map(|(_, servers)| vec![0.0; *servers as usize]).collect();
    let offsets: Vec<u32> = recording
        .names
        .iter()
        .scan(0, |next, (_, servers)| {
            let own = *next;
            *next += servers;
            Some(own)
        })
        .collect();
    let end = nanoseconds(recording.activities.iter().map(|it| it.end).fold(0.0, f64::max));
    let mut of_root = Stream { events: 2, ..Stream::default() };
    of_root.visits.push(Visit { enter: Time(0), exit: end, path: paths.root });
    let mut streams = vec![of_root; recording.lanes as usize];
    for activity in &recording.activities {
        let [request, begin, until] = [activity.request, activity.begin, activity.end].map(nanoseconds);
        let stream = &mut streams[activity.lane as usize];
        let resource = match activity.what {
            What::Use(resource) => resource,
            What::Delay | What::Await => {
                let path = if activity.what == What::Await { paths.wait } else { paths.delay };
                stream.visits.push(Visit { enter: begin, exit: until, path });
                stream.events += 2;
                continue;
            }
        };
        // The server that was free for longest.
        let servers = &mut free[resource as usize];
        let at = (0..servers.len()).min_by(|a, b| servers[*a].total_cmp(&servers[*b])).unwrap_or(0);
        if let Some(server) = servers.get_mut(at) {
            *server = activity.end;
        }
        let lock = u64::from(offsets[resource as usize] + at as u32);
        let event = |visit, time, kind| LockEvent { visit, time, kind, lock, shared: false };
        let waits = stream.visits.push(Visit { enter: request, exit: begin, path: paths.lock });
        stream.visits.push(Visit { enter: begin, exit: until, path: paths.resources[resource as usize] });
        let gives = stream.visits.push(Visit { enter: until, exit: until, path: paths.unlock });
        stream.locks.extend([event(waits, begin, LockKind::Acquired), event(gives, until, LockKind::Released)]);
        stream.events += 8;
    }
    builder.streams = Table::from(streams);
    builder.seal()
}
