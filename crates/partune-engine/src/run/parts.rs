//! What PEs computed in parts of the program: those that have a name, and the blocks between synchronisations.

use partune_analysis::{Input, Options, Outline, Shared, run_seconds};
use partune_base::{Id, Span};

use super::Run;

impl Run {
    /// Seconds that each PE of a CPU computed in regions of a name, functions or marked parts, in order of PEs: time in operations is not computing, and what
    /// such a region calls is in it. Nothing where no region has the name. Linear in call paths, after times of all of them were summed once.
    pub fn computed_in(&self, name: &str) -> Option<Vec<f64>> {
        let paths = self.trace.paths();
        let is_named = |region: super::Region<'_>| [region.name, region.whole, region.construct].contains(&name);
        let mut is_inside = vec![false; paths.len()];
        for path in paths.ids() {
            let above = paths.parent(path).some().is_some_and(|parent| is_inside[parent.index()]);
            is_inside[path.index()] = above || is_named(self.region_at(path));
        }
        if !is_inside.contains(&true) {
            return None;
        }
        let computes = |path| is_inside[Id::index(path)] && paths.operation(path).some().is_none();
        let of_pe = |pe| {
            let rows = self.times().get(pe).into_iter().flatten().filter(|row| computes(row.path));
            self.seconds(Span(rows.map(|row| row.exclusive.0).sum()))
        };
        Some(self.trace.cpu_pes().map(of_pe).collect())
    }

    /// The blocks of the run, with what PEs worked and called in them and sent each other. Linear in events, and in PEs times blocks.
    pub fn outline(&self) -> Outline {
        let (options, shared) = (Options::default(), Shared::default());
        Outline::find(&Input {
            trace: &self.trace,
            index: &self.index,
            waits: &self.waits,
            options: &options,
            shared: &shared,
        })
    }

    /// From the end of start-up to the begin of shut-down: what shares of the run are shares of.
    pub fn run_seconds(&self) -> f64 {
        run_seconds(&self.trace)
    }
}
