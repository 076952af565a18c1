//! Findings: a table of all, and each of the worst with its place, who waits, who makes it wait, and its longest instances.

use std::fmt::Write;

use maud::{Markup, html};
use partune_base::{CallPathId, PeId, Span, Time};
use partune_engine::{Diagnosis, Finding, Fold, Frame, Occurrence, Ranked, Run, View};

use super::legend::of_kinds;
use super::short;
use super::svg::{self, LEFT, WIDTH};
use super::timeline::raster;
use crate::{names, next, words};

/// Rows of the table.
const ROWS: usize = 200;
/// Findings with details.
const DETAILS: usize = 20;
/// Of these, so many are open; the others open with a click.
const OPEN: usize = 8;
/// Call paths that lead to one place.
const SHOWN: usize = 8;
/// Frames of a call path.
const FRAMES: usize = 24;

pub(super) fn findings(diagnosis: &Diagnosis) -> Markup {
    let count = diagnosis.findings.len();
    html! {
        section aria-labelledby="findings" {
            h2 id="findings" { "Findings" }
            @if count == 0 {
                p { "No place loses enough time to be reported." }
            } @else {
                p { "A finding is a place in the program that loses time. Its seconds are summed over PEs, its share is of run time × PEs. Waits and costs do not overlap and may be added; imbalance explains waits and may not be added to them. Most often the line to change is the one that causes a wait, not the one that waits." }
                (table(diagnosis))
                @for (number, ranked) in diagnosis.findings.iter().take(DETAILS).enumerate() {
                    (detail(diagnosis, number + 1, ranked))
                }
                @if count > DETAILS { p.dim { "Details of the other " (count - DETAILS) " findings are in the JSON document of partune analyze." } }
            }
        }
    }
}

