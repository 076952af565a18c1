//! A graph contracted: pairs of vertices with a heavy edge between them become one.

use super::Weighted;
use crate::random::Random;

/// Graphs of so few vertices are cut as they are.
const SMALL: usize = 30;

/// The smaller graph, and which of its vertices each vertex became; none where the graph is small, or does not get smaller. Linear.
pub(super) fn coarsen(graph: &Weighted, random: &mut Random) -> Option<(Weighted, Vec<u32>)> {
    if graph.len() <= SMALL {
        return None;
    }
    // No vertex may become so heavy that no cut is even.
    let most = graph.total() / (SMALL as i64 / 2);
    let mut partner = heavy_edges(graph, most, random);
    let alone = partner.iter().filter(|&&other| other == u32::MAX).count();
    if alone * 5 > graph.len() * 2 {
        around(graph, most, &mut partner);
    }
    let (coarse, into) = contract(graph, &partner);
    (coarse.len() * 20 < graph.len() * 19).then_some((coarse, into))
}

/// Who is contracted with whom: the free neighbour over the heaviest edge. Vertices of few neighbours choose first, since they have no choice later.
fn heavy_edges(graph: &Weighted, most: i64, random: &mut Random) -> Vec<u32> {
    let mut order: Vec<u32> = (0..graph.len() as u32).collect();
    random.shuffle(&mut order);
    order.sort_by_key(|&vertex| graph.degree(vertex as usize));
    let mut partner = vec![u32::MAX; graph.len()];
    let weights = graph.vertices();
    for vertex in order {
        let rating = |&(to, weight): &(u32, i64)| weight as f64 / weights[to as usize].max(1) as f64;
        let fits = |&(to, _): &(u32, i64)| {
            partner[to as usize] == u32::MAX && weights[vertex as usize] + weights[to as usize] <= most
        };
        if partner[vertex as usize] == u32::MAX
            && let Some((to, _)) =
                graph.neighbours(vertex as usize).filter(fits).max_by(|a, b| rating(a).total_cmp(&rating(b)))
        {
            partner[vertex as usize] = to;
            partner[to as usize] = vertex;
        }
    }
    partner
}

/// Contracts vertices that are still alone with each other where they have a neighbour in common, as the leaves of a star.
fn around(graph: &Weighted, most: i64, partner: &mut [u32]) {
    let weights = graph.vertices();
    for middle in 0..graph.len() {
        let mut waiting: Option<u32> = None;
        for (to, _) in graph.neighbours(middle) {
            if partner[to as usize] != u32::MAX {
                continue;
            }
            match waiting {
                Some(other) if weights[other as usize] + weights[to as usize] <= most => {
                    partner[other as usize] = to;
                    partner[to as usize] = other;
                    waiting = None;
                }
                _ => waiting = Some(to),
            }
        }
    }
}

fn contract(graph: &Weighted, partner: &[u32]) -> (Weighted, Vec<u32>) {
    let mut into = vec![u32::MAX; graph.len()];
    let mut count = 0;
    for vertex in 0..graph.len() {
        if into[vertex] == u32::MAX {
            into[vertex] = count;
            if partner[vertex] != u32::MAX {
                into[partner[vertex] as usize] = count;
            }
            count += 1;
        }
    }
    let mut coarse = Weighted::begun();
    // Where in `edges` the edge to a vertex is, if it is there.
    let mut slot = vec![u32::MAX; count as usize];
    let mut edges: Vec<(u32, i64)> = Vec::new();
    for vertex in 0..graph.len() {
        let other = Some(partner[vertex]).filter(|&other| other != u32::MAX);
        if other.is_some_and(|other| (other as usize) < vertex) {
            continue;
        }
        let both = || std::iter::once(vertex).chain(other.map(|other| other as usize));
        for (to, weight) in both().flat_map(|end| graph.neighbours(end)) {
            let to = into[to as usize];
            if to == into[vertex] {
                continue;
            }
            if let Some(edge) = edges.get_mut(slot[to as usize] as usize).filter(|edge| edge.0 == to) {
                edge.1 += weight;
            } else {
                slot[to as usize] = edges.len() as u32;
                edges.push((to, weight));
            }
        }
        coarse.row(both().map(|end| graph.vertices()[end]).sum(), edges.drain(..));
    }
    (coarse, into)
}
