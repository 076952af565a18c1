//! `partune record`: runs a program and leaves an archive of what it did.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use anyhow::Context;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser as _};
use partune_record::{Kind, Mode, RecordError, Request, Summary, Toggle};
use partune_report::words;
use tempfile::TempDir;

use crate::commands::share::share;
use crate::commands::size::{count, positive_size};
use crate::commands::{at_end, operations, piece, repeat, watch};
use crate::output;

/// Run a program and record it: no recompilation, any MPI, C, C++ and Fortran
#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[command(
    after_help = "The exit status is that of the command (128 + N if signal N ended it), 127 if it cannot be started, 125 if \
                  partune itself fails.\n\nExamples:\n  partune record -- mpirun -n 4 ./app input\n  \
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
    /// Counters to read at each call: cpu-time, cycles, instructions, cache-misses, page-faults, context-switches, …, or as PAPI names it; with --profile cpu-time
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    counters: Vec<String>,
    /// Frames of a call path, from the innermost one; 0: no call paths
    #[arg(long, value_name = "FRAMES", value_parser = count::<u32>(0))]
    depth: Option<u32>,
    /// What looking for call paths may take of a thread's time before they get shallower: 0.05 or 5%; off: any share [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = budget)]
    budget: Option<u32>,
    /// How often it is looked which code a thread runs between two calls, in times a second of its CPU time; off: never [default: 250]
    #[arg(long, value_name = "HZ", value_parser = rate)]
    sample: Option<u32>,
    /// Keep every test and probe that finds nothing by itself, and not many in a row as one with their number
    #[arg(long)]
    exact_polls: bool,
    /// How long a thread waits at least for a lock, a condition or a semaphore of POSIX where that is recorded: 500ns, 20us, 1ms [default: 5us]
    #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
    shortest_wait: Option<u64>,
    /// Memory for the events of a thread, flushed when full: 1M, 64M
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    buffer: Option<u64>,
    /// Most bytes of events that all processes together keep; the recording stops there, and the program goes on: 500M, 2G
    #[arg(long, value_name = "SIZE", value_parser = positive_size, conflicts_with = "profile")]
    max_size: Option<u64>,
    /// Which events are kept where --max-size, or the disk, has no room for all of them
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Kept::Oldest, conflicts_with = "profile")]
    keep: Kept,
    /// A folder on a disk of each node for events while the program runs, where the recording's own folder is slow; it must be there
    #[arg(long, value_name = "FOLDER", value_parser = absolute)]
    scratch: Option<PathBuf>,
    /// What is recorded, as a file: lines `include PATTERN` and `exclude PATTERN` for instrumented functions, `not KIND` as --not; partune analyze --write-filter writes one
    #[arg(long, value_name = "FILE")]
    filter: Option<PathBuf>,
    /// What functions of the program do, and patterns of your own, for analyses: it is kept beside the archive as operations.toml
    #[arg(long, value_name = "FILE")]
    operations: Option<PathBuf>,
    /// Record calls of these functions only: p2p, collective, barrier, rma, lock, task, thread, file, communicator, test; a role as inquiry; a paradigm as OpenMP; a name as MPI_Send, or MPI_Type_*
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    only: Vec<Kind>,
    /// Leave out calls of these functions, which then cost next to nothing
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    not: Vec<Kind>,
    /// Record only what is in the marked phases, regions or loops of this name; NAME:COUNT: in the first COUNT of them, or so many turns of the loop
    #[arg(long, value_name = "NAME", value_parser = phase)]
    phase: Option<String>,
    /// Record only from one time after the start of the command to another: 10s..20s, 500ms.., ..2min; start-up and shut-down are always recorded
    #[arg(long, value_name = "FROM..TO", value_parser = window)]
    window: Option<(Duration, Option<Duration>)>,
    /// Run the command so many times, each into a folder of its own (FOLDER/1, FOLDER/2, …), and print how long the runs took and how they differ
    #[arg(long, value_name = "N", value_parser = count::<u32>(1))]
    repeat: Option<u32>,
    /// Record from one signal to the next: nothing but start-up and shut-down is recorded until a process gets this signal, and again from the second one on, and so forth
    #[arg(long, value_name = "SIGNAL", value_parser = PossibleValuesParser::new(["usr1", "usr2"]).map(|name| toggle(&name)))]
    toggle: Option<Toggle>,
    /// Analyse the recording at once: print what partune analyze would, on stderr, and write report.html and analysis.json beside the archive
    #[arg(long)]
    analyze: bool,
    /// With --analyze: keep what was found, and not the events
    #[arg(long, requires = "analyze")]
    discard: bool,
    /// Complete an archive whose recording was interrupted, and run nothing
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "trace", "profile", "repeat", "analyze", "command"])]
    complete: Option<PathBuf>,
    /// With --complete: also where events are still on the disks of other nodes
    #[arg(long, requires = "complete")]
    as_is: bool,
    /// Bring what --scratch left on this node to the folder of the recording, and run nothing
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "trace", "profile", "repeat", "command", "complete"])]
    gather: Option<PathBuf>,
    /// The command, after `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present_any = ["complete", "gather"])]
    command: Vec<OsString>,
}