fn table(diagnosis: &Diagnosis) -> Markup {
    let run = &diagnosis.run;
    let count = diagnosis.findings.len();
    html! {
        div.scroll {
            table.sortable {
                caption {
                    (if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") })
                    @if count > ROWS { ", of which the first " (ROWS) " are here" }
                    ", what costs most first."
                }
                thead { tr {
                    th scope="col" { "No." } th scope="col" { "Pattern" } th scope="col" { "Place" }
                    th.n scope="col" { "Time" } th.n scope="col" { "Of run" } th.n scope="col" { "Times" } th scope="col" { "Caused by" }
                } }
                tbody {
                    @for (number, ranked) in diagnosis.findings.iter().take(ROWS).enumerate() {
                        @let it = &ranked.finding;
                        @let seconds = run.seconds(it.time);
                        tr {
                            td.n data-v=(number + 1) {
                                @if number < DETAILS { a href={ "#finding-" (number + 1) } { (number + 1) } } @else { (number + 1) }
                            }
                            td { (words::title(it.pattern)) }
                            td.wide { (short(&names::place(run, it.path))) }
                            td.n data-v=(seconds) { (names::seconds(seconds)) }
                            td.n data-v=(ranked.fraction) { (names::percent(ranked.fraction)) }
                            td.n data-v=(it.count) { (it.count) }
                            td.wide { @if let Some(cause) = it.causes.first() { (pe(run, cause.pe)) ", " (short(&names::cause(run, it.pattern, cause))) } }
                        }
                    }
                }
            }
        }
    }
}

fn detail(diagnosis: &Diagnosis, number: usize, ranked: &Ranked) -> Markup {
    let run = &diagnosis.run;
    let finding = &ranked.finding;
    let seconds = |span: Span| names::seconds(run.seconds(span));
    let times = if finding.count == 1 { "once".to_owned() } else { format!("{} times", finding.count) };
    let body = html! {
            p { (words::meaning(finding.pattern)) " " a href={ "#pattern-" (finding.pattern.name()) } { "What it means" } }
            p { "At " code { (short(&names::place(run, finding.path))) } }
            (call_path(run, finding.path))
            (call_paths(run, finding))
            @if let Some(occurrence) = finding.occurrences.first() { (instance(run, finding, occurrence)) }
            (who(run, finding))
            (causes(run, finding))
            (instances(run, finding))
            @if finding.facts.iter().any(|(_, value)| value.is_finite()) {
                p.dim {
                    "Facts: "
                    @for (index, (name, value)) in finding.facts.iter().filter(|(_, value)| value.is_finite()).enumerate() {
                        @let (label, value) = words::fact(name, *value);
                        @if index > 0 { "; " }
                        (label) ": " (value)
                    }
                }
            }
            p.next { strong { "Next: " } (next::step(finding.pattern)) "." }
    };
    html! {
        article id={ "finding-" (number) } aria-labelledby={ "name-" (number) } {
            h3 id={ "name-" (number) } {
                (number) ". " (words::title(finding.pattern)) " in " (short(names::construct(run, finding.path)))
                span { (seconds(finding.time)) " · " (names::percent(ranked.fraction)) " of the run · " (times) }
            }
            @if number <= OPEN { (body) } @else { details { summary { "Details" } (body) } }
        }
    }
}

fn pe(run: &Run, pe: PeId) -> String {
    if pe.is_some() { format!("PE {}", names::pe(run, pe)) } else { "unknown".to_owned() }
}

/// The frames of a path, outermost first, with the lines of their calls.
fn call_path(run: &Run, path: CallPathId) -> Markup {
    let mut frames: Vec<Frame<'_>> = run.frames(path).take(FRAMES).collect();
    if frames.len() < 2 {
        return html! {};
    }
    let left_out = run.levels(path).saturating_sub(frames.len());
    frames.reverse();
    html! {
        details {
            summary { "Call path" }
            ol.path {
                @if left_out > 0 { li.dim { (left_out) " outer frames" } }
                @for frame in frames {
                    @let Frame { region, site, .. } = frame;
                    li {
                        code { (short(region.name)) }
                        @if site.is_known() { span.dim { " called at " (short(site.file)) ":" (site.line) } }
                        @else if !region.file.is_empty() { span.dim { " " (short(region.file)) @if region.line > 0 { ":" (region.line) } } }
                    }
                }
            }
        }
    }
}

/// The call paths that lead to a place, if there are several.
fn call_paths(run: &Run, finding: &Finding) -> Markup {
    html! {
        @if !finding.paths.is_empty() {
            p { (finding.paths.len()) " call paths lead there:" }
            ul {
                @for (path, time) in finding.paths.iter().take(SHOWN) {
                    li { (names::seconds(run.seconds(*time))) ", called from " code { (short(&names::called_from(run, *path))) } }
                }
                @if finding.paths.len() > SHOWN { li.dim { (finding.paths.len() - SHOWN) " more" } }
            }
        }
    }
}

/// The longest instance: what the PE that loses and the one that makes it lose did meanwhile.
fn instance(run: &Run, finding: &Finding, occurrence: &Occurrence) -> Markup {
    if run.is_profile() || !finding.pattern.is_wait() || occurrence.end <= occurrence.begin {
        return html! {};
    }
    let mut pes = vec![occurrence.pe];
    pes.extend(occurrence.cause.some().filter(|cause| *cause != occurrence.pe));
    let fold = Fold::new(pes.clone(), pes.len());
    let margin = occurrence.end.since(occurrence.begin).0 / 5;
    let view = View {
        begin: Time(occurrence.begin.0.saturating_sub(margin)).max(run.begin()),
        end: Time(occurrence.end.0.saturating_add(margin)).min(run.end()),
        columns: 240,
    };
    let timeline = run.tiles(&fold, view);
    let height = 24.0;
    let rows: Vec<String> = pes.iter().map(|it| pe(run, *it)).collect();
    let below = height * rows.len() as f64;
    let range = run.seconds(view.end.since(view.begin));
    let content = html! {
        (raster(&timeline, 0.0, height))
        (svg::row_names(0.0, height, &rows))
        (svg::time_axis(below + 3.0, range, run.since_origin(view.begin)))
    };
    let seen = super::timeline::seen(&timeline);
    html! {
        figure {
            (svg::picture(below + 22.0, "The longest instance: what the PEs involved did", &content))
            (of_kinds(&seen))
            figcaption {
                "The longest instance: " (pe(run, occurrence.pe)) " loses " (names::seconds(run.seconds(occurrence.end - occurrence.begin)))
                @if pes.len() > 1 { "; below it, what " (pe(run, occurrence.cause)) " did meanwhile" }
                "."
            }
        }
    }
}

/// The loss of each PE, folded where there are many, and the largest by name.
fn who(run: &Run, finding: &Finding) -> Markup {
    if finding.pes.is_empty() {
        return html! {};
    }
    let seconds = |span: Span| run.seconds(span);
    let fold = Fold::new(run.active_pes().to_vec(), 128);
    let mut rows = vec![0.0; fold.len()];
    for (pe, time) in &finding.pes {
        if let Some(sum) = fold.row_of(*pe).and_then(|row| rows.get_mut(row)) {
            *sum += seconds(*time);
        }
    }
    let mut pes = finding.pes.clone();
    pes.sort_by_key(|(pe, time)| (std::cmp::Reverse(*time), *pe));
    let verb = if finding.pattern.is_wait() { "Waiting" } else { "Lost on" };
    let shown: Vec<String> = pes
        .iter()
        .take(6)
        .map(|(pe, time)| format!("PE {}: {}", names::pe(run, *pe), names::seconds(seconds(*time))))
        .collect();
    html! {
        h4 { (verb) }
        p { (shown.join(", ")) @if pes.len() > 6 { " and " (pes.len() - 6) " more" } }
        @if rows.len() > 2 { (columns(run, &fold, &rows)) }
    }
}

/// A column for each row of a folding.
fn columns(run: &Run, fold: &Fold, values: &[f64]) -> Markup {
    let most = values.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return html! {};
    }
    let (height, width) = (54.0, (WIDTH - LEFT) / values.len() as f64);
    let bar = width.min(48.0);
    let last = values.len() - 1;
    let rows: Vec<&[PeId]> = fold.rows().collect();
    let content = html! {
        (svg::text(LEFT - 8.0, 12.0, "end", "small", &names::seconds(most)))
        (svg::line((LEFT, height), (WIDTH, height)))
        path.f-wait d=(bars(values, most, height, bar)) {}
        (svg::text(LEFT + bar * 0.08, height + 14.0, "start", "small", &names::row(run, rows[0])))
        (svg::text(LEFT + (last as f64 + 0.92) * bar, height + 14.0, "end", "small", &names::row(run, rows[last])))
    };
    html! {
        figure {
            (svg::picture(height + 18.0, "Loss by PE", &content))
            figcaption { "Loss by PE, first to last." @if fold.is_folded() { " A column is " (fold.each()) " PEs." } }
        }
    }
}

