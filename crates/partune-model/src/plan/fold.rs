//! What comes again and again, folded.

/// Patterns that are looked for are at most so long.
const LONGEST: usize = 32;

/// So many items from one on, and how often they come one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    pub begin: usize,
    pub period: usize,
    pub times: usize,
}

/// Items as patterns and how often each comes, in order: at each place the pattern that covers most, the shortest of equal ones.
pub fn fold<T: PartialEq>(items: &[T]) -> Vec<Fold> {
    let mut folds = Vec::new();
    let mut begin = 0;
    while begin < items.len() {
        let rest = &items[begin..];
        let mut best = Fold { begin, period: 1, times: 1 };
        for period in 1..=LONGEST.min(rest.len() / 2) {
            let same = rest.iter().zip(&rest[period..]).take_while(|(a, b)| a == b).count();
            let times = 1 + same / period;
            if times > 1 && times * period > best.times * best.period {
                best = Fold { begin, period, times };
            }
        }
        begin += best.period * best.times;
        folds.push(best);
    }
    folds
}
