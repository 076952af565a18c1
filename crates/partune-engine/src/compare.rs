//! Several diagnoses together: comparison and scaling. Figures are those of the analyses; names are made by who shows them.

use std::str::FromStr;

use partune_analysis::{Comparison, Finding, Mode, Options, Run, Scaling};

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
    /// `run`, the seconds from the end of start-up to the begin of shut-down; or a figure of the comparison.
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

/// Why a condition says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    #[error("`{0}` is no condition\n  remedy: name a figure, < or >, and a value: 'run > +3 %', 'parallel < 0.8'")]
    Form(String),
    #[error("there is no figure {0} in these runs\n  remedy: there is run, {figures}", figures = .1.join(", "))]
    Unknown(String, Vec<&'static str>),
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
            (!figure.is_empty()).then_some(Condition { figure, above: text.contains('>'), limit })
        };
        parsed().ok_or_else(|| ConditionError::Form(text.to_owned()))
    }
}

impl Condition {
    /// Whether it holds for a run after the base. A figure that some run does not have meets no condition.
    pub fn holds(&self, comparison: &Comparison) -> Result<bool, ConditionError> {
        let values: Vec<Option<f64>> = if self.figure == "run" {
            comparison.runs.iter().map(|run| Some(run.measured.unwrap_or(run.seconds))).collect()
        } else {
            let known = comparison.figures.iter().find(|figure| figure.name == self.figure);
            let names = || comparison.figures.iter().map(|figure| figure.name).collect();
            known.ok_or_else(|| ConditionError::Unknown(self.figure.clone(), names()))?.values.clone()
        };
        let base = values.first().copied().flatten();
        let is_beyond = |value: f64, limit: f64| if self.above { value > limit } else { value < limit };
        let meets = |value: f64| match (self.limit, base) {
            (Bar::Value(limit), _) => is_beyond(value, limit),
            (Bar::Change(limit), Some(base)) if base != 0.0 => is_beyond(value / base - 1.0, limit),
            (Bar::Change(_), _) => false,
        };
        Ok(values.iter().skip(1).flatten().any(|value| meets(*value)))
    }
}

/// Compares diagnoses with the first of them. Linear in visits.
pub fn compare(diagnoses: &[&Diagnosis]) -> Result<Comparison, CompareError> {
    if diagnoses.len() < 2 {
        return Err(CompareError::OneRun);
    }
    Ok(with_runs(diagnoses, partune_analysis::compare))
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
        .map(|(it, findings)| Run {
            trace: &it.run.trace,
            waits: &it.run.waits,
            sections: &it.sections,
            findings,
            minimum: Options::default().minimum,
        })
        .collect();
    work(&runs)
}
