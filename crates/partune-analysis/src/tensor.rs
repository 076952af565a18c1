//! The hierarchy of bounds on a tensor w\[r, q, i\]: how long PE q works in region r in its iteration i.
//!
//! Pure: from numbers to numbers, exact in integers. Source: Hung and Davidson's bounds hierarchy (theory 2.1); S' is the time
//! that synchronisation itself takes. With S the work in serial regions, and regions r in P:
//! IPCO = S + (1/N) ΣΣΣ w, IPCOL = S + max_q ΣΣ w, IPCOLM = S + Σ_r max_q Σ_i w, IPCOLMD = S + Σ_r Σ_i max_q w.

use serde::{Deserialize, Serialize};

/// Whether one PE works in a region, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RegionKind {
    Serial,
    Parallel,
}

/// Work of N PEs in regions and iterations: of each region what the bounds need, so that it takes no more memory with more iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Number of PEs, N.
    pub pes: usize,
    regions: Vec<Region>,
}

/// Σ_i of each PE, and Σ_i max_q.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Region {
    kind: RegionKind,
    of_pes: Vec<i128>,
    maxima: i128,
}

impl Tensor {
    pub fn new(pes: usize) -> Tensor {
        Tensor { pes, ..Tensor::default() }
    }

    /// Adds a region and returns its position.
    pub fn region(&mut self, kind: RegionKind) -> usize {
        self.regions.push(Region { kind, of_pes: vec![0; self.pes], maxima: 0 });
        self.regions.len() - 1
    }

    /// Adds an iteration of a region: the work of each PE, in ticks.
    ///
    /// # Panics
    /// If there is not one number for each PE, or no such region.
    pub fn iteration(&mut self, region: usize, work: &[i64]) {
        assert!(work.len() == self.pes && region < self.regions.len(), "one number for each PE, of a known region");
        let region = &mut self.regions[region];
        region.maxima += i128::from(work.iter().copied().max().unwrap_or(0));
        region.of_pes.iter_mut().zip(work).for_each(|(sum, ticks)| *sum += i128::from(*ticks));
    }

    /// Says anew what a region is.
    pub(crate) fn set_kind(&mut self, region: usize, kind: RegionKind) {
        self.regions[region].kind = kind;
    }

    /// Adds to a region the iterations of one of a tensor with the same PEs.
    pub(crate) fn join(&mut self, region: usize, other: &Tensor, of: usize) {
        let (region, other) = (&mut self.regions[region], &other.regions[of]);
        region.maxima += other.maxima;
        region.of_pes.iter_mut().zip(&other.of_pes).for_each(|(sum, ticks)| *sum += ticks);
    }

    /// The bounds. Linear in PEs times regions.
    pub fn bounds(&self) -> Bounds {
        let n = self.pes.max(1);
        let mut bounds = Bounds { pes: n as i128, ..Bounds::default() };
        let mut of_pe = vec![0_i128; n];
        for region in &self.regions {
            if region.kind == RegionKind::Serial {
                // Others may be recorded as idling in it: the one that works counts.
                bounds.serial += region.maxima;
                continue;
            }
            bounds.dynamic += region.maxima;
            bounds.phases += region.of_pes.iter().copied().max().unwrap_or(0);
            for (sum, ticks) in of_pe.iter_mut().zip(&region.of_pes) {
                bounds.total += ticks;
                *sum += ticks;
            }
        }
        bounds.balanced = of_pe.into_iter().max().unwrap_or(0);
        bounds
    }
}

/// The bounds of a tensor, in integers; the methods give them in ticks times the number of PEs, so that IPCO is an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// N.
    pub pes: i128,
    /// Work in serial regions.
    pub serial: i128,
    /// Σ over all of the work in parallel regions.
    pub total: i128,
    /// max_q Σ_r Σ_i.
    pub balanced: i128,
    /// Σ_r max_q Σ_i.
    pub phases: i128,
    /// Σ_r Σ_i max_q.
    pub dynamic: i128,
}

impl Bounds {
    /// N · IPCO.
    pub fn ipco(&self) -> i128 {
        self.serial * self.pes + self.total
    }

    /// N · IPCOL.
    pub fn ipcol(&self) -> i128 {
        (self.serial + self.balanced) * self.pes
    }

    /// N · IPCOLM.
    pub fn ipcolm(&self) -> i128 {
        (self.serial + self.phases) * self.pes
    }

    /// N · IPCOLMD.
    pub fn ipcolmd(&self) -> i128 {
        (self.serial + self.dynamic) * self.pes
    }
}
