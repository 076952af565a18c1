//! Starts the program with the collectors loaded into it, and waits for its end.
//!
//! The whole command gets the libraries through the environment, whatever launches whatever: they stay inert in everything that does not
//! initialise MPI. How the variables come to other nodes: [`crate::handing`].

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::hash::BuildHasher as _;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use partune_parts::layout::PARTS;

use crate::choice::{self, Kind};
use crate::complete::{Summary, complete_launched};
use crate::filter::Rules;
use crate::handing::{LIST, Way};
use crate::library::Library;
use crate::lock::{self, Lock};
use crate::{RecordError, archive, charm, clock, command, library, program, signals};

/// How calls are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Every event.
    #[default]
    Trace,
    /// Statistics of each call path.
    Profile,
}

/// A signal that turns recording on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggle {
    /// `SIGUSR1`.
    User1,
    /// `SIGUSR2`.
    User2,
}

impl Toggle {
    fn number(self) -> i32 {
        match self {
            Toggle::User1 => libc::SIGUSR1,
            Toggle::User2 => libc::SIGUSR2,
        }
    }
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
    /// Millionths of a thread's time that looking for call paths may take before they get shallower; none: 5 %; 0: any number.
    pub budget: Option<u32>,
    /// Bytes of a thread's buffer.
    pub buffer: Option<u64>,
    /// Bytes of events of all processes together.
    pub max_size: Option<u64>,
    /// Whether the newest events are kept where that, or the disk, has no room for all of them, and not the oldest.
    pub keeps_newest: bool,
    /// Samples a second of each thread's CPU time; none: as many as cost less than 1 %; 0: none at all.
    pub sample: Option<u32>,
    /// Every poll that finds nothing is kept by itself, and not in a row.
    pub exact_polls: bool,
    /// Nanoseconds that a thread waits for another one's lock, sign or post at least where that is recorded; none: 5000.
    pub shortest_wait: Option<u64>,
    /// Names of counters.
    pub counters: Vec<String>,
    /// A file that says which instrumented functions are recorded, and of which functions calls are not, see [`partune_symbols::Filter`].
    pub filter: Option<PathBuf>,
    /// A folder on a disk of each node, where events lie while the program runs; none: in the folder of the archive.
    pub scratch: Option<PathBuf>,
    /// Functions of which calls are recorded; none: all of them. Those that begin and end a run always are.
    pub only: Vec<Kind>,
    /// Functions of which they are not.
    pub not: Vec<Kind>,
    /// Only what is in marked phases, regions or loops of this name is recorded; `NAME:COUNT`: in the first of them.
    pub phase: Option<String>,
    /// Only what is between two times after the start of the command is recorded; the second one may be never.
    pub window: Option<(Duration, Option<Duration>)>,
    /// A signal that turns recording on and off; it is off at first.
    pub toggle: Option<Toggle>,
    /// More variables for the program's environment.
    pub variables: Vec<(String, OsString)>,
    /// What the program prints goes to the standard error.
    pub prints_to_stderr: bool,
}

/// A command that has ended. Its folder is held until this goes.
#[derive(Debug)]
pub struct Launched {
    pub status: ExitStatus,
    command: Vec<OsString>,
    folder: PathBuf,
    made: Made,
    lock: Lock,
}

impl Launched {
    /// Completes the archive of what the command left. If that is nothing, folders that were made for it go.
    pub fn complete(self) -> Result<Summary, RecordError> {
        let Launched { status, command, folder, made, lock } = self;
        let completed = complete_launched(&folder, &lock);
        drop(lock);
        completed.map_err(|error| match error {
            RecordError::Nothing { folder, .. } => {
                made.remove();
                match program::with_mpi(&command) {
                    Some(program) => RecordError::Inside { folder, ended: status, program },
                    None => RecordError::Nothing { folder, ended: Some(status) },
                }
            }
            error => error,
        })
    }
}

