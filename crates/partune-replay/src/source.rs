//! What programs are made from: the ends of ties by PE, once for all changes.

use std::sync::{Arc, OnceLock};

use partune_base::{CallPathId, Id, PeId, Span, Table, Time};
use partune_index::{End, Index, Instance, Member, Part, Place, TieKind, Ties};
use partune_trace::{Completion, NO_REQUEST, Role, Trace, VisitIx};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::builder::Builder;
use crate::classes::{Classes, Met, RECORDED};
use crate::effects::{Effects, Moment};
use crate::locks::{self, Hold};
use crate::program::{Program, What};
use crate::rewrite;
use crate::sweep::{Doing, operating, sweep};

/// What the parts of a program are made from; the same for all changes.
pub(crate) struct Source<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) index: &'a Index,
    pub(crate) operating: Table<CallPathId, bool>,
    /// Ends of ties by PE, with those of sends that wait for their receive.
    pub(crate) ends: Table<PeId, Vec<End>>,
    /// When each tie had its latest gift.
    pub(crate) gifts: Vec<Time>,
    /// When the first of those that take at each tie did, once that is asked for.
    taken: OnceLock<Vec<Time>>,
    /// The last ties let sends wait for their receive: bytes of the message of each.
    pub(crate) posts: Vec<u64>,
    /// The first tie of a lock, and what it and those after it hold.
    pub(crate) locks: (u32, Vec<Option<Hold>>),
    /// When each PE held some lock alone, in order; these do not touch.
    pub(crate) held: Table<PeId, Vec<(Time, Time)>>,
    /// By the number of their names.
    pub(crate) nodes: Table<PeId, u32>,
    /// When each PE's start-up ended and its shut-down began.
    pub(crate) windows: Table<PeId, (Time, Time)>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(trace: &'a Trace, index: &'a Index, windows: Table<PeId, (Time, Time)>) -> Source<'a> {
        let ties = Ties::build(trace, index);
        let pes: Vec<PeId> = trace.pes().ids().collect();
        let replayed = |end: &End| {
            !matches!(ties.kind(end.tie), TieKind::Rendezvous | TieKind::Lock) && !is_start_up(index, &ties, end.tie)
        };
        let ends: Vec<Vec<End>> = pes
            .par_iter()
            .map(|pe| {
                ties.of_pe(trace, index, *pe)
                    .into_iter()
                    .filter(replayed)
                    .map(|end| awaited(trace, index, *pe, end))
                    .collect()
            })
            .collect();
        let mut ends: Table<PeId, Vec<End>> = ends.into();
        let mut gifts: Vec<Time> =
            (0..ties.len() as u32).into_par_iter().map(|tie| ties.gift(trace, index, tie).time).collect();
        let first_lock = gifts.len() as u32;
        let moved = |pe, end| awaited(trace, index, pe, end);
        let locks = (first_lock, locks::ties(trace, index, &mut ends, &mut gifts, moved));
        kept_by_reductions(trace, index, &mut ends, &mut gifts);
        let posts = posts(trace, index, &mut ends, &mut gifts);
        ends.as_mut_slice().par_iter_mut().for_each(|ends| ends.sort_by_key(|end| (end.time, end.visit, end.part)));
        // A thread that ended before the shut-down of its process was over then.
        let mut windows = windows;
        for (window, stream) in windows.iter_mut().zip(trace.streams()) {
            window.1 = stream.end().map_or(window.1, |end| window.1.min(end));
        }
        let node =
            |process| trace.processes().get(process).map_or(0, |process: &partune_trace::Process| process.node.0);
        let nodes = trace.pes().iter().map(|pe| node(pe.process)).collect();
        Source {
            trace,
            index,
            operating: operating(trace),
            ends,
            gifts,
            taken: OnceLock::new(),
            posts,
            locks,
            held: locks::held(trace, index),
            nodes,
            windows,
        }
    }

    /// The run as it was, and the classes of its operations. Linear in visits and ends.
    pub(crate) fn recorded(&self) -> (Program, Classes) {
        let none = Effects::none(self.trace);
        let pes: Vec<PeId> = self.trace.pes().ids().collect();
        let parts: Vec<_> =
            pes.par_iter().map(|pe| self.swept(Builder::new(self, *pe, &none).classifying()).finish()).collect();
        let (mut steps, mut operations, mut found) = (Table::new(), Vec::new(), Vec::new());
        for (its_steps, its_operations, its_classes) in parts {
            steps.push(Arc::new(its_steps));
            operations.push(its_operations);
            found.push(its_classes);
        }
        let (classes, numbers) = Classes::new(&found);
        for (operations, numbers) in operations.iter_mut().zip(numbers) {
            for operation in operations.iter_mut().filter(|operation| operation.class != RECORDED) {
                operation.class = numbers[operation.class as usize];
            }
        }
        let operations = operations.into_iter().map(Arc::new).collect();
        let mut program = Program { steps, operations, givers: Vec::new() };
        self.count_givers(&mut program);
        (program, classes)
    }

    /// The run under some effects. Linear in visits and ends of the PEs that have any.
    pub(crate) fn program(&self, effects: &Effects, recorded: &Program) -> Program {
        let changed: Vec<PeId> = self.trace.pes().ids().filter(|pe| effects.change(*pe)).collect();
        let made: Vec<_> = changed
            .par_iter()
            .map(|pe| {
                let known = &recorded.operations[*pe];
                let (steps, operations, _) = self.swept(Builder::new(self, *pe, effects).knowing(known)).finish();
                (Arc::new(steps), Arc::new(operations))
            })
            .collect();
        let mut program = recorded.clone();
        for (pe, (steps, operations)) in changed.iter().zip(made) {
            (program.steps[*pe], program.operations[*pe]) = (steps, operations);
        }
        if effects.changes_ties() {
            self.count_givers(&mut program);
        }
        if let Some(nodes) = &effects.nodes {
            program.operations.as_mut_slice().par_iter_mut().enumerate().for_each(|(pe, operations)| {
                let pe = PeId::from_index(pe);
                let met = Met::new(self, pe, nodes);
                for operation in Arc::make_mut(operations) {
                    operation.remote = met.partners[operation.visit.index()].1;
                }
            });
        }
        if effects.pairs.contains(&true) {
            rewrite::signal(self, &mut program, &effects.pairs);
        }
        if effects.pieces.iter().any(|pieces| *pieces > 1) {
            rewrite::split(self, &mut program, &effects.pieces);
        }
        program
    }

    fn count_givers(&self, program: &mut Program) {
        program.givers = vec![0; self.gifts.len()];
        for step in program.steps.iter().flat_map(|steps| steps.iter()) {
            if let What::Gives(tie) = step.what {
                program.givers[tie as usize] += 1;
            }
        }
    }

    /// Work that the effects leave a PE on some call paths, by block.
    pub(crate) fn work(&self, pe: PeId, paths: &[bool], effects: &Effects) -> Vec<Vec<Moment>> {
        self.swept(Builder::new(self, pe, effects).counting(paths)).moments()
    }

    /// From the first begin to the last end of what is measured of each PE of a CPU.
    pub(crate) fn measured(&self, window: impl Fn(PeId) -> (Time, Time)) -> (Time, Time) {
        let windows: Vec<(Time, Time)> = self.trace.cpu_pes().map(window).collect();
        let begin = windows.iter().map(|window| window.0).min().unwrap_or_default();
        let end = windows.iter().map(|window| window.1).max().unwrap_or_default();
        (begin, end.max(begin))
    }

    /// How long that takes.
    pub(crate) fn span(&self, window: impl Fn(PeId) -> (Time, Time)) -> Span {
        let (begin, end) = self.measured(window);
        end.since(begin).clamp_positive()
    }

    /// When the first of those that take at each tie did: the end of time where nobody does. Linear in ends, once.
    pub(crate) fn taken(&self) -> &[Time] {
        self.taken.get_or_init(|| {
            let mut taken = vec![Time::MAX; self.gifts.len()];
            for end in self.ends.iter().flatten().filter(|end| end.part == Part::Takes) {
                let first = &mut taken[end.tie as usize];
                *first = end.time.min(*first);
            }
            taken
        })
    }

    /// Bytes of the message whose send waits at a tie for its receive, if it is such a tie.
    pub(crate) fn post(&self, tie: u32) -> Option<u64> {
        let first = self.gifts.len() - self.posts.len();
        self.posts.get((tie as usize).checked_sub(first)?).copied()
    }

    /// The lock that is held between both ends of a tie, if it is such a tie.
    pub(crate) fn lock(&self, tie: u32) -> Option<Hold> {
        let (first, of_tie) = &self.locks;
        of_tie.get(tie.checked_sub(*first)? as usize).copied().flatten()
    }

    /// Whether others begin what a PE does, so that it idles when it does nothing.
    pub(crate) fn is_called(&self, pe: PeId) -> bool {
        self.trace.pes()[pe].thread != 0 && self.ends[pe].iter().any(|end| end.part == Part::Begins)
    }

    fn swept<'b>(&self, mut builder: Builder<'b>) -> Builder<'b> {
        let pe = builder.pe();
        let outside = if self.is_called(pe) { Doing::Idle } else { Doing::Work(CallPathId::NONE) };
        sweep(&self.trace.streams()[pe], &self.operating, outside, &mut builder);
        builder
    }
}

