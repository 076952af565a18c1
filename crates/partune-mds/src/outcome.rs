//! What came of a walk: phases, data, what flows between PEs, and where the time goes.

use crate::order::Order;

/// Sizes of caches that misses are told for: 2⁰, 2¹, … lines.
pub const SIZES: usize = 28;

/// What references did; of elements as far as `reads` and `writes` go, else of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub reads: u64,
    pub writes: u64,
    /// Misses: a PE's first use of a line.
    pub cold: u64,
    /// Of a line that was there, but more others than the cache has lines were touched since.
    pub capacity: u64,
    /// Of a line that another PE wrote to since: what is used now, or something beside it.
    pub true_sharing: u64,
    pub false_sharing: u64,
    /// Of a line of which another PE wrote what is used now, but for the same thread.
    pub migrated: u64,
    /// Writes to a line that was there and that others may have too.
    pub upgrades: u64,
    /// Seconds of all misses and upgrades.
    pub latency_s: f64,
    /// Of these, of misses by their reason; of false sharing and of threads that moved with the upgrades that follow. Other upgrades are the rest.
    pub cold_s: f64,
    pub capacity_s: f64,
    pub true_sharing_s: f64,
    pub false_sharing_s: f64,
    pub migrated_s: f64,
}

impl Counts {
    pub fn misses(&self) -> u64 {
        self.cold + self.capacity + self.true_sharing + self.false_sharing + self.migrated
    }

    /// Seconds of upgrades that are neither for false sharing nor for threads that moved: the rest, of which rounding may leave less than nothing.
    pub fn upgrades_s(&self) -> f64 {
        let others = self.cold_s + self.capacity_s + self.true_sharing_s + self.false_sharing_s + self.migrated_s;
        let rest = self.latency_s - others;
        if rest > 1e-9 * self.latency_s { rest } else { 0.0 }
    }

    pub fn add(&mut self, other: &Counts) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.cold += other.cold;
        self.capacity += other.capacity;
        self.true_sharing += other.true_sharing;
        self.false_sharing += other.false_sharing;
        self.migrated += other.migrated;
        self.upgrades += other.upgrades;
        self.latency_s += other.latency_s;
        self.cold_s += other.cold_s;
        self.capacity_s += other.capacity_s;
        self.true_sharing_s += other.true_sharing_s;
        self.false_sharing_s += other.false_sharing_s;
        self.migrated_s += other.migrated_s;
    }

    /// What was added to an earlier state of the same.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            reads: self.reads - earlier.reads,
            writes: self.writes - earlier.writes,
            cold: self.cold - earlier.cold,
            capacity: self.capacity - earlier.capacity,
            true_sharing: self.true_sharing - earlier.true_sharing,
            false_sharing: self.false_sharing - earlier.false_sharing,
            migrated: self.migrated - earlier.migrated,
            upgrades: self.upgrades - earlier.upgrades,
            latency_s: self.latency_s - earlier.latency_s,
            cold_s: self.cold_s - earlier.cold_s,
            capacity_s: self.capacity_s - earlier.capacity_s,
            true_sharing_s: self.true_sharing_s - earlier.true_sharing_s,
            false_sharing_s: self.false_sharing_s - earlier.false_sharing_s,
            migrated_s: self.migrated_s - earlier.migrated_s,
        }
    }
}

/// A PE in a phase, over all turns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeRow {
    pub tasks: u64,
    /// Tasks of an index that another PE had the turn before.
    pub moved: u64,
    /// Seconds of weights.
    pub work_s: f64,
    /// Seconds until the others came, where they meet, and until events were posted.
    pub wait_s: f64,
    pub counts: Counts,
    /// The working set: different lines and bytes of a turn, of the one that has most.
    pub lines: u64,
    pub bytes: u64,
}

/// An array in a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct DataRow {
    pub name: String,
    pub counts: Counts,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRow {
    pub name: String,
    pub turns: u64,
    /// One for each PE.
    pub pes: Vec<PeRow>,
    /// Those that are touched.
    pub data: Vec<DataRow>,
    /// Misses of caches of 2⁰, 2¹, … lines, coherence and first uses included.
    pub misses: Vec<u64>,
}

