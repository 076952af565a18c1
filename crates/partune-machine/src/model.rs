//! What a description holds.

use serde::{Deserialize, Serialize};

/// The version of the file format that this crate writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// A machine, as one launch line uses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Version of the format: [`VERSION`].
    pub partune_machine: u32,
    pub provenance: Provenance,
    pub overheads: Overheads,
    pub rates: Rates,
    /// The caches of a core; none where they were not measured, as in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caches: Option<Caches>,
    /// What is to know about the numbers: measurements that the time did not suffice for, and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How messages travel between two PEs; empty if one PE was measured.
    #[serde(default, rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// What operations take without a bottleneck; empty if one PE was measured.
    #[serde(default, rename = "baseline", skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<Baseline>,
}

/// Where the numbers come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// When, in UTC: `2026-01-31T12:00:00Z`.
    pub date: String,
    /// Name of each host, in order of its first PE.
    pub hosts: Vec<String>,
    /// Processor of the first host.
    pub cpu: String,
    /// Processors of the first host.
    pub cores: u32,
    /// Operating system of the first host and its version.
    pub kernel: String,
    /// What the MPI library says of itself; none if it was measured without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpi: Option<String>,
    /// The words that started the PEs; empty if nothing did.
    pub launch: Vec<String>,
    /// PEs that were started.
    pub pes: u32,
    /// Version of partune that measured.
    pub partune: String,
    /// How long measuring took.
    pub took_s: f64,
}

/// What measuring itself costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overheads {
    /// Reading the clock.
    pub timer_s: f64,
    /// The smallest step of the clock that was seen.
    pub timer_step_s: f64,
    /// Recording one event: reading the clock and storing a record. What wraps a call comes on top.
    pub event_s: f64,
}

/// How fast it computes and streams memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Floating-point operations a second of one PE alone: independent multiply-adds in double precision, each two
    /// operations, in registers.
    pub flops_one: f64,
    /// The same of all PEs at once, in sum.
    pub flops_all: f64,
    /// Bytes a second to and from memory of one PE alone: a[i] = b[i] + s·c[i] on arrays that no cache holds, three
    /// accesses an element.
    pub memory_one: f64,
    /// The same of all PEs at once, in sum.
    pub memory_all: f64,
}

/// The caches of one core, and what lines cost it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// A cycle of the core: an addition that needs the one before.
    pub cycle_s: f64,
    /// From the core on, each larger than the one before, all with lines of one length.
    #[serde(rename = "level")]
    pub levels: Vec<Cache>,
    /// Lines that no cache has.
    pub memory: LineCost,
}

/// A cache, and what its lines cost: seconds for each, in a stream through memory that lies in this cache and in none before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    pub bytes: u64,
    /// Bytes of a line.
    pub line: u32,
    /// Places that a line may be at.
    pub ways: u32,
    /// That is only loaded from.
    pub load_s: f64,
    /// That is stored to: brought in, and given back.
    pub store_s: f64,
}

/// What a line costs, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineCost {
    /// That is only loaded from.
    pub load_s: f64,
    /// That is stored to: brought in, and given back.
    pub store_s: f64,
}

/// What lies between two PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The memory of a host.
    Node,
    /// A network.
    Network,
}

/// How messages travel: t(s) = `latency_s` + s / `bandwidth`, the LogGP model with o + L + o as one number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub scope: Scope,
    /// Time of an empty message, from the begin of the send to the end of the receive.
    pub latency_s: f64,
    /// Bytes a second of long messages (LogGP's 1/G).
    pub bandwidth: f64,
    /// Time that the sender is busy with a short message (LogGP's o).
    pub overhead_s: f64,
    /// How far the fit is from the worst point, relative to the point.
    pub fit_error: f64,
    /// What was measured: half of a round trip, by message size.
    pub points: Vec<Point>,
}

/// What operations of one kind take when nobody is late.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The construct that was measured, for people.
    pub operation: String,
    /// What it does, by the name that `partune analyze --json` gives the role.
    pub role: String,
    /// The programming model whose operations it is for, as analyses call it; none in files that know of no other than
    /// MPI, and then it is for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paradigm: Option<String>,
    /// PEs that took part.
    pub pes: u32,
    /// By bytes that a PE gave or got, whichever is more; ascending, at least one.
    pub points: Vec<Point>,
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    pub bytes: u64,
    /// Median over the samples of the slowest PE's time for one operation.
    pub median_s: f64,
    /// The least of the samples.
    pub minimum_s: f64,
    /// How many samples there were. A sample is a batch of operations and counts once.
    pub samples: u32,
}

impl Link {
    /// Seconds that a message of so many bytes takes by the fit.
    pub fn transfer(&self, bytes: u64) -> f64 {
        self.latency_s + bytes as f64 / self.bandwidth
    }
}

impl Machine {
    /// The link of this scope; if there is none, any other.
    pub fn link(&self, scope: Scope) -> Option<&Link> {
        self.links.iter().find(|link| link.scope == scope).or_else(|| self.links.first())
    }
}
