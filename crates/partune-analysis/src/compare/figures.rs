//! Scalars and bounds of several runs side by side.

use crate::{DataTable, Section, Unit, Values};

/// A figure of all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The section it is from: `efficiency`, `bounds` or `gaps`.
    pub section: &'static str,
    pub name: &'static str,
    pub unit: Unit,
    /// For each run; none where it has no such figure.
    pub values: Vec<Option<f64>>,
}

/// Efficiencies, bounds and gaps, in the order in which the first run that has them shows them.
pub(crate) fn side_by_side(runs: &[&[Section]]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for (run, sections) in runs.iter().enumerate() {
        let named = |name: &str| sections.iter().find(|section| section.name == name);
        let scalars = named("efficiency").into_iter().flat_map(|section| &section.scalars);
        let scalars = scalars.map(|scalar| ("efficiency", scalar.name, scalar.unit, scalar.value));
        let tables = named("bounds").into_iter().flat_map(|section| &section.tables);
        let tables = tables.filter(|table| matches!(table.name, "bounds" | "gaps"));
        for (section, name, unit, value) in scalars.chain(tables.flat_map(seconds)) {
            let known = figures.iter().position(|it| it.section == section && it.name == name);
            let at = known.unwrap_or(figures.len());
            if known.is_none() {
                figures.push(Figure { section, name, unit, values: vec![None; runs.len()] });
            }
            figures[at].values[run] = Some(value);
        }
    }
    figures
}

/// Rows of a table with a name and seconds each.
fn seconds(table: &DataTable) -> Vec<(&'static str, &'static str, Unit, f64)> {
    let column = |name: &str| table.columns.iter().find(|column| column.name == name).map(|column| &column.values);
    let (Some(Values::Word(names)), Some(Values::Number(unit, values))) = (column("name"), column("seconds")) else {
        return Vec::new();
    };
    names.iter().zip(values).map(|(name, value)| (table.name, *name, *unit, *value)).collect()
}

/// A scalar of the efficiencies.
pub(crate) fn efficiency(sections: &[Section], name: &str) -> Option<f64> {
    let section = sections.iter().find(|section| section.name == "efficiency")?;
    section.scalar(name)
}
