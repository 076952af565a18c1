//! The text of `scale`: the series, what its efficiency is made of, which factor limits, and which places.

use std::collections::BTreeSet;
use std::fmt::Write;

use partune_base::CallPathId;
use partune_engine::{Diagnosis, Growth, Limit, Mode, Pattern, ScaledRow, Scaling, ScalingOutcome, Unit};

use super::NamedRun;
use super::place::{PlaceId, first, interval, notes, plural, shortened, table, table_with};
use super::tails::tails;
use crate::style::{Style, Tone};
use crate::tables::number_text;
use crate::{names, words};

/// Columns of a name.
const NAME: usize = 50;

/// The text of how these runs scale, with at most so many places of each kind. Runs in the order in which they were given to it.
pub fn scaling_text(scaling: &Scaling, runs: &[NamedRun<'_>], rows: usize, style: Style) -> String {
    let of_points: Vec<NamedRun<'_>> = scaling.points.iter().map(|point| runs[point.run]).collect();
    let mut out = String::new();
    let _ = match scaling.mode {
        Mode::Strong => writeln!(out, "strong scaling: one problem on more PEs\n"),
        Mode::Weak => writeln!(out, "weak scaling: a problem that grows with the PEs\n"),
    };
    series(&mut out, scaling);
    factors(&mut out, scaling);
    figures(&mut out, scaling);
    out.push('\n');
    style.wrapped(&mut out, (Tone::Strong, ""), &verdict(scaling, &of_points));
    if scaling.outcome != ScalingOutcome::Ideal {
        let lossy = lossy(scaling, &of_points);
        places(&mut out, scaling, &lossy, rows, true);
        places(&mut out, scaling, &lossy, rows, false);
    }
    let notes = notes(&scaling.notes, &of_points, |run| of_points[run].archive.to_owned());
    if !notes.is_empty() {
        out.push('\n');
        notes.iter().for_each(|note| style.wrapped(&mut out, (Tone::Plain, "note: "), note));
    }
    out
}

/// Three decimals: an efficiency, a factor.
fn ratio(value: f64) -> String {
    names::fixed(value, 3)
}

fn series(out: &mut String, scaling: &Scaling) {
    let several = scaling.points.iter().any(|point| point.runs.len() > 1);
    let fraction = match scaling.mode {
        Mode::Strong => "serial fraction (Karp-Flatt)",
        Mode::Weak => "serial fraction (Gustafson)",
    };
    let heading = [
        "PEs",
        "time",
        "runs",
        "shortest",
        "longest",
        "efficiency by all",
        "speed-up",
        "ideal",
        "efficiency",
        fraction,
        "lost",
    ];
    let mut rows: Vec<Vec<String>> = vec![heading.map(str::to_owned).to_vec()];
    for point in &scaling.points {
        rows.push(vec![
            point.pes.to_string(),
            names::seconds(point.seconds),
            point.runs.len().to_string(),
            names::seconds(point.shortest),
            names::seconds(point.longest),
            point.efficiency_range.as_ref().map_or("–".to_owned(), |it| interval(it, names::percent)),
            names::fixed(point.speed_up, 2),
            names::fixed(point.ideal, 2),
            names::percent(point.efficiency),
            point.serial_fraction.map_or("–".to_owned(), ratio),
            names::seconds(point.lost),
        ]);
    }
    if !several {
        for row in &mut rows {
            row.drain(2..6);
        }
    }
    table(out, &rows);
}

fn factors(out: &mut String, scaling: &Scaling) {
    let first = scaling.points[0].pes;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for point in &scaling.points {
        let Some(factors) = &point.factors else { continue };
        let all = factors.all();
        if rows.is_empty() {
            let names = all.iter().map(|(limit, _)| word(*limit));
            rows.push(std::iter::once("PEs".to_owned()).chain(names).chain(["efficiency".to_owned()]).collect());
        }
        let values = all.iter().map(|(_, value)| ratio(*value));
        rows.push(std::iter::once(point.pes.to_string()).chain(values).chain([ratio(point.efficiency)]).collect());
    }
    if rows.len() > 1 {
        let _ = writeln!(out, "\nfactors of the efficiency; 1 is as good as on {}", plural(first, "PE", "PEs"));
        table(out, &rows);
    }
}

/// Efficiencies of each run by itself, its bounds, and memory.
fn figures(out: &mut String, scaling: &Scaling) {
    let shown: Vec<_> = scaling
        .figures
        .iter()
        .filter(|it| match it.section {
            "efficiency" => ["parallel", "load_balance", "communication"].contains(&it.name),
            "bounds" => it.name.starts_with("IPCO"),
            "memory" => it.name == "highest_peak",
            _ => false,
        })
        .collect();
    if shown.is_empty() {
        return;
    }
    let name = |it: &&partune_engine::Figure| match it.section {
        "memory" => "most memory".to_owned(),
        _ => it.name.replace('_', " "),
    };
    let heading = std::iter::once("PEs".to_owned()).chain(shown.iter().map(name));
    let mut rows: Vec<Vec<String>> = vec![heading.collect()];
    for (number, point) in scaling.points.iter().enumerate() {
        let cell = |it: &&partune_engine::Figure| match (it.values[number], it.section) {
            (None, _) => "–".to_owned(),
            (Some(value), _) if it.unit == Unit::Ratio => names::percent(value),
            (Some(value), _) => number_text(it.unit, value),
        };
        rows.push(std::iter::once(point.pes.to_string()).chain(shown.iter().map(cell)).collect());
    }
    let _ = writeln!(out, "\neach run by itself: efficiency, bounds on its time");
    table(out, &rows);
}

/// What the series says, in one or two sentences.
pub(super) fn verdict(scaling: &Scaling, runs: &[NamedRun<'_>]) -> String {
    match scaling.outcome {
        ScalingOutcome::Ideal => "Scales ideally, as far as these runs can tell.".to_owned(),
        ScalingOutcome::Better { point } => {
            let at = &scaling.points[point];
            format!(
                "Superlinear: {} of ideal on {}. Smaller parts may fit into caches, or the first run was slow for a reason \
                 of its own.",
                names::percent(at.efficiency),
                plural(at.pes, "PE", "PEs")
            )
        }
        ScalingOutcome::Limited { point, by } => {
            let at = &scaling.points[point];
            let mut text = format!("{} of the ideal on {}", names::percent(at.efficiency), plural(at.pes, "PE", "PEs"));
            if let Some((share, sharing)) = crowded(runs[point].diagnosis) {
                let _ = write!(text, ", {share} of the run lost by waiting for processors: {sharing}. ");
                text.push_str("What operations and code lose by that is in all other figures: give each PE a processor of its own first");
            } else if let Some(by) = by {
                let _ = write!(text, ", most of it by {}: {}", word(by), meaning(by));
                if let Some(place) = culprit(&lossy(scaling, runs), by) {
                    let _ = write!(text, ". {place}");
                }
            }
            text + "."
        }
    }
}

/// Where waiting for processors is what costs a run most: its share, and how many PEs share how many processors.
fn crowded(diagnosis: &Diagnosis) -> Option<(String, String)> {
    let first = diagnosis.findings.first().filter(|it| it.finding.pattern == Pattern::WaitForProcessor)?;
    Some((names::percent(first.fraction), words::sharing(&first.finding)?))
}

/// A factor in words.
fn word(limit: Limit) -> String {
    if limit == Limit::StartUp { "start-up".to_owned() } else { limit.name().replace('_', " ") }
}

/// What a factor that limits means.
fn meaning(limit: Limit) -> &'static str {
    match limit {
        Limit::Computation => {
            "the code itself takes more time in total than on fewer PEs (work that PEs repeat, shared caches or memory)"
        }
        Limit::LoadBalance => "some PEs have more to do than others, or work stays on one of them",
        Limit::Communication => "operations take longer, by waiting or by themselves; a trace would tell which",
        Limit::Serialization => "PEs wait for each other in turn",
        Limit::Transfer => "operations take longer by themselves: more of them, or more data, or a slower network",
        Limit::StartUp => "start-up and shut-down take a larger share of the run",
    }
}

/// A place that loses time.
struct Lossy<'a> {
    row: &'a ScaledRow<CallPathId>,
    name: String,
    /// The end of its call path where the program has another place of its name.
    tail: Option<String>,
}

