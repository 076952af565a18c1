//! Several diagnoses together: comparison and scaling. Figures are those of the analyses; names are made by who shows them.

use std::str::FromStr;

use partune_analysis::{Comparison, Figure, Finding, Interval, Mode, Run, Scaling, Unit, repeats};

use crate::Diagnosis;

/// Why runs cannot be put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error("one run cannot be compared\n  remedy: give two archives or more; the first is the base")]
    OneRun,
    #[error("one run does not scale\n  remedy: give archives of the program on two numbers of PEs or more")]
    OnePoint,
    #[error(
        "all runs have {0} PEs\n  remedy: give archives of the program on two numbers of PEs or more; partune compare compares runs on one number"
    )]
    OneCount(usize),
    #[error(
        "nothing was recorded in one of the runs\n  remedy: leave it out; partune analyze reports what is wrong with it"
    )]
    Empty,
}

/// What must not hold between the base and another run: `run > +3 %`, `parallel < 0.8`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As it was written.
    text: String,
    /// `run`, the seconds from the end of start-up to the begin of shut-down; or a figure of the comparison, such as `parallel` or `gaps.W`.
    figure: String,
    above: bool,
    limit: Bar,
}

/// What a figure is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bar {
    /// Its relative difference to the base.
    Change(f64),
    /// Its value: seconds, or a share.
    Value(f64),
}

/// What came of a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    pub condition: String,
    /// Whether what was measured is a relative difference to the base, and not a value.
    pub is_change: bool,
    /// Whether values are seconds.
    pub is_time: bool,
    /// For each run after the base; none where it has no such figure, or the base has none to relate it to.
    pub measured: Vec<Option<Interval>>,
    /// For each run after the base.
    pub holds: Vec<bool>,
}

/// Why a condition says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    #[error("`{0}` is no condition\n  remedy: name a figure, < or >, and a value: 'run > +3 %', 'parallel < 0.8'")]
    Form(String),
    #[error("there is no figure {0} in these runs\n  remedy: there is run, {figures}", figures = .1.join(", "))]
    Unknown(String, Vec<String>),
    #[error("there are several figures {0}\n  remedy: say which: {figures}", figures = .1.join(" or "))]
    Ambiguous(String, Vec<String>),
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let parsed = || {
            let (figure, value) = text.split_once(['<', '>'])?;
            let value = value.trim();
            let (number, is_change) = value.strip_suffix('%').map_or((value, false), |it| (it.trim(), true));
            let number: f64 = number.parse().ok().filter(|it: &f64| it.is_finite())?;
            let limit = if is_change { Bar::Change(number / 100.0) } else { Bar::Value(number) };
            let figure = figure.trim().to_owned();
            let above = text.contains('>');
            (!figure.is_empty()).then(|| Condition { text: text.trim().to_owned(), figure, above, limit })
        };
        parsed().ok_or_else(|| ConditionError::Form(text.to_owned()))
    }
}

impl Condition {
    /// Holds it against each run after the base. With repeated runs all of the interval has to be beyond the limit, so that noise alone meets no condition.
    pub fn check(&self, comparison: &Comparison) -> Result<Checked, ConditionError> {
        let (is_time, repeats): (bool, Vec<&[f64]>) = if self.figure == "run" {
            (true, comparison.runs.iter().map(|run| run.repeats.as_slice()).collect())
        } else {
            let figure = self.figure_of(&comparison.figures)?;
            (figure.unit == Unit::Seconds, figure.repeats.iter().map(Vec::as_slice).collect())
        };
        let (is_change, limit) = match self.limit {
            Bar::Change(limit) => (true, limit),
            Bar::Value(limit) => (false, limit),
        };
        let base = repeats.first().copied().unwrap_or_default();
        let measure = |run: &&[f64]| {
            if is_change {
                repeats::ratio(base, run).map(|it| it.map(|times| times - 1.0))
            } else {
                repeats::median(run)
            }
        };
        let measured: Vec<Option<Interval>> = repeats.iter().skip(1).map(measure).collect();
        let is_beyond = |it: &Interval| if self.above { it.is_above(limit) } else { it.is_below(limit) };
        let holds = measured.iter().map(|it| it.as_ref().is_some_and(is_beyond)).collect();
        Ok(Checked { condition: self.text.clone(), is_change, is_time, measured, holds })
    }

