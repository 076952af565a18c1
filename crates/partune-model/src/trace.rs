//! A simulated run as a trace: lanes are threads of one process, servers are locks, uses and delays are user code.
//!
//! So analyses see waiting for a resource as waiting for a lock, with the process that held it as the cause. A unit of time of the model is a
//! second. The same events go into an archive, which reads as the same trace.

use partune_base::{CallPathId, PeId, StringId, Table, Time};
use partune_trace::{
    LockEvent, LockKind, Pe, PeKind, Process, Region, Role, Stream, Trace, TraceBuilder, Visit, VisitIx,
};

use crate::simulate::Recording;

/// The name of the construct that waits for a server, and of the one that gives it back: a POSIX mutex, which every reader of archives knows.
const LOCK: &str = "pthread_mutex_lock";
const UNLOCK: &str = "pthread_mutex_unlock";
/// Regions before those of resources.
pub const REGION_MODEL: u32 = 0;
pub const REGION_LOCK: u32 = 1;
pub const REGION_UNLOCK: u32 = 2;
pub const REGION_DELAY: u32 = 3;

/// What a lane does at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Enter(u32),
    Leave(u32),
    /// A server was given.
    Acquire(u32),
    Release(u32),
}

/// A run as events by lane, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Names of regions; the first four are constants of this module.
    pub regions: Vec<String>,
    pub lanes: Vec<Vec<(i64, What)>>,
    pub end: i64,
}

/// The events of a run.
pub fn events(recording: &Recording) -> Events {
    let mut regions: Vec<String> = ["model", LOCK, UNLOCK, "delay"].map(str::to_owned).into();
    let first = regions.len() as u32;
    regions.extend(recording.names.iter().map(|(name, _)| name.clone()));
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
    let nanoseconds = |seconds: f64| Time::clamped((seconds * 1e9).round() as i128).0;
    let mut lanes: Vec<Vec<(i64, What)>> = vec![vec![(0, What::Enter(REGION_MODEL))]; recording.lanes as usize];
    let mut end = 0;
    for activity in &recording.activities {
        let [request, begin, until] = [activity.request, activity.begin, activity.end].map(nanoseconds);
        let lane = &mut lanes[activity.lane as usize];
        end = end.max(until);
        let Some(resource) = activity.resource else {
            lane.extend([(begin, What::Enter(REGION_DELAY)), (until, What::Leave(REGION_DELAY))]);
            continue;
        };
        // The server that was free for longest.
        let servers = &mut free[resource as usize];
        let at = (0..servers.len()).min_by(|a, b| servers[*a].total_cmp(&servers[*b])).unwrap_or(0);
        if let Some(server) = servers.get_mut(at) {
            *server = activity.end;
        }
        let (region, lock) = (first + resource, offsets[resource as usize] + at as u32);
        lane.extend([
            (request, What::Enter(REGION_LOCK)),
            (begin, What::Acquire(lock)),
            (begin, What::Leave(REGION_LOCK)),
            (begin, What::Enter(region)),
            (until, What::Leave(region)),
            (until, What::Enter(REGION_UNLOCK)),
            (until, What::Release(lock)),
            (until, What::Leave(REGION_UNLOCK)),
        ]);
    }
    for lane in &mut lanes {
        lane.push((end, What::Leave(REGION_MODEL)));
    }
    Events { regions, lanes, end }
}

/// The role of a region.
fn role(region: u32) -> Role {
    match region {
        REGION_LOCK => Role::LockAcquire,
        REGION_UNLOCK => Role::LockRelease,
        _ => Role::User,
    }
}

/// A run as a sealed trace.
pub fn trace(events: &Events) -> Trace {
    let mut builder = TraceBuilder { resolution: 1_000_000_000, ..TraceBuilder::default() };
    let pthread = builder.strings.intern("Pthread");
    for (index, name) in events.regions.iter().enumerate() {
        let name = builder.strings.intern(name);
        let role = role(index as u32);
        let paradigm = if role == Role::User { StringId::NONE } else { pthread };
        builder.regions.push(Region::of_construct(name, paradigm, role));
    }
    let root = builder.paths.push(CallPathId::NONE, partune_base::RegionId(REGION_MODEL));
    let paths: Vec<CallPathId> = (0..events.regions.len() as u32)
        .map(
            |region| {
                if region == REGION_MODEL { root } else { builder.paths.push(root, partune_base::RegionId(region)) }
            },
        )
        .collect();
    let process_name = builder.strings.intern("model");
    let pes: Vec<PeId> = (0..events.lanes.len() as u32).map(PeId).collect();
    let process = builder.processes.push(Process { name: process_name, rank: None, node: StringId::NONE, pes });
    builder.streams = Table::from(Vec::new());
    for (lane, list) in events.lanes.iter().enumerate() {
        let name = builder.strings.intern(&format!("lane {lane}"));
        builder.pes.push(Pe {
            name,
            kind: PeKind::Cpu,
            process,
            thread: lane as u32,
            device: None,
            archive_id: lane as u64,
        });
        builder.streams.push(stream(list, &paths));
    }
    builder.seal()
}

fn stream(list: &[(i64, What)], paths: &[CallPathId]) -> Stream {
    let mut stream = Stream { events: list.len() as u64, ..Stream::default() };
    let mut open: Vec<VisitIx> = Vec::new();
    for (time, what) in list {
        let time = Time(*time);
        let visit = open.last().copied().unwrap_or(VisitIx::NONE);
        let lock = |lock: u32, kind| LockEvent { visit, time, kind, lock: lock.into(), shared: false };
        match what {
            What::Enter(region) => {
                open.push(stream.visits.push(Visit { enter: time, exit: time, path: paths[*region as usize] }));
            }
            What::Leave(_) => {
                if let Some(visit) = open.pop() {
                    stream.visits.exit[visit.index()] = time;
                }
            }
            What::Acquire(id) => stream.locks.push(lock(*id, LockKind::Acquired)),
            What::Release(id) => stream.locks.push(lock(*id, LockKind::Released)),
        }
    }
    stream
}