impl Lossy<'_> {
    fn text(&self) -> String {
        let on_the_path = |tail| format!("{}, on the path {tail}", self.name);
        self.tail.as_ref().map_or_else(|| self.name.clone(), on_the_path)
    }
}

fn lossy<'a>(scaling: &'a Scaling, runs: &[NamedRun<'_>]) -> Vec<Lossy<'a>> {
    let named = |row: &'a ScaledRow<CallPathId>| first(&row.ids, runs).map(|(id, run)| (row, (id.text(run), id, run)));
    let all = scaling.callpaths.iter().filter_map(named);
    let (lossy, others): (Vec<_>, Vec<_>) = all.partition(|(row, _)| row.growth.is_loss());
    let (rows, mut named): (Vec<_>, Vec<_>) = lossy.into_iter().unzip();
    let names: BTreeSet<String> = named.iter().map(|(name, ..)| name.clone()).collect();
    named.extend(others.into_iter().map(|(_, it)| it).filter(|(name, ..)| names.contains(name)));
    let tails = tails(&named);
    rows.into_iter().zip(named).zip(tails).map(|((row, (name, ..)), tail)| Lossy { row, name, tail }).collect()
}

/// Where to look first: the place that loses most in the way that a limit is about; of an operation that waits and takes longer itself, the part that counts. Where none does, which of those that could loses most, and how.
fn culprit(lossy: &[Lossy<'_>], limit: Limit) -> Option<String> {
    let grows = |it: &&Lossy<'_>| match limit {
        Limit::Computation => matches!(it.row.growth, Growth::Replicated | Growth::Work),
        Limit::LoadBalance => matches!(it.row.growth, Growth::Serial | Growth::Uneven),
        Limit::Communication => matches!(it.row.growth, Growth::Waiting | Growth::Transfer | Growth::Operation),
        Limit::Serialization => it.row.growth == Growth::Waiting,
        Limit::Transfer => it.row.growth == Growth::Transfer,
        Limit::StartUp => it.row.growth == Growth::StartUp,
    };
    let could = |it: &&Lossy<'_>| match limit {
        Limit::Computation | Limit::LoadBalance => it.row.code,
        Limit::Transfer => !it.row.code && it.row.growth != Growth::StartUp,
        Limit::Communication | Limit::Serialization | Limit::StartUp => false,
    };
    let part = |it: &Lossy<'_>| {
        let end = it.row.sums.last().copied().flatten().filter(|_| it.row.growth != Growth::StartUp)?;
        match limit {
            Limit::Serialization => end.waited,
            Limit::Transfer => end.waited.map(|waited| end.lost - waited),
            Limit::Computation | Limit::LoadBalance | Limit::Communication | Limit::StartUp => None,
        }
    };
    let parts = lossy.iter().filter_map(|it| Some((it, part(it)?))).filter(|(_, part)| *part > 0.0);
    let most = parts.reduce(|most, next| if next.1 > most.1 { next } else { most });
    // That most of what a place loses is of another kind is no reason to pass it over, but one place at least has to grow so.
    let most = most.map(|(it, _)| it).filter(|_| lossy.iter().any(|it| grows(&it)));
    let first = most.or_else(|| lossy.iter().find(grows)).map(|it| format!("Look first at {}", it.text()));
    first.or_else(|| {
        let most = lossy.iter().find(could)?;
        Some(format!("No place grows so; most is lost in {}: {}", most.text(), growth(most.row.growth)))
    })
}

