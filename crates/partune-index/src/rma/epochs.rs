//! Access and exposure epochs of windows, and who let whom go on.
//!
//! A post opens an exposure epoch of a PE for a group, and a wait closes it; a start opens an access epoch to a group, and a
//! complete closes it. A PE has at most one epoch of each kind open in a window (MPI-4.1, section 12.5.2), so a close belongs to
//! the last open. The k-th exposure of a PE to another is for the k-th access of that one to it.
//!
//! | operation | goes on when | where |
//! |---|---|---|
//! | start | the last post of its group began | it had not come back by then |
//! | complete | the same | the start had come back, and the complete had not |
//! | an access | the post of its target began | the start had come back, and the access had not |
//! | wait | the last complete of its group began | |
//!
//! MPI lets a start come back before the posts, and an implementation may wait later or not at all; so it is the operation in
//! which the post came that waited for it. Tests in a row wait as one. What is not known of every partner of an epoch is not claimed.

use std::cmp::Reverse;

use partune_base::{GroupId, PeId, Time, WindowId};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{Completion, Members, RmaSyncKind, Role, Stream, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{EpochEnd, ValueWait};
use crate::Place;
use crate::requests::operation_enter;

/// Partners that epochs may have on average, and partners that all of a trace may have besides.
pub(super) const PARTNERS: usize = 64;
pub(super) const PARTNERS_OF_ALL: usize = 1 << 20;

/// All operations that depended on the other side of their epoch, in order of (PE, operation), and which epochs ended together. An epoch is
/// for every member of its group, and each pair of epochs is a fact of its own (the wait of one is not left before the complete of the other
/// began), so it takes rows × members; what keeps that linear in the rows is a limit on partners: a window that has more is left out, and told.
/// But for that: sorting, and a search in the operations and accesses of a PE for each post that its start did not wait for.
/// While it runs: 32 bytes a row and an epoch, 32 a partner of an epoch.
pub(super) fn find(trace: &Trace, quality: &mut Quality) -> (Vec<ValueWait>, Vec<EpochEnd>) {
    let steps = steps(trace);
    if steps.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let (epochs, unended) = epochs(trace, &steps);
    let (mut sides, unknown, crowded) = sides(trace, &epochs, PARTNERS_OF_ALL + PARTNERS * steps.len());
    let alone = pair(&epochs, &mut sides, unknown == 0);
    report(quality, [unknown, unended, alone, crowded]);
    let mut waits: Vec<ValueWait> = sides
        .par_chunk_by(|a, b| a.epoch == b.epoch)
        .flat_map_iter(|sides| Dependent { trace, epochs: &epochs, own: epochs[sides[0].epoch as usize], sides }.find())
        .collect();
    // Of an access that needed several targets, the last.
    waits.sort_unstable_by_key(|wait| (wait.pe, wait.operation, Reverse((wait.fulfilled, wait.cause))));
    waits.dedup_by_key(|wait| (wait.pe, wait.operation));
    let mut ends: Vec<EpochEnd> = sides.iter().filter_map(|side| end(trace, &epochs, side)).collect();
    ends.sort_unstable();
    (waits, ends)
}

/// How the exposure epoch of a side ended, if that is known and its PE waited for it.
fn end(trace: &Trace, epochs: &[Epoch], side: &Side) -> Option<EpochEnd> {
    let own = epochs.get(side.epoch as usize).filter(|epoch| epoch.exposes)?;
    let partner = epochs.get(side.partner as usize)?;
    let (wait, complete) = (own.end, partner.end);
    let known = wait.is_some() && complete.is_some();
    let waits = || trace.region_of(wait.pe, wait.visit).completion != Completion::NonBlocking;
    (known && waits()).then_some(EpochEnd { wait, complete })
}

/// The operations of epochs: role, whether of an exposure, whether it opens.
const OPERATIONS: [(Role, bool, bool); 4] = [
    (Role::RmaPost, true, true),
    (Role::RmaStart, false, true),
    (Role::RmaComplete, false, false),
    (Role::RmaWait, true, false),
];

/// An operation opened or closed an epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    window: WindowId,
    /// Whom groups name: the PE itself, or the main PE of its process.
    party: PeId,
    exposes: bool,
    enter: Time,
    place: Place,
    opens: bool,
    group: GroupId,
}

