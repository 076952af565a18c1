//! Tests of machine descriptions: the fit, looking up, reading what is wrong.
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod fits;
mod lookup;
mod texts;

use partune_machine::{
    Baseline, Cache, Caches, LineCost, Link, Machine, Overheads, Point, Provenance, Rates, Scope, VERSION,
};

fn point(bytes: u64, median_s: f64) -> Point {
    Point { bytes, median_s, minimum_s: median_s / 2.0, samples: 9 }
}

fn baseline(operation: &str, role: &str, pes: u32, points: &[(u64, f64)]) -> Baseline {
    let points = points.iter().map(|&(bytes, seconds)| point(bytes, seconds)).collect();
    Baseline { operation: operation.to_owned(), role: role.to_owned(), paradigm: None, pes, points }
}

fn machine(baselines: Vec<Baseline>) -> Machine {
    Machine {
        partune_machine: VERSION,
        provenance: Provenance {
            date: "2026-01-31T12:00:00Z".to_owned(),
            hosts: vec!["node1".to_owned()],
            cpu: "A \"quoted\" processor".to_owned(),
            cores: 4,
            kernel: "Linux 6.1".to_owned(),
            mpi: Some("Open MPI v4.1.4\nsecond line".to_owned()),
            launch: ["mpirun", "-n", "4"].map(str::to_owned).to_vec(),
            pes: 4,
            partune: "0.1.0".to_owned(),
            took_s: 12.5,
        },
        overheads: Overheads { timer_s: 2e-8, timer_step_s: 1e-9, event_s: 3.1e-8 },
        rates: Rates { flops_one: 1.25e10, flops_all: 5e10, memory_one: 1e10, memory_all: 2e10 },
        caches: Some(Caches {
            cycle_s: 2.5e-10,
            levels: vec![
                Cache { bytes: 32 << 10, line: 64, ways: 8, load_s: 2.5e-10, store_s: 5e-10 },
                Cache { bytes: 1 << 20, line: 64, ways: 8, load_s: 6e-10, store_s: 1e-9 },
            ],
            memory: LineCost { load_s: 3e-9, store_s: 6e-9 },
        }),
        notes: vec!["nothing".to_owned()],
        links: vec![Link {
            scope: Scope::Node,
            latency_s: 1e-6,
            bandwidth: 1e9,
            overhead_s: 2e-7,
            fit_error: 0.1,
            points: vec![point(0, 1e-6), point(1 << 20, 1.05e-3)],
        }],
        baselines,
    }
}
