//! Bounds: from the work of PEs between synchronisations to the hierarchy of bounds, its gaps, and the regions that lose by imbalance.
//!
//! A region r is what closes at one call site, an iteration i one such tile; w is what a PE does in it. Source: Hung and Davidson
//! (theory 2.1); the chain is in [`crate::chain`], the tiles in [`crate::tiling`].

use std::sync::Arc;

use partune_base::CallPathId;
use partune_trace::Trace;
use serde::{Deserialize, Serialize};

use crate::block_loss::{self, Losses};
use crate::block_work::BlockWork;
use crate::chain::Chain;
use crate::cpu_time::cpu_time_metrics;
use crate::queries::Query;
use crate::spending::{Kinds, Level};
use crate::tensor::RegionKind;
use crate::tiling::{self, Tiling};
use crate::world_sums::{self, RegionSums, WorldSums};
use crate::{
    Analysis, Column, DataTable, Hierarchies, Input, Needs, Outcome, Scalar, Section, SectionShape, Shape, TableShape,
    Unit, Values, iterations, profile_bounds,
};

pub(crate) static BOUNDS: Analysis = Analysis {
    name: "bounds",
    title: "Bounds on run time, and what each gap loses",
    docs: DOCS,
    finds: true,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const LEVEL_COLUMNS: &[(&str, Shape)] = &[("name", Shape::Word), ("seconds", Shape::SECONDS)];
const GAP_COLUMNS: &[(&str, Shape)] = &[("name", Shape::Word), ("seconds", Shape::SECONDS), ("fraction", Shape::RATIO)];

const SHOWS: &[SectionShape] = &[
    SectionShape {
        name: "bounds",
        scalars: &[],
        tables: &[
            TableShape { name: "bounds", columns: LEVEL_COLUMNS },
            TableShape { name: "gaps", columns: GAP_COLUMNS },
            TableShape { name: "thread_bounds", columns: LEVEL_COLUMNS },
            TableShape { name: "thread_gaps", columns: GAP_COLUMNS },
            TableShape {
                name: "block_regions",
                columns: &[
                    ("from", Shape::Path),
                    ("to", Shape::Path),
                    ("ended_by", Shape::Word),
                    ("kind", Shape::Word),
                    ("iterations", Shape::Count),
                    ("mean", Shape::SECONDS),
                    ("imbalance", Shape::SECONDS),
                    ("dynamic", Shape::SECONDS),
                ],
            },
        ],
    },
    SectionShape {
        name: "serial",
        scalars: &[
            ("seconds", Unit::Seconds),
            ("share", Unit::Ratio),
            ("pes", Unit::Count),
            ("blocks", Unit::Count),
            ("user_code", Unit::Seconds),
        ],
        tables: &[],
    },
    SectionShape {
        name: "kernels",
        scalars: &[
            ("processes", Unit::Count),
            ("instructions", Unit::Count),
            ("in_loops", Unit::Ratio),
            ("elsewhere", Unit::Ratio),
        ],
        tables: &[],
    },
];

const DOCS: &str = "\
# Bounds

How fast could the run be, and what makes it slower: a chain from the work alone to the run time, one loss a step. The gaps add
up to the run less the first bound, exactly.

Between two synchronisations of all PEs lies a block. Blocks that close at the same call site are iterations *i* of one region *r*, the
first block of a run too. In a block PE *q* spends *u* on user code, *k* on communication and runtime calls, *o* on input and output (where CPU
time was recorded, also what user code was off the CPU), and waits; *w = u + k + o*. *S* is the work in serial regions, where one
PE does at least 99 % of it.

| bound | formula | gap to the next, and in words |
|---|---|---|
| IP | S + (1/N) Σ u | C': communication work |
| IPC | S + (1/N) Σ (u + k) | O: input, output, system |
| IPCO | S + (1/N) Σ w | L: imbalance over the whole run |
| IPCOL | S + max_q Σ_r Σ_i w | M': imbalance between regions that the whole run evens out |
| IPCOLM | S + Σ_r max_q Σ_i w | D: imbalance from one iteration to the next |
| IPCOLMD | S + Σ_r Σ_i max_q w | W: waits inside regions |
| W | + Σ waits of the PE that arrives last, less what others work more than it does | S': synchronisation |
| S' | + Σ from last arrival until the PE that arrives last at the next synchronisation goes on | X: not explained |
| actual | end of start-up to begin of shut-down | |

X is what the recording does not explain: time of the PE that arrives last that is neither work nor a recorded wait.

With `--kernels FILE` (what callgrind counted) the chain begins at the [peak of the core](../kernels.md#in-a-run): M, MA, MAC, MACS, then I = (1/N) Σ u, and the gap to IP is P, what serial regions keep the other PEs from doing.

**PEs.** With several processes N is their number: what threads do with each other is work of their process. The threads have a chain of their own,
`thread_bounds` and `thread_gaps`: of each process, cut where its teams fork, at their barriers, and where they join, up to the time
that the process is not in calls between processes; the mean over processes is given. In a run of one process the PEs are its threads. Of nested teams
the outermost is cut; threads of the others work in its blocks. Threads
that the program creates itself are cut where the first of them is created and where the last has ended (with the call that was waiting for it), so what the
main thread does while there is no other is serial; in between at barriers of all threads.

**Synchronisations** are barriers, all-to-all collectives, fences and collective creation of objects of all processes. A split one
(`MPI_Ibarrier`, `upc_notify`) ends a block where its completion begins. If a PE works longer in a block than from the last arrival before it to
the last arrival at its end, which only a split synchronisation or clocks that disagree allow, the block is joined to the one before.

Where the program marks iterations (regions of kind iteration), these are the *i*. A block belongs to the turn of
the marked loop in which it ends; blocks that close at the same place in one turn are regions of their own by their order, so M' is what is uneven
in every turn alike and D what changes from turn to turn. A block without a synchronisation between its turns is cut where they begin,
and what lies before the first and after the last are regions. Where PEs run ahead so far that the sum of the maxima exceeds the time from one
last arrival to the next, 2, 4, 8, … turns are one iteration, as few as needed. A block stays whole if PEs begin different numbers of turns in it. Of
nested loops the outermost counts.

`load_imbalance` findings (fact `level` 1, block) are region by region: time is Σ_i Σ_q (max w − w(q)), what PEs wait if the
others are not relieved; the PE with the most work in an iteration is charged for it, where it does most more than the one with the least there (of a region's worst iterations). `serial_section`: a region in which one
PE works, times the others.

A **profile** has no turns and does not tell what calls waited. It gives IP (on the processor, if CPU time was kept: `record --profile --counters cpu-time`), IPC with
the calls that never wait (those that begin what others complete, ask, or manage), IPCO with those on files and what code was off the processor, IPCOL and IPCOLM; the last gap is `rest`.
In which blocks calls were is not known, so from IPC on a bound is the larger of two: user code by block, and all certain work of each process over the run. Its regions are what each call site of a synchronisation of all processes ends, its PEs main threads, and its run lasts from the end of the
start-up to the begin of the shut-down.

**Source**: Hung and Davidson, hierarchical performance bounds; W, S' and the blocks are ours.
";

/// One PE does this share of the work of a serial region.
pub(crate) const SERIAL: f64 = 0.99;

/// What is measured of one world.
pub(crate) struct Measured {
    pub(crate) tiling: Tiling,
    pub(crate) work: BlockWork,
    pub(crate) of_paths: Arc<Kinds>,
    /// See [`world_sums::shares`].
    pub(crate) shares: Vec<(i128, i128)>,
}

/// That of all worlds.
pub(crate) struct MeasuredWorlds {
    pub(crate) run: Measured,
    threads: Vec<Measured>,
}

/// The sums of all worlds; nothing where nobody ran.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Worlds(Option<(WorldSums, Vec<WorldSums>)>);

impl Query for Worlds {
    fn of(input: &Input<'_>) -> Worlds {
        let measured = if input.trace.profile().is_some() { None } else { measured(input) };
        let sums = |world: &Measured| WorldSums::of(input, world);
        Worlds(measured.map(|it| (sums(&it.run), it.threads.iter().map(sums).collect())))
    }

    fn add(&mut self, next: Worlds) {
        match (&mut self.0, next.0) {
            (Some((run, threads)), Some(next)) => {
                run.add(next.0);
                threads.iter_mut().zip(next.1).for_each(|(sum, next)| sum.add(next));
            }
            (sum, next) => *sum = sum.take().or(next),
        }
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    if let Some(profile) = trace.profile() {
        return profile_bounds::run(input, profile);
    }
    let Some((run, threads)) = &input.worlds().0 else { return Outcome::default() };
    let per_second = trace.clock().ticks_per_second() as f64;
    let chains: Vec<Chain> = threads.iter().map(WorldSums::chain).collect();
    let of_threads = (!chains.is_empty()).then(|| Chain::mean(&chains).hierarchy(per_second));
    let chain = run.chain();
    let mut bounds = Hierarchies { run: chain.hierarchy(per_second), threads: of_threads }.section();
    bounds.tables.push(region_table(trace, run));
    let seconds = |ticks: f64| ticks / per_second;
    let (serial, all) = (chain.serial, chain.run());
    let serial = vec![
        Scalar::new("seconds", Unit::Seconds, seconds(serial)),
        Scalar::new("share", Unit::Ratio, if all > 0.0 { serial / all } else { 0.0 }),
        Scalar::new("pes", Unit::Count, run.pes.len() as f64),
        Scalar::new("blocks", Unit::Count, run.rows as f64),
        Scalar::new("user_code", Unit::Seconds, seconds(chain.user)),
    ];
    let sections = vec![bounds, Section { name: "serial", scalars: serial, ..Section::default() }];
    let mut losses = Losses::default();
    std::iter::once(run).chain(threads).for_each(|world| losses.add(world));
    Outcome { findings: block_loss::findings(input, losses), sections }
}

/// Measures the tiles of all worlds; nothing where nobody ran.
pub(crate) fn measured(input: &Input<'_>) -> Option<MeasuredWorlds> {
    let trace = input.trace;
    let cpu = cpu_time_metrics(trace);
    let sampled = |pe| match trace.slice() {
        Some(slice) => slice.counts_cpu.get(pe) == Some(&true),
        None => trace.samples(pe).iter().any(|sample| cpu.contains(&sample.metric)),
    };
    let tiling::Worlds { run, processes } = tiling::Worlds::find(trace, input.index);
    if run.pes.is_empty() || run.span.1 <= run.span.0 {
        return None;
    }
    let everywhere = run.pes.iter().chain(processes.iter().flat_map(|it| &it.pes)).all(|pe| sampled(*pe));
    let cpu = if everywhere { cpu } else { Vec::new() };
    let kinds_at = |level| Arc::new(Kinds::new(trace, level, &cpu));
    let (of_run, of_threads) = (kinds_at(run.level), kinds_at(Level::Threads));
    let measure = |mut tiling: Tiling| {
        let of_paths = Arc::clone(if tiling.level == Level::Threads { &of_threads } else { &of_run });
        let blocks = BlockWork::find(input, &mut tiling, &of_paths);
        let shares = world_sums::shares(&blocks);
        let kinds = world_sums::kinds(blocks.pes.len(), &shares);
        let work = iterations::refine(input, &tiling, &of_paths, blocks, &kinds);
        Measured { tiling, work, of_paths, shares }
    };
    Some(MeasuredWorlds { run: measure(run), threads: processes.into_iter().map(measure).collect() })
}

/// Seconds of a region: mean over PEs, largest PE, and sum of the largest of each iteration.
struct RegionRow {
    region: usize,
    mean: f64,
    max: f64,
    maxima: f64,
}

/// L, M' and D of each region of the source: which part of each loss is its.
fn region_table(trace: &Trace, world: &WorldSums) -> DataTable {
    let n = world.pes.len();
    let ticks_per_second = trace.clock().ticks_per_second() as f64;
    let row = |(region, sums): (usize, &RegionSums)| RegionRow {
        region,
        mean: sums.of_pes.iter().sum::<i128>() as f64 / n as f64 / ticks_per_second,
        max: sums.of_pes.iter().copied().max().unwrap_or(0) as f64 / ticks_per_second,
        maxima: sums.maxima as f64 / ticks_per_second,
    };
    let mut rows: Vec<RegionRow> = world.regions.iter().enumerate().map(row).collect();
    rows.sort_by(|a, b| (b.maxima - b.mean).total_cmp(&(a.maxima - a.mean)).then(a.region.cmp(&b.region)));
    let column = |of: &dyn Fn(&RegionRow) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    let path = |of: &dyn Fn(usize) -> CallPathId| Values::Path(rows.iter().map(|row| of(row.region)).collect());
    let kind = |region: usize| match world.kind(region) {
        RegionKind::Serial => "serial",
        RegionKind::Parallel => "parallel",
    };
    DataTable {
        name: "block_regions",
        columns: vec![
            Column::new("from", path(&|region| world.regions[region].about.after)),
            Column::new("to", path(&|region| world.regions[region].about.closes)),
            Column::new("kind", Values::Word(rows.iter().map(|row| kind(row.region)).collect())),
            Column::new(
                "iterations",
                Values::Count(rows.iter().map(|row| world.regions[row.region].iterations).collect()),
            ),
            Column::seconds("mean", column(&|row| row.mean)),
            Column::seconds("imbalance", column(&|row| row.max - row.mean)),
            Column::seconds("dynamic", column(&|row| row.maxima - row.max)),
        ],
    }
}
