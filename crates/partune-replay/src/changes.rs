//! What changes do to a run: each adds to the effects of those before it, or is refused.

use std::collections::{BTreeMap, BTreeSet};

use partune_base::{CallPathId, FileId, Id, PeId, ProcessId, Table, Time, WindowId};
use partune_index::{Part, shares_unseen};
use partune_trace::{Activity, IoKind, NO_MATCHING, Recv, RmaSyncKind, Role, Trace, VisitIx};

use crate::change::{Change, PeName, Place, Setting};
use crate::classes::acts;
use crate::costs::Costs;
use crate::effects::{Effects, Quantity, Treatment};
use crate::places;
use crate::rewrite::accesses;
use crate::sharing;
use crate::source::Source;
use crate::sweep::operating;

/// A change that was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    pub change: Change,
    pub why: Refusal,
}

/// What a change is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Whatever communicates or synchronises.
    Operation,
    /// What brings something from one PE to another, or waits for it.
    Transfer,
    Collective,
    Barrier,
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
    /// Nothing there is what this can be done to.
    NoOperation(Wanted),
    /// Operations there move data: without them the program computes something else.
    MovesData(CallPathId),
    /// An operation there waits for what others do, or makes something.
    Needed(CallPathId),
    /// A lock is taken or given back there, and what is done meanwhile must not be done by two.
    Excludes(CallPathId),
    /// Accesses to memory of other PEs are done before it, and nothing else orders them: how many, and the first by origin and target.
    Orders { accesses: u64, path: CallPathId, origin: PeId, target: PeId },
    /// No message of fewer bytes waited for its receive; the shortest that did has so many.
    NothingWaits { least: Option<u64> },
    /// A PE is dedicated already.
    Dedicated,
    /// No wait there is followed by the other place before the next one.
    NeverFollows,
    /// What is received there may be in what a PE gives before the other place is done: so many waits, and what gives after the first of them.
    GivesMeanwhile { waits: u64, path: CallPathId },
    /// Who meets there shares memory, and nobody knows what is accessed in it.
    SharesMemory,
    /// One of those that meet there writes a file that another one reads.
    SharesFile(FileId),
    /// The file names nodes for fewer processes than there are.
    FewNodes { named: usize, processes: usize },
    /// Nobody knows what messages between nodes take, or within one.
    UnknownLink { remote: bool },
    /// The file that names nodes was not read.
    NotRead,
    /// One run does not tell of another number of PEs.
    OneRun,
    /// With it some operation needs what only comes after it: so many times.
    Circular(u64),
}

