//! The text of `compare`: how much faster, which figures, which places, which findings. What noise could explain is only counted.

use std::fmt::Write;

use partune_diag::three_digits;
use partune_engine::{
    Came, Change, Checked, Comparison, FindingRow, FindingSums, Interval, PeChange, PlaceRow, PlaceSums, Unit, Verdict,
    Verified, repeats,
};

use super::NamedRun;
use super::compare_json::finding_verdict;
use super::place::{
    PlaceId, first, interval, is_repeated, letter, lossy, measured, other_notes, plural, shortened, signed,
    signed_percent, table, table_with,
};
use super::tails::tails;
use crate::advise::advice_id;
use crate::style::{Style, Tone};
use crate::tables::number_text;
use crate::what_if::saved;
use crate::{names, words};

/// Columns of a name.
const NAME: usize = 56;

/// The text of a comparison of these runs, with at most so many places and findings.
pub fn compare_text(comparison: &Comparison, runs: &[NamedRun<'_>], rows: usize, style: Style) -> String {
    let mut out = String::new();
    for (number, run) in runs.iter().enumerate() {
        header(&mut out, comparison, number, run);
    }
    // Who reads no further reads this.
    told(&mut out, &lossy(runs, letter), style);
    figures(&mut out, comparison);
    if comparison.by_region {
        places(&mut out, comparison, (&comparison.regions, "regions"), runs, rows);
    } else {
        places(&mut out, comparison, (&comparison.callpaths, "places"), runs, rows);
    }
    findings(&mut out, comparison, runs, rows);
    told(&mut out, &other_notes(&comparison.notes, letter), style);
    out
}

fn told(out: &mut String, notes: &[String], style: Style) {
    if !notes.is_empty() {
        out.push('\n');
        notes.iter().for_each(|note| style.wrapped(out, (Tone::Plain, "note: "), note));
    }
}

/// What was predicted, and what came of it.
pub fn verified_text(verified: &Verified<'_>) -> String {
    let mut out = String::new();
    let change = verified.advice.change.as_deref().unwrap_or_default();
    let _ = writeln!(out, "\n  advice {} ({change})", advice_id(verified.advice));
    let _ = writeln!(out, "  predicted to save {}", saved(&verified.saving, verified.run_s));
    for (number, saved) in verified.saved.iter().enumerate() {
        let told = interval(saved, names::seconds);
        let _ = writeln!(out, "  {} saved {told}: {}", letter(number + 1), came(verified.came(saved)));
    }
    out
}

/// What became of a prediction, in words.
pub(super) fn came(came: Came) -> &'static str {
    match came {
        Came::Inside => "as predicted",
        Came::WithinNoise => "as predicted within noise",
        Came::Outside => "not as predicted",
    }
}

/// What came of conditions.
pub fn checked_text(all: &[Checked]) -> String {
    let mut out = String::new();
    for checked in all {
        let verdict = if checked.fails() { "holds" } else { "does not hold" };
        let _ = writeln!(out, "\n  condition {}: {verdict}", checked.condition);
        for run in measured(checked) {
            let _ = writeln!(out, "  {run}");
        }
    }
    out
}

fn header(out: &mut String, comparison: &Comparison, number: usize, run: &NamedRun<'_>) {
    let it = &comparison.runs[number];
    let kind = if run.diagnosis.run.is_profile() { ", profile" } else { "" };
    let _ = write!(
        out,
        "{}  {}: {} in {}{kind}, {}",
        letter(number),
        run.archive,
        plural(it.pes, "PE", "PEs"),
        plural(it.processes, "process", "processes"),
        names::seconds(it.seconds)
    );
    if let Some(piece) = words::piece(&run.diagnosis.run) {
        let _ = write!(out, " ({piece})");
    }
    let inner = it.measured.filter(|seconds| *seconds < 0.995 * it.seconds);
    if let Some(seconds) = inner {
        let _ = write!(out, " ({} without start-up and shut-down)", names::seconds(seconds));
    }
    if number > 0 {
        let _ = write!(out, ", {}", speed(it.speed_up));
        let _ = match it.change.verdict {
            _ if is_repeated(comparison) => Ok(()),
            Verdict::TooSmall => write!(out, ", within noise"),
            Verdict::Unknown => write!(out, ", and no spread to tell whether that is noise"),
            Verdict::Same | Verdict::Grown | Verdict::Shrunk | Verdict::Added | Verdict::Gone => Ok(()),
        };
        // That is said of the whole.
        if let (Some(inner), true) = (it.measured_speed_up, inner.is_some() && it.change.verdict != Verdict::Same) {
            let _ = write!(out, " ({} without them)", speed(Some(inner)));
        }
    }
    out.push('\n');
    if is_repeated(comparison) {
        of_repeats(out, &it.repeats, it.longer.as_ref());
    }
}

