//! The roofline of a loop: its floating-point operations for each byte that passes between two levels of memory, and the ceiling of the machine that binds.
//!
//! What is farther away passes all that is nearer: bytes from memory are bytes from the last cache too. So there is an intensity for each level, the first cache's
//! being that of the accesses themselves. S. Williams, A. Waterman, D. Patterson, *Roofline*, Comm. ACM 52 (4), 2009; by levels: C. Yang, T. Kurth, S. Williams,
//! *Hierarchical roofline analysis*, Concurrency and Computation 32 (20), 2020.

use crate::bounds::Kernel;
use crate::core::Core;
use crate::traffic::{Lines, Traffic};

/// What a machine can do at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceilings {
    /// A cycle of the core.
    pub cycle_s: f64,
    /// Operations a second on numbers of eight bytes: of one core, and of all that were measured together.
    pub flops: f64,
    pub flops_all: f64,
    /// The first cache first, memory last.
    pub levels: Vec<Ceiling>,
    /// Bytes a second between memory and all cores together.
    pub memory_all: f64,
}

/// Bytes a second between one core and a cache or memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// Of lines that are only loaded from.
    pub load: f64,
    /// Of lines that are stored to, which are brought in and given back.
    pub store: f64,
}

/// What limits a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roof {
    /// Arithmetic.
    Peak,
    /// What passes between the core and a level, by its place in [`Ceilings::levels`].
    Level(usize),
}

/// Where a loop is below the roofs.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// By place in [`Ceilings::levels`].
    pub levels: Vec<Passing>,
    /// Operations a second of one core on numbers such as the loop has.
    pub peak: f64,
    /// Operations a second at most, and what allows no more: of one core, and of all together, each of which has data of its own.
    pub most: (f64, Roof),
    pub most_all: (f64, Roof),
    /// Operations a second by the bound I; none without it.
    pub bound: Option<f64>,
}

/// What passes between the core and a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passing {
    /// Bytes for one turn of the source's loop.
    pub bytes: f64,
    /// Operations a second at most; none where nothing passes.
    pub most: Option<f64>,
}

impl Passing {
    /// Operations for each byte; none where nothing passes.
    pub fn intensity(self, kernel: &Kernel) -> Option<f64> {
        (self.bytes > 0.0).then(|| kernel.flops / self.bytes)
    }
}

/// Bytes of an element that peaks are told for.
const DOUBLE: f64 = 8.0;
/// A line that is stored to comes and goes.
const THERE_AND_BACK: f64 = 2.0;

impl Ceilings {
    /// The first cache's are as high as what the core can load and store in a cycle, where that is more than was measured.
    #[must_use]
    pub fn with_core(mut self, core: &Core) -> Ceilings {
        if let Some(first) = self.levels.first_mut() {
            first.load = first.load.max(core.bytes_a_cycle(&core.load) / self.cycle_s);
            first.store = first.store.max(core.bytes_a_cycle(&core.store) / self.cycle_s);
        }
        self
    }
}

/// Where a loop with these lines is, and with the bound I in cycles of a turn; none of a loop without floating-point operations.
pub fn roofline(
    kernel: &Kernel,
    traffic: &Traffic,
    line: u32,
    bound: Option<f64>,
    ceilings: &Ceilings,
) -> Option<Roofline> {
    if kernel.flops <= 0.0 {
        return None;
    }
    let widths = DOUBLE / f64::from(kernel.element.max(1));
    let (peak, peak_all) = (ceilings.flops * widths, ceilings.flops_all * widths);
    let first = ceilings.levels.first().map(|ceiling| accesses(kernel, *ceiling));
    let far = ceilings.levels.iter().enumerate().skip(1).map(|(at, ceiling)| {
        let passing = traffic.sources.iter().skip(at - 1);
        let lines = passing
            .fold(Lines::default(), |sum, it| Lines { loaded: sum.loaded + it.loaded, stored: sum.stored + it.stored });
        let loaded = lines.loaded * f64::from(line);
        let stored = lines.stored * f64::from(line) * THERE_AND_BACK;
        passed(kernel, loaded + stored, loaded / ceiling.load + stored / ceiling.store)
    });
    let levels: Vec<Passing> = first.into_iter().chain(far).collect();
    let roofs = levels.iter().enumerate().filter_map(|(at, it)| Some((it.most?, Roof::Level(at))));
    let memory = levels.last().filter(|_| levels.len() > 1);
    let of_all = memory.and_then(|it| it.intensity(kernel)).map(|intensity| intensity * ceilings.memory_all);
    Some(Roofline {
        peak,
        most: lowest((peak, Roof::Peak), roofs),
        most_all: lowest(
            (peak_all, Roof::Peak),
            of_all.map(|most| (most, Roof::Level(levels.len().saturating_sub(1)))),
        ),
        bound: bound.filter(|cycles| *cycles > 0.0).map(|cycles| kernel.flops / (cycles * ceilings.cycle_s)),
        levels,
    })
}

/// What the accesses themselves move; loads and stores go on at once.
fn accesses(kernel: &Kernel, ceiling: Ceiling) -> Passing {
    let streams = &kernel.streams;
    let of = |these: &[crate::streams::Stream], scattered: u64| {
        let bytes: u64 = these.iter().map(|it| u64::from(it.bytes)).sum();
        (bytes + scattered) as f64 / f64::from(kernel.turns())
    };
    let loaded = of(&streams.loads, streams.scattered_loads);
    let stored = of(&streams.stores, streams.scattered_stores);
    passed(kernel, loaded + stored, (loaded / ceiling.load).max(stored / ceiling.store))
}

fn passed(kernel: &Kernel, bytes: f64, seconds: f64) -> Passing {
    Passing { bytes, most: (seconds > 0.0).then(|| kernel.flops / seconds) }
}

/// The first of those that allow least.
fn lowest(peak: (f64, Roof), others: impl IntoIterator<Item = (f64, Roof)>) -> (f64, Roof) {
    others.into_iter().fold(peak, |least, it| if it.0 < least.0 { it } else { least })
}
