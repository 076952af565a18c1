//! The sealed trace and its builder.

use partune_base::{
    CallPathId, Clock, FileId, GroupId, MetricId, ObjectId, PeId, ProcessId, RegionId, Span, StringId, Strings, Table,
    Time, WindowId,
};
use partune_diag::Quality;

use crate::clock::MeasuredClock;
use crate::code::{CallPaths, Region};
use crate::cpus::{Cpus, Memory, Ran};
use crate::ending::Endings;
use crate::facts::{MetricSample, Stream};
use crate::objects::Object;
use crate::pes::{File, Group, Metric, Pe, PeKind, Process, Window};
use crate::profile::Profile;
use crate::stream::Visit;
use crate::{PauseKind, Role, VisitIx, seal};

/// Where a trace comes from, as far as its recorder tells.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// The command that was recorded, as a shell takes it.
    pub command: Option<StringId>,
    /// What recorded it, with a version.
    pub producer: Option<StringId>,
    /// When its first event was, in nanoseconds since 1970.
    pub began: Option<u64>,
    /// Libraries of its paradigms with their versions, and compilers with their flags; what processes have in common once.
    pub libraries: Vec<StringId>,
    pub compilers: Vec<StringId>,
}

/// A trace in the making: every table is open. A reader fills it and seals it.
#[derive(Clone, Debug, Default)]
pub struct TraceBuilder {
    /// Ticks per second; 0 is taken as nanoseconds.
    pub resolution: u64,
    pub strings: Strings,
    pub processes: Table<ProcessId, Process>,
    pub pes: Table<PeId, Pe>,
    pub groups: Table<GroupId, Group>,
    pub windows: Table<WindowId, Window>,
    pub regions: Table<RegionId, Region>,
    pub paths: CallPaths,
    pub metrics: Table<MetricId, Metric>,
    pub files: Table<FileId, File>,
    pub objects: Table<ObjectId, Object>,
    pub streams: Table<PeId, Stream>,
    pub provenance: Provenance,
    /// What was recorded instead of events; streams are empty then.
    pub profile: Option<Profile>,
    /// How the reader made times from the time stamps of each PE, if its recorder measured that; shorter is allowed.
    pub clocks: Table<PeId, MeasuredClock>,
    /// The processors of each process, where the recorder tells; shorter is allowed.
    pub cpus: Table<ProcessId, Option<Cpus>>,
    /// How each PE ran on them, likewise.
    pub ran: Table<PeId, Option<Ran>>,
    /// How much memory each process had, likewise.
    pub memory: Table<ProcessId, Option<Memory>>,
    /// How the run ended, where the recorder tells.
    pub endings: Endings,
    /// By how many samples time between operations was shared out among functions; none where these have events of their own, or nobody knows.
    pub shared_out_by: Option<u64>,
    /// The recorder left out calls of some functions, as its user wanted: what has no partner may have one that is not here.
    pub is_partial: bool,
    /// The run had begun before the first event, and went on until after the last one: the first of what belongs together may be missing on some PEs, and
    /// not on others.
    pub begins_late: bool,
    /// Which slice of the run it is, if it is one.
    pub slice: Option<Slice>,
    pub quality: Quality,
}

/// A run, complete and checked. Everything an analysis may know of the run is here.
///
/// Guarantees (made by [`TraceBuilder::seal`], whatever was built): every id in a row is a position in its table or none; one stream a PE;
/// visits are in order of their enters and nest; rows are in order of time; operations are found; texts have no control characters and are at
/// most 4 KiB long.
#[derive(Clone, Debug)]
pub struct Trace {
    pub(crate) built: TraceBuilder,
    pub(crate) begin: Time,
    pub(crate) end: Time,
    pub(crate) piece: Option<Piece>,
    pub(crate) summed: Option<Table<PeId, (Time, Time)>>,
}

/// What a trace holds of its run, where that is not all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub begin: Time,
    pub end: Time,
    /// First and last event of the whole run.
    pub run: (Time, Time),
}

