//! Completes an archive after the run: parts of processes become event files, local definitions, global definitions and an anchor.
//!
//! Everything that can fail for want of understanding, or of room, is done before the first file is made. What is made depends on the parts
//! alone, which stay until the archive is whole and on the disk, see [`crate::archive`]: so whatever interrupts it, doing it again
//! gives the same archive, byte for byte.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use partune_base::{StringId, Strings};
use partune_diag::{Code, Diagnostic, Quality};
use partune_otf2::codec::definition::{ClockOffset, MappingTable};
use partune_otf2::codec::idmap::IdMapView;
use partune_otf2::codec::{Anchor, CodecError, DefinitionWriter, Mapping};
use partune_otf2::shallow::{self, Shallow};
use partune_otf2::write::{COMPILER, DEFINITION_CHUNK};
use partune_parts::clock::Reading;
use partune_parts::layout::{ANCHOR, CHUNK_SIZE, PARTS};
use partune_parts::log::{How, Step, Unit};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::archive::{self, Partial};
use crate::clock::{self, Kept};
use crate::contexts::{Contexts, Mapped};
use crate::definitions::Global;
use crate::lanes::{Lane, Stop};
use crate::lock::{self, Lock};
use crate::log::{Died, Node, ProcessLog, Sampled, Sync, Thread, World};
use crate::logs::{self, Logs};
use crate::meetings::Meetings;
use crate::places::{At, Places, file_name};
use crate::properties::{self, End};
use crate::scratch;
use crate::space::{self, Needed};
use crate::statistics::Counted;
use crate::unify::{Local, Unified};
use crate::worlds::Worlds;
use crate::{RecordError, charm, command, cut, deaths, newest, parts, program};

/// For how long processes of the command may outlive it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Nanoseconds of CPU time between two samples, unless said otherwise.
const USUAL_PERIOD: u64 = 4_000_000;

/// What was recorded.
#[derive(Debug, Default)]
pub struct Summary {
    /// The anchor file.
    pub archive: PathBuf,
    pub processes: usize,
    pub pes: usize,
    /// What the libraries of programming models say of themselves, first those of the first process; names of models and versions.
    pub libraries: Vec<(String, String)>,
    pub events: u64,
    /// Calls that were counted, if it is a profile: then there are no events.
    pub calls: Option<u64>,
    /// Whether no operation of the run was recorded, so that there is nothing to analyse.
    pub is_empty: bool,
    /// From the first event to the last, in seconds.
    pub seconds: f64,
    /// Size of the event files.
    pub bytes: u64,
    /// What is missing or odd.
    pub quality: Quality,
}

/// A process and what it left.
struct Process {
    log: ProcessLog,
    lanes: Vec<(Thread, Lane)>,
}

impl Process {
    /// What orders processes: jobs by when they began (a spawned one comes after its parent), then ranks; processes without a rank last.
    fn order(&self, begins: &FxHashMap<u64, u64>) -> impl Ord + use<'_> {
        let known = self.log.rank();
        let (world, rank) = known.unwrap_or_default();
        let begin = begins.get(&world).copied().unwrap_or(0);
        (known.is_none(), begin, world, rank, self.log.host.as_str(), self.log.pid)
    }

    /// What it died of, if it did.
    fn died(&self, clock: &Clock) -> Option<&Died> {
        let last = self.lanes.iter().filter_map(|(_, lane)| lane.times).map(|times| times.1).max();
        deaths::died(&self.log, last, clock.resolution)
    }

    /// The id of a thread's location: OTF2 wants numbers, people want rank and thread in them.
    fn location(position: usize, thread: u32) -> u64 {
        u64::from(thread) << 32 | position as u64
    }
}

/// Completes the archive in a folder that holds the parts of a run; none if it is complete already. Fails while somebody records into it, and
/// while parts are on other nodes.
pub fn complete(folder: &Path) -> Result<Option<Summary>, RecordError> {
    complete_free(folder, false)
}

/// The same without what is on other nodes.
pub fn complete_as_is(folder: &Path) -> Result<Option<Summary>, RecordError> {
    complete_free(folder, true)
}

