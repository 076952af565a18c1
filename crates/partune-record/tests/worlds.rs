//! Processes that are in worlds of several paradigms: parts written by hand, completed, and read as any archive.

use std::fmt::Write as _;
use std::fs;
use std::mem::offset_of;
use std::path::Path;

use partune_base::PeId;
use partune_index::Index;
use partune_parts::clock::{Reading, Source};
use partune_parts::encode::{At, Message, RECV, SEND};
use partune_parts::layout::{CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE, Header, MAGIC, PARTS, VERSION, bytes, part};
use partune_parts::log::{Hex, How, Line, Members, Mode, Unit};
use partune_trace::{GroupKind, RmaSyncKind, Trace};

use crate::process::complete;

const SYNC: u8 = 44;
const NOTIFY_OUT: u8 = 2;
/// Regions in the order of the logs.
const SEND_CALL: u32 = 0;
const RECV_CALL: u32 = 1;
const IMAGES: u32 = 2;

/// Two processes with two threads each. Rank 0 of MPI is image 1 of the coarrays, and the other way round; threads are a team.
struct Process {
    name: &'static str,
    rank: u32,
    image: u32,
}

const PROCESSES: [Process; 2] =
    [Process { name: "node-0", rank: 0, image: 1 }, Process { name: "node-1", rank: 1, image: 0 }];

#[test]
fn a_process_is_in_a_world_of_each_paradigm() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = recorded(folder.path(), "");
    let group = |name: &str| {
        let mut groups = trace.groups().iter_ids().filter(|(_, it)| trace.strings().get(it.name) == name);
        groups.next().expect(name)
    };
    let members = |name: &str| group(name).1.members.iter().map(|pe| pe.0).collect::<Vec<u32>>();
    let paradigm = |name: &str| (group(name).1.kind, trace.strings().get(group(name).1.paradigm));
    // PEs are numbered by process, then thread.
    let [rank_0, rank_1] = [0, 1].map(|rank| main(&trace, rank));
    assert_eq!(members("MPI_COMM_WORLD"), [rank_0.0, rank_1.0]);
    assert_eq!(members("images"), [rank_1.0, rank_0.0]);
    assert_eq!(paradigm("MPI_COMM_WORLD"), (GroupKind::World, "MPI"));
    assert_eq!(paradigm("images"), (GroupKind::World, "CAF"));
    // Each process has a team of its own, of its own threads.
    let teams: Vec<Vec<PeId>> =
        trace.groups().iter().filter(|it| it.kind == GroupKind::Team).map(|it| it.members.iter().collect()).collect();
    let threads: Vec<Vec<PeId>> = trace.processes().iter().map(|process| process.pes.clone()).collect();
    assert_eq!(teams, threads);
    assert!(teams.iter().all(|team| team.len() == 2));
    let window = &trace.windows().as_slice()[0];
    assert_eq!((trace.strings().get(window.name), window.group), ("heap", group("images").0));

    // The message is between ranks, the synchronisation between images: who is 1 in one world is 0 in the other.
    assert_eq!(trace.streams()[rank_0].sends[0].peer, rank_1);
    assert_eq!(trace.streams()[rank_1].recvs[0].peer, rank_0);
    let syncs = &trace.streams()[rank_0].rma_syncs;
    assert_eq!((syncs.len(), syncs[0].kind, syncs[0].target), (1, RmaSyncKind::NotifyOut, rank_1));
    let index = Index::build(&trace);
    let wait = index.rma.value_waits.iter().map(|wait| (wait.pe, wait.cause.pe)).collect::<Vec<_>>();
    assert_eq!(wait, [(rank_0, rank_1), (rank_1, rank_0)]);
    assert_eq!(index.messages.as_slice().len(), 1);
}

#[test]
fn ranks_of_a_world_that_nobody_described_are_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    // World 9 is not in any log.
    let trace = recorded(folder.path(), "group 0 9 0-1\ncomm 9 9 0 0-1 - - lost\n");
    let lost = trace.groups().iter().find(|it| trace.strings().get(it.name) == "lost").expect("it was defined");
    assert!(lost.members.iter().all(|pe| !pe.is_some()), "{:?}", lost.members);
    // The others are as without it.
    assert_eq!(trace.streams()[main(&trace, 0)].sends[0].peer, main(&trace, 1));
}

#[test]
fn names_of_objects_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    recorded(folder.path(), "object 7 1 lock the%20queue\n");
    let definitions = fs::read(folder.path().join("traces.def")).expect("definitions");
    let holds = |text: &str| definitions.windows(text.len()).any(|at| at == text.as_bytes());
    assert!(holds("PARTUNE::OBJECT 7") && holds("lock the queue"));
}

fn main(trace: &Trace, rank: u32) -> PeId {
    let process = trace.processes().iter().find(|process| process.rank == Some(rank)).expect("a rank of MPI");
    process.pes[0]
}

