//! Affinity of shared data: how much of it PEs access where it lives, and which blocking factor would put most of it there.
//!
//! `shared [B] T A[n]`: element i lives on thread ⌊i/B⌋ mod T. With H_q\[x\] the accesses of thread q to elements below x,
//! local(B) = Σ_b H_{b mod T}\[min((b+1)B, n)\] − H_{b mod T}\[bB\], n/B look-ups; over all B from 1 to n a harmonic sum, so the
//! exhaustive search costs O(n log n) (theory 6.7; Su, "Parallel Performance Wizard", chapter 5).

use partune_base::{CallPathId, Id, PeId, Span, Time, WindowId};
use partune_trace::Trace;

use crate::{
    Analysis, Column, DataTable, Finding, Input, Outcome, Pattern, Section, SectionShape, Shape, TableShape, Unit,
    Values,
};

pub(crate) static AFFINITY: Analysis = Analysis {
    name: "affinity",
    title: "Shared data: local and remote accesses, best blocking factor",
    docs: DOCS,
    finds: true,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "affinity",
    scalars: &[],
    tables: &[TableShape {
        name: "shared_data",
        columns: &[
            ("group", Shape::Group),
            ("local_bytes", Shape::BYTES),
            ("remote_bytes", Shape::BYTES),
            ("local", Shape::RATIO),
            ("element_bytes", Shape::BYTES),
            ("best_block", Shape::Count),
            ("best_local", Shape::RATIO),
        ],
    }],
}];

const DOCS: &str = "\
# Shared-data affinity

Only for windows and symmetric heaps whose accesses were recorded with addresses; silent otherwise. Plain loads and stores of own memory
are not in a trace, so the ratio is one of *recorded* accesses.

The memory of a window is taken as one array over its PEs in order of rank, in elements of the smallest access. `local` is the share of
accessed bytes that live where they are accessed; `best_local` the same under the best cyclic distribution of blocks of `best_block`
elements: element *i* on PE ⌊i/B⌋ mod T, all *B* tried. Of factors within 0.5 % of the best, the one that spreads memory most evenly is
taken, then the smallest.

`poor_locality`: a better factor exists, and accesses of PEs to their own part are recorded (else how local the program is cannot be known). Its time is
that of the calls that start remote accesses, times the share of them that the factor makes local.

**Source**: affinity analysis of PPW (Su, chapter 5), exhaustive search ours.
";

/// Largest table of counts: PEs times elements.
const CELLS: usize = 1 << 24;
/// Factors this close to the best are as good.
const TIE: f64 = 0.995;

/// Accesses of threads to the elements of an array.
#[derive(Clone, Debug)]
pub struct Affinity {
    /// Per thread, accesses to elements below x, for x from 0 to n.
    below: Vec<Vec<u64>>,
    elements: usize,
}

/// A distribution of blocks and how good it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocking {
    /// B.
    pub factor: usize,
    /// Accesses that are local.
    pub local: u64,
    /// Elements on the thread that has most.
    pub largest: usize,
}

impl Affinity {
    /// From the number of accesses of each thread to each element; threads with fewer elements have none to the rest.
    pub fn new(counts: &[Vec<u64>]) -> Affinity {
        let elements = counts.iter().map(Vec::len).max().unwrap_or(0);
        let below = counts.iter().map(|counts| {
            let mut sum = 0;
            let mut below = vec![0];
            below.extend((0..elements).map(|element| {
                sum += counts.get(element).copied().unwrap_or(0);
                sum
            }));
            below
        });
        Affinity { below: below.collect(), elements }
    }

    /// All accesses.
    pub fn total(&self) -> u64 {
        self.below.iter().map(|below| below[self.elements]).sum()
    }

    /// What a factor makes local; n/B steps.
    pub fn blocking(&self, factor: usize) -> Blocking {
        let (threads, factor) = (self.below.len(), factor.max(1));
        let mut owned = vec![0; threads];
        let mut local = 0;
        for (block, begin) in
            (0..self.elements).step_by(factor).enumerate().take(if threads == 0 { 0 } else { usize::MAX })
        {
            let end = (begin + factor).min(self.elements);
            let below = &self.below[block % threads];
            local += below[end] - below[begin];
            owned[block % threads] += end - begin;
        }
        Blocking { factor, local, largest: owned.into_iter().max().unwrap_or(0) }
    }

    /// The best factor: most local accesses; of those within 0.5 %, the smallest largest share of memory, then the smallest.
    /// O(n log n). `None` for an empty array.
    pub fn best(&self) -> Option<Blocking> {
        let all: Vec<Blocking> = (1..=self.elements).map(|factor| self.blocking(factor)).collect();
        let most = all.iter().map(|blocking| blocking.local).max()?;
        let good = all.into_iter().filter(|blocking| blocking.local as f64 >= TIE * most as f64);
        good.min_by_key(|blocking| (blocking.largest, blocking.factor))
    }
}