fn complete_free(folder: &Path, as_is: bool) -> Result<Option<Summary>, RecordError> {
    let parts = folder.join(PARTS);
    let has_parts = parts.try_exists().map_err(RecordError::file(&parts))?;
    let is_published = archive::is_published(folder)?;
    if !has_parts && !is_published {
        return Err(RecordError::NoRecording { folder: folder.to_owned() });
    }
    if !has_parts {
        // A lock that could not be removed goes now, if nobody holds it.
        if folder.join(lock::NAME).exists() {
            let _ = Lock::take(folder);
        }
        return Ok(None);
    }
    let lock = Lock::take(folder).map_err(|error| match error {
        RecordError::File { error, .. } if is_full(&error) => {
            let logs = logs::ended(folder, Duration::ZERO);
            let processes = logs.and_then(|logs| read(folder, logs, &mut Quality::default()));
            no_room(folder, processes.and_then(|processes| at_least(folder, &processes)).unwrap_or_default())
        }
        error => error,
    })?;
    if archive::is_published(folder)? {
        archive::clean(folder)?;
        return Ok(None);
    }
    complete_held(folder, &lock, Duration::ZERO, as_is).map(Some)
}

/// Completes what a command has just left.
pub(crate) fn complete_launched(folder: &Path, lock: &Lock) -> Result<Summary, RecordError> {
    complete_held(folder, lock, PATIENCE, false)
}

