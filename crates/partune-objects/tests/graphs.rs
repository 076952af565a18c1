//! Graphs to cut: grids, random geometric and random ones; the same for tests and for the program that writes them for METIS.

use partune_objects::random::Random;

/// Vertices and edges of weight 1.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) vertices: usize,
    pub(crate) edges: Vec<(u32, u32, u64)>,
}

/// Grids of two and three dimensions, points of a square that are near each other, and edges between any two; all `scale` times as long.
pub(crate) fn samples(scale: u32) -> Vec<Sample> {
    vec![grid(60 * scale), cube(14 * scale), geometric(scale), random(scale)]
}

fn grid(n: u32) -> Sample {
    let at = |x: u32, y: u32| x * n + y;
    let across = (0..n - 1).flat_map(|x| (0..n).map(move |y| (at(x, y), at(x + 1, y), 1)));
    let along = (0..n).flat_map(|x| (0..n - 1).map(move |y| (at(x, y), at(x, y + 1), 1)));
    Sample { name: "grid", vertices: (n * n) as usize, edges: across.chain(along).collect() }
}

fn cube(n: u32) -> Sample {
    let mut edges = Vec::new();
    for at in 0..n * n * n {
        let (x, y, z) = (at / (n * n), at / n % n, at % n);
        let steps = [(x, n * n), (y, n), (z, 1)];
        edges.extend(steps.iter().filter(|(c, _)| c + 1 < n).map(|&(_, step)| (at, at + step, 1)));
    }
    Sample { name: "cube", vertices: (n * n * n) as usize, edges }
}

fn geometric(scale: u32) -> Sample {
    let distance = 0.03 / f64::from(scale);
    let mut random = Random::new(7);
    let points: Vec<(f64, f64)> = (0..3000 * scale * scale).map(|_| (random.unit(), random.unit())).collect();
    let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2) < distance * distance;
    let mut edges = Vec::new();
    for a in 0..points.len() {
        edges.extend((a + 1..points.len()).filter(|&b| near(points[a], points[b])).map(|b| (a as u32, b as u32, 1)));
    }
    Sample { name: "geometric", vertices: points.len(), edges }
}

fn random(scale: u32) -> Sample {
    let mut random = Random::new(11);
    let n = 2000 * (scale * scale) as usize;
    let mut edges: Vec<(u32, u32, u64)> = Vec::new();
    while edges.len() < 4 * n {
        let (a, b) = (random.below(n) as u32, random.below(n) as u32);
        if a != b {
            edges.push((a.min(b), a.max(b), 1));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    Sample { name: "random", vertices: n, edges }
}
