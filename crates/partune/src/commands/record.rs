//! `partune record`: runs a program and leaves an archive of what it did.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use partune_record::{Mode, Request, Summary};

use crate::output;

/// Run a program and record it: no recompilation, any MPI, C, C++ and Fortran
#[derive(clap::Args)]
#[command(
    after_help = "The exit status is that of the command, if it was not 0.\n\nExamples:\n  partune record -- mpirun -n 4 ./app input\n  \
                  partune record -o run1 --profile -- srun -n 512 ./app\n  partune analyze run1/traces.otf2"
)]
pub(crate) struct Args {
    /// The folder to make for the archive; its anchor will be FOLDER/traces.otf2 [default: recording, recording-2, …]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Record every event (the default)
    #[arg(long, conflicts_with = "profile")]
    trace: bool,
    /// Keep statistics of each call path instead of every event
    #[arg(long)]
    profile: bool,
    /// Counters to read at each call: cpu-time, cycles, instructions, cache-misses, page-faults, context-switches, …; with --profile cpu-time
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    counters: Vec<String>,
    /// Frames of a call path, from the innermost one; 0: no call paths
    #[arg(long, value_name = "FRAMES")]
    depth: Option<u32>,
    /// Memory for the events of a thread, flushed when full: 1M, 64M
    #[arg(long, value_name = "SIZE", value_parser = size)]
    buffer: Option<u64>,
    /// Which instrumented functions are recorded: a file of lines `include PATTERN` and `exclude PATTERN`
    #[arg(long, value_name = "FILE")]
    filter: Option<PathBuf>,
    /// Complete an archive whose recording was interrupted, and run nothing
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "trace", "profile", "command"])]
    complete: Option<PathBuf>,
    /// The command, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(folder) = &args.complete {
        report(&partune_record::complete(folder)?);
        return Ok(ExitCode::SUCCESS);
    }
    let kept = |name: &String| name == "cpu-time";
    if args.profile && !args.counters.iter().all(kept) {
        let why = "of counters, a profile keeps cpu-time alone: --profile --counters cpu-time, or record a trace\n";
        clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, why).exit();
    }
    let request = Request {
        command: args.command.clone(),
        folder: args.output.clone().unwrap_or_else(|| free(Path::new("recording"))),
        mode: if args.profile { Mode::Profile } else { Mode::Trace },
        depth: args.depth,
        buffer: args.buffer,
        counters: args.counters.clone(),
        filter: args.filter.clone(),
        ..Request::default()
    };
    let status = partune_record::launch(&request)?;
    let completed = partune_record::complete(&request.folder);
    if !status.success() {
        output::note(&format!("partune: the command ended with {status}"));
    }
    report(&completed?);
    Ok(status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code.clamp(0, 255) as u8)))
}

/// The first name of this kind that is free.
fn free(folder: &Path) -> PathBuf {
    let named = |n: u32| if n == 1 { folder.to_owned() } else { PathBuf::from(format!("{}-{n}", folder.display())) };
    (1..=u32::MAX).map(named).find(|folder| !folder.exists()).unwrap_or_else(|| folder.to_owned())
}

/// Says, beside what the program printed, what was recorded and what to do with it.
fn report(summary: &Summary) {
    let what = summary.calls.map_or_else(|| format!("{} events", summary.events), |calls| format!("{calls} calls"));
    let mut text = format!(
        "partune: {} processes, {what} in {:.3} s, {:.1} MB: {}",
        summary.processes,
        summary.seconds,
        summary.bytes as f64 / 1e6,
        summary.archive.display()
    );
    for entry in summary.quality.entries() {
        let _ = write!(text, "\n  {}: {}", entry.severity.name(), entry.message);
        if !entry.remedy.is_empty() {
            let _ = write!(text, " ({})", entry.remedy);
        }
        if entry.count > 1 {
            let _ = write!(text, " ({} times)", entry.count);
        }
    }
    let _ = write!(text, "\n  next: partune analyze {}", summary.archive.display());
    output::note(&text);
}

/// A number of bytes: `4096`, `256K`, `64M`, `1G`.
fn size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.to_ascii_uppercase().strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (
            digits.to_owned(),
            1_u64 << (10 * (1 + "KMG".find(text.to_ascii_uppercase().chars().last().unwrap_or('K')).unwrap_or(0))),
        ),
        None => (text.to_owned(), 1),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| format!("{text} is not a size: write 4096, 256K, 64M or 1G"))
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        assert_eq!(["4096", "256k", "64M", "1G"].map(size), [Ok(4096), Ok(256 << 10), Ok(64 << 20), Ok(1 << 30)]);
        assert!(size("64MB").is_err() && size("").is_err() && size("0").is_err());
    }
}
