//! Scalars and bounds of several runs side by side.

use super::sets::Sets;
use crate::memory::MEMORY;
use crate::{AnalysisResult, Efficiency, Section, Unit};

/// A figure of all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The section it is from: `efficiency`, `bounds`, `gaps` or `memory`.
    pub section: &'static str,
    pub name: &'static str,
    pub unit: Unit,
    /// For each run; none where it has no such figure.
    pub values: Vec<Option<f64>>,
    /// For each run the values of all its repeats, its own first; empty for a series.
    pub repeats: Vec<Vec<f64>>,
}

/// The same of sets of repeated runs, as far as the runs that stand for them have them.
pub(crate) fn of_sets(runs: &[&[Section]], sets: &Sets) -> Vec<Figure> {
    let mut figures = side_by_side(runs);
    for figure in &mut figures {
        let of_set = |set: usize| sets.runs(set).iter().filter_map(|run| figure.values[*run]).collect();
        figure.repeats = (0..sets.len()).map(of_set).collect();
        figure.values.truncate(sets.len());
    }
    figures.retain(|figure| figure.values.iter().any(Option::is_some));
    figures
}

/// Efficiencies, bounds, gaps and memory, in the order in which the first run that has them shows them.
pub(crate) fn side_by_side(runs: &[&[Section]]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for (run, sections) in runs.iter().enumerate() {
        for (section, name, unit, value) in sections.iter().flat_map(of_section) {
            let known = figures.iter().position(|it| it.section == section && it.name == name);
            let at = known.unwrap_or(figures.len());
            if known.is_none() {
                figures.push(Figure { section, name, unit, values: vec![None; runs.len()], repeats: Vec::new() });
            }
            figures[at].values[run] = Some(value);
        }
    }
    figures
}

type Shown = (&'static str, &'static str, Unit, f64);

fn of_section(section: &Section) -> Vec<Shown> {
    let scalars = || section.scalars.iter().map(|it| (section.name, it.name, it.unit, it.value)).collect();
    match &section.result {
        None if section.name == MEMORY.name => scalars(),
        Some(AnalysisResult::Efficiency(_)) => scalars(),
        Some(AnalysisResult::Bounds(bounds)) => {
            let of_bounds = bounds.run.bounds.iter().map(|it| ("bounds", it.name, Unit::Seconds, it.seconds));
            of_bounds.chain(bounds.run.gaps.iter().map(|it| ("gaps", it.name, Unit::Seconds, it.seconds))).collect()
        }
        Some(
            AnalysisResult::Account(_)
            | AnalysisResult::Activities(_)
            | AnalysisResult::Pairs(_)
            | AnalysisResult::Ending(_)
            | AnalysisResult::Operations(_),
        )
        | None => Vec::new(),
    }
}

/// The efficiency of a run.
pub(crate) fn efficiency(sections: &[Section]) -> Option<Efficiency> {
    sections.iter().find_map(|section| section.result.as_ref()?.efficiency()).copied()
}