/// The outlines of columns that stand on a line, as one path: many columns, few bytes.
fn bars(values: &[f64], most: f64, base: f64, width: f64) -> String {
    let mut path = String::new();
    for (index, value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        let tall = svg::px((value / most * (base - 4.0)).max(0.8));
        let (x, wide) = (svg::px(LEFT + (index as f64 + 0.08) * width), svg::px(width * 0.84));
        let _ = write!(path, "M{x} {}v-{tall}h{wide}v{tall}", svg::px(base));
    }
    path
}

fn causes(run: &Run, finding: &Finding) -> Markup {
    if finding.causes.is_empty() {
        return html! {};
    }
    let seconds = |span: Span| run.seconds(span);
    html! {
        h4 { "Caused by" }
        div.scroll {
            table {
                caption { "Largest first" @if finding.unexplained.is_positive() { "; for " (names::seconds(seconds(finding.unexplained))) " no cause is known" } "." }
                thead { tr { th scope="col" { "PE" } th scope="col" { "What it did" } th scope="col" { "Through" } th.n scope="col" { "Time" } } }
                tbody {
                    @for cause in &finding.causes {
                        tr {
                            td { (pe(run, cause.pe)) }
                            td.wide { (short(&names::cause(run, finding.pattern, cause))) }
                            td.wide { (names::via(run, cause).unwrap_or_else(|| "–".to_owned())) }
                            td.n { (names::seconds(seconds(cause.time))) }
                        }
                    }
                }
            }
        }
    }
}

/// Begin and end of an instance in seconds, with as many digits as it takes to look at that piece of the run and little more.
fn piece(run: &Run, begin: Time, end: Time) -> (String, String) {
    let since = |time: Time| run.since_origin(time);
    let length = since(end) - since(begin);
    let digits = if length > 0.0 { (1.0 - length.log10().floor()).clamp(0.0, 9.0) as usize } else { 9 };
    let unit = 10f64.powi(digits as i32);
    let text = |units: f64| format!("{:.digits$} s", units / unit);
    // What is a whole number of units but for rounding is one.
    (text((since(begin) * unit + 1e-6).floor()), text((since(end) * unit - 1e-6).ceil()))
}

fn instances(run: &Run, finding: &Finding) -> Markup {
    if finding.occurrences.is_empty() {
        return html! {};
    }
    html! {
        details {
            summary { "Longest instances" }
            div.scroll {
                table {
                    caption { "Times since the begin of the run, as " code { "--from" } " and " code { "--to" } " take them." }
                    thead { tr { th scope="col" { "PE" } th.n scope="col" { "From" } th.n scope="col" { "To" } th.n scope="col" { "Lost" } th scope="col" { "Caused by" } } }
                    tbody {
                        @for it in &finding.occurrences {
                            @let (from, to) = piece(run, it.begin, it.end);
                            tr {
                                td { (pe(run, it.pe)) } td.n { (from) } td.n { (to) }
                                td.n { (names::seconds(run.seconds(it.end - it.begin))) } td { (pe(run, it.cause)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A microsecond a tick: what is printed begins at or before the instance, ends at or after it, and has little more.
    #[test]
    fn an_instance_can_be_asked_for_by_what_is_printed() {
        let trace = partune_testkit::trace("resolution 1000000\npe 0: main 0..3000000000");
        let run = partune_engine::analyze(trace, &partune_engine::Request::default(), &()).run;
        let of = |begin, end| piece(&run, Time(begin), Time(end));
        let texts = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(of(1_234_567_891, 1_234_667_891), texts("1234.56 s", "1234.67 s"));
        assert_eq!(of(1_234_567, 1_234_677), texts("1.23456 s", "1.23468 s"));
        assert_eq!(of(1_000_000, 1_500_000), texts("1.00 s", "1.50 s"));
        assert_eq!(of(5, 6), texts("0.0000050 s", "0.0000060 s"));
        assert_eq!(of(7, 7), texts("0.000007000 s", "0.000007000 s"));
        assert_eq!(of(2_000_000, 70_000_000), texts("2 s", "70 s"));
    }
}