fn complete_held(folder: &Path, _: &Lock, patience: Duration, as_is: bool) -> Result<Summary, RecordError> {
    if charm::is_there(&folder.join(PARTS)) {
        return charm::complete(folder, patience).map_err(|error| match error {
            RecordError::File { error, .. } if is_full(&error) => no_room(folder, Needed::default()),
            error => error,
        });
    }
    let mut needed = Needed::default();
    complete_parts(folder, patience, as_is, &mut needed).map_err(|error| match error {
        RecordError::Nothing { .. } | RecordError::Unwritten { .. } => {
            // There is nothing that could be completed later: the folder is free again.
            let _ = fs::remove_dir_all(folder.join(PARTS));
            error
        }
        RecordError::File { error, .. } if is_full(&error) => no_room(folder, needed),
        error => error,
    })
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn no_room(folder: &Path, Needed(needed): Needed) -> RecordError {
    RecordError::NoRoom { folder: folder.to_owned(), needed, free: space::free(folder).unwrap_or(0) }
}

/// Those of all processes.
fn lanes(processes: &[Process]) -> impl Iterator<Item = &Lane> {
    processes.iter().flat_map(|process| &process.lanes).map(|(_, lane)| lane)
}

/// The same, each with what is known of its process's clock, for those who change them.
fn synced(processes: &mut [Process]) -> impl Iterator<Item = (&[Sync], &mut Lane)> {
    processes.iter_mut().flat_map(|process| {
        let syncs = process.log.syncs.as_slice();
        process.lanes.iter_mut().map(move |(_, lane)| (syncs, lane))
    })
}

/// What event files alone need.
fn at_least(folder: &Path, processes: &[Process]) -> Result<Needed, RecordError> {
    let needed = lanes(processes).map(|lane| lane.needed(true)).collect::<io::Result<Vec<_>>>();
    Ok(needed.map_err(RecordError::file(folder))?.into_iter().sum())
}

/// `asked` becomes what the disk must have room for.
fn complete_parts(folder: &Path, patience: Duration, as_is: bool, asked: &mut Needed) -> Result<Summary, RecordError> {
    let mut summary = Summary { archive: folder.join(ANCHOR), ..Summary::default() };
    let logs = logs::ended(folder, patience)?;
    gather(folder, &logs, as_is, &mut summary.quality)?;
    let mut processes = read(folder, logs, &mut summary.quality)?;
    if processes.is_empty() {
        return Err(RecordError::Nothing { folder: folder.to_owned(), ended: None });
    }
    let parts = folder.join(PARTS);
    *asked = at_least(folder, &processes)?;
    let overwritten = newest::begin(synced(&mut processes)).map_err(RecordError::file(&parts))?;
    // Where one had no room for its newest events, those of the others are newer.
    let stopped = match overwritten {
        Some(_) => None,
        None => cut::cut(synced(&mut processes)).map_err(RecordError::file(&parts))?,
    };
    *asked = at_least(folder, &processes)?;
    let kept = clock::kept(&parts).map_err(RecordError::file(&parts))?;
    let begins = begins(&processes);
    processes.sort_by(|a, b| a.order(&begins).cmp(&b.order(&begins)));
    for known in processes.iter().flat_map(|process| &process.log.paradigms) {
        if !summary.libraries.contains(known) {
            summary.libraries.push(known.clone());
        }
    }
    let times = || lanes(&processes).filter_map(|lane| lane.times);
    let (begin, end) = (times().map(|it| it.0).min(), times().map(|it| it.1).max());
    // In a damaged part the last time may be before the first.
    let (begin, end) = begin.zip(end).map(|(begin, end)| (begin, end.max(begin))).unwrap_or_default();
    let clock = Clock::of(&processes, begin, kept, &mut summary.quality);
    describe_ends(&processes, &clock, &mut summary.quality);
    program::tell_of_coarrays(processes.iter().map(|process| &process.log), &mut summary.quality);

    let mut strings = Strings::default();
    let places = Places::resolve(addresses(&processes, &mut strings), &mut strings)?;
    let mut contexts = Contexts::default();
    let mut unified = Unified::default();
    let of_process = |(at, process): (usize, &'_ Process)| {
        let threads = process.lanes.iter().map(|(thread, _)| thread.number);
        let main = Process::location(at, threads.clone().next().unwrap_or(0));
        (main, threads.map(|number| (number, Process::location(at, number))).collect::<Vec<_>>())
    };
    let worlds = Worlds::of(processes.iter().enumerate().map(|(at, process)| {
        let (main, threads) = of_process((at, process));
        (&process.log, main, threads)
    }));
    let meetings = Meetings::of(processes.iter().map(|process| &process.log), &worlds);
    let mut mapped = Vec::new();
    for (position, process) in processes.iter().enumerate() {
        let local = unified.add(position, &process.log, (&worlds, &meetings), &mut strings);
        mapped.push((local, contexts.add(&process.log, &places, &mut strings)));
    }
    // Libraries of the system never have any, and nobody can change that.
    let is_system = |path: &&String| ["/lib", "/usr/lib"].iter().any(|folder| path.starts_with(folder));
    for module in places.bare.iter().filter(|path| !is_system(path)) {
        summary.quality.add(Diagnostic::info(
            Code::NoDebugData,
            format!("{module} has no debug data: its call paths have functions and no lines"),
            "compile with -g, which costs no speed",
        ));
    }

    describe_sampling(&processes, &clock, &mut summary.quality);
    let over = |log: &ProcessLog| {
        let ticks = if log.counts_nanoseconds { kept.reading.monotonic } else { kept.reading.ticks };
        (kept.is_end && kept.boot == log.boot).then_some(ticks)
    };
    let threads = || processes.iter().flat_map(|process| process.lanes.iter().map(move |(it, _)| (process, it.number)));
    let shallow: Vec<_> = threads().filter_map(|(it, thread)| made_shallow(it, thread, &clock, begin)).collect();
    shallow::note(&shallow, threads().count()).into_iter().for_each(|note| summary.quality.add(note));
    let end_of = |process: &Process| {
        let mut about =
            deaths::properties(&process.log, process.died(&clock), over(&process.log), &places, &mut strings);
        let compilers = places.compilers.get(&process.log.program).filter(|it| !it.is_empty());
        about.extend(compilers.map(|compilers| (COMPILER.to_owned(), compilers.clone())));
        let seen = process.lanes.iter().map(|(_, lane)| deaths::last_seen(&process.log, lane, &places, &mut strings));
        End { about, seen: seen.collect() }
    };
    let ends: Vec<End> = processes.iter().map(end_of).collect();
    summary.processes = processes.len();
    summary.pes = processes.iter().map(|process| process.lanes.len()).sum();
    summary.events = lanes(&processes).map(|lane| lane.events).fold(0, u64::saturating_add);
    summary.calls = lanes(&processes).filter_map(|lane| Some(lane.counted.as_ref()?.calls())).reduce(|a, b| a + b);
    summary.is_empty = processes.iter().all(|process| process.log.paths.is_empty());
    summary.seconds = (end - begin) as f64 / clock.resolution as f64;
    if let Some(overwritten) = overwritten {
        describe_newest(overwritten, summary.seconds, &mut summary.quality);
    }
    if let Some(why) = stopped {
        let lost = lanes(&processes).map(|lane| lane.lost).fold(0, u64::saturating_add);
        describe_stop(why, lost, summary.seconds, &mut summary.quality);
    }

    // Made twice, once to know how large it is, since those of all processes together may be more than fits into memory.
    let local = |position: usize| {
        let (local, mapped) = &mapped[position];
        written(|sink| local_definitions(sink, &processes[position], &clock, local, mapped, (begin, end)))
            .map_err(RecordError::codec(&summary.archive))
    };
    let counted = |position: usize, counted: &Counted| counted.in_archive(&mapped[position].1.contexts).write();
    let mut definitions = 0;
    let global = written(|sink| {
        let mut global = Global::new(sink, &strings)?;
        let known = (&unified, &worlds, &*ends, &*mapped);
        global_definitions(&mut global, &processes, &contexts, known, &clock, (begin, end))?;
        definitions = global.finish();
        Ok(())
    });
    let global = global.map_err(RecordError::codec(&summary.archive))?;
    let first = &processes[0].log;
    let anchor = Anchor {
        event_chunk_size: CHUNK_SIZE as u64,
        definition_chunk_size: DEFINITION_CHUNK,
        locations: summary.pes as u64,
        global_definitions: definitions,
        machine: first.host.clone(),
        creator: concat!("partune ", env!("CARGO_PKG_VERSION")).to_owned(),
        description: std::iter::once(&first.program)
            .chain(&first.arguments)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" "),
        properties: command::property(&parts)?.into_iter().collect(),
        trace_id: first.readings.first().map_or(0, |reading| reading.wall),
        ..Anchor::default()
    };
    let anchor = anchor.write();

    let partial = Partial::begin(folder)?;
    let can_link = can_link(&partial, &processes)?;
    let of_process = |(position, process): (usize, &Process)| -> Result<u64, RecordError> {
        let local = Needed::file(local(position)?.len() as u64);
        let lane = |lane: &Lane| {
            let statistics = lane.counted.as_ref().map_or(0, |it| counted(position, it).len() as u64);
            Ok([local, Needed::file(statistics), lane.needed(can_link)?].into_iter().sum::<Needed>())
        };
        let lanes = process.lanes.iter().map(|(_, it)| lane(it)).collect::<io::Result<Vec<_>>>();
        Ok(lanes.map_err(RecordError::file(&parts))?.into_iter().sum::<Needed>().0)
    };
    let of_processes: Vec<u64> = processes.par_iter().enumerate().map(of_process).collect::<Result<_, _>>()?;
    let files = [global.len(), anchor.len()].map(|bytes| Needed::file(bytes as u64));
    *asked = of_processes.into_iter().map(Needed).chain(files).sum();
    if space::free(folder).map_err(RecordError::file(folder))? < asked.0 {
        return Err(no_room(folder, *asked));
    }

    let write = |(position, process): (usize, &Process)| -> Result<u64, RecordError> {
        let mut bytes = 0;
        let local = local(position)?;
        for (thread, lane) in &process.lanes {
            let id = Process::location(position, thread.number);
            let path = partial.of_location(id, "evt");
            lane.complete(&path).map_err(RecordError::file(&path))?;
            bytes += lane.bytes();
            if let Some(it) = &lane.counted {
                let file = counted(position, it);
                create(&partial.of_location(id, "stat"), &file)?;
                bytes += file.len() as u64;
            }
            create(&partial.of_location(id, "def"), &local)?;
        }
        Ok(bytes)
    };
    let sizes: Vec<u64> = processes.par_iter().enumerate().map(write).collect::<Result<_, _>>()?;
    summary.bytes = sizes.iter().sum();
    create(&partial.definitions(), &global)?;
    create(&partial.anchor(), &anchor)?;
    partial.publish()?;
    archive::clean(folder)?;
    Ok(summary)
}

