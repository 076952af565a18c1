//! Measures a machine, and with it a launch line: micro-benchmarks that are free of bottlenecks.
//!
//! [`alone`] measures this process. [`launch`] runs a launch line (`mpirun -n 4`) with a worker program at its end, and
//! [`worker`] is what that program calls: it loads the MPI library that the launcher belongs to, and all workers
//! measure together. Rank 0 gives the [`Machine`] as text, which comes back over the launcher's standard output.
//!
//! How long it takes is a budget, not a number of repetitions: on a machine with more PEs than processors one barrier
//! may take milliseconds. What the budget does not suffice for is left out and noted.

mod host;
mod launch;
mod mpi;
mod overheads;
mod rates;
mod samples;
mod tasks;
mod world;

use std::time::Instant;

use partune_machine::{Machine, Provenance, VERSION};

pub use launch::{LaunchError, Launched, launch, print};
pub use mpi::LoadError;
pub use world::worker;

/// How to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Seconds that all of it may take, about.
    pub budget_s: f64,
    /// The MPI library to load; none: the one of the launcher.
    pub library: Option<String>,
    /// The words that started the PEs, for the record.
    pub launch: Vec<String>,
}

/// Measures this process and its threads, without MPI.
pub fn alone(settings: &Settings) -> Machine {
    let (begin, interrupted) = (Instant::now(), host::interruptions());
    let cores = host::usable();
    let rates = rates::on_threads(settings.budget_s * 0.8, cores);
    let overheads = overheads::measure();
    Machine {
        partune_machine: VERSION,
        provenance: provenance(settings, vec![host::name()], None, 1, begin),
        overheads,
        rates,
        notes: [format!("measured without MPI: rates of all PEs are those of {cores} threads")]
            .into_iter()
            .chain(disturbed(interrupted, begin))
            .collect(),
        links: Vec::new(),
        baselines: Vec::new(),
    }
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