/// What all runs of a kind say: `3 runs: median 388 ms, 386 ms to 391 ms; −63 ms (−66 ms to −60 ms, 90 % confidence) to A, beyond noise`.
fn of_repeats(out: &mut String, times: &[f64], longer: Option<&Interval>) {
    let Some(median) = repeats::median(times) else { return };
    let (least, most) = times.iter().fold((f64::MAX, 0.0_f64), |(least, most), it| (least.min(*it), most.max(*it)));
    let range = if times.len() > 1 {
        format!(", {} to {}", names::seconds(least), names::seconds(most))
    } else {
        String::new()
    };
    let _ = write!(out, "   {}: median {}{range}", plural(times.len(), "run", "runs"), names::seconds(median.estimate));
    if let Some(longer) = longer {
        let verdict = match longer {
            it if !it.is_above(0.0) && !it.is_below(0.0) => "within noise",
            it if it.is_known() => "beyond noise",
            _ => "too few runs to tell whether that is noise",
        };
        let _ = write!(out, "; {} to A, {verdict}", interval(longer, signed));
    }
    out.push('\n');
}

/// How many times faster or slower than the base.
fn speed(speed_up: Option<f64>) -> String {
    let told = |value: f64| names::fixed(value, 2);
    match speed_up {
        None => "speed-up unknown".to_owned(),
        Some(value) if told(value) == "1.00" => "as fast as A".to_owned(),
        Some(value) if value > 1.0 => format!("{}× faster", told(value)),
        Some(value) => format!("{}× slower", told(1.0 / value)),
    }
}

fn letters(comparison: &Comparison) -> Vec<String> {
    (0..comparison.runs.len()).map(letter).collect()
}

fn figures(out: &mut String, comparison: &Comparison) {
    const EFFICIENCIES: [&str; 5] = ["parallel", "load_balance", "communication", "serialization", "transfer"];
    let shown = comparison.figures.iter().filter(|figure| match figure.section {
        "efficiency" => EFFICIENCIES.contains(&figure.name),
        _ => figure.name != "actual" && figure.values.iter().flatten().any(|value| *value != 0.0),
    });
    let row = |figure: &partune_engine::Figure| {
        let name = match figure.section {
            "gaps" => format!("gap {}", figure.name),
            "bounds" => format!("bound {}", figure.name),
            "memory" => format!("memory, {}", figure.name.replace('_', " ")),
            _ => figure.name.replace('_', " "),
        };
        let value = |value: &Option<f64>| match (value, figure.unit) {
            (None, _) => "–".to_owned(),
            (Some(value), Unit::Ratio) => names::percent(*value),
            (Some(value), unit) => number_text(unit, *value),
        };
        std::iter::once(name).chain(figure.values.iter().map(value)).collect()
    };
    let mut rows: Vec<Vec<String>> = shown.map(row).collect();
    if !rows.is_empty() {
        let has_memory = comparison.figures.iter().any(|figure| figure.section == "memory");
        let title = if has_memory { "efficiency, bounds, memory" } else { "efficiency and bounds" };
        rows.insert(0, std::iter::once(title.to_owned()).chain(letters(comparison)).collect());
        out.push('\n');
        table(out, &rows);
    }
}