/// Whether parts can have a second name in the archive.
fn can_link(partial: &Partial, processes: &[Process]) -> Result<bool, RecordError> {
    let Some(part) = lanes(processes).find_map(Lane::flushed) else {
        return Ok(true);
    };
    let probe = partial.anchor();
    let can = parts::link(part, &probe).map_err(RecordError::file(&probe))?;
    if can {
        fs::remove_file(&probe).map_err(RecordError::file(&probe))?;
    }
    Ok(can)
}

/// A file that is not there yet.
fn create(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    File::create_new(path).and_then(|mut file| file.write_all(bytes)).map_err(RecordError::file(path))
}

/// Brings the parts from the disk of this node; those of others are refused, or said and left out.
fn gather(folder: &Path, logs: &Logs, as_is: bool, quality: &mut Quality) -> Result<(), RecordError> {
    let (_, Some(elsewhere)) = scratch::bring(folder, logs)? else { return Ok(()) };
    if !as_is {
        return Err(RecordError::Scattered { folder: folder.to_owned(), elsewhere });
    }
    quality.add(Diagnostic::data_loss(
        Code::MissingProcesses,
        format!("{} files of events were left on {} other nodes", elsewhere.files(), elsewhere.nodes.len()),
        "gather them before the archive is completed",
    ));
    Ok(())
}

