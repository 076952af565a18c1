//! Cuts of sample graphs, for `bench/partition.sh`: `partition DIR SCALE` prints name, parts, cut, imbalance and seconds, and writes each graph to
//! the folder as METIS reads it.
#![allow(clippy::print_stdout, reason = "it is a program")]

#[path = "../tests/graphs.rs"]
mod graphs;

use std::error::Error;
use std::fmt::Write;
use std::time::Instant;

use partune_objects::partition::{Options, Weighted, partition};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder?")?;
    let scale = arguments.next().map_or(Ok(1), |text| text.parse())?;
    for sample in graphs::samples(scale) {
        let graph = Weighted::new(&vec![1; sample.vertices], &sample.edges);
        let mut text = format!("{} {}\n", sample.vertices, sample.edges.len());
        for vertex in 0..sample.vertices {
            graph.neighbours(vertex).try_for_each(|(to, _)| write!(text, "{} ", to + 1))?;
            text.push('\n');
        }
        std::fs::write(format!("{folder}/{}.graph", sample.name), text)?;
        for parts in [2, 8, 32] {
            let begin = Instant::now();
            let found = partition(&graph, &Options { parts, ..Options::default() });
            let seconds = begin.elapsed().as_secs_f64();
            println!("{} {parts} {} {:.3} {seconds:.2}", sample.name, found.cut, found.imbalance());
        }
    }
    Ok(())
}
