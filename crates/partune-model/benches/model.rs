//! What estimates of the ADI models cost, and how many uses a second are simulated.

use criterion::{Criterion, criterion_group, criterion_main};
use partune_model::estimate::closed_form;
use partune_model::simulate::{Options, simulate};
use partune_model::{Model, Values, lower, parse};

const ADI: &str = include_str!("../library/adi.pam");
const REPAIR: &str = include_str!("../library/machine_repair.pam");

fn model(source: &str, values: &[(&str, i64)]) -> Model {
    let values: Values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    let files = |name: &str| Err(format!("no file {name}"));
    lower(source, &parse(source).0, &values, &files).0.expect("models of the library are right")
}

fn estimates(c: &mut Criterion) {
    let open = model(ADI, &[]);
    for alternative in &open.alternatives {
        c.bench_function(&format!("estimate adi {}", alternative.name), |b| {
            b.iter(|| closed_form(&open, &alternative.term));
        });
    }
}

fn simulations(c: &mut Criterion) {
    let run = |model: &Model, name: usize| {
        simulate(model, &model.alternatives[name].term, &Options::default()).expect("it runs").uses
    };
    let adi = model(ADI, &[("N", 512), ("P", 8), ("tf", 1), ("tm", 4)]);
    for (position, alternative) in adi.alternatives.iter().enumerate() {
        let uses = run(&adi, position);
        let name = format!("simulate adi {} ({uses} uses)", alternative.name);
        c.bench_function(&name, |b| b.iter(|| run(&adi, position)));
    }
    let repair = model(REPAIR, &[("P", 512), ("N", 1000), ("tl", 997), ("ts", 2)]);
    let name = format!("simulate machine repair ({} uses)", run(&repair, 0));
    c.bench_function(&name, |b| b.iter(|| run(&repair, 0)));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = estimates, simulations
}
criterion_main!(benches);
