//! What continuous integration takes of a comparison: conditions as JUnit XML, and a summary as Markdown for a comment on a change.

use std::fmt::Write;

use partune_diag::three_digits;
use partune_engine::{Checked, Comparison, PlaceRow, Unit, Verified};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::NamedRun;
use super::compare_text::came;
use super::place::{PlaceId, first, interval, letter, measured, signed, signed_percent};
use super::tails::tails;
use crate::advise::advice_id;
use crate::names;
use crate::what_if::saved;

/// Efficiencies in the table of figures.
const EFFICIENCIES: [&str; 3] = ["parallel", "load_balance", "communication"];

/// JUnit XML in the format of Jenkins: a test case a condition, which fails where the condition holds, and is skipped where no run has its figure.
pub fn compare_junit(runs: &[NamedRun<'_>], checked: &[Checked]) -> String {
    let archives: Vec<&str> = runs.iter().map(|run| run.archive).collect();
    let mut suite = TestSuite::new(format!("partune compare {}", archives.join(" ")));
    for it in checked {
        let told = measured(it).join("\n");
        let status = if it.fails() {
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failure.set_type("condition").set_message(format!("{} holds: {}", it.condition, measured(it).join("; ")));
            failure
        } else if it.measured.iter().all(Option::is_none) {
            TestCaseStatus::skipped()
        } else {
            TestCaseStatus::success()
        };
        let mut case = TestCase::new(it.condition.as_str(), status);
        case.set_classname("partune.compare").set_system_out(told);
        suite.add_test_case(case);
    }
    let mut report = Report::new("partune");
    report.add_test_suite(suite);
    report.to_string().expect("a string takes all that is written")
}

/// Markdown: run time and efficiencies, what came of conditions and of advice, and at most so many places that differ.
pub fn compare_markdown(
    comparison: &Comparison,
    runs: &[NamedRun<'_>],
    verified: Option<&Verified<'_>>,
    checked: &[Checked],
    rows: usize,
) -> String {
    let mut out = String::from("### partune compare\n\n");
    let columns = runs.iter().enumerate().map(|(number, run)| format!("{} {}", letter(number), code(run.archive)));
    row(&mut out, std::iter::once(String::new()).chain(columns));
    row(&mut out, std::iter::once(":--".to_owned()).chain(runs.iter().map(|_| "--:".to_owned())));
    let time = |run: &partune_engine::RunFigures| {
        let seconds = names::seconds(run.measured.unwrap_or(run.seconds));
        let slower = run.slower.map(|it| interval(&it.map(|times| times - 1.0), signed_percent));
        slower.map_or(seconds.clone(), |slower| format!("{seconds}, {slower}"))
    };
    row(&mut out, std::iter::once("run time".to_owned()).chain(comparison.runs.iter().map(time)));
    let count = |run: &partune_engine::RunFigures| run.repeats.len().to_string();
    row(&mut out, std::iter::once("runs".to_owned()).chain(comparison.runs.iter().map(count)));
    for figure in comparison.figures.iter().filter(|it| it.section == "efficiency" && EFFICIENCIES.contains(&it.name)) {
        let value = |value: &Option<f64>| match (value, figure.unit) {
            (None, _) => "–".to_owned(),
            (Some(value), Unit::Ratio) => names::percent(*value),
            (Some(value), _) => three_digits(*value),
        };
        row(&mut out, std::iter::once(figure.name.replace('_', " ")).chain(figure.values.iter().map(value)));
    }
    if !checked.is_empty() {
        out.push_str("\n| condition | | measured |\n| :-- | :-- | :-- |\n");
        for it in checked {
            let verdict = if it.fails() { "❌ holds" } else { "✅ does not hold" };
            row(&mut out, [code(&it.condition), verdict.to_owned(), measured(it).join("; ")].into_iter());
        }
    }
    if let Some(verified) = verified {
        let (id, change) = (advice_id(verified.advice), verified.advice.change.as_deref().unwrap_or_default());
        let _ = writeln!(
            out,
            "\nAdvice {} ({}), predicted to save {}:\n",
            code(&id),
            code(change),
            saved(&verified.saving, verified.run_s)
        );
        for (number, it) in verified.saved.iter().enumerate() {
            let told = interval(it, names::seconds);
            let _ = writeln!(out, "- {} saved {told}: {}", letter(number + 1), came(verified.came(it)));
        }
    }
    if comparison.by_region {
        places(&mut out, comparison, &comparison.regions, runs, rows);
    } else {
        places(&mut out, comparison, &comparison.callpaths, runs, rows);
    }
    out
}

/// Places whose time differs for certain.
fn places<'r, I: PlaceId>(
    out: &mut String,
    comparison: &Comparison,
    places: &'r [PlaceRow<I>],
    runs: &[NamedRun<'_>],
    most: usize,
) {
    let told = |row: &&PlaceRow<I>| row.changes.iter().any(|it| it.verdict.is_told());
    let shown = places.iter().filter(told).take(most);
    let named = |row: &'r PlaceRow<I>| first(&row.ids, runs).map(|(id, run)| (row, (id.text(run), id, run)));
    let (shown, named): (Vec<_>, Vec<_>) = shown.filter_map(named).unzip();
    if shown.is_empty() {
        return;
    }
    let what = if comparison.per_pe { "mean over PEs" } else { "summed over PEs" };
    out.push('\n');
    let differences = (1..runs.len()).map(|run| format!("{}−A", letter(run)));
    let heading = std::iter::once(format!("exclusive time, {what}")).chain((0..runs.len()).map(letter));
    row(out, heading.chain(differences));
    row(out, std::iter::once(":--".to_owned()).chain((1..2 * runs.len()).map(|_| "--:".to_owned())));
    for ((place, (name, ..)), tail) in shown.into_iter().zip(&named).zip(tails(&named)) {
        let seconds = |run: usize| {
            let sums = place.sums[run].as_ref();
            sums.map_or("–".to_owned(), |it| names::seconds(it.exclusive / comparison.base(run)))
        };
        let cells = (0..runs.len()).map(seconds).chain(place.changes.iter().map(|it| signed(it.difference)));
        let name = tail.map_or_else(|| code(name), |tail| format!("{} at {}", code(name), code(&tail)));
        row(out, std::iter::once(name).chain(cells));
    }
}

fn row(out: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// A name that no sign in it takes out of its cell, or out of its quotes.
fn code(name: &str) -> String {
    let clean: String = name.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    format!("`{}`", clean.replace('`', "'").replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn names_stay_in_their_cell() {
        assert_eq!(code("a|b`c`\n<i>"), "`a\\|b'c' <i>`");
    }
}
