//! Barriers in a row: the same PEs wait for each other twice, with nothing between that the first could order.
//!
//! For programs whose PEs do not access each other's memory in a way that is recorded. A barrier is redundant if all its members
//! come next to one and the same other barrier, or come from one that has more members, and between the two
//!
//! * members of several processes (messages): no PE of these processes communicates, synchronises or reads or writes files. What
//!   they compute is their own; barriers do not order it;
//! * threads of one process: nobody does anything but leave functions. Threads read and write the same memory, and nobody records where,
//!   so a barrier of threads is a *candidate* only.
//!
//! Of two with the same members the first is named: of an explicit barrier and the implicit one that ends the construct, it is
//! the one that can go.

use partune_base::{CallPathId, Id, PeId, Span, Time};
use partune_index::{Instance, Member};
use partune_trace::{Role, Trace, VisitIx};
use rayon::prelude::*;

use crate::Input;
use crate::barriers::is_inside;

/// Between two barriers of threads nobody did anything if no longer passed: leaving one and entering the next is recorded. Each function that ends
/// between them may take as long, which is recorded too.
const NOTHING_S: f64 = 1e-6;

/// A barrier that was looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adjacent<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) redundant: bool,
    /// Whether its members are threads of one process.
    pub(crate) threads: bool,
}

/// What one PE does before and after its part in barriers: position of the barrier, its operation, and what is next to it.
struct Own {
    rows: Vec<(u32, VisitIx, Neighbours)>,
    /// Enters of operations that barriers of processes order.
    ordered: Vec<Time>,
}

/// The barriers before and after one, with nothing between that it orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Neighbours {
    before: Option<u32>,
    after: Option<u32>,
}

/// All complete blocking barriers of which no member is among `actors`, whose accesses to others' memory are known, in order. Linear
/// in operations and members of collectives.
pub(crate) fn find<'a>(input: &Input<'a>, actors: &[bool]) -> Vec<Adjacent<'a>> {
    let trace = input.trace;
    let collectives = &input.index.collectives;
    let is_barrier = |instance: &Instance| {
        let members = collectives.members(instance);
        let plain = |member: &Member| !member.is_split() && !actors[member.pe.index()];
        let whole = instance.missing == 0 && members.len() > 1 && is_inside(input, instance);
        instance.role == Role::GroupSync && whole && members.iter().all(plain)
    };
    // For each PE: its parts in collectives, with the position of the instance if that is a barrier, and whether it is of threads.
    let mut parts: Vec<Vec<(VisitIx, u32, bool)>> = vec![Vec::new(); trace.pes().len()];
    for (number, instance) in collectives.instances.iter().enumerate() {
        let members = collectives.members(instance);
        let (threads, barrier) = (of_threads(trace, members), is_barrier(instance));
        for member in members.iter().filter(|_| threads || barrier) {
            let number = if barrier { number as u32 } else { u32::MAX };
            parts[member.pe.index()].push((member.wait, number, threads));
        }
    }
    let own: Vec<Own> = parts
        .into_par_iter()
        .enumerate()
        .map(|(pe, mut parts)| {
            parts.sort_unstable();
            own(input, PeId::from_index(pe), &parts)
        })
        .collect();
    let barriers = collectives.instances.iter().enumerate().filter(|(_, instance)| is_barrier(instance));
    let row = |(number, instance): (usize, &'a Instance)| {
        let members = collectives.members(instance);
        let redundant = covered(input, &own, number as u32, members);
        Adjacent { instance, redundant, threads: of_threads(trace, members) }
    };
    barriers.map(row).collect()
}

/// Whether another barrier of all members lies right behind, or one of more PEs right before.
fn covered(input: &Input<'_>, own: &[Own], number: u32, members: &[Member]) -> bool {
    let mut neighbours = members.iter().map(|member| {
        let rows = &own[member.pe.index()].rows;
        rows.binary_search_by_key(&number, |row| row.0).map_or(Neighbours::default(), |at| rows[at].2)
    });
    let Some(first) = neighbours.next() else { return false };
    let Neighbours { before, after } = neighbours.fold(first, |all, it| Neighbours {
        before: all.before.filter(|before| it.before == Some(*before)),
        after: all.after.filter(|after| it.after == Some(*after)),
    });
    let of = |number: u32| input.index.collectives.members(&input.index.collectives.instances[number as usize]);
    let behind = after.map(of).is_some_and(|next| silent(input, own, members, next));
    let ahead = before.map(of).filter(|last| last.len() > members.len());
    behind || ahead.is_some_and(|last| silent(input, own, last, members))
}

