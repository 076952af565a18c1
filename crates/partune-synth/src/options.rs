//! What archive is wanted.

use crate::SynthError;

/// The programming model of the synthetic program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// Messages and collectives of MPI; with [`SynthOptions::threads`] above 1, OpenMP inside of each rank.
    #[default]
    Mpi,
    /// Puts, flags, locks and collectives of OpenSHMEM.
    Shmem,
}

/// What is made to go wrong. Each makes one PE (or all but one) compute longer before one call of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InjectionKind {
    /// The rank sends its ring message late: its right neighbour waits in `MPI_Recv`. Odd ranks send last; after an even one
    /// the neighbour sends late too, and so its own neighbour waits as well.
    LateSender,
    /// The rank receives its ring message late: its left neighbour waits in `MPI_Send`, if [`SynthOptions::ring_bytes`] exceed
    /// [`SynthOptions::eager_bytes`]. Even ranks receive last; after an odd one the wait goes on as above.
    LateReceiver,
    /// The rank is the root of broadcasts and comes late.
    LateBroadcast,
    /// The rank is the root of reductions and all others come late.
    EarlyReduce,
    /// The rank comes late to barriers.
    LateAtBarrier,
    /// The rank comes late to the reductions to all.
    LateAtNxn,
    /// The rank sets the flags of its neighbours late: they wait for the value (OpenSHMEM).
    LateSignal,
    /// The rank holds the lock this much longer; with [`Model::Mpi`] all threads of the rank hold their critical section longer.
    LockHold,
}

/// A pattern with a known answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    pub kind: InjectionKind,
    /// Who is late, or the root.
    pub rank: u32,
    pub delay_ns: u64,
    /// In how many of 100 executions of the call, spread evenly.
    pub percent: u32,
}

/// A location that has many more events than the others, in as much time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skew {
    pub rank: u32,
    /// Its part of all events, 0 to 0.9.
    pub share: f64,
}

/// How often the phases of the program run: once in so many iterations; 0 is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every {
    pub halo: u32,
    pub ring: u32,
    pub residual: u32,
    pub rooted: u32,
    pub barrier: u32,
}

/// The archive that is wanted. Take the default and change what matters.
///
/// ```
/// use partune_synth::{Skew, SynthOptions};
/// let options = SynthOptions { ranks: 64, events: 50_000_000, ..SynthOptions::default() };
/// let skewed = SynthOptions { skew: Some(Skew { rank: 3, share: 0.5 }), ..options };
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SynthOptions {
    pub model: Model,
    pub ranks: u32,
    /// Threads of each rank; above 1 the kernels run in an OpenMP parallel region. Only with [`Model::Mpi`].
    pub threads: u32,
    /// Event records wanted; met within the events of a few kernels.
    pub events: u64,
    /// The same seed and options give the same bytes.
    pub seed: u64,
    /// Mean duration of a kernel.
    pub kernel_ns: u64,
    /// Kernel pairs of each thread in an iteration.
    pub kernels: u32,
    /// Relative amplitude of the noise on computation.
    pub jitter: f64,
    /// The last rank computes `1 + gradient` times as long as the first.
    pub gradient: f64,
    /// Ranks that compute longer, and how many times as long.
    pub slow: Vec<(u32, f64)>,
    pub every: Every,
    pub halo_bytes: u64,
    pub ring_bytes: u64,
    /// Blocking messages above this wait for their receiver.
    pub eager_bytes: u64,
    pub latency_ns: u64,
    pub bytes_per_ns: f64,
    /// Clocks of ranks differ by up to this.
    pub clock_offset_ns: u64,
    /// And drift by up to this, in 1e-9.
    pub clock_drift_ppb: u64,
    /// A hardware counter is read at the begin and end of each kernel.
    pub metrics: bool,
    pub skew: Option<Skew>,
    pub inject: Vec<Injection>,
    /// Bytes of an event chunk; 0 chooses by the number of locations, each of which holds one chunk in memory.
    pub chunk_bytes: u64,
}

impl Default for SynthOptions {
    fn default() -> Self {
        Self {
            model: Model::Mpi,
            ranks: 16,
            threads: 1,
            events: 100_000,
            seed: 1,
            kernel_ns: 20_000,
            kernels: 4,
            jitter: 0.05,
            gradient: 0.0,
            slow: Vec::new(),
            every: Every { halo: 1, ring: 4, residual: 1, rooted: 8, barrier: 10 },
            halo_bytes: 8192,
            ring_bytes: 32_768,
            eager_bytes: 65_536,
            latency_ns: 1500,
            bytes_per_ns: 10.0,
            clock_offset_ns: 0,
            clock_drift_ppb: 0,
            metrics: false,
            skew: None,
            inject: Vec::new(),
            chunk_bytes: 0,
        }
    }
}

impl SynthOptions {
    /// Whether kernels run in parallel regions.
    pub(crate) fn hybrid(&self) -> bool {
        self.threads > 1
    }

    /// Number of locations.
    pub(crate) fn locations(&self) -> usize {
        self.ranks as usize * self.threads as usize
    }

    /// The root of rooted collectives: of the injection of that kind, else 0.
    pub(crate) fn root(&self, kind: InjectionKind) -> u32 {
        self.inject.iter().find(|injection| injection.kind == kind).map_or(0, |injection| injection.rank)
    }

    /// Refuses what cannot be written.
    pub(crate) fn check(&self) -> Result<(), SynthError> {
        let rules = [
            (self.ranks >= 1 && self.threads >= 1, "there must be at least one rank and thread"),
            (self.locations() <= 1 << 20, "there can be at most 2^20 locations"),
            (self.model == Model::Mpi || self.threads == 1, "threads are for MPI only"),
            (self.bytes_per_ns > 0.0 && self.bytes_per_ns.is_finite(), "the bandwidth must be positive"),
            ((0.0..1.0).contains(&self.jitter), "jitter must be in [0, 1)"),
            ((0.0..=100.0).contains(&self.gradient), "the gradient must be in [0, 100]"),
            (self.slow.iter().all(|(rank, _)| *rank < self.ranks), "a slow rank does not exist"),
            (
                self.slow.iter().all(|(_, by)| *by > 0.0 && by.is_finite()),
                "the factor of a slow rank is no positive number",
            ),
            (self.inject.iter().all(|it| it.rank < self.ranks), "an injection is for a rank that does not exist"),
            (self.inject.iter().all(|it| it.percent <= 100), "an injection is for more than 100 per cent"),
            (self.skew.is_none_or(|skew| skew.rank < self.ranks), "the skew is for a rank that does not exist"),
            (self.skew.is_none_or(|skew| (0.0..=0.9).contains(&skew.share)), "the skew must be in [0, 0.9]"),
            (self.clock_drift_ppb <= 1_000_000, "clocks cannot drift by more than 1e-3"),
            (self.clock_offset_ns <= 1_000_000_000_000, "clocks cannot differ by more than 1000 s"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(SynthError::Options(rule)),
            None => Ok(()),
        }
    }
}
