//! Blocks whose borders few messages cross: which proportions they are to have, and which grid of PEs gives these.
//!
//! With `p_k` PEs along dimension `k`, of which `M_k` messages cross the middle, about `Σ (p_k - 1) M_k` messages leave their PE. Were grids
//! not whole, the best had `p_k = (P Π M)^(1/d) / M_k`, so that the edge of a block is as `n_k M_k`.

use std::cmp::Ordering;

use crate::graph::{ArrayId, EventGraph, Kind};

/// Messages between objects of an array that cross the plane in the middle of each dimension. Linear.
pub fn crossing(graph: &EventGraph, array: ArrayId) -> Vec<u64> {
    let rank = graph.arrays().get(array).map_or(0, |&rank| usize::from(rank));
    let objects = || graph.objects().iter().filter(|object| object.array == array);
    let of = |dim: usize| objects().map(move |object| i64::from(object.at[dim]));
    let middle: Vec<i64> = (0..rank).map(|dim| of(dim).min().unwrap_or(0) + of(dim).max().unwrap_or(0)).collect();
    let (executions, messages) = (graph.executions(), graph.messages());
    let mut crossing = vec![0; rank];
    for id in messages.kind.ids().filter(|&id| messages.kind[id] == Kind::Message) {
        let ends = [messages.source[id], messages.destination[id]].map(|end| graph.objects()[executions.object[end]]);
        if ends.iter().all(|end| end.array == array) {
            for (dim, count) in crossing.iter_mut().enumerate() {
                let beyond = ends.map(|end| i64::from(end.at[dim]) * 2 > middle[dim]);
                *count += u64::from(beyond[0] != beyond[1]);
            }
        }
    }
    crossing
}

/// Proportions of the edges of blocks, in objects, that add up to 1; as those of the array where nothing crosses anything.
pub fn aspect(extents: &[u32], crossing: &[u64]) -> Vec<f64> {
    let nothing = crossing.iter().all(|&count| count == 0);
    let edge = |(&n, &count): (&u32, &u64)| f64::from(n) * if nothing { 1.0 } else { count as f64 };
    let edges: Vec<f64> = extents.iter().zip(crossing).map(edge).collect();
    let sum: f64 = edges.iter().sum();
    edges.iter().map(|edge| if sum > 0.0 { edge / sum } else { 0.0 }).collect()
}

/// The grid with the fewest messages between PEs; of those alike the one with the smallest largest block, then the first. Grids that leave fewer
/// PEs without objects come before all. As many steps as [`factorisations`].
pub fn grid(pes: u32, extents: &[u32], aspect: &[f64]) -> Vec<u32> {
    let rate = |dim: usize| {
        let rate = aspect.get(dim).copied().unwrap_or(0.0) / f64::from(extents[dim].max(1));
        if rate.is_finite() { rate.max(0.0) } else { 0.0 }
    };
    let rates: Vec<f64> = (0..extents.len()).map(rate).collect();
    let mut best: Option<(u128, f64, u128, Vec<u32>)> = None;
    factorisations(pes, extents.len(), &mut |grid| {
        let each = || grid.iter().zip(extents).map(|(&p, &n)| (p, n.max(1)));
        let used: u128 = each().map(|(p, n)| u128::from(p.min(n))).product();
        let idle = u128::from(pes).saturating_sub(used);
        let traffic: f64 = grid.iter().zip(&rates).map(|(&p, rate)| f64::from(p - 1) * rate).sum();
        let largest: u128 = each().map(|(p, n)| u128::from(n.div_ceil(p))).fold(1, u128::saturating_mul);
        let better = |known: &(u128, f64, u128, Vec<u32>)| {
            let less = if (traffic - known.1).abs() <= 1e-9 * known.1.abs() {
                Ordering::Equal
            } else {
                traffic.total_cmp(&known.1)
            };
            idle.cmp(&known.0).then(less).then(largest.cmp(&known.2)) == Ordering::Less
        };
        if best.as_ref().is_none_or(better) {
            best = Some((idle, traffic, largest, grid.to_vec()));
        }
    });
    best.map(|best| best.3).unwrap_or_default()
}

/// Shows all ways to write `pes` as a product of `rank` numbers, in lexicographic order. With `d` divisors of `pes` at most `d^(rank - 1)`.
pub fn factorisations(pes: u32, rank: usize, show: &mut impl FnMut(&[u32])) {
    let divisors = divisors(pes.max(1));
    if rank > 0 {
        extend(pes.max(1), rank, &divisors, &mut Vec::with_capacity(rank), show);
    }
}

fn extend(left: u32, rank: usize, divisors: &[u32], grid: &mut Vec<u32>, show: &mut impl FnMut(&[u32])) {
    if grid.len() + 1 == rank {
        grid.push(left);
        show(grid);
        grid.pop();
        return;
    }
    for &divisor in
        divisors.iter().take_while(|&&divisor| divisor <= left).filter(|&&divisor| left.is_multiple_of(divisor))
    {
        grid.push(divisor);
        extend(left / divisor, rank, divisors, grid, show);
        grid.pop();
    }
}

/// In ascending order; none of 0.
pub(crate) fn divisors(number: u32) -> Vec<u32> {
    let small: Vec<u32> = (1..=number.isqrt()).filter(|divisor| number.is_multiple_of(*divisor)).collect();
    let large = small.iter().rev().map(|divisor| number / divisor).filter(|divisor| !small.contains(divisor));
    small.iter().copied().chain(large).collect()
}