/// Which events are kept.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kept {
    /// From the begin on, up to where the room is used up
    Oldest,
    /// Up to the end: newer ones go over the oldest
    Newest,
}

/// Where partune failed and not the command.
pub(crate) const FAILED: u8 = 125;
/// Where the command could not be started.
pub(crate) const NOT_STARTED: u8 = 127;
/// Added to the signal that ended the command.
const SIGNALLED: i32 = 128;

pub(crate) fn run(args: Args) -> ExitCode {
    if let Some(folder) = &args.gather {
        return match partune_record::gather(folder) {
            Ok(Some((came, elsewhere))) => {
                let more = elsewhere.map_or(String::new(), |it| format!(", {} more on other nodes", it.nodes.len()));
                output::note(&format!("partune: {came} files gathered into {}{more}", folder.display()));
                ExitCode::SUCCESS
            }
            Ok(None) => already(folder),
            Err(error) => {
                output::error(&error.into());
                ExitCode::FAILURE
            }
        };
    }
    if let Some(folder) = &args.complete {
        let complete = if args.as_is { partune_record::complete_as_is } else { partune_record::complete };
        return match complete(folder) {
            Ok(Some(summary)) => {
                report(&summary);
                ExitCode::SUCCESS
            }
            Ok(None) => already(folder),
            Err(error) => {
                output::error(&error.into());
                ExitCode::FAILURE
            }
        };
    }
    let kept = |name: &String| name == "cpu-time";
    if args.profile && !args.counters.iter().all(kept) {
        let why = "of counters, a profile keeps cpu-time alone: --profile --counters cpu-time, or record a trace\n";
        clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, why).exit();
    }
    if !args.only.is_empty() && args.only.iter().all(|kind| args.not.contains(kind)) {
        let why = "--not leaves nothing of what --only names: give other KINDS to one of them\n";
        clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, why).exit();
    }
    let operations = args.operations;
    if let Some(Err(error)) = operations.as_deref().map(partune_engine::read_operations) {
        output::error(&error.into());
        return ExitCode::from(FAILED);
    }
    let show = |summary: &Summary| {
        say(summary);
        operations.as_deref().map_or(Ok(()), |file| operations::keep(file, &summary.archive))?;
        if args.analyze {
            return at_end::analyze(summary, !args.discard);
        }
        next(summary);
        Ok(())
    };
    let request = Request {
        command: args.command,
        folder: args.output.unwrap_or_else(|| free(Path::new("recording"))),
        mode: if args.profile { Mode::Profile } else { Mode::Trace },
        depth: args.depth,
        budget: args.budget,
        buffer: args.buffer,
        max_size: args.max_size,
        keeps_newest: args.keep == Kept::Newest,
        window: args.window,
        toggle: args.toggle,
        sample: args.sample,
        exact_polls: args.exact_polls,
        shortest_wait: args.shortest_wait,
        counters: args.counters,
        filter: args.filter,
        scratch: args.scratch,
        only: args.only,
        not: args.not,
        phase: args.phase,
        ..Request::default()
    };
    if let Some(runs) = args.repeat {
        return repeat::repeat(&request, runs, show);
    }
    record(&request, show)
}

