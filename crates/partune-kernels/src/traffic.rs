//! Lines that a loop's accesses bring to the core, and from where: its streams, followed through caches as they are.
//!
//! The loop is run through its data again and again, so what a cache keeps from one time to the next is found. Accesses by the same registers are to one array,
//! and those without a base, whose place is in the code, if they are near each other. Each array begins at a page of its own.

use partune_cache::{Hierarchy, Level, LevelError, Moved};

use crate::bounds::Kernel;
use crate::ports;
use crate::streams::{Stream, Streams};

/// Lines for one turn of the source's loop, by what had them.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The second level first, memory last.
    pub sources: Vec<Lines>,
    /// Loads across two lines.
    pub across: f64,
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
    #[error("not every turn makes the same accesses, or at places that follow from the turn before")]
    Strays,
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

/// Lines of a loop of which so many of the source's turns run, over and over through the same data. Cost: three passes with a look at the caches for each access,
/// of no more turns than twice what the last level holds.
pub fn traffic(kernel: &Kernel, levels: &[Level], elements: u64) -> Result<Traffic, TrafficError> {
    let streams = &kernel.streams;
    if kernel.calls {
        return Err(TrafficError::Calls);
    }
    if streams.scattered_loads + streams.scattered_stores > 0 {
        return Err(TrafficError::Scattered);
    }
    if kernel.strays {
        return Err(TrafficError::Strays);
    }
    let mut caches = Hierarchy::new(levels)?;
    let per = u64::from(kernel.turns());
    let most = enough(streams, levels);
    let turns = elements.div_ceil(per).clamp(1, most);
    let line = levels.first().map_or(1, |level| u64::from(level.line));
    let accesses = places(streams, turns).ok_or(TrafficError::Far)?;
    let mut across = 0_u64;
    let mut pass = || {
        across = 0;
        for turn in 0..turns as i64 {
            for (begin, stream, is_store) in &accesses {
                let at = (begin + stream.stride * turn) as u64;
                caches.access(at, stream.bytes, *is_store);
                across += u64::from(!is_store && at % line + u64::from(stream.bytes) > line);
            }
        }
        caches.moved().to_vec()
    };
    // What the first level throws out at first in a pass came in the one before, which must have found what it will find again; where nothing is found again
    // that is all the same.
    if turns < most {
        pass();
    }
    let (before, after) = (pass(), pass());
    let all = (turns * per) as f64;
    let lines = |(before, after): (&Moved, &Moved)| Lines {
        loaded: (after.loaded - before.loaded) as f64 / all,
        stored: (after.stored - before.stored) as f64 / all,
    };
    Ok(Traffic { sources: before.iter().zip(&after).map(lines).collect(), across: across as f64 / all })
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

/// An access: where it is in the first turn, how it goes on, and whether it is a store.
type Place = (i64, Stream, bool);

/// The accesses in the order of a turn, each array at pages of its own; none where that is nowhere.
fn places(streams: &Streams, turns: u64) -> Option<Vec<Place>> {
    let stores = streams.stores.iter().map(|stream| (*stream, true));
    let mut all: Vec<(Stream, bool)> = streams.loads.iter().map(|stream| (*stream, false)).chain(stores).collect();
    all.sort_by_key(|(it, is_store)| (it.base, it.index, it.scale, it.stride, it.offset, *is_store));
    let mut free = PAGE as i64;
    let mut placed: Vec<Place> = Vec::with_capacity(all.len());
    for array in all.chunk_by(|(one, _), (other, _)| one.is_of_array(other)) {
        let (mut first, mut end) = (i64::MAX, i64::MIN);
        for (stream, _) in array {
            let way = stream.stride.checked_mul(i64::try_from(turns).ok()?)?;
            first = first.min(stream.offset.checked_add(way.min(0))?);
            end = end.max(stream.offset.checked_add(way.max(0))?.checked_add(i64::from(stream.bytes))?);
        }
        let begin = free.checked_sub(first)?;
        placed.extend(array.iter().map(|(stream, is_store)| (begin + stream.offset, *stream, *is_store)));
        let size = u64::try_from(end.checked_sub(first)?).ok()?.next_multiple_of(PAGE);
        free = free.checked_add(i64::try_from(size).ok()?)?;
    }
    placed.sort_by_key(|(_, stream, is_store)| (stream.at, *is_store));
    Some(placed)
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

/// I, the bound with finite caches: cycles of a turn of the source's loop, where `costs` are those of lines from each level, the first one too, and from memory;
/// none without MACS. What the core computes, its accesses to the first cache, and lines on their way go on at once, so the longest of the three binds: MACS; the
/// ports, where a line that comes takes a load's place, as the second part of one across two lines does; and what lines take in a stream.
pub fn finite(kernel: &Kernel, traffic: &Traffic, costs: &[LineCycles]) -> Option<f64> {
    let lines = traffic.sources.iter().zip(costs.iter().skip(1));
    let stream: f64 = lines.map(|(lines, cost)| cost.of(*lines)).sum();
    let macs = kernel.bounds.as_ref()?.macs?;
    Some(macs.max(traffic.first_cache(kernel)).max(stream))
}

impl Traffic {
    /// Cycles that ports need for a turn of the source's loop, with what lines ask of them.
    pub fn first_cache(&self, kernel: &Kernel) -> f64 {
        let turns = f64::from(kernel.turns());
        let more = turns * (self.across + self.sources.iter().map(|it| it.loaded + it.stored).sum::<f64>());
        let uses = kernel.uses.iter().map(|it| (it.ports, f64::from(it.cycles)));
        let lines = kernel.line.iter().map(|it| (it.ports, more * f64::from(it.cycles)));
        ports::bound(uses.chain(lines)).cycles / turns
    }
}