/// Adds what ties members of a reduction to whoever comes last, where the library keeps them until then. Nothing in a reduction asks for that of any but the
/// root, so what the run shows decides, for each PE and call path: most that came long before the last one did not leave before it.
fn kept_by_reductions(trace: &Trace, index: &Index, ends: &mut Table<PeId, Vec<End>>, gifts: &mut Vec<Time>) {
    let is_call =
        |member: &Member| member.start == member.wait && member.wait.index() < trace.streams()[member.pe].visits.len();
    let meeting = |instance: &Instance| {
        let members = index.collectives.members(instance);
        let is_whole = instance.role == Role::AllToOne && instance.missing == 0 && members.iter().all(is_call);
        let last = members.iter().map(|member| member.enter).max()?;
        is_whole.then_some((members, instance.root, last))
    };
    let meetings: Vec<(&[Member], PeId, Time)> = index.collectives.instances.iter().filter_map(meeting).collect();
    let others = || {
        meetings.iter().flat_map(|(members, root, last)| {
            members.iter().filter(move |it| it.pe != *root).map(move |it| (it, *last))
        })
    };
    let path = |member: &Member| trace.visit(member.pe, member.wait).path;
    // What they take where nobody keeps them.
    let mut shortest: FxHashMap<CallPathId, i64> = FxHashMap::default();
    for (member, _) in others() {
        let known = shortest.entry(path(member)).or_insert(i64::MAX);
        *known = (*known).min(member.exit.since(member.enter).0);
    }
    let mut counts: FxHashMap<(PeId, CallPathId), (u64, u64)> = FxHashMap::default();
    for (member, last) in others().filter(|(it, last)| last.since(it.enter).0 > shortest[&path(it)].saturating_mul(2)) {
        let (late, kept) = counts.entry((member.pe, path(member))).or_default();
        (*late, *kept) = (*late + 1, *kept + u64::from(member.exit >= last));
    }
    let is_kept = |it: &Member| counts.get(&(it.pe, path(it))).is_some_and(|(late, kept)| 2 * kept >= *late);
    for (members, root, last) in &meetings {
        let mut kept = members.iter().filter(|it| it.pe != *root && is_kept(it)).peekable();
        if kept.peek().is_none() {
            continue;
        }
        let tie = gifts.len() as u32;
        gifts.push(*last);
        let all = members.iter().map(|it| (it, Part::Gives)).chain(kept.map(|it| (it, Part::Takes)));
        all.for_each(|(it, part)| ends[it.pe].push(End { time: it.enter, visit: it.wait, tie, part }));
    }
}

