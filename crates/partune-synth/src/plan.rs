//! How many iterations give the events that are wanted.

use crate::SynthError;
use crate::options::SynthOptions;
use crate::program;
use crate::world::{Counter, Extra, TICK_NS, World};

/// Two events a visit.
const VISIT: u64 = 2;
/// The least mean time from an extra visit to the next.
const SHORTEST_NS: u64 = 2 * TICK_NS + 10;
/// The longest period of phases that is counted exactly.
const LONGEST_PERIOD: u64 = 5040;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) iterations: u64,
    pub(crate) extra: Extra,
    /// The duration of a kernel, lengthened where the extra visits would not fit into it.
    pub(crate) kernel_ns: u64,
}

/// Plans the run. How many events an iteration has depends only on its number, and periodically so: one period is run without
/// writing anything.
pub(crate) fn plan(options: &SynthOptions) -> Result<Plan, SynthError> {
    let period = period(options);
    let plain = count(options, period, Extra::default());
    let mut extra = Extra::default();
    let visit = visit_events(options);
    if let Some(skew) = options.skew.filter(|skew| skew.share > 0.0) {
        let all = *plain.totals.last().unwrap_or(&0) as f64;
        let own = plain.locations[skew.rank as usize * options.threads as usize] as f64;
        // (own + x) / (all + x) = share
        let missing = ((skew.share * all - own) / (1.0 - skew.share)).max(0.0);
        extra.skew = Some((skew.rank, (missing / period as f64 / visit as f64).round() as u64));
    }
    let counted = if extra.skew.is_some() { count(options, period, extra) } else { plain };
    let whole = *counted.totals.last().unwrap_or(&0);
    if whole == 0 {
        return Err(SynthError::Options("the program has no events"));
    }
    let wanted = options.events.saturating_sub(counted.frame);
    let periods = wanted / whole;
    let rest = wanted % whole;
    let part = counted.totals.partition_point(|total| *total <= rest) as u64;
    let written = periods * whole + part.checked_sub(1).map_or(0, |last| counted.totals[last as usize]);
    let iterations = periods * period + part;
    if iterations > 0 {
        extra.tail = wanted.saturating_sub(written) / (visit * options.locations() as u64);
    }
    let most = extra.skew.map_or(0, |(_, visits)| visits).max(extra.tail);
    let kernel_ns = options.kernel_ns.max(most * SHORTEST_NS * 4 / 3 / u64::from(options.kernels.max(1)));
    Ok(Plan { iterations: iterations.max(1), extra, kernel_ns })
}

/// Event records of a visit to a kernel.
fn visit_events(options: &SynthOptions) -> u64 {
    if options.metrics { 2 * VISIT } else { VISIT }
}

/// After how many iterations the phases repeat.
fn period(options: &SynthOptions) -> u64 {
    let every = options.every;
    let all = [every.halo, every.ring, every.residual, every.rooted, every.barrier];
    let period = all.into_iter().filter(|every| *every > 0).fold(1, |period, every| lcm(period, u64::from(every)));
    period.min(LONGEST_PERIOD)
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}

struct Counted {
    /// Events of begin and end.
    frame: u64,
    /// Events of the first iterations, added up.
    totals: Vec<u64>,
    /// Events of each location in all these iterations.
    locations: Vec<u64>,
}

fn count(options: &SynthOptions, iterations: u64, extra: Extra) -> Counted {
    let mut world = World::new(options, Counter(vec![0; options.locations()]), extra);
    let sum = |world: &World<'_, Counter>| world.recorder.0.iter().sum::<u64>();
    program::begin(&mut world);
    let before = sum(&world);
    let begin = world.recorder.0.clone();
    let mut totals = Vec::new();
    for turn in 1..=iterations {
        program::iterate(&mut world, turn, false);
        totals.push(sum(&world) - before);
    }
    let locations = world.recorder.0.iter().zip(begin).map(|(now, begin)| now - begin).collect();
    let run = sum(&world);
    program::end(&mut world);
    Counted { frame: before + sum(&world) - run, totals, locations }
}
