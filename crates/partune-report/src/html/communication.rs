//! Who sends how much to whom, as two squares and a table.

use maud::{Markup, html};
use partune_engine::{Diagnosis, Exchange, Exchanges, Fold};

use super::balance::{SHADES, shade};
use super::legend::legend;
use super::svg::{self, Raster};
use crate::names;

/// Rows of a square, and rows of the table.
const SIDE: usize = 64;
const PAIRS: usize = 30;

pub(super) fn communication(diagnosis: &Diagnosis) -> Markup {
    let run = &diagnosis.run;
    let fold = Fold::new(run.active_pes().to_vec(), SIDE);
    let exchanges = run.exchanges(&fold);
    let total = exchanges.total();
    html! {
        section aria-labelledby="communication" {
            h2 id="communication" { "Communication" }
            @if total.count == 0 {
                p { "No messages and no one-sided accesses between PEs are known. Collectives are not in this matrix." }
            } @else {
                p { (total.count) " messages and one-sided accesses moved " (names::bytes(total.bytes as f64)) ". Collectives are not among them." }
                div.two {
                    (square(diagnosis, &fold, &exchanges, "Bytes", &|cell| cell.bytes as f64, &names::bytes))
                    (square(diagnosis, &fold, &exchanges, "Transfers", &|cell| cell.count as f64, &|value| format!("{value:.0}")))
                }
                @if fold.is_folded() { p.dim { "Each row and column is " (fold.each()) " PEs." } }
                (pairs(diagnosis))
            }
        }
    }
}

/// Rows give, columns get. Shades go by powers of four below the largest, since traffic spans many.
fn square(
    diagnosis: &Diagnosis,
    fold: &Fold,
    exchanges: &Exchanges,
    name: &str,
    value: &dyn Fn(&Exchange) -> f64,
    words: &dyn Fn(f64) -> String,
) -> Markup {
    let (left, top, side) = (64.0, 26.0, 380.0);
    let cell = side / exchanges.side().max(1) as f64;
    let most = exchanges.rows().flatten().map(value).fold(0.0, f64::max);
    // Each shade is a quarter of the next.
    let level = |value: f64| {
        (value > 0.0).then(|| if most <= 0.0 { 0 } else { shade(1.0 + (value / most).log2() / 16.0, 1.0) })
    };
    let place = Raster { x: left, y: top, width: side, row_height: cell, fill: 1.0, columns: exchanges.side() };
    let labels: Vec<String> = fold.rows().map(|row| names::row(&diagnosis.run, row)).collect();
    let each = (13.0 / cell).ceil().max(1.0) as usize;
    let wide = labels.iter().map(|label| label.chars().count()).max().unwrap_or(1) as f64 * 6.5 + 8.0;
    let every = (wide / cell).ceil().max(1.0) as usize;
    let content = html! {
        rect x=(svg::px(left)) y=(svg::px(top)) width=(svg::px(side)) height=(svg::px(side)) class="axis" {}
        (place.draw(&SHADES, exchanges.rows().map(|row| row.iter().map(|it| level(value(it))))))
        @for (row, label) in labels.iter().enumerate().step_by(each) {
            (svg::text(left - 6.0, top + (row as f64 + 0.5) * cell + 4.0, "end", "small", label))
        }
        @for (column, label) in labels.iter().enumerate().step_by(every) {
            (svg::text(left + (column as f64 + 0.5) * cell, top - 8.0, "middle", "small", label))
        }
    };
    let steps = [(7, 1.0), (5, 4f64.powi(-2)), (3, 4f64.powi(-4)), (0, 4f64.powi(-7))];
    let steps: Vec<(&str, String)> = steps
        .iter()
        .filter(|(_, share)| most * share >= 1.0)
        .map(|(shade, share)| (SHADES[*shade], words(most * share)))
        .collect();
    html! {
        figure {
            h3 { (name) }
            (svg::sized(left + side + 8.0, top + side + 6.0, &format!("{name} from each PE (row) to each PE (column)"), &content))
            (legend(steps.iter().map(|(class, label)| (*class, label.as_str()))))
            figcaption { (name) " from the PE of the row to the PE of the column. Shades are logarithmic: each stands for a quarter of the next stronger one." }
        }
    }
}

/// The pairs with most bytes.
fn pairs(diagnosis: &Diagnosis) -> Markup {
    let (pairs, run) = (diagnosis.pairs(), &diagnosis.run);
    if pairs.is_empty() {
        return html! {};
    }
    html! {
        div.scroll {
            table.sortable {
                caption {
                    "Pairs of PEs, most bytes first"
                    @if pairs.len() > PAIRS { ": the first " (PAIRS) " of " (pairs.len()) }
                    ". Time is that of moving the data, without waiting for each other."
                }
                thead { tr { th scope="col" { "From" } th scope="col" { "To" } th.n scope="col" { "Messages" } th.n scope="col" { "One-sided" } th.n scope="col" { "Bytes" } th.n scope="col" { "Time" } } }
                tbody {
                    @for pair in pairs.iter().take(PAIRS) {
                        tr {
                            td data-v=(pair.from.0) { (names::pe(run, pair.from)) }
                            td data-v=(pair.to.0) { (names::pe(run, pair.to)) }
                            td.n data-v=(pair.messages) { (pair.messages) }
                            td.n data-v=(pair.accesses) { (pair.accesses) }
                            td.n data-v=(pair.bytes) { (names::bytes(pair.bytes as f64)) }
                            td.n data-v=(pair.seconds) { (names::seconds(pair.seconds)) }
                        }
                    }
                }
            }
        }
    }
}
