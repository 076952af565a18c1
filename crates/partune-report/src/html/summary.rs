//! The summary: what kind of loss it is, and the worst places in plain words.

use maud::{Markup, html};
use partune_engine::{Diagnosis, Efficiency, Gap, Hierarchy, Level, LevelFactors};

use super::environment::notice;
use super::short;
use super::svg::{self, WIDTH};
use crate::sentences::{self, Piece};
use crate::{names, words};

/// Losses of data that stand before the figures.
const LOSSES: usize = 3;

/// Findings in plain words.
const WORST: usize = 3;

pub(super) fn summary(diagnosis: &Diagnosis) -> Markup {
    let efficiency = diagnosis.efficiency();
    html! {
        section aria-labelledby="summary" {
            h2 id="summary" { "Summary" }
            (losses(diagnosis))
            @if efficiency.is_some() { p.lead { @for sentence in sentences::verdict(diagnosis) { (pieces(&sentence)) " " } } }
            (worst(diagnosis))
            @if let Some(efficiency) = efficiency { (factors(efficiency, diagnosis.clocks_aligned())) }
            @if let Some(bounds) = diagnosis.bounds() { (waterfall(&bounds.run)) }
        }
    }
}

/// What makes the figures below doubtful or too small.
fn losses(diagnosis: &Diagnosis) -> Markup {
    let losses = diagnosis.losses();
    html! {
        @for entry in losses.iter().take(LOSSES) { (notice(entry)) }
        @if losses.len() > LOSSES { p.dim { (losses.len() - LOSSES) " more are listed under " a href="#environment" { "Environment" } "." } }
    }
}

/// Pieces of sentences as they are set.
fn pieces(pieces: &[Piece]) -> Markup {
    html! {
        @for piece in pieces {
            @match piece {
                Piece::Plain(text) => { (text) }
                Piece::Strong(text) => { strong { (text) } }
                Piece::Code(text) => { code { (short(text)) } }
            }
        }
    }
}

fn worst(diagnosis: &Diagnosis) -> Markup {
    if diagnosis.findings.is_empty() {
        return html! { @if diagnosis.sought { p { "No place loses enough time to be reported." } } };
    }
    html! {
        h3 { "The worst places" }
        ol.worst {
            @for (number, ranked) in diagnosis.findings.iter().take(WORST).enumerate() {
                li { (pieces(&sentences::loss(diagnosis, ranked))) " " a href={ "#finding-" (number + 1) } { "Details" } }
            }
        }
    }
}

/// The factors as bars, between processes and between threads too where there are both.
fn factors(efficiency: &Efficiency, aligned: bool) -> Markup {
    let levels =
        efficiency.levels().into_iter().filter(|(_, factors)| factors.iter().any(|(_, value)| value.is_some()));
    let levels: Vec<(Level, LevelFactors)> = levels.collect();
    let names = levels.first().map_or(&[][..], |(_, factors)| factors);
    let known = |at: usize| levels.iter().any(|(_, factors)| factors[at].1.is_some());
    html! {
        h3 { "Efficiency" }
        div.scroll {
            table {
                caption { "Factors of parallel efficiency; 100 % is no loss. Parallel = load balance × communication, and communication = serialization × transfer; of devices, parallel = load balance × communication × orchestration." @if !aligned { " " strong { (words::DOUBTFUL) } } }
                thead { tr { th scope="col" { "Factor" } @for (level, _) in &levels { th scope="col" { (words::level(*level)) } } th scope="col" { "Meaning" } } }
                tbody {
                    @for (at, (name, _)) in names.iter().enumerate().filter(|(at, _)| known(*at)) {
                        tr {
                            th scope="row" { (words::factor(name).0) }
                            @for (_, factors) in &levels { td { (bar(factors[at].1)) @if !aligned { " " span.dim title=(words::DOUBTFUL) { "?" } } } }
                            td.dim { (words::factor(name).1) }
                        }
                    }
                }
            }
        }
    }
}

fn bar(value: Option<f64>) -> Markup {
    let Some(value) = value.filter(|value| value.is_finite()) else { return html! { "–" } };
    let width = 110.0 * value.clamp(0.0, 1.0);
    svg::sized(
        172.0,
        18.0,
        &names::percent(value),
        &html! {
            rect y="3" width="110" height="12" rx="2" class="f-idle" {}
            rect y="3" width=(svg::px(width)) height="12" rx="2" class=(if value < 0.8 { "f-synchronisation" } else { "f-computation" }) {}
            (svg::text(118.0, 13.5, "start", "", &names::percent(value)))
        },
    )
}

/// Bounds from the ideal run to the actual one, and what each gap loses.
fn waterfall(bounds: &Hierarchy) -> Markup {
    let (Some(first), Some(last)) = (bounds.bounds.first(), bounds.bounds.last()) else { return html! {} };
    let (least, actual) = (first.seconds, last.seconds);
    let (left, right, row) = (190.0, 100.0, 30.0);
    let scale = (WIDTH - left - right) / actual.max(least).max(f64::MIN_POSITIVE);
    let mut at = least;
    let mut rows = vec![(format!("even work ({})", first.name), 0.0, least, "computation")];
    for Gap { name, seconds, .. } in &bounds.gaps {
        rows.push((
            format!("+ {} ({name})", words::gap(name).0),
            at,
            *seconds,
            if *name == "X" { "management" } else { "synchronisation" },
        ));
        at += seconds;
    }
    rows.push(("actual".to_owned(), 0.0, actual, "messages"));
    let height = rows.len() as f64 * row + 6.0;
    let content = html! {
        @for (index, (name, begin, length, class)) in rows.iter().enumerate() {
            @let y = index as f64 * row + 3.0;
            @let x = left + (begin + length.min(0.0)) * scale;
            (svg::text(left - 10.0, y + 16.0, "end", "", name))
            rect x=(svg::px(x)) y=(svg::px(y)) width=(svg::px((length.abs() * scale).max(1.5))) height="22" rx="2" class={ "f-" (class) } {}
            (svg::text(x + (length.abs() * scale).max(1.5) + 7.0, y + 16.0, "start", "", &names::seconds(*length)))
            @if index + 1 < rows.len() {
                @let end = left + (begin + length) * scale;
                (svg::line((end, y + 22.0), (end, y + row)))
            }
        }
    };
    html! {
        h3 { "From the ideal run to the actual one" }
        figure {
            (svg::picture(height, "Bounds on run time as a waterfall; the same numbers are in the text below", &content))
            figcaption {
                "If the work of all PEs were spread evenly and nobody ever waited, the run would take " (names::seconds(least)) ". Each gap adds what one kind of loss costs, and all together are the " (names::seconds(actual)) " that it took."
            }
        }
        dl {
            @for gap in bounds.gaps.iter().filter(|gap| gap.seconds > 0.0) {
                dt { strong { (words::gap(gap.name).0) " (" (gap.name) ")" } " " (names::seconds(gap.seconds)) " (" (names::percent(gap.fraction)) ")" }
                dd { (words::gap(gap.name).1) }
            }
        }
    }
}
