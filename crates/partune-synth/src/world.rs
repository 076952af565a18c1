//! The state of the running program: a virtual clock for each location, and the steps that advance it.
//!
//! A phase of an iteration runs on all ranks before the next begins, so that a receive knows when its message was sent and a
//! collective when its last member came. What is emitted for a location is in order of its time.

use partune_otf2::codec::Event;
use partune_otf2::codec::view::{Metric, Metrics};

use crate::answers::{Site, Tallies};
use crate::clock::{EPOCH, RankClock};
use crate::options::{InjectionKind, SynthOptions};
use crate::regions::{Region, region_ids};
use crate::rng::Rng;

/// Time of a call besides what it waits for.
pub(crate) const CALL_NS: u64 = 120;
/// Time between two calls.
const GAP_NS: u64 = 30;
/// Between two events of a location; a recorder never gives two the same time, except to a metric and what it belongs to.
pub(crate) const TICK_NS: u64 = 20;
/// The metric class of the counter.
const CYCLES: u32 = 0;
/// OTF2's type of unsigned 64-bit values.
const TYPE_UINT64: u8 = 4;

/// Where events go.
pub(crate) trait Recorder {
    fn record(&mut self, location: usize, time: u64, event: &Event<'_>);
}

/// Counts events and forgets them.
pub(crate) struct Counter(pub(crate) Vec<u64>);

impl Recorder for Counter {
    fn record(&mut self, location: usize, _: u64, _: &Event<'_>) {
        self.0[location] += 1;
    }
}

/// One stream of execution.
pub(crate) struct Location {
    /// Time of the program, in ns.
    pub(crate) now: u64,
    /// Time of its last event.
    last: u64,
    clock: RankClock,
    rng: Rng,
    draws: u64,
    /// How many times as long it computes.
    speed: f64,
    cycles: u64,
    /// The next request or matching id.
    pub(crate) next_id: u64,
    /// How often its threads took their lock, if it is a main thread.
    pub(crate) acquisitions: u32,
}

/// The ranks as a grid, rows first; most square, not periodic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) rows: u32,
    pub(crate) columns: u32,
}

/// Extra visits to kernels, in the same time, besides those of [`SynthOptions::kernels`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extra {
    /// In each iteration, on the main thread of this rank.
    pub(crate) skew: Option<(u32, u64)>,
    /// In the last iteration, on every location.
    pub(crate) tail: u64,
}

pub(crate) struct World<'o, R> {
    pub(crate) options: &'o SynthOptions,
    pub(crate) grid: Grid,
    pub(crate) locations: Vec<Location>,
    pub(crate) recorder: R,
    pub(crate) tallies: Tallies,
    pub(crate) extra: Extra,
    /// Per rank and neighbour, when the halo was sent.
    pub(crate) sent: Vec<[u64; 4]>,
    /// Scratch: location and time of arrival.
    pub(crate) arrivals: Vec<(usize, u64)>,
    /// How many times each call with injections ran.
    turns: [u64; 8],
    /// Time of the first event.
    pub(crate) begin: u64,
    regions: Vec<Option<u32>>,
}

impl Grid {
    pub(crate) fn new(ranks: u32) -> Self {
        let root = ranks.isqrt().max(1);
        let rows = (1..=root).rev().find(|rows| ranks.is_multiple_of(*rows)).unwrap_or(1);
        Self { rows, columns: ranks / rows }
    }

    /// North, west, east, south; opposite sides add up to 3.
    pub(crate) fn neighbours(self, rank: u32) -> [Option<u32>; 4] {
        let (row, column) = (rank / self.columns, rank % self.columns);
        [
            (row > 0).then(|| rank - self.columns),
            (column > 0).then(|| rank - 1),
            (column + 1 < self.columns).then_some(rank + 1),
            (row + 1 < self.rows).then_some(rank + self.columns),
        ]
    }
}

impl<'o, R: Recorder> World<'o, R> {
    pub(crate) fn new(options: &'o SynthOptions, recorder: R, extra: Extra) -> Self {
        let locations = (0..options.ranks).flat_map(|rank| (0..options.threads).map(move |thread| (rank, thread)));
        let locations = locations.map(|(rank, thread)| {
            let slow: f64 = options.slow.iter().filter(|(slow, _)| *slow == rank).map(|(_, by)| by).product();
            let place = f64::from(rank) / f64::from(options.ranks.max(2) - 1);
            Location {
                now: EPOCH,
                last: 0,
                clock: RankClock::new(options, rank),
                rng: Rng::new(options.seed, u64::from(thread) << 32 | u64::from(rank)),
                draws: 0,
                speed: slow * (1.0 + options.gradient * place),
                cycles: 0,
                next_id: 0,
                acquisitions: 0,
            }
        });
        Self {
            options,
            grid: Grid::new(options.ranks),
            locations: locations.collect(),
            recorder,
            tallies: Tallies::new(options),
            extra,
            sent: vec![[0; 4]; options.ranks as usize],
            arrivals: Vec::new(),
            turns: [0; 8],
            begin: EPOCH,
            regions: region_ids(options),
        }
    }

    /// The location of the main thread of a rank.
    pub(crate) fn main(&self, rank: u32) -> usize {
        rank as usize * self.options.threads as usize
    }

