//! How many element accesses a second are followed: neighbours in a row, one element a reference, and records of three with those of their neighbours.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use partune_mds::{Options, follow};
use partune_model::{Model, Values, lower, parse};

const ROW: &str =
    "param N: int; param T: int; param P: int; domain cell = 0..N-1; data A[cell]: f64; data B[cell]: f64;
    decompose cell -> P by block; machine { near 60ns; memory 100ns; upgrade 60ns; barrier 1us };
    main = seq (t = 1, T) phase sweep forall (i in cell) task {
      reads A[max(i - 1, 0)], A[i], A[min(i + 1, N - 1)]; writes B[i]; weight 5ns };";
const RECORDS: &str = "param N: int; param T: int; param P: int; domain cell = 0..N-1; data Pos[cell, 3]: f64; data Force[cell, 3]: f64;
    decompose cell -> P by owner(i) = i*37 mod P; machine { near 60ns; memory 100ns; upgrade 60ns; barrier 1us };
    main = seq (t = 1, T) {
      phase force forall (i in cell) task { reads Pos[i, *], Pos[(i + 1) mod N, *], Pos[(i + 37) mod N, *]; writes Force[i, *]; weight 50ns };
      phase update forall (i in cell) task { reads Force[i, *]; updates Pos[i, *]; weight 10ns } };";

fn model(source: &str, cells: i64, turns: i64) -> Model {
    let values: Values =
        [("N", cells), ("T", turns), ("P", 16)].map(|(name, value)| (name.to_owned(), value.into())).into();
    lower(source, &parse(source).0, &values, &|name| Err(format!("no file {name}"))).0.expect("the models are right")
}

fn walks(c: &mut Criterion) {
    for (name, source, cells, turns) in [("row", ROW, 250_000, 10), ("records", RECORDS, 50_000, 10)] {
        let model = model(source, cells, turns);
        let run = || follow(&model, &model.alternatives[0], &Options::default()).expect("it is followed").counts();
        let counts = run();
        let mut group = c.benchmark_group("follow");
        group.sample_size(10).throughput(Throughput::Elements(counts.reads + counts.writes));
        group.bench_function(name, |b| b.iter(run));
        group.finish();
    }
}

criterion_group!(benches, walks);
criterion_main!(benches);
