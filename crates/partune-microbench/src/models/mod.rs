//! The programming models that are measured, one file each. [`MODELS`] is the only list of them.

mod caf;
mod mpi;
mod openmp;
mod openshmem;
mod threads;

use partune_machine::{Baseline, Link};

use crate::batches::Crew;
use crate::samples;
use crate::world::World;

/// Bytes of messages, and of accesses to memory of another PE.
const MESSAGES: &[u64] = &[8, 64, 512, 4096, 32_768, 262_144, 1 << 20, 4 << 20];
/// Bytes that a PE gives or gets in a collective, and in an access to a window.
const COLLECTIVES: &[u64] = &[8, 1024, 32_768, 524_288];

/// All of them, in the order in which they are measured.
pub static MODELS: &[&Model] = &[&mpi::MPI, &threads::THREADS, &openmp::OPENMP, &openshmem::OPENSHMEM, &caf::CAF];

/// A programming model whose operations are measured.
#[derive(Debug)]
pub struct Model {
    /// What analyses call it: its name in the table of paradigms.
    pub name: &'static str,
    /// What it is called on the command line.
    pub word: &'static str,
    /// How much of the time it gets, relative to others.
    pub(crate) weight: u32,
    pub(crate) how: How,
}

impl PartialEq for Model {
    /// They are values in one list; equal means the same entry.
    fn eq(&self, other: &Model) -> bool {
        self.name == other.name
    }
}

impl Model {
    /// Whether its PEs are what a launch line starts; otherwise they are threads of the first of these.
    pub fn is_launched(&self) -> bool {
        matches!(self.how, How::Processes(_))
    }

    /// Its share of the time for some models, itself among them.
    pub(crate) fn share(&self, among: &[&Model]) -> f64 {
        let all: u32 = among.iter().map(|model| model.weight).sum();
        f64::from(self.weight) / f64::from(all.max(1))
    }

    /// Whether it can be measured in a process in which others were measured before; otherwise it needs its own launch.
    pub(crate) fn joins(&self) -> bool {
        matches!(self.how, How::Threads(_)) || *self == mpi::MPI
    }
}

/// What does the measuring. What is wrong is why the model could not be measured, for people.
#[derive(Debug)]
pub(crate) enum How {
    /// All PEs that the launch line started call it.
    Processes(fn(&World<'_>) -> Result<Found, String>),
    /// One process calls it.
    Threads(fn(&Threads) -> Result<Found, String>),
}

/// How to measure threads of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads {
    /// So many, and powers of two below.
    pub(crate) most: u32,
    pub(crate) budget_s: f64,
}

impl Threads {
    fn counts(&self) -> Vec<u32> {
        counts(self.most as i32).into_iter().map(|count| count as u32).collect()
    }
}

/// What was measured of a model: rows with the number of PEs that took part.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) rows: Vec<(u32, Measured)>,
    pub(crate) links: Vec<Link>,
    pub(crate) notes: Vec<String>,
}

/// Samples of one operation: seconds.
pub(crate) struct Measured {
    /// The construct that was used.
    pub(crate) operation: &'static str,
    /// The name of its role.
    pub(crate) role: &'static str,
    pub(crate) bytes: u64,
    pub(crate) samples: Vec<f64>,
}

impl Measured {
    /// Of an operation that moves no bytes.
    fn of(operation: &'static str, role: &'static str, samples: Vec<f64>) -> Measured {
        Measured { operation, role, bytes: 0, samples }
    }
}

/// One thing to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task<K> {
    pub(crate) kind: K,
    pub(crate) bytes: u64,
    pub(crate) members: Members,
}

/// Who takes part; PE 0 always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    /// The first so many.
    First(i32),
    /// PE 0 and this one.
    With(i32),
}

impl Members {
    pub(crate) fn contains(self, rank: i32) -> bool {
        match self {
            Members::First(count) => rank < count,
            Members::With(other) => rank == 0 || rank == other,
        }
    }

    fn count(self) -> u32 {
        match self {
            Members::First(count) => count as u32,
            Members::With(_) => 2,
        }
    }
}

/// All of them first, then powers of two below, from two on.
fn counts(size: i32) -> Vec<i32> {
    let halves = (1..31).map(|power| 1 << power).filter(|count| *count < size);
    std::iter::once(size).chain(halves).collect()
}

/// Points by operation and number of PEs.
pub(crate) fn baselines(model: &Model, rows: &[(u32, Measured)]) -> Vec<Baseline> {
    let mut baselines: Vec<Baseline> = Vec::new();
    for (pes, it) in rows.iter().filter(|(_, it)| !it.samples.is_empty()) {
        let point = samples::point(it.bytes, &it.samples);
        match baselines.iter_mut().find(|known| known.operation == it.operation && known.pes == *pes) {
            Some(known) => known.points.push(point),
            None => baselines.push(Baseline {
                operation: it.operation.to_owned(),
                role: it.role.to_owned(),
                paradigm: Some(model.name.to_owned()),
                pes: *pes,
                points: vec![point],
            }),
        }
    }
    baselines
}

/// Runs `body` on so many threads of this process, and gives what the first one gives.
fn on_crew<T: Send>(threads: u32, body: impl Fn(&Crew, u32) -> T + Sync) -> T {
    let crew = Crew::of(threads);
    std::thread::scope(|scope| {
        for thread in 1..threads {
            let (crew, body) = (&crew, &body);
            scope.spawn(move || body(crew, thread));
        }
        body(&crew, 0)
    })
}

/// A lock that another PE gives back: getting it, from when that begins, and giving it.
fn handed_over([get, give]: [&'static str; 2], [given, got]: [Vec<f64>; 2]) -> Vec<Measured> {
    vec![Measured::of(get, "lock_acquire", got), Measured::of(give, "lock_release", given)]
}

/// Rows of steps that were measured one after the other with so many bytes. Those that have no size are told once, at the `first`.
fn steps<const STEPS: usize>(
    bytes: u64,
    first: u64,
    names: [(&'static str, &'static str, bool); STEPS],
    samples: [Vec<f64>; STEPS],
) -> Vec<Measured> {
    let rows = names.into_iter().zip(samples).filter(|((_, _, sized), _)| *sized || bytes == first);
    let row = |((operation, role, sized), samples)| Measured {
        operation,
        role,
        bytes: if sized { bytes } else { 0 },
        samples,
    };
    rows.map(row).collect()
}
