//! `partune tune`: what can be set without changing the program, tried and measured.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use partune_engine::{Installed, Measured, Request, Setting, Tried};
use partune_report::{Tuning, tune_document, tune_schema, tune_text};

use crate::commands::record;
use crate::commands::size::count;
use crate::output;
use crate::progress::Bar;

/// Try what can be set without changing the program, keep what saves time, and say how to set it.
///
/// The program is recorded once. Settings that a replay of that run predicts to save time are tried: the program runs with and without
/// each, in turns and unrecorded, and what saves time beyond noise is kept. What the program prints in these runs is not shown.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune tune -- mpirun -n 4 ./app input\n  partune tune --runs 9 -o hints.toml -- srun -n 64 ./app"
)]
pub(crate) struct Args {
    /// How often the program runs with and without a setting
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = count::<u32>(3))]
    runs: u32,
    /// A file to write with what is worth keeping, and why; it must not exist
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What messages and collectives need: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "schema")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.schema {
        return output::print(&tune_schema());
    }
    args.output.as_deref().map_or(Ok(()), output::absent)?;
    let machine = args.machine.as_deref().map(partune_engine::read_machine).transpose()?;
    let folder = record::temporary()?;
    let (archive, libraries) = recorded(args, &folder.path().join("run"))?;
    let bar = Bar::new(false);
    let request = Request { predicts: false, ..Request::default() };
    let diagnosis = partune_engine::analyze(partune_engine::open(&archive, &bar)?, &request, &bar);
    let installed = Here { libraries, launcher: &args.command[0] };
    let mut tunable = partune_engine::tunable(&diagnosis, machine.as_ref(), &installed, &bar)?;
    drop(bar);
    let (mut tried, mut kept): (Vec<Tried>, Vec<_>) = (Vec::new(), Vec::new());
    for values in std::mem::take(&mut tunable.settings) {
        tried.extend(best_of(args, values, &mut kept)?);
    }
    let command = partune_record::in_words(&args.command);
    let written = args.output.as_deref().filter(|_| !kept.is_empty());
    if let Some(file) = written {
        let text = partune_engine::tuned_hints(&command, diagnosis.run.counts().pes, &tried);
        output::write(file, &text)?;
    }
    let tuning = Tuning { command: &command, followed: tunable.followed, tried: &tried, unknown: &tunable.unknown };
    let file = written.map(|file| file.display().to_string());
    output::print(&if args.json {
        tune_document(&tuning)
    } else {
        tune_text(&tuning, file.as_deref(), output::style())
    })
}

/// Runs the program under the recorder. The archive, and what the libraries of its programming models say of themselves.
fn recorded(args: &Args, folder: &Path) -> anyhow::Result<(PathBuf, Vec<(String, String)>)> {
    let request = partune_record::Request {
        command: args.command.clone(),
        folder: folder.to_owned(),
        prints_to_stderr: args.json,
        ..Default::default()
    };
    let mut found = None;
    let code = record::record(&request, |summary| {
        record::remarks(summary);
        found = Some((summary.archive.clone(), summary.libraries.clone()));
        Ok(())
    });
    ensure!(
        code == ExitCode::SUCCESS,
        "the program did not end well when it was recorded, so nothing was tried\n  remedy: partune record -- COMMAND shows how it ends"
    );
    found.context("nothing was recorded\n  remedy: partune record -- COMMAND says why")
}

/// This machine, and the libraries of the run.
struct Here<'a> {
    libraries: Vec<(String, String)>,
    launcher: &'a OsStr,
}

impl Installed for Here<'_> {
    fn libraries(&self) -> &[(String, String)] {
        &self.libraries
    }

    /// By the command beside the launcher, else the one that is found.
    fn prints(&self, command: &[String], set: Option<(&str, &str)>) -> Option<String> {
        let (command, arguments) = command.split_first()?;
        let beside = Path::new(self.launcher).parent().filter(|folder| !folder.as_os_str().is_empty());
        let beside = beside.map(|folder| folder.join(command)).filter(|path| path.exists());
        let mut asked = Command::new(beside.unwrap_or_else(|| command.into()));
        let output = asked.args(arguments).envs(set).stdin(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// Tries values of one knob on top of what is kept, and keeps the best of those that help.
fn best_of(args: &Args, values: Vec<Setting>, kept: &mut Vec<(String, String)>) -> anyhow::Result<Vec<Tried>> {
    let mut tried: Vec<Tried> = Vec::new();
    for setting in values {
        let measured = measured(args, kept, &setting)?;
        tried.push(Tried { setting, measured, kept: false });
        if tried.last().is_some_and(Tried::is_as_predicted) {
            break;
        }
    }
    let is_one_of_many = tried.len() > 1;
    let best = tried.iter_mut().filter(|it| it.saves().is_some());
    let Some(best) = best.max_by(|a, b| a.saves().unwrap_or(0.0).total_cmp(&b.saves().unwrap_or(0.0))) else {
        return Ok(tried);
    };
    // The luckiest of many looks better than it is.
    if is_one_of_many && !best.is_as_predicted() {
        best.measured = measured(args, kept, &best.setting)?;
    }
    best.kept = best.saves().is_some();
    if best.kept {
        kept.extend(best.setting.environment.iter().cloned());
    }
    Ok(tried)
}

/// After so many runs of each kind a value that nothing predicts is given up if it was slower in all of them.
const ENOUGH: usize = 2;

/// Runs the command without and with a setting, in turns, and first the one that was second before. How it ends that does not end well with it.
fn measured(args: &Args, kept: &[(String, String)], setting: &Setting) -> anyhow::Result<Result<Measured, String>> {
    let all: Vec<_> = kept.iter().chain(&setting.environment).cloned().collect();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for run in 0..args.runs {
        let (name, value) = (&setting.name, &setting.value);
        output::note(&format!("partune: {name} {value}: run {} of {}, with and without", run + 1, args.runs));
        for is_with in if run % 2 == 0 { [false, true] } else { [true, false] } {
            let environment = if is_with { all.as_slice() } else { kept };
            match (timed(&args.command, environment)?, is_with) {
                (Ok(seconds), true) => with.push(seconds),
                (Ok(seconds), false) => without.push(seconds),
                (Err(status), true) => return Ok(Err(status.to_string())),
                (Err(status), false) => bail!(
                    "the program ended with {status} when it was run unrecorded\n  remedy: look at what it says: {}{}",
                    shown(environment),
                    partune_record::in_words(&args.command)
                ),
            }
        }
        let is_slower = || with.iter().all(|with| without.iter().all(|without| with > without));
        if setting.predicted.is_most && with.len() == ENOUGH && is_slower() {
            break;
        }
    }
    Ok(Ok(Measured::new(&without, &with).context("nothing was measured")?))
}

/// Seconds of the command, or how it ended that did not end well.
fn timed(command: &[OsString], environment: &[(String, String)]) -> anyhow::Result<Result<f64, ExitStatus>> {
    let set = environment.iter().map(|(name, value)| (name, value));
    let mut run = Command::new(&command[0]);
    run.args(&command[1..]).envs(set).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let status = run.status().context("the program cannot be started")?;
    let seconds = begin.elapsed().as_secs_f64();
    Ok(if status.success() { Ok(seconds) } else { Err(status) })
}

fn shown(environment: &[(String, String)]) -> String {
    environment.iter().map(|(name, value)| format!("{name}={value} ")).collect::<Vec<_>>().concat()
}
