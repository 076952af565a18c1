//! Variants of the program, and its archives read back by the codec.

use std::collections::BTreeMap;

use partune_otf2::codec::event::Event;
use partune_otf2::codec::{Anchor, Definition, EventVisitor, Scope, chunks, read_chunk, read_definitions};
use partune_synth::{Answers, Injection, InjectionKind, Memory, Model, Skew, SynthOptions, write};

/// Programs of every kind, small.
pub(crate) fn variants() -> Vec<(&'static str, SynthOptions)> {
    let base = || SynthOptions { ranks: 6, events: 30_000, seed: 3, ..SynthOptions::default() };
    let late = |kind, rank| Injection { kind, rank, delay_ns: 50_000, percent: 30 };
    vec![
        ("mpi", base()),
        ("one rank", SynthOptions { ranks: 1, events: 3000, ..base() }),
        ("prime ranks", SynthOptions { ranks: 7, ..base() }),
        ("many chunks", SynthOptions { ranks: 2, events: 200_000, chunk_bytes: 256 << 10, ..base() }),
        ("metrics", SynthOptions { metrics: true, ..base() }),
        ("clocks", SynthOptions { clock_offset_ns: 3_000_000, clock_drift_ppb: 50_000, ..base() }),
        ("skew", SynthOptions { skew: Some(Skew { rank: 2, share: 0.5 }), ..base() }),
        ("imbalance", SynthOptions { gradient: 0.4, slow: vec![(1, 1.5)], ..base() }),
        (
            "rendezvous",
            SynthOptions { ring_bytes: 100_000, inject: vec![late(InjectionKind::LateReceiver, 3)], ..base() },
        ),
        (
            "injections",
            SynthOptions {
                inject: vec![
                    late(InjectionKind::LateSender, 1),
                    late(InjectionKind::LateBroadcast, 2),
                    late(InjectionKind::EarlyReduce, 3),
                    late(InjectionKind::LateAtBarrier, 4),
                    late(InjectionKind::LateAtNxn, 5),
                ],
                ..base()
            },
        ),
        ("hybrid", SynthOptions { threads: 3, ranks: 4, inject: vec![late(InjectionKind::LockHold, 2)], ..base() }),
        (
            "shmem",
            SynthOptions {
                model: Model::Shmem,
                inject: vec![late(InjectionKind::LateSignal, 2), late(InjectionKind::LockHold, 1)],
                ..base()
            },
        ),
    ]
}

/// An archive in memory.
pub(crate) struct Written {
    pub(crate) answers: Answers,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

pub(crate) fn written(options: &SynthOptions) -> Written {
    let memory = Memory::default();
    let answers = write(options, &mut memory.clone()).expect("it is written");
    Written { answers, files: memory.files() }
}

/// What a location did, in corrected time.
pub(crate) struct Read {
    pub(crate) rank: u32,
    pub(crate) thread: u32,
    pub(crate) events: Vec<(i64, Record)>,
}

/// The events that are about others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Enter(u32),
    Leave(u32),
    Send { to: u32, tag: u32, request: Option<u64> },
    Recv { from: u32, tag: u32, request: Option<u64> },
    Posted(u64),
    SendDone(u64),
    Begin,
    End { operation: u8, comm: u32, root: u32 },
    Put { to: u32, matching: u64 },
    PutDone(u64),
    WaitChange,
    Requested,
    Acquired { lock: u64 },
    Released { lock: u64 },
    Fork,
    Join,
    TeamBegin(u32),
    TeamEnd(u32),
    Metric,
}