/// A slice of a run: what all PEs did from where all processes had met to where they meet again, with the meeting at its end. Nothing goes across but
/// visits of functions, which have a part in each slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Its place among the slices of the run.
    pub number: usize,
    pub is_last: bool,
    /// The meeting where it begins: when the last PE came, and its call path on each main thread; none on other PEs. None at the begin of the run.
    pub met: Option<(Time, Table<PeId, CallPathId>)>,
    /// How many of the first visits of each PE began in an earlier slice.
    pub begun: Table<PeId, u32>,
    /// Visits of each PE that go on in the next slice, outermost first.
    pub open: Table<PeId, Vec<VisitIx>>,
    /// How many of the first samples of each PE are counters of CPU time as they stood where it begins: time goes on from them.
    pub stood: Table<PeId, u32>,
    /// Whether CPU time is counted on each PE, anywhere in the run.
    pub counts_cpu: Table<PeId, bool>,
    /// Ticks between operations of which it is not known whether functions around them went on, where these have no events.
    pub unknown: u64,
}

impl TraceBuilder {
    /// Checks and repairs the trace, finds its operations, and closes it. Linear in its rows; what had to be repaired is added
    /// to its diagnostics.
    pub fn seal(self) -> Trace {
        seal::seal(self)
    }

    /// The main PE of the process of a PE; the PE itself where none is known.
    pub fn main_of(&self, pe: PeId) -> PeId {
        let process =
            self.pes.get(pe).filter(|about| about.thread > 0).and_then(|about| self.processes.get(about.process));
        process.and_then(|process| process.pes.first().copied()).unwrap_or(pe)
    }
}

impl Trace {
    pub fn clock(&self) -> Clock {
        Clock::new(self.built.resolution)
    }

    /// The command that was recorded, as a shell takes it, if the recorder tells.
    pub fn command(&self) -> Option<&str> {
        self.built.provenance.command.map(|command| self.built.strings.get(command))
    }

    pub fn provenance(&self) -> &Provenance {
        &self.built.provenance
    }

    /// The same trace of another command, which who recorded it knows better.
    #[must_use]
    pub fn with_command(mut self, command: &str) -> Trace {
        self.built.provenance.command = Some(self.built.strings.intern(command));
        self.built.strings.make_printable(seal::NAME);
        self
    }

    /// Whether calls of some functions were left out by choice, so that what has no partner may have one that was not recorded.
    pub fn is_partial(&self) -> bool {
        self.built.is_partial
    }

    /// Whether the run had begun before the first event, so that what belongs together is counted from the end.
    pub fn begins_late(&self) -> bool {
        self.built.begins_late
    }

    /// Whether recording was switched off for a part of the run.
    pub fn was_off(&self) -> bool {
        self.built.streams.iter().any(|stream| stream.pauses.iter().any(|pause| pause.kind == PauseKind::Off))
    }

    /// Time of the first event.
    pub fn begin(&self) -> Time {
        self.begin
    }

    /// Time of the last event.
    pub fn end(&self) -> Time {
        self.end
    }

    /// The piece of the run that this is; `None` if it is all of it.
    pub fn piece(&self) -> Option<Piece> {
        self.piece
    }

    /// The slice of the run that this is; `None` if it is all of it, or a piece.
    pub fn slice(&self) -> Option<&Slice> {
        self.built.slice.as_ref()
    }

    /// The last PE came to the meeting where this slice begins at another time.
    #[must_use]
    pub fn with_meeting_at(mut self, came: Time) -> Trace {
        if let Some(met) = self.built.slice.as_mut().and_then(|slice| slice.met.as_mut()) {
            met.0 = came;
        }
        self
    }

    /// The measured interval of each PE, where this is a run of which slices were summed up: it has tables and no events.
    pub fn summed(&self) -> Option<&Table<PeId, (Time, Time)>> {
        self.summed.as_ref()
    }

