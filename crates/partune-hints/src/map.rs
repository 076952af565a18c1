//! From maps of event graphs to entries, and back.

use partune_objects::map::{Grid, Map, Size as Edge};

use crate::{MapKind, Place, Size};

impl Place {
    /// An entry for a map of an array of this many dimensions, without more.
    pub fn new(array: String, map: &Map, rank: usize) -> Place {
        let (kind, a, b, aspect) = match map {
            Map::Block { aspect } => (MapKind::Block, vec![], vec![], aspect.clone()),
            Map::BlockCyclic { size, grid } => {
                (MapKind::BlockCyclic, size.iter().copied().map(edge).collect(), pes(grid, rank), vec![])
            }
            Map::MultiPartition { size, grid } => {
                (MapKind::Multipartition, size.iter().copied().map(edge).collect(), pes(grid, 2), vec![])
            }
        };
        Place { map: kind, a, b, aspect, ..Place::empty(array) }
    }

    /// Objects by position, of this number of PEs and these extents only.
    pub fn table(array: String, table: Vec<u32>, extents: Vec<u32>, pes: u32) -> Place {
        Place { map: MapKind::Table, table, extents, pes: Some(pes), ..Place::empty(array) }
    }

    fn empty(array: String) -> Place {
        Place {
            array,
            locality: None,
            map: MapKind::Cyclic,
            a: vec![],
            b: vec![],
            aspect: vec![],
            table: vec![],
            extents: vec![],
            pes: None,
            aligned_with: vec![],
            least_per_pe: None,
            least_per_pe_shared: None,
            evidence: vec![],
        }
    }

    /// The map, for any extents and PEs; none of a table.
    pub fn rule(&self) -> Option<Map> {
        let size = |a: &Size| match a {
            Size::Of(number) => Edge::Of(*number),
            Size::Even | Size::Pes | Size::Share { .. } => Edge::Even,
        };
        let sizes: Vec<Edge> = self.a.iter().map(size).collect();
        match self.map {
            MapKind::Block => Some(Map::Block { aspect: self.aspect.clone() }),
            MapKind::Cyclic => Some(Map::BlockCyclic { size: vec![Edge::Of(1)], grid: Grid::Line(0) }),
            MapKind::BlockCyclic => Some(Map::BlockCyclic { size: sizes, grid: grid(&self.b) }),
            MapKind::Multipartition => {
                let at = |dim: usize| sizes.get(dim).copied().unwrap_or(Edge::Of(1));
                Some(Map::MultiPartition { size: [at(0), at(1)], grid: grid(&self.b) })
            }
            MapKind::Table => None,
        }
    }
}

fn edge(size: Edge) -> Size {
    match size {
        Edge::Of(number) => Size::Of(number),
        Edge::Even => Size::Even,
    }
}

fn pes(grid: &Grid, rank: usize) -> Vec<Size> {
    match grid {
        Grid::Line(dim) => (0..rank).map(|at| if at == usize::from(*dim) { Size::Pes } else { Size::Of(1) }).collect(),
        Grid::Like(like) => {
            let root = like.len().max(1) as u32;
            let middle = like.iter().map(|&count| f64::from(count.max(1)).ln()).sum::<f64>() / f64::from(root);
            let factor = |count: u32| (f64::from(count.max(1)) / middle.exp() * 1e6).round() / 1e6;
            like.iter().map(|&count| Size::Share { factor: factor(count), root }).collect()
        }
    }
}

/// What stands for a grid: numbers and shares are proportions.
fn grid(b: &[Size]) -> Grid {
    let ones = b.iter().filter(|it| **it == Size::Of(1)).count();
    if let (Some(dim), true) = (b.iter().position(|it| *it == Size::Pes), ones + 1 == b.len()) {
        return Grid::Line(dim as u8);
    }
    let part = |size: &Size| match size {
        Size::Of(number) => f64::from(*number),
        Size::Share { factor, .. } => *factor,
        Size::Pes | Size::Even => 1.0,
    };
    let least = b.iter().map(part).fold(f64::INFINITY, f64::min).max(1e-6);
    // Whole numbers keep proportions to a thousandth.
    let scale = if b.iter().all(|it| ((part(it) / least).fract()).abs() < 1e-3) { 1.0 } else { 1000.0 };
    Grid::Like(b.iter().map(|it| (part(it) / least * scale).round().clamp(1.0, 1e9) as u32).collect())
}
