//! Baselines of each programming model that is recorded: the machine is measured for real, with whatever is installed; a balanced program is matched with
//! what was measured, and silent; and the same program in which one construct is slow, with nobody late, is above it.
//!
//! The slow construct is a library that stands between the recorder and the runtime and sleeps before it calls the runtime's own. How long it
//! sleeps, and what counts as far above the baseline, follows from what was measured, so that a busy machine changes neither.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::launch::{self, CAF, LAUNCHED, OSHMEM, Recorded, alone, run};
use super::openmp::Built;

/// A machine that was measured, and its file.
struct Machine {
    folder: TempDir,
    json: Value,
}

impl Machine {
    fn measured(only: &str, launch: &[&str]) -> Machine {
        let folder = tempfile::tempdir().expect("there is room for a file");
        let _alone = alone();
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        command.args(["machine", "measure", "--json", "--budget", "6", "--threads", "2", "--only", only, "-o"]);
        command.arg(folder.path().join("machine.toml")).envs(LAUNCHED);
        if !launch.is_empty() {
            command.arg("--").args(launch);
        }
        let json = serde_json::from_slice(&run(&mut command).stdout).expect("it is JSON");
        Machine { folder, json }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("machine.toml")
    }

    fn baselines(&self) -> impl Iterator<Item = &Value> {
        self.json["baseline"].as_array().into_iter().flatten()
    }

    /// Every operation of a list is there, of this model, with a known role, and no time is zero where an operation does something.
    fn has(&self, model: &str, operations: &[&str]) {
        for baseline in self.baselines() {
            let role = baseline["role"].as_str().unwrap_or_default();
            assert!(partune_trace::Role::ALL.iter().any(|known| known.name() == role), "{role} is a role");
            let points = baseline["points"].as_array().expect("points");
            let sizes: Vec<u64> = points.iter().filter_map(|point| point["bytes"].as_u64()).collect();
            assert!(sizes.is_sorted_by(|a, b| a < b), "sizes ascend: {baseline:#}");
        }
        for operation in operations {
            let found = self.baselines().find(|it| it["operation"] == *operation && it["paradigm"] == model);
            match found {
                Some(found) => assert!(found["points"][0]["median_s"].as_f64() > Some(0.0), "{found:#}"),
                None => assert!(self.left_out(), "{operation} of {model} is measured: {:#}", self.json),
            }
        }
    }

    /// Whether the time did not suffice for all, as on a busy machine; what is most wanted is measured in any case.
    fn left_out(&self) -> bool {
        self.json["notes"].to_string().contains("were left out")
    }

