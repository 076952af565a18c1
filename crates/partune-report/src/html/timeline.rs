//! The time line of the whole run, with the worst instances of the first findings marked.

use maud::{Markup, html};
use partune_engine::{Bin, Diagnosis, Fold, Kind, Tiles, View};

use super::folding;
use super::legend::of_kinds;
use super::svg::{self, LEFT, Raster, WIDTH};
use crate::names;

/// Columns of time.
const COLUMNS: usize = 480;
/// From this share of waiting, a bin is shaded.
const WAITING: f32 = 0.5;
/// Findings whose longest instance is marked.
const MARKS: usize = 5;

pub(super) fn overview(diagnosis: &Diagnosis, fold: &Fold) -> Markup {
    let run = &diagnosis.run;
    html! {
        section aria-labelledby="timeline" {
            h2 id="timeline" { "Timeline" }
            @if run.is_profile() || fold.is_empty() {
                p { "Nothing is known of when things happened: no events were recorded." }
            } @else {
                (drawn(diagnosis, fold))
            }
        }
    }
}

fn drawn(diagnosis: &Diagnosis, fold: &Fold) -> Markup {
    let run = &diagnosis.run;
    let timeline = run.tiles(fold, run.view(COLUMNS));
    let (top, height) = (22.0, svg::row_height(fold.len()));
    let below = top + height * fold.len() as f64;
    let rows: Vec<String> = fold.rows().map(|row| names::row(run, row)).collect();
    let range = run.seconds(run.duration());
    let column = run.seconds(run.duration()) / COLUMNS as f64;
    let content = html! {
        (raster(&timeline, top, height))
        (svg::row_names(top, height, &rows))
        (svg::time_axis(below + 2.0, range, run.since_origin(run.begin())))
        (marks(diagnosis, fold, &timeline.view, top, height))
    };
    let seen = seen(&timeline);
    html! {
        figure {
            (svg::linked(below + 22.0, "Time line: one row per PE or group of PEs, coloured by what it did", &content))
            (of_kinds(&seen))
            figcaption {
                "Time from left to right, PEs from top to bottom" (folding(fold)) ". Each column is " (names::seconds(column))
                " and has the colour of what took most of it; its lower half is red where at least half of it was waiting for another PE. Numbers mark the longest instance of the first findings."
            }
        }
    }
}

/// The bins of a time line, waits shaded in the lower half of their rows.
pub(super) fn raster(timeline: &Tiles, top: f64, row_height: f64) -> Markup {
    let classes = Kind::ALL.map(Kind::name);
    let place = Raster {
        x: LEFT,
        y: top,
        width: WIDTH - LEFT,
        row_height,
        fill: if row_height > 6.0 { 0.9 } else { 1.0 },
        columns: timeline.view.columns,
    };
    let colour = |bin: &Bin| Some(bin.most() as usize);
    let shade = |bin: &Bin| (bin.share(Kind::Wait) >= WAITING).then_some(0);
    let shaded = Raster { fill: 0.42, ..place };
    html! {
        (place.draw(&classes, timeline.rows().map(|row| row.iter().map(colour))))
        (shaded.draw(&[Kind::Wait.name()], timeline.rows().map(|row| row.iter().map(shade))))
    }
}

/// The kinds that a time line shows, in the order of a legend.
pub(super) fn seen(timeline: &Tiles) -> Vec<Kind> {
    let mut seen = [false; Kind::ALL.len()];
    for bin in timeline.rows().flatten() {
        seen[bin.most() as usize] = true;
        seen[Kind::Wait as usize] |= bin.share(Kind::Wait) >= WAITING;
    }
    Kind::ALL.into_iter().filter(|kind| seen[*kind as usize]).collect()
}

fn marks(diagnosis: &Diagnosis, fold: &Fold, view: &View, top: f64, height: f64) -> Markup {
    let mut taken: Vec<f64> = Vec::new();
    html! {
        @for (number, ranked) in diagnosis.findings.iter().take(MARKS).enumerate() {
            @if let Some((worst, row)) = ranked.finding.occurrences.first().and_then(|it| Some((it, fold.row_of(it.pe)?))) {
                @let x = LEFT + (WIDTH - LEFT) * view.position(worst.begin).clamp(0.0, 1.0);
                @let width = ((WIDTH - LEFT) * (view.position(worst.end) - view.position(worst.begin))).max(2.0);
                @let y = top + height * row as f64;
                // Numbers stand above the picture, beside those that are there.
                @let at = free(&mut taken, x);
                rect.seen x=(svg::px(x)) y=(svg::px(y)) width=(svg::px(width)) height=(svg::px(height)) {}
                (svg::line((at, 16.0), (x, y)))
                a href={ "#finding-" (number + 1) } aria-label={ "Finding " (number + 1) } {
                    circle.mark cx=(svg::px(at)) cy="8.5" r="7.5" {}
                    (svg::text(at, 12.5, "middle", "", &(number + 1).to_string()))
                }
            }
        }
    }
}

fn free(taken: &mut Vec<f64>, wanted: f64) -> f64 {
    let mut at = wanted.clamp(LEFT, WIDTH - 9.0);
    while taken.iter().any(|it| (it - at).abs() < 17.0) {
        at += if at + 17.0 < WIDTH { 17.0 } else { -WIDTH + LEFT };
    }
    taken.push(at);
    at
}