/// An epoch of one PE. Its begin or end is [`Place::NONE`] if it is not recorded.
#[derive(Clone, Copy)]
struct Epoch {
    window: WindowId,
    party: PeId,
    exposes: bool,
    begin: Place,
    end: Place,
    group: GroupId,
}

/// An epoch, seen by one of its group.
#[derive(Clone, Copy)]
struct Side {
    window: WindowId,
    origin: PeId,
    target: PeId,
    /// Number of the epoch.
    epoch: u32,
    /// Number of the other side's epoch; `u32::MAX` if there is none.
    partner: u32,
}

/// All steps in order of (window, party, exposure or access, time).
fn steps(trace: &Trace) -> Vec<Step> {
    let of_pe = |(index, stream): (usize, &Stream)| {
        let pe = PeId(index as u32);
        let mut steps = Vec::new();
        let mut known: Option<(WindowId, PeId)> = None;
        for row in &stream.rma_syncs {
            let RmaSyncKind::Group(group) = row.kind else { continue };
            let Some(enter) = operation_enter(stream, trace.paths(), row.visit) else { continue };
            let role = trace.role_of(pe, row.visit);
            let Some((_, exposes, opens)) = OPERATIONS.into_iter().find(|operation| operation.0 == role) else {
                continue;
            };
            let party = known.filter(|known| known.0 == row.window).map(|known| known.1);
            let party = party.unwrap_or_else(|| party_of(trace, row.window, pe));
            known = Some((row.window, party));
            let place = Place { pe, visit: row.visit };
            steps.push(Step { window: row.window, party, exposes, enter, place, opens, group });
        }
        steps
    };
    let found: Vec<Vec<Step>> = trace.streams().as_slice().par_iter().enumerate().map(of_pe).collect();
    let mut steps = found.concat();
    steps.par_sort_unstable();
    steps
}

/// The member of the group of a window as which a PE acts.
fn party_of(trace: &Trace, window: WindowId, pe: PeId) -> PeId {
    let group = trace.windows().get(window).and_then(|window| trace.groups().get(window.group));
    group.map_or(pe, |group| group.member(pe, trace.main_of(pe)))
}

/// The epochs, in order of (window, party, exposure or access, time), and how many have no begin or no end.
fn epochs(trace: &Trace, steps: &[Step]) -> (Vec<Epoch>, u64) {
    let mut epochs: Vec<Epoch> = Vec::with_capacity(steps.len() / 2 + 1);
    let mut halves = 0;
    let mut sets = Sets { trace, of_group: FxHashMap::default(), numbers: FxHashMap::default() };
    for steps in steps.chunk_by(|a, b| (a.window, a.party, a.exposes) == (b.window, b.party, b.exposes)) {
        let mut open = false;
        for step in steps {
            let Step { window, party, exposes, place, group, .. } = *step;
            let begun = epochs.last_mut().filter(|last| open && !step.opens && sets.same(last.group, group));
            if let Some(begun) = begun {
                begun.end = place;
                begun.group = if begun.group.is_some() { begun.group } else { group };
                halves -= 1;
            } else {
                let (begin, end) = if step.opens { (place, Place::NONE) } else { (Place::NONE, place) };
                epochs.push(Epoch { window, party, exposes, begin, end, group });
                halves += 1;
            }
            open = step.opens;
        }
    }
    (epochs, halves)
}

/// The members of groups as sets, each looked at once.
struct Sets<'a> {
    trace: &'a Trace,
    of_group: FxHashMap<GroupId, u32>,
    numbers: FxHashMap<Vec<PeId>, u32>,
}

