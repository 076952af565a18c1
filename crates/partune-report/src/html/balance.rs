//! Load balance: what each PE did with its time, and where its work lies, by region and by block.

use maud::{Markup, html};
use partune_engine::{ActivityTimes, Blocks, Diagnosis, Fold, Heat, Kind};

use super::legend::legend;
use super::svg::{self, LEFT, Raster, WIDTH};
use super::{folding, short};
use crate::names;

/// Columns of a heat map.
const REGIONS: usize = 24;
const BLOCKS: usize = 120;
/// Room above a picture, for half of a row's name.
const TOP: f64 = 5.0;
/// Shades of amounts.
pub(super) const SHADES: [&str; 8] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"];

pub(super) fn balance(diagnosis: &Diagnosis, fold: &Fold) -> Markup {
    let run = &diagnosis.run;
    html! {
        section aria-labelledby="balance" {
            h2 id="balance" { "Load balance" }
            @if fold.is_empty() { p { "No PE recorded anything." } } @else {
                (stack(diagnosis, fold))
                (by_region(diagnosis, fold, &run.by_region(fold, REGIONS)))
                @if let Some(heat) = run.by_block(fold, BLOCKS) { (by_block(diagnosis, fold, &heat)) }
            }
        }
    }
}

/// Each PE's time by activity.
fn stack(diagnosis: &Diagnosis, fold: &Fold) -> Markup {
    let Some(activities) = diagnosis.activities() else { return html! {} };
    let spent = activities.times.iter().filter(|it| it.of_pes.iter().any(|value| *value > 0.0));
    let columns: Vec<(&ActivityTimes, Kind, Vec<f64>)> =
        spent.map(|it| (it, Kind::of_activity(it.activity), fold.means(&it.of_pes))).collect();
    let sum = |row: usize| columns.iter().map(|(_, _, values)| values.get(row).copied().unwrap_or(0.0)).sum::<f64>();
    let most = (0..fold.len()).map(sum).fold(0.0, f64::max);
    if most <= 0.0 {
        return html! {};
    }
    let height = svg::row_height(fold.len());
    let below = TOP + height * fold.len() as f64;
    let scale = (WIDTH - LEFT) / most;
    let labels: Vec<String> = fold.rows().map(|row| names::row(&diagnosis.run, row)).collect();
    let content = html! {
        @for row in 0..fold.len() {
            @let mut x = LEFT;
            @for (_, kind, values) in &columns {
                @let width = values.get(row).copied().unwrap_or(0.0) * scale;
                @if width >= 0.05 {
                    rect class={ "f-" (kind.name()) } x=(svg::px(x)) y=(svg::px(TOP + height * row as f64 + height * 0.05)) width=(format!("{width:.2}")) height=(svg::px(height * 0.9)) {}
                }
                ({ x += width; "" })
            }
        }
        (svg::row_names(TOP, height, &labels))
        (svg::time_axis(below + 2.0, most, 0.0))
    };
    html! {
        h3 { "What each PE did" }
        figure {
            (svg::picture(below + 22.0, "Time of each PE by activity; the table below has the sums", &content))
            (legend(columns.iter().map(|(it, kind, _)| (kind.name(), it.name()))))
            figcaption { "Time of each PE by what its operations are for" (folding(fold)) @if fold.is_folded() { ": the mean of its PEs" } "." }
        }
        div.scroll {
            table {
                caption { "The same, over all PEs: seconds of a PE." }
                thead { tr { th scope="col" { "Activity" } th.n scope="col" { "Least" } th.n scope="col" { "Mean" } th.n scope="col" { "Most" } } }
                tbody {
                    @for (it, _, _) in &columns {
                        @let values = &it.of_pes;
                        tr {
                            th scope="row" { (it.name()) }
                            td.n { (names::seconds(values.iter().copied().fold(f64::INFINITY, f64::min))) }
                            td.n { (names::seconds(values.iter().sum::<f64>() / values.len().max(1) as f64)) }
                            td.n { (names::seconds(values.iter().copied().fold(0.0, f64::max))) }
                        }
                    }
                }
            }
        }
    }
}

