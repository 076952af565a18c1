//! The exact bound of ports: the shortest time in which units of work fit ports that they may use.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::Ports;

/// Different sets of ports that are looked at; unions of more than these are not, and the bound is one still.
const MOST_SETS: usize = 12;

/// What keeps ports busy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bound {
    /// Cycles.
    pub cycles: f64,
    /// The ports that are busy all that time; none where nothing has to be done.
    pub ports: Ports,
}

/// Cycles that work takes at least, where each piece takes so many cycles of any port of its set: the most, over unions Q of such sets, of
/// the work that must be done in Q by the number of its ports (Hall's theorem; theory of scheduling without precedence, preemptive).
/// Work without a port costs nothing. O(2^sets).
pub fn bound(work: impl IntoIterator<Item = (Ports, f64)>) -> Bound {
    let mut by_set: BTreeMap<Ports, f64> = BTreeMap::new();
    for (ports, cycles) in work {
        if ports != 0 && cycles > 0.0 {
            *by_set.entry(ports).or_default() += cycles;
        }
    }
    let mut heavy: Vec<(Ports, f64)> = by_set.iter().map(|(ports, cycles)| (*ports, *cycles)).collect();
    heavy.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let mut unions: BTreeSet<Ports> = BTreeSet::new();
    for (ports, _) in heavy.into_iter().take(MOST_SETS) {
        let more: Vec<Ports> = unions.iter().map(|union| union | ports).collect();
        unions.extend(more);
        unions.insert(ports);
    }
    let busy = |union: Ports| {
        let inside = by_set.iter().filter(|(ports, _)| *ports & !union == 0);
        inside.map(|(_, cycles)| cycles).sum::<f64>() / f64::from(union.count_ones())
    };
    let bounds = unions.into_iter().map(|ports| Bound { cycles: busy(ports), ports });
    bounds.reduce(|best, it| if it.cycles > best.cycles { it } else { best }).unwrap_or_default()
}
