//! What is known of a run as a whole, and who took part in it.

use partune_analysis::Base;
use partune_base::{FileId, GroupId, MetricId, PeId, ProcessId, Span, StringId};
use partune_index::Index;
use partune_trace::{PeKind, Piece};

use super::Run;

/// How many took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// PEs of CPUs that recorded something: what is meant where PEs are counted.
    pub pes: usize,
    /// Processes with a PE of a CPU.
    pub processes: usize,
    /// Streams of devices that recorded something, and the devices that they are of.
    pub device_streams: usize,
    pub devices: usize,
}

/// Where a run comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance<'a> {
    /// The command that was recorded, as a shell takes it.
    pub command: Option<&'a str>,
    /// What recorded it, with a version.
    pub producer: Option<&'a str>,
    /// When its first event was, in nanoseconds since 1970.
    pub began: Option<u64>,
    /// Libraries of its paradigms with their versions, and compilers with their flags.
    pub libraries: Vec<&'a str>,
    pub compilers: Vec<&'a str>,
}

/// A stream of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pe<'a> {
    pub name: &'a str,
    pub kind: PeKind,
    pub process: ProcessId,
    /// Position in its process; 0 is the main thread.
    pub thread: u32,
    /// The device that it is a stream of.
    pub device: Option<u32>,
    /// Event records that it was read from.
    pub events: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process<'a> {
    pub name: &'a str,
    /// Position in the world (MPI rank, SHMEM PE), if it has one.
    pub rank: Option<u32>,
    /// The node that it ran on; empty if unknown.
    pub host: &'a str,
    /// Threads first, then streams of devices that it uses and sources of metrics.
    pub pes: &'a [PeId],
}

/// PEs that act together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    pub name: &'a str,
    pub paradigm: &'a str,
    /// Those that are known.
    pub members: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    /// A counter, and not a gauge.
    pub counts: bool,
}

/// What clocks say of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Messages and collectives that ran backwards in time as recorded, and by how much at most.
    pub violated: u64,
    pub worst: Span,
    /// Time stamps that were moved for it.
    pub moved: u64,
    /// False if times of different processes say nothing of each other.
    pub aligned: bool,
}

/// Messages that were put together, and halves that were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Matched {
    pub messages: usize,
    pub unmatched_sends: u64,
    pub unmatched_receives: u64,
}

impl Run {
    /// The piece of the run that all is of; none if it is the whole run.
    pub fn piece(&self) -> Option<Piece> {
        self.trace.piece()
    }

    /// What shares are shares of: the time between start-up and shut-down, summed over PEs.
    pub fn base(&self) -> Span {
        Span(Base::of(&self.trace).total())
    }

