//! `partune run`: a program with what was found to make it faster.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};
use partune_engine::ObjectHints;
use partune_record::{AdaptedRegion, Hinted, RecordError};
use partune_report::{
    AdaptedDocument, AdaptedEntry, ChangeEntry, SettingEntry, adapted_json, adapted_schema, adapted_text,
};

use crate::commands::record::{self, FAILED, NOT_STARTED};
use crate::output;

/// Run a program with the settings that a file of hints says, or that are found while it runs.
///
/// With --adapt, parallel regions of OpenMP that run again and again are tried with other schedules for their loops with schedule(runtime), each against what is kept,
/// in turns of a random order. What is faster is kept as long as it is; at the end that is said on the standard error.
///
/// A file of hints is one that `partune tune -o` wrote for this program: its variables are set, and the program takes the place of partune. What the file says of objects
/// (places of arrays and trees, priorities, messages that are sent together) is followed by programs of charm4py, which need not be changed.
#[derive(clap::Args)]
#[command(
    after_help = "The exit status is that of the command, 127 if it cannot be started, 125 if the hints cannot be followed.\n\n\
                  Example:\n  partune tune -o hints.toml -- mpirun -n 4 ./app input\n  partune run --hints hints.toml -- mpirun -n 4 ./app other\n  partune run --adapt -- ./loops"
)]
pub(crate) struct Args {
    /// The file of hints
    #[arg(long, value_name = "FILE", required_unless_present_any = ["adapt", "schema"])]
    hints: Option<PathBuf>,
    /// Find settings of parallel regions while the program runs; `threads`: also fewer threads than the program asks for
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "schedule")]
    adapt: Option<Adapt>,
    /// A file to write with what was adapted, as JSON
    #[arg(long, value_name = "FILE", requires = "adapt")]
    adapted: Option<PathBuf>,
    /// Print the JSON schema of --adapted and stop
    #[arg(long)]
    schema: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "schema")]
    command: Vec<OsString>,
}

/// What is chosen while a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Adapt {
    /// The schedules of loops that leave them to the environment
    Schedule,
    /// These, and how many threads a region has
    Threads,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let mut code = FAILED;
    follow(args, &mut code).unwrap_or_else(|error| {
        output::error(&error);
        ExitCode::from(code)
    })
}