    /// The counts of PEs for which an operation of a role was measured.
    fn counts(&self, role: &str) -> Vec<u64> {
        let mut counts: Vec<u64> =
            self.baselines().filter(|it| it["role"] == role).filter_map(|it| it["pes"].as_u64()).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// The slowest median of a role, in seconds.
    fn slowest(&self, role: &str) -> f64 {
        let points =
            self.baselines().filter(|it| it["role"] == role).filter_map(|it| it["points"][0]["median_s"].as_f64());
        points.fold(0.0, f64::max)
    }

    /// What the analysis says of a run, where what is `far` above a baseline counts.
    fn analysis(&self, recorded: &Recorded, far: f64) -> Value {
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        command.args([
            "analyze",
            "--json",
            "--only",
            "above_baseline",
            "--baseline-factor",
            &far.to_string(),
            "--machine",
        ]);
        serde_json::from_slice(&run(command.arg(self.file()).arg(&recorded.anchor)).stdout).expect("it is JSON")
    }
}

/// A construct that can be slow: its name in the archive, its role, and the function that the program calls for it.
struct Slow {
    construct: &'static str,
    role: &'static str,
    function: &'static str,
}

impl Slow {
    /// The balanced program is matched and silent; with the slow construct that is found, and nothing else.
    fn check(&self, machine: &Machine, matched: &[&str], record: impl Fn(&[(&'static str, String)]) -> Recorded) {
        let places = |document: &Value| document["baseline_places"].as_array().cloned().unwrap_or_default();
        let is_of = |place: &Value, construct: &str| {
            place["callpath"].as_array().and_then(|path| path.last()).is_some_and(|it| it == construct)
        };
        let balanced = record(&[]);
        let document = machine.analysis(&balanced, 1.5);
        let all = places(&document);
        for construct in matched {
            let is_there = all.iter().any(|it| is_of(it, construct) && it["baseline"].as_f64() > Some(0.0));
            assert!(is_there || machine.left_out(), "{construct} has a baseline: {document:#}");
        }
        let own = all.iter().filter(|place| is_of(place, self.construct));
        let needed = own.filter_map(|it| Some(it["baseline"].as_f64()? / it["count"].as_f64()?)).fold(0.0, f64::max);
        assert!(needed > 0.0, "{} has a baseline: {document:#}", self.construct);
        let of_this = |document: &Value| {
            let findings = document["findings"].as_array().cloned().unwrap_or_default();
            findings.iter().filter(|it| is_of(it, self.construct)).count()
        };
        // A call sleeps for so long, and half of that is far. What a busy machine adds to each call of the balanced program has to be less: where it
        // is not, a longer sleep is tried.
        let (sleep_s, far) = [1.0, 2.0, 4.0]
            .map(|times| times * (20.0 * machine.slowest(self.role)).max(0.02))
            .map(|sleep_s| (sleep_s, (sleep_s / 2.0 / needed).max(1.5)))
            .into_iter()
            .find(|(_, far)| of_this(&machine.analysis(&balanced, *far)) == 0)
            .unwrap_or_else(|| panic!("balanced: {document:#}"));
        let folder = tempfile::tempdir().expect("there is room for a library");
        let library = folder.path().join("libslow.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record/baselines/slow.c");
        let [function, sleep] =
            [("FUNCTION", self.function.to_owned()), ("SLEEP_US", (sleep_s * 1e6).ceil().to_string())]
                .map(|(name, value)| format!("-D{name}={value}"));
        run(Command::new("gcc")
            .args(["-O1", "-shared", "-fPIC", "-w", &function, &sleep, "-o"])
            .arg(&library)
            .arg(source)
            .arg("-ldl"));
        let slow = machine.analysis(&record(&[("LD_PRELOAD", library.display().to_string())]), far);
        assert!(of_this(&slow) > 0, "{} is slow: {slow:#}", self.construct);
    }
}

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/baselines").join(file)
}

#[test]
fn threads() {
    let Some(built) = Built::of("gcc", &source("threads.c"), &["-pthread"]) else { return };
    let machine = Machine::measured("threads", &[]);
    let all = [
        "pthread_barrier_wait",
        "pthread_mutex_lock",
        "pthread_mutex_unlock",
        "pthread_cond_signal",
        "pthread_cond_wait",
    ];
    machine.has("pthread", &all);
    machine.has("pthread", &["sem_post", "sem_wait", "pthread_create"]);
    assert_eq!(machine.counts("group_sync"), [2]);
    let slow = Slow { construct: "pthread_barrier_wait", role: "group_sync", function: "pthread_barrier_wait" };
    slow.check(&machine, &["pthread_barrier_wait", "pthread_create"], |variables| record(&built, variables));
}

#[test]
fn openmp() {
    let Some(built) = Built::of("gcc", &source("openmp.c"), &["-fopenmp"]) else { return };
    let machine = Machine::measured("openmp", &[]);
    machine.has("OpenMP", &["GOMP_parallel", "GOMP_barrier", "GOMP_critical_start", "GOMP_critical_end", "GOMP_task"]);
    machine.has("OpenMP", &["GOMP_taskwait", "omp_set_lock of GCC", "omp_unset_lock of GCC", "GOMP_ordered_start"]);
    assert_eq!(machine.counts("group_sync"), [1, 2]);
    let slow = Slow { construct: "omp barrier", role: "group_sync", function: "GOMP_barrier" };
    slow.check(&machine, &["omp barrier", "omp critical", "omp ordered"], |variables| record(&built, variables));
    let Some(built) = Built::of(super::openmp::CLANG, &source("openmp.c"), &["-fopenmp"]) else { return };
    machine
        .has("OpenMP", &["__kmpc_fork_call", "__kmpc_barrier", "__kmpc_critical", "__kmpc_omp_task", "__kmpc_ordered"]);
    let document = machine.analysis(&record(&built, &[]), 1.5);
    assert!(document["above_baseline"]["operations_with_baseline"].as_f64() > Some(100.0), "{document:#}");
}

fn record(built: &Built, variables: &[(&'static str, String)]) -> Recorded {
    let variables: Vec<(&str, &Path)> = variables.iter().map(|(name, value)| (*name, Path::new(value))).collect();
    built.record_among(&[], &variables)
}

#[test]
fn openshmem() {
    let Some(built) = launch::Built::new(&OSHMEM, "baselines/shmem.c", &[]) else { return };
    drop(built);
    let machine = Machine::measured("openshmem", &["oshrun", "-n", "2"]);
    let all = ["shmem_barrier_all", "shmem_putmem", "shmem_getmem", "shmem_quiet", "shmem_fence", "shmem_set_lock"];
    machine.has("OpenSHMEM", &all);
    machine.has("OpenSHMEM", &["shmem_broadcast64", "shmem_double_sum_to_all", "shmem_long_wait_until"]);
    assert_eq!(machine.counts("group_sync"), [2]);
    machine.has("OpenSHMEM", &["shmem_set_lock, handed over", "shmem_clear_lock, handed over"]);
    let slow = Slow { construct: "shmem_barrier_all", role: "group_sync", function: "shmem_barrier_all" };
    slow.check(
        &machine,
        &["shmem_putmem", "shmem_getmem", "shmem_quiet", "shmem_set_lock", "shmem_barrier_all"],
        |variables| launched(&OSHMEM, "baselines/shmem.c", variables),
    );
}

#[test]
fn coarrays() {
    let Some(built) = launch::Built::new(&CAF, "baselines/caf.f90", &[]) else { return };
    drop(built);
    let machine = Machine::measured("coarrays", &["mpirun.openmpi", "-n", "2"]);
    let all = [
        "sync all",
        "sync images",
        "put",
        "get",
        "lock",
        "unlock",
        "lock, handed over",
        "unlock, handed over",
        "event post",
        "event wait",
        "co_sum",
        "co_broadcast",
    ];
    machine.has("CAF", &all);
    assert_eq!(machine.counts("group_sync"), [2]);
    let slow = Slow { construct: "sync all", role: "group_sync", function: "_gfortran_caf_sync_all" };
    slow.check(&machine, &["put", "get", "lock", "sync all"], |variables| {
        launched(&CAF, "baselines/caf.f90", variables)
    });
    let slow = Slow { construct: "sync images", role: "group_sync", function: "_gfortran_caf_sync_images" };
    slow.check(&machine, &["sync images"], |variables| launched(&CAF, "baselines/caf.f90", variables));
}

fn launched(mpi: &launch::Mpi, file: &str, variables: &[(&'static str, String)]) -> Recorded {
    let built = launch::Built::new(mpi, file, &[]).expect("it was compiled before");
    let built = variables.iter().fold(built, |built, (name, value)| built.with(name, value.clone()));
    built.record(&[], &[])
}