impl Sets<'_> {
    /// Whether two groups have the same members, as far as they are known.
    fn same(&mut self, a: GroupId, b: GroupId) -> bool {
        a == b || !a.is_some() || !b.is_some() || self.set(a) == self.set(b)
    }

    fn set(&mut self, group: GroupId) -> u32 {
        let Sets { trace, of_group, numbers } = self;
        *of_group.entry(group).or_insert_with(|| {
            let members = &trace.groups()[group].members;
            let mut members: Vec<PeId> = members.iter().filter(|member| member.is_some()).collect();
            members.sort_unstable();
            members.dedup();
            let next = numbers.len() as u32;
            *numbers.entry(members).or_insert(next)
        })
    }
}

/// What each member of an epoch's group sees of it, in order of epochs; how many epochs are of unknown groups, and how many of windows that have
/// more partners than there is room for.
fn sides(trace: &Trace, epochs: &[Epoch], mut room: usize) -> (Vec<Side>, u64, u64) {
    let (mut unknown, mut crowded) = (0, 0);
    let mut sides = Vec::new();
    let mut number = 0_u32;
    for of_window in epochs.chunk_by(|a, b| a.window == b.window) {
        let members = |epoch: &Epoch| trace.groups().get(epoch.group).map(|group| &group.members);
        let numbered = (number..).zip(of_window);
        number += of_window.len() as u32;
        unknown += of_window.iter().filter(|epoch| members(epoch).is_none()).count() as u64;
        let partners: usize = of_window.iter().filter_map(members).map(Members::len).sum();
        let Some(left) = room.checked_sub(partners) else {
            crowded += of_window.len() as u64;
            continue;
        };
        room = left;
        sides.reserve(partners);
        for (number, epoch) in numbered {
            let partners = members(epoch).into_iter().flat_map(Members::iter).filter(|member| *member != epoch.party);
            sides.extend(partners.map(|member| {
                let (origin, target) = if epoch.exposes { (member, epoch.party) } else { (epoch.party, member) };
                Side { window: epoch.window, origin, target, epoch: number, partner: u32::MAX }
            }));
        }
    }
    (sides, unknown, crowded)
}

/// Finds the partners of all sides; returns how many have none. Where two PEs have different numbers of epochs, none is paired: some
/// were lost, nobody knows which. Only one more that never ended may be the last of a run that was cut off, if the groups of all
/// epochs are known.
fn pair(epochs: &[Epoch], sides: &mut [Side], all_known: bool) -> u64 {
    let mut order: Vec<u32> = (0..sides.len() as u32).collect();
    order.par_sort_unstable_by_key(|at| {
        let side = &sides[*at as usize];
        (side.window, side.origin, side.target, epochs[side.epoch as usize].exposes, *at)
    });
    let mut alone = 0;
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let epoch_of = |at: u32| &epochs[sides[at as usize].epoch as usize];
    let way = |at: u32| (sides[at as usize].window, sides[at as usize].origin, sides[at as usize].target);
    for order in order.chunk_by(|a, b| way(*a) == way(*b)) {
        let (accesses, exposures) = order.split_at(order.partition_point(|at| !epoch_of(*at).exposes));
        let (few, many) = if accesses.len() < exposures.len() { (accesses, exposures) } else { (exposures, accesses) };
        let cut_off = || all_known && many.len() - few.len() == 1 && !epoch_of(many[few.len()]).end.is_some();
        let paired = if few.len() == many.len() || cut_off() { few.len() } else { 0 };
        alone += (order.len() - 2 * paired) as u64;
        pairs.extend(few.iter().copied().zip(many.iter().copied()).take(paired));
    }
    for (a, b) in pairs {
        sides[a as usize].partner = sides[b as usize].epoch;
        sides[b as usize].partner = sides[a as usize].epoch;
    }
    alone
}

