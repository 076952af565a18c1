//! `partune run`: a program with what was found to make it faster.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};

use crate::commands::record::{self, FAILED, NOT_STARTED};
use crate::output;

/// Run a program with the settings that a file of hints says.
///
/// The file is one that `partune tune -o` wrote for this program. Its variables are set, and the program takes the place of partune.
#[derive(clap::Args)]
#[command(
    after_help = "The exit status is that of the command, 127 if it cannot be started, 125 if the hints cannot be followed.\n\n\
                  Example:\n  partune tune -o hints.toml -- mpirun -n 4 ./app input\n  partune run --hints hints.toml -- mpirun -n 4 ./app other"
)]
pub(crate) struct Args {
    /// The file of hints
    #[arg(long, value_name = "FILE")]
    hints: PathBuf,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND", required = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let mut code = FAILED;
    let Err(error) = become_command(args, &mut code);
    output::error(&error);
    ExitCode::from(code)
}

/// Returns only if that fails; `code` is what to end with then.
fn become_command(args: &Args, code: &mut u8) -> anyhow::Result<Infallible> {
    let hints = partune_engine::read_hints(&args.hints)?;
    if !is_of(&hints.program, &args.command) {
        bail!(
            "{}: its hints are of another program: {}\n  remedy: partune tune -o FILE -- {}",
            args.hints.display(),
            hints.program,
            record::in_words(&args.command)
        );
    }
    for what in &hints.unknown {
        output::note(&format!("partune: {}: {what} is not known, so nothing is set for it", args.hints.display()));
    }
    let error = Command::new(&args.command[0]).args(&args.command[1..]).envs(&hints.environment).exec();
    *code = NOT_STARTED;
    Err(error).with_context(|| format!("{}: cannot be started", args.command[0].to_string_lossy()))
}

/// Whether hints of a command are for another one: the program that this one runs was in that too. What cannot be told is no reason to refuse.
fn is_of(tuned: &str, command: &[OsString]) -> bool {
    let name = |word: &OsStr| Path::new(word).file_name().map(OsStr::to_owned);
    let Some(program) = command.iter().rfind(|word| is_program(word)).and_then(|word| name(word)) else { return true };
    tuned.split_whitespace().any(|word| name(OsStr::new(word)).as_ref() == Some(&program))
}

/// Whether a word is a file that can be executed, as the shell finds it: behind a launcher and its options that is what is launched.
fn is_program(word: &OsStr) -> bool {
    let can_be = |path: &Path| path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    if word.as_bytes().contains(&b'/') {
        return can_be(Path::new(word));
    }
    std::env::var_os("PATH").is_some_and(|all| std::env::split_paths(&all).any(|folder| can_be(&folder.join(word))))
}
