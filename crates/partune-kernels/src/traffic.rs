//! Lines that a loop's accesses bring to the core, and from where: its streams, followed through caches as they are.
//!
//! The loop is run through its data twice, and the second time counts: what was kept from the first is found. Accesses by the same registers are to one array;
//! other arrays begin at other places, each at a page of its own, but where an access has no register, whose address is what the code says.

use std::collections::BTreeMap;

use partune_cache::{Hierarchy, Level, LevelError, Moved};

use crate::bounds::Kernel;
use crate::instruction::Register;
use crate::streams::{Stream, Streams};

/// Lines for one turn of the source's loop, by what had them.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The second level first, memory last.
    pub sources: Vec<Lines>,
}

/// Lines that left the first level, for one turn of the source's loop: in the long run as many came.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lines {
    /// That were only loaded from.
    pub loaded: f64,
    /// That were stored to: brought in, and given back.
    pub stored: f64,
}

/// Why lines cannot be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrafficError {
    #[error("it has accesses that do not move by a constant: where they are is not known")]
    Scattered,
    #[error("it has accesses that not every turn makes: how often they are made is not known")]
    Conditional,
    #[error("it calls something, whose accesses are not known")]
    Calls,
    #[error("its accesses go through more memory than addresses have")]
    Far,
    #[error(transparent)]
    Level(#[from] LevelError),
}

/// Arrays begin at multiples of this.
const PAGE: u64 = 4096;
/// What the last cache holds, this often, is enough to run through: more is as far away.
const OFTEN: u64 = 2;

/// Lines of a loop of which so many of the source's turns run, over and over through the same data. Cost: two passes with a look at the caches for each access,
/// of no more turns than twice what the last level holds.
pub fn traffic(kernel: &Kernel, levels: &[Level], elements: u64) -> Result<Traffic, TrafficError> {
    let Kernel { streams, turns: per, .. } = kernel;
    if kernel.calls {
        return Err(TrafficError::Calls);
    }
    if streams.scattered_loads + streams.scattered_stores > 0 {
        return Err(TrafficError::Scattered);
    }
    if kernel.conditional_accesses > 0 {
        return Err(TrafficError::Conditional);
    }
    let mut caches = Hierarchy::new(levels)?;
    let per = u64::from(*per).max(1);
    let turns = elements.div_ceil(per).clamp(1, enough(streams, levels));
    let accesses = places(streams, turns).ok_or(TrafficError::Far)?;
    let pass = |caches: &mut Hierarchy| {
        for turn in 0..turns as i64 {
            for (begin, stream, is_store) in &accesses {
                caches.access((begin + stream.stride * turn) as u64, stream.bytes, *is_store);
            }
        }
        caches.moved().to_vec()
    };
    let before = pass(&mut caches);
    let after = pass(&mut caches);
    let all = (turns * per) as f64;
    let lines = |(before, after): (&Moved, &Moved)| Lines {
        loaded: (after.loaded - before.loaded) as f64 / all,
        stored: (after.stored - before.stored) as f64 / all,
    };
    Ok(Traffic { sources: before.iter().zip(&after).map(lines).collect() })
}

/// Turns after which nothing new can be seen: those in which the fastest access passes what no level holds, so that whatever comes back later was thrown out.
fn enough(streams: &Streams, levels: &[Level]) -> u64 {
    let largest = levels.iter().map(|level| level.bytes).max().unwrap_or(0).saturating_mul(OFTEN);
    let line = levels.first().map_or(1, |level| u64::from(level.line));
    let moving = || streams.loads.iter().chain(&streams.stores).map(|stream| stream.stride.unsigned_abs());
    // An access passes a line a turn at most.
    let fastest = moving().max().unwrap_or(0).min(line);
    if fastest == 0 { 1 } else { largest.div_ceil(fastest) }
}

/// Where each access is in the first turn, in the order of a turn, and how it goes on; none where that is nowhere.
fn places(streams: &Streams, turns: u64) -> Option<Vec<(i64, Stream, bool)>> {
    let loads = streams.loads.iter().map(|stream| (*stream, false));
    let mut all: Vec<(Stream, bool)> = loads.chain(streams.stores.iter().map(|stream| (*stream, true))).collect();
    all.sort_by_key(|(stream, is_store)| (stream.at, *is_store));
    // What each array needs, from its least offset to its greatest end.
    type Array = (Option<Register>, Option<Register>, u8);
    let mut arrays: BTreeMap<Array, (i64, i64)> = BTreeMap::new();
    let array = |stream: &Stream| (stream.base, stream.index, stream.scale);
    for (stream, _) in &all {
        let way = stream.stride.checked_mul(i64::try_from(turns).ok()?)?;
        let (first, last) = (stream.offset.checked_add(way.min(0))?, stream.offset.checked_add(way.max(0))?);
        let end = last.checked_add(i64::from(stream.bytes))?;
        let extent = arrays.entry(array(stream)).or_insert((first, end));
        *extent = (extent.0.min(first), extent.1.max(end));
    }
    let mut begins: BTreeMap<Array, i64> = BTreeMap::new();
    let mut free = PAGE as i64;
    for (array, (first, end)) in arrays {
        begins.insert(array, free.checked_sub(first)?);
        let size = u64::try_from(end.checked_sub(first)?).ok()?.next_multiple_of(PAGE);
        free = free.checked_add(i64::try_from(size).ok()?)?;
    }
    let place = |(stream, is_store): (Stream, bool)| (begins[&array(&stream)] + stream.offset, stream, is_store);
    Some(all.into_iter().map(place).collect())
}

/// What a line costs a core, in its cycles, in a stream of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineCycles {
    pub load: f64,
    pub store: f64,
}

impl LineCycles {
    pub fn of(self, lines: Lines) -> f64 {
        lines.loaded * self.load + lines.stored * self.store
    }
}

/// I, the bound with finite caches, from MACS: cycles of a turn of the source's loop, where `costs` are those of lines from each level, the first one too, and from
/// memory.
pub fn finite(macs: f64, traffic: &Traffic, costs: &[LineCycles]) -> f64 {
    let lines = traffic.sources.iter().zip(costs.iter().skip(1));
    lines.map(|(lines, cost)| cost.of(*lines)).sum::<f64>().max(macs)
}