impl PhaseRow {
    /// All PEs together.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.pes.iter().for_each(|pe| counts.add(&pe.counts));
        counts
    }
}

/// What one phase wrote and another one, or the same, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Positions in the list of phases.
    pub writer: usize,
    pub reader: usize,
    /// Bytes that were read; each time they are.
    pub bytes: u64,
    /// From PE, to another PE, bytes.
    pub pairs: Vec<(u32, u32, u64)>,
}

impl Flow {
    /// Bytes that another PE wrote.
    pub fn from_others(&self) -> u64 {
        self.pairs.iter().map(|pair| pair.2).sum()
    }
}

/// Where the time goes: all together are the run. Source: the hierarchy of bounds of Hung and Davidson.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Weights, evenly on all PEs; what only one PE may do as it is.
    pub ideal_s: f64,
    /// Gap C': latencies, likewise, without the next two.
    pub communication_s: f64,
    /// Of gap C', the first use of lines, caches that are too small, and what other PEs wrote; upgrades are the rest.
    pub first_use_s: f64,
    pub capacity_s: f64,
    pub true_sharing_s: f64,
    /// Latencies of false sharing, and of threads that moved: parts of gap X for who cannot see them.
    pub false_sharing_s: f64,
    pub migration_s: f64,
    /// Gap L: PEs have unequal parts.
    pub imbalance_s: f64,
    /// Gap M': other PEs have most in other phases.
    pub phases_s: f64,
    /// Gap D: other PEs have most in other turns.
    pub turns_s: f64,
    /// Gap S': barriers; and waits for events, of which a mean of all PEs.
    pub synchronisation_s: f64,
    pub events_s: f64,
}

/// What time of the run is for, as finely as the walk tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Work,
    FirstUse,
    Capacity,
    TrueSharing,
    Upgrades,
    FalseSharing,
    Migration,
    Imbalance,
    Phases,
    Turns,
    Barriers,
    Events,
}

impl Part {
    pub const ALL: [Part; 12] = [
        Part::Work,
        Part::FirstUse,
        Part::Capacity,
        Part::TrueSharing,
        Part::Upgrades,
        Part::FalseSharing,
        Part::Migration,
        Part::Imbalance,
        Part::Phases,
        Part::Turns,
        Part::Barriers,
        Part::Events,
    ];
}

impl Bounds {
    /// Seconds of a part; all of them add up to the run.
    pub fn part(&self, part: Part) -> f64 {
        match part {
            Part::Work => self.ideal_s,
            Part::FirstUse => self.first_use_s,
            Part::Capacity => self.capacity_s,
            Part::TrueSharing => self.true_sharing_s,
            // The rest, of which rounding may leave less than nothing.
            Part::Upgrades => {
                (self.communication_s - self.first_use_s - self.capacity_s - self.true_sharing_s).max(0.0)
            }
            Part::FalseSharing => self.false_sharing_s,
            Part::Migration => self.migration_s,
            Part::Imbalance => self.imbalance_s,
            Part::Phases => self.phases_s,
            Part::Turns => self.turns_s,
            Part::Barriers => self.synchronisation_s,
            Part::Events => self.events_s,
        }
    }

    /// The run: what all of them add up to.
    pub fn sum(&self) -> f64 {
        self.ideal_s
            + self.communication_s
            + self.false_sharing_s
            + self.migration_s
            + self.imbalance_s
            + self.phases_s
            + self.turns_s
            + self.synchronisation_s
            + self.events_s
    }
}

/// A size of caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub bytes: u64,
    /// Of all phases and PEs.
    pub misses: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub pes: usize,
    pub line: u64,
    /// Bytes that a PE keeps; none: all.
    pub cache: Option<u64>,
    pub run_s: f64,
    /// Barriers that all PEs came to.
    pub barriers: u64,
    /// Those that were entered, in the order of the text.
    pub phases: Vec<PhaseRow>,
    pub flow: Vec<Flow>,
    pub bounds: Bounds,
    /// Up to the size from which on larger ones miss no less.
    pub sizes: Vec<Size>,
    /// Where it was asked for.
    pub order: Option<Order>,
}

impl Outcome {
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.phases.iter().for_each(|phase| counts.add(&phase.counts()));
        counts
    }
}