/// Reads the parts. What belongs to no readable log is said and left out.
fn read(folder: &Path, logs: Logs, quality: &mut Quality) -> Result<Vec<Process>, RecordError> {
    let Logs { all: logs, missing: unreadable } = logs;
    if unreadable > 0 {
        quality.add(Diagnostic::data_loss(
            Code::MissingProcesses,
            format!("what {unreadable} processes recorded is missing: they could not write what their events mean"),
            "free some space, and record again",
        ));
    }
    let read: Vec<_> = logs.into_par_iter().map(|(path, log)| process(&path, log)).collect::<Result<_, _>>()?;
    let is_empty = |process: &Process| process.log.rank().is_none() && process.lanes.is_empty();
    let processes: Vec<Process> = read.into_iter().filter(|process| !is_empty(process)).collect();
    if processes.is_empty() && unreadable > 0 {
        return Err(RecordError::Unwritten { folder: folder.to_owned(), processes: unreadable });
    }
    let damaged = |process: &&Process| process.log.damaged > 0;
    for process in processes.iter().filter(damaged) {
        let ProcessLog { damaged, pid, host, .. } = &process.log;
        quality.add(Diagnostic::data_loss(
            Code::DamagedFile,
            format!("{damaged} lines of the log of process {pid} on {host} could not be understood"),
            "this is a fault of partune: please report it",
        ));
    }
    Ok(processes)
}

fn process(path: &Path, log: ProcessLog) -> Result<Process, RecordError> {
    let stem = path.with_extension("");
    let read = if log.is_profile { Lane::read_counted } else { Lane::read };
    let lane = |thread: &Thread| Ok((thread.clone(), read(&stem, thread.number)?));
    let lanes = log.threads.iter().map(lane).collect::<io::Result<_>>().map_err(RecordError::file(path))?;
    Ok(Process { log, lanes })
}

/// Every address that call paths name.
fn addresses(processes: &[Process], strings: &mut Strings) -> Vec<(StringId, At)> {
    let mut all = Vec::new();
    for process in processes {
        let modules: Vec<StringId> = process.log.modules.iter().map(|path| strings.intern(path)).collect();
        let module = |number: Option<u32>| modules.get(number? as usize).copied();
        all.extend(process.log.paths.iter().filter_map(|node| {
            let (number, at) = At::of(node.step)?;
            Some((module(number)?, at))
        }));
        all.extend(deaths::addresses(&process.log, process.lanes.iter().map(|(_, lane)| lane), strings));
        // The paths of one program are mostly the same.
        if all.len() > 1 << 16 {
            all.sort_unstable();
            all.dedup();
        }
    }
    all
}

/// When the first process of each world began, in nanoseconds since 1970.
fn begins(processes: &[Process]) -> FxHashMap<u64, u64> {
    let mut begins = FxHashMap::default();
    for process in processes {
        if let (Some((world, _)), Some(reading)) = (process.log.rank(), process.log.readings.first()) {
            let begin = begins.entry(world).or_insert(reading.wall);
            *begin = reading.wall.min(*begin);
        }
    }
    begins
}

