//! Affinity of shared data: how much of it PEs access where it lives, and which blocking factor would put most of it there.
//!
//! `shared [B] T A[n]`: element i lives on thread ⌊i/B⌋ mod T. With H_q\[x\] the accesses of thread q to elements below x,
//! local(B) = Σ_b H_{b mod T}\[min((b+1)B, n)\] − H_{b mod T}\[bB\], n/B look-ups; over all B from 1 to n a harmonic sum, so the
//! exhaustive search costs O(n log n) (theory 6.7; Su, "Parallel Performance Wizard", chapter 5).

use std::ops::Range;

use partune_base::{CallPathId, Id, PeId, Span, Table, Time, WindowId};
use partune_index::Index;
use partune_trace::{RmaTransfer, Trace, VisitIx};

use crate::{
    Analysis, Column, DataTable, Finding, Input, Needs, Outcome, Pattern, Section, SectionShape, Shape, TableShape,
    Unit, Values,
};

pub(crate) static AFFINITY: Analysis = Analysis {
    name: "affinity",
    title: "Shared data: local and remote accesses, best blocking factor",
    docs: DOCS,
    finds: true,
    needs: Needs::Events,
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

    pub fn elements(&self) -> usize {
        self.elements
    }

    pub fn threads(&self) -> usize {
        self.below.len()
    }

    /// Accesses of a thread to some elements.
    pub fn within(&self, thread: usize, elements: Range<usize>) -> u64 {
        let below = |element: usize| self.below[thread][element.min(self.elements)];
        below(elements.end).saturating_sub(below(elements.start))
    }

    /// Those of them to elements that live on PE `home` of `pes`, in blocks of `factor`.
    pub fn within_at(&self, thread: usize, elements: Range<usize>, (factor, home, pes): (usize, usize, usize)) -> u64 {
        let (factor, pes) = (factor.max(1), pes.max(1));
        let first = elements.start / factor;
        let first = first + (home + pes - first % pes) % pes;
        let begins = (first.saturating_mul(factor)..elements.end).step_by(factor.saturating_mul(pes));
        begins.map(|begin| self.within(thread, begin.max(elements.start)..(begin + factor).min(elements.end))).sum()
    }

    /// The same accesses on fewer threads: what thread q of P does, thread ⌊q·T/P⌋ of T does. `None` for none, or for more than there are: who would
    /// do what is not known then.
    pub fn on(&self, threads: usize) -> Option<Affinity> {
        if threads == 0 || threads > self.threads() {
            return None;
        }
        let mut below = vec![vec![0; self.elements + 1]; threads];
        for (thread, from) in self.below.iter().enumerate() {
            let to = &mut below[thread * threads / self.threads()];
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
        Some(Affinity { below, elements: self.elements })
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

/// An access of one PE to memory of another, or to its own, as both are ranked in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedAccess {
    pub own: usize,
    pub owner: usize,
    pub address: u64,
    pub bytes: u64,
}

/// The accesses to each window or symmetric heap that move something; none where one of them has no address, or is by a PE that is not in the window's
/// group. Linear in accesses.
pub fn shared_accesses(trace: &Trace, index: &Index) -> Table<WindowId, Vec<RankedAccess>> {
    let mut known: Table<WindowId, Option<Vec<RankedAccess>>> = Table::filled(trace.windows().len(), Some(Vec::new()));
    for pe in trace.pes().ids() {
        for (_, row) in transfers_of(trace, index, pe) {
            let Some(accesses) = known.as_mut_slice().get_mut(row.window.index()) else { continue };
            let members = trace.groups().get(trace.windows()[row.window].group).map(|group| &group.members);
            let access = members.and_then(|members| {
                let (own, owner) = (members.rank(pe)?, members.rank(row.target)?);
                Some(RankedAccess { own, owner, address: row.address?, bytes: row.bytes })
            });
            match (accesses.as_mut(), access) {
                (Some(accesses), Some(access)) => accesses.push(access),
                _ => *accesses = None,
            }
        }
    }
    known.into_vec().into_iter().map(Option::unwrap_or_default).collect()
}

/// What a PE moved to and from windows, each with where it was started.
fn transfers_of<'a>(
    trace: &'a Trace,
    index: &'a Index,
    pe: PeId,
) -> impl Iterator<Item = (VisitIx, &'a RmaTransfer)> + use<'a> {
    let stream = &trace.streams()[pe];
    let rows = index.rma.of_pe(pe).iter();
    rows.filter_map(|it| Some((it.start, stream.transfers.get(it.row as usize)?))).filter(|(_, row)| row.bytes > 0)
}

/// A window or symmetric heap as one array over its PEs in order of rank, in elements of the smallest access, from the first address that is
/// accessed anywhere to the last. Where that were more counts than memory is worth, elements are larger.
#[derive(Clone, Debug)]
pub struct SharedArray {
    /// Bytes of an element.
    pub element: u64,
    /// Elements on each PE.
    pub each: usize,
    /// Where the first element begins in the memory of each PE.
    pub begin: u64,
    /// Bytes accessed where they live, and elsewhere.
    pub local: u64,
    pub remote: u64,
    /// Accesses by rank.
    pub affinity: Affinity,
}

impl SharedArray {
    /// On so many PEs; `None` where nothing was accessed. Linear in accesses, and in PEs times elements.
    pub fn new(accesses: &[RankedAccess], pes: usize) -> Option<SharedArray> {
        let begin = accesses.iter().map(|access| access.address).min()?;
        let end = accesses.iter().map(|access| access.address.saturating_add(access.bytes)).max()?;
        let mut element = accesses.iter().map(|access| access.bytes).min()?.max(1);
        let elements = |element: u64| ((end - begin).div_ceil(element) as usize).saturating_mul(pes);
        while elements(element).saturating_mul(pes) > CELLS {
            element = element.checked_mul(2)?;
        }
        let each = (end - begin).div_ceil(element) as usize;
        let mut changes = vec![vec![0_i64; elements(element) + 1]; pes];
        let (mut local, mut remote) = (0, 0);
        for RankedAccess { own, owner, address, bytes } in accesses {
            let first = ((address - begin) / element) as usize;
            let end = ((address.saturating_add(*bytes) - begin).div_ceil(element) as usize).min(each);
            changes[*own][owner * each + first] += 1;
            changes[*own][owner * each + end] -= 1;
            *(if own == owner { &mut local } else { &mut remote }) += bytes;
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
        Some(SharedArray { element, each, begin, local, remote, affinity: Affinity::new(&counts) })
    }
}

/// What is known of an array, what distribution of it would be best, and what its remote accesses cost.
struct Found {
    window: WindowId,
    local: u64,
    remote: u64,
    element: u64,
    total: u64,
    best: Blocking,
    /// Duration of remote accesses on each PE, and by call path.
    pes: Vec<(PeId, Span)>,
    paths: Vec<Span>,
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let accesses = shared_accesses(trace, input.index);
    let found = accesses.iter_ids().filter_map(|(window, accesses)| {
        let pes = trace.groups().get(trace.windows()[window].group)?.members.len();
        let SharedArray { local, remote, element, affinity, .. } = SharedArray::new(accesses, pes)?;
        let (total, best) = (affinity.total(), affinity.best()?);
        let paths = vec![Span::ZERO; trace.paths().len()];
        Some(Found { window, local, remote, element, total, best, pes: Vec::new(), paths })
    });
    let mut found: Vec<Found> = found.collect();
    if found.is_empty() {
        return Outcome::default();
    }
    add_costs(input, &mut found);
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

/// What remote accesses take. Several accesses of one call take its time once; what is done until a later call completes them is not lost.
fn add_costs(input: &Input<'_>, found: &mut [Found]) {
    let trace = input.trace;
    let mut at: Table<WindowId, Option<usize>> = Table::filled(trace.windows().len(), None);
    found.iter().enumerate().for_each(|(position, it)| at[it.window] = Some(position));
    for pe in trace.pes().ids() {
        let mut spent = vec![(Span::ZERO, Time::MIN); found.len()];
        for (start, row) in transfers_of(trace, input.index, pe).filter(|(_, row)| row.target != pe) {
            let position = at.get(row.window).copied().flatten();
            let (Some(position), Some(visit)) = (position, start.some()) else { continue };
            let visit = trace.streams()[pe].visits.at(visit);
            let (spent, until) = &mut spent[position];
            let time = visit.exit.since(visit.enter.max(*until)).clamp_positive();
            *until = visit.exit.max(*until);
            *spent += time;
            found[position].paths[visit.path.index()] += time;
        }
        for (it, (spent, _)) in found.iter_mut().zip(spent).filter(|(_, (spent, _))| spent.is_positive()) {
            it.pes.push((pe, spent));
        }
    }
}

/// The loss of a window that another blocking factor would make more local.
fn finding(trace: &Trace, found: &Found) -> Option<Finding> {
    let path = found.paths.iter().enumerate().max_by_key(|(path, time)| (**time, std::cmp::Reverse(*path)))?;
    let path = path.1.is_positive().then(|| CallPathId::from_index(path.0))?;
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
