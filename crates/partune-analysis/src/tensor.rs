//! The hierarchy of bounds on a tensor w\[r, q, i\]: how long PE q works in region r in its iteration i.
//!
//! Pure: from numbers to numbers, exact in integers. Source: Hung and Davidson's bounds hierarchy (theory 2.1); S' is the time
//! that synchronisation itself takes. With S the work in serial regions, and regions r in P:
//! IPCO = S + (1/N) ΣΣΣ w, IPCOL = S + max_q ΣΣ w, IPCOLM = S + Σ_r max_q Σ_i w, IPCOLMD = S + Σ_r Σ_i max_q w.

/// Whether one PE works in a region, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    Serial,
    Parallel,
}

/// Work of N PEs in regions and iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tensor {
    /// Number of PEs, N.
    pub pes: usize,
    pub regions: Vec<RegionKind>,
    /// One cell an iteration of a region: the region, and where the work of PE 0 in it stands in `work`; that of the others follows.
    cells: Vec<usize>,
    work: Vec<i64>,
}

impl Tensor {
    pub fn new(pes: usize) -> Tensor {
        Tensor { pes, ..Tensor::default() }
    }

    /// Adds a region and returns its position.
    pub fn region(&mut self, kind: RegionKind) -> usize {
        self.regions.push(kind);
        self.regions.len() - 1
    }

    /// Adds an iteration of a region: the work of each PE, in ticks.
    ///
    /// # Panics
    /// If there is not one number for each PE, or no such region.
    pub fn iteration(&mut self, region: usize, work: &[i64]) {
        assert!(work.len() == self.pes && region < self.regions.len(), "one number for each PE, of a known region");
        self.cells.push(region);
        self.work.extend_from_slice(work);
    }

    /// Regions with the work of each PE, one for each iteration, in the order they were added.
    pub fn iterations(&self) -> impl Iterator<Item = (usize, &[i64])> {
        self.cells.iter().copied().zip(self.work.chunks_exact(self.pes.max(1)))
    }

    /// The bounds. Linear in the number of cells.
    pub fn bounds(&self) -> Bounds {
        let n = self.pes.max(1);
        let mut bounds = Bounds { pes: n as i128, ..Bounds::default() };
        let mut of_pe = vec![0_i128; n];
        let mut of_region = vec![0_i128; if self.pes == 0 { 0 } else { self.regions.len() * n }];
        for (region, work) in self.iterations() {
            if self.regions[region] == RegionKind::Serial {
                // Others may be recorded as idling in it: the one that works counts.
                bounds.serial += i128::from(work.iter().copied().max().unwrap_or(0));
                continue;
            }
            bounds.dynamic += i128::from(work.iter().copied().max().unwrap_or(0));
            for (pe, ticks) in work.iter().enumerate() {
                bounds.total += i128::from(*ticks);
                of_pe[pe] += i128::from(*ticks);
                of_region[region * n + pe] += i128::from(*ticks);
            }
        }
        bounds.balanced = of_pe.into_iter().max().unwrap_or(0);
        bounds.phases = of_region.chunks_exact(n).map(|row| row.iter().copied().max().unwrap_or(0)).sum();
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