/// There is nothing left to do for a recording.
fn already(folder: &Path) -> ExitCode {
    output::note(&format!("partune: {} is complete already", folder.display()));
    ExitCode::SUCCESS
}

/// Runs a command, completes what it left, and shows that. The exit status is that of the command, unless partune failed.
pub(crate) fn record(request: &Request, show: impl FnOnce(&Summary) -> anyhow::Result<()>) -> ExitCode {
    let launched = match watch::during(&request.folder, || partune_record::launch(request)) {
        Ok(launched) => launched,
        Err(error) => {
            let code = if matches!(error, RecordError::Start { .. }) { NOT_STARTED } else { FAILED };
            output::error(&error.into());
            return ExitCode::from(code);
        }
    };
    let status = launched.status;
    let completed = launched.complete();
    // That nothing was recorded is said with how the command ended, and is no fault of partune's.
    let is_nothing = matches!(completed, Err(RecordError::Nothing { .. } | RecordError::Inside { .. }));
    if !status.success() && !is_nothing {
        output::note(&format!("partune: the command ended with {status}"));
    }
    let shown = completed.map_err(Into::into).and_then(|summary| show(&summary));
    if let Err(error) = &shown {
        output::error(error);
    }
    if shown.is_err() && !is_nothing && (status.success() || number(status).is_none()) {
        return ExitCode::from(FAILED);
    }
    code_of(status)
}

fn number(status: ExitStatus) -> Option<i32> {
    status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal))
}

/// The exit status of a command as partune's own.
pub(crate) fn code_of(status: ExitStatus) -> ExitCode {
    ExitCode::from(number(status).map_or(FAILED, |code| code.clamp(0, 255) as u8))
}

/// A folder for a recording that is not kept.
pub(crate) fn temporary() -> anyhow::Result<TempDir> {
    let made = tempfile::Builder::new().prefix("partune-").tempdir();
    made.context("no temporary folder can be made\n  remedy: set TMPDIR to a folder that all nodes of the job see")
}

/// The first name of this kind that is free.
pub(crate) fn free(folder: &Path) -> PathBuf {
    let named = |n: u32| if n == 1 { folder.to_owned() } else { PathBuf::from(format!("{}-{n}", folder.display())) };
    (1..=u32::MAX).map(named).find(|folder| !folder.exists()).unwrap_or_else(|| folder.to_owned())
}

/// Says, beside what the program printed, what was recorded and what to do with it.
pub(crate) fn report(summary: &Summary) {
    say(summary);
    next(summary);
}

fn next(summary: &Summary) {
    if !summary.is_empty {
        output::note(&format!("  next: partune analyze {}", output::word(&summary.archive)));
    }
}

fn say(summary: &Summary) {
    let what = summary.calls.map_or_else(|| format!("{} events", summary.events), |calls| format!("{calls} calls"));
    output::note(&format!(
        "partune: {} process{}, {what} in {:.3} s, {:.1} MB: {}",
        summary.processes,
        if summary.processes == 1 { "" } else { "es" },
        summary.seconds,
        summary.bytes as f64 / 1e6,
        summary.archive.display()
    ));
    remarks(summary);
}

/// Says what was noticed while it was completed.
pub(crate) fn remarks(summary: &Summary) {
    for entry in summary.quality.entries() {
        let remedy = if entry.remedy.is_empty() { String::new() } else { format!(" ({})", entry.remedy) };
        let times = partune_report::times(entry.count);
        output::note(&format!("  {}: {}{remedy}{times}", words::severity(entry.severity).1, entry.message));
    }
}

/// A folder by its whole path, which is the same wherever a process runs.
fn absolute(text: &str) -> Result<PathBuf, String> {
    std::path::absolute(text).map_err(|error| error.to_string())
}

