//! Completes an archive after the run: parts of processes become event files, local definitions, global definitions and an anchor.
//!
//! Everything that can fail for want of understanding is done before the first file is moved. The anchor is written last: an archive that
//! has one is whole. The parts are removed then.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use partune_base::{StringId, Strings};
use partune_collect::layout::{CHUNK_SIZE, PARTS};
use partune_diag::{Diagnostic, Quality};
use partune_otf2::codec::definition::{ClockOffset, MappingTable};
use partune_otf2::codec::idmap::IdMapView;
use partune_otf2::codec::{Anchor, CodecError, DefinitionWriter, Mapping};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::RecordError;
use crate::contexts::{Contexts, Mapped};
use crate::definitions::Global;
use crate::lanes::Lane;
use crate::log::{NoLog, ProcessLog, Step, Thread};
use crate::places::{At, Places};
use crate::unify::{Local, Positions, Unified};

const DEFINITION_CHUNK: u64 = 4 << 20;
/// Name of the archive in its folder.
pub(crate) const NAME: &str = "traces";

/// What was recorded.
#[derive(Debug, Default)]
pub struct Summary {
    /// The anchor file.
    pub archive: PathBuf,
    pub processes: usize,
    pub pes: usize,
    pub events: u64,
    /// Calls that were counted, if it is a profile: then there are no events.
    pub calls: Option<u64>,
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
    /// What orders processes: jobs by when they began (a spawned one comes behind its parent), then ranks; processes without a rank last.
    fn order(&self, begins: &FxHashMap<u64, u64>) -> impl Ord + use<'_> {
        let (world, rank) = self.log.rank.map_or((0, 0), |rank| (rank.world, rank.rank));
        let begin = begins.get(&world).copied().unwrap_or(0);
        (self.log.rank.is_none(), begin, world, rank, self.log.host.as_str(), self.log.pid)
    }

    /// The id of a thread's location: OTF2 wants numbers, people want rank and thread in them.
    fn location(position: usize, thread: u32) -> u64 {
        u64::from(thread) << 32 | position as u64
    }
}

