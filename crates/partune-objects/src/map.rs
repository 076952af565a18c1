//! Maps from coordinates to PEs, symbolic in the number of PEs and the extents of the array: what a hint can say of another run.

use crate::block;
use crate::graph::{Coordinates, DIMENSIONS};

/// How many PEs lie along each dimension. Their product is always the number of PEs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grid {
    /// All along one dimension.
    Line(u8),
    /// The factorisation whose proportions are nearest to these; `[1, 1]` is as square as can be.
    Like(Vec<u32>),
}

/// The edge of a block, in objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Of(u32),
    /// As large as it can be with a block for each PE along the dimension.
    Even,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Map {
    /// One block for each PE; edges of blocks, in objects, are to have these proportions, 0 where a dimension is not to communicate.
    Block { aspect: Vec<f64> },
    /// Σ `stride_k · ((x_k / size_k) mod p_k)`: in one dimension `(i / a) mod P`, in two `(i / a) mod b + b ((j / c) mod d)`.
    BlockCyclic { size: Vec<Size>, grid: Grid },
    /// `((i - k) / a) mod b + b (((j - k) / c) mod d)`: each PE has as many tiles in every plane of a cube of tiles (Naik).
    MultiPartition { size: [Size; 2], grid: Grid },
}

impl Map {
    /// For an array of these extents on so many PEs; 0 PEs are taken for 1.
    pub fn on(&self, extents: &[u32], pes: u32) -> Placed {
        let (pes, rank) = (pes.max(1), extents.len().min(DIMENSIONS));
        let extents = &extents[..rank];
        let (rule, grid, size) = match self {
            Map::Block { aspect } => (Rule::Block, block::grid(pes, extents, aspect), vec![]),
            Map::BlockCyclic { size, grid } => (Rule::Cyclic, grid.on(rank, pes), size.clone()),
            Map::MultiPartition { size, grid } if rank == 3 => (Rule::Diagonal, grid.on(2, pes), size.to_vec()),
            // Without a third dimension nothing is diagonal.
            Map::MultiPartition { size, grid } => (Rule::Cyclic, grid.on(rank, pes), size.to_vec()),
        };
        let mut placed = Placed { rule, extents: [1; DIMENSIONS], size: [1; DIMENSIONS], grid: [1; DIMENSIONS] };
        for (dim, &count) in grid.iter().enumerate() {
            placed.grid[dim] = i64::from(count);
            placed.extents[dim] = i64::from(extents[dim].max(1));
            placed.size[dim] = match size.get(dim) {
                Some(Size::Of(size)) => i64::from((*size).max(1)),
                Some(Size::Even) => {
                    placed.extents[dim].div_euclid(placed.grid[dim]).max(1)
                        + i64::from(
                            placed.extents[dim] > placed.grid[dim] && placed.extents[dim] % placed.grid[dim] > 0,
                        )
                }
                None => 1,
            };
        }
        placed
    }
}

impl Grid {
    /// PEs along each of `rank` dimensions; none where there are no dimensions, and everything is on one PE.
    fn on(&self, rank: usize, pes: u32) -> Vec<u32> {
        match self {
            Grid::Line(dim) => {
                (0..rank).map(|at| if at == usize::from(*dim).min(rank - 1) { pes } else { 1 }).collect()
            }
            Grid::Like(like) => {
                let log = |count: u32| f64::from(count.max(1)).ln();
                let like: Vec<f64> = (0..rank).map(|dim| log(like.get(dim).copied().unwrap_or(1))).collect();
                let share = (log(pes) - like.iter().sum::<f64>()) / rank.max(1) as f64;
                let mut best: Option<(f64, Vec<u32>)> = None;
                block::factorisations(pes, rank, &mut |grid| {
                    let off = grid.iter().zip(&like).map(|(&count, like)| (log(count) - like - share).powi(2)).sum();
                    if best.as_ref().is_none_or(|(known, _)| off < known - 1e-9) {
                        best = Some((off, grid.to_vec()));
                    }
                });
                best.map(|(_, grid)| grid).unwrap_or_default()
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Block,
    Cyclic,
    Diagonal,
}

/// A map for one array and one number of PEs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    rule: Rule,
    extents: [i64; DIMENSIONS],
    size: [i64; DIMENSIONS],
    grid: [i64; DIMENSIONS],
}

impl Placed {
    /// The PE of the object at these coordinates, which may lie outside of the array.
    pub fn pe(&self, at: &Coordinates) -> u32 {
        let at = at.map(i64::from);
        let along = |dim: usize| match self.rule {
            Rule::Block => at[dim].clamp(0, self.extents[dim] - 1) * self.grid[dim] / self.extents[dim],
            Rule::Cyclic => at[dim].div_euclid(self.size[dim]).rem_euclid(self.grid[dim]),
            Rule::Diagonal if dim < 2 => (at[dim] - at[2]).div_euclid(self.size[dim]).rem_euclid(self.grid[dim]),
            Rule::Diagonal => 0,
        };
        (0..DIMENSIONS).rev().fold(0, |pe, dim| pe * self.grid[dim] + along(dim)) as u32
    }

    /// PEs along each dimension.
    pub fn grid(&self) -> [u32; DIMENSIONS] {
        self.grid.map(|count| count as u32)
    }
}