/// Says how processes ended, where it was not as it should be, and what they noted.
fn describe_ends(processes: &[Process], clock: &Clock, quality: &mut Quality) {
    let mut killed = 0;
    for process in processes {
        match process.log.end.filter(|_| process.died(clock).is_none()) {
            None => killed += 1,
            Some(How::Abort) => quality.add(Diagnostic::info(
                Code::EndedEarly,
                "the program called abort".to_owned(),
                "what it did until then was recorded",
            )),
            Some(How::Finalize | How::Exit) => {}
        }
        for note in &process.log.notes {
            quality.add(Diagnostic::info(Code::RecorderNote, note.clone(), ""));
        }
        if process.lanes.iter().any(|(_, lane)| lane.is_broken) {
            quality.add(Diagnostic::data_loss(
                Code::UnreadFile,
                format!("the last events of process {} on {} cannot be read", process.log.pid, process.log.host),
                "on a network file system a killed process keeps only what it had flushed: record to a local folder",
            ));
        }
        let uncounted: u64 = process
            .lanes
            .iter()
            .filter_map(|(_, lane)| lane.counted.as_ref())
            .map(|counted| counted.lost)
            .fold(0, u64::saturating_add);
        if process.lanes.iter().any(|(_, lane)| lane.counted.as_ref().is_some_and(|counted| counted.has_left)) {
            quality.add(Diagnostic::data_loss(
                Code::LostCalls,
                "the disk was full, and a process was killed before it could store what it counted from then on"
                    .to_owned(),
                "free some space; what was counted before is exact",
            ));
        }
        if uncounted > 0 {
            quality.add(Diagnostic::data_loss(
                Code::LostCalls,
                format!("{uncounted} calls of a process were not counted: the disk was full"),
                "free some space; what was counted is exact",
            ));
        }
    }
    if killed > 0 {
        quality.add(Diagnostic::info(
            Code::EndedEarly,
            format!("{killed} of {} processes ended without finishing (killed, crashed or aborted)", processes.len()),
            "what they did until then was recorded",
        ));
    }
}

/// Says that, when and why the recording stopped before the program did.
fn describe_stop(why: Stop, lost: u64, seconds: f64, quality: &mut Quality) {
    let (why, remedy) = match why {
        Stop::Disk => ("the disk had no more room for it", "free some space, or set --max-size"),
        Stop::Size => ("it was as large as --max-size lets it be", "record with a larger --max-size"),
    };
    quality.add(Diagnostic::data_loss(
        Code::LostEvents,
        format!(
            "{lost} events are lost: the recording stopped after {seconds:.3} s, since {why}; the archive ends there on all PEs"
        ),
        format!("{remedy}, or record with --profile"),
    ));
}

/// Says that, when and why the recording begins later than the program did.
fn describe_newest(overwritten: u64, seconds: f64, quality: &mut Quality) {
    quality.add(Diagnostic::data_loss(
        Code::LostEvents,
        format!("the newest events were kept, of the last {seconds:.3} s: {overwritten} older ones are not there; the archive begins there on all PEs"),
        "record with a larger --max-size, or with --profile",
    ));
}

/// Says what was missed by samples, and what they cost, where that is more than it should be.
fn describe_sampling(processes: &[Process], clock: &Clock, quality: &mut Quality) {
    const DEAR: f64 = 0.01;
    let sampled = || processes.iter().filter_map(|process| process.log.sampled);
    let missed = sampled().map(|it| it.missed).fold(0, u64::saturating_add);
    if missed > 0 {
        quality.add(Diagnostic::data_loss(
            Code::LostSamples,
            format!(
                "{missed} samples were lost: there was no room for them between two calls that were very far apart"
            ),
            "record with a lower --sample",
        ));
    }
    let spent = sampled().map(|it| it.spent as f64).sum::<f64>() / clock.resolution as f64;
    let time = sampled().map(|it| it.cpu_time as f64).sum::<f64>() / 1e9;
    if spent > DEAR * time {
        quality.add(Diagnostic::info(
            Code::RecordingCost,
            format!("samples took {:.1} % of the CPU time of the program", 100.0 * spent / time),
            "record with a lower --sample, or --sample off",
        ));
    }
}

