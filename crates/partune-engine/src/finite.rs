//! What the caches of a machine add to the bounds of loops: lines that come from farther than the first of them, and what they cost.

use std::path::Path;

use partune_cache::Level;
use partune_kernels::roofline::roofline;
use partune_kernels::traffic::{LineCycles, finite, traffic};
use partune_kernels::{Ceiling, Ceilings, Lines, Roofline, TrafficError};
use partune_machine::{Cache, Caches, Machine};
use rayon::prelude::*;

use crate::kernels::{KernelError, LoopBounds, Loops};

/// A loop on caches of a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Finite {
    /// The second level first, memory last.
    pub sources: Vec<SourceLines>,
    /// Loads across two lines, for one turn of the source's loop.
    pub across: f64,
    /// What the ports need for a turn, with what lines ask of them, in cycles of the core.
    pub first_cache: f64,
    /// I: MACS with what lines from farther than the first level cost, in cycles of the core for one turn of the source's loop; none without MACS.
    pub bound: Option<f64>,
    /// Where it is below the ceilings of the machine; none without floating-point operations.
    pub roofline: Option<Roofline>,
}

/// Lines for one turn of the source's loop, from one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceLines {
    /// A level of cache, from 2 on; none for memory.
    pub level: Option<usize>,
    pub lines: Lines,
    /// What they take, in cycles of the core.
    pub cycles: f64,
}

/// Follows each of the loops, run over and over with so many turns of the source's, through the caches of a machine.
pub fn finite_caches(loops: &mut Loops, (path, machine): (&Path, &Machine), elements: u64) -> Result<(), KernelError> {
    let caches = machine.caches.as_ref().ok_or_else(|| KernelError::NoCaches(path.to_owned()))?;
    let levels: Vec<Level> =
        caches.levels.iter().map(|it| Level { bytes: it.bytes, line: it.line, ways: it.ways }).collect();
    let cycles =
        |load_s: f64, store_s: f64| LineCycles { load: load_s / caches.cycle_s, store: store_s / caches.cycle_s };
    let costs: Vec<LineCycles> = caches
        .levels
        .iter()
        .map(|it| cycles(it.load_s, it.store_s))
        .chain([cycles(caches.memory.load_s, caches.memory.store_s)])
        .collect();
    let line = caches.levels.first().map_or(0, |level| level.line);
    let ceilings = ceilings(machine, caches).with_core(loops.core);
    let follow = |it: &LoopBounds| -> Result<Finite, TrafficError> {
        let traffic = traffic(&it.kernel, &levels, elements)?;
        let bound = finite(&it.kernel, &traffic, &costs);
        let source = |(at, lines): (usize, &Lines)| SourceLines {
            level: (at + 1 < levels.len()).then_some(at + 2),
            lines: *lines,
            cycles: costs[at + 1].of(*lines),
        };
        Ok(Finite {
            sources: traffic.sources.iter().enumerate().map(source).collect(),
            across: traffic.across,
            first_cache: traffic.first_cache(&it.kernel),
            bound,
            roofline: roofline(&it.kernel, &traffic, line, bound, &ceilings),
        })
    };
    loops.loops.par_iter_mut().for_each(|it| it.finite = Some(follow(it)));
    loops.elements = Some(elements);
    loops.ceilings = Some(ceilings);
    Ok(())
}

/// The ceilings that were measured.
fn ceilings(machine: &Machine, caches: &Caches) -> Ceilings {
    /// Of the triad three accesses an element are counted, and four elements move: the line that is stored to is brought in before.
    const MOVED: f64 = 4.0 / 3.0;
    let line = caches.levels.first().map_or(0.0, |level| f64::from(level.line));
    // A store in the first cache moves its line once, farther away there and back.
    let ceiling =
        |load_s: f64, store_s: f64, moved: f64| Ceiling { load: line / load_s, store: moved * line / store_s };
    let of_level = |(at, level): (usize, &Cache)| ceiling(level.load_s, level.store_s, if at == 0 { 1.0 } else { 2.0 });
    let levels = caches.levels.iter().enumerate().map(of_level);
    Ceilings {
        cycle_s: caches.cycle_s,
        flops: machine.rates.flops_one,
        flops_all: machine.rates.flops_all,
        levels: levels.chain([ceiling(caches.memory.load_s, caches.memory.store_s, 2.0)]).collect(),
        memory_all: machine.rates.memory_all * MOVED,
    }
}
