//! mpi4py: that of Debian, and the newest of PyPI, which is made for every MPI and looks which one it met.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use partune_testkit::outside;

use super::launch::{Built, MPICH, Mpi, OPEN_MPI};
use super::printed::counts;
use super::programs::check_counts;

/// A Python that has mpi4py, under one MPI.
struct Python {
    mpi: &'static Mpi,
    interpreter: PathBuf,
    /// What it needs to find this MPI.
    variables: Vec<(&'static str, String)>,
}

/// Those that are here.
fn pythons() -> Vec<Python> {
    let debian = PathBuf::from("/usr/bin/python3");
    let mut found = Vec::new();
    if has_mpi4py(&debian) {
        found.push(Python { mpi: &OPEN_MPI, interpreter: debian, variables: Vec::new() });
    } else {
        outside::missing("python3-mpi4py");
    }
    if let Some(interpreter) = from_pypi() {
        found.push(Python { mpi: &OPEN_MPI, interpreter: interpreter.to_owned(), variables: Vec::new() });
        // Debian's MPICH has a name of its own, and none that MPICH gave itself.
        let folder = interpreter.with_file_name("mpich");
        let _ = fs::create_dir(&folder);
        let _ = std::os::unix::fs::symlink(library(MPICH.library), folder.join("libmpi.so.12"));
        let variables = vec![("LD_LIBRARY_PATH", folder.display().to_string()), ("MPI4PY_MPIABI", "mpich".to_owned())];
        found.push(Python { mpi: &MPICH, interpreter: interpreter.to_owned(), variables });
    }
    found
}

/// Where the loader finds a library.
fn library(name: &str) -> String {
    let cache = Command::new("/sbin/ldconfig").arg("-p").output().map(|it| it.stdout).unwrap_or_default();
    let cache = String::from_utf8_lossy(&cache).into_owned();
    let line = cache.lines().find(|line| line.trim_start().starts_with(name));
    line.and_then(|line| line.split(" => ").nth(1)).unwrap_or(name).to_owned()
}

fn has_mpi4py(interpreter: &Path) -> bool {
    let found = Command::new(interpreter).args(["-c", "import mpi4py"]).output();
    found.is_ok_and(|output| output.status.success())
}

/// An environment with the mpi4py of PyPI, made once; none where nothing can be had from there.
fn from_pypi() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let interpreter = MADE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi4py");
        let interpreter = folder.join("bin/python");
        let _alone = super::launch::alone();
        let has = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        let made = has_mpi4py(&interpreter)
            || has(Command::new("python3").args(["-m", "venv"]).arg(&folder))
                && has(
                    Command::new(&interpreter).args("-m pip install -q --timeout 10 --retries 1 mpi4py>=4".split(' '))
                );
        if !made {
            outside::skipped("no mpi4py from PyPI");
        }
        made.then_some(interpreter)
    });
    interpreter.as_deref()
}

/// A script with every Python that is here.
fn built(file: &str) -> impl Iterator<Item = Built<'static>> {
    pythons().into_iter().filter_map(move |it| Built::script(it.mpi, &it.interpreter, file, it.variables))
}

#[test]
fn messages_of_buffers_and_objects() {
    for built in built("python/exchange.py") {
        check_counts(&built, &[], &[]);
    }
}

#[test]
fn an_exception_ends_the_program_as_it_would() {
    for built in built("python/raises.py") {
        let recorded = check_counts(&built, &[], &[]);
        assert!(recorded.said().contains("ValueError: boom"), "{}", recorded.said());
    }
}

/// All ranks are there, and what one sends another one receives; how often they ask is up to the library.
#[test]
fn pools_of_processes() {
    for built in built("python/pool.py") {
        let recorded = built.run(&["-m", "mpi4py.futures"], &[], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let found = counts(&recorded.anchor);
        assert_eq!(found.len(), 3, "{}", recorded.said());
        let sum = |name: &str| found.iter().filter_map(|counts| counts.get(name)).sum::<u64>();
        assert!(sum("sends") >= 24 && sum("sends") == sum("receives"), "{found:#?}");
    }
}
