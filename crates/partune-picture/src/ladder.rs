//! How much of a time was spent in what, up to any moment: sums at every 16th of many intervals, and a short scan from there.

use partune_base::Time;

/// Intervals between two rungs.
const EACH: usize = 16;

/// One of the intervals that a ladder stands on: from, to, what it counts for.
pub(crate) type Interval = (Time, Time, usize);

/// Sums of intervals that do not overlap, in order of time: (1 + `KINDS`) / 2 bytes an interval.
#[derive(Clone, Debug)]
pub(crate) struct Ladder<const KINDS: usize> {
    /// Begin of every 16th interval, and the sums of all before it.
    begins: Vec<Time>,
    sums: Vec<[i64; KINDS]>,
    len: usize,
}

/// Where somebody stands who goes up: the next interval, and the sums of those before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Climb<const KINDS: usize> {
    next: usize,
    sums: [i64; KINDS],
}

impl<const KINDS: usize> Default for Climb<KINDS> {
    fn default() -> Self {
        Climb { next: 0, sums: [0; KINDS] }
    }
}

impl<const KINDS: usize> Ladder<KINDS> {
    /// Linear.
    pub(crate) fn new(len: usize, at: impl Fn(usize) -> Interval) -> Ladder<KINDS> {
        let (mut begins, mut sums) = (Vec::with_capacity(len.div_ceil(EACH)), Vec::with_capacity(len.div_ceil(EACH)));
        let mut sum = [0; KINDS];
        for index in 0..len {
            let (begin, end, kind) = at(index);
            if index % EACH == 0 {
                begins.push(begin);
                sums.push(sum);
            }
            sum[kind] += end.since(begin).0;
        }
        Ladder { begins, sums, len }
    }

    /// The time of each kind before a moment, exactly. Moments must not run backwards between calls with one climb. `at` is what the
    /// ladder was made of. Looks at 16 intervals at most, however many there are, and at none twice.
    pub(crate) fn before(
        &self,
        climb: &mut Climb<KINDS>,
        moment: Time,
        at: impl Fn(usize) -> Interval,
    ) -> [i64; KINDS] {
        let rung = climb.next.div_ceil(EACH);
        if self.begins.get(rung).is_some_and(|begin| *begin < moment) {
            let rung = first_from(&self.begins, rung, moment) - 1;
            *climb = Climb { next: rung * EACH, sums: self.sums[rung] };
        }
        while climb.next < self.len {
            let (begin, end, kind) = at(climb.next);
            if end > moment {
                let mut sums = climb.sums;
                sums[kind] += moment.since(begin).0;
                return sums;
            }
            climb.sums[kind] += end.since(begin).0;
            climb.next += 1;
        }
        climb.sums
    }
}

/// The first of some times in order that is not before a moment, from one on that is not after it: in steps that double, since it is often near.
pub(crate) fn first_from(times: &[Time], from: usize, moment: Time) -> usize {
    let mut step = 1;
    while times.get(from + step).is_some_and(|time| *time < moment) {
        step *= 2;
    }
    let (low, high) = (from + step / 2, times.len().min(from + step));
    low.min(high) + times[low.min(high)..high].partition_point(|time| *time < moment)
}