    /// The run that slices were summed up of, from one of them: of each PE what is known without its events, and when it measured.
    #[must_use]
    pub fn into_summed(self, streams: Table<PeId, Stream>, windows: Table<PeId, (Time, Time)>) -> Trace {
        let mut built = self.built;
        built.slice = None;
        built.streams = streams;
        let (begin, end) = seal::extent(&built.streams);
        Trace { built, begin, end, piece: None, summed: Some(windows) }
    }

    /// Time of the first event of the run, also where this is a piece of it: moments are told since then.
    pub fn origin(&self) -> Time {
        self.piece.map_or(self.begin, |piece| piece.run.0)
    }

    /// By how many samples time between operations was shared out among functions, so that their times are estimates.
    pub fn shared_out_by(&self) -> Option<u64> {
        self.built.shared_out_by
    }

    /// From the first event to the last.
    pub fn duration(&self) -> Span {
        self.end.since(self.begin)
    }

    pub fn strings(&self) -> &Strings {
        &self.built.strings
    }

    pub fn processes(&self) -> &Table<ProcessId, Process> {
        &self.built.processes
    }

    pub fn pes(&self) -> &Table<PeId, Pe> {
        &self.built.pes
    }

    /// The main PE of the process of a PE; the PE itself where none is known.
    pub fn main_of(&self, pe: PeId) -> PeId {
        self.built.main_of(pe)
    }

    pub fn groups(&self) -> &Table<GroupId, Group> {
        &self.built.groups
    }

    pub fn windows(&self) -> &Table<WindowId, Window> {
        &self.built.windows
    }

    pub fn regions(&self) -> &Table<RegionId, Region> {
        &self.built.regions
    }

    pub fn paths(&self) -> &CallPaths {
        &self.built.paths
    }

    pub fn metrics(&self) -> &Table<MetricId, Metric> {
        &self.built.metrics
    }

    pub fn files(&self) -> &Table<FileId, File> {
        &self.built.files
    }

    pub fn objects(&self) -> &Table<ObjectId, Object> {
        &self.built.objects
    }

    pub fn streams(&self) -> &Table<PeId, Stream> {
        &self.built.streams
    }

    /// Samples of metrics that were taken on a PE, in order of time: without those that tell a slice how counters stood where it begins.
    pub fn samples(&self, pe: PeId) -> &[MetricSample] {
        let stood = self.slice().and_then(|slice| slice.stood.get(pe)).map_or(0, |stood| *stood as usize);
        self.built.streams[pe].metrics.get(stood..).unwrap_or_default()
    }

    /// What was recorded instead of events, if it is a profile that was read: the streams are empty then.
    pub fn profile(&self) -> Option<&Profile> {
        self.built.profile.as_ref()
    }

    /// The processors of a process; none if unknown.
    pub fn cpus(&self, process: ProcessId) -> Option<&Cpus> {
        self.built.cpus.get(process)?.as_ref()
    }

    /// How a PE ran on them; none if unknown, and of a piece of the run, since it is known of all of it only.
    pub fn ran(&self, pe: PeId) -> Option<Ran> {
        (*self.built.ran.get(pe)?).filter(|_| self.piece.is_none())
    }

    /// How much memory a process had; none if unknown, and of a piece of the run, as above.
    pub fn memory(&self, process: ProcessId) -> Option<Memory> {
        (*self.built.memory.get(process)?).filter(|_| self.piece.is_none())
    }

    /// How the run ended; of a piece of it nothing is told.
    pub fn endings(&self) -> Option<&Endings> {
        self.piece.is_none().then_some(&self.built.endings)
    }

    /// The corrections that the recorder measured for the clocks of PEs; they are in the times, until clock repair takes them back.
    pub fn clocks(&self) -> &Table<PeId, MeasuredClock> {
        &self.built.clocks
    }

    /// What was noticed while reading.
    pub fn quality(&self) -> &Quality {
        &self.built.quality
    }

    /// Number of event records it was read from.
    pub fn events(&self) -> u64 {
        self.built.streams.iter().map(|stream| stream.events).sum()
    }

