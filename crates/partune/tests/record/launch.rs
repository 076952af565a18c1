//! Compiles a program for one MPI and runs it under `partune record`. One run at a time, but of those that hang.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use partune_testkit::outside;

use serde_json::Value;
use tempfile::TempDir;

use super::expect::Expected;

/// An MPI with the names that Debian's alternatives give to its commands.
pub(super) struct Mpi {
    pub(super) name: &'static str,
    /// What a program opens that looks for MPI itself.
    pub(super) library: &'static str,
}

pub(super) const OPEN_MPI: Mpi = Mpi { name: "openmpi", library: "libmpi.so.40" };
pub(super) const MPICH: Mpi = Mpi { name: "mpich", library: "libmpich.so.12" };
/// OpenSHMEM, which comes with Open MPI and is used like an MPI.
pub(super) const OSHMEM: Mpi = Mpi { name: "oshmem", library: "liboshmem.so.40" };

/// Sandia OpenSHMEM, which has version 1.5. No distribution has a package of it.
pub(super) const SANDIA: Mpi = Mpi { name: "sandia", library: "libsma.so.0" };

/// Coarray Fortran of gfortran and OpenCoarrays, on Open MPI. Its compiler takes the static library unless the shared one is named.
pub(super) const CAF: Mpi = Mpi { name: "caf", library: "libcaf_openmpi.so.3" };

/// For Open MPI: run as the user that tests run as, on as few cores as there are, and let others run. With Open MPI's own hooks for memory, Debian's
/// OpenSHMEM dies in `shmem_finalize`, recorded or not.
pub(super) const LAUNCHED: [(&str, &str); 5] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("OMPI_MCA_opal_common_ucx_opal_mem_hooks", "0"),
];

/// A flag of ours: the library of coarrays is linked into the program, as its compiler does it.
pub(super) const STATIC: &str = "static coarrays";

impl Mpi {
    pub(super) fn command(&self, stem: &str) -> String {
        match (self.name, stem) {
            ("sandia", "mpirun") => sandia("oshrun"),
            ("sandia", "mpicc") => sandia("oshcc"),
            ("oshmem", "mpirun") => "oshrun".to_owned(),
            ("oshmem", "mpicc") => "oshcc".to_owned(),
            ("caf", "mpirun") => "cafrun".to_owned(),
            ("caf", "mpicc" | "mpif90") => "caf.openmpi".to_owned(),
            (name, stem) => format!("{stem}.{name}"),
        }
    }

    /// Whether it is here; where tests must not be skipped, it has to be.
    fn is_here(&self) -> bool {
        let here = Command::new(self.command("mpicc")).arg("--version").output().is_ok_and(|it| it.status.success());
        if !here && self.name == SANDIA.name {
            outside::skipped("no Sandia OpenSHMEM, which scripts/shmem.sh builds");
        } else if !here {
            outside::missing(&self.command("mpicc"));
        }
        here
    }
}

/// A command of Sandia OpenSHMEM: in the folder of `PARTUNE_SHMEM`, else where `scripts/shmem.sh` installs it.
fn sandia(command: &str) -> String {
    let built = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("shmem");
    let folder = std::env::var_os("PARTUNE_SHMEM").map_or_else(built, PathBuf::from);
    folder.join("bin").join(command).display().to_string()
}

/// A program, compiled in a folder of its own.
pub(super) struct Built<'a> {
    pub(super) mpi: &'a Mpi,
    pub(super) source: String,
    pub(super) expected: Expected,
    folder: TempDir,
    arguments: Vec<String>,
    /// Of a script.
    interpreter: Option<PathBuf>,
    variables: Vec<(&'static str, String)>,
}

/// A run that was recorded. Its archive goes with it.
pub(super) struct Recorded {
    pub(super) output: Output,
    pub(super) anchor: PathBuf,
    _folder: TempDir,
}

impl<'a> Built<'a> {
    /// Compiles `file` of this folder with debug information, optimised, and with `flags`. None: it is not for this MPI, or that
    /// is not here.
    pub(super) fn new(mpi: &'a Mpi, file: &str, flags: &[&str]) -> Option<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record").join(file);
        let source = fs::read_to_string(&path).expect("the program is here");
        let expected = Expected::of(&source);
        if expected.only.as_ref().is_some_and(|only| only != mpi.name) || !mpi.is_here() {
            return None;
        }
        let folder = tempfile::tempdir().expect("there is room for a program");
        let here = folder.path().display().to_string();
        let mut arguments = Vec::new();
        let mut command = match path.extension().and_then(OsStr::to_str) {
            _ if expected.plugin.is_some() || expected.unlinked => Command::new("gcc"),
            Some("c") => Command::new(mpi.command("mpicc")),
            Some("cpp") => Command::new(mpi.command("mpicxx")),
            _ => Command::new(mpi.command("mpif90")),
        };
        // Modules of Fortran are left where the compiler runs.
        command
            .current_dir(folder.path())
            .args(["-O2", "-g", "-w", "-o"])
            .arg(folder.path().join("program"))
            .arg(&path);
        if let Some(part) = expected.library.as_ref().or(expected.plugin.as_ref()) {
            let library = folder.path().join("libpart.so");
            let mut shared = Command::new(mpi.command("mpicc"));
            run(shared
                .args(["-O2", "-g", "-w", "-shared", "-fPIC", "-o"])
                .arg(&library)
                .arg(path.with_file_name(part)));
            if expected.library.is_some() {
                command.args([format!("-L{here}"), "-lpart".to_owned(), format!("-Wl,-rpath,{here}")]);
            } else {
                arguments.push(library.display().to_string());
            }
        }
        if expected.unlinked {
            arguments.push(mpi.library.to_owned());
        }
        if file.ends_with("files.c") || file.starts_with("files/") {
            arguments.push(folder.path().join("file").display().to_string());
        }
        if mpi.name == CAF.name && !flags.contains(&STATIC) {
            command.arg("-lcaf_openmpi");
        }
        run(command.args(&expected.flags).args(flags.iter().filter(|flag| **flag != STATIC)));
        Some(Self { mpi, source, expected, folder, arguments, interpreter: None, variables: Vec::new() })
    }

