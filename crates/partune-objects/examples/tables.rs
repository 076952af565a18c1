//! Tables 1 to 4 of Paradise on one machine: `tables [ROWS]`, of which the paper has 1000.
#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::time::Instant;

use partune_base::Table;
use partune_objects::graph::{ArrayId, EventGraph, TypeId};
use partune_objects::programs::{ELEMENT, MACHINE, collect, factorial, gauss};
use partune_objects::random::Random;
use partune_objects::simulate::{Combine, Order, Outcome, Plan, Priorities, simulate};
use partune_objects::tree::Tree;

fn main() -> Result<(), Box<dyn Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(1000), |text| text.parse())?;
    println!("| table | run | ms | PEs busy | ratio | paper |\n|---|---|---|---|---|---|");
    elimination(rows)?;
    tree()?;
    values()
}

fn elimination(rows: u32) -> Result<(), Box<dyn Error>> {
    let graph = gauss(rows, ELEMENT, 5)?;
    let cyclic: Table<_, u32> = (0..rows).map(|row| row % 32).collect();
    let mut dealt: Vec<u32> = cyclic.as_slice().to_vec();
    Random::new(1).shuffle(&mut dealt);
    let priorities = || Some(Priorities { objects: (0..rows).collect(), ..Priorities::default() });
    let plan = |placement: &Table<_, u32>, priorities, multicast| Plan {
        pes: 32,
        placement: Some(placement.clone()),
        priorities,
        multicast,
        ..Plan::default()
    };
    let auto = run(&graph, &plan(&cyclic, priorities(), Order::Ascending))?;
    let random = run(&graph, &plan(&dealt.into(), priorities(), Order::Ascending))?;
    let fifo = run(&graph, &plan(&cyclic, None, Order::Ascending))?;
    row("1", "elimination, placed at random", &random, &auto, "1.109");
    row("", "elimination, row i on PE i mod 32", &auto, &auto, "");
    row("3", "without priorities", &fifo, &auto, "1.249");
    let auto = run(&graph, &plan(&cyclic, priorities(), Order::FromNext))?;
    let fifo = run(&graph, &plan(&cyclic, None, Order::FromNext))?;
    row("3", "without priorities, next pivot's PE first", &fifo, &auto, "");
    row("", "with priorities, next pivot's PE first", &auto, &auto, "");
    Ok(())
}

fn tree() -> Result<(), Box<dyn Error>> {
    let graph = factorial(4096)?;
    let mut random = Random::new(1);
    let dealt = graph.objects().iter().map(|_| random.below(16) as u32).collect();
    let plan = |placement| Plan { pes: 16, placement: Some(placement), ..Plan::default() };
    let split = run(&graph, &plan(Tree::new(&graph, ArrayId(0)).place(16)))?;
    row("2", "factorial, placed at random", &run(&graph, &plan(dealt))?, &split, "4.196");
    row("", "factorial, PEs split among children", &split, &split, "");
    Ok(())
}

fn values() -> Result<(), Box<dyn Error>> {
    let graph = collect(512)?;
    let placement = |object: u32| if object == 0 { 0 } else { (object - 1) / 16 };
    let placement: Table<_, u32> = (0..513).map(placement).collect();
    let plan = |combining| Plan { pes: 32, placement: Some(placement.clone()), combining, ..Plan::default() };
    let each = run(&graph, &plan(Vec::new()))?;
    let combine = Combine { message_type: TypeId(0), count: 16, timeout: 1_000_000 };
    let combined = run(&graph, &plan(vec![combine]))?;
    row("4", "values, each on its own", &each, &combined, "2.07");
    row("", "values, combined on each PE", &combined, &combined, "");
    let fewer = each.carried - combined.carried;
    let saved = (each.makespan - combined.makespan) as f64 / fewer as f64 / 1e6;
    println!("\n{fewer} messages fewer save {saved:.3} ms each; 0.196 in the paper.");
    Ok(())
}

fn run(graph: &EventGraph, plan: &Plan) -> Result<Outcome, Box<dyn Error>> {
    let begin = Instant::now();
    let outcome = simulate(graph, &MACHINE, plan)?;
    let seconds = begin.elapsed().as_secs_f64();
    let messages = graph.messages().source.len() as f64;
    if std::env::var_os("SPEED").is_some() {
        println!("{messages} messages, {:.1} million a second", messages / seconds / 1e6);
    }
    Ok(outcome)
}

fn row(table: &str, name: &str, outcome: &Outcome, best: &Outcome, paper: &str) {
    let ms = |ticks: i64| ticks as f64 / 1e6;
    let work: i64 = outcome.pes.iter().map(|pe| pe.work + pe.overhead).sum();
    let busy = 100.0 * work as f64 / (outcome.makespan * outcome.pes.len() as i64) as f64;
    let ratio = outcome.makespan as f64 / best.makespan as f64;
    println!("| {table} | {name} | {:.0} | {busy:.0} % | {ratio:.3} | {paper} |", ms(outcome.makespan));
}