/// `code` is what to end with if that fails. A program whose hints are settings takes the place of partune.
fn follow(args: &Args, code: &mut u8) -> anyhow::Result<ExitCode> {
    if args.schema {
        output::print(&adapted_schema())?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(file) = &args.hints else { return adapted(args, BTreeMap::new(), code) };
    let hints = partune_engine::read_hints(file)?;
    let objects = ObjectHints::of(&hints.file);
    if !is_of(&hints.program, &args.command) {
        let command = partune_record::in_words(&args.command);
        let remedy = if hints.environment.is_empty() && !objects.is_empty() {
            format!("partune record -o RUN -- {command}, and partune hints RUN -o FILE")
        } else {
            format!("partune tune -o FILE -- {command}")
        };
        bail!(
            "{}: its hints are of another program ({}), so nothing was started\n  remedy: {remedy}",
            file.display(),
            hints.program
        );
    }
    for what in &hints.unknown {
        output::note(&format!("partune: {}: {what} is not known, so nothing is set for it", file.display()));
    }
    for what in &objects.ignored {
        output::note(&format!("partune: {}: {what}", file.display()));
    }
    if !objects.is_empty() {
        if args.adapt.is_some() {
            bail!(
                "{}: its hints are about objects, of whose program nothing is adapted\n  remedy: leave --adapt out",
                file.display()
            );
        }
        return hinted(args, file, hints.environment, &objects, code);
    }
    if args.adapt.is_some() {
        return adapted(args, hints.environment, code);
    }
    instead(args, hints.environment, code)
}

/// The program takes the place of partune.
fn instead(args: &Args, variables: BTreeMap<String, String>, code: &mut u8) -> anyhow::Result<ExitCode> {
    let error = Command::new(&args.command[0]).args(&args.command[1..]).envs(variables).exec();
    *code = NOT_STARTED;
    Err(error).with_context(|| format!("{}: cannot be started", args.command[0].to_string_lossy()))
}

/// Runs a program whose parallel regions are adapted, and says what came of it.
fn adapted(args: &Args, variables: BTreeMap<String, String>, code: &mut u8) -> anyhow::Result<ExitCode> {
    if std::env::var_os("PARTUNE_DIR").is_some() {
        output::note("partune: nothing is adapted where a run is recorded; the program runs as it is");
        return instead(args, variables, code);
    }
    // Known before the program runs, which may take hours.
    if let Some(file) = &args.adapted {
        output::write(file, "")?;
    }
    let ran = partune_record::run_adapted(&args.command, variables, args.adapt == Some(Adapt::Threads));
    if matches!(ran, Err(RecordError::Start { .. })) {
        *code = NOT_STARTED;
    }
    let ran = ran?;
    let command = partune_record::in_words(&args.command);
    let regions = ran.regions.iter().map(entry).collect();
    let document = AdaptedDocument { partune: 1, command: &command, processes: ran.processes, regions };
    match &ran.failure {
        Some(failure) => output::note(&format!("partune: what was adapted is not known: {failure}")),
        None => output::note(&format!("partune: {}", adapted_text(&document))),
    }
    let written = args.adapted.as_ref().map_or(Ok(()), |file| output::write(file, &adapted_json(&document)));
    if let Err(error) = written {
        output::note(&format!("partune: {error:#}"));
    }
    Ok(record::code_of(ran.status))
}

fn entry(region: &AdaptedRegion) -> AdaptedEntry<'_> {
    AdaptedEntry {
        function: &region.function,
        file: &region.file,
        line: region.line,
        threads: region.threads,
        iterations: region.iterations,
        schedule: &region.schedule,
        took_s: region.took_s,
        saved_s: region.saved_s,
        settings: region
            .settings
            .iter()
            .map(|(setting, executions)| SettingEntry { setting, executions: *executions })
            .collect(),
        changes: region.changes.iter().map(|(at, to)| ChangeEntry { at: *at, to }).collect(),
    }
}

/// Runs a program of charm4py that follows hints about its objects, and says which of them it did not.
fn hinted(
    args: &Args,
    file: &Path,
    variables: BTreeMap<String, String>,
    hints: &ObjectHints,
    code: &mut u8,
) -> anyhow::Result<ExitCode> {
    let ran = partune_record::run_hinted(&args.command, variables, &hints.json());
    if matches!(ran, Err(RecordError::Start { .. })) {
        *code = NOT_STARTED;
    }
    let Hinted { status, is_followed, notes } = ran?;
    let about = file.display();
    if !is_followed {
        output::note(&format!(
            "partune: {about}: no program of charm4py ran, so its hints about objects, which are of one, changed nothing (run the program that was recorded)"
        ));
    }
    notes.iter().for_each(|note| output::note(&format!("partune: {about}: {note}")));
    Ok(record::code_of(status))
}

/// Whether hints of a command are for this one: the program that this one runs was in that too, by its name, of a script also without its ending. What cannot be told is
/// no reason to refuse.
fn is_of(tuned: &str, command: &[OsString]) -> bool {
    let Some(program) = command.iter().rfind(|word| is_script(word) || is_program(word)) else { return true };
    let program = Path::new(program);
    let is_it = |word: &str| {
        let name = Path::new(word).file_name();
        name == program.file_name() || is_script(program.as_os_str()) && name == program.file_stem()
    };
    partune_record::words_of(tuned).iter().any(|word| is_it(word))
}

/// Whether a word is a script of Python, which an interpreter before it runs.
fn is_script(word: &OsStr) -> bool {
    let path = Path::new(word);
    path.extension().is_some_and(|it| it == "py") && path.is_file()
}

/// Whether a word is a file that can be executed, as the shell finds it: behind a launcher and its options that is what is launched.
fn is_program(word: &OsStr) -> bool {
    let can_be = |path: &Path| path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    if word.as_bytes().contains(&b'/') {
        return can_be(Path::new(word));
    }
    std::env::var_os("PATH").is_some_and(|all| std::env::split_paths(&all).any(|folder| can_be(&folder.join(word))))
}