/// How deep the call paths of a thread are, if they got shallower.
fn made_shallow(process: &Process, thread: u32, clock: &Clock, begin: u64) -> Option<Shallow> {
    let crate::log::Shallow { frames, share, ticks } = *process.log.shallow.get(&thread)?;
    let since = u128::from(ticks.saturating_sub(begin)) * 1_000_000_000 / u128::from(clock.resolution);
    Some(Shallow { frames, since: since as u64, share })
}

/// How ticks become time.
struct Clock {
    /// Ticks per second.
    resolution: u64,
    /// Nanoseconds since 1970 at the first event.
    wall: u64,
    /// Whether all processes read the same clock.
    is_shared: bool,
}

impl Clock {
    fn of(processes: &[Process], begin: u64, kept: Kept, quality: &mut Quality) -> Clock {
        // The longest time between two readings of one process of the first machine gives the best rate.
        let boot = processes[0].log.boot;
        let of_boot = || processes.iter().map(|process| &process.log).filter(|log| log.boot == boot);
        let spans = of_boot().filter_map(|log| span(*log.readings.first()?, *log.readings.last()?));
        // The clock of processes that were killed was read once; then when the command had ended.
        let until_end = || of_boot().filter_map(|log| span(*log.readings.first()?, kept.reading));
        let rate = spans.max().or_else(|| until_end().max().filter(|_| kept.boot == boot));
        if rate.is_none() && !processes[0].log.counts_nanoseconds {
            quality.add(Diagnostic::data_loss(
                Code::ClockRateUnknown,
                "the clock's rate is not known, since all processes were killed on another machine than this"
                    .to_owned(),
                "times are right among each other, and their unit is a guess",
            ));
        }
        let of_span = |(time, ticks): (u64, u64)| (ticks as f64 * 1e9 / time as f64).round() as u64;
        let resolution = rate.map_or(1_000_000_000, of_span);
        let resolution = resolution.max(1);
        let wall = processes[0].log.readings.first().map_or(0, |reading| {
            let ahead = (begin as f64 - reading.ticks as f64) / resolution as f64 * 1e9;
            (reading.wall as f64 + ahead) as u64
        });
        Clock { resolution, wall, is_shared: processes.iter().all(|process| process.log.boot == boot) }
    }
}

/// Nanoseconds and ticks between two readings of one clock.
fn span(first: Reading, last: Reading) -> Option<(u64, u64)> {
    let (ticks, time) = (last.ticks.checked_sub(first.ticks)?, last.monotonic.checked_sub(first.monotonic)?);
    (time > 0).then_some((time, ticks))
}

fn local_definitions<S: FnMut(&[u8])>(
    sink: S,
    process: &Process,
    clock: &Clock,
    local: &Local,
    mapped: &Mapped,
    (begin, end): (u64, u64),
) -> Result<(), CodecError> {
    let mut writer = DefinitionWriter::new(DEFINITION_CHUNK, sink)?;
    let mut map = |mapping: Mapping, ids: &[u64]| {
        if ids.is_empty() || ids.iter().zip(0..).all(|(id, at)| *id == at) {
            return Ok(());
        }
        writer.write(MappingTable { mapping_type: mapping as u8, id_map: IdMapView::Dense(ids) })
    };
    let wide = |ids: &[u32]| ids.iter().map(|id| u64::from(*id)).collect::<Vec<_>>();
    map(Mapping::Region, &wide(&mapped.regions))?;
    map(Mapping::Group, &local.groups)?;
    map(Mapping::Metric, &local.metrics)?;
    map(Mapping::Comm, &local.comms)?;
    map(Mapping::RmaWin, &local.windows)?;
    map(Mapping::CallingContext, &wide(&mapped.contexts))?;
    map(Mapping::IoHandle, &local.handles)?;
    let mut offset = |time, offset, standard_deviation| writer.write(ClockOffset { time, offset, standard_deviation });
    for sync in &process.log.syncs {
        offset(sync.ticks, sync.offset, sync.deviation)?;
    }
    if clock.is_shared && process.log.syncs.is_empty() {
        // Known to be equal, which is not the same as unknown.
        offset(begin, 0, 0.0)?;
        offset(end, 0, 0.0)?;
    }
    writer.finish();
    Ok(())
}