/// Start-up is where the run begins: it takes what it took.
fn is_start_up(index: &Index, ties: &Ties, tie: u32) -> bool {
    let instance = ties.instance(tie).and_then(|instance| index.collectives.instances.get(instance as usize));
    instance.is_some_and(|instance| instance.role == Role::Init)
}

/// What is looked for again and again is needed by the operation that ends the search, a probe that blocks or whatever completes it; until then the PE
/// has its own code to run.
fn awaited(trace: &Trace, index: &Index, pe: PeId, end: End) -> End {
    let takes = matches!(end.part, Part::Takes | Part::PassesOn);
    let Some(polls) = takes.then(|| index.polls.from(trace, Place { pe, visit: end.visit })).flatten() else {
        return end;
    };
    let visits = &trace.streams()[pe].visits;
    let mut last = None;
    for visit in polls.filter(|visit| visit.index() < visits.len()) {
        last = Some(visit);
        if !trace.region_of(pe, visit).is_poll() {
            break;
        }
    }
    last.map_or(end, |last| End { time: visits.enter[last.index()].max(end.time), visit: last, ..end })
}

/// Sends of so many bytes and more wait for their receive: what the run shows. The least size from which on most sends whose receive
/// came late did not end before it. One that took less than twice as long as those whose receive was there says nothing: that is its own time.
fn eager_limit(trace: &Trace, index: &Index) -> u64 {
    let sends = || {
        index.messages.iter().filter_map(|message| {
            let send = &trace.streams()[message.sender].sends[message.send as usize];
            let visit = trace.visit(message.sender, sending(trace, message)?);
            Some((64 - send.bytes.leading_zeros() as usize, visit, message.recv_posted))
        })
    };
    let mut own = [(0_i64, 0_i64); 65];
    for (size, visit, _) in sends().filter(|(_, visit, posted)| *posted <= visit.enter) {
        own[size].0 += 1;
        own[size].1 = own[size].1.saturating_add(visit.exit.since(visit.enter).0);
    }
    let mut late = [(0_u64, 0_u64); 65];
    for (size, visit, posted) in sends().filter(|(_, visit, posted)| *posted > visit.enter) {
        let usual = own[size].1 / own[size].0.max(1);
        let waited = visit.exit >= posted;
        if !waited || visit.exit.since(visit.enter).0 > usual.saturating_mul(2) {
            late[size].0 += 1;
            late[size].1 += u64::from(waited);
        }
    }
    let waits = |size: &(u64, u64)| 2 * size.1 >= size.0;
    let first = (0..late.len()).rev().take_while(|size| waits(&late[*size])).filter(|size| late[*size].0 > 0).last();
    first.map_or(u64::MAX, |size| if size == 0 { 0 } else { 1 << (size - 1) })
}

