//! Who acts: PEs, the processes and groups they belong to, windows of memory, and what was measured on them.

use partune_base::{GroupId, PeId, ProcessId, StringId, Strings};

use crate::members::Members;

/// What kind of stream of execution a PE is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PeKind {
    /// A thread of a CPU.
    Cpu,
    /// A stream of an accelerator.
    Accelerator,
    /// Not a stream of execution: a source of metrics.
    Metric,
}

/// One stream of execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pe {
    pub name: StringId,
    pub kind: PeKind,
    pub process: ProcessId,
    /// Position in its process; 0 is the main thread.
    pub thread: u32,
    /// The device that it is a stream of: equal numbers are one device. None for what is not a stream of an accelerator.
    pub device: Option<u32>,
    /// The id in the archive.
    pub archive_id: u64,
}

/// An operating-system process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub name: StringId,
    /// Position in the world (MPI rank, SHMEM PE); `None` if it has none.
    pub rank: Option<u32>,
    /// The node it ran on; [`StringId::NONE`] if unknown.
    pub node: StringId,
    /// Its PEs, main thread first: threads, streams of devices that it uses, sources of metrics. None but streams if the
    /// archive does not tell which process uses a device.
    pub pes: Vec<PeId>,
}

/// What a group is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKind {
    /// All main PEs of a paradigm (`MPI_COMM_WORLD`).
    World,
    /// One PE (`MPI_COMM_SELF`).
    SelfOnly,
    /// A subset, or a duplicate.
    Communicator,
    /// The threads of a parallel region.
    Team,
    /// Two groups that talk to each other; members are those of the first, then those of the second.
    Inter,
}

/// A set of PEs that act together. Ranks of a paradigm are positions in `members`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub name: StringId,
    pub kind: GroupKind,
    pub paradigm: StringId,
    pub members: Members,
}

impl Group {
    /// As which member a PE acts: as itself, or, where it is no member, as the main PE of its process, for which any thread
    /// may act.
    pub fn member(&self, pe: PeId, main: PeId) -> PeId {
        if pe == main || self.members.contains(pe) { pe } else { main }
    }

    /// The position of rank 0 as a member calls others: ranks are those of the other side, where there are two.
    pub fn first_peer(&self, member: PeId) -> usize {
        let meets_second = self.kind == GroupKind::Inter && self.members.first_contains(member);
        if meets_second { self.members.split() } else { 0 }
    }
}

/// Memory that other PEs reach: an RMA window, a symmetric heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub name: StringId,
    pub group: GroupId,
}

/// A file that the program used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path, as the recorder tells it.
    pub name: StringId,
}

/// How values of a metric relate to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetricValues {
    /// Grows since the start (counter).
    Accumulated,
    /// Value at that moment.
    Point,
    /// Sum since the last sample.
    Last,
    /// Valid until the next sample.
    Next,
}

impl MetricValues {
    /// Whether it is a counter, whose values add up, and not a gauge.
    pub fn counts(self) -> bool {
        match self {
            MetricValues::Accumulated | MetricValues::Last => true,
            MetricValues::Point | MetricValues::Next => false,
        }
    }
}

/// A measured quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    pub name: StringId,
    pub unit: StringId,
    pub values: MetricValues,
    /// Multiply a value with this to get it in `unit`.
    pub scale: f64,
}

/// Counters of CPU time: what operating systems and recorders call them.
const CPU_TIMES: [&str; 9] =
    ["ru_utime", "ru_stime", "utime", "stime", "cpu_time", "cpu-time", "thread_cpu_time", "task-clock", "task_clock"];

impl Metric {
    /// Seconds of CPU time that a value stands for, if the metric counts that.
    pub fn cpu_seconds(&self, strings: &Strings) -> Option<f64> {
        let name = strings.get(self.name);
        let name = name.rsplit(':').next().unwrap_or(name).to_ascii_lowercase();
        let counts = self.values == MetricValues::Accumulated && CPU_TIMES.contains(&name.as_str());
        let unit = match strings.get(self.unit) {
            "s" | "sec" | "seconds" => 1.0,
            "ms" | "msec" => 1e-3,
            "us" | "usec" | "µs" => 1e-6,
            "ns" | "nsec" => 1e-9,
            _ => return None,
        };
        counts.then_some(self.scale * unit)
    }
}
