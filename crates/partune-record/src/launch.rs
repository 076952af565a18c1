//! Starts the program with the collectors loaded into it, and waits for its end.
//!
//! The whole command gets the libraries through the environment, whatever launches whatever: they stay inert in everything that does not
//! initialise MPI. How the variables come to other nodes: [`crate::handing`].

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

use partune_collect::layout::PARTS;

use crate::handing::{LIST, Way};
use crate::{RecordError, filter, library};

/// How calls are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Every event.
    #[default]
    Trace,
    /// Statistics of each call path.
    Profile,
}

/// What is to be recorded, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The program that is started and its arguments: `mpirun -n 4 ./app`.
    pub command: Vec<OsString>,
    /// The folder of the archive; it is made, and must not hold one.
    pub folder: PathBuf,
    pub mode: Mode,
    /// Innermost frames of a call path; none: as many as there are, up to the collector's limit; 0: no call paths.
    pub depth: Option<u32>,
    /// Bytes of a thread's buffer.
    pub buffer: Option<u64>,
    /// Names of counters.
    pub counters: Vec<String>,
    /// Rules that say which instrumented functions are recorded, see [`partune_symbols::Filter`].
    pub filter: Option<PathBuf>,
    /// More variables for the program's environment.
    pub variables: Vec<(String, OsString)>,
}

/// Prepares the folder and runs the command to its end. What was recorded lies in the folder's parts then.
pub fn launch(request: &Request) -> Result<ExitStatus, RecordError> {
    let folder = prepare(&request.folder)?;
    let parts = folder.join(PARTS);
    let library = library::unpack(&parts).map_err(RecordError::file(&parts))?;
    let [program, arguments @ ..] = request.command.as_slice() else { return Err(RecordError::NoCommand) };
    let mut command = Command::new(program);
    let rules = request.filter.as_ref().map(|rules| filter::resolve(rules, &request.command, &parts)).transpose()?;
    let variables = variables(request, &folder, &library, rules);
    hand_on(&mut command, &variables, Way::of(&request.command));
    command.args(arguments).envs(variables);
    watch_signals();
    let mut child = command
        .spawn()
        .map_err(|error| RecordError::Start { program: program.to_string_lossy().into_owned(), error })?;
    CHILD.store(child.id() as i32, Ordering::Relaxed);
    let status = child.wait();
    CHILD.store(0, Ordering::Relaxed);
    let _ = fs::remove_file(&library);
    status.map_err(|error| RecordError::Start { program: program.to_string_lossy().into_owned(), error })
}

/// The variables that make a command be recorded, for job scripts that start it by themselves.
fn variables(request: &Request, folder: &Path, library: &Path, filter: Option<PathBuf>) -> Vec<(OsString, OsString)> {
    let mut own: Vec<(&str, OsString)> = vec![
        ("PARTUNE_DIR", folder.into()),
        ("PARTUNE_MODE", if request.mode == Mode::Profile { "profile" } else { "trace" }.into()),
    ];
    own.extend(request.depth.map(|depth| ("PARTUNE_DEPTH", depth.to_string().into())));
    own.extend(request.buffer.map(|bytes| ("PARTUNE_BUFFER", bytes.to_string().into())));
    if !request.counters.is_empty() {
        own.push(("PARTUNE_COUNTERS", request.counters.join(",").into()));
    }
    own.extend(filter.map(|path| ("PARTUNE_FILTER", path.into())));
    own.extend(request.variables.iter().map(|(name, value)| (name.as_str(), value.clone())));
    own.push(("LD_PRELOAD", prepended(library.as_os_str(), "LD_PRELOAD", ":")));
    own.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// Makes the launcher hand the variables on; its other arguments come behind.
fn hand_on(command: &mut Command, variables: &[(OsString, OsString)], way: Way) {
    let names = variables.iter().map(|(name, _)| name.as_os_str());
    match way {
        Way::List => {
            let list = names.collect::<Vec<_>>().join(OsStr::new(";"));
            command.env(LIST, prepended(&list, LIST, ";"));
        }
        Way::Options => {
            command.args(names.flat_map(|name| [OsStr::new("-x"), name]));
        }
        Way::Inherit => {}
    }
}

fn prepended(value: &OsStr, variable: &str, separator: &str) -> OsString {
    let mut all = value.to_owned();
    if let Some(old) = std::env::var_os(variable).filter(|old| !old.is_empty()) {
        all.push(separator);
        all.push(old);
    }
    all
}

/// Makes the folder, and refuses one that holds something already.
fn prepare(folder: &Path) -> Result<PathBuf, RecordError> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(RecordError::Occupied { folder: folder.to_owned() });
    }
    let parts = folder.join(PARTS);
    fs::create_dir_all(&parts).map_err(RecordError::file(&parts))?;
    fs::canonicalize(folder).map_err(RecordError::file(folder))
}

static CHILD: AtomicI32 = AtomicI32::new(0);

/// The archive is to be completed although the user interrupts the program: the terminal tells the program by itself, a request to
/// terminate is handed on.
#[allow(unsafe_code, reason = "signal handlers")]
fn watch_signals() {
    extern "C" fn stay(_: libc::c_int) {}
    extern "C" fn hand_on(signal: libc::c_int) {
        let child = CHILD.load(Ordering::Relaxed);
        if child > 0 {
            // SAFETY: may be called from a handler.
            unsafe { libc::kill(child, signal) };
        }
    }
    let (stay, hand_on): (extern "C" fn(_), extern "C" fn(_)) = (stay, hand_on);
    // SAFETY: the handlers do nothing that a handler may not.
    unsafe {
        libc::signal(libc::SIGINT, stay as usize);
        libc::signal(libc::SIGTERM, hand_on as usize);
    }
}
