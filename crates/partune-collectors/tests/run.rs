//! Compiles a program for an MPI, runs it with the collector preloaded, and reads what its processes left.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use partune_otf2::codec::{Event, EventVisitor, chunks, read_chunk};
use tempfile::TempDir;

/// What a process left.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Lines of its log, in words.
    pub(super) log: Vec<Vec<String>>,
    /// Its events without enters and leaves, as `MpiSend { receiver: 1, … }`, each with its time.
    pub(super) events: Vec<(u64, String)>,
}

impl Left {
    /// Events of a kind, in order.
    pub(super) fn of(&self, kind: &str) -> Vec<&str> {
        let own = |event: &&str| event.split(' ').next() == Some(kind);
        self.events.iter().map(|(_, event)| event.as_str()).filter(own).collect()
    }

    /// Lines of the log that begin with a word.
    pub(super) fn lines(&self, word: &str) -> Vec<&[String]> {
        self.log.iter().filter(|line| line[0] == word).map(Vec::as_slice).collect()
    }
}

/// The number of an attribute in an event.
pub(super) fn attribute(event: &str, name: &str) -> u64 {
    let (_, rest) = event.split_once(&format!(" {name}: ")).unwrap_or_else(|| panic!("{name} of {event}"));
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().expect("a number")
}

/// The MPIs that are installed, by the names that Debian's alternatives give them.
pub(super) fn mpis() -> Vec<&'static str> {
    let here = |mpi: &&str| Command::new(format!("mpicc.{mpi}")).arg("--version").output().is_ok();
    let found: Vec<&str> = ["openmpi", "mpich"].into_iter().filter(here).collect();
    assert!(found.len() == 2 || std::env::var_os("CI").is_none(), "CI must have both MPIs");
    found
}

/// Runs `programs/NAME` on as many processes; `variables` go to them. What each rank left.
pub(super) fn run(mpi: &str, name: &str, ranks: usize, variables: &[(&str, &str)]) -> BTreeMap<usize, Left> {
    let folder = run_in(mpi, name, ranks, true, variables);
    let found = read(folder.path());
    assert_eq!(found.len(), ranks, "{mpi}: {name}");
    found
}

/// The same with or without being asked to record; the folder of the run.
pub(super) fn run_in(mpi: &str, name: &str, ranks: usize, recorded: bool, variables: &[(&str, &str)]) -> TempDir {
    /// Runs must not overlap: they take all processors.
    static ALONE: Mutex<()> = Mutex::new(());
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    compile(mpi, name, folder.path(), &program);

    let library = library().display().to_string();
    let here = folder.path().display().to_string();
    let mut all = vec![("LD_PRELOAD", library.as_str())];
    all.extend(recorded.then_some(("PARTUNE_DIR", here.as_str())));
    all.extend(variables);
    let mut launcher = Command::new("timeout");
    launcher.args(["60".to_owned(), format!("mpirun.{mpi}"), "-n".to_owned(), ranks.to_string()]);
    for (variable, value) in all {
        match mpi {
            "openmpi" => launcher.args(["-x".to_owned(), format!("{variable}={value}")]),
            _ => launcher.args(["-genv", variable, value]),
        };
    }
    let as_root = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];
    let gentle = ["OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"];
    launcher.envs(as_root.into_iter().chain(gentle).map(|name| (name, "1"))).arg(&program);
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    done(&mut launcher);
    folder
}

/// Compiles a program. `NAME.f90:MODULE` is written for the module `mpi` or `mpi_f08`, which differ in types only.
fn compile(mpi: &str, name: &str, folder: &Path, program: &Path) {
    let (file, module) = name.split_once(':').unwrap_or((name, ""));
    let mut source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(file);
    let mut compiler = Command::new(format!("mpicc.{mpi}"));
    if !module.is_empty() {
        let types = match module {
            "mpi_f08" => {
                [("REQUEST ::", "type(MPI_Request) ::"), ("STATUS ::", "type(MPI_Status) ::"), (" STATUS_SIZE", "")]
            }
            _ => [("REQUEST ::", "integer ::"), ("STATUS ::", "integer ::"), (" STATUS_SIZE", "(MPI_STATUS_SIZE)")],
        };
        let text = std::fs::read_to_string(&source).expect("the program is here");
        let text = text.replace("MODULE", &format!("use {module}"));
        let text = types.iter().fold(text, |text, (from, to)| text.replace(from, to));
        source = folder.join(file);
        std::fs::write(&source, text).expect("room for a program");
        compiler = Command::new(format!("mpif90.{mpi}"));
    }
    done(compiler.args(["-O1", "-g", "-Wall", "-pthread", "-o"]).arg(program).arg(source));
}

fn done(command: &mut Command) {
    let output = command.output().expect("a command of the system");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
}

/// The collector, which cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test runs from a file");
    let folders = test.ancestors().skip(1).take(2);
    let library = folders.map(|folder| folder.join("libpartune_collectors.so")).find(|path| path.exists());
    library.expect("cargo builds the library with its tests")
}

fn read(folder: &Path) -> BTreeMap<usize, Left> {
    let mut found = BTreeMap::new();
    for file in std::fs::read_dir(folder.join("parts")).expect("the folder of parts").flatten() {
        let path = file.path();
        if path.extension().is_none_or(|ending| ending != "log") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a log is text");
        let log: Vec<Vec<String>> = text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
        let rank = log.iter().find(|line| line[0] == "world").expect("a process has a rank")[4].parse();
        let mut events = Events(Vec::new());
        let stem = path.with_extension("").display().to_string();
        for thread in log.iter().filter(|line| line[0] == "thread") {
            let lane = std::fs::read(format!("{stem}-{}.lane", thread[1])).expect("a thread has a lane");
            ring(&lane, &mut events);
        }
        found.insert(rank.expect("a number"), Left { log, events: events.0 });
    }
    found
}

/// The events in the ring of a lane, which is large enough for these programs.
fn ring(lane: &[u8], events: &mut Events) {
    use partune_parts::layout::{CHUNK_SIZE, HEADER_SIZE, Header};
    let word = |at: usize| u64::from_le_bytes(lane[at..at + 8].try_into().expect("eight bytes"));
    let (cursor, flushed) = (word(offset_of!(Header, cursor)) as usize, word(offset_of!(Header, flushed)));
    assert_eq!(flushed, 0);
    for chunk in chunks(&lane[HEADER_SIZE..HEADER_SIZE + cursor], CHUNK_SIZE as u64).expect("a size of chunks") {
        read_chunk(&chunk.expect("a chunk"), events);
    }
}

struct Events(Vec<(u64, String)>);

impl EventVisitor for Events {
    fn enter(&mut self, _: u64, _: u32) {}
    fn leave(&mut self, _: u64, _: u32) {}
    fn event(&mut self, time: u64, event: &Event<'_>) {
        if !matches!(event, Event::CallingContextEnter { .. } | Event::CallingContextLeave { .. }) {
            self.0.push((time, format!("{event:?}")));
        }
    }
}