fn global_definitions<S: FnMut(&[u8])>(
    global: &mut Global<'_, S>,
    processes: &[Process],
    contexts: &Contexts,
    (unified, worlds, ends, locals): (&Unified, &Worlds, &[End], &[(Local, Mapped)]),
    clock: &Clock,
    (begin, end): (u64, u64),
) -> Result<(), CodecError> {
    global.to.clock(clock.resolution, begin, end - begin + 1, Some(clock.wall))?;
    let mut paradigms: Vec<&str> =
        processes.iter().flat_map(|process| &process.log.paradigms).map(|(name, _)| name.as_str()).collect();
    paradigms.sort_unstable();
    paradigms.dedup();
    global.paradigms(paradigms.into_iter())?;
    let mut hosts: Vec<&str> = processes.iter().map(|process| process.log.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    global.to.machine("Machine")?;
    for (host, id) in hosts.iter().zip(1..) {
        global.to.node(id, host)?;
    }
    let jobs = begins(processes).len();
    for (process, position) in processes.iter().zip(0..) {
        let log = &process.log;
        let host = hosts.binary_search(&log.host.as_str()).unwrap_or_default() as u32;
        let first = log.worlds.iter().flatten().find(|world| world.of == Unit::Process);
        let program = if jobs > 1 { format!("{}: ", file_name(&log.program)) } else { String::new() };
        let rank = |world: &World| format!("{program}{} Rank {}", world.paradigm, world.rank);
        let name = first.map_or_else(|| format!("Process {}", log.pid), rank);
        global.process(position, &name, host + 1, &properties::of_process(log, &ends[position as usize]))?;
    }
    for (process, position) in processes.iter().zip(0..) {
        let location = |tid: u64| {
            let mut threads = process.lanes.iter().filter(|(_, lane)| tid != 0 && lane.tid == tid);
            threads.next().map(|(thread, _)| Process::location(position as usize, thread.number))
        };
        for ((thread, lane), seen) in process.lanes.iter().zip(&ends[position as usize].seen) {
            let name =
                if thread.number == 0 { "Master thread".to_owned() } else { format!("Thread {}", thread.number) };
            let id = Process::location(position as usize, thread.number);
            let (ran, local) = (process.log.ran.get(&thread.number), &locals[position as usize].0);
            let shallow = made_shallow(process, thread.number, clock, begin).map(|it| it.to_string());
            let about = properties::of_thread(lane, ran, local, location, seen.as_ref(), shallow.as_deref());
            global.location(id, &name, position, lane.events, &about)?;
        }
    }
    global.code(contexts)?;
    global.communication(unified, worlds)?;
    global.sampling(sample_period(processes))?;
    global.metrics(unified)
}

/// The CPU time between two samples, in nanoseconds; none if nothing was sampled. What was asked for is no more than a wish: a kernel looks at
/// the clocks of threads at its own ticks.
fn sample_period(processes: &[Process]) -> Option<u64> {
    // Logs may be damaged.
    let sum = |of: fn(Sampled) -> u64| {
        processes.iter().filter_map(|process| process.log.sampled).map(of).fold(0, u64::saturating_add)
    };
    let (ticks, time) = (sum(|it| it.ticks), sum(|it| it.cpu_time));
    let counted = || (ticks > 0).then(|| time / ticks);
    let is_sampled = |node: &Node| matches!(node.step, Step::Sample { .. });
    let has_samples = processes.iter().any(|process| process.log.paths.iter().any(is_sampled));
    // Processes that were killed did not count; then it is what is asked for where nothing else is.
    counted().or_else(|| has_samples.then_some(USUAL_PERIOD)).map(|period| period.max(1))
}

/// The bytes of a definition file.
fn written(write: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), CodecError>) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::new();
    write(&mut |chunk: &[u8]| bytes.extend_from_slice(chunk))?;
    Ok(bytes)
}
