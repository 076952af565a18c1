//! What walks of the stack may take of a thread's time, and how deep they are when they take more.
//!
//! A walk is only needed where the stack is another one than before; a program whose call paths vary much walks at each call. So walks are timed, all of
//! them: two readings of the clock are little beside one. A thread has as much credit as a second brings, and never more; when it is used up, what
//! it had in the last second or so was not enough, and paths get shallower.

use partune_parts::clock;

/// The credit of a thread, in ticks.
pub(crate) struct Budget {
    /// Millionths of the time that walks may take; any number may be spent where there is none.
    share: Option<u32>,
    /// Ticks of a second.
    second: u64,
    /// When time was looked at last; 0: never.
    last: u64,
    /// Multiplied by a million.
    left: i128,
}

const MILLION: i128 = 1_000_000;
/// What took longer than this part of a second was interrupted, and says nothing about walks.
const LONGEST: u64 = 10_000;

impl Budget {
    pub(crate) const UNLIMITED: Budget = Budget { share: None, second: 0, last: 0, left: 0 };

    /// A share of the time in millionths.
    pub(crate) fn of(share: u32) -> Budget {
        Budget { share: Some(share), second: 0, last: 0, left: 0 }
    }

    /// The share of the time, if more was spent.
    pub(crate) fn exceeded(&self) -> Option<u32> {
        self.share.filter(|_| self.left < 0)
    }

    /// From now on it is as if nothing was spent.
    pub(crate) fn renew(&mut self) {
        self.left = self.most();
    }

    /// There was a walk.
    pub(crate) fn spend(&mut self, begin: u64, end: u64) {
        let Some(share) = self.share else { return };
        if self.last == 0 {
            self.second = clock::microsecond() * 1_000_000;
            self.last = begin;
            self.renew();
        }
        let passed = i128::from(end.saturating_sub(self.last));
        let took = i128::from(end.saturating_sub(begin).min(self.second / LONGEST));
        self.left = (self.left + passed * i128::from(share)).min(self.most()) - took * MILLION;
        self.last = end;
    }

    fn most(&self) -> i128 {
        i128::from(self.second) * i128::from(self.share.unwrap_or(0))
    }
}

/// How deep paths are next that are so deep and cost too much: half as deep, at last one frame; none if that is all they have.
pub(crate) fn shallower(frames: usize) -> Option<usize> {
    const FEW: usize = 4;
    match frames {
        0 | 1 => None,
        2..=FEW => Some(1),
        frames => Some((frames / 2).max(FEW)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks of a microsecond.
    const SECOND: u64 = 1_000_000;

    /// A budget of 5 %, from when it was first asked.
    fn budget() -> Budget {
        let mut budget = Budget { second: SECOND, last: 1, ..Budget::of(50_000) };
        budget.renew();
        budget
    }

    /// How many walks of 10 ticks, one each so many ticks, are too much; at most so many.
    fn walks(each: u64, most: u64) -> Option<u64> {
        let mut budget = budget();
        (0..most).find(|walk| {
            budget.spend(walk * each + 1, walk * each + 11);
            budget.exceeded().is_some()
        })
    }

    #[test]
    fn what_is_within_the_share_may_go_on_for_ever() {
        // 10 of 200 ticks are 5 %; the credit of a second, which is there from the begin, is not touched.
        assert_eq!(walks(200, 1_000_000), None);
        // A burst of 40 of the 50 milliseconds that a second brings.
        assert_eq!(walks(10, 4_000), None);
    }

    #[test]
    fn what_is_more_is_met_when_a_second_has_brought_too_little() {
        // Half of the time: 10 ticks are spent and 1 comes in each 20, so 50,000 ticks of credit last for 50,000 / 9 walks. The first came 10 late.
        let found = walks(20, 1_000_000).expect("too much");
        assert!((5_555..5_558).contains(&found), "{found}");
        // 6 %: after 50,000 / (10 - 0.05 * 166.7), which is 5 seconds.
        let found = walks(166, 1_000_000).expect("too much");
        assert!((29_000..30_000).contains(&found), "{found}");
    }

    #[test]
    fn credit_does_not_grow_while_nothing_is_walked() {
        let mut budget = budget();
        budget.spend(1, 2);
        let before = budget.left;
        budget.spend(100 * SECOND, 100 * SECOND + 10);
        assert!(budget.left <= budget.most() && budget.left <= before + 50_000 * 10);
    }

    #[test]
    fn an_interruption_is_no_walk() {
        let mut budget = budget();
        // A hundred times the processor was taken away for a tenth of a second, in which no credit comes but by time.
        for walk in 0..100 {
            budget.left = budget.left.min(budget.most() / 2);
            budget.spend(walk * 100_001 + 1, walk * 100_001 + 100_001);
        }
        assert_eq!(budget.exceeded(), None);
    }

    #[test]
    fn without_a_budget_nothing_is_too_much() {
        let mut budget = Budget::UNLIMITED;
        budget.spend(1, SECOND);
        assert_eq!(budget.exceeded(), None);
    }

    #[test]
    fn paths_are_halved_down_to_one_frame() {
        let all = |from: usize| std::iter::successors(Some(from), |frames| shallower(*frames)).collect::<Vec<_>>();
        assert_eq!(all(64), [64, 32, 16, 8, 4, 1]);
        assert_eq!(all(23), [23, 11, 5, 4, 1]);
        assert_eq!(all(2), [2, 1]);
        assert_eq!(all(0), [0]);
    }
}