/// Samples a second.
fn rate(text: &str) -> Result<u32, String> {
    const MOST: u32 = 10_000;
    match text {
        "off" => Ok(0),
        _ => text
            .parse()
            .ok()
            .filter(|rate| *rate <= MOST)
            .ok_or_else(|| format!("{text} is not a rate: write off, or at most {MOST}")),
    }
}

/// Millionths of a share; 0: off.
fn budget(text: &str) -> Result<u32, String> {
    match text {
        "off" => Ok(0),
        _ => share(text).map(|share| (share * 1e6).round().max(1.0) as u32),
    }
}

/// A time: `0`, `500ns`, `5us`, `1ms`.
fn nanoseconds(text: &str) -> Result<u64, String> {
    let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6)];
    let known = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (digits, factor) = known.or((text == "0").then_some((text, 1.0))).unwrap_or_default();
    let time = digits.parse().ok().map(|number: f64| (number * factor).round());
    let time = time.filter(|time| (0.0..=1e12).contains(time));
    time.map(|time| time as u64).ok_or_else(|| format!("{text} is not a time: write 0, 500ns, 5us or 1ms"))
}

/// One of the signals that are left to users.
fn toggle(name: &str) -> Toggle {
    if name == "usr1" { Toggle::User1 } else { Toggle::User2 }
}

/// A name, or `NAME:COUNT`.
fn phase(text: &str) -> Result<String, String> {
    let count = text.rsplit_once(':').and_then(|(_, count)| count.parse::<u64>().ok());
    if count == Some(0) { Err(format!("{text} is no part of a run: COUNT is at least 1")) } else { Ok(text.to_owned()) }
}

/// Two times, the second after the first, of which one may be left out: `10s..20s`.
fn window(text: &str) -> Result<(Duration, Option<Duration>), String> {
    let time = |text: &str| piece::seconds(text).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let times = |text: &str| {
        let (begin, end) = text.split_once("..").filter(|both| *both != ("", ""))?;
        let begin = if begin.is_empty() { Duration::ZERO } else { time(begin)? };
        let end = if end.is_empty() { None } else { Some(time(end)?) };
        end.is_none_or(|end| begin < end).then_some((begin, end))
    };
    times(text).ok_or_else(|| format!("{text} is no window: write 10s..20s, 500ms.. or ..2min"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{budget, nanoseconds, phase, window};

    #[test]
    fn a_window_has_one_or_two_times() {
        let of = Duration::from_millis;
        assert_eq!(window("10s..20s"), Ok((of(10_000), Some(of(20_000)))));
        assert_eq!(window("500ms.."), Ok((of(500), None)));
        assert_eq!(window("..1.5min"), Ok((of(0), Some(of(90_000)))));
        assert!(["..", "10s", "2s..1s", "1..1", "-1s..", "1s..x", "1e99s.."].iter().all(|text| window(text).is_err()));
    }

    #[test]
    fn a_phase_may_have_a_count() {
        assert!(["solve", "solve:3", "solve:", "a:b", ":0x"].iter().all(|text| phase(text).as_deref() == Ok(text)));
        assert!(phase("solve:0").is_err() && phase("a:b:0").is_err());
    }

    #[test]
    fn a_budget_is_a_share_or_off() {
        assert_eq!(["5%", "0.05", "0.01%", "off"].map(budget), [Ok(50_000), Ok(50_000), Ok(100), Ok(0)]);
        // What may cost nothing at all is not what may cost anything.
        assert_eq!(budget("0%"), Ok(1));
        assert!(budget("5").is_err() && budget("none").is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(
            ["0", "500ns", "2.5us", "5µs", "1ms"].map(nanoseconds),
            [Ok(0), Ok(500), Ok(2500), Ok(5000), Ok(1_000_000)]
        );
        assert!(["5", "", "us", "-1us", "1s", "1e9ms"].iter().all(|text| nanoseconds(text).is_err()));
    }
}