/// Completes the archive in a folder that holds the parts of a run.
pub fn complete(folder: &Path) -> Result<Summary, RecordError> {
    let mut summary = Summary { archive: folder.join(NAME).with_extension("otf2"), ..Summary::default() };
    let mut processes = read(&folder.join(PARTS), &mut summary.quality)?;
    if processes.is_empty() {
        return Err(RecordError::Nothing { folder: folder.to_owned() });
    }
    let begins = begins(&processes);
    processes.sort_by(|a, b| a.order(&begins).cmp(&b.order(&begins)));
    describe_ends(&processes, &mut summary.quality);

    let mut strings = Strings::default();
    let places = Places::resolve(addresses(&processes, &mut strings), &mut strings);
    let mut contexts = Contexts::default();
    let mut unified = Unified::default();
    let positions = positions(&processes);
    let mut mapped = Vec::new();
    for process in &processes {
        let world = process.log.rank.map_or(0, |rank| rank.world);
        let local = unified.add(&process.log, world, &positions, &mut strings);
        mapped.push((local, contexts.add(&process.log, &places, &mut strings)));
    }
    for module in &places.bare {
        summary.quality.add(Diagnostic::info(
            format!("{module} has no debug data: its call paths have functions and no lines"),
            "compile with -g, which costs no speed",
        ));
    }

    let begin =
        processes.iter().flat_map(|process| &process.lanes).filter_map(|(_, lane)| lane.times).map(|it| it.0).min();
    let end =
        processes.iter().flat_map(|process| &process.lanes).filter_map(|(_, lane)| lane.times).map(|it| it.1).max();
    let (begin, end) = begin.zip(end).unwrap_or_default();
    let clock = Clock::of(&processes, begin);
    summary.processes = processes.len();
    summary.pes = processes.iter().map(|process| process.lanes.len()).sum();
    summary.events = processes.iter().flat_map(|process| &process.lanes).map(|(_, lane)| lane.events).sum();
    summary.calls = processes
        .iter()
        .flat_map(|process| &process.lanes)
        .filter_map(|(_, lane)| Some(lane.counted.as_ref()?.calls()))
        .reduce(|a, b| a + b);
    summary.seconds = (end - begin) as f64 / clock.resolution as f64;

    let events = folder.join(NAME);
    fs::create_dir_all(&events).map_err(RecordError::file(&events))?;
    let write = |(position, process): (usize, &Process)| -> Result<u64, RecordError> {
        let (local, mapped) = &mapped[position];
        let mut bytes = 0;
        for (thread, lane) in &process.lanes {
            let id = Process::location(position, thread.number);
            let path = events.join(format!("{id}.evt"));
            lane.complete(&path).map_err(RecordError::file(&path))?;
            bytes += fs::metadata(&path).map_or(0, |about| about.len());
            if let Some(counted) = &lane.counted {
                let path = events.join(format!("{id}.stat"));
                let file = counted.in_archive(&mapped.contexts).write();
                fs::write(&path, &file).map_err(RecordError::file(&path))?;
                bytes += file.len() as u64;
            }
            let path = events.join(format!("{id}.def"));
            definitions(&path, |writer| local_definitions(writer, process, &clock, local, mapped, (begin, end)))?;
        }
        Ok(bytes)
    };
    let sizes: Vec<u64> = processes.par_iter().enumerate().map(write).collect::<Result<_, _>>()?;
    summary.bytes = sizes.iter().sum();

    let path = folder.join(NAME).with_extension("def");
    let mut written = 0;
    definitions(&path, |writer| {
        let mut global = Global::new(writer, &strings);
        global_definitions(&mut global, &processes, &contexts, &unified, &clock, (begin, end))?;
        written = global.finish();
        Ok(())
    })?;
    let first = &processes[0].log;
    let anchor = Anchor {
        event_chunk_size: CHUNK_SIZE as u64,
        definition_chunk_size: DEFINITION_CHUNK,
        locations: summary.pes as u64,
        global_definitions: written,
        machine: first.host.clone(),
        creator: concat!("partune ", env!("CARGO_PKG_VERSION")).to_owned(),
        description: std::iter::once(&first.program)
            .chain(&first.arguments)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" "),
        trace_id: first.readings.first().map_or(0, |reading| reading.wall),
        ..Anchor::default()
    };
    fs::write(&summary.archive, anchor.write()).map_err(RecordError::file(&summary.archive))?;
    let parts = folder.join(PARTS);
    fs::remove_dir_all(&parts).map_err(RecordError::file(&parts))?;
    Ok(summary)
}

/// Reads the parts. What belongs to no readable log is said and left out.
fn read(parts: &Path, quality: &mut Quality) -> Result<Vec<Process>, RecordError> {
    let entries = match fs::read_dir(parts) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RecordError::file(parts)(error)),
    };
    let mut logs: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "log"))
        .collect();
    logs.sort();
    let read: Vec<_> = logs.par_iter().map(|path| (path, process(path))).collect();
    let mut processes = Vec::new();
    for (path, result) in read {
        match result {
            Ok(Ok(process)) if process.log.rank.is_none() && process.lanes.is_empty() => {}
            Ok(Ok(process)) => {
                if process.log.damaged > 0 {
                    quality.add(Diagnostic::data_loss(
                        format!("{} lines of {} could not be understood", process.log.damaged, path.display()),
                        "this is a fault of partune: please report it",
                    ));
                }
                processes.push(process);
            }
            Ok(Err(NoLog::Empty)) => {}
            Ok(Err(NoLog::Version(version))) => {
                return Err(RecordError::Version { path: path.clone(), version });
            }
            Err(error) => return Err(RecordError::file(path)(error)),
        }
    }
    Ok(processes)
}

fn process(path: &Path) -> io::Result<Result<Process, NoLog>> {
    let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    let log = match ProcessLog::parse(&text) {
        Ok(log) => log,
        Err(reason) => return Ok(Err(reason)),
    };
    let stem = path.with_extension("");
    let read = if log.is_profile { Lane::read_counted } else { Lane::read };
    let lanes = log
        .threads
        .iter()
        .map(|thread| Ok((thread.clone(), read(&stem, thread.number)?)))
        .collect::<io::Result<_>>()?;
    Ok(Ok(Process { log, lanes }))
}