    /// PEs that execute code (not metric sources) and have at least one visit, or one that a profile counts.
    pub fn active_pes(&self) -> impl Iterator<Item = PeId> + '_ {
        self.built
            .pes
            .iter_ids()
            .map(|(pe, _)| pe)
            .filter(|pe| self.built.pes[*pe].kind != PeKind::Metric && self.is_active(*pe))
    }

    /// Those of CPUs: what is meant where PEs are counted, and what shares of the PEs' time refer to.
    pub fn cpu_pes(&self) -> impl Iterator<Item = PeId> + '_ {
        self.active_pes().filter(|pe| self.built.pes[*pe].kind == PeKind::Cpu)
    }

    /// Streams of devices that recorded something.
    pub fn device_pes(&self) -> impl Iterator<Item = PeId> + '_ {
        self.active_pes().filter(|pe| self.built.pes[*pe].kind == PeKind::Accelerator)
    }

    /// Processes with a PE of a CPU: what is meant where processes are counted.
    pub fn cpu_processes(&self) -> impl Iterator<Item = &Process> + '_ {
        let is_cpu = |pe: &PeId| self.built.pes[*pe].kind == PeKind::Cpu;
        self.built.processes.iter().filter(move |process| process.pes.iter().any(is_cpu))
    }

    /// Devices with a stream that recorded something.
    pub fn devices(&self) -> usize {
        let mut devices: Vec<Option<u32>> = self.device_pes().map(|pe| self.built.pes[pe].device).collect();
        devices.sort_unstable();
        devices.dedup();
        devices.len()
    }

    fn is_active(&self, pe: PeId) -> bool {
        let counted = self.profile().and_then(|profile| profile.of(pe));
        let stream = &self.built.streams[pe];
        counted.is_some() || stream.present.is_some() || !stream.visits.is_empty()
    }

    /// A visit of a PE.
    pub fn visit(&self, pe: PeId, visit: VisitIx) -> Visit {
        self.built.streams[pe].visits.at(visit)
    }

    /// The region that a visit of a PE executes.
    pub fn region_of(&self, pe: PeId, visit: VisitIx) -> &Region {
        let path = self.built.streams[pe].visits.path[visit.index()];
        &self.built.regions[self.built.paths.region(path)]
    }

    /// The role of a visit of a PE.
    pub fn role_of(&self, pe: PeId, visit: VisitIx) -> Role {
        self.region_of(pe, visit).role
    }

    /// Takes the measured corrections out of all times (or puts them in again); used by clock repair. They must keep order.
    #[must_use]
    pub fn with_measured_clocks(mut self, corrected: bool) -> Trace {
        let clocks = std::mem::take(&mut self.built.clocks);
        let mut trace = self.retime(|streams| {
            streams.iter_mut().zip(&clocks).filter(|(_, clock)| !clock.is_identity()).for_each(|(stream, clock)| {
                stream.map_times(|time| if corrected { clock.time(time) } else { clock.stamp(time) });
            });
        });
        trace.built.clocks = clocks;
        trace
    }

    /// Replaces times; used by clock repair. Order within a PE must not change.
    #[must_use]
    pub fn retime(mut self, retime: impl FnOnce(&mut Table<PeId, Stream>)) -> Trace {
        retime(&mut self.built.streams);
        let (begin, end) = seal::extent(&self.built.streams);
        self.begin = begin;
        self.end = end;
        self
    }

    /// Leaves a piece of the run; used by the index, which knows what belongs together. Rows and times of all streams have to be in it.
    #[must_use]
    pub fn cut(self, (begin, end): (Time, Time), cut: impl FnOnce(&mut Table<PeId, Stream>)) -> Trace {
        let run = self.piece.map_or((self.begin, self.end), |piece| piece.run);
        let mut trace = self.retime(cut);
        (trace.begin, trace.end) = (begin, end);
        trace.piece = Some(Piece { begin, end, run });
        trace
    }

    /// The tables that it was sealed from, to be changed and sealed again. It must not be a piece of a run.
    pub fn open(self) -> TraceBuilder {
        self.built
    }

    /// Adds what was noticed later.
    pub fn add_quality(&mut self, quality: Quality) {
        self.built.quality.merge(quality);
    }
}
