//! Sections of an analysis as text tables and as JSON, whatever is in them.

use std::fmt::Write;

use partune_engine::{DataTable, Run, Scalar, Section, Unit, Values};
use serde_json::{Map, Value, json};

use crate::names;

/// Number of rows of a table.
pub fn table_rows(table: &DataTable) -> usize {
    table.columns.iter().map(|column| column.values.len()).min().unwrap_or(0)
}

/// A number as JSON; what is no number (0/0) is null.
fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// The scalars of a section as an object.
pub(crate) fn scalars_json(scalars: &[Scalar]) -> Value {
    Value::Object(scalars.iter().map(|scalar| (scalar.name.to_owned(), number(scalar.value))).collect())
}

/// A table as an array of objects.
pub(crate) fn table_json(run: &Run, table: &DataTable) -> Value {
    let row = |row: usize| {
        let mut object = Map::new();
        for column in &table.columns {
            let value = match &column.values {
                Values::Number(_, values) => number(values[row]),
                Values::Count(values) => json!(values[row]),
                Values::Pe(values) => json!(values[row].some().map(|pe| pe.0)),
                Values::Group(values) => {
                    json!(run.group(values[row]).map(|group| group.name))
                }
                Values::Region(values) => {
                    json!(run.region(values[row]).map(|region| region.name))
                }
                Values::Construct(values) => {
                    json!(run.region(values[row]).map(|region| region.construct))
                }
                Values::Metric(values) => {
                    json!(run.metric(values[row]).map(|metric| metric.name))
                }
                Values::Path(values) => json!(names::callpath(run, values[row])),
                Values::Name(values) => json!(run.text(values[row])),
                Values::Word(values) => json!(values[row]),
            };
            object.insert(column.name.to_owned(), value);
        }
        Value::Object(object)
    };
    Value::Array((0..table_rows(table)).map(row).collect())
}

/// A number with its unit.
pub fn number_text(unit: Unit, value: f64) -> String {
    match unit {
        _ if !value.is_finite() => "–".to_owned(),
        Unit::Seconds => names::seconds(value),
        Unit::Bytes => names::bytes(value),
        Unit::Count => format!("{value:.0}"),
        Unit::Ratio => format!("{value:.3}"),
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
