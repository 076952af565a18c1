//! What changes do to a run: each adds to the effects of those before it, or is refused.

use partune_base::{CallPathId, Id, PeId, Table};
use partune_trace::{RmaTransferKind, Role, Trace, VisitIx};
use rayon::prelude::*;

use crate::change::{Change, Place, Setting};
use crate::classes::acts;
use crate::effects::{Effects, Moment, Quantity, Shares, Treatment, add, grain};
use crate::places;
use crate::source::Source;
use crate::sweep::operating;

/// A change that was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    pub change: Change,
    pub why: Refusal,
}

/// Why a change is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// There is no such place; there are these.
    NoPlace(Vec<String>),
    /// No PE of a CPU has this number.
    NoPe,
    /// No code of the program's own runs there.
    NoWork,
    /// One PE has nobody to share with.
    OnePe,
    /// What is there is no operation that this can be done to.
    NoOperation,
    /// Operations there move data: without them the program computes something else.
    MovesData(CallPathId),
    /// Accesses to memory of other PEs are done before it, and nothing else orders them: how many, and the first by origin and target.
    Orders { accesses: u64, path: CallPathId, origin: PeId, target: PeId },
    /// No message of fewer bytes waited for its receive; the shortest that did has so many.
    NothingWaits { least: Option<u64> },
    /// A PE is dedicated already.
    Dedicated,
    /// With it some operation needs what only comes after it: so many times.
    Circular(u64),
}

/// Adds what a change does.
pub(crate) fn apply(source: &Source<'_>, effects: &mut Effects, change: &Change) -> Result<(), Refusal> {
    let trace = source.trace;
    let find = |place: &Place| {
        let at = places::at(trace, place);
        if at.contains(&true) { Ok(at) } else { Err(Refusal::NoPlace(places::near(trace, place))) }
    };
    let pe_of = |number: u32| trace.cpu_pes().find(|pe| pe.0 == number).ok_or(Refusal::NoPe);
    match change {
        Change::Balance(place) => {
            let paths = places::within(trace, &find(place)?);
            effects.shares.push(balanced(source, effects, paths)?);
        }
        Change::Scale(place, factor) => effects.scale_paths(&places::within(trace, &find(place)?), *factor),
        Change::ScalePe(pe, factor) => effects.scale_pe(pe_of(*pe)?, *factor),
        Change::ScaleCpu(speed) => trace.cpu_pes().for_each(|pe| effects.scale_pe(pe, 1.0 / speed)),
        Change::Remove(place) => {
            let at = operations(trace, &find(place)?)?;
            removable(trace, &at)?;
            effects.treat(&at, Treatment::Goes);
        }
        Change::Nonblocking(place) => {
            let at = operations(trace, &find(place)?)?;
            effects.treat(&at, Treatment::Starts);
        }
        Change::Combine(place, count) => {
            let at = operations(trace, &find(place)?)?;
            effects.treat(&with_partners(source, at), Treatment::Combines(*count));
        }
        Change::Merge(place) => {
            let at = operations(trace, &find(place)?)?;
            effects.treat(&collectives(trace, at)?, Treatment::Merges);
        }
        Change::Collective(place, algorithm) => {
            let at = operations(trace, &find(place)?)?;
            effects.choose(&collectives(trace, at)?, *algorithm);
        }
        Change::Dedicate(_) if effects.has_dedicated => return Err(Refusal::Dedicated),
        Change::Dedicate(pe) => {
            effects.shares.push(dedicated(source, effects, pe_of(*pe)?)?);
            effects.has_dedicated = true;
        }
        Change::Network { latency, bandwidth, eager } => {
            let put = |of: &mut Quantity, setting: &Option<Setting>| match *setting {
                None => {}
                Some(Setting::Is(value)) => *of = Quantity::Is(value),
                Some(Setting::Times(factor)) => {
                    *of = match *of {
                        Quantity::Times(before) => Quantity::Times(before * factor),
                        Quantity::Is(value) => Quantity::Is(value * factor),
                    }
                }
            };
            put(&mut effects.latency, latency);
            put(&mut effects.bandwidth, bandwidth);
            if let Some(bytes) = *eager {
                if !source.posts.iter().any(|post| *post < bytes) {
                    return Err(Refusal::NothingWaits { least: source.posts.iter().min().copied() });
                }
                effects.eager = effects.eager.max(bytes);
            }
        }
    }
    Ok(())
}

