//! Bounds: from the work of PEs in blocks to the hierarchy of bounds, its gaps, and the blocks that lose by imbalance.
//!
//! A region r is a pair of places in the source between which blocks lie, an iteration i one such block; w is the useful time
//! of a PE in it. Source: Hung and Davidson (theory 2.1), on blocks as PPW cuts them (theory 6.5).

use partune_base::CallPathId;
use partune_trace::Trace;

use crate::block_loss;
use crate::block_work::{BlockWork, synchronisation};
use crate::cpu_time::cpu_time_metrics;
use crate::tensor::{RegionKind, Tensor};
use crate::{
    Analysis, Column, DataTable, Input, Outcome, Scalar, Section, SectionShape, Shape, TableShape, Unit, Values,
    iterations,
};

pub(crate) static BOUNDS: Analysis = Analysis {
    name: "bounds",
    title: "Bounds on run time, and what each gap loses",
    docs: DOCS,
    finds: true,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[
    SectionShape {
        name: "bounds",
        scalars: &[],
        tables: &[
            TableShape { name: "bounds", columns: &[("name", Shape::Word), ("seconds", Shape::SECONDS)] },
            TableShape {
                name: "gaps",
                columns: &[("name", Shape::Word), ("seconds", Shape::SECONDS), ("fraction", Shape::RATIO)],
            },
            TableShape {
                name: "block_regions",
                columns: &[
                    ("from", Shape::Path),
                    ("to", Shape::Path),
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
        scalars: &[("seconds", Unit::Seconds), ("share", Unit::Ratio), ("pes", Unit::Count), ("blocks", Unit::Count)],
        tables: &[],
    },
];

const DOCS: &str = "\
# Bounds

The run is a tensor: *w(r, q, i)* is the useful time of PE *q* in block *i* of region *r*. Blocks lie between global
synchronisations; blocks between the same two places are iterations of one region. With *N* PEs and *S* the work in serial
regions (where one PE does at least 99 % of the work):

| bound | formula | gap to the one before |
|---|---|---|
| IPC | IPCO with CPU time; only where the archive has it | |
| IPCO | S + (1/N) Σ w | O |
| IPCOL | S + max_q Σ_r Σ_i w | L: load balance |
| IPCOLM | S + Σ_r max_q Σ_i w | M': multi-phase |
| IPCOLMD | S + Σ_r Σ_i max_q w | D: dynamic |
| S' | + Σ (first exit − last enter) over synchronisations between blocks | S' |
| actual | the run | X: not modelled |

Where the program marks iterations (regions of kind iteration), these are the *i*. A block belongs to the turn of
the marked loop in which it ends; blocks between the same two places in one turn are regions of their own by their order, so M' is what is uneven
in every turn alike and D what changes from turn to turn. A block without a synchronisation between its turns is cut where they begin,
and what lies before the first and behind the last are regions. Where PEs run ahead so far that the sum of the maxima exceeds the time from one
last arrival to the next, 2, 4, 8, … turns are one iteration, as few as needed. A block stays whole if PEs begin different numbers of turns in it. Of
nested loops the outermost counts.

The gaps sum to *actual* less the first bound, exactly. X holds messages and waits inside of blocks, start-up and shut-down.
PEs are all threads of the processes that take part in the global synchronisations. In a run of one process, what the main thread does
outside of teams is a serial region; in a run of several, other threads' idling meanwhile is imbalance.

`load_imbalance` findings (fact `level` 1, block) are region by region: time is Σ_i Σ_q (max w − w(q)), what PEs wait if the
others are not relieved; the PE with the most work in an iteration is charged for it. `serial_section`: a region in which one
PE works, times the others.

**Source**: Hung and Davidson, hierarchical performance bounds; S' and the block cut are ours (theory.md 2.1, 6.5).
";

/// One PE does this share of the work of a serial region.
const SERIAL: f64 = 0.99;

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let blocks = BlockWork::find(input);
    if blocks.pes.is_empty() || blocks.regions.is_empty() {
        return Outcome::default();
    }
    let kinds = kinds(&blocks);
    let metrics = cpu_time_metrics(trace);
    let cpu = (!metrics.is_empty()).then(|| blocks.cpu_time(input, &metrics)).flatten();
    let cpu = cpu.map(|cpu| cpu_tensor(&blocks, &kinds, &cpu).bounds().ipco());
    let work = iterations::refine(input, blocks, &kinds);
    let tensor = tensor(&work, &kinds);
    let bounds = tensor.bounds();
    let n = bounds.pes;
    let actual = i128::from(trace.duration().0) * n;
    let mut names = Vec::new();
    let mut levels = Vec::new();
    let mut gap_names = Vec::new();
    if let Some(first) = cpu {
        names.push("IPC");
        levels.push(first);
        gap_names.push("O");
    }
    let sync = synchronisation(input);
    let ladder = [
        ("IPCO", bounds.ipco(), "L"),
        ("IPCOL", bounds.ipcol(), "M'"),
        ("IPCOLM", bounds.ipcolm(), "D"),
        ("IPCOLMD", bounds.ipcolmd(), "S'"),
        ("S'", bounds.ipcolmd() + i128::from(sync) * n, "X"),
        ("actual", actual, ""),
    ];
    for (name, level, gap) in ladder {
        names.push(name);
        levels.push(level);
        if !gap.is_empty() {
            gap_names.push(gap);
        }
    }
    let seconds = |scaled: i128| scaled as f64 / n as f64 / trace.clock().ticks_per_second() as f64;
    let gaps: Vec<i128> = levels.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let fraction = |gap: &i128| if actual > 0 { *gap as f64 / actual as f64 } else { 0.0 };
    let tables = vec![
        DataTable {
            name: "bounds",
            columns: vec![
                Column::new("name", Values::Word(names)),
                Column::seconds("seconds", levels.iter().map(|level| seconds(*level)).collect()),
            ],
        },
        DataTable {
            name: "gaps",
            columns: vec![
                Column::new("name", Values::Word(gap_names)),
                Column::seconds("seconds", gaps.iter().map(|gap| seconds(*gap)).collect()),
                Column::new("fraction", Values::Number(Unit::Ratio, gaps.iter().map(fraction).collect())),
            ],
        },
        region_table(trace, &work, &kinds),
    ];
    let notes = vec![
        "work is useful time between global synchronisations; X holds messages and waits between them, start-up and shut-down".to_owned(),
    ];
    let share = if actual > 0 { bounds.serial as f64 * n as f64 / actual as f64 } else { 0.0 };
    let serial = vec![
        Scalar::new("seconds", Unit::Seconds, seconds(bounds.serial * n)),
        Scalar::new("share", Unit::Ratio, share),
        Scalar::new("pes", Unit::Count, n as f64),
        Scalar::new("blocks", Unit::Count, work.rows.len() as f64),
    ];
    let sections = vec![
        Section { name: "bounds", scalars: Vec::new(), tables, notes },
        Section { name: "serial", scalars: serial, ..Section::default() },
    ];
    Outcome { findings: block_loss::findings(input, &work, &kinds), sections }
}

/// Whether one PE works in a region of the source, or all.
fn kinds(work: &BlockWork) -> Vec<RegionKind> {
    let mut most = vec![0_i128; work.regions.len()];
    let mut total = vec![0_i128; work.regions.len()];
    for (region, ticks) in work.iterations() {
        most[region] += i128::from(ticks.iter().copied().max().unwrap_or(0));
        total[region] += ticks.iter().map(|ticks| i128::from(*ticks)).sum::<i128>();
    }
    let is_serial =
        |(most, total): (&i128, &i128)| work.pes.len() > 1 && *total > 0 && *most as f64 >= SERIAL * *total as f64;
    let serial = most.iter().zip(&total).map(is_serial);
    serial.map(|serial| if serial { RegionKind::Serial } else { RegionKind::Parallel }).collect()
}

/// The tensor of the work.
fn tensor(work: &BlockWork, kinds: &[RegionKind]) -> Tensor {
    let mut tensor = Tensor::new(work.pes.len());
    for region in &work.phases {
        tensor.region(kinds[*region]);
    }
    for (row, ticks) in work.rows.iter().zip(work.ticks()) {
        tensor.iteration(row.phase, ticks);
    }
    tensor
}

/// The tensor of blocks with CPU time as work.
fn cpu_tensor(blocks: &BlockWork, kinds: &[RegionKind], cpu: &[i64]) -> Tensor {
    let mut tensor = Tensor::new(blocks.pes.len());
    for kind in kinds {
        tensor.region(*kind);
    }
    for (row, ticks) in blocks.rows.iter().zip(cpu.chunks_exact(blocks.pes.len().max(1))) {
        tensor.iteration(row.region, ticks);
    }
    tensor
}

/// Seconds of a region: mean over PEs, largest PE, and sum of the largest of each iteration.
struct RegionRow {
    region: usize,
    mean: f64,
    max: f64,
    maxima: f64,
}

/// L, M' and D of each region of the source: which part of each loss is its.
fn region_table(trace: &Trace, work: &BlockWork, kinds: &[RegionKind]) -> DataTable {
    let n = work.pes.len();
    let count = work.regions.len();
    let (mut of_pe, mut maxima, mut iterations) = (vec![0_i128; count * n], vec![0_i128; count], vec![0_u64; count]);
    for (region, ticks) in work.iterations() {
        maxima[region] += i128::from(ticks.iter().copied().max().unwrap_or(0));
        iterations[region] += 1;
        for (sum, ticks) in of_pe[region * n..].iter_mut().zip(ticks) {
            *sum += i128::from(*ticks);
        }
    }
    let ticks_per_second = trace.clock().ticks_per_second() as f64;
    let mut rows: Vec<RegionRow> = (0..count)
        .map(|region| {
            let row = &of_pe[region * n..(region + 1) * n];
            RegionRow {
                region,
                mean: row.iter().sum::<i128>() as f64 / n as f64 / ticks_per_second,
                max: row.iter().copied().max().unwrap_or(0) as f64 / ticks_per_second,
                maxima: maxima[region] as f64 / ticks_per_second,
            }
        })
        .collect();
    rows.sort_by(|a, b| (b.maxima - b.mean).total_cmp(&(a.maxima - a.mean)).then(a.region.cmp(&b.region)));
    let column = |of: &dyn Fn(&RegionRow) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    let path = |of: &dyn Fn(usize) -> CallPathId| Values::Path(rows.iter().map(|row| of(row.region)).collect());
    let kind = |region: usize| match kinds[region] {
        RegionKind::Serial => "serial",
        RegionKind::Parallel => "parallel",
    };
    DataTable {
        name: "block_regions",
        columns: vec![
            Column::new("from", path(&|region| work.regions[region].source.0)),
            Column::new("to", path(&|region| work.regions[region].source.1)),
            Column::new("kind", Values::Word(rows.iter().map(|row| kind(row.region)).collect())),
            Column::new("iterations", Values::Count(rows.iter().map(|row| iterations[row.region]).collect())),
            Column::seconds("mean", column(&|row| row.mean)),
            Column::seconds("imbalance", column(&|row| row.max - row.mean)),
            Column::seconds("dynamic", column(&|row| row.maxima - row.max)),
        ],
    }
}
