//! What simulating, partitioning and finding phases cost.

#[path = "../tests/graphs.rs"]
mod graphs;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use partune_base::Table;
use partune_objects::partition::{Options, Weighted, partition};
use partune_objects::phases::{self, phases};
use partune_objects::programs::{ELEMENT, MACHINE, gauss, relaxation};
use partune_objects::simulate::{Plan, Priorities, simulate};

/// An elimination of 1000 rows on 32 PEs: a million messages and dependences.
fn simulation(c: &mut Criterion) {
    let graph = gauss(1000, ELEMENT, 5).expect("it is a graph");
    let placement: Table<_, u32> = (0..1000).map(|row| row % 32).collect();
    let plan = Plan { pes: 32, placement: Some(placement), ..Plan::default() };
    let urgent = Some(Priorities { objects: (0..1000).collect(), ..Priorities::default() });
    let plans = [("first come", plan.clone()), ("urgent first", Plan { priorities: urgent, ..plan })];
    let mut group = c.benchmark_group("simulate");
    group.throughput(Throughput::Elements(graph.messages().source.len() as u64)).sample_size(10);
    for (name, plan) in plans {
        group.bench_function(name, |b| b.iter(|| simulate(&graph, &MACHINE, &plan).expect("it has all PEs").makespan));
    }
}

fn parts(c: &mut Criterion) {
    let mut group = c.benchmark_group("32 parts");
    group.sample_size(10);
    for sample in graphs::samples(2) {
        let graph = Weighted::new(&vec![1; sample.vertices], &sample.edges);
        group.throughput(Throughput::Elements(sample.edges.len() as u64));
        group.bench_function(sample.name, |b| {
            b.iter(|| partition(&graph, &Options { parts: 32, ..Options::default() }).cut);
        });
    }
}

fn steps(c: &mut Criterion) {
    let graph = relaxation(&[64, 64], 20, 100).expect("it is a graph");
    c.bench_function("phases of a grid", |b| b.iter(|| phases(&graph, &phases::Options::default())));
}

criterion_group!(benches, simulation, parts, steps);
criterion_main!(benches);
