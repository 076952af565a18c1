//! The history of a program: what its revisions took, figure by figure and finding by finding, each beside the one before, in one page.
//!
//! A revision is told from the one before by what `compare` tells: its repeats against those, so noise alone makes no mark.

use std::fmt::Write as _;

use partune_engine::{CompareError, Comparison, Diagnosis, Interval, Unit, Verdict, repeats};
use partune_report::{plural, words};
use serde::Serialize;

use crate::report::{escaped, page};
use crate::text;

/// Figures and findings that are shown, those that lose most in any revision.
const FINDINGS: usize = 60;

/// What is measured of a run as a whole: a report has the time from its first event to its last.
const RUN_TIME: &str = "Run time without start-up and shut-down";

/// Revisions as they are added, oldest first.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct History {
    revisions: Vec<Revision>,
    figures: Vec<Figure>,
    findings: Vec<Finding>,
    /// How many findings are not shown.
    omitted: usize,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Revision {
    name: String,
    /// The report on its median run, in the same folder.
    report: String,
    runs: usize,
    pes: usize,
    began_ms: Option<u64>,
}

/// A figure over revisions: the medians of repeats, and where they lie. The first is the run time.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Figure {
    section: &'static str,
    name: &'static str,
    label: String,
    unit: Measured,
    values: Vec<Option<Value>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[allow(clippy::struct_field_names, reason = "keys of the answer")]
struct Value {
    value: f64,
    low: f64,
    high: f64,
    /// Beyond noise, against the revision before; none where it is not, or where it cannot be told.
    changed: Option<Changed>,
}

#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Measured {
    Seconds,
    Bytes,
    Count,
    Share,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Changed {
    More,
    Less,
    New,
    Gone,
}

/// A finding over revisions, of the run that stands for each; in none of those that have it not.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Finding {
    title: String,
    place: String,
    seconds: Vec<Option<f64>>,
    changed: Vec<Option<Changed>>,
    #[serde(skip)]
    key: (String, String),
}

impl History {
    /// Adds a revision: its runs, first the one that stands for them, beside those of the revision that was added last. `report` is the name of its report.
    pub fn add(
        &mut self,
        (name, report): (&str, &str),
        runs: &[Diagnosis],
        before: Option<&[Diagnosis]>,
    ) -> Result<(), CompareError> {
        // The first is beside itself, which tells its values.
        let sets: [Vec<&Diagnosis>; 2] = [before.unwrap_or(runs), runs].map(|runs| runs.iter().collect());
        let comparison = partune_engine::compare_sets(&sets)?;
        let (first, number) = (&sets[1][0].run, self.revisions.len());
        self.revisions.push(Revision {
            name: text::name(name),
            report: report.to_owned(),
            runs: runs.len(),
            pes: first.counts().pes,
            began_ms: first.provenance().began.map(|ns| ns / 1_000_000),
        });
        self.add_figures(number, &comparison, before.is_some());
        self.add_findings(number, &comparison, [&sets[0][0].run, first], before.is_some());
        Ok(())
    }

    /// All of it as one page, with the pages of `ui/`; without scripts it shows run times as text.
    pub fn page(mut self, title: &str) -> String {
        let last = self.revisions.len();
        for figure in &mut self.figures {
            figure.values.resize_with(last, || None);
        }
        for finding in &mut self.findings {
            finding.seconds.resize(last, None);
            finding.changed.resize(last, None);
        }
        let most = |it: &Finding| it.seconds.iter().flatten().copied().fold(0.0, f64::max);
        self.findings.sort_by(|one, other| most(other).total_cmp(&most(one)).then_with(|| one.key.cmp(&other.key)));
        self.omitted = self.findings.len().saturating_sub(FINDINGS);
        self.findings.truncate(FINDINGS);
        let mut text = String::new();
        let times = self.figures.first().map(|it| it.values.as_slice()).unwrap_or_default();
        for (revision, time) in self.revisions.iter().zip(times) {
            let told = time.as_ref().map_or_else(|| "–".to_owned(), |it| partune_diag::seconds(it.value));
            let _ = writeln!(
                text,
                "{}: {} {told} ({})",
                revision.name,
                RUN_TIME.to_lowercase(),
                plural(revision.runs, "run", "runs")
            );
        }
        let answers = serde_json::to_string(&self).unwrap_or_default().replace('<', "\\u003c");
        page(&escaped(title, 1000), &escaped(&text, 50_000), &format!("{{\"runs\":[],\"history\":{answers}}}"))
    }