/// Those of the paths that are operations which communicate or synchronise; if none is, those that are called from there.
fn operations(trace: &Trace, at: &[bool]) -> Result<Vec<bool>, Refusal> {
    let inside = operating(trace);
    let paths = trace.paths();
    let acts = |path: CallPathId| inside[path] && acts(trace.regions()[paths.region(path)].role);
    let of = |at: &[bool]| -> Vec<bool> { paths.ids().map(|path| at[path.index()] && acts(path)).collect() };
    let chosen = of(at);
    if chosen.contains(&true) {
        return Ok(chosen);
    }
    let is_outermost = |path: CallPathId| paths.parent(path).some().is_none_or(|parent| !inside[parent]);
    let mut called = of(&places::within(trace, at));
    paths.ids().for_each(|path| called[path.index()] &= is_outermost(path));
    if called.contains(&true) { Ok(called) } else { Err(Refusal::NoOperation) }
}

/// Those paths, and others whose messages are all with them: what is sent as one is received as one.
fn with_partners(source: &Source<'_>, mut at: Vec<bool>) -> Vec<bool> {
    let streams = source.trace.streams();
    let path = |pe: PeId, visit: VisitIx| streams[pe].visits.path.get(visit.index()).map(|path| path.index());
    // By path: messages with those that were chosen, and all.
    let mut counts = vec![(0_u64, 0_u64); at.len()];
    for message in &source.index.messages {
        let send = path(message.sender, streams[message.sender].sends[message.send as usize].visit);
        let recv = path(message.receiver, streams[message.receiver].recvs[message.recv as usize].visit);
        let Some((send, recv)) = send.zip(recv) else { continue };
        for (own, other) in [(send, recv), (recv, send)] {
            counts[own].0 += u64::from(at[other]);
            counts[own].1 += 1;
        }
    }
    at.iter_mut().zip(counts).for_each(|(at, (chosen, all))| *at |= all > 0 && chosen == all);
    at
}

/// Those of them that are collectives.
fn collectives(trace: &Trace, mut at: Vec<bool>) -> Result<Vec<bool>, Refusal> {
    for path in trace.paths().ids() {
        at[path.index()] &= trace.regions()[trace.paths().region(path)].role.is_collective();
    }
    if at.contains(&true) { Ok(at) } else { Err(Refusal::NoOperation) }
}

/// Whether the program does the same without some operations.
fn removable(trace: &Trace, at: &[bool]) -> Result<(), Refusal> {
    let role = |path: CallPathId| trace.regions()[trace.paths().region(path)].role;
    let only_meets =
        |role: Role| matches!(role, Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::CommSync);
    if let Some(path) = trace.paths().ids().find(|path| at[path.index()] && !only_meets(role(*path))) {
        return Err(Refusal::MovesData(path));
    }
    let mut found = None;
    let mut accesses = 0;
    for (pe, stream) in trace.streams().iter_ids().filter(|(_, stream)| !stream.transfers.is_empty()) {
        let orders = |path: CallPathId| role(path).is_collective() || at[path.index()];
        let syncs: Vec<_> =
            stream.operations.iter().filter(|visit| orders(stream.visits.path[visit.index()])).copied().collect();
        for transfer in stream.transfers.iter().filter(|it| it.target != pe && it.kind != RmaTransferKind::Atomic) {
            let next = syncs.partition_point(|sync| stream.visits.enter[sync.index()] < transfer.time);
            let Some(next) = syncs.get(next) else { continue };
            if at[stream.visits.path[next.index()].index()] {
                accesses += 1;
                let path = stream.visits.path.get(transfer.visit.index()).copied().unwrap_or(CallPathId::NONE);
                found.get_or_insert((path, pe, transfer.target));
            }
        }
    }
    match found {
        Some((path, origin, target)) => Err(Refusal::Orders { accesses, path, origin, target }),
        None => Ok(()),
    }
}

/// Work on some paths.
struct Work {
    /// Those that could do it.
    pes: Vec<PeId>,
    /// Ticks of each of them, by block.
    ticks: Vec<Vec<f64>>,
    /// Its moments by PE and block.
    moments: Vec<Vec<Vec<Moment>>>,
    /// Nobody knows when who was in which block: all of the run is one.
    is_whole: bool,
}

fn work(source: &Source<'_>, effects: &Effects, paths: &[bool]) -> Work {
    let pes: Vec<PeId> = source.trace.cpu_pes().collect();
    let blocks = source.index.blocks.blocks.len().max(1);
    let known = |pe: &PeId| source.index.blocks.extents.get(*pe).is_some_and(|extents| extents.len() == blocks);
    let mut moments: Vec<Vec<Vec<Moment>>> = pes.par_iter().map(|pe| source.work(*pe, paths, effects)).collect();
    let is_whole = !pes.iter().all(known);
    if is_whole {
        moments.iter_mut().for_each(|of_pe| *of_pe = vec![of_pe.concat()]);
    }
    let sum = |moments: &Vec<Moment>| moments.iter().map(|moment| moment.1).sum();
    let ticks = moments.iter().map(|of_pe| of_pe.iter().map(sum).collect()).collect();
    Work { pes, ticks, moments, is_whole }
}