/// Writes the parts, with more lines in the first log, completes them, and reads the archive.
fn recorded(folder: &Path, more: &str) -> Trace {
    let parts = folder.join(PARTS);
    fs::create_dir(&parts).expect("a folder");
    for process in &PROCESSES {
        let stem = parts.join(process.name);
        let mut text = log(process);
        text += if process.rank == 0 { more } else { "" };
        fs::write(stem.with_extension("log"), text).expect("room");
        fs::write(part(&stem, 0, "lane"), lane(0, 6, |at| events(process, at))).expect("room");
        fs::write(
            part(&stem, 1, "lane"),
            lane(1, 2, |at| at.time(20).enter(IMAGES, true).time(21).leave(IMAGES, true)),
        )
        .expect("room");
    }
    let summary = complete(folder);
    assert_eq!((summary.processes, summary.pes, summary.events), (2, 4, 16), "{:?}", summary.quality);
    partune_engine::inside::read(&summary.archive, &()).expect("an archive")
}

fn log(process: &Process) -> String {
    let reading = |ticks| Reading { ticks, monotonic: ticks, wall: ticks };
    let world = |number, paradigm: &'static str, of, rank| Line::World {
        number,
        paradigm: paradigm.into(),
        of,
        rank,
        size: 2,
        key: Hex(0xa1),
    };
    let both = Members::Ranks(&[0, 1]);
    let comm = |number, world, name: &'static str| Line::Comm {
        number,
        world,
        sequence: 0,
        members: both,
        remote: Members::Ranks(&[]),
        parent: None,
        name: name.into(),
    };
    let construct = |number, paradigm: &'static str, name: &'static str| Line::Region {
        number,
        kind: paradigm.into(),
        name: name.into(),
    };
    let clock = Source::Monotonic;
    let lines = [
        Line::Partune { version: VERSION },
        Line::Process { pid: 1 << 30, host: "node".into(), boot: Hex(1), clock, mode: Mode::Trace },
        Line::Program { path: "/nowhere/app".into(), arguments: Vec::new() },
        Line::Calibrate { reading: reading(1) },
        Line::Paradigm { name: "MPI".into(), version: "1".into() },
        Line::Paradigm { name: "CAF".into(), version: "1".into() },
        world(0, "MPI", Unit::Process, process.rank),
        world(1, "CAF", Unit::Process, process.image),
        world(2, "OpenMP", Unit::Thread, 0),
        Line::Thread { number: 0, tid: 1, name: "app".into() },
        Line::Thread { number: 1, tid: 2, name: "app".into() },
        construct(SEND_CALL, "MPI", "MPI_Send"),
        construct(RECV_CALL, "MPI", "MPI_Recv"),
        construct(IMAGES, "CAF", "_gfortran_caf_sync_images"),
        comm(0, 0, "MPI_COMM_WORLD"),
        comm(1, 1, "images"),
        comm(2, 2, "team"),
        Line::Window { number: 0, sequence: 0, comm: 1, kind: "coarray".into(), name: "heap".into() },
        Line::Calibrate { reading: reading(1_000_000) },
        Line::End { how: How::Finalize },
    ];
    lines.iter().fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").expect("memory");
        text
    })
}

/// A message from rank 0 to rank 1, and both images name each other: 0 of MPI comes at 30, the other at 40.
fn events(process: &Process, at: At) -> At {
    let Process { rank, image, .. } = *process;
    let (call, kind) = if rank == 0 { (SEND_CALL, SEND) } else { (RECV_CALL, RECV) };
    let at =
        at.time(10).enter(call, true).time(11).message(kind, Message { peer: 1 - rank, comm: 0, tag: 0, bytes: 8 });
    let at = at.time(12).leave(call, true).time(30 + 10 * u64::from(rank)).enter(IMAGES, true);
    let record = at.time(41).record(SYNC);
    let at = record.end(record.data().c32(0).c32(1 - image).byte(NOTIFY_OUT));
    at.time(42).leave(IMAGES, true)
}

/// A lane with one chunk of events.
#[allow(unsafe_code, reason = "events are written in place")]
fn lane(thread: u32, events: u64, write: impl FnOnce(At) -> At) -> Vec<u8> {
    let mut lane = vec![0; HEADER_SIZE + CHUNK_SIZE];
    let chunk = lane[HEADER_SIZE..].as_mut_ptr();
    // SAFETY: a chunk is there, and what is written is a few events.
    let at = unsafe { At::new(chunk) }.byte(bytes::CHUNK).byte(bytes::LITTLE_ENDIAN).word(1).word(0);
    // SAFETY: both are in the chunk.
    let cursor = unsafe { write(at).place().offset_from(chunk) } as u64;
    assert!(cursor > CHUNK_HEADER_SIZE as u64);
    let mut put = |at: usize, word: u64| lane[at..at + 8].copy_from_slice(&word.to_le_bytes());
    put(offset_of!(Header, magic), MAGIC);
    put(offset_of!(Header, version), u64::from(VERSION) | u64::from(thread) << 32);
    put(offset_of!(Header, chunk_size), CHUNK_SIZE as u64);
    put(offset_of!(Header, ring_size), CHUNK_SIZE as u64);
    put(offset_of!(Header, cursor), cursor);
    put(offset_of!(Header, events), events);
    lane
}