/// Adds what a change does.
pub(crate) fn apply(source: &Source<'_>, costs: &Costs, effects: &mut Effects, change: &Change) -> Result<(), Refusal> {
    let trace = source.trace;
    let find = |place: &Place| {
        let at = places::at(trace, place);
        if at.contains(&true) { Ok(at) } else { Err(Refusal::NoPlace(places::near(trace, place))) }
    };
    let is_called = |pe: PeId, name: PeName| match name {
        PeName::Number(number) => pe.0 == number,
        PeName::Thread(rank, thread) => {
            let of = &trace.pes()[pe];
            let process = trace.processes().get(of.process).and_then(|process| process.rank);
            of.thread == thread && process.unwrap_or(of.process.0) == rank
        }
    };
    let pe_of = |name: PeName| trace.cpu_pes().find(|pe| is_called(*pe, name)).ok_or(Refusal::NoPe);
    match change {
        Change::Balance(place) => {
            let shares = sharing::balanced(source, effects, &places::within(trace, &find(place)?))?;
            effects.shares.extend(shares);
        }
        Change::Spread(place) => {
            let shares = sharing::spread(source, effects, &places::within(trace, &find(place)?))?;
            effects.shares.push(shares);
        }
        Change::Scale(place, factor) => effects.scale_paths(&places::within(trace, &find(place)?), *factor),
        Change::ScalePe(pe, factor) => effects.scale_pe(pe_of(*pe)?, *factor),
        Change::ScaleCpu(speed) => trace.cpu_pes().for_each(|pe| effects.scale_pe(pe, 1.0 / speed)),
        Change::Remove(place) => {
            let found = find(place)?;
            let operation = || trace.paths().ids().find(|path| found[path.index()] && source.operating[*path]);
            let needed = |why| operation().map_or(why, Refusal::Needed);
            let at = operations(trace, &found).map_err(needed)?;
            removable(source, &at)?;
            effects.treat(&at, Treatment::Goes);
        }
        Change::Nonblocking(place) => {
            let at = deferrable(source, operations(trace, &find(place)?)?)?;
            effects.treat(&at, Treatment::Starts);
        }
        Change::DelayWait(place, other) => {
            let at = deferrable(source, operations(trace, &find(place)?)?)?;
            let delays = delays(source, &at, &find(other)?)?;
            for (known, more) in effects.delays.iter_mut().zip(delays) {
                known.extend(more);
                known.sort_unstable();
                known.dedup_by_key(|delay| delay.0);
            }
        }
        Change::PointToPoint(place) => {
            let at = barriers(source, operations(trace, &find(place)?)?)?;
            effects.pairs.iter_mut().zip(at).for_each(|(is, more)| *is |= more);
        }
        Change::Split(place, count) => {
            let at = with_partners(source, carriers(trace, operations(trace, &find(place)?)?)?);
            effects.pieces.iter_mut().zip(at).filter(|(_, at)| *at).for_each(|(pieces, _)| *pieces = *count);
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
            effects.shares.push(sharing::dedicated(source, effects, pe_of(*pe)?)?);
            effects.has_dedicated = true;
        }
        Change::Nodes(count) => {
            let ranks = ranks(trace);
            let (nodes, all) = (u64::from(*count), ranks.len() as u64);
            let of_rank = (0..all).map(|rank| (rank * nodes.min(all) / all) as u32).collect();
            effects.nodes = Some(placed(source, costs, &ranks, of_rank)?);
        }
        Change::Map { nodes: None, .. } => return Err(Refusal::NotRead),
        Change::Map { nodes: Some(nodes), .. } => {
            let ranks = ranks(trace);
            if nodes.len() < ranks.len() {
                return Err(Refusal::FewNodes { named: nodes.len(), processes: ranks.len() });
            }
            let mut numbers = BTreeMap::new();
            let mut number = |node| {
                let next = numbers.len() as u32;
                *numbers.entry(node).or_insert(next)
            };
            let of_rank = nodes.iter().take(ranks.len()).map(&mut number).collect();
            effects.nodes = Some(placed(source, costs, &ranks, of_rank)?);
        }
        Change::Pes(_) => return Err(Refusal::OneRun),
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
    if called.contains(&true) { Ok(called) } else { Err(Refusal::NoOperation(Wanted::Operation)) }
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

/// Those of them that do not get a message that makes a method run: that begins next, and cannot before the message is there. What orders accesses to
/// memory of others, or keeps others out, does so no more if it is awaited later.
fn deferrable(source: &Source<'_>, mut at: Vec<bool>) -> Result<Vec<bool>, Refusal> {
    let trace = source.trace;
    excludes(trace, &at)?;
    let mut epochs = at.clone();
    for path in trace.paths().ids() {
        epochs[path.index()] &= trace.regions()[trace.paths().region(path)].role == Role::RmaGroupSync;
    }
    orders(source, &epochs)?;
    unseen(source, &at)?;
    for stream in trace.streams().iter().filter(|stream| !stream.executions.is_empty()) {
        let mut messages: Vec<u64> = stream.executions.iter().map(|row| row.message).collect();
        messages.sort_unstable();
        let runs = |row: &&Recv| row.matching != NO_MATCHING && messages.binary_search(&row.matching).is_ok();
        for row in stream.recvs.iter().filter(runs) {
            if let Some(path) = stream.visits.path.get(row.visit.index()) {
                at[path.index()] = false;
            }
        }
    }
    if at.contains(&true) { Ok(at) } else { Err(Refusal::NoOperation(Wanted::Operation)) }
}

/// Those of them that bring something from one PE to another, or wait for it.
fn carriers(trace: &Trace, mut at: Vec<bool>) -> Result<Vec<bool>, Refusal> {
    for path in trace.paths().ids() {
        let role = trace.regions()[trace.paths().region(path)].role;
        let is_pair = matches!(
            role,
            Role::Send | Role::Recv | Role::SendRecv | Role::CommSync | Role::WaitOnValue | Role::Put | Role::Get
        );
        at[path.index()] &= is_pair || role.is_collective() && role.activity() == Activity::Communication;
    }
    if at.contains(&true) { Ok(at) } else { Err(Refusal::NoOperation(Wanted::Transfer)) }
}

/// Those of them that are collectives.
fn collectives(trace: &Trace, mut at: Vec<bool>) -> Result<Vec<bool>, Refusal> {
    for path in trace.paths().ids() {
        at[path.index()] &= trace.regions()[trace.paths().region(path)].role.is_collective();
    }
    if at.contains(&true) { Ok(at) } else { Err(Refusal::NoOperation(Wanted::Collective)) }
}

/// Which operations on some call paths are done later, by PE, and after when: where the next visit of other paths ends before there is another
/// one. What it received may be in what a PE gives to others, so it gives nothing meanwhile.
fn delays(source: &Source<'_>, at: &[bool], past: &[bool]) -> Result<Vec<Vec<(VisitIx, Time)>>, Refusal> {
    let trace = source.trace;
    let is_outermost = |path: CallPathId| trace.paths().parent(path).some().is_none_or(|parent| !past[parent.index()]);
    let mut blocked = (0, CallPathId::NONE);
    let mut of_pe = |pe: PeId| -> Vec<(VisitIx, Time)> {
        let stream = &trace.streams()[pe];
        let visits = &stream.visits;
        let ends: Vec<Time> = visits
            .path
            .iter()
            .zip(&visits.exit)
            .filter(|(path, _)| past[path.index()] && is_outermost(**path))
            .map(|(_, exit)| *exit)
            .collect();
        let gives: Vec<_> =
            source.ends[pe].iter().filter(|end| end.part != Part::Takes && source.post(end.tie).is_none()).collect();
        let waits: Vec<VisitIx> =
            stream.operations.iter().filter(|visit| at[visits.path[visit.index()].index()]).copied().collect();
        let mut delays = Vec::new();
        for (position, wait) in waits.iter().enumerate() {
            let exit = visits.exit[wait.index()];
            let Some(end) = ends.get(ends.partition_point(|end| *end < exit)).copied() else { break };
            let next = waits.get(position + 1).map_or(Time::MAX, |next| visits.enter[next.index()]);
            if end > next {
                continue;
            }
            match gives.get(gives.partition_point(|give| give.time < exit)).filter(|give| give.time < end) {
                None => delays.push((*wait, end)),
                Some(give) => {
                    let path = visits.path.get(give.visit.index()).copied().unwrap_or(CallPathId::NONE);
                    blocked = (blocked.0 + 1, if blocked.0 == 0 { path } else { blocked.1 });
                }
            }
        }
        delays
    };
    let delays: Vec<Vec<(VisitIx, Time)>> = trace.pes().ids().map(&mut of_pe).collect();
    match blocked {
        _ if delays.iter().any(|of_pe| !of_pe.is_empty()) => Ok(delays),
        (0, _) => Err(Refusal::NeverFollows),
        (waits, path) => Err(Refusal::GivesMeanwhile { waits, path }),
    }
}

/// Those of the paths that synchronise all, and move nothing; none of them threads of one process.
fn barriers(source: &Source<'_>, mut at: Vec<bool>) -> Result<Vec<bool>, Refusal> {
    let trace = source.trace;
    for path in trace.paths().ids() {
        let role = trace.regions()[trace.paths().region(path)].role;
        at[path.index()] &= matches!(role, Role::GroupSync | Role::RmaGroupSync);
    }
    if !at.contains(&true) {
        return Err(Refusal::NoOperation(Wanted::Barrier));
    }
    let meets = |pe: &PeId| {
        let stream = &trace.streams()[*pe];
        stream.operations.iter().any(|visit| at[stream.visits.path[visit.index()].index()])
    };
    let mut processes: Vec<_> = trace.cpu_pes().filter(meets).map(|pe| trace.pes()[pe].process).collect();
    let all = processes.len();
    processes.sort_unstable();
    processes.dedup();
    if processes.len() < all {
        return Err(Refusal::SharesMemory);
    }
    unseen(source, &at)?;
    Ok(at)
}

/// Processes in the order of their ranks.
fn ranks(trace: &Trace) -> Vec<ProcessId> {
    let mut ranks: Vec<ProcessId> = trace.cpu_pes().map(|pe| trace.pes()[pe].process).collect();
    ranks.sort_by_key(|process| (trace.processes().get(*process).and_then(|it| it.rank), *process));
    ranks.dedup();
    ranks
}

/// The node of each PE, with each process on the node of its rank, if what messages take there is known.
fn placed(
    source: &Source<'_>,
    costs: &Costs,
    ranks: &[ProcessId],
    of_rank: Vec<u32>,
) -> Result<Table<PeId, u32>, Refusal> {
    let of_process: BTreeMap<ProcessId, u32> = ranks.iter().copied().zip(of_rank.iter().copied()).collect();
    let pes = source.trace.pes();
    let nodes: Table<PeId, u32> =
        pes.iter().map(|pe| of_process.get(&pe.process).copied().unwrap_or(u32::MAX)).collect();
    let mut distinct = of_rank;
    distinct.sort_unstable();
    distinct.dedup();
    let needs = [distinct.len() < ranks.len(), distinct.len() > 1];
    match [false, true].into_iter().find(|remote| needs[usize::from(*remote)] && !costs.knows(*remote)) {
        Some(remote) => Err(Refusal::UnknownLink { remote }),
        None => Ok(nodes),
    }
}

/// Whether the program does the same without some operations.
fn removable(source: &Source<'_>, at: &[bool]) -> Result<(), Refusal> {
    let trace = source.trace;
    let role = |path: CallPathId| trace.regions()[trace.paths().region(path)].role;
    let only_meets =
        |role: Role| matches!(role, Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::CommSync);
    excludes(trace, at)?;
    if let Some(path) = trace.paths().ids().find(|path| at[path.index()] && !only_meets(role(*path))) {
        let moves = role(path).activity() == Activity::Communication;
        return Err(if moves { Refusal::MovesData(path) } else { Refusal::Needed(path) });
    }
    orders(source, at)?;
    unseen(source, at)
}

/// None of them keeps apart what those that meet there do in memory that they share, or in files.
fn unseen(source: &Source<'_>, at: &[bool]) -> Result<(), Refusal> {
    let trace = source.trace;
    let meets = |path: CallPathId| {
        let role = trace.regions()[trace.paths().region(path)].role;
        at[path.index()] && matches!(role, Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::RmaGroupSync)
    };
    let shares = shares_unseen(trace);
    // By file: who writes it and who reads it, the first of each and another one.
    let mut files: BTreeMap<FileId, [Vec<PeId>; 2]> = BTreeMap::new();
    for (pe, stream) in trace.streams().iter_ids() {
        if !stream.operations.iter().any(|visit| meets(stream.visits.path[visit.index()])) {
            continue;
        }
        if shares[pe] {
            return Err(Refusal::SharesMemory);
        }
        for row in &stream.io {
            let side = match row.kind {
                IoKind::Write => 0,
                IoKind::Read => 1,
                IoKind::Flush => continue,
            };
            let known = &mut files.entry(row.file).or_default()[side];
            if known.len() < 2 && !known.contains(&pe) {
                known.push(pe);
            }
        }
    }
    let is_shared =
        |[writers, readers]: &[Vec<PeId>; 2]| writers.iter().any(|it| readers.iter().any(|other| it != other));
    let shared = files.into_iter().find(|(file, sides)| file.is_some() && is_shared(sides));
    shared.map_or(Ok(()), |(file, _)| Err(Refusal::SharesFile(file)))
}

/// None of them is of a lock, or takes turns as with one: `ordered`, or something of which signs are given only by those that wait for it too, such as a semaphore
/// that whoever got it gives back.
fn excludes(trace: &Trace, at: &[bool]) -> Result<(), Refusal> {
    let mut takes_turns: Table<CallPathId, bool> = Table::filled(trace.paths().len(), false);
    // By object: who gave signs of it, and who waited for it, where.
    let mut givers: BTreeMap<(WindowId, u64), BTreeSet<PeId>> = BTreeMap::new();
    let mut waiters: BTreeMap<(WindowId, u64), BTreeSet<(PeId, CallPathId)>> = BTreeMap::new();
    for (pe, stream) in trace.streams().iter_ids() {
        let path = |visit: VisitIx| stream.visits.path.get(visit.index()).copied();
        stream.locks.iter().filter_map(|row| path(row.visit)).for_each(|path| takes_turns[path] = true);
        for row in &stream.rma_syncs {
            let Some(object) = row.address.map(|address| (row.window, address)) else { continue };
            if row.kind == RmaSyncKind::NotifyOut && !row.target.is_some() {
                givers.entry(object).or_default().insert(pe);
            } else if row.kind == RmaSyncKind::WaitChange {
                waiters.entry(object).or_default().extend(path(row.visit).map(|path| (pe, path)));
            }
        }
    }
    for (object, givers) in givers {
        let waiters = waiters.remove(&object).unwrap_or_default();
        if givers.iter().all(|pe| waiters.iter().any(|(waiter, _)| waiter == pe)) {
            waiters.iter().for_each(|(_, path)| takes_turns[*path] = true);
        }
    }
    let is_lock = |path: &CallPathId| {
        let role = trace.regions()[trace.paths().region(*path)].role;
        let takes_turns = takes_turns[*path] && role == Role::WaitOnValue;
        at[path.index()] && (takes_turns || matches!(role, Role::LockAcquire | Role::LockRelease))
    };
    trace.paths().ids().find(is_lock).map_or(Ok(()), |path| Err(Refusal::Excludes(path)))
}

/// None of them orders accesses to memory of other PEs.
fn orders(source: &Source<'_>, at: &[bool]) -> Result<(), Refusal> {
    let trace = source.trace;
    let mut found = None;
    let mut count = 0;
    for pe in trace.streams().ids() {
        let visits = &trace.streams()[pe].visits;
        for (_, after, transfer) in accesses(source, pe, at) {
            if after.is_some_and(|sync| at[visits.path[sync.index()].index()]) {
                count += 1;
                let path = visits.path.get(transfer.visit.index()).copied().unwrap_or(CallPathId::NONE);
                found.get_or_insert((path, pe, transfer.target));
            }
        }
    }
    match found {
        Some((path, origin, target)) => Err(Refusal::Orders { accesses: count, path, origin, target }),
        None => Ok(()),
    }
}
