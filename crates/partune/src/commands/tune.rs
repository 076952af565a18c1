//! `partune tune`: what can be set without changing the program, tried and measured.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use partune_engine::{Library, Request, Setting, Tried};
use partune_report::{Tuning, tune_document, tune_schema, tune_text};

use crate::commands::record;
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
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(3..))]
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
    if let Some(file) = args.output.as_deref().filter(|file| file.exists()) {
        bail!("{}: there is such a file already\n  remedy: name another one with -o", file.display());
    }
    let machine = args.machine.as_deref().map(partune_engine::read_machine).transpose()?;
    let folder = record::temporary()?;
    let (archive, libraries) = recorded(args, &folder.path().join("run"))?;
    let bar = Bar::new(false);
    let request = Request { predicts: false, ..Request::default() };
    let diagnosis = partune_engine::analyze(partune_engine::open(&archive, &bar)?, &request, &bar);
    let mut tunable = partune_engine::tunable(&diagnosis, machine.as_ref(), &bar)?;
    drop(bar);
    let (mut tried, mut unknown, mut kept): (Vec<Tried>, _, Vec<_>) = (Vec::new(), Vec::new(), Vec::new());
    for values in std::mem::take(&mut tunable.settings) {
        let first = tried.len();
        for setting in values {
            let environment = environment(&setting, &libraries, &args.command[0]);
            if environment.is_empty() {
                unknown.push(setting);
                break;
            }
            let with: Vec<_> = kept.iter().chain(&environment).cloned().collect();
            let (without, with) = measured(args, &kept, &with, &setting)?;
            let result = Tried::new(setting, environment, &without, &with).context("nothing was measured")?;
            let is_enough = result.is_as_predicted();
            tried.push(result);
            if is_enough {
                break;
            }
        }
        let of_knob = tried[first..].iter_mut().filter(|it| it.helps());
        if let Some(best) = of_knob.max_by(|a, b| a.saved.estimate.total_cmp(&b.saved.estimate)) {
            best.kept = true;
            kept.extend(best.environment.iter().cloned());
        }
    }
    let command = record::in_words(&args.command);
    let written = args.output.as_deref().filter(|_| !kept.is_empty());
    if let Some(file) = written {
        let text = partune_engine::hints(&command, diagnosis.run.counts().pes, &tried);
        output::write(file, &text)?;
    }
    let tuning = Tuning { command: &command, followed: tunable.followed, tried: &tried, unknown: &unknown };
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

/// What sets a knob in the library that ran: as it lists itself.
fn environment(setting: &Setting, libraries: &[(String, String)], launcher: &OsString) -> Vec<(String, String)> {
    let named = |version: &str| -> Vec<String> {
        let mut of = setting.knob.libraries(version);
        let found = |library: &Library| library.variables(&listing(library, launcher).unwrap_or_default());
        of.find_map(|library| Some(found(library)).filter(|names| !names.is_empty())).unwrap_or_default()
    };
    let names = libraries.iter().flat_map(|(_, version)| named(version));
    names.map(|name| (name, setting.value.to_string())).collect()
}

/// What a library lists of itself: by the command beside the launcher, else the one that is found.
fn listing(library: &Library, launcher: &OsString) -> Option<String> {
    let (command, arguments) = library.lists.split_first()?;
    let beside = Path::new(launcher).parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = beside.map(|folder| folder.join(command)).filter(|path| path.exists());
    let output = Command::new(beside.unwrap_or_else(|| command.into())).args(arguments).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Seconds of the command with two environments, in turns, and first the one that was second before.
fn measured(
    args: &Args,
    without: &[(String, String)],
    with: &[(String, String)],
    setting: &Setting,
) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let (mut of_without, mut of_with) = (Vec::new(), Vec::new());
    for run in 0..args.runs {
        let (name, value) = (&setting.knob.name, setting.value);
        output::note(&format!("partune: {name} {value}: run {} of {}, with and without", run + 1, args.runs));
        let mut both = [(without, &mut of_without), (with, &mut of_with)];
        if run % 2 == 1 {
            both.reverse();
        }
        for (environment, times) in both {
            times.push(timed(&args.command, environment)?);
        }
    }
    Ok((of_without, of_with))
}

fn timed(command: &[OsString], environment: &[(String, String)]) -> anyhow::Result<f64> {
    let set = environment.iter().map(|(name, value)| (name, value));
    let mut run = Command::new(&command[0]);
    run.args(&command[1..]).envs(set).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let status = run.status().context("the program cannot be started")?;
    let seconds = begin.elapsed().as_secs_f64();
    let shown: Vec<String> = environment.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    ensure!(
        status.success(),
        "the program ended with {status} when it was run unrecorded\n  remedy: look at what it says: {}{}",
        shown.concat(),
        record::in_words(command)
    );
    Ok(seconds)
}