/// Every address that call paths name.
fn addresses(processes: &[Process], strings: &mut Strings) -> Vec<(StringId, At)> {
    let mut all = Vec::new();
    for process in processes {
        let modules: Vec<StringId> = process.log.modules.iter().map(|path| strings.intern(path)).collect();
        let module = |number: Option<u32>| modules.get(number? as usize).copied();
        all.extend(process.log.paths.iter().filter_map(|node| match node.step {
            Step::Frame(number, address) => Some((module(number)?, At::Call(address))),
            Step::Function(number, address) => Some((module(number)?, At::Begin(address))),
            Step::Region(_) => None,
        }));
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
        if let (Some(rank), Some(reading)) = (process.log.rank, process.log.readings.first()) {
            let begin = begins.entry(rank.world).or_insert(reading.wall);
            *begin = reading.wall.min(*begin);
        }
    }
    begins
}

/// Where each rank of each world stands among all processes.
fn positions(processes: &[Process]) -> Positions {
    let ranks = processes.iter().zip(0..).filter_map(|(process, at)| Some((process.log.rank?, at)));
    ranks.map(|(rank, at)| ((rank.world, rank.rank), at)).collect()
}

/// Says how processes ended, where it was not as it should be, and what they noted.
fn describe_ends(processes: &[Process], quality: &mut Quality) {
    let mut killed = 0;
    for process in processes {
        match process.log.end.as_deref() {
            None => killed += 1,
            Some("abort") => quality
                .add(Diagnostic::info("the program called abort".to_owned(), "what it did until then was recorded")),
            Some(_) => {}
        }
        for note in &process.log.notes {
            quality.add(Diagnostic::info(note.clone(), ""));
        }
        if process.lanes.iter().any(|(_, lane)| lane.is_broken) {
            quality.add(Diagnostic::data_loss(
                format!("the last events of process {} on {} cannot be read", process.log.pid, process.log.host),
                "on a network file system a killed process keeps only what it had flushed: record to a local folder",
            ));
        }
        let lost: u64 = process.lanes.iter().map(|(_, lane)| lane.lost).sum();
        let uncounted: u64 =
            process.lanes.iter().filter_map(|(_, lane)| lane.counted.as_ref()).map(|counted| counted.lost).sum();
        if process.lanes.iter().any(|(_, lane)| lane.counted.as_ref().is_some_and(|counted| counted.has_left)) {
            quality.add(Diagnostic::data_loss(
                "the disk was full, and a process was killed before it could store what it counted from then on"
                    .to_owned(),
                "free some space; what was counted before is exact",
            ));
        }
        if uncounted > 0 {
            quality.add(Diagnostic::data_loss(
                format!("{uncounted} calls of a process were not counted: the disk was full"),
                "free some space; what was counted is exact",
            ));
        }
        if lost > 0 {
            quality.add(Diagnostic::data_loss(
                format!("{lost} events of a process were lost: the disk was full"),
                "free some space, or record with --profile",
            ));
        }
    }
    if killed > 0 {
        quality.add(Diagnostic::info(
            format!("{killed} of {} processes ended without finishing (killed, crashed or aborted)", processes.len()),
            "what they did until then was recorded",
        ));
    }
}

/// How ticks become time.
struct Clock {
    /// Ticks a second.
    resolution: u64,
    /// Nanoseconds since 1970 at the first event.
    wall: u64,
    /// Whether all processes read the same clock.
    is_shared: bool,
}

impl Clock {
    fn of(processes: &[Process], begin: u64) -> Clock {
        // The longest time between two readings of one process of the first machine gives the best rate.
        let boot = processes[0].log.boot;
        let spans = processes.iter().filter(|process| process.log.boot == boot).filter_map(|process| {
            let (first, last) = (process.log.readings.first()?, process.log.readings.last()?);
            let (ticks, time) = (last.ticks.checked_sub(first.ticks)?, last.monotonic.checked_sub(first.monotonic)?);
            (time > 0).then_some((time, ticks))
        });
        let rate = spans.max().map(|(time, ticks)| ticks as f64 * 1e9 / time as f64);
        let now = || partune_collect::calibration();
        let resolution = rate.map_or_else(|| now_rate(&processes[0].log, now()), |rate| rate.round() as u64).max(1);
        let wall = processes[0].log.readings.first().map_or(0, |reading| {
            let ahead = (begin as f64 - reading.ticks as f64) / resolution as f64 * 1e9;
            (reading.wall as f64 + ahead) as u64
        });
        Clock { resolution, wall, is_shared: processes.iter().all(|process| process.log.boot == boot) }
    }
}

