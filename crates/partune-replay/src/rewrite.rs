//! Programs made otherwise: barriers as signals between pairs of PEs, and messages in pieces.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use partune_base::{CallPathId, Id, PeId, Time};
use partune_trace::{RmaTransferKind, VisitIx};

use crate::classes::RECORDED;
use crate::effects::Treatment;
use crate::program::{Operation, Program, Step, What};
use crate::source::Source;

/// Accesses of a PE to memory of others, each with the operations before and after it that synchronise with all: collectives, and those on the call
/// paths that `orders` names.
pub(crate) fn accesses<'a>(
    source: &'a Source<'_>,
    pe: PeId,
    orders: &[bool],
) -> impl Iterator<Item = (Option<VisitIx>, Option<VisitIx>, &'a partune_trace::RmaTransfer)> + use<'a> {
    let trace = source.trace;
    let stream = &trace.streams()[pe];
    let synchronises =
        |path: CallPathId| trace.regions()[trace.paths().region(path)].role.is_collective() || orders[path.index()];
    let all = if stream.transfers.is_empty() { &[][..] } else { &stream.operations[..] };
    let syncs: Vec<VisitIx> =
        all.iter().filter(|visit| synchronises(stream.visits.path[visit.index()])).copied().collect();
    let orders_it = move |kind| kind != RmaTransferKind::Atomic;
    stream.transfers.iter().filter(move |it| it.target != pe && orders_it(it.kind)).map(move |transfer| {
        let next = syncs.partition_point(|sync| stream.visits.enter[sync.index()] < transfer.time);
        (next.checked_sub(1).map(|before| syncs[before]), syncs.get(next).copied(), transfer)
    })
}

/// A barrier that a PE takes part in.
struct Site {
    tie: u32,
    /// PEs whose memory it accessed since the synchronisation before it, and those whose memory it accesses until the next one.
    before: BTreeSet<PeId>,
    after: BTreeSet<PeId>,
}

/// Barriers on some call paths become signals. Who accessed memory of a PE in the block before tells this PE, and then each PE tells those that
/// access its memory in the block after. Linear in steps and accesses.
pub(crate) fn signal(source: &Source<'_>, program: &mut Program, pairs: &[bool]) {
    let sites: Vec<BTreeMap<u32, Site>> =
        source.trace.pes().ids().map(|pe| sites(source, program, pairs, pe)).collect();
    let met: Vec<BTreeSet<u32>> = sites.iter().map(|of_pe| of_pe.values().map(|site| site.tie).collect()).collect();
    // Signals by barrier, from and to: first those of the block before, then those of the block after.
    let mut signals: [BTreeMap<(u32, PeId, PeId), u32>; 2] = Default::default();
    for (pe, of_pe) in sites.iter().enumerate() {
        let pe = PeId::from_index(pe);
        let takes_part = |other: &PeId, tie| met.get(other.index()).is_some_and(|of_pe| of_pe.contains(&tie));
        for site in of_pe.values() {
            let before = site.before.iter().map(|other| (0, pe, *other));
            let after = site.after.iter().map(|other| (1, *other, pe));
            for (round, from, to) in before.chain(after) {
                if takes_part(if round == 0 { &to } else { &from }, site.tie) {
                    let tie = program.givers.len() as u32;
                    if *signals[round].entry((site.tie, from, to)).or_insert(tie) == tie {
                        program.givers.push(1);
                    }
                }
            }
        }
    }
    let mut of_pe: Vec<BTreeMap<u32, [[Vec<u32>; 2]; 2]>> = vec![BTreeMap::new(); sites.len()];
    for (round, signals) in signals.iter().enumerate() {
        for ((barrier, from, to), tie) in signals {
            of_pe[from.index()].entry(*barrier).or_default()[round][0].push(*tie);
            of_pe[to.index()].entry(*barrier).or_default()[round][1].push(*tie);
        }
    }
    for (at, sites) in sites.iter().enumerate().filter(|(_, sites)| !sites.is_empty()) {
        let pe = PeId::from_index(at);
        let operations = Arc::make_mut(&mut program.operations[pe]);
        let steps = Arc::unwrap_or_clone(std::mem::take(&mut program.steps[pe]));
        let mut out: Vec<Step> = Vec::with_capacity(steps.len());
        let mut carried = 0;
        let mut site: Option<&Site> = None;
        for step in steps {
            let step = Step { work: step.work + std::mem::take(&mut carried), ..step };
            let none = Step { work: 0, ..step };
            let of = |site: Option<&Site>| site.and_then(|site| of_pe[at].get(&site.tie)).cloned().unwrap_or_default();
            let exchange = |out: &mut Vec<Step>, [gives, takes]: [Vec<u32>; 2]| {
                out.extend(gives.into_iter().map(|tie| Step { what: What::Gives(tie), ..none }));
                out.extend(takes.into_iter().map(|tie| Step { what: What::Takes(tie), ..none }));
            };
            match (step.what, site) {
                (What::Enters(number), None) if sites.contains_key(&number) => {
                    site = sites.get(&number);
                    let [first, _] = of(site);
                    operations[number as usize].treatment = Treatment::Signals(first[0].len() as u32);
                    out.push(step);
                    exchange(&mut out, first);
                }
                (What::Gives(tie) | What::Takes(tie), Some(site)) if site.tie == tie => carried = step.work,
                (What::Leaves(number), Some(_)) if sites.contains_key(&number) => {
                    let [_, second] = of(site.take());
                    out.push(step);
                    if second != [Vec::new(), Vec::new()] {
                        let treatment = Treatment::Signals(second[0].len() as u32);
                        let again = operations.len() as u32;
                        operations.push(Operation { treatment, ..operations[number as usize] });
                        out.push(Step { what: What::Enters(again), ..none });
                        exchange(&mut out, second);
                        out.push(Step { what: What::Leaves(again), ..none });
                    }
                }
                _ => out.push(step),
            }
        }
        program.steps[pe] = Arc::new(out);
    }
    // These give no longer.
    for site in sites.iter().flat_map(BTreeMap::values) {
        let givers = &mut program.givers[site.tie as usize];
        *givers = givers.saturating_sub(1);
    }
}

/// The barriers of a PE that become signals, by the numbers of their operations.
fn sites(source: &Source<'_>, program: &Program, pairs: &[bool], pe: PeId) -> BTreeMap<u32, Site> {
    let visits = &source.trace.streams()[pe].visits;
    let operations = &program.operations[pe];
    let mut sites = BTreeMap::new();
    let mut of_visit = BTreeMap::new();
    let mut open = None;
    for step in program.steps[pe].iter() {
        match (step.what, open) {
            (What::Enters(number), None) => {
                let operation = &operations[number as usize];
                let is = pairs[visits.path[operation.visit.index()].index()] && operation.treatment == Treatment::Stays;
                open = is.then_some(number);
            }
            (What::Takes(tie), Some(number)) => {
                sites.insert(number, Site { tie, before: BTreeSet::new(), after: BTreeSet::new() });
                of_visit.insert(operations[number as usize].visit, number);
            }
            (What::Leaves(number), Some(known)) if number == known => open = None,
            _ => {}
        }
    }
    if !sites.is_empty() {
        for (before, after, transfer) in accesses(source, pe, pairs) {
            // What it accessed until the barrier; what it accesses from it on.
            let number = |visit: Option<VisitIx>| of_visit.get(&visit?);
            if let Some(site) = number(after).and_then(|number| sites.get_mut(number)) {
                site.before.insert(transfer.target);
            }
            if let Some(site) = number(before).and_then(|number| sites.get_mut(number)) {
                site.after.insert(transfer.target);
            }
        }
    }
    sites
}

/// An operation among the steps of a PE.
struct Spot {
    enter: usize,
    leave: usize,
    /// How many pieces it is done in; 1: as a whole.
    pieces: u32,
    takes: bool,
    gives: bool,
}

/// What is done piece by piece: operations that follow each other, from one that takes to one that gives, with the work between.
struct Group {
    enter: usize,
    leave: usize,
    pieces: u32,
    /// So is the work before it, for it makes what is sent; and the work after it, for it uses what was received.
    head: bool,
    tail: bool,
}

/// Work between two operations that is less than this share of what usually lies there makes them no two groups.
const SHORT: f64 = 0.1;

/// Messages of some call paths are sent in pieces, and the work around is done in as many. `pieces`: by path. Linear in steps, and in pieces of those
/// that are split.
pub(crate) fn split(source: &Source<'_>, program: &mut Program, pieces: &[u32]) {
    let count = |pe: PeId, operation: &Operation| {
        let path = source.trace.streams()[pe].visits.path[operation.visit.index()];
        if operation.class == RECORDED || operation.treatment != Treatment::Stays { 1 } else { pieces[path.index()] }
    };
    // How many pieces each tie has: the number of all its ends, if that is one; 0: it has none.
    let mut of_tie = vec![0_u32; program.givers.len()];
    for (pe, steps) in program.steps.iter_ids() {
        let mut open = Vec::new();
        for step in steps.iter() {
            match step.what {
                What::Enters(number) => open.push(count(pe, &program.operations[pe][number as usize])),
                What::Leaves(_) => drop(open.pop()),
                What::Gives(tie) | What::Takes(tie) | What::Begins(tie) => {
                    let here = open.last().copied().unwrap_or(1);
                    let known = &mut of_tie[tie as usize];
                    *known = if *known == 0 || *known == here { here } else { 1 };
                }
                What::Completes | What::Goes => {}
            }
        }
    }
    // All pieces but the last have ties of their own.
    let mut firsts = vec![0_u32; of_tie.len()];
    for (tie, count) in of_tie.iter().enumerate().filter(|(_, count)| **count > 1) {
        firsts[tie] = program.givers.len() as u32;
        program.givers.extend(std::iter::repeat_n(program.givers[tie], *count as usize - 1));
    }
    let tie_of = |tie: u32, piece: u32, pieces: u32, gives: bool| match of_tie[tie as usize] {
        count if count > 1 && piece + 1 < count => Some(firsts[tie as usize] + piece),
        count if count > 1 => Some(tie),
        // Who takes it takes all; who gives it has all to give only at the end.
        _ => (if gives { piece + 1 == pieces } else { piece == 0 }).then_some(tie),
    };
    for pe in source.trace.pes().ids() {
        let spots = spots(source, &program.steps[pe], |number| count(pe, &program.operations[pe][number as usize]));
        let groups = groups(&program.steps[pe], &spots);
        if groups.is_empty() {
            continue;
        }
        let mut steps = Arc::unwrap_or_clone(std::mem::take(&mut program.steps[pe]));
        let operations = Arc::make_mut(&mut program.operations[pe]);
        let mut out: Vec<Step> = Vec::with_capacity(steps.len());
        let mut next = 0;
        for group in &groups {
            out.extend_from_slice(&steps[next..group.enter]);
            next = group.leave + 1;
            let after = if group.tail { steps.get(next).copied() } else { None };
            let begin =
                out.last().map_or(Time::MIN, |last| Time(last.at.0.saturating_add(1))).min(steps[group.enter].at);
            for piece in 0..group.pieces {
                let is_last = piece + 1 == group.pieces;
                let at = |at: Time| if is_last { at } else { begin };
                let share = |work: i64| {
                    let until = |piece: u32| (i128::from(work) * i128::from(piece) / i128::from(group.pieces)) as i64;
                    until(piece + 1) - until(piece)
                };
                for (position, step) in (group.enter..).zip(&steps[group.enter..=group.leave]) {
                    let work = match position == group.enter && !group.head {
                        true if piece == 0 => step.work,
                        true => 0,
                        false => share(step.work),
                    };
                    let what = match step.what {
                        What::Gives(tie) => tie_of(tie, piece, group.pieces, true).map(What::Gives),
                        What::Takes(tie) => tie_of(tie, piece, group.pieces, false).map(What::Takes),
                        other => Some(other),
                    };
                    out.push(Step { at: at(step.at), work, what: what.unwrap_or(What::Goes) });
                }
                if let Some(after) = after {
                    out.push(Step { at: at(after.at), work: share(after.work), what: What::Goes });
                }
            }
            for step in &steps[group.enter..=group.leave] {
                if let What::Enters(number) = step.what {
                    let operation = &mut operations[number as usize];
                    if count(pe, operation) > 1 {
                        operation.treatment = Treatment::Piece(group.pieces);
                    }
                }
            }
            if after.is_some() {
                steps[next].work = 0;
            }
        }
        out.extend_from_slice(&steps[next..]);
        program.steps[pe] = Arc::new(out);
    }
}

/// The outermost operations of a PE. What it does with others outside of all is one, which stays whole.
fn spots(source: &Source<'_>, steps: &[Step], count: impl Fn(u32) -> u32) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    let mut depth = 0_u32;
    for (at, step) in steps.iter().enumerate() {
        match step.what {
            What::Enters(number) => {
                if depth == 0 {
                    spots.push(Spot { enter: at, leave: at, pieces: count(number), takes: false, gives: false });
                }
                depth += 1;
            }
            What::Leaves(_) => {
                depth = depth.saturating_sub(1);
                if let Some(spot) = spots.last_mut() {
                    spot.leave = at;
                }
            }
            What::Goes => {}
            _ if depth == 0 => spots.push(Spot { enter: at, leave: at, pieces: 1, takes: false, gives: false }),
            What::Gives(tie) | What::Takes(tie) if source.post(tie).is_none() => {
                if let Some(spot) = spots.last_mut() {
                    let takes = matches!(step.what, What::Takes(_));
                    spot.takes |= takes;
                    spot.gives |= !takes;
                }
            }
            _ => {}
        }
    }
    spots
}

fn groups(steps: &[Step], spots: &[Spot]) -> Vec<Group> {
    let split = || spots.iter().filter(|spot| spot.pieces > 1);
    let usual = split().map(|spot| steps[spot.enter].work as f64).sum::<f64>() / split().count().max(1) as f64;
    let is_long = |spot: &Spot| steps[spot.enter].work as f64 > SHORT * usual;
    let mut groups: Vec<Group> = Vec::new();
    // The last spot, if it is in the last group: whether that has given yet.
    let mut open: Option<bool> = None;
    for spot in spots {
        // Work that follows what only takes uses it, up to whatever comes next.
        let follows = |groups: &mut Vec<Group>| {
            if let Some(last) = groups.last_mut() {
                last.tail = last.leave + 1 == spot.enter;
            }
        };
        if spot.pieces == 1 {
            if open.take() == Some(false) {
                follows(&mut groups);
            }
            continue;
        }
        let others = groups.last().is_some_and(|it| it.pieces != spot.pieces);
        let ends = match open {
            None => true,
            Some(true) => spot.takes || is_long(spot) || others,
            Some(false) => !spot.gives && is_long(spot) || others,
        };
        match groups.last_mut() {
            Some(last) if !ends => last.leave = spot.leave,
            _ => {
                let uses = open == Some(false);
                if uses {
                    follows(&mut groups);
                }
                let head = spot.gives && !spot.takes && !uses;
                let (enter, leave, pieces) = (spot.enter, spot.leave, spot.pieces);
                groups.push(Group { enter, leave, pieces, head, tail: false });
            }
        }
        open = Some(spot.gives);
    }
    if open == Some(false)
        && let Some(last) = groups.last_mut()
    {
        last.tail = last.leave + 1 < steps.len();
    }
    groups
}
