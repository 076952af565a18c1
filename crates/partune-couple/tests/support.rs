//! Compiles programs and goes the whole way of a plan with them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use partune_couple::judge::{Fault, Problem};
use partune_couple::outcome::check_launch;
use partune_couple::{CoupleError, Ended, Outcome, Plan, launch, outcome, read};
use partune_testkit::outside;
use tempfile::TempDir;

/// Launches must not overlap.
static ALONE: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) const GCC: &str = "gcc";
pub(crate) const MPI: &str = "mpicc.openmpi";
/// How programs with MPI are launched, as the user that tests run as, on as few cores as there are.
pub(crate) const MPIRUN: &str = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
                                 OMPI_MCA_mpi_yield_when_idle=1 mpirun.openmpi -n {pes}";

/// A program `app` in a folder of its own; none where its compiler is not installed.
pub(crate) fn built(compiler: &str, source: &Path) -> Option<TempDir> {
    if Command::new(compiler).arg("--version").output().is_err() {
        outside::missing(compiler);
        return None;
    }
    let folder = tempfile::tempdir().expect("there is room for a program");
    let mut command = Command::new(compiler);
    command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root().join("include")).arg(source);
    if compiler == MPI {
        command.arg("-DWITH_MPI");
    }
    let output = command.arg("-o").arg(folder.path().join("app")).arg("-lm").output().expect("the compiler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(folder)
}

pub(crate) fn naps(compiler: &str) -> Option<TempDir> {
    built(compiler, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/naps.c"))
}

/// A plan in a folder, for one size on one PE unless it says another thing.
pub(crate) fn plan(folder: &TempDir, command: &str, more: &str) -> Plan {
    let path = folder.path().join("plan.toml");
    let one = |key: &str| if more.contains(&format!("{key} =")) { String::new() } else { format!("{key} = [1]\n") };
    let text = format!("command = '{command}'\n{}{}{more}\n", one("sizes"), one("pes"));
    std::fs::write(&path, text).expect("a plan is written");
    Plan::read(&path).expect("it is a plan")
}

/// Launches all that a plan asks for, and what the last launch wrote to its error stream.
pub(crate) fn measured(plan: &Plan) -> (Result<Outcome, CoupleError>, String) {
    let _alone = alone();
    let launches = plan.launches();
    let said = plan.folder.join("said");
    for it in &launches {
        let ended = launch(plan, it, &said).expect("the shell starts");
        let recorded = read(&plan.results).expect("results are read");
        let faulty = recorded.get(&it.label).map(|own| check_launch(plan, it, own, &(it, own)));
        if let Some(Err(error)) = faulty {
            return (Err(error), String::new());
        }
        assert_eq!(ended, Ended::Done, "{}", std::fs::read_to_string(&said).unwrap_or_default());
    }
    let recorded = read(&plan.results).expect("results are read");
    (outcome(plan, &launches, &recorded), std::fs::read_to_string(&said).unwrap_or_default())
}

/// The same anew, a few times at most, while naps differ by what a busy machine adds to some of them.
pub(crate) fn undisturbed(plan: &Plan) -> (Outcome, String) {
    let is_noise = |problem: &Problem| matches!(problem.fault, Fault::Noise { .. });
    let mut tries = 4;
    loop {
        let (outcome, said) = measured(plan);
        let outcome = outcome.expect("something is said");
        tries -= 1;
        if tries == 0 || outcome.problems.is_empty() || !outcome.problems.iter().all(is_noise) {
            return (outcome, said);
        }
        std::fs::remove_file(&plan.results).expect("there are results");
    }
}

/// Seconds of naps by their kind.
pub(crate) fn lengths(said: &str) -> Vec<f64> {
    naps_by(said, 1)
}

/// By how much one nap of ten is longer than they mostly are: what the machine adds to some naps and not to others.
pub(crate) fn busy(said: &str) -> f64 {
    lengths(said).iter().zip(naps_by(said, 2)).map(|(mostly, seldom)| seldom / mostly - 1.0).fold(0.0, f64::max)
}

fn naps_by(said: &str, column: usize) -> Vec<f64> {
    let of = |line: &str| line.strip_prefix("nap ")?.split(' ').nth(column)?.parse().ok();
    said.lines().filter_map(of).collect()
}