fn by_region(diagnosis: &Diagnosis, fold: &Fold, heat: &Heat<partune_base::RegionId>) -> Markup {
    let run = &diagnosis.run;
    if heat.columns.is_empty() {
        return html! {};
    }
    let name = |index: usize| names::region_name(run, heat.columns[index]);
    let wide = (WIDTH - LEFT).min(heat.columns.len() as f64 * 64.0);
    let cell = wide / heat.columns.len() as f64;
    let height = svg::row_height(fold.len());
    let mean = means(heat);
    let names = html! {
        @for index in 0..heat.columns.len() {
            (svg::text(LEFT + (index as f64 + 0.5) * cell, TOP + height * fold.len() as f64 + 15.0, "middle", "small", &(index + 1).to_string()))
        }
    };
    html! {
        h3 { "Where their time went: PEs × regions" }
        figure {
            (map(diagnosis, fold, heat, wide, &names))
            (scale())
            figcaption { "Exclusive time of each PE" (folding(fold)) " in the regions that have most, compared with the mean of the column. A grey column is even; blue PEs have less than the others, orange ones more." }
        }
        ol.legend {
            @for index in 0..heat.columns.len() { li { (index + 1) " " code { (short(name(index))) } " " span.dim { (names::seconds(mean[index])) } } }
        }
    }
}

fn by_block(diagnosis: &Diagnosis, fold: &Fold, heat: &Heat<Blocks>) -> Markup {
    let count: usize = heat.columns.iter().map(|column| column.count).sum();
    let (each, wide) = (heat.columns.first().map_or(1, |column| column.count), WIDTH - LEFT);
    let wide = wide.min(heat.columns.len() as f64 * 64.0);
    let y = TOP + svg::row_height(fold.len()) * fold.len() as f64 + 15.0;
    let names = html! {
        (svg::text(LEFT, y, "start", "small", "first"))
        (svg::text(LEFT + wide, y, "end", "small", "last"))
    };
    html! {
        h3 { "When they worked: PEs × blocks" }
        figure {
            (map(diagnosis, fold, heat, wide, &names))
            (scale())
            figcaption {
                "Useful time of each PE" (folding(fold)) " in each of the " (count) " blocks between global synchronisations"
                @if each > 1 { "; a column is " (each) " blocks" }
                ", compared with the mean of the column. Where a column is not grey, the blue PEs wait for the orange ones."
            }
        }
    }
}

/// Colours of a heat map: from what is less than half of the column's mean to what is more than twice as much.
const LEVELS: [&str; 7] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6"];

/// The colour of a value in a column with this mean.
fn level(value: f64, mean: f64) -> usize {
    const EDGES: [f64; 6] = [0.5, 0.75, 0.9, 1.1, 1.33, 2.0];
    if mean <= 0.0 { 3 } else { EDGES.iter().filter(|edge| value / mean > **edge).count() }
}

/// The mean of each column.
fn means<C>(heat: &Heat<C>) -> Vec<f64> {
    let mut sums = vec![0.0; heat.columns.len()];
    for row in heat.rows() {
        sums.iter_mut().zip(row).for_each(|(sum, cell)| *sum += cell);
    }
    let rows = heat.rows().len().max(1) as f64;
    sums.into_iter().map(|sum| sum / rows).collect()
}

fn map<C>(diagnosis: &Diagnosis, fold: &Fold, heat: &Heat<C>, width: f64, below: &Markup) -> Markup {
    let means = means(heat);
    let height = svg::row_height(fold.len());
    let place = Raster { x: LEFT, y: TOP, width, row_height: height, fill: 1.0, columns: heat.columns.len() };
    let labels: Vec<String> = fold.rows().map(|row| names::row(&diagnosis.run, row)).collect();
    let content = html! {
        (place.draw(&LEVELS, heat.rows().map(|row| row.iter().zip(&means).map(|(cell, mean)| Some(level(*cell, *mean))))))
        (svg::row_names(TOP, height, &labels))
        (below)
    };
    svg::picture(
        TOP + height * fold.len() as f64 + 20.0,
        "A heat map; the tables of the profile have the numbers",
        &content,
    )
}

/// The shade of a value, 0 to the largest.
pub(super) fn shade(value: f64, most: f64) -> usize {
    if most <= 0.0 { 0 } else { ((value / most * SHADES.len() as f64) as usize).min(SHADES.len() - 1) }
}

/// What colours stand for.
fn scale() -> Markup {
    let words = [
        "less than half",
        "less by a quarter",
        "less",
        "the column's mean ± 10 %",
        "more",
        "more by a third",
        "more than twice",
    ];
    legend(LEVELS.iter().copied().zip(words))
}
