//! Several diagnoses together: comparison and scaling. Figures are those of the analyses; names are made by who shows them.

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
