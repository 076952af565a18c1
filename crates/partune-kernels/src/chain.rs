//! The chain of results that one turn of a loop needs from the one before: however wide the core is, a turn takes no less.

use crate::body::{Body, Need};

/// Nodes times edges of one look for a longer chain; bodies with more are not looked at.
const MOST: usize = 1 << 26;
/// Edges that are followed in all looks together, after which the body counts as too large.
const MOST_FOLLOWED: usize = 1 << 29;

/// The longest chain through turns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Cycles a turn.
    pub cycles: f64,
    /// Positions of its instructions in the body, in the order in which they need each other, from the first one on.
    pub instructions: Vec<usize>,
}

/// The greatest ratio of cycles to turns among all cycles of needs. Exact: a chain is improved until none has a greater ratio (Dinkelbach's
/// method with Bellman's and Ford's). Empty where nothing is needed from turn to turn, and none of bodies that are too large.
pub fn longest(body: &Body<'_>) -> Option<Chain> {
    let nodes = body.code.len();
    if nodes.saturating_mul(body.needs.len()) > MOST {
        return None;
    }
    let mut best = Chain::default();
    let (mut cycles, mut turns) = (0, 1);
    let mut followed = 0;
    while let Some(found) = positive(body, nodes, &mut followed, |need| {
        i64::from(body.cost(need)) * turns - i64::from(need.distance) * cycles
    }) {
        if followed > MOST_FOLLOWED {
            return None;
        }
        cycles = found.iter().map(|need| i64::from(body.cost(need))).sum();
        turns = found.iter().map(|need| i64::from(need.distance)).sum();
        if turns == 0 {
            // Nothing needs itself in the same turn.
            break;
        }
        let mut instructions: Vec<usize> = found.iter().map(|need| need.from).collect();
        let first = (0..instructions.len()).min_by_key(|at| instructions[*at]).unwrap_or(0);
        instructions.rotate_left(first);
        best = Chain { cycles: cycles as f64 / turns as f64, instructions };
    }
    Some(best)
}

/// A cycle of needs whose weights have a positive sum, if there is one; counts the edges that it followed.
fn positive<'b>(
    body: &'b Body<'_>,
    nodes: usize,
    followed: &mut usize,
    weight: impl Fn(&Need) -> i64,
) -> Option<Vec<&'b Need>> {
    let mut longest = vec![0; nodes];
    let mut by: Vec<Option<&Need>> = vec![None; nodes];
    let mut last = None;
    for _ in 0..=nodes {
        last = None;
        *followed += body.needs.len();
        for need in &body.needs {
            let reached = longest[need.from] + weight(need);
            if reached > longest[need.to] {
                longest[need.to] = reached;
                by[need.to] = Some(need);
                last = Some(need.to);
            }
        }
        last?;
    }
    // So many steps back it is in a cycle.
    let mut at = last?;
    for _ in 0..nodes {
        at = by[at]?.from;
    }
    let begin = at;
    let mut cycle = Vec::new();
    loop {
        let need = by[at]?;
        cycle.push(need);
        at = need.from;
        if at == begin {
            cycle.reverse();
            return Some(cycle);
        }
    }
}