/// The rows of call paths or of regions, with the word for them.
fn places<I: PlaceId>(
    out: &mut String,
    comparison: &Comparison,
    (places, word): (&[PlaceRow<I>], &str),
    runs: &[NamedRun<'_>],
    limit: usize,
) {
    // What no run spent any time in differs by nothing.
    let has_time = |row: &PlaceRow<I>| row.sums.iter().flatten().any(|sums| sums.exclusive > 0.0);
    let told = |row: &&PlaceRow<I>| {
        has_time(row) && (row.changes.iter().any(|change| is_shown(change.verdict)) || of_one_pe(row, runs))
    };
    let (shown, count) = (places.iter().filter(told), places.iter().filter(told).count());
    let what = if comparison.per_pe { "mean over PEs" } else { "summed over PEs" };
    let differs = |row: &PlaceRow<I>| row.changes.iter().any(|it| it.verdict != Verdict::Same);
    if count == 0 && !places.iter().any(differs) {
        let _ = writeln!(out, "\nno {word} differ");
    } else if count == 0 {
        let _ = writeln!(out, "\nno {word} differ by more than the spread of the runs can tell");
    } else {
        let differences = (1..runs.len()).flat_map(|run| [format!("{}−A", letter(run)), format!("{}/A", letter(run))]);
        let heading = std::iter::once(format!("{word} (exclusive time, {what})"));
        let mut rows: Vec<Vec<String>> = vec![heading.chain(letters(comparison)).chain(differences).collect()];
        let mut more: Vec<Vec<String>> = vec![Vec::new()];
        let shown: Vec<_> = shown.take(limit).filter_map(|row| Some((row, first(&row.ids, runs)?))).collect();
        let named: Vec<_> = shown.iter().map(|(_, (id, run))| (id.text(run), *id, *run)).collect();
        for (((row, _), (label, ..)), tail) in shown.into_iter().zip(&named).zip(tails(&named)) {
            let cells =
                (0..runs.len()).map(|run| value(comparison, row, run)).chain(row.changes.iter().flat_map(cells));
            rows.push(std::iter::once(shortened(label, NAME)).chain(cells).collect());
            let tail = tail.map(|it| format!("at {it}"));
            more.push(tail.into_iter().chain([also(comparison, &row.sums), most(row, runs)]).collect());
        }
        table_with(out, &rows, &more);
        if count > limit {
            let _ = writeln!(out, "  … {} more; --rows N shows them", count - limit);
        }
    }
    let count_of = |verdict: Verdict| {
        let is = |row: &&PlaceRow<I>| !told(row) && row.changes.iter().any(|it| it.verdict == verdict);
        places.iter().filter(is).count()
    };
    let small = count_of(Verdict::TooSmall);
    if small > 0 {
        let over = if is_repeated(comparison) { "runs" } else { "visits and PEs" };
        let most =
            largest_untold(comparison, places, runs).map_or(String::new(), |most| format!(", most of all {most}"));
        let _ = writeln!(out, "  {} by less than the spread over {over} can tell{most}", differ(small, word));
    }
    let doubtful = |row: &PlaceRow<I>| row.changes.iter().any(|it| it.verdict == Verdict::Unknown);
    if places.iter().filter(told).take(limit).any(doubtful) {
        let why = if is_repeated(comparison) { "too few runs" } else { "start-up, shut-down, one visit on one PE" };
        let _ = writeln!(out, "  ? no spread to tell by: {why}");
    }
}

/// A difference that is a larger share of the first run is named even where it may be chance.
const LARGE: f64 = 0.01;

/// Of differences that are too small to be told the largest, if it is a large one: where, and seconds.
fn largest_untold<I: PlaceId>(
    comparison: &Comparison,
    places: &[PlaceRow<I>],
    runs: &[NamedRun<'_>],
) -> Option<String> {
    let without_line = places.iter().filter(|row| !of_one_pe(row, runs));
    let changes =
        without_line.flat_map(|row| row.changes.iter().enumerate().map(move |(at, change)| (row, at, change)));
    let untold = changes.filter(|(_, _, change)| change.verdict == Verdict::TooSmall);
    let (row, at, change) = untold.max_by(|a, b| a.2.difference.abs().total_cmp(&b.2.difference.abs()))?;
    let of_first: f64 = places.iter().filter_map(|row| Some(row.sums.first()?.as_ref()?.exclusive)).sum();
    let (id, named) = first(&row.ids, runs)?;
    let run = if runs.len() > 2 { format!(" in {}", letter(at + 1)) } else { String::new() };
    (change.difference.abs() >= LARGE * of_first / comparison.base(0))
        .then(|| format!("{}, {}{run}", shortened(&id.text(named), NAME), signed(change.difference)))
}

/// Whether it is code that changed on one PE, whatever all together say. What that makes others wait is in rows of its own.
fn of_one_pe<I: PlaceId>(row: &PlaceRow<I>, runs: &[NamedRun<'_>]) -> bool {
    let is_code = first(&row.ids, runs).is_some_and(|(id, run)| id.is_code(run));
    is_code && row.most.iter().any(Option::is_some)
}

/// The PE on which a place changed most: `most on PE 3: +2.00 s (+20.0 %)`.
fn most<I>(row: &PlaceRow<I>, runs: &[NamedRun<'_>]) -> String {
    let one = |(at, it): (usize, &Option<PeChange>)| {
        let it = it.as_ref()?;
        let pe = names::pe(&runs[at + 1].diagnosis.run, it.pe);
        let ratio = it.ratio.map_or(String::new(), |ratio| format!(" ({})", signed_percent(ratio - 1.0)));
        let run = if runs.len() > 2 { format!(" in {}", letter(at + 1)) } else { String::new() };
        Some(format!("most on PE {pe}{run}: {}{ratio}", signed(it.difference)))
    };
    row.most.iter().enumerate().filter_map(one).collect::<Vec<_>>().join(", ")
}

/// Whether a difference has a line: it is reported, or nothing says whether it is noise.
fn is_shown(verdict: Verdict) -> bool {
    verdict.is_told() || verdict == Verdict::Unknown
}

/// Exclusive seconds of a run, as they are compared.
fn value<I>(comparison: &Comparison, row: &PlaceRow<I>, run: usize) -> String {
    let base = comparison.base(run);
    row.sums[run].as_ref().map_or("–".to_owned(), |sums| names::seconds(sums.exclusive / base))
}

/// `1 place differs`, `2 places differ`; `word` is the plural.
fn differ(count: usize, word: &str) -> String {
    match count {
        1 => format!("1 {} differs", word.trim_end_matches('s')),
        _ => format!("{count} {word} differ"),
    }
}

/// What became of a finding.
fn in_words(verdict: Verdict) -> String {
    match verdict {
        Verdict::Unknown => "?".to_owned(),
        Verdict::TooSmall => "within noise".to_owned(),
        _ => finding_verdict(verdict).to_owned(),
    }
}

/// Difference and ratio.
fn cells(change: &Change) -> [String; 2] {
    let ratio = change.ratio.map_or(String::new(), |ratio| format!("×{}", three_digits(ratio)));
    match change.verdict {
        Verdict::Same => ["=".to_owned(), String::new()],
        Verdict::TooSmall => [format!("({})", signed(change.difference)), String::new()],
        Verdict::Unknown => [format!("{}?", signed(change.difference)), ratio],
        Verdict::Grown | Verdict::Shrunk => [signed(change.difference), ratio],
        Verdict::Added => [signed(change.difference), "only here".to_owned()],
        Verdict::Gone => [signed(change.difference), "not here".to_owned()],
    }
}

/// What else differs at a place: visits, waiting, bytes; on the same base as its time, so that waiting is a part of it.
fn also(comparison: &Comparison, sums: &[Option<PlaceSums>]) -> String {
    let known: Vec<&PlaceSums> = sums.iter().flatten().collect();
    if known.len() < 2 {
        return String::new();
    }
    let list = |name: &str, values: Vec<String>| {
        let mut there = values.iter().zip(sums).filter(|(_, sums)| sums.is_some()).map(|(value, _)| value);
        let first = there.next();
        let differs = there.any(|value| Some(value) != first);
        differs.then(|| format!("{name} {}", values.join(" → ")))
    };
    let of = |value: &dyn Fn(&PlaceSums) -> f64, text: &dyn Fn(f64) -> String| {
        let cell = |(run, it): (usize, &Option<PlaceSums>)| {
            it.as_ref().map_or("–".to_owned(), |it| text(value(it) / comparison.base(run)))
        };
        sums.iter().enumerate().map(cell).collect::<Vec<String>>()
    };
    let number = |value: f64| if value.fract() == 0.0 { format!("{value:.0}") } else { three_digits(value) };
    let told = known.iter().all(|it| it.waiting.is_some());
    let parts = [
        list("visits", of(&|it| it.visits as f64, &number)),
        list("waiting", of(&|it| it.waiting.unwrap_or_default(), &names::seconds)).filter(|_| told),
        list("moved", of(&|it| it.bytes as f64, &names::bytes)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn findings(out: &mut String, comparison: &Comparison, runs: &[NamedRun<'_>], limit: usize) {
    let told = |row: &&FindingRow| row.changes.iter().any(|change| is_shown(change.verdict));
    let count = comparison.findings.iter().filter(told).count();
    if count > 0 {
        let differences = (1..runs.len()).flat_map(|run| [format!("{}−A", letter(run)), String::new()]);
        let what = if comparison.per_pe { "mean over PEs" } else { "summed over PEs" };
        let heading = std::iter::once(format!("findings ({what})"));
        let mut rows: Vec<Vec<String>> = vec![heading.chain(letters(comparison)).chain(differences).collect()];
        let mut more: Vec<Vec<String>> = vec![Vec::new()];
        let known = |row: &FindingRow| {
            let mut sums = row.sums.iter().zip(runs);
            sums.find_map(|(sums, run)| {
                let path = sums.as_ref()?.path;
                let spot = names::spot_at(run.diagnosis, row.pattern, path)?;
                Some(((spot, words::title(row.pattern).to_lowercase()), path, &run.diagnosis.run))
            })
        };
        let shown = comparison.findings.iter().filter(told).take(limit);
        let (shown, named): (Vec<_>, Vec<_>) = shown.filter_map(|row| Some((row, known(row)?))).unzip();
        let tails = tails(&named);
        for ((row, ((spot, title), ..)), tail) in shown.into_iter().zip(named).zip(tails) {
            let value = |(run, it): (usize, &Option<FindingSums>)| {
                it.as_ref().map_or("–".to_owned(), |it| names::seconds(it.seconds / comparison.base(run)))
            };
            let values = row.sums.iter().enumerate().map(value);
            let changes = row.changes.iter().flat_map(|it| [signed(it.difference), in_words(it.verdict)]);
            rows.push(std::iter::once(shortened(&spot, NAME)).chain(values).chain(changes).collect());
            more.push(std::iter::once(title).chain(tail.map(|it| format!("at {it}"))).collect());
        }
        table_with(out, &rows, &more);
        if count > limit {
            let _ = writeln!(out, "  … {} more; --rows N shows them", count - limit);
        }
    }
    let differs = |row: &&FindingRow| !told(row) && row.changes.iter().any(|it| it.verdict != Verdict::Same);
    let small = comparison.findings.iter().filter(differs).count();
    if small > 0 {
        let over = if is_repeated(comparison) { "runs" } else { "waits and PEs" };
        let _ = writeln!(out, "  {} by less than the spread over {over} can tell", differ(small, "findings"));
    }
    if count == 0 && small == 0 && !comparison.findings.is_empty() {
        let _ = writeln!(out, "  {}, the same in all runs", plural(comparison.findings.len(), "finding", "findings"));
    }
}

#[cfg(test)]
mod tests {
    use partune_base::{CallPathId, PeId, Span};
    use partune_engine::{Diagnosis, Finding, Pattern, Ranked, Request};

    use super::*;

    /// What a finding is called by itself it is called here; only one without a place is outside of regions.
    #[test]
    fn findings_are_where_their_run_says() {
        let run = |waited: i64, more: &dyn Fn(&mut Diagnosis)| {
            let text = "resolution 1
                pe 0: main@a.c:1 0..900 { f 0..300 MPI_Barrier^a.c:3 300..900 barrier }
                pe 1: main@a.c:1 0..900 { f 0..900 MPI_Barrier^a.c:3 900..900 barrier }";
            let mut diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
            let (pattern, path, pes) = (Pattern::WaitForProcessor, CallPathId::NONE, vec![(PeId(0), Span(waited))]);
            let other = diagnosis.findings[0].finding.clone();
            let finding = Finding { pattern, path, pes, time: Span(waited), paths: Vec::new(), ..other };
            diagnosis.findings.push(Ranked { finding, fraction: 0.1 });
            more(&mut diagnosis);
            diagnosis
        };
        let text = |runs: &[&Diagnosis]| {
            let named: Vec<_> = runs.iter().map(|diagnosis| NamedRun { archive: "x", diagnosis }).collect();
            compare_text(&partune_engine::compare(runs).unwrap(), &named, 10, Style::PLAIN)
        };
        let nothing: &dyn Fn(&mut Diagnosis) = &|_| ();
        let of_processors = |text: &str| text.matches("  processors of node").count();
        let both = text(&[&run(100, nothing), &run(400, nothing)]);
        assert_eq!((of_processors(&both), both.matches(names::OUTSIDE).count()), (1, 0), "{both}");
        // The second run is the first that has it.
        let none: &dyn Fn(&mut Diagnosis) = &|diagnosis| diagnosis.findings.truncate(diagnosis.findings.len() - 1);
        let one = text(&[&run(100, none), &run(400, nothing)]);
        assert_eq!((of_processors(&one), one.matches(names::OUTSIDE).count()), (1, 0), "{one}");
        assert_eq!(of_processors(&text(&[&run(100, none), &run(100, none)])), 0);
        assert!(both.contains("\n      wait for processor\n"), "{both}");
        // The document, which pages show, says it in the same words.
        let (first, second) = (run(100, none), run(400, nothing));
        let named = [&first, &second].map(|diagnosis| NamedRun { archive: "x", diagnosis });
        let value = super::super::compare_value(&partune_engine::compare(&[&first, &second]).unwrap(), &named);
        let places =
            value["findings"].as_array().unwrap().iter().map(|it| (it["construct"].as_str(), it["place"].as_str()));
        let places: Vec<_> = places.map(|(construct, place)| (construct.unwrap(), place.unwrap())).collect();
        assert!(places.contains(&("", "processors of node")), "{places:?}");
        assert!(places.contains(&("MPI_Barrier", "MPI_Barrier in main (a.c:3)")), "{places:?}");
    }
}