/// Folders that were made for a recording, the innermost first.
#[derive(Debug)]
struct Made(Vec<PathBuf>);

impl Made {
    /// Makes a folder and those around it that are not there.
    fn folder(folder: &Path) -> Result<Made, RecordError> {
        let named = folder.ancestors().filter(|it| !it.as_os_str().is_empty());
        let made = Made(named.take_while(|it| !it.exists()).map(Path::to_owned).collect());
        // Whatever this user lets others do elsewhere: what is loaded into the program comes from here.
        match DirBuilder::new().recursive(true).mode(0o755).create(folder) {
            Ok(()) => Ok(made),
            Err(error) => {
                made.remove();
                Err(RecordError::file(folder)(error))
            }
        }
    }

    /// Removes those that nothing is in.
    fn remove(self) {
        for folder in self.0 {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Prepares the folder and runs the command to its end. What was recorded lies in the folder's parts then. Leaves nothing if that fails.
pub fn launch(request: &Request) -> Result<Launched, RecordError> {
    let [program, arguments @ ..] = request.command.as_slice() else { return Err(RecordError::NoCommand) };
    let made = Made::folder(&request.folder).map_err(RecordError::unmade)?;
    match run(request, program, arguments) {
        // Named as it was given: what is said of the archive should be what was asked for.
        Ok((status, lock)) => {
            let (command, folder) = (request.command.clone(), request.folder.clone());
            Ok(Launched { status, command, folder, made, lock })
        }
        Err(error) => {
            made.remove();
            Err(error.unmade())
        }
    }
}

fn run(request: &Request, program: &OsStr, arguments: &[OsString]) -> Result<(ExitStatus, Lock), RecordError> {
    let (lock, folder) = prepare(&request.folder)?;
    let parts = folder.join(PARTS);
    let started = start(request, program, arguments, &folder, &parts);
    if started.is_err() {
        // Nothing runs that could be recorded.
        let _ = fs::remove_dir_all(&parts);
    }
    let (child, _library) = started?;
    let status = signals::wait(child);
    // Processes that were killed need it.
    clock::keep_end(&parts);
    Ok((status.map_err(failed(program))?, lock))
}

fn start(
    request: &Request,
    program: &OsStr,
    arguments: &[OsString],
    folder: &Path,
    parts: &Path,
) -> Result<(Child, Library), RecordError> {
    let library = library::unpack(parts)?;
    command::keep(parts, &request.command).map_err(RecordError::file(parts))?;
    let mut command = Command::new(program);
    let rules = request.filter.as_deref().map(Rules::read).transpose()?;
    let filter = rules.as_ref().map(|rules| rules.resolve(&request.command, parts)).transpose()?.flatten();
    let not = rules.into_iter().fold(request.not.clone(), |not, rules| [not, rules.not].concat());
    let choice = choice::resolve(&request.only, &not, parts)?;
    let mut variables = variables(request, folder, &library.path, filter, choice);
    if request.mode == Mode::Trace {
        let of_charm = charm::prepare(parts).map_err(RecordError::file(parts))?;
        variables.extend(of_charm.into_iter().map(|(name, value)| (name.into(), value)));
    }
    hand_on(&mut command, &variables, Way::of(&request.command));
    command.args(arguments).envs(variables);
    if request.prints_to_stderr {
        command.stdout(io::stderr());
    }
    let child = signals::spawn(&mut command).map_err(failed(program))?;
    Ok((child, library))
}

pub(crate) fn failed(program: &OsStr) -> impl Fn(io::Error) -> RecordError {
    move |error| RecordError::Start { program: program.to_string_lossy().into_owned(), error }
}

/// The variables that make a command be recorded, for job scripts that start it by themselves.
fn variables(
    request: &Request,
    folder: &Path,
    library: &Path,
    filter: Option<PathBuf>,
    choice: Option<OsString>,
) -> Vec<(OsString, OsString)> {
    let mut own: Vec<(&str, OsString)> = vec![
        ("PARTUNE_DIR", folder.into()),
        ("PARTUNE_MODE", if request.mode == Mode::Profile { "profile" } else { "trace" }.into()),
    ];
    own.extend(request.depth.map(|depth| ("PARTUNE_DEPTH", depth.to_string().into())));
    own.extend(request.budget.map(|share| ("PARTUNE_BUDGET", share.to_string().into())));
    own.extend(request.buffer.map(|bytes| ("PARTUNE_BUFFER", bytes.to_string().into())));
    own.extend(request.max_size.map(|bytes| ("PARTUNE_MAX_SIZE", bytes.to_string().into())));
    own.extend(request.keeps_newest.then(|| ("PARTUNE_KEEP", "newest".into())));
    own.extend(request.exact_polls.then(|| ("PARTUNE_EXACT_POLLS", "1".into())));
    own.extend(request.sample.map(|rate| ("PARTUNE_SAMPLE", rate.to_string().into())));
    own.extend(request.shortest_wait.map(|time| ("PARTUNE_SHORTEST_WAIT", time.to_string().into())));
    if !request.counters.is_empty() {
        own.push(("PARTUNE_COUNTERS", request.counters.join(",").into()));
    }
    own.extend(filter.map(|path| ("PARTUNE_FILTER", path.into())));
    own.extend(request.scratch.as_ref().map(|scratch| ("PARTUNE_SCRATCH", scratch.join(unused_name()).into())));
    own.extend(request.phase.as_ref().map(|phase| ("PARTUNE_PHASE", phase.into())));
    own.extend(request.window.map(|window| ("PARTUNE_WINDOW", on_clock(window).into())));
    own.extend(request.toggle.map(|signal| ("PARTUNE_TOGGLE", signal.number().to_string().into())));
    own.extend(choice.map(|path| ("PARTUNE_CHOICE", path)));
    own.extend(request.variables.iter().map(|(name, value)| (name.as_str(), value.clone())));
    own.push(("LD_PRELOAD", prepended(library.as_os_str(), "LD_PRELOAD", ":")));
    own.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// Two times after now, in nanoseconds since 1970, which all nodes know.
fn on_clock((begin, end): (Duration, Option<Duration>)) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = |after: Duration| u64::try_from(now.saturating_add(after).as_nanos()).unwrap_or(u64::MAX);
    format!("{}..{}", at(begin), end.map_or(u64::MAX, at))
}

/// A name that no other recording has.
fn unused_name() -> String {
    format!("partune-{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// Makes the launcher hand the variables on; its other arguments come after.
pub(crate) fn hand_on(command: &mut Command, variables: &[(OsString, OsString)], way: Way) {
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

pub(crate) fn prepended(value: &OsStr, variable: &str, separator: &str) -> OsString {
    let mut all = value.to_owned();
    if let Some(old) = std::env::var_os(variable).filter(|old| !old.is_empty()) {
        all.push(separator);
        all.push(old);
    }
    all
}

/// Takes the folder's lock; refuses a folder that holds something already. The path has no links.
fn prepare(folder: &Path) -> Result<(Lock, PathBuf), RecordError> {
    let real = fs::canonicalize(folder).map_err(RecordError::file(folder))?;
    let lock = Lock::take(folder)?;
    let parts = real.join(PARTS);
    let entries = fs::read_dir(&real).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(RecordError::file(folder))?;
    if entries.iter().any(|entry| entry.file_name() == PARTS) && !archive::is_published(folder)? {
        return Err(RecordError::Incomplete { folder: folder.to_owned() });
    }
    if entries.iter().any(|entry| entry.file_name() != lock::NAME) {
        return Err(RecordError::Occupied { folder: folder.to_owned() });
    }
    DirBuilder::new().mode(0o755).create(&parts).map_err(RecordError::file(&parts))?;
    Ok((lock, real))
}
