//! Ten ways to go through memory, by the formulas of `goldens.py`.

/// An address, and whether it is stored to.
pub(crate) type Access = (u64, bool);

fn at(array: u64, index: u64) -> u64 {
    array * ((1 << 20) + 192) + 8 * index
}

/// Knuth's generator: the upper 31 bits of its next state.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn triad() -> Vec<Access> {
    let turn = |i| [(at(0, i), false), (at(1, i), false), (at(2, i), true)];
    (0..2).flat_map(|_| (0..2000).flat_map(turn)).collect()
}

fn stride() -> Vec<Access> {
    (0..3).flat_map(|_| (0..1500).map(|i| (at(0, 17 * i), false))).collect()
}

fn matrices() -> Vec<Access> {
    let (n, mut out) = (20, Vec::new());
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        out.extend((0..n).flat_map(|k| [(at(0, i * n + k), false), (at(1, k * n + j), false)]));
        out.push((at(2, i * n + j), true));
    }
    out
}

fn transposition() -> Vec<Access> {
    let n = 72;
    let turn = |i: u64, j: u64| [(at(0, i * n + j), false), (at(1, j * n + i), true)];
    (0..n).flat_map(|i| (0..n).flat_map(move |j| turn(i, j))).collect()
}

fn blocks() -> Vec<Access> {
    let (n, block, mut out) = (24, 8, Vec::new());
    let firsts = || (0..n).step_by(8);
    for ii in firsts() {
        for jj in firsts() {
            for kk in firsts() {
                for (i, j) in (ii..ii + block).flat_map(|i| (jj..jj + block).map(move |j| (i, j))) {
                    out.extend((kk..kk + block).flat_map(|k| [(at(0, i * n + k), false), (at(1, k * n + j), false)]));
                    out.push((at(2, i * n + j), true));
                }
            }
        }
    }
    out
}

fn anywhere() -> Vec<Access> {
    let mut state = 1;
    (0..12000).map(|_| random(&mut state)).map(|value| (at(0, value % 8192), value >> 20 & 3 < 1)).collect()
}

fn stencil() -> Vec<Access> {
    let (rows, columns, mut out) = (40, 50, Vec::new());
    for (old, new) in [(0, 1), (1, 0)] {
        for (i, j) in (1..rows - 1).flat_map(|i| (1..columns - 1).map(move |j| (i, j))) {
            let read = [(i - 1, j), (i, j - 1), (i, j), (i, j + 1), (i + 1, j)];
            out.extend(read.map(|(i, j)| (at(old, i * columns + j), false)));
            out.push((at(new, i * columns + j), true));
        }
    }
    out
}

fn chase() -> Vec<Access> {
    let next = |node: &u64| Some((node * 5 + 3) % 1024);
    std::iter::successors(Some(0), next).take(3 * 700).map(|node| (at(0, 8 * node), false)).collect()
}

fn cyclic() -> Vec<Access> {
    (0..20).flat_map(|_| (0..257).map(|line| (at(0, 8 * line), false))).collect()
}

fn interleaved() -> Vec<Access> {
    let mut state = 7;
    (0..5000).flat_map(|i| [(at(0, i), true), (at(1, random(&mut state) % 1000), false)]).collect()
}

pub(crate) type Trace = fn() -> Vec<Access>;

/// By name, as in `goldens.txt`.
pub(crate) const TRACES: [(&str, Trace); 10] = [
    ("triad", triad),
    ("stride", stride),
    ("matrices", matrices),
    ("transposition", transposition),
    ("blocks", blocks),
    ("anywhere", anywhere),
    ("stencil", stencil),
    ("chase", chase),
    ("cyclic", cyclic),
    ("interleaved", interleaved),
];