    /// A script of this folder for an interpreter. None: its MPI is not here.
    pub(super) fn script(
        mpi: &'a Mpi,
        interpreter: &Path,
        file: &str,
        variables: Vec<(&'static str, String)>,
    ) -> Option<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record").join(file);
        let source = fs::read_to_string(&path).expect("the script is here");
        let expected = Expected::of(&source);
        if !mpi.is_here() {
            return None;
        }
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let arguments = vec![path.display().to_string()];
        Some(Self { mpi, source, expected, folder, arguments, interpreter: Some(interpreter.to_owned()), variables })
    }

    /// The same with a further variable of the environment.
    pub(super) fn with(mut self, name: &'static str, value: String) -> Self {
        self.variables.push((name, value));
        self
    }

    pub(super) fn program(&self) -> PathBuf {
        self.interpreter.clone().unwrap_or_else(|| self.folder.path().join("program"))
    }

    /// The shared library of [`Expected::library`], for a program that opens it as well.
    pub(super) fn library(&self) -> String {
        self.folder.path().join("libpart.so").display().to_string()
    }

    /// Runs it under `partune record` with the options, and its own arguments.
    pub(super) fn record(&self, options: &[&str], arguments: &[&str]) -> Recorded {
        self.run(&[], options, arguments)
    }

    /// The same, with options of the interpreter.
    pub(super) fn run(&self, interpreter: &[&str], options: &[&str], arguments: &[&str]) -> Recorded {
        record(|command| self.add(command, interpreter, options, arguments))
    }

    /// Adds options, and the program with its arguments, to the command that records it.
    pub(super) fn add(&self, command: &mut Command, interpreter: &[&str], options: &[&str], arguments: &[&str]) {
        let launcher =
            [self.mpi.command("mpirun"), "-n".to_owned(), self.expected.ranks.to_string()].map(PathBuf::from);
        command.args(options).arg("--").args(launcher).arg(self.program()).args(interpreter);
        command.args(&self.arguments).args(arguments);
        command.envs(LAUNCHED).envs(self.variables.iter().map(|(name, value)| (name, value)));
    }
}

/// Runs `partune record` with what is added to its command: options, and what is to be recorded.
pub(super) fn record(add: impl FnOnce(&mut Command)) -> Recorded {
    record_all([add]).remove(0)
}

/// The same of several at a time: of programs that hang until they are killed.
pub(super) fn record_all<Add: FnOnce(&mut Command)>(all: impl IntoIterator<Item = Add>) -> Vec<Recorded> {
    let _alone = alone();
    let start = |add: Add| {
        let folder = tempfile::tempdir().expect("there is room for an archive");
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "60", env!("CARGO_BIN_EXE_partune"), "record", "-o"]);
        command.arg(folder.path().join("archive"));
        add(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        (command.spawn().expect("timeout is a command of every system"), folder)
    };
    let started: Vec<_> = all.into_iter().map(start).collect();
    let ended = started.into_iter().map(|(child, folder)| Recorded {
        output: child.wait_with_output().expect("it is a child of ours"),
        anchor: folder.path().join("archive/traces.otf2"),
        _folder: folder,
    });
    ended.collect()
}

impl Recorded {
    /// All that the run wrote, for messages.
    pub(super) fn said(&self) -> String {
        let text = [&self.output.stdout, &self.output.stderr].map(|it| String::from_utf8_lossy(it).into_owned());
        text.concat()
    }

    /// The archive, as OTF2's own program prints it; it finds no fault with it. None: that program is not here.
    pub(super) fn printed(&self) -> Option<String> {
        let Ok(output) = Command::new("otf2-print").arg(&self.anchor).output() else {
            outside::missing("otf2-print");
            return None;
        };
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The document of `partune analyze --json`.
    pub(super) fn analysis(&self) -> Value {
        let mut analyze = Command::new(env!("CARGO_BIN_EXE_partune"));
        let output = run(analyze.args(["analyze", "--json"]).arg(&self.anchor));
        serde_json::from_slice(&output.stdout).expect("it is JSON")
    }
}

/// What is said of the quality of a recording, but for notes, which a busy machine gets more of.
pub(super) fn complaints(document: &Value) -> Vec<&Value> {
    let quality = document["quality"].as_array().expect("quality is a list").iter();
    quality.filter(|it| it["severity"] != "info").collect()
}

/// Runs a command that has to succeed.
pub(super) fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Held while an MPI run lasts: ranks that spin, and waits of known length, want the machine for themselves.
pub(crate) fn alone() -> File {
    let file = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("record.lock")).expect("target is writable");
    file.lock().expect("a file can be locked");
    file
}
