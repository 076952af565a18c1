//! `partune record --repeat`: the same command several times, and how much its runs differ.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use partune_engine::{FAILED, repeats};
use partune_record::{RecordError, Request, Summary};

use crate::commands::record;
use crate::output;

/// With fewer runs a standard deviation would say little.
const MANY: usize = 5;

/// Records the command so many times below the request's folder, and shows each. Stops where the command fails, or partune does.
pub(crate) fn repeat(request: &Request, runs: u32, show: impl Fn(&Summary) -> anyhow::Result<()>) -> ExitCode {
    let folder = &request.folder;
    if is_occupied(folder) {
        output::error(&RecordError::Occupied { folder: folder.clone() }.into());
        return ExitCode::from(record::FAILED);
    }
    let mut times = Vec::new();
    let mut code = ExitCode::SUCCESS;
    for run in 1..=runs {
        let request = Request { folder: folder.join(run.to_string()), ..request.clone() };
        code = record::record(&request, |summary| {
            times.push(summary.seconds);
            show(summary)
        });
        if code != ExitCode::SUCCESS {
            // What was recorded of it is no run that counts.
            times.truncate(run as usize - 1);
            output::note(&format!("partune: run {run} of {runs} failed; no more were started"));
            mark(&request.folder);
            break;
        }
    }
    if let Some(spread) = spread(&times) {
        output::note(&format!("partune: {spread}"));
    }
    if times.len() > 1 && code == ExitCode::SUCCESS {
        output::note(&format!("  next: partune advise {0}, or partune compare BEFORE {0}", output::word(folder)));
    }
    code
}

/// Marks what was recorded of a run that failed, if anything was: it is kept, and is no repeat of those that did not.
fn mark(folder: &Path) {
    if !is_occupied(folder) {
        return;
    }
    let text = "This run failed: partune takes it for no repeat of the others.\n";
    let marked = std::fs::write(folder.join(FAILED), text);
    let cannot = || format!("{} counts with the runs that did not fail\n  remedy: remove it", folder.display());
    if let Err(error) = marked.with_context(cannot) {
        output::error(&error);
    }
}

fn is_occupied(folder: &Path) -> bool {
    folder.read_dir().is_ok_and(|mut entries| entries.next().is_some())
}

/// How long runs took and how they differ: few by their median and range, many by mean and standard deviation too. None of none.
fn spread(times: &[f64]) -> Option<String> {
    let median = repeats::median(times)?.estimate;
    let (least, most) = (times.iter().copied().reduce(f64::min)?, times.iter().copied().reduce(f64::max)?);
    let count = times.len();
    Some(match count {
        1 => format!("1 run: {median:.3} s"),
        2..MANY => format!("{count} runs: median {median:.3} s, from {least:.3} s to {most:.3} s"),
        _ => {
            let (mean, deviation) = repeats::mean_and_deviation(times)?;
            let share = if mean > 0.0 { 100.0 * deviation / mean } else { 0.0 };
            format!(
                "{count} runs: mean {mean:.3} s, standard deviation {deviation:.3} s ({share:.1} %), median {median:.3} s, \
                 from {least:.3} s to {most:.3} s"
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn few_runs_have_a_range_and_many_a_deviation() {
        let said = |times: &[f64]| spread(times).unwrap_or_default();
        assert_eq!(said(&[]), "");
        assert_eq!(said(&[1.5]), "1 run: 1.500 s");
        assert_eq!(said(&[4.0, 1.0, 2.0]), "3 runs: median 2.000 s, from 1.000 s to 4.000 s");
        assert_eq!(said(&[4.0, 1.0, 2.0, 3.0]), "4 runs: median 2.500 s, from 1.000 s to 4.000 s");
        // Squares around 3: 4 + 1 + 0 + 1 + 4, over 4.
        assert_eq!(
            said(&[5.0, 1.0, 2.0, 4.0, 3.0]),
            "5 runs: mean 3.000 s, standard deviation 1.581 s (52.7 %), median 3.000 s, from 1.000 s to 5.000 s"
        );
    }
}