fn report(quality: &mut Quality, [unknown, unended, alone, crowded]: [u64; 4]) {
    quality.add(
        Diagnostic::data_loss(
            Code::UndefinedGroup,
            "epochs of windows (post, start) are for a group that the archive does not define",
            "the definitions of the archive are incomplete: record again, or keep all files of the archive together",
        )
        .times(unknown),
    );
    quality.add(
        Diagnostic::data_loss(
            Code::UnendedEpochs,
            "epochs of windows begin and do not end, or end and did not begin (post and wait, start and complete)",
            "the run was cut off or the recorder lost events: record to the end",
        )
        .times(unended),
    );
    quality.add(
        Diagnostic::data_loss(
            Code::UnpairedEpochs,
            "epochs of windows have no counterpart on the other PE, or it is not clear which; no waiting is told of them",
            "record all processes from begin to end",
        )
        .times(alone),
    );
    quality.add(
        Diagnostic::data_loss(
            Code::CrowdedEpochs,
            "epochs of windows name so many partners that they were not paired; no waiting is told of them",
            "let post and start name only those whose memory is accessed",
        )
        .times(crowded),
    );
}

/// An epoch with all its sides.
struct Dependent<'a> {
    trace: &'a Trace,
    epochs: &'a [Epoch],
    own: Epoch,
    sides: &'a [Side],
}

impl Dependent<'_> {
    /// What in this epoch depended on the other side.
    fn find(&self) -> Vec<ValueWait> {
        // What the partners did that let this epoch go on, and when.
        let signals: Option<Vec<(Time, Place)>> = self.sides.iter().map(|side| self.signal(side)).collect();
        let Some(signals) = signals else { return Vec::new() };
        let Some(last) = signals.iter().max().copied() else { return Vec::new() };
        if self.own.exposes {
            return self.wait(self.own.end, last).into_iter().collect();
        }
        let start = self.span(self.own.begin);
        if start.is_some_and(|(_, exit)| last.0 <= exit) {
            return self.wait(self.own.begin, last).into_iter().collect();
        }
        let mut waits: Vec<ValueWait> = Vec::new();
        if self.span(self.own.end).is_some_and(|(enter, exit)| enter < last.0 && last.0 <= exit) {
            waits.extend(self.wait(self.own.end, last));
        }
        let accesses = self.sides.iter().zip(&signals).filter_map(|(side, signal)| {
            let access = self.access(side.target, signal.0)?;
            self.wait(access, *signal)
        });
        waits.extend(accesses);
        waits
    }

    /// What the partner on a side did last: its complete, or its post.
    fn signal(&self, side: &Side) -> Option<(Time, Place)> {
        let partner = self.epochs.get(side.partner as usize)?;
        let place = if self.own.exposes { partner.end } else { partner.begin };
        Some((self.span(place)?.0, place))
    }

    fn span(&self, place: Place) -> Option<(Time, Time)> {
        place.is_some().then(|| (place.enter(self.trace), place.exit(self.trace)))
    }

    fn wait(&self, own: Place, (at, cause): (Time, Place)) -> Option<ValueWait> {
        let (enter, exit) = self.span(own)?;
        // What a test finds may have come before it, while an earlier one looked.
        let is_poll = self.trace.region_of(own.pe, own.visit).is_poll();
        let fulfilled = if is_poll { at } else { at.max(enter) }.min(exit);
        Some(ValueWait { pe: own.pe, operation: own.visit, cause, fulfilled })
    }

    /// The operation under way at a time, if it is an access of this epoch to the target.
    fn access(&self, target: PeId, at: Time) -> Option<Place> {
        let (begin, end) = (self.own.begin, self.own.end);
        let stream = self.trace.streams().get(begin.pe)?;
        let operation = stream.operations.partition_point(|visit| stream.visits.enter[visit.index()] < at);
        let operation = *stream.operations.get(operation.checked_sub(1)?)?;
        let visit = stream.visits.at(operation);
        let within = operation > begin.visit && (end.pe != begin.pe || operation < end.visit);
        if visit.exit < at || !within {
            return None;
        }
        let first = stream.transfers.partition_point(|row| row.time < visit.enter);
        let mut rows = stream.transfers[first..].iter().take_while(|row| row.time <= visit.exit);
        let found = rows.any(|row| (row.visit, row.window, row.target) == (operation, self.own.window, target));
        found.then_some(Place { pe: begin.pe, visit: operation })
    }
}