/// What is known of one window.
struct Found {
    window: WindowId,
    local: u64,
    remote: u64,
    best: Blocking,
    total: u64,
    element: u64,
    path: CallPathId,
    /// Duration of remote accesses on each PE.
    pes: Vec<(PeId, Span)>,
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let found: Vec<Found> = trace.windows().ids().filter_map(|window| examine(input, window)).collect();
    if found.is_empty() {
        return Outcome::default();
    }
    let ratio = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    let number = |unit: Unit, of: &dyn Fn(&Found) -> f64| Values::Number(unit, found.iter().map(of).collect());
    let table = DataTable {
        name: "shared_data",
        columns: vec![
            Column::new("group", Values::Group(found.iter().map(|it| trace.windows()[it.window].group).collect())),
            Column::new("local_bytes", number(Unit::Bytes, &|it| it.local as f64)),
            Column::new("remote_bytes", number(Unit::Bytes, &|it| it.remote as f64)),
            Column::new("local", number(Unit::Ratio, &|it| ratio(it.local, it.local + it.remote))),
            Column::new("element_bytes", number(Unit::Bytes, &|it| it.element as f64)),
            Column::new("best_block", Values::Count(found.iter().map(|it| it.best.factor as u64).collect())),
            Column::new("best_local", number(Unit::Ratio, &|it| ratio(it.best.local, it.total))),
        ],
    };
    let findings = found.iter().filter_map(|it| finding(trace, it)).collect();
    Outcome { findings, sections: vec![Section { name: "affinity", tables: vec![table], ..Section::default() }] }
}

/// The recorded accesses of a window; `None` if there is none or one has no address.
fn examine(input: &Input<'_>, window: WindowId) -> Option<Found> {
    let trace = input.trace;
    let members = &trace.groups().get(trace.windows()[window].group)?.members;
    let rank = |pe: PeId| members.rank(pe);
    let mut accesses: Vec<(usize, usize, u64, u64)> = Vec::new();
    let (mut paths, mut pes) = (vec![Span::ZERO; trace.paths().len()], Vec::new());
    let (mut local, mut remote) = (0, 0);
    for pe in trace.pes().ids() {
        let stream = &trace.streams()[pe];
        let (mut spent, mut until) = (Span::ZERO, Time::MIN);
        for transfer in input.index.rma.of_pe(pe) {
            let Some(row) =
                stream.transfers.get(transfer.row as usize).filter(|row| row.window == window && row.bytes > 0)
            else {
                continue;
            };
            let (Some(address), Some(own), Some(owner)) = (row.address, rank(pe), rank(row.target)) else {
                return None;
            };
            accesses.push((own, owner, address, row.bytes));
            if own == owner {
                local += row.bytes;
                continue;
            }
            remote += row.bytes;
            if let Some(visit) = transfer.start.some() {
                // Several accesses of one call take its time once; what is done until a later call completes them is not lost.
                let visit = stream.visits.at(visit);
                let time = visit.exit.since(visit.enter.max(until)).clamp_positive();
                until = until.max(visit.exit);
                spent += time;
                paths[visit.path.index()] += time;
            }
        }
        if spent.is_positive() {
            pes.push((pe, spent));
        }
    }
    let least = accesses.iter().map(|access| access.2).min()?;
    let most = accesses.iter().map(|access| access.2.saturating_add(access.3)).max()?;
    let mut element = accesses.iter().map(|access| access.3).min()?.max(1);
    let elements = |element: u64| ((most - least).div_ceil(element) as usize).saturating_mul(members.len());
    while elements(element).saturating_mul(members.len()) > CELLS {
        element = element.checked_mul(2)?;
    }
    let each = (most - least).div_ceil(element) as usize;
    let mut changes = vec![vec![0_i64; elements(element) + 1]; members.len()];
    for (own, owner, address, bytes) in accesses {
        let first = ((address - least) / element) as usize;
        let end = ((address.saturating_add(bytes) - least).div_ceil(element) as usize).min(each);
        changes[own][owner * each + first] += 1;
        changes[own][owner * each + end] -= 1;
    }
    let counts: Vec<Vec<u64>> = changes
        .into_iter()
        .map(|changes| {
            let mut open = 0;
            let counts = changes.into_iter().map(|change| {
                open += change;
                open as u64
            });
            let mut counts: Vec<u64> = counts.collect();
            counts.pop();
            counts
        })
        .collect();
    let affinity = Affinity::new(&counts);
    let path = paths.iter().enumerate().max_by_key(|(path, time)| (**time, std::cmp::Reverse(*path)));
    let path =
        path.filter(|(_, time)| time.is_positive()).map_or(CallPathId::NONE, |(path, _)| CallPathId::from_index(path));
    Some(Found { window, local, remote, best: affinity.best()?, total: affinity.total(), element, path, pes })
}

/// The loss of a window that another blocking factor would make more local.
fn finding(trace: &Trace, found: &Found) -> Option<Finding> {
    let path = found.path.some()?;
    let all = (found.local + found.remote) as f64;
    let (now, best) = (found.local as f64 / all, found.best.local as f64 / found.total.max(1) as f64);
    // Where no PE's access to its own part is recorded, such accesses are loads and stores: nobody knows how local the program is.
    if best <= now || now >= 1.0 || found.local == 0 {
        return None;
    }
    let share = (best - now) / (1.0 - now);
    let pes: Vec<(PeId, Span)> =
        found.pes.iter().map(|(pe, time)| (*pe, Span((time.0 as f64 * share).round() as i64))).collect();
    Some(Finding {
        time: pes.iter().map(|(_, time)| *time).sum(),
        count: 1,
        pes,
        facts: vec![
            ("local", now),
            ("best_local", best),
            ("best_block", found.best.factor as f64),
            ("element_bytes", found.element as f64),
        ],
        ..Finding::at(trace, Pattern::PoorLocality, path)
    })
}
