//! Tables of an analysis as HTML, whatever is in them.

use maud::{Markup, html};
use partune_engine::{DataTable, Run, Scalar, Values};

use super::short;
use crate::names;
use crate::tables::number_text;

/// Scalars as a table of two columns.
pub(super) fn scalars(scalars: &[Scalar]) -> Markup {
    html! {
        div.scroll {
            table {
                caption { "Figures" }
                tbody {
                    @for scalar in scalars {
                        tr { th scope="row" { (scalar.name.replace('_', " ")) } td.n { (number_text(scalar.unit, scalar.value)) } }
                    }
                }
            }
        }
    }
}

/// The first rows of a table, sortable; nothing if it is empty.
pub(super) fn table(run: &Run, table: &DataTable, most: usize, caption: &str) -> Markup {
    let count = table.columns.iter().map(|column| column.values.len()).min().unwrap_or(0);
    if count == 0 {
        return html! {};
    }
    let shown = count.min(most);
    html! {
        div.scroll {
            table.sortable {
                caption { (caption) @if shown < count { " The first " (shown) " of " (count) " rows." } }
                thead { tr { @for column in &table.columns { th scope="col" class=[is_number(&column.values).then_some("n")] { (column.name.replace('_', " ")) } } } }
                tbody { @for row in 0..shown { tr { @for column in &table.columns { (cell(run, &column.values, row)) } } } }
            }
        }
    }
}

fn is_number(values: &Values) -> bool {
    match values {
        Values::Number(..) | Values::Count(_) => true,
        Values::Pe(_)
        | Values::Group(_)
        | Values::Region(_)
        | Values::Metric(_)
        | Values::Path(_)
        | Values::Word(_) => false,
    }
}

fn cell(run: &Run, values: &Values, row: usize) -> Markup {
    match values {
        Values::Number(unit, values) => {
            html! { td.n data-v=[values[row].is_finite().then_some(values[row])] { (number_text(*unit, values[row])) } }
        }
        Values::Count(values) => html! { td.n data-v=(values[row]) { (values[row]) } },
        Values::Pe(values) => html! { td data-v=(values[row].0) { (names::pe(run, values[row])) } },
        Values::Group(values) => {
            html! { td { (short(run.group(values[row]).map_or("", |it| it.name))) } }
        }
        Values::Region(values) => {
            html! { td.wide { code { (short(names::region_name(run, values[row]))) } } }
        }
        Values::Metric(values) => {
            html! { td { (short(run.metric(values[row]).map_or("", |it| it.name))) } }
        }
        Values::Path(values) if !values[row].is_some() => html! { td.wide { (names::OUTSIDE) } },
        Values::Path(values) => {
            // Of a deep path, the inner part says more.
            html! { td.wide { code { (names::clip(&names::callpath(run, values[row]).join(" › "), 240)) } } }
        }
        Values::Word(values) => html! { td { (values[row].replace('_', " ")) } },
    }
}