impl Work {
    /// Only that of some PEs.
    fn retain(&mut self, is: impl Fn(&PeId) -> bool) {
        let kept: Vec<bool> = self.pes.iter().map(is).collect();
        let (mut of_pes, mut of_ticks, mut of_moments) = (kept.iter(), kept.iter(), kept.iter());
        self.pes.retain(|_| of_pes.next() == Some(&true));
        self.ticks.retain(|_| of_ticks.next() == Some(&true));
        self.moments.retain(|_| of_moments.next() == Some(&true));
    }

    fn blocks(&self) -> usize {
        self.ticks.first().map_or(0, Vec::len)
    }

    /// The moments of some of the PEs, by their positions, one after the other in each block.
    fn moments(&self, of: &[usize], grain: i64) -> Vec<Vec<Moment>> {
        let of_block = |block: usize| {
            let mut all: Vec<Moment> = of.iter().flat_map(|pe| self.moments[*pe][block].iter().copied()).collect();
            all.sort_by_key(|moment| moment.0);
            let mut moments = Vec::new();
            all.into_iter().for_each(|moment| add(&mut moments, moment, grain));
            moments
        };
        (0..self.blocks()).map(of_block).collect()
    }

    /// Shared out anew: for each PE and block what its own work is multiplied with, and its part of that of some PEs.
    fn shared(
        &self,
        source: &Source<'_>,
        paths: Vec<bool>,
        of: &[usize],
        share: impl Fn(usize, usize) -> (f64, f64),
    ) -> Shares {
        let blocks = source.index.blocks.blocks.len().max(1);
        let mut factors: Table<PeId, Vec<f64>> = Table::filled(source.trace.pes().len(), Vec::new());
        let mut parts = factors.clone();
        for (at, &pe) in self.pes.iter().enumerate() {
            let shares: Vec<(f64, f64)> = (0..self.blocks()).map(|block| share(at, block)).collect();
            factors[pe] = (0..blocks).map(|block| shares[if self.is_whole { 0 } else { block }].0).collect();
            parts[pe] = shares.iter().map(|share| share.1).collect();
        }
        Shares { paths, factors, moments: self.moments(of, grain(source.trace)), parts, is_whole: self.is_whole }
    }
}

fn balanced(source: &Source<'_>, effects: &Effects, paths: Vec<bool>) -> Result<Shares, Refusal> {
    let trace = source.trace;
    let mut work = work(source, effects, &paths);
    // What only main threads do is balanced among processes.
    let is_main = |pe: &PeId| trace.pes()[*pe].thread == 0;
    let of_others = work.pes.iter().zip(&work.ticks).filter(|(pe, _)| !is_main(pe)).flat_map(|(_, ticks)| ticks);
    if of_others.sum::<f64>() == 0.0 && work.pes.iter().filter(|pe| is_main(pe)).count() > 1 {
        work.retain(is_main);
    }
    if work.ticks.iter().flatten().sum::<f64>() <= 0.0 {
        return Err(Refusal::NoWork);
    }
    let pes = work.pes.len();
    if pes < 2 {
        return Err(Refusal::OnePe);
    }
    let part = 1.0 / pes as f64;
    let mean = |block: usize| work.ticks.iter().map(|ticks| ticks[block]).sum::<f64>() * part;
    let means: Vec<f64> = (0..work.blocks()).map(mean).collect();
    let share = |pe: usize, block: usize| match work.ticks[pe][block] {
        own if own > 0.0 => (means[block] / own, 0.0),
        _ => (1.0, part),
    };
    let all: Vec<usize> = (0..pes).collect();
    Ok(work.shared(source, paths, &all, share))
}

fn dedicated(source: &Source<'_>, effects: &Effects, master: PeId) -> Result<Shares, Refusal> {
    let paths = vec![true; source.trace.paths().len() + 1];
    let work = work(source, effects, &paths);
    let others = work.pes.len().saturating_sub(1);
    if others == 0 {
        return Err(Refusal::OnePe);
    }
    let at = work.pes.iter().position(|pe| *pe == master).ok_or(Refusal::NoPe)?;
    let share = |pe: usize, _| if pe == at { (0.0, 0.0) } else { (1.0, 1.0 / others as f64) };
    Ok(work.shared(source, paths, &[at], share))
}