    /// The one that is named, with its section where several sections have one of that name.
    fn figure_of<'a>(&self, figures: &'a [Figure]) -> Result<&'a Figure, ConditionError> {
        let is_named = |it: &&Figure| it.name == self.figure || whole(it) == self.figure;
        let named: Vec<&Figure> = figures.iter().filter(is_named).collect();
        match named[..] {
            [one] => Ok(one),
            [] => {
                let is_one = |name: &str| figures.iter().filter(|it| it.name == name).count() == 1;
                let name = |it: &Figure| if is_one(it.name) { it.name.to_owned() } else { whole(it) };
                Err(ConditionError::Unknown(self.figure.clone(), figures.iter().map(name).collect()))
            }
            _ => Err(ConditionError::Ambiguous(self.figure.clone(), named.into_iter().map(whole).collect())),
        }
    }
}

/// The name of a figure with its section.
fn whole(figure: &Figure) -> String {
    format!("{}.{}", figure.section, figure.name)
}

impl Checked {
    /// Whether it holds for any run.
    pub fn fails(&self) -> bool {
        self.holds.contains(&true)
    }
}

/// Compares diagnoses with the first of them. Linear in visits.
pub fn compare(diagnoses: &[&Diagnosis]) -> Result<Comparison, CompareError> {
    if diagnoses.len() < 2 {
        return Err(CompareError::OneRun);
    }
    Ok(with_runs(diagnoses, partune_analysis::compare))
}

/// Compares sets of repeated runs with the first set. The first run of each stands for it: see [`middle`]. Linear in visits.
pub fn compare_sets(sets: &[Vec<&Diagnosis>]) -> Result<Comparison, CompareError> {
    let first = sets.iter().enumerate().filter_map(|(set, runs)| Some((set, *runs.first()?)));
    let others = sets.iter().enumerate().flat_map(|(set, runs)| runs.iter().skip(1).map(move |run| (set, *run)));
    let (set_of, runs): (Vec<usize>, Vec<&Diagnosis>) = first.chain(others).unzip();
    if sets.len() < 2 || sets.iter().any(Vec::is_empty) {
        return Err(CompareError::OneRun);
    }
    Ok(with_runs(&runs, |runs| partune_analysis::compare_sets(runs, &set_of)))
}

/// The position of the run that stands for repeats: the one with the median run time.
pub fn middle(runs: &[Diagnosis]) -> Option<usize> {
    let times: Vec<f64> = runs.iter().map(|it| partune_analysis::run_seconds(&it.run.trace)).collect();
    repeats::middle(&times)
}

/// How a program scales over diagnoses on several numbers of PEs, in any order; those on one number count by their median.
pub fn scale(diagnoses: &[&Diagnosis], mode: Mode) -> Result<Scaling, CompareError> {
    let pes = |diagnosis: &&Diagnosis| diagnosis.run.counts().pes;
    match diagnoses {
        [] | [_] => return Err(CompareError::OnePoint),
        all if all.iter().any(|it| pes(it) == 0 || !it.run.duration().is_positive()) => {
            return Err(CompareError::Empty);
        }
        [first, others @ ..] if others.iter().all(|it| pes(it) == pes(first)) => {
            return Err(CompareError::OneCount(pes(first)));
        }
        _ => {}
    }
    with_runs(diagnoses, |runs| partune_analysis::scale(runs, mode)).ok_or(CompareError::OneCount(pes(&diagnoses[0])))
}

/// Diagnoses as analyses take them.
fn with_runs<T>(diagnoses: &[&Diagnosis], work: impl FnOnce(&[Run<'_>]) -> T) -> T {
    let findings: Vec<Vec<&Finding>> =
        diagnoses.iter().map(|it| it.findings.iter().map(|ranked| &ranked.finding).collect()).collect();
    let runs: Vec<Run<'_>> = diagnoses
        .iter()
        .zip(&findings)
        .map(|(it, findings)| Run { input: it.run.input(&it.options), sections: &it.sections, findings })
        .collect();
    work(&runs)
}