/// The operation that a send cannot leave before its receive is posted, if it waits for that: the send, or what completes it.
fn sending(trace: &Trace, message: &partune_index::Message) -> Option<VisitIx> {
    let send = &trace.streams()[message.sender].sends[message.send as usize];
    let completion = trace.region_of(message.sender, send.visit.some()?).completion;
    let visit = match completion {
        Completion::Blocking if send.request == NO_REQUEST => send.visit,
        Completion::NonBlocking | Completion::Persistent | Completion::Blocking => message.send_completion,
        // Others wait always, by ties of their own, or never.
        Completion::Synchronous | Completion::Buffered => return None,
    };
    visit.some().filter(|visit| visit.index() < trace.streams()[message.sender].visits.len())
}

/// Adds what ties long sends to their receives, whoever came first in the run.
fn posts(trace: &Trace, index: &Index, ends: &mut Table<PeId, Vec<End>>, gifts: &mut Vec<Time>) -> Vec<u64> {
    let mut posts = Vec::new();
    let limit = eager_limit(trace, index);
    for message in &index.messages {
        let send = &trace.streams()[message.sender].sends[message.send as usize];
        if send.bytes < limit || message.sender == message.receiver {
            continue;
        }
        let (Some(waits), Some(posted)) = (sending(trace, message), message.recv_post.some()) else { continue };
        let tie = gifts.len() as u32;
        gifts.push(message.recv_posted);
        posts.push(send.bytes);
        let enter = trace.streams()[message.receiver].visits.enter.get(posted.index()).copied();
        let time = enter.unwrap_or(message.recv_posted);
        ends[message.receiver].push(End { time, visit: posted, tie, part: Part::Gives });
        let time = trace.visit(message.sender, waits).enter;
        ends[message.sender].push(End { time, visit: waits, tie, part: Part::Takes });
    }
    posts
}
