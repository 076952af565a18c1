//! `figures`: what every analysis says in figures and tables, and how it computes them.

use partune_engine::{DataTable, Run as Recorded, Section as Said, Values, analyses};
use partune_report::{cell_text, number_text, table_rows};
use serde::Serialize;

use super::Ask;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Rows of a table.
const ROWS: usize = 200;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Section {
    name: String,
    title: &'static str,
    /// How it is computed: a page of the book, in Markdown.
    book: &'static str,
    scalars: Vec<Figure>,
    tables: Vec<Table>,
    notes: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Figure {
    name: String,
    text: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Table {
    name: String,
    columns: Vec<Column>,
    /// Rows in all; those that are here are the first.
    count: usize,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Column {
    name: String,
    texts: Vec<String>,
    /// Of numbers, by what they are sorted.
    values: Option<Vec<Option<f64>>>,
}

pub(super) fn figures(run: &Run, ask: &Ask<'_>) -> Result<Vec<Section>, Error> {
    Ok(run.diagnosis.sections.iter().map(|said| section(run.recorded(), said, ROWS.min(ask.most))).collect())
}

fn section(run: &Recorded, said: &Said, most: usize) -> Section {
    let analysis = analyses().find(|it| it.name == said.name);
    let scalar = |it: &partune_engine::Scalar| Figure { name: words(it.name), text: number_text(it.unit, it.value) };
    Section {
        name: words(said.name),
        title: analysis.map_or("", |it| it.title),
        book: analysis.map_or("", |it| it.docs),
        scalars: said.scalars.iter().map(scalar).collect(),
        tables: said.tables.iter().filter(|it| table_rows(it) > 0).map(|it| table(run, it, most)).collect(),
        notes: said.notes.iter().map(|note| text::long(note)).collect(),
    }
}

fn table(run: &Recorded, table: &DataTable, most: usize) -> Table {
    let count = table_rows(table);
    let rows = 0..count.min(most);
    let columns = table.columns.iter().map(|column| Column {
        name: words(column.name),
        texts: rows.clone().map(|row| text::name(&cell_text(run, &column.values, row))).collect(),
        values: values(&column.values).map(|value| rows.clone().map(value).collect()),
    });
    Table { name: words(table.name), columns: columns.collect(), count }
}

/// The numbers of a column, if it has some.
fn values(values: &Values) -> Option<Box<dyn Fn(usize) -> Option<f64> + '_>> {
    match values {
        Values::Number(_, values) => Some(Box::new(|row| Some(values[row]).filter(|it| it.is_finite()))),
        Values::Count(values) => Some(Box::new(|row| Some(values[row] as f64))),
        Values::Pe(_)
        | Values::Group(_)
        | Values::Region(_)
        | Values::Construct(_)
        | Values::Metric(_)
        | Values::Path(_)
        | Values::Name(_)
        | Values::Word(_) => None,
    }
}

/// A name of ours as words.
fn words(name: &str) -> String {
    name.replace('_', " ")
}
