//! What came of a walk: phases, data, what flows between PEs, and where the time goes.

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
    /// Seconds of all misses and upgrades; of those by false sharing and by threads that moved, with the upgrades that follow these.
    pub latency_s: f64,
    pub false_sharing_s: f64,
    pub migrated_s: f64,
}

impl Counts {
    pub fn misses(&self) -> u64 {
        self.cold + self.capacity + self.true_sharing + self.false_sharing + self.migrated
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
        self.false_sharing_s += other.false_sharing_s;
        self.migrated_s += other.migrated_s;
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
    /// Seconds until the others came, where they meet.
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
    /// Latencies of false sharing, and of threads that moved: parts of gap X for who cannot see them.
    pub false_sharing_s: f64,
    pub migration_s: f64,
    /// Gap L: PEs have unequal parts.
    pub imbalance_s: f64,
    /// Gap M': other PEs have most in other phases.
    pub phases_s: f64,
    /// Gap D: other PEs have most in other turns.
    pub turns_s: f64,
    /// Gap S': barriers.
    pub synchronisation_s: f64,
}

impl Bounds {
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
}

impl Outcome {
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.phases.iter().for_each(|phase| counts.add(&phase.counts()));
        counts
    }
}