/// Whether other PEs of the members' processes did nothing that barriers order between two barriers; the members did not.
fn silent(input: &Input<'_>, own: &[Own], first: &[Member], second: &[Member]) -> bool {
    let trace = input.trace;
    let mut both = first.iter().filter_map(|a| {
        let b = second.binary_search_by_key(&a.pe, |member| member.pe).ok()?;
        Some((a, &second[b]))
    });
    both.all(|(a, b)| {
        let process = trace.processes().get(trace.pes()[a.pe].process);
        let others = process.map_or(&[][..], |process| &process.pes);
        others.iter().filter(|pe| **pe != a.pe && !of_threads(trace, first)).all(|pe| {
            let ordered = &own[pe.index()].ordered;
            let next = ordered.partition_point(|enter| *enter < a.exit);
            ordered.get(next).is_none_or(|enter| *enter >= b.enter)
        })
    })
}

fn own(input: &Input<'_>, pe: PeId, parts: &[(VisitIx, u32, bool)]) -> Own {
    let trace = input.trace;
    let stream = &trace.streams()[pe];
    let nothing = trace.clock().span(NOTHING_S);
    let mut rows: Vec<(u32, VisitIx, Neighbours)> = Vec::new();
    let mut ordered = Vec::new();
    // The last barrier of processes, if nothing was ordered since, and the last one of threads, if nothing was done since.
    let (mut of_processes, mut of_threads): (Option<usize>, Option<usize>) = (None, None);
    for operation in &stream.operations {
        let visit = stream.visits.at(*operation);
        let part = parts.binary_search_by_key(operation, |part| part.0).ok().map(|at| parts[at]);
        let (number, threads) = part.map_or((u32::MAX, false), |(_, number, threads)| (number, threads));
        let last = if threads { &mut of_threads } else { &mut of_processes };
        if number == u32::MAX {
            if !trace.role_of(pe, *operation).is_neutral() {
                of_threads = None;
                // What threads of one process do together is its own.
                if !threads {
                    of_processes = None;
                    ordered.push(visit.enter);
                }
            }
            continue;
        }
        let idle = |since: VisitIx| {
            let since_visit = stream.visits.at(since);
            let allowed = Span(nothing.0 * (1 + left_between(trace, since_visit.path, visit.path)));
            visit.enter.since(since_visit.exit) <= allowed
                && !is_in_code(trace, pe, (since, since_visit.exit), *operation)
        };
        let before = last.filter(|last| !threads || idle(rows[*last].1));
        if let Some(before) = before {
            rows[before].2.after = Some(number);
        }
        let before = before.map(|before| rows[before].0);
        *last = Some(rows.len());
        rows.push((number, *operation, Neighbours { before, after: None }));
        if !threads {
            of_threads = None;
            ordered.push(visit.enter);
        }
    }
    rows.sort_unstable_by_key(|row| row.0);
    Own { rows, ordered }
}

/// How many functions end between an operation and a later one, at least: those around the first that are not around the second.
fn left_between(trace: &Trace, first: CallPathId, second: CallPathId) -> i64 {
    let paths = trace.paths();
    let around = |path: CallPathId| paths.ancestors(path).skip(1);
    around(first).take_while(|path| !around(second).any(|other| other == *path)).count() as i64
}

/// Whether user code was entered (a function, a loop that threads share) after an operation had ended and before another began.
fn is_in_code(trace: &Trace, pe: PeId, (after, exit): (VisitIx, Time), before: VisitIx) -> bool {
    let visits = &trace.streams()[pe].visits;
    let between = (after.index() + 1..before.index()).map(|at| VisitIx(at as u32));
    between.filter(|visit| visits.enter[visit.index()] >= exit).any(|visit| trace.role_of(pe, visit).is_transparent())
}

/// Whether all members are of one process.
fn of_threads(trace: &Trace, members: &[Member]) -> bool {
    let process = |member: &Member| trace.pes()[member.pe].process;
    members.iter().all(|member| process(member) == process(&members[0]))
}
