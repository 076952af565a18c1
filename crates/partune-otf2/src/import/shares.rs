//! Time between operations, shared out by samples of calling contexts.
//!
//! A gap with samples is divided among them: each stands for the time up to the middle between it and its neighbours, the first from the begin
//! of the gap, the last to its end. But most gaps are shorter than the time between two samples and have none. So gaps with the same operations on both
//! sides are alike, and of the time of all of them together each call path has the share that it has of their samples. A gap without samples is given as a
//! whole to the path that is due: the one with the least of (time that it was given + half a gap) / samples. By that the times of paths never differ from
//! their shares by more than a gap or so, whatever the lengths (Webster's method of apportionment, with ticks for seats), and the order is a
//! plausible one.
//!
//! Samples count time on a processor. Who is on it waits for it now and then, where others want it: each sample stands for as much more as the thread waited
//! for a processor in all. Where those of alike gaps still stand for less than the gaps last, beyond three standard deviations of counting, the
//! thread did not want to run for the rest. That is shared out as well, to where a gap without samples belongs ([`super::lasting`]). A sample stands for the time near
//! it then: all reach equally far, as far as makes their time together that on a processor, whether they are equally far from each other or not.
//!
//! Two passes over the gaps, each linear but for a heap of a class's paths, and a sort of how far samples can reach. Memory: two numbers for each
//! sample while they are counted, and what classes and paths there are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use partune_base::Time;
use partune_import::IdMap;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::contexts::Contexts;
use super::definitions::Definitions;
use super::gaps::{Gap, Sampled, length};

/// Ticks between two samples of each generator, where it counts time.
#[derive(Default)]
pub(super) struct Generators {
    ids: IdMap,
    ticks: Vec<Option<f64>>,
    /// Samples in a second, if all generators agree.
    pub(super) rate: Option<f64>,
}

impl Generators {
    pub(super) fn new(definitions: &Definitions) -> Generators {
        let mut generators = Generators::default();
        let resolution = definitions.resolution as f64;
        for (id, seconds) in &definitions.generators {
            if generators.ids.insert(*id, generators.ticks.len() as u32) {
                generators.ticks.push(seconds.map(|seconds| seconds * resolution).filter(|ticks| *ticks >= 1.0));
            }
        }
        let mut known = generators.ticks.iter().flatten();
        let first = known.next().filter(|first| known.all(|ticks| ticks.to_bits() == first.to_bits()));
        generators.rate = first.map(|ticks| resolution / ticks);
        generators
    }

    /// Whether none are defined, so that there are no samples.
    pub(super) fn is_empty(&self) -> bool {
        self.ticks.is_empty()
    }

    fn ticks(&self, sample: &Sampled) -> Option<f64> {
        self.ticks[self.ids.get(sample.generator.into())? as usize]
    }
}

/// A part of a gap: up to `end` in the functions down to `frame`; none where there is no sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) frame: Option<u32>,
    pub(super) end: Time,
    /// How many of the functions before, at most, went on into it.
    pub(super) kept: u32,
}

/// What is shared out of the gaps of a location: how many samples kinds of gaps have, and what was given away so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Shares {
    classes: Vec<Class>,
    /// By what is on both sides.
    known: FxHashMap<[u64; 2], u32>,
    paths: FxHashMap<(u32, u32), usize>,
    /// Samples that are used.
    pub(super) used: u64,
}

/// Gaps that are alike.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Class {
    time: u64,
    gaps: u64,
    samples: u64,
    /// Ticks on a processor that its samples are; none if that is not known.
    running: Option<f64>,
    /// How far its samples can reach, to the middle between them and the next ones on both sides, or the ends of their gap.
    distances: Vec<i64>,
    /// How far they do reach, where the thread did not run for a part.
    reach: Option<i64>,
    shares: Vec<Share>,
    due: BinaryHeap<Reverse<Due>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Share {
    frame: Option<u32>,
    samples: u64,
    given: u64,
}