/// The rate of a clock that was read once in the program, on this machine, by reading it again now.
fn now_rate(log: &ProcessLog, now: partune_collect::Reading) -> u64 {
    let first = log.readings.first();
    let rate = first.and_then(|first| {
        let ticks = now.ticks.checked_sub(first.ticks)? as f64;
        let time = now.monotonic.checked_sub(first.monotonic).filter(|time| *time > 0)? as f64;
        Some((ticks * 1e9 / time) as u64)
    });
    rate.unwrap_or(1_000_000_000)
}

fn local_definitions<S: FnMut(&[u8])>(
    mut writer: DefinitionWriter<S>,
    process: &Process,
    clock: &Clock,
    local: &Local,
    mapped: &Mapped,
    (begin, end): (u64, u64),
) -> Result<(), CodecError> {
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
    map(Mapping::IoHandle, &local.files)?;
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
    unified: &Unified,
    clock: &Clock,
    (begin, end): (u64, u64),
) -> Result<(), CodecError> {
    global.clock(clock.resolution, begin, end - begin + 1, clock.wall)?;
    let mut paradigms: Vec<&str> =
        processes.iter().flat_map(|process| &process.log.paradigms).map(|(name, _)| name.as_str()).collect();
    paradigms.sort_unstable();
    paradigms.dedup();
    global.paradigms(paradigms.into_iter())?;
    let mut hosts: Vec<&str> = processes.iter().map(|process| process.log.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    global.machine("Machine", hosts.iter().copied())?;
    for (process, position) in processes.iter().zip(0..) {
        let log = &process.log;
        let host = hosts.binary_search(&log.host.as_str()).unwrap_or_default() as u32;
        let name = log.rank.map_or_else(|| format!("Process {}", log.pid), |rank| format!("MPI Rank {}", rank.rank));
        let versions: Vec<String> = log.paradigms.iter().map(|(name, version)| format!("{name}: {version}")).collect();
        let versions = versions.join("; ");
        let end = log.end.as_deref().unwrap_or("killed");
        let about = [("PARTUNE::LIBRARY", versions.as_str()), ("PARTUNE::END", end)];
        global.process(position, &name, host, &about)?;
    }
    for (process, position) in processes.iter().zip(0..) {
        for (thread, lane) in &process.lanes {
            let name =
                if thread.number == 0 { "Master thread".to_owned() } else { format!("Thread {}", thread.number) };
            let id = Process::location(position as usize, thread.number);
            global.location(id, &name, position, lane.events, lane.lost)?;
        }
    }
    global.code(contexts)?;
    let locations: Vec<u64> = processes
        .iter()
        .enumerate()
        .filter(|(_, process)| process.log.rank.is_some())
        .map(|(position, process)| {
            Process::location(position, process.lanes.first().map_or(0, |(thread, _)| thread.number))
        })
        .collect();
    global.communication(unified, &locations)?;
    global.metrics(unified)
}

type Chunks = Box<dyn FnMut(&[u8])>;

/// Writes a definition file.
fn definitions(
    path: &Path,
    write: impl FnOnce(DefinitionWriter<Chunks>) -> Result<(), CodecError>,
) -> Result<(), RecordError> {
    let failure = std::rc::Rc::new(std::cell::RefCell::new(None));
    let mut file = BufWriter::new(File::create(path).map_err(RecordError::file(path))?);
    let kept = std::rc::Rc::clone(&failure);
    let sink: Chunks = Box::new(move |bytes: &[u8]| {
        if let Err(error) = file.write_all(bytes).and_then(|()| file.flush()) {
            kept.borrow_mut().get_or_insert(error);
        }
    });
    let result = DefinitionWriter::new(DEFINITION_CHUNK, sink).and_then(write);
    result.map_err(|error| RecordError::Codec { path: path.to_owned(), error })?;
    match failure.borrow_mut().take() {
        Some(error) => Err(RecordError::file(path)(error)),
        None => Ok(()),
    }
}