    /// Where the run comes from, as far as the recorder tells.
    pub fn provenance(&self) -> Provenance<'_> {
        let partune_trace::Provenance { producer, began, libraries, compilers, .. } = self.trace.provenance();
        let text = |id: &StringId| self.trace.strings().get(*id);
        Provenance {
            command: self.trace.command(),
            producer: producer.as_ref().map(text),
            began: *began,
            libraries: libraries.iter().map(text).collect(),
            compilers: compilers.iter().map(text).collect(),
        }
    }

    /// Event records.
    pub fn events(&self) -> u64 {
        self.trace.events()
    }

    /// Whether sums were recorded and no events: there are no visits then, and no waits.
    pub fn is_profile(&self) -> bool {
        self.trace.profile().is_some()
    }

    /// Operations that a profile sums up; zero where events were recorded.
    pub fn profiled_operations(&self) -> u64 {
        let rows = self.trace.profile().into_iter().flat_map(|profile| profile.pes.iter()).flat_map(|pe| &pe.rows);
        rows.filter(|row| self.is_operation(row.path)).map(|row| row.visits).sum()
    }

    pub fn counts(&self) -> Counts {
        Counts {
            pes: self.trace.cpu_pes().count(),
            processes: self.trace.cpu_processes().count(),
            device_streams: self.trace.device_pes().count(),
            devices: self.trace.devices(),
        }
    }

    /// All PEs, those too that recorded nothing.
    pub fn pes(&self) -> impl ExactSizeIterator<Item = PeId> + use<> {
        self.trace.pes().ids()
    }

    pub fn pe(&self, id: PeId) -> Option<Pe<'_>> {
        let pe = self.trace.pes().get(id)?;
        let (name, events) = (self.trace.strings().get(pe.name), self.trace.streams()[id].events);
        Some(Pe { name, kind: pe.kind, process: pe.process, thread: pe.thread, device: pe.device, events })
    }

    pub fn processes(&self) -> impl Iterator<Item = (ProcessId, Process<'_>)> {
        self.trace.processes().ids().filter_map(|id| Some((id, self.process(id)?)))
    }

    pub fn process(&self, id: ProcessId) -> Option<Process<'_>> {
        let (process, strings) = (self.trace.processes().get(id)?, self.trace.strings());
        let (name, host) = (strings.get(process.name), strings.get(process.node));
        Some(Process { name, rank: process.rank, host, pes: &process.pes })
    }

    /// What a string of the trace says; nothing for none.
    pub fn text(&self, id: StringId) -> &str {
        self.trace.strings().get(id)
    }

    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        self.trace.groups().ids().filter_map(|id| self.group(id))
    }

    pub fn group(&self, id: GroupId) -> Option<Group<'_>> {
        let (group, strings) = (self.trace.groups().get(id)?, self.trace.strings());
        let (name, paradigm) = (strings.get(group.name), strings.get(group.paradigm));
        Some(Group { name, paradigm, members: group.members.known() })
    }

    pub fn metrics(&self) -> impl Iterator<Item = Metric<'_>> {
        self.trace.metrics().ids().filter_map(|id| self.metric(id))
    }

    pub fn metric(&self, id: MetricId) -> Option<Metric<'_>> {
        let metric = self.trace.metrics().get(id)?;
        let text = |id| self.trace.strings().get(id);
        Some(Metric { name: text(metric.name), unit: text(metric.unit), counts: metric.values.counts() })
    }

    /// The path of a file that the program used, as the recorder tells it; none if it is not known.
    pub fn file(&self, id: FileId) -> Option<&str> {
        let file = self.trace.files().get(id)?;
        file.name.some().map(|name| self.trace.strings().get(name))
    }

    /// Names of the programming models whose constructs call paths of the run have, in order. What a producer marks as user code or as its
    /// own measurement is of none.
    pub fn paradigms(&self) -> Vec<&str> {
        let named = self.paths().filter_map(|path| self.region_at(path).paradigm);
        distinct(named.filter(|name| partune_paradigm::is_model(name)))
    }

    /// Names of the nodes that processes ran on, in order.
    pub fn hosts(&self) -> Vec<&str> {
        distinct(self.processes().map(|(_, process)| process.host))
    }

    pub fn clocks(&self) -> Clocks {
        let repair = &self.repair;
        Clocks {
            violated: repair.violated_messages + repair.violated_collectives,
            worst: repair.worst,
            moved: repair.moved_events,
            aligned: self.index.clocks.aligned,
        }
    }

    pub fn matched(&self) -> Matched {
        self.matched
    }
}

impl Matched {
    pub(crate) fn of(index: &Index) -> Matched {
        let messages = &index.messages;
        Matched {
            messages: messages.len(),
            unmatched_sends: messages.unmatched_sends,
            unmatched_receives: messages.unmatched_recvs,
        }
    }

    /// Adds those of the next slice of a run.
    pub(crate) fn add(&mut self, next: Matched) {
        self.messages += next.messages;
        self.unmatched_sends += next.unmatched_sends;
        self.unmatched_receives += next.unmatched_receives;
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
