//! The largest of many, in any part of them, without a look at all: a tree of largest ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Values below one node.
const EACH: usize = 16;

/// Positions of the largest of every 16 values, of these of every 16, and so on: 0.27 bytes a value.
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    levels: Vec<Vec<u32>>,
    len: usize,
}

impl Longest {
    /// Linear.
    pub(crate) fn new(len: usize, value: impl Fn(usize) -> i64) -> Longest {
        let mut levels: Vec<Vec<u32>> = Vec::new();
        let mut below = len;
        while below > 1 {
            let last = levels.last();
            let node = |node: usize| {
                let children = node * EACH..((node + 1) * EACH).min(below);
                let positions = children.map(|child| last.map_or(child, |level| level[child] as usize));
                positions.min_by_key(|at| (Reverse(value(*at)), *at)).unwrap_or(0) as u32
            };
            let level: Vec<u32> = (0..below.div_ceil(EACH)).map(node).collect();
            below = level.len();
            levels.push(level);
        }
        Longest { levels, len }
    }

    /// The position of the largest value in a part, the first of equal ones. Looks at 32 nodes a level.
    fn largest(&self, part: &Range<usize>, value: &impl Fn(usize) -> i64) -> Option<usize> {
        let (mut begin, mut end) = (part.start.min(self.len), part.end.min(self.len));
        let mut best: Option<(Reverse<i64>, usize)> = None;
        let mut look = |at: usize| {
            let seen = (Reverse(value(at)), at);
            if best.is_none_or(|best| seen < best) {
                best = Some(seen);
            }
        };
        let position = |level: usize, node: usize| {
            if level == 0 { node } else { self.levels[level - 1][node] as usize }
        };
        for level in 0..=self.levels.len() {
            if end.saturating_sub(begin) <= 2 * EACH || level == self.levels.len() {
                (begin..end).for_each(|node| look(position(level, node)));
                break;
            }
            while begin % EACH != 0 {
                look(position(level, begin));
                begin += 1;
            }
            while end % EACH != 0 {
                end -= 1;
                look(position(level, end));
            }
            (begin, end) = (begin / EACH, end / EACH);
        }
        best.map(|(_, at)| at)
    }

    /// The positions of the largest values of some parts, largest first, at most so many. A few hundred steps for each that is found,
    /// however many there are.
    pub(crate) fn top(&self, parts: &[Range<usize>], most: usize, value: impl Fn(usize) -> i64) -> Vec<usize> {
        let candidate = |part: Range<usize>| {
            let at = self.largest(&part, &value)?;
            Some((value(at), Reverse(at), Reverse(part.start), part.end))
        };
        let mut heap: BinaryHeap<_> = parts.iter().cloned().filter_map(candidate).collect();
        let mut found = Vec::new();
        while found.len() < most
            && let Some((_, Reverse(at), Reverse(begin), end)) = heap.pop()
        {
            found.push(at);
            heap.extend([begin..at, at + 1..end].into_iter().filter_map(candidate));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: Range<usize> = 0..10_000;
    const EMPTY: Range<usize> = 5..5;

    #[test]
    fn the_largest_of_any_parts() {
        // 0 … 4999 in an order of no meaning, each twice.
        let values: Vec<i64> = (0..10_000).map(|i| i * 7919 % 10_000 / 2).collect();
        let longest = Longest::new(values.len(), |at| values[at]);
        let cases: [&[Range<usize>]; 5] =
            [&[RANGE], &[3..4, 17..900, 901..902], &[EMPTY], &[9_990..20_000, 100..4000], &[]];
        for parts in cases {
            let mut expected: Vec<usize> = parts.iter().cloned().flatten().filter(|at| *at < values.len()).collect();
            expected.sort_by_key(|at| (Reverse(values[*at]), *at));
            for most in [0, 1, 50, 3000] {
                let found = longest.top(parts, most, |at| values[at]);
                assert_eq!(found, expected[..most.min(expected.len())], "{most} of {parts:?}");
            }
        }
        assert_eq!(Longest::new(1, |_| 5).top(&[RANGE], 9, |_| 5), [0]);
        assert!(Longest::new(0, |_| 5).top(&[RANGE], 9, |_| 5).is_empty());
    }
}