    fn add_figures(&mut self, number: usize, comparison: &Comparison, is_told: bool) {
        let Some(run) = comparison.runs.last() else { return };
        let beyond = |it: Option<Interval>, same: f64| {
            let it = it.filter(|it| is_told && it.is_known())?;
            if it.is_above(same) { Some(Changed::More) } else { it.is_below(same).then_some(Changed::Less) }
        };
        // Of single runs the spread over visits tells.
        let of_run = beyond(run.slower, 1.0).or(match run.change.verdict {
            Verdict::Grown if is_told => Some(Changed::More),
            Verdict::Shrunk if is_told => Some(Changed::Less),
            _ => None,
        });
        self.figure(number, ("run", "run", Unit::Seconds), &run.repeats, of_run);
        for figure in &comparison.figures {
            let [before, own] = figure.repeats.as_slice() else { continue };
            let changed = beyond(repeats::difference(before, own), 0.0);
            self.figure(number, (figure.section, figure.name, figure.unit), own, changed);
        }
    }

    fn figure(
        &mut self,
        number: usize,
        (section, name, unit): (&'static str, &'static str, Unit),
        own: &[f64],
        changed: Option<Changed>,
    ) {
        let Some(of) = repeats::median(own) else { return };
        let known = self.figures.iter().position(|it| (it.section, it.name) == (section, name));
        let at = known.unwrap_or_else(|| {
            let label = match section {
                "run" => RUN_TIME.to_owned(),
                "gaps" => format!("{name}: {}", words::gap(name).0),
                _ => Some(words::factor(name).0)
                    .filter(|it| !it.is_empty())
                    .map_or_else(|| name.replace('_', " "), str::to_owned),
            };
            let unit = match unit {
                Unit::Seconds => Measured::Seconds,
                Unit::Bytes => Measured::Bytes,
                Unit::Count => Measured::Count,
                Unit::Ratio => Measured::Share,
            };
            self.figures.push(Figure { section, name, label, unit, values: Vec::new() });
            self.figures.len() - 1
        });
        let values = &mut self.figures[at].values;
        values.resize_with(number, || None);
        values.push(Some(Value { value: of.estimate, low: of.low, high: of.high, changed }));
    }

    fn add_findings(&mut self, number: usize, comparison: &Comparison, runs: [&partune_engine::Run; 2], is_told: bool) {
        for row in &comparison.findings {
            let [before, own] = row.sums.as_slice() else { continue };
            let Some((of, run)) = own.map(|it| (it, runs[1])).or(before.map(|it| (it, runs[0]))) else { continue };
            let at = run.location(of.path);
            let key = (
                row.pattern.name().to_owned(),
                format!("{} {} {}", text::construct(run, of.path), at.function, at.file),
            );
            let known = self.findings.iter().position(|it| it.key == key);
            let at = known.unwrap_or_else(|| {
                let (title, place) = (words::title(row.pattern), text::place(run, of.path));
                self.findings.push(Finding { title, place, seconds: Vec::new(), changed: Vec::new(), key });
                self.findings.len() - 1
            });
            let changed = match row.changes.first().map(|it| it.verdict).filter(|_| is_told) {
                Some(Verdict::Grown) => Some(Changed::More),
                Some(Verdict::Shrunk) => Some(Changed::Less),
                Some(Verdict::Added) => Some(Changed::New),
                Some(Verdict::Gone) => Some(Changed::Gone),
                Some(Verdict::Same | Verdict::TooSmall | Verdict::Unknown) | None => None,
            };
            let finding = &mut self.findings[at];
            // Rows that are told apart by more than what is shown here are one; the larger difference is told, which comes first.
            if let Some(sum) = finding.seconds.get_mut(number) {
                *sum = own.map_or(*sum, |it| Some(it.seconds + sum.unwrap_or(0.0)));
                continue;
            }
            finding.seconds.resize(number, None);
            finding.changed.resize(number, None);
            finding.seconds.push(own.map(|it| it.seconds));
            finding.changed.push(changed);
        }
    }
}