    /// Emits an event at the time of the location, a tick after the event before.
    pub(crate) fn emit(&mut self, at: usize, event: &Event<'_>) {
        self.tick(at);
        self.record(at, event);
    }

    fn tick(&mut self, at: usize) {
        let location = &mut self.locations[at];
        if location.now < location.last + TICK_NS {
            location.now = location.last + TICK_NS;
        }
        location.last = location.now;
    }

    fn record(&mut self, at: usize, event: &Event<'_>) {
        let location = &self.locations[at];
        self.recorder.record(at, location.clock.shown(location.now), event);
    }

    pub(crate) fn enter(&mut self, at: usize, region: Region) {
        let region = self.id(region);
        self.emit(at, &Event::Enter { region });
    }

    pub(crate) fn leave(&mut self, at: usize, region: Region) {
        let region = self.id(region);
        self.emit(at, &Event::Leave { region });
    }

    /// Enters a construct after the code before it; returns when.
    pub(crate) fn call(&mut self, at: usize, region: Region) -> u64 {
        self.locations[at].now += GAP_NS;
        self.enter(at, region);
        self.locations[at].now
    }

    /// Leaves a construct at a time, or now if that is over.
    pub(crate) fn advance(&mut self, at: usize, time: u64) {
        let now = &mut self.locations[at].now;
        *now = time.max(*now);
    }

    pub(crate) fn spend(&mut self, at: usize, ns: u64) {
        self.locations[at].now += ns;
    }

    /// Some ns, so that nobody leaves a collective at quite the same time as others.
    pub(crate) fn linger(&mut self, at: usize) {
        let location = &mut self.locations[at];
        location.draws += 1;
        location.now += location.rng.bits(location.draws) % 64;
    }

    pub(crate) fn next_id(&mut self, at: usize) -> u64 {
        let id = &mut self.locations[at].next_id;
        *id += 1;
        *id - 1
    }

    /// A function that computes for about `ns` on a location of speed 1, and `late` more on any.
    pub(crate) fn kernel(&mut self, at: usize, region: Region, ns: f64, late: u64) {
        let region = self.id(region);
        self.tick(at);
        self.count_cycles(at);
        self.record(at, &Event::Enter { region });
        let jitter = self.options.jitter;
        let location = &mut self.locations[at];
        location.draws += 1;
        let noise = 1.0 + jitter * location.rng.signed_unit(location.draws);
        let ns = (ns * location.speed * noise + 0.5) as u64 + late;
        location.now += ns;
        location.cycles += 3 * ns;
        self.tick(at);
        self.count_cycles(at);
        self.record(at, &Event::Leave { region });
    }

    fn count_cycles(&mut self, at: usize) {
        if self.options.metrics {
            let values = [Metric { kind: TYPE_UINT64, bits: self.locations[at].cycles }];
            self.record(at, &Event::Metric { metric: CYCLES, values: Metrics::new(&values) });
        }
    }

    /// How much longer a rank computes before this execution of a call; call it for each rank, then [`World::turn`].
    pub(crate) fn injected(&mut self, kind: InjectionKind, rank: u32) -> u64 {
        let turn = self.turns[kind as usize];
        let mut late = 0;
        for (index, injection) in self.options.inject.iter().enumerate().filter(|(_, injection)| injection.kind == kind)
        {
            // Evenly spread: the number of late turns grows like the number of turns.
            let due = |turn: u64| turn * u64::from(injection.percent) / 100;
            let hit = (injection.rank == rank) != (kind == InjectionKind::EarlyReduce);
            if due(turn + 1) > due(turn) {
                late += if hit { injection.delay_ns } else { 0 };
                self.tallies.injected[index] += u64::from(rank == 0);
            }
        }
        late
    }

    /// A call with injections ran once on all ranks.
    pub(crate) fn turn(&mut self, kind: InjectionKind) {
        self.turns[kind as usize] += 1;
    }

    /// Counts what a location waited at a site from its own time of arrival to another's.
    pub(crate) fn wait(&mut self, site: Site, at: usize, cause: usize, from: u64, to: u64) {
        self.tallies.wait(site, at, cause, to.saturating_sub(from));
    }

    /// Time of the first event and of the last, as a corrected clock shows them.
    pub(crate) fn extent(&self) -> (u64, u64) {
        let last = self.locations.iter().map(|location| location.now).max();
        (self.begin, last.unwrap_or(self.begin))
    }

    /// Time of a message.
    pub(crate) fn transfer_ns(&self, bytes: u64) -> u64 {
        self.options.latency_ns + (bytes as f64 / self.options.bytes_per_ns) as u64
    }

    fn id(&self, region: Region) -> u32 {
        self.regions[region as usize].expect("a program visits regions of its paradigms only")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_mutual() {
        for ranks in [1, 2, 3, 6, 12, 16, 17, 64] {
            let grid = Grid::new(ranks);
            assert_eq!(grid.rows * grid.columns, ranks);
            for rank in 0..ranks {
                for (side, neighbour) in grid.neighbours(rank).into_iter().enumerate() {
                    if let Some(neighbour) = neighbour {
                        assert_eq!(grid.neighbours(neighbour)[3 - side], Some(rank));
                    }
                }
            }
        }
    }
}
