//! mpi4py: that of Debian, and the newest of PyPI, which is made for every MPI and looks which one it met.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use partune_testkit::outside;

use super::launch::{Built, MPICH, Mpi, OPEN_MPI};
use super::printed::{counts, lines, samples};
use super::programs::check_counts;
use super::sampled::task_clock_is_for_all;

/// Functions of `paths.py`, and where each calls the next one.
const LINES: &[(&str, u64)] =
    &[("leaf", 13), ("direct", 18), ("key", 22), ("through_c", 27), ("turns", 31), ("Turns.run", 37)];

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
    for interpreter in from_pypi() {
        found.push(Python { mpi: &OPEN_MPI, interpreter: interpreter.clone(), variables: Vec::new() });
        // Debian's MPICH has a name of its own, and none that MPICH gave itself.
        let folder = interpreter.with_file_name("mpich");
        let _ = fs::create_dir(&folder);
        let _ = std::os::unix::fs::symlink(library(MPICH.library), folder.join("libmpi.so.12"));
        let variables = vec![("LD_LIBRARY_PATH", folder.display().to_string()), ("MPI4PY_MPIABI", "mpich".to_owned())];
        found.push(Python { mpi: &MPICH, interpreter: interpreter.clone(), variables });
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

/// Environments with the mpi4py of PyPI, made once: for the Python that is usual here, and for other versions that are. None where nothing can be had from
/// there.
fn from_pypi() -> &'static [PathBuf] {
    static MADE: OnceLock<Vec<PathBuf>> = OnceLock::new();
    MADE.get_or_init(|| {
        let _alone = super::launch::alone();
        let has = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        let mut made = Vec::new();
        for python in ["python3", "python3.12", "python3.13"] {
            if python != "python3" && !has(Command::new(python).arg("--version")) {
                outside::skipped(&format!("no {python}"));
                continue;
            }
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mpi4py-{python}"));
            let interpreter = folder.join("bin/python");
            let install = "-m pip install -q --timeout 10 --retries 1 mpi4py>=4";
            if has_mpi4py(&interpreter)
                || has(Command::new(python).args(["-m", "venv"]).arg(&folder))
                    && has(Command::new(&interpreter).args(install.split(' ')))
            {
                made.push(interpreter);
            } else {
                outside::skipped(&format!("no mpi4py from PyPI for {python}"));
            }
        }
        made
    })
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

/// Calls that follow each other on native stacks that are the same, and in functions that are not. A sample may be at any line, so there are none.
#[test]
fn operations_are_in_functions_of_python() {
    for built in built("python/paths.py") {
        let recorded = check_counts(&built, &["--sample", "off"], &[]);
        let found = lines(&recorded.anchor, "paths.py");
        for (function, line) in LINES {
            assert_eq!(found.get(*function), Some(&BTreeSet::from([*line])), "{function}: {found:?}");
        }
        let of_module = found.get("<module>").expect("all is called there");
        assert!((41..=44).all(|line| of_module.contains(&line)), "{found:?}");
    }
}

/// Three quarters of the time are in one function and a quarter in the other, by the clock that the program read.
#[test]
fn samples_are_in_functions_of_python() {
    for built in built("python/functions.py") {
        let recorded = built.record(&[], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        for (rank, counts) in samples(&recorded.anchor).into_iter().enumerate() {
            let said = recorded.said();
            let about = format!("rank {rank}: {counts:?}\n{said}");
            let of = |name: &str| counts.get(name).copied().unwrap_or(0) as f64;
            let used = said.lines().find_map(|line| line.strip_prefix(&format!("rank {rank} used ")));
            let used: Vec<f64> = used.expect("each prints").split(' ').map(|it| it.parse().expect("seconds")).collect();
            let (found, share) = ([of("first"), of("second")], used[0] / (used[0] + used[1]));
            let all = found[0] + found[1];
            assert!(all >= 40.0 && found[1] > 0.0 && of("spin") >= 0.9 * all, "{about}");
            assert!(of("_PyEval_EvalFrameDefault") == 0.0 && of("rest") < 0.05 * all, "{about}");
            // As for other programs: kernels' ticks meet processes that take turns too seldom at their begin.
            let sigma = (share * (1.0 - share) / all).sqrt();
            assert!(!task_clock_is_for_all() || (found[0] / all - share).abs() < 4.0 * sigma, "{about}");
        }
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
