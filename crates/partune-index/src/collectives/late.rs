//! Where the run had begun before the recording: whose k-th operation of a group is the same.
//!
//! Some members had begun the first one before, and others not. The last one is the same for all where the run came to its end. Where it did not, some
//! may have left one more than others; then the first one may be the same. Nobody leaves an operation that synchronises before the last one came, which
//! tells the two apart.

use partune_base::Time;
use partune_trace::Role;

use super::assemble::Part;

/// Numbers the parts of each set so that the last ones are the same operation, unless then more of them are impossible than if the first ones are.
pub(super) fn count_from_end(parts: &mut [Vec<Part>]) {
    let sets = parts.iter().flatten().map(|part| part.set as usize + 1).max().unwrap_or(0);
    let mut sizes = vec![0_u32; sets];
    for part in parts.iter().flatten() {
        sizes[part.set as usize] = sizes[part.set as usize].max(part.ordinal + 1);
    }
    let from_begin = impossible(parts, &sizes);
    let behind: Vec<Vec<u32>> = parts.iter().map(|parts| behind(parts, &sizes)).collect();
    let shift = |parts: &mut [Vec<Part>], wanted: &dyn Fn(u32) -> bool, back: bool| {
        for (part, by) in parts.iter_mut().flatten().zip(behind.iter().flatten()).filter(|(part, _)| wanted(part.set)) {
            part.ordinal = if back { part.ordinal - by } else { part.ordinal + by };
        }
    };
    shift(parts, &|_| true, false);
    let from_end = impossible(parts, &sizes);
    shift(parts, &|set| from_end[set as usize] > from_begin[set as usize], true);
}

/// By how many operations the member of each part has fewer than the one with most in its set.
fn behind(parts: &[Part], sizes: &[u32]) -> Vec<u32> {
    let mut own = vec![0_u32; sizes.len()];
    for part in parts {
        own[part.set as usize] += 1;
    }
    parts.iter().map(|part| sizes[part.set as usize] - own[part.set as usize]).collect()
}

/// By set how many operations somebody left before the last one came.
fn impossible(parts: &[Vec<Part>], sizes: &[u32]) -> Vec<u32> {
    let mut firsts = vec![0; sizes.len() + 1];
    for (set, size) in sizes.iter().enumerate() {
        firsts[set + 1] = firsts[set] + *size as usize;
    }
    let mut spans = vec![(Time::MIN, Time::MAX); firsts[sizes.len()]];
    let synchronises = |part: &&Part| matches!(part.role, Role::GroupSync | Role::AllToAll);
    for part in parts.iter().flatten().filter(synchronises) {
        let span = &mut spans[firsts[part.set as usize] + part.ordinal as usize];
        *span = (span.0.max(part.member.enter), span.1.min(part.member.exit));
    }
    let count =
        |set: usize| spans[firsts[set]..firsts[set + 1]].iter().filter(|(enter, exit)| exit < enter).count() as u32;
    (0..sizes.len()).map(count).collect()
}
