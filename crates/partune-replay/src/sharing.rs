//! Work that is shared out anew: evenly, within the team of whoever does it, or from one PE to all others.

use std::collections::{BTreeMap, BTreeSet};

use partune_base::{CallPathId, Id, PeId, ProcessId, Table, Time};
use partune_trace::{Role, Trace};
use rayon::prelude::*;

use crate::changes::Refusal;
use crate::effects::{Effects, Moment, Shares, add, grain};
use crate::places;
use crate::source::Source;

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

/// What is shared out, by positions of PEs.
struct Lots {
    /// Whose work is in each.
    from: Vec<Vec<usize>>,
    /// By PE: of which one it does a part; the first, where nothing is said.
    of_pe: Vec<usize>,
}

impl Lots {
    fn one(from: Vec<usize>) -> Lots {
        Lots { from: vec![from], of_pe: Vec::new() }
    }
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

    /// Threads that a program makes one by one have parts of their own: where several of a process do some of it, a thread that does none, such as the one that
    /// waits for their end, gets none either. Members of a team could all do it.
    fn keep_workers(&mut self, source: &Source<'_>) {
        let (pes, forks) = (source.trace.pes(), &source.index.teams.forks);
        let mut in_team: Table<PeId, bool> = Table::filled(pes.len(), false);
        let teams = forks.iter().filter(|fork| fork.members.len() > 1);
        teams.flat_map(|fork| &fork.members).filter(|it| it.0.index() < pes.len()).for_each(|it| in_team[it.0] = true);
        let works: Vec<PeId> =
            self.pes.iter().zip(&self.ticks).filter(|it| it.1.iter().sum::<f64>() > 0.0).map(|it| *it.0).collect();
        let mut workers: Table<ProcessId, u32> = Table::filled(source.trace.processes().len(), 0);
        works.iter().for_each(|pe| workers[pes[*pe].process] += 1);
        self.retain(|pe| in_team[*pe] || workers[pes[*pe].process] < 2 || works.binary_search(pe).is_ok());
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

    /// Shared out anew: for each PE and block what its own work is multiplied with, and its part of its lot.
    fn shared(
        &self,
        source: &Source<'_>,
        paths: Vec<bool>,
        lots: &Lots,
        share: impl Fn(usize, usize) -> (f64, f64),
    ) -> Shares {
        let blocks = source.index.blocks.blocks.len().max(1);
        let mut factors: Table<PeId, Vec<f64>> = Table::filled(source.trace.pes().len(), Vec::new());
        let mut parts = factors.clone();
        let mut lot = Table::filled(source.trace.pes().len(), 0);
        for (at, &pe) in self.pes.iter().enumerate() {
            let shares: Vec<(f64, f64)> = (0..self.blocks()).map(|block| share(at, block)).collect();
            factors[pe] = (0..blocks).map(|block| shares[if self.is_whole { 0 } else { block }].0).collect();
            parts[pe] = shares.iter().map(|share| share.1).collect();
            lot[pe] = lots.of_pe.get(at).copied().unwrap_or_default();
        }
        let moments = lots.from.iter().map(|from| self.moments(from, grain(source.trace))).collect();
        Shares { paths, factors, moments, lot, parts, is_whole: self.is_whole }
    }
}

/// Processes do as much as each other where none does more than so many times the mean.
const EVEN: f64 = 1.05;

/// Who does so little of the mean only finds out that there is nothing for it to do: when it does that says nothing of when it would do more.
const LITTLE: f64 = 0.1;

/// Work in parallel regions and work outside of them are two things: neither is done in place of the other.
pub(crate) fn balanced(source: &Source<'_>, effects: &Effects, paths: &[bool]) -> Result<Vec<Shares>, Refusal> {
    let (outside, inside) = by_region(source.trace, paths);
    match (even(source, effects, outside), even(source, effects, inside)) {
        (Err(Refusal::NoWork), Err(why)) | (Err(why), Err(_)) => Err(why),
        (outside, inside) => Ok([outside, inside].into_iter().flatten().collect()),
    }
}

/// What a thread that forks teams does outside of these is done by all of its team; what others do is shared by those who can do it.
pub(crate) fn spread(source: &Source<'_>, effects: &Effects, paths: &[bool]) -> Result<Shares, Refusal> {
    let (outside, _) = by_region(source.trace, paths);
    let work = work(source, effects, &outside);
    let position = |pe: &PeId| work.pes.binary_search(pe).ok();
    let does = |pe: &usize| work.ticks[*pe].iter().sum::<f64>() > 0.0;
    let members = |team: BTreeSet<PeId>| team.iter().filter_map(position).collect();
    let teams = teams(source).into_iter().filter_map(|(pe, team)| Some((position(&pe).filter(does)?, members(team))));
    let teams: Vec<(usize, Vec<usize>)> = teams.collect();
    if teams.is_empty() {
        return even(source, effects, outside);
    }
    let mut of_pe: Vec<Option<usize>> = vec![None; work.pes.len()];
    let forking = teams.iter().map(|(from, _)| from).enumerate();
    let members = teams.iter().enumerate().flat_map(|(team, (_, members))| members.iter().map(move |pe| (team, pe)));
    forking.chain(members).for_each(|(team, pe)| _ = of_pe[*pe].get_or_insert(team));
    let share = |pe: usize, _| match of_pe[pe].map(|team| &teams[team]) {
        Some((from, members)) if *from == pe => (1.0 / members.len() as f64, 0.0),
        Some((_, members)) => (1.0, 1.0 / members.len() as f64),
        None => (1.0, 0.0),
    };
    let from = teams.iter().map(|(from, _)| vec![*from]).collect();
    let lots = Lots { from, of_pe: of_pe.iter().map(|team| team.unwrap_or_default()).collect() };
    Ok(work.shared(source, outside, &lots, share))
}

/// What a PE leaves to all others.
pub(crate) fn dedicated(source: &Source<'_>, effects: &Effects, master: PeId) -> Result<Shares, Refusal> {
    // What only the master does, such as to hand out work, it goes on to do.
    let trace = source.trace;
    let mut shared = vec![false; trace.regions().len()];
    for pe in trace.cpu_pes().filter(|pe| *pe != master) {
        trace.streams()[pe].visits.path.iter().for_each(|path| shared[trace.paths().region(*path).index()] = true);
    }
    let mut paths: Vec<bool> = trace.paths().ids().map(|path| shared[trace.paths().region(path).index()]).collect();
    paths.push(true);
    let work = work(source, effects, &paths);
    let others = work.pes.len().saturating_sub(1);
    if others == 0 {
        return Err(Refusal::OnePe);
    }
    let at = work.pes.iter().position(|pe| *pe == master).ok_or(Refusal::NoPe)?;
    if work.ticks[at].iter().sum::<f64>() <= 0.0 {
        return Err(Refusal::NoWork);
    }
    let share = |pe: usize, _| if pe == at { (0.0, 0.0) } else { (1.0, 1.0 / others as f64) };
    Ok(work.shared(source, paths, &Lots::one(vec![at]), share))
}

/// Every PE does the mean, in each block.
fn even(source: &Source<'_>, effects: &Effects, paths: Vec<bool>) -> Result<Shares, Refusal> {
    if !paths.contains(&true) {
        return Err(Refusal::NoWork);
    }
    let trace = source.trace;
    let mut work = work(source, effects, &paths);
    // What only main threads do is balanced among processes; where all of these do as much, among the threads of each.
    let is_main = |pe: &PeId| trace.pes()[*pe].thread == 0;
    let of_pes = || work.pes.iter().zip(&work.ticks).map(|(pe, ticks)| (is_main(pe), ticks.iter().sum::<f64>()));
    let of_mains: Vec<f64> = of_pes().filter(|it| it.0).map(|it| it.1).collect();
    let (most, mean) =
        (of_mains.iter().copied().fold(0.0, f64::max), of_mains.iter().sum::<f64>() / of_mains.len().max(1) as f64);
    let has_threads = of_mains.len() < work.pes.len();
    if of_pes().all(|(is_main, ticks)| is_main || ticks == 0.0)
        && of_mains.len() > 1
        && !(has_threads && most < EVEN * mean)
    {
        work.retain(is_main);
    }
    if work.ticks.iter().flatten().sum::<f64>() <= 0.0 {
        return Err(Refusal::NoWork);
    }
    work.keep_workers(source);
    let pes = work.pes.len();
    if pes < 2 {
        return Err(Refusal::OnePe);
    }
    let sum = |block: usize| work.ticks.iter().map(|ticks| ticks[block]).sum::<f64>();
    let sums: Vec<f64> = (0..work.blocks()).map(sum).collect();
    let share = |pe: usize, block: usize| {
        let (own, mean) = (work.ticks[pe][block], sums[block] / pes as f64);
        if own > LITTLE * mean { (mean / own, 0.0) } else { (1.0, (mean - own) / sums[block].max(1.0)) }
    };
    Ok(work.shared(source, paths, &Lots::one((0..pes).collect()), share))
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

/// Those of some paths that are outside of all parallel regions, and those inside.
fn by_region(trace: &Trace, paths: &[bool]) -> (Vec<bool>, Vec<bool>) {
    let is_region = |path: CallPathId| trace.regions()[trace.paths().region(path)].role == Role::Parallel;
    let regions: Vec<bool> = trace.paths().ids().map(is_region).collect();
    paths.iter().zip(places::within(trace, &regions)).map(|(is, inside)| (*is && !inside, *is && inside)).unzip()
}

/// By the PE that forks them, all that are in its teams; those that are forked in another one are not asked.
fn teams(source: &Source<'_>) -> BTreeMap<PeId, BTreeSet<PeId>> {
    let mut teams: BTreeMap<PeId, BTreeSet<PeId>> = BTreeMap::new();
    let mut until: BTreeMap<PeId, Time> = BTreeMap::new();
    for fork in source.index.teams.forks.iter().filter(|fork| fork.members.len() > 1) {
        let last = until.entry(fork.place.pe).or_insert(Time::MIN);
        if fork.fork >= *last {
            *last = fork.join;
            teams.entry(fork.place.pe).or_default().extend(fork.members.iter().map(|member| member.0));
        }
    }
    teams
}
