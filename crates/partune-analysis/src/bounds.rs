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
use crate::{Analysis, Column, DataTable, Input, Outcome, Scalar, Section, Unit, Values};

pub(crate) static BOUNDS: Analysis =
    Analysis { name: "bounds", title: "Bounds on run time, and what each gap loses", docs: DOCS, run };

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
    let work = BlockWork::find(input);
    if work.pes.is_empty() || work.regions.is_empty() {
        return Outcome::default();
    }
    let tensor = tensor(&work);
    let bounds = tensor.bounds();
    let n = bounds.pes;
    let actual = i128::from(trace.duration().0) * n;
    let mut names = Vec::new();
    let mut levels = Vec::new();
    let mut gap_names = Vec::new();
    let metrics = cpu_time_metrics(trace);
    if let Some(cpu) = (!metrics.is_empty()).then(|| work.cpu_time(input, &metrics)).flatten() {
        let first = Tensor::bounds(&cpu_tensor(&work, &tensor, &cpu)).ipco();
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
        region_table(trace, &work, &tensor),
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
    Outcome { findings: block_loss::findings(input, &work, &tensor), sections }
}

/// The tensor of the work in blocks, with serial regions marked.
fn tensor(work: &BlockWork) -> Tensor {
    let mut most = vec![0_i128; work.regions.len()];
    let mut total = vec![0_i128; work.regions.len()];
    for (region, ticks) in work.iterations() {
        most[region] += i128::from(ticks.iter().copied().max().unwrap_or(0));
        total[region] += ticks.iter().map(|ticks| i128::from(*ticks)).sum::<i128>();
    }
    let mut tensor = Tensor::new(work.pes.len());
    for (most, total) in most.iter().zip(&total) {
        let serial = work.pes.len() > 1 && *total > 0 && *most as f64 >= SERIAL * *total as f64;
        tensor.region(if serial { RegionKind::Serial } else { RegionKind::Parallel });
    }
    for (region, ticks) in work.iterations() {
        tensor.iteration(region, ticks);
    }
    tensor
}

/// The same regions with CPU time as work.
fn cpu_tensor(work: &BlockWork, wall: &Tensor, cpu: &[i64]) -> Tensor {
    let mut tensor = Tensor::new(wall.pes);
    for kind in &wall.regions {
        tensor.region(*kind);
    }
    for ((region, _), ticks) in work.iterations().zip(cpu.chunks_exact(wall.pes.max(1))) {
        tensor.iteration(region, ticks);
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
fn region_table(trace: &Trace, work: &BlockWork, tensor: &Tensor) -> DataTable {
    let n = work.pes.len();
    let count = work.regions.len();
    let (mut of_pe, mut maxima, mut iterations) = (vec![0_i128; count * n], vec![0_i128; count], vec![0_u64; count]);
    for (region, ticks) in tensor.iterations() {
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
    let kind = |region: usize| match tensor.regions[region] {
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
