//! All parts together: vertices at borders go to the neighbouring part to which they have most edges.

use super::Weighted;

/// Passes over all vertices, until one changes nothing. Parts that are too heavy give away what costs least. Linear in edges a pass.
pub(super) fn refine(graph: &Weighted, part: &mut [u32], parts: u32, most: i64, passes: u32) {
    let mut weights = vec![0_i64; parts as usize];
    part.iter().zip(graph.vertices()).for_each(|(&part, &weight)| weights[part as usize] += weight);
    // Weight of a vertex's edges to each part, and the parts that have any.
    let mut edges = vec![0_i64; parts as usize];
    let mut near: Vec<u32> = Vec::new();
    let mut is_near = vec![false; parts as usize];
    for _ in 0..passes {
        let mut changed = false;
        for vertex in 0..graph.len() {
            let own = part[vertex];
            for (to, weight) in graph.neighbours(vertex) {
                let other = part[to as usize];
                if !is_near[other as usize] {
                    is_near[other as usize] = true;
                    near.push(other);
                }
                edges[other as usize] += weight;
            }
            let weight = graph.vertices()[vertex];
            let fits = |other: &u32| *other != own && weights[*other as usize] + weight <= most;
            let best = near
                .iter()
                .copied()
                .filter(fits)
                .max_by_key(|&other| (edges[other as usize], std::cmp::Reverse((weights[other as usize], other))));
            let heavy = weights[own as usize] > most;
            // A part that is too heavy and has no neighbour with room gives to the lightest one.
            let lightest = || (0..parts).min_by_key(|&other| (weights[other as usize], other)).filter(fits);
            if let Some(other) = best.or_else(|| heavy.then(lightest).flatten()) {
                let gain = edges[other as usize] - edges[own as usize];
                let evener = weights[other as usize] + weight < weights[own as usize];
                if gain > 0 || (gain == 0 && evener) || heavy {
                    weights[own as usize] -= weight;
                    weights[other as usize] += weight;
                    part[vertex] = other;
                    changed = true;
                }
            }
            for other in near.drain(..) {
                edges[other as usize] = 0;
                is_near[other as usize] = false;
            }
        }
        if !changed {
            break;
        }
    }
}