fn places(out: &mut String, scaling: &Scaling, lossy: &[Lossy<'_>], limit: usize, code: bool) {
    let last = scaling.points.len() - 1;
    let lossy: Vec<_> = lossy.iter().filter(|it| it.row.code == code).collect();
    if lossy.is_empty() {
        return;
    }
    let what = if code { "code that keeps PEs from the ideal" } else { "operations that take more than ideal" };
    let mut rows = vec![["", "lost", "factor"].map(str::to_owned).to_vec()];
    what.clone_into(&mut rows[0][0]);
    rows[0].extend(scaling.points.iter().map(|point| plural(point.pes, "PE", "PEs")));
    rows[0].push(if code { "longest PE; how it grows" } else { "summed; how it grows" }.to_owned());
    let mut more: Vec<Vec<String>> = vec![Vec::new()];
    for Lossy { row, name, tail } in lossy.iter().take(limit) {
        let mut cells = vec![shortened(name, NAME)];
        let end = row.sums[last].as_ref();
        cells.push(end.map_or("–".to_owned(), |it| names::seconds(it.lost)));
        cells.push(end.and_then(|it| it.factor).map_or("–".to_owned(), ratio));
        cells.extend(row.sums.iter().map(|it| {
            let seconds = |it: &partune_engine::ScaledSums| if code { it.sums.longest } else { it.sums.exclusive };
            it.as_ref().map_or("–".to_owned(), |it| names::seconds(seconds(it)))
        }));
        cells.push(growth(row.growth).to_owned());
        rows.push(cells);
        more.push(tail.iter().map(|it| format!("at {it}")).collect());
    }
    table_with(out, &rows, &more);
    if lossy.len() > limit {
        let _ = writeln!(out, "  … {} more; --rows N shows them", lossy.len() - limit);
    }
}

/// How a place grows, in words.
fn growth(growth: Growth) -> &'static str {
    match growth {
        Growth::Ideal => "ideal",
        Growth::Better => "better than ideal",
        Growth::Serial => "stays on as few PEs",
        Growth::Replicated => "every PE repeats it",
        Growth::Uneven => "less even",
        Growth::Work => "more work in total",
        Growth::Waiting => "waits",
        Growth::Transfer => "takes longer itself",
        Growth::Operation => "waits or takes longer",
        Growth::StartUp => "start-up, shut-down",
    }
}
