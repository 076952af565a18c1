//! Sections of an analysis as text tables and as JSON, whatever is in them.

use std::fmt::Write;

use partune_engine::{Column, DataTable, Run, Scalar, Section, Unit, Values};
use serde::{Serialize, Serializer};

use crate::names;

/// Number of rows of a table.
pub fn table_rows(table: &DataTable) -> usize {
    table.columns.iter().map(|column| column.values.len()).min().unwrap_or(0)
}

/// A number; what is none (0/0) is null.
fn number(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// What a section of an analysis adds to a document: an object of its scalars, or an array with an object for each row of a table. Rows are written as they are
/// come to: a table with a row for each of 65,536 PEs as values of JSON would take many times the memory that its columns do.
pub(crate) enum Part<'a> {
    Scalars(&'a [Scalar]),
    Table(&'a Run, &'a DataTable),
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Part::Scalars(scalars) => {
                let mut scalars: Vec<_> = scalars.iter().map(|scalar| (scalar.name, number(scalar.value))).collect();
                scalars.sort_by_key(|scalar| scalar.0);
                to.collect_map(scalars)
            }
            Part::Table(run, table) => {
                let mut columns: Vec<&Column> = table.columns.iter().collect();
                columns.sort_by_key(|column| column.name);
                to.collect_seq((0..table_rows(table)).map(|row| Row { run, columns: &columns, at: row }))
            }
        }
    }
}

/// A row of a table; keys are in order of the alphabet.
struct Row<'a> {
    run: &'a Run,
    columns: &'a [&'a Column],
    at: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.columns.iter().map(|column| (column.name, Cell(self.run, &column.values, self.at))))
    }
}

/// What a column has in a row.
struct Cell<'a>(&'a Run, &'a Values, usize);

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Cell(run, values, row) = *self;
        match values {
            Values::Number(_, values) => number(values[row]).serialize(to),
            Values::Count(values) => values[row].serialize(to),
            Values::Pe(values) => values[row].some().map(|pe| pe.0).serialize(to),
            Values::Group(values) => run.group(values[row]).map(|group| group.name).serialize(to),
            Values::Region(values) => run.region(values[row]).map(|region| region.name).serialize(to),
            Values::Construct(values) => run.region(values[row]).map(|region| region.construct).serialize(to),
            Values::Metric(values) => run.metric(values[row]).map(|metric| metric.name).serialize(to),
            Values::Path(values) => names::callpath(run, values[row]).serialize(to),
            Values::Name(values) => run.text(values[row]).serialize(to),
            Values::Word(values) => values[row].serialize(to),
        }
    }
}

/// A number with its unit.
pub fn number_text(unit: Unit, value: f64) -> String {
    match unit {
        _ if !value.is_finite() => "–".to_owned(),
        Unit::Seconds => names::seconds(value),
        Unit::Bytes => names::bytes(value),
        Unit::Count if value.fract() != 0.0 => names::three_digits(value),
        Unit::Count => format!("{value:.0}"),
        Unit::Ratio => names::fixed(value, 3),
    }
}

/// What a table says in a row.
pub fn cell_text(run: &Run, values: &Values, row: usize) -> String {
    match values {
        Values::Number(unit, values) => number_text(*unit, values[row]),
        Values::Count(values) => values[row].to_string(),
        Values::Pe(values) => names::pe(run, values[row]),
        Values::Group(values) => run.group(values[row]).map_or("", |group| group.name).to_owned(),
        Values::Region(values) => names::region_name(run, values[row]).to_owned(),
        Values::Construct(values) => run.region(values[row]).map_or("", |region| region.construct).to_owned(),
        Values::Metric(values) => run.metric(values[row]).map_or("", |metric| metric.name).to_owned(),
        Values::Path(values) if !values[row].is_some() => names::OUTSIDE.to_owned(),
        Values::Path(values) => names::callpath(run, values[row]).join(" > "),
        Values::Name(values) => run.text(values[row]).to_owned(),
        Values::Word(values) => values[row].to_owned(),
    }
}

/// A section as text: scalars, then tables of at most `limit` rows.
pub(crate) fn section_text(out: &mut String, run: &Run, section: &Section, limit: usize) {
    let heading = section.name.replace('_', " ");
    let _ = writeln!(out, "\n{heading}");
    for scalar in &section.scalars {
        let _ = writeln!(out, "  {:<28} {}", scalar.name.replace('_', " "), number_text(scalar.unit, scalar.value));
    }
    for table in &section.tables {
        table_text(out, run, table, limit);
    }
    for note in &section.notes {
        let _ = writeln!(out, "  note: {note}");
    }
}

fn table_text(out: &mut String, run: &Run, table: &DataTable, limit: usize) {
    let count = table_rows(table);
    if count == 0 {
        return;
    }
    let shown = count.min(limit);
    let cells: Vec<Vec<String>> = table
        .columns
        .iter()
        .map(|column| {
            let cell = |row: usize| cell_text(run, &column.values, row);
            std::iter::once(column.name.replace('_', " ")).chain((0..shown).map(cell)).collect()
        })
        .collect();
    let _ = writeln!(out, "  {}", table.name.replace('_', " "));
    let left = |column: usize| {
        matches!(
            table.columns[column].values,
            Values::Path(_)
                | Values::Name(_)
                | Values::Word(_)
                | Values::Group(_)
                | Values::Region(_)
                | Values::Construct(_)
                | Values::Metric(_)
        )
    };
    let width: Vec<usize> =
        cells.iter().map(|cells| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0).min(72)).collect();
    for row in 0..=shown {
        let mut line = String::from("   ");
        for (column, cells) in cells.iter().enumerate() {
            let (cell, width) = (clip(&cells[row], 72), width[column]);
            let _ = if left(column) { write!(line, " {cell:<width$} ") } else { write!(line, " {cell:>width$} ") };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if shown < count {
        let _ = writeln!(out, "    … {} more rows; --json has all of them", count - shown);
    }
}

/// The end of a text that is too long: of a call path, the inner part says more.
fn clip(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        text.to_owned()
    } else {
        format!("…{}", text.chars().skip(length - width + 1).collect::<String>())
    }
}