/// When it is the turn of a path: when `twice / samples` is least.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Due {
    twice: u64,
    samples: u64,
    share: usize,
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        let of = |a: &Due, b: &Due| u128::from(a.twice) * u128::from(b.samples);
        of(self, other).cmp(&of(other, self)).then(self.share.cmp(&other.share))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Shares {
    /// Counts a gap and its samples.
    pub(super) fn count(&mut self, gap: &Gap<'_>, contexts: &Contexts, generators: &Generators) {
        let Some(sides) = gap.sides else { return };
        let Shares { classes, known, paths, used } = self;
        let at = *known.entry(sides).or_insert_with(|| {
            classes.push(Class { running: Some(0.0), ..Class::default() });
            classes.len() as u32 - 1
        });
        let class = &mut classes[at as usize];
        class.time = class.time.saturating_add(length(gap.begin, gap.end));
        class.gaps += 1;
        if gap.begin >= gap.end {
            return;
        }
        for (sample, [last, time, until]) in nearest(gap) {
            let frame = contexts.inside(sample.context);
            let shares = &mut class.shares;
            let share = *paths.entry((at, frame)).or_insert_with(|| {
                shares.push(Share { frame: Some(frame), samples: 0, given: 0 });
                shares.len() - 1
            });
            class.shares[share].samples += 1;
            class.samples += 1;
            class.distances.extend([time.since(last).0, until.since(time).0]);
            class.running = class.running.zip(generators.ticks(sample)).map(|(sum, ticks)| sum + ticks);
            *used += 1;
        }
    }

    /// All gaps are counted. A second on a processor takes the thread `slowdown` seconds.
    #[must_use]
    pub(super) fn counted(mut self, slowdown: f64) -> Shares {
        self.classes.iter_mut().for_each(|class| class.counted(slowdown));
        self
    }

    /// The parts of a gap that was counted, in order of time; nothing where there is no sample. In `parts`, which is emptied.
    pub(super) fn share(&mut self, gap: &Gap<'_>, contexts: &Contexts, parts: &mut Vec<Stretch>) {
        parts.clear();
        if self.used == 0 {
            return;
        }
        let Some(number) = gap.sides.and_then(|sides| self.known.get(&sides).copied()) else { return };
        let Some(class) = self.classes.get_mut(number as usize) else { return };
        if class.samples == 0 || gap.begin >= gap.end {
            return;
        }
        if gap.samples.is_empty() {
            let frame = class.next(length(gap.begin, gap.end));
            parts.extend(frame.map(|_| Stretch { frame, end: gap.end, kept: u32::MAX }));
            return;
        }
        for (sample, [last, time, until]) in nearest(gap) {
            let (begin, end) = match class.reach {
                Some(reach) => {
                    (Time(time.0.saturating_sub(reach)).max(last), Time(time.0.saturating_add(reach)).min(until))
                }
                None => (last, until),
            };
            let kept = contexts.kept_by_sample(sample.context, sample.unwind_distance);
            let frame = Some(contexts.inside(sample.context));
            parts.push(Stretch { frame: None, end: begin, kept: u32::MAX });
            parts.push(Stretch { frame, end, kept });
            parts.push(Stretch { frame: None, end: until, kept: u32::MAX });
        }
        // What has no length says nothing.
        let mut last = gap.begin;
        parts.retain(|part| {
            let has_length = part.end > last;
            last = last.max(part.end);
            has_length
        });
        let mut last = gap.begin;
        for part in parts.iter() {
            let given = length(last, part.end);
            last = part.end;
            // What has no sample comes after all others.
            let of_frame = |frame| self.paths.get(&(number, frame)).copied();
            let share = part.frame.map_or(class.shares.len().checked_sub(1), of_frame);
            if let Some(share) = share.and_then(|share| class.shares.get_mut(share)) {
                share.given += given;
            }
        }
    }
}

/// The samples of a gap: the time of each between the middles to its neighbours, or the ends of the gap.
fn nearest<'a>(gap: &'a Gap<'_>) -> impl Iterator<Item = (&'a Sampled, [Time; 3])> {
    let time = |sample: &Sampled| sample.time.clamp(gap.begin, gap.end);
    let mut last = gap.begin;
    gap.samples.iter().enumerate().map(move |(at, sample)| {
        let own = time(sample);
        let middle = |next: &Sampled| Time(i64::midpoint(own.0, time(next).0));
        let begin = last;
        last = gap.samples.get(at + 1).map_or(gap.end, middle).max(last);
        (sample, [begin, own.clamp(begin, last), last])
    })
}

/// How far all may reach, each at most its own distance, so that they reach so far together.
fn reach(distances: &mut [i64], together: f64) -> i64 {
    distances.sort_unstable();
    let mut rest = together;
    for (at, distance) in distances.iter().enumerate() {
        let each = rest / (distances.len() - at) as f64;
        if each <= *distance as f64 {
            return each as i64;
        }
        rest -= *distance as f64;
    }
    i64::MAX
}

impl Class {
    /// All samples are counted.
    fn counted(&mut self, slowdown: f64) {
        if self.samples == 0 {
            return;
        }
        if let Some(running) = self.running.map(|running| running * slowdown) {
            let period = running / self.samples as f64;
            let expected = self.time as f64 / period;
            let missing = expected - self.samples as f64;
            if missing > 3.0 * expected.sqrt() {
                // Periods differ by a half at most; what samples in short gaps stand for is elsewhere.
                self.reach = Some(reach(&mut self.distances, running).min((0.75 * period) as i64));
                self.shares.push(Share { frame: None, samples: missing.round() as u64, given: 0 });
            }
        }
        self.distances = Vec::new();
        self.due = (0..self.shares.len()).map(|share| Reverse(self.due(share))).collect();
    }

    fn due(&self, share: usize) -> Due {
        let Share { samples, given, .. } = self.shares[share];
        Due { twice: given.saturating_mul(2).saturating_add(self.time / self.gaps.max(1)), samples, share }
    }

    /// Gives a whole gap away.
    fn next(&mut self, time: u64) -> Option<u32> {
        // A path that was given time since its turn was found out has a later one.
        while let Some(Reverse(due)) = self.due.pop() {
            let now = self.due(due.share);
            let is_right = now == due;
            if is_right {
                self.shares[due.share].given += time;
            }
            self.due.push(Reverse(self.due(due.share)));
            if is_right {
                return self.shares[due.share].frame;
            }
        }
        None
    }
}
