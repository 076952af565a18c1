//! Batches of an operation that PEs do together, whatever the PEs are.

use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use crate::samples::{Plan, plan};

/// PEs that measure together.
pub(crate) trait Peers {
    /// Waits for all of them.
    fn meet(&self);

    /// The largest of each value, everywhere. All give as many.
    fn most(&self, mine: &[f64]) -> Vec<f64>;
}

/// Nobody else.
pub(crate) struct Alone;

impl Peers for Alone {
    fn meet(&self) {}

    fn most(&self, mine: &[f64]) -> Vec<f64> {
        mine.to_vec()
    }
}

/// Threads of this process.
pub(crate) struct Crew {
    barrier: Barrier,
    values: Mutex<Vec<f64>>,
}

impl Crew {
    pub(crate) fn of(threads: u32) -> Crew {
        Crew { barrier: Barrier::new(threads as usize), values: Mutex::default() }
    }

    fn values(&self) -> std::sync::MutexGuard<'_, Vec<f64>> {
        self.values.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Peers for Crew {
    fn meet(&self) {
        self.barrier.wait();
    }

    fn most(&self, mine: &[f64]) -> Vec<f64> {
        if self.barrier.wait().is_leader() {
            *self.values() = vec![f64::NEG_INFINITY; mine.len()];
        }
        self.barrier.wait();
        self.values().iter_mut().zip(mine).for_each(|(most, value)| *most = most.max(*value));
        self.barrier.wait();
        let most = self.values().clone();
        // Nobody begins anew before all have read.
        self.barrier.wait();
        most
    }
}

/// Samples of an operation that all do together: of each, the time of the slowest. The operation is told its number, so
/// that roots take turns and none runs ahead.
pub(crate) fn together(peers: &dyn Peers, slice_s: f64, mut operation: impl FnMut(i32)) -> Vec<f64> {
    batches(peers, slice_s, |batch| {
        let begin = Instant::now();
        (0..batch).for_each(&mut operation);
        begin.elapsed().as_secs_f64()
    })
}

/// The same for an operation that says itself how long it took.
pub(crate) fn inside(peers: &dyn Peers, slice_s: f64, mut operation: impl FnMut(i32) -> f64) -> Vec<f64> {
    batches(peers, slice_s, |batch| (0..batch).map(&mut operation).sum())
}

/// Samples of batches that begin together; all agree how many there are, because all know the slowest of a first one, and what all took so far: where others
/// take the processors, an operation may take a thousand times what the first one took.
fn batches(peers: &dyn Peers, slice_s: f64, mut run: impl FnMut(i32) -> f64) -> Vec<f64> {
    run(2);
    peers.meet();
    let begin = Instant::now();
    run(1);
    let one_s = peers.most(&[begin.elapsed().as_secs_f64()])[0];
    let mut plan = plan(one_s, slice_s);
    let mut mine = Vec::new();
    let (begin, mut spent_s) = (Instant::now(), 0.0);
    while plan.goes_on(mine.len(), spent_s, slice_s) {
        peers.meet();
        mine.push(run(plan.batch as i32) / f64::from(plan.batch));
        let now_s = peers.most(&[begin.elapsed().as_secs_f64()])[0];
        plan.shrink(now_s - spent_s, slice_s);
        spent_s = now_s;
    }
    peers.most(&mine)
}

/// Samples of each of several steps that one PE does one after the other: a round gives the seconds of each.
pub(crate) fn rounds<const STEPS: usize>(slice_s: f64, mut round: impl FnMut() -> [f64; STEPS]) -> [Vec<f64>; STEPS] {
    let mut samples: [Vec<f64>; STEPS] = std::array::from_fn(|_| Vec::new());
    round();
    let begin = Instant::now();
    round();
    let Plan { batch, samples: count } = plan(begin.elapsed().as_secs_f64(), slice_s);
    for _ in 0..count {
        let mut sums = [0.0; STEPS];
        for _ in 0..batch {
            sums.iter_mut().zip(round()).for_each(|(sum, time)| *sum += time);
        }
        samples.iter_mut().zip(sums).for_each(|(samples, sum)| samples.push(sum / f64::from(batch)));
    }
    samples
}

/// Seconds that something takes, without reading the clock, as that took just before: it varies with the processor's frequency. Less than nothing now and
/// then, for what takes next to nothing.
pub(crate) fn timed(something: impl FnOnce()) -> f64 {
    // The first reading finds caches as the operation before left them.
    let [_, before, begin] = [(); 3].map(|()| Instant::now());
    something();
    begin.elapsed().as_secs_f64() - (begin - before).as_secs_f64()
}

/// Two PEs of which one gives something that the other waits for.
pub(crate) struct HandOver<'a> {
    /// The giver takes what the other will wait for.
    pub(crate) take: &'a (dyn Fn() + Sync),
    /// The giver gives it.
    pub(crate) give: &'a (dyn Fn() + Sync),
    /// The other waits for it.
    pub(crate) wait: &'a (dyn Fn() + Sync),
    /// The other is done with it.
    pub(crate) done: &'a (dyn Fn() + Sync),
}

impl HandOver<'_> {
    /// How long the other has time to begin to wait, at first; on a busy machine it may come late, and then has more the next time, up to a limit.
    const NAP: Duration = Duration::from_micros(200);
    const LONGEST_NAP: Duration = Duration::from_millis(50);

    /// Samples of what giving takes, and of the time from then until the other went on. `first` is the giver; both
    /// PEs call this, and `now` is the time in seconds on a clock that they share.
    pub(crate) fn samples(&self, peers: &dyn Peers, first: bool, now: &dyn Fn() -> f64, slice_s: f64) -> [Vec<f64>; 2] {
        let mut samples = [Vec::new(), Vec::new()];
        let mut nap = HandOver::NAP;
        let began = now();
        loop {
            if first {
                (self.take)();
            }
            peers.meet();
            let mine = if first {
                std::thread::sleep(nap);
                let begin = now();
                (self.give)();
                let gave = now();
                [begin, gave, 0.0, 0.0, gave - began]
            } else {
                let came = now();
                (self.wait)();
                let got = now();
                (self.done)();
                [0.0, 0.0, came, got, 0.0]
            };
            let [begin, gave, came, got, spent] = peers.most(&mine)[..] else { return samples };
            if came > begin && nap < HandOver::LONGEST_NAP {
                nap *= 2;
                continue;
            }
            samples[0].push(gave - begin);
            samples[1].push((got - begin).max(0.0));
            let count = samples[0].len();
            if (spent >= slice_s && count >= 3 || count >= 51) && count % 2 == 1 {
                return samples;
            }
        }
    }
}
