//! A program of charm4py that follows hints about its objects: the module that records such programs brings them into it.

use std::ffi::OsString;
use std::fs;
use std::process::{Command, ExitStatus};

use super::{PYTHON, unpack};
use crate::launch::failed;
use crate::{RecordError, signals};

/// What came of a program and its hints.
#[derive(Debug)]
pub struct Hinted {
    pub status: ExitStatus,
    /// A process of charm4py was there to follow them.
    pub is_followed: bool,
    /// Hints that were not followed, and why.
    pub notes: Vec<String>,
}

/// The first line of the notes, from a process that follows hints.
const FOLLOWED: &str = "followed";

/// Runs a command whose programs of charm4py follow hints, in the form that the module takes. Signals are handed on to it.
///
/// # Errors
/// Where it cannot be started, or the files that it needs cannot be made.
pub fn run_hinted(
    command: &[OsString],
    variables: impl IntoIterator<Item = (String, String)>,
    hints: &str,
) -> Result<Hinted, RecordError> {
    let [program, arguments @ ..] = command else { return Err(RecordError::NoCommand) };
    let folder = tempfile::Builder::new().prefix("partune-").tempdir();
    let folder = folder.map_err(RecordError::file(&std::env::temp_dir()))?;
    let [file, notes, python] = ["hints.json", "notes", PYTHON].map(|name| folder.path().join(name));
    fs::write(&file, hints).map_err(RecordError::file(&file))?;
    let mut command = Command::new(program);
    command.args(arguments).envs(variables).env("PARTUNE_CHARM_HINTS", &file).env("PARTUNE_CHARM_HINT_NOTES", &notes);
    // Where it is recorded as well, the module is there already.
    if std::env::var_os("PARTUNE_CHARM_DIR").is_none() {
        command.envs([unpack(&python).map_err(RecordError::file(&python))?]);
    }
    let status = signals::spawn(&mut command).and_then(signals::wait).map_err(failed(program))?;
    let said = fs::read_to_string(&notes).unwrap_or_default();
    let (followed, notes): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| *line == FOLLOWED);
    let notes = notes.into_iter().map(str::to_owned).collect();
    Ok(Hinted { status, is_followed: !followed.is_empty(), notes })
}