/// Names of regions by id, and all locations.
pub(crate) fn read(files: &BTreeMap<String, Vec<u8>>) -> (Vec<String>, Vec<Read>) {
    let anchor = Anchor::read(&files["traces.otf2"]).expect("an anchor");
    let mut strings = Vec::new();
    let mut regions = Vec::new();
    let mut locations = Vec::new();
    read_definitions(&files["traces.def"], anchor.definition_chunk_size, Scope::Global, &mut |definition| {
        match definition {
            Definition::Text(text) => strings.push(String::from_utf8_lossy(text.string).into_owned()),
            Definition::Region(region) => regions.push(region.name),
            Definition::Location(location) => locations.push(location.id),
            _ => {}
        }
    })
    .expect("definitions");
    let names = regions.iter().map(|name| strings[*name as usize].clone()).collect();
    let read = locations.into_iter().map(|id| {
        let mut clock = Vec::new();
        let local = &files[&format!("traces/{id}.def")];
        read_definitions(local, anchor.definition_chunk_size, Scope::Local, &mut |definition| {
            if let Definition::ClockOffset(offset) = definition {
                clock.push((offset.time as i64, offset.offset));
            }
        })
        .expect("local definitions");
        let mut visitor = Collect(Vec::new());
        for chunk in chunks(&files[&format!("traces/{id}.evt")], anchor.event_chunk_size).expect("chunks") {
            let chunk = chunk.expect("a chunk");
            let outcome = read_chunk(&chunk, &mut visitor);
            assert_eq!(Some(outcome.events), chunk.promised());
        }
        let [(t0, o0), (t1, o1)] = clock[..] else { panic!("two clock offsets") };
        let slope = (o1 - o0) as f64 / (t1 - t0) as f64;
        let correct = |time: u64| time as i64 + o0 + (slope * (time as i64 - t0) as f64).round() as i64;
        let events = visitor.0.into_iter().map(|(time, record)| (correct(time), record)).collect();
        Read { rank: id as u32, thread: (id >> 32) as u32, events }
    });
    (names, read.collect())
}

struct Collect(Vec<(u64, Record)>);

impl EventVisitor for Collect {
    fn enter(&mut self, time: u64, region: u32) {
        self.0.push((time, Record::Enter(region)));
    }

    fn leave(&mut self, time: u64, region: u32) {
        self.0.push((time, Record::Leave(region)));
    }

    fn event(&mut self, time: u64, event: &Event<'_>) {
        let record = match *event {
            Event::MpiSend { receiver: to, msg_tag: tag, .. } => Record::Send { to, tag, request: None },
            Event::MpiIsend { receiver: to, msg_tag: tag, request_id, .. } => {
                Record::Send { to, tag, request: Some(request_id) }
            }
            Event::MpiRecv { sender: from, msg_tag: tag, .. } => Record::Recv { from, tag, request: None },
            Event::MpiIrecv { sender: from, msg_tag: tag, request_id, .. } => {
                Record::Recv { from, tag, request: Some(request_id) }
            }
            Event::MpiIrecvRequest { request_id } => Record::Posted(request_id),
            Event::MpiIsendComplete { request_id } => Record::SendDone(request_id),
            Event::MpiCollectiveBegin {} | Event::RmaCollectiveBegin {} => Record::Begin,
            Event::MpiCollectiveEnd { collective_op: operation, communicator: comm, root, .. }
            | Event::RmaCollectiveEnd { collective_op: operation, win: comm, root, .. } => {
                Record::End { operation, comm, root }
            }
            Event::RmaPut { remote: to, matching_id: matching, .. } => Record::Put { to, matching },
            Event::RmaOpCompleteBlocking { matching_id, .. } => Record::PutDone(matching_id),
            Event::RmaWaitChange { .. } => Record::WaitChange,
            Event::RmaRequestLock { .. } => Record::Requested,
            Event::RmaAcquireLock { lock_id: lock, .. } => Record::Acquired { lock },
            Event::RmaReleaseLock { lock_id: lock, .. } => Record::Released { lock },
            Event::ThreadAcquireLock { lock_id, .. } => Record::Acquired { lock: u64::from(lock_id) },
            Event::ThreadReleaseLock { lock_id, .. } => Record::Released { lock: u64::from(lock_id) },
            Event::ThreadFork { .. } => Record::Fork,
            Event::ThreadJoin { .. } => Record::Join,
            Event::ThreadTeamBegin { thread_team } => Record::TeamBegin(thread_team),
            Event::ThreadTeamEnd { thread_team } => Record::TeamEnd(thread_team),
            Event::Metric { .. } => Record::Metric,
            other => panic!("unexpected {}", other.name()),
        };
        self.0.push((time, record));
    }
}
