//! Measures a machine, and with it a launch line: micro-benchmarks that are free of bottlenecks.
//!
//! [`alone`] measures this process and its threads. [`launch`] runs a launch line (`mpirun -n 4`) with a worker program at
//! its end, and [`worker`] is what that program calls: it loads the MPI library that the launcher belongs to, and all
//! workers measure together. Rank 0 gives the [`Machine`] as text, which comes back over the launcher's standard output.
//! What is measured is a list of programming models, [`MODELS`]; all libraries are found at run time, and one that is
//! missing is noted.
//!
//! How long it takes is a budget, not a number of repetitions: on a machine with more PEs than processors one barrier
//! may take milliseconds. What the budget does not suffice for is left out and noted.

mod batches;
mod caches;
mod host;
mod launch;
mod models;
mod mpi;
mod overheads;
mod rates;
mod samples;
mod world;

use std::time::Instant;

use partune_machine::{Machine, Provenance, VERSION};

pub use host::date;
pub use launch::{LaunchError, Launched, launch, print};
use models::{Found, How, Threads, baselines};
pub use models::{MODELS, Model};
pub use partune_mpi::LoadError;
pub use world::worker;

/// How to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Seconds that all of it may take, about.
    pub budget_s: f64,
    /// The MPI library to load; none: the one of the launcher.
    pub library: Option<String>,
    /// Threads of one process, where threads are measured; none: as `OMP_NUM_THREADS` says, or the processors that may
    /// be used.
    pub threads: Option<u32>,
    /// What to measure.
    pub only: Vec<&'static Model>,
    /// The words that started the PEs, for the record.
    pub launch: Vec<String>,
}

impl Settings {
    /// Threads of this process as a model measures them; two are the least that have anything to do with each other. A process
    /// that may use one processor only is not measured unasked: its threads would wait for the processor.
    fn measure_threads(&self, measure: fn(&Threads) -> Result<Found, String>, budget_s: f64) -> Result<Found, String> {
        let first = |list: String| list.split(',').next()?.trim().parse().ok();
        let said = || std::env::var("OMP_NUM_THREADS").ok().and_then(first);
        let most = self.threads.or_else(said).unwrap_or_else(host::usable);
        if most < 2 {
            return Err("the process may use one processor only; --threads 2 measures it nevertheless".to_owned());
        }
        measure(&Threads { most, budget_s })
    }
}

/// Measures this process and its threads, without MPI.
pub fn alone(settings: &Settings) -> Machine {
    let (begin, interrupted) = (Instant::now(), host::interruptions());
    let cores = host::usable();
    let rates = rates::on_threads(settings.budget_s * world::RATES, cores);
    let caches = caches::measure(settings.budget_s * world::CACHES);
    let overheads = overheads::measure();
    let mut notes = vec![format!("measured without MPI: rates of all PEs are those of {cores} threads")];
    let caches = caches.map_err(|reason| notes.push(no_caches(reason))).ok();
    let mut rows = Vec::new();
    for (index, model) in settings.only.iter().enumerate() {
        let left_s = (settings.budget_s - begin.elapsed().as_secs_f64()).max(0.0);
        let budget_s = model.share(&settings.only[index..]) * left_s;
        let found = match model.how {
            How::Processes(_) => Err("it needs a launch line, such as mpirun -n 4, after --".to_owned()),
            How::Threads(measure) => settings.measure_threads(measure, budget_s),
        };
        match found {
            Ok(found) => {
                rows.extend(baselines(model, &found.rows));
                notes.extend(found.notes);
            }
            Err(reason) => notes.push(not_measured(model, &reason)),
        }
    }
    notes.extend(disturbed(interrupted, begin));
    Machine {
        partune_machine: VERSION,
        provenance: provenance(settings, vec![host::name()], None, 1, begin),
        overheads,
        rates,
        caches,
        notes,
        links: Vec::new(),
        baselines: rows,
    }
}

/// A note on a model that is not in the description.
fn not_measured(model: &Model, reason: &str) -> String {
    format!("{} was not measured: {reason}", model.name)
}

/// A note that caches are not in the description.
fn no_caches(reason: &str) -> String {
    format!("caches were not measured: {reason}")
}

/// A note, if other programs often took the processor from this thread: then the numbers are not this machine's.
fn disturbed(interrupted: u64, begin: Instant) -> Option<String> {
    const MOST: f64 = 25.0;
    let rate = host::interruptions().saturating_sub(interrupted) as f64 / begin.elapsed().as_secs_f64();
    (rate > MOST).then(|| {
        format!(
            "other programs took the processor from PE 0 {rate:.0} times a second: measure again on an idle machine"
        )
    })
}

fn provenance(settings: &Settings, hosts: Vec<String>, mpi: Option<String>, pes: u32, begin: Instant) -> Provenance {
    Provenance {
        date: host::date(),
        hosts,
        cpu: host::cpu(),
        cores: host::processors(),
        kernel: host::kernel(),
        mpi,
        launch: settings.launch.clone(),
        pes,
        partune: env!("CARGO_PKG_VERSION").to_owned(),
        took_s: begin.elapsed().as_secs_f64(),
    }
}
