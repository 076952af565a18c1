//! Lock histories: who held which lock when, and who waited for whom.
//!
//! Producers differ in what they record: request, grant and release (MPI windows ask and give back only; OpenMP and pthread tell
//! grant and release). What is missing is taken from the operations around, as said at [`Grant`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use partune_base::{Id, PeId, Time};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{CallPaths, LockEvent, LockKind, Role, Stream, Trace, VisitIx};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::Place;
use crate::requests::{operation_enter, operation_exit};

/// One time that a PE got a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Equal numbers are the same lock.
    pub lock: u64,
    pub pe: PeId,
    /// The operation that asked for it; none if it was held before the first event of the PE.
    pub operation: VisitIx,
    /// When it asked: enter of the operation, or the request event.
    pub requested: Time,
    /// When it got it: the grant event, or the exit of the operation that asked if the grant is not recorded.
    pub acquired: Time,
    /// When it gave the lock back. If it never did, as far as recorded: when another PE got it next, for then it had; else the
    /// end of the PE's stream.
    pub released: Time,
    /// The operation that gave it back; none if it never did.
    pub release: VisitIx,
    pub shared: bool,
    /// Whether `acquired` is a recorded event. If not, the PE may have got it as late as at its release (MPI may delay the
    /// lock of a window until the accesses), and grants of one lock can seem to overlap.
    pub recorded: bool,
    /// Position in [`Locks::grants`] of the grant of another PE whose release was the last one between `requested` and
    /// `acquired`, which made this one possible; `u32::MAX` if there is none.
    pub enabled_by: u32,
    /// The last release of this grant and those of the lock before it: who asks later waits for none of them.
    pub reaches: Time,
}

impl Grant {
    /// Where the lock was given back; if that is not recorded, where it was got.
    pub fn last_seen(&self) -> Place {
        Place { pe: self.pe, visit: if self.release.is_some() { self.release } else { self.operation } }
    }
}

/// All grants in order of (lock, time acquired, PE): 64 bytes a grant.
#[derive(Clone, Debug, Default)]
pub struct Locks {
    pub grants: Vec<Grant>,
}

impl Locks {
    pub(crate) fn build(trace: &Trace, quality: &mut Quality) -> Locks {
        let found: Vec<History> = trace
            .streams()
            .as_slice()
            .par_iter()
            .enumerate()
            .map(|(pe, stream)| History::read(trace, PeId::from_index(pe), stream))
            .collect();
        let unasked = found.iter().map(|history| history.unasked).sum();
        let mut grants: Vec<Grant> = found.into_iter().flat_map(|history| history.grants).collect();
        grants.par_sort_by_key(|grant| (grant.lock, grant.acquired, grant.pe));
        quality.add(
            Diagnostic::data_loss(
                Code::StrayReleases,
                "locks were released that were never acquired; they count as held since the PE's first event",
                "record the whole run",
            )
            .times(unasked),
        );
        grants.chunk_by_mut(|a, b| a.lock == b.lock).for_each(|grants| {
            end_unreleased(grants);
            reach(grants);
        });
        find_enablers(&mut grants);
        Locks { grants }
    }

    /// The grants of each lock.
    pub fn by_lock(&self) -> impl Iterator<Item = &[Grant]> {
        self.grants.chunk_by(|a, b| a.lock == b.lock)
    }

    /// The grants of one lock, in order of time acquired.
    pub fn of_lock(&self, lock: u64) -> &[Grant] {
        let first = self.grants.partition_point(|grant| grant.lock < lock);
        let end = self.grants.partition_point(|grant| grant.lock <= lock);
        &self.grants[first..end]
    }
}

/// Gives each grant of one lock with its position, and those that had it before: the last one, or all those that shared it, if this one does not.
pub fn handed_on<'a>(grants: &'a [Grant], mut each: impl FnMut(usize, &'a Grant, &[&'a Grant])) {
    let (mut alone, mut sharing) = (Vec::new(), Vec::new());
    for (at, grant) in grants.iter().enumerate() {
        each(at, grant, if grant.shared || sharing.is_empty() { &alone } else { &sharing });
        if grant.shared {
            sharing.push(grant);
        } else {
            sharing.clear();
            alone = vec![grant];
        }
    }
}

/// When a lock was got next, after some moment, by each of two PEs: for any PE, one of them is another.
#[derive(Clone, Copy, Default)]
struct Next([Option<(Time, PeId)>; 2]);

impl Next {
    /// One that is no later than those known.
    fn add(&mut self, time: Time, pe: PeId) {
        if self.0[0].is_some_and(|(_, first)| first != pe) {
            self.0[1] = self.0[0];
        }
        self.0[0] = Some((time, pe));
    }

    fn of_other(&self, pe: PeId) -> Option<Time> {
        self.0.iter().flatten().find(|(_, other)| *other != pe).map(|(time, _)| *time)
    }
}

/// A grant of one lock whose end is not recorded had ended when another PE got the lock that cannot have it at the same time.
fn end_unreleased(grants: &mut [Grant]) {
    let (mut any, mut exclusive) = (Next::default(), Next::default());
    for grant in grants.iter_mut().rev() {
        if !grant.release.is_some() {
            let next = if grant.shared { exclusive } else { any }.of_other(grant.pe);
            grant.released = next.map_or(grant.released, |next| grant.released.min(next));
        }
        if grant.recorded {
            any.add(grant.acquired, grant.pe);
            if !grant.shared {
                exclusive.add(grant.acquired, grant.pe);
            }
        }
    }
}

/// Finds until when each grant and those before it reach.
fn reach(grants: &mut [Grant]) {
    let mut last = Time::MIN;
    for grant in grants {
        last = last.max(grant.released);
        grant.reaches = last;
    }
}

/// Finds for each grant the last release before it. A heap holds what is not given back yet: one grant, but for shared locks.
fn find_enablers(grants: &mut [Grant]) {
    let mut held: BinaryHeap<Reverse<(Time, u32)>> = BinaryHeap::new();
    let mut first = 0;
    while first < grants.len() {
        let lock = grants[first].lock;
        held.clear();
        // The last two releases of different PEs: one of them is another PE's, whoever asks.
        let mut last: [Option<u32>; 2] = [None, None];
        let end = first + grants[first..].partition_point(|grant| grant.lock == lock);
        for index in first..end {
            let grant = grants[index];
            while let Some(Reverse((released, earlier))) = held.peek().copied() {
                if released > grant.acquired {
                    break;
                }
                held.pop();
                let same_pe = last[0].is_some_and(|last| grants[last as usize].pe == grants[earlier as usize].pe);
                last = [Some(earlier), if same_pe { last[1] } else { last[0] }];
            }
            let others = last.into_iter().flatten().find(|earlier| grants[*earlier as usize].pe != grant.pe);
            if let Some(earlier) = others.filter(|earlier| grants[*earlier as usize].released > grant.requested) {
                grants[index].enabled_by = earlier;
            }
            held.push(Reverse((grant.released, index as u32)));
        }
        first = end;
    }
}

/// The grants of one PE.
#[derive(Default)]
struct History {
    grants: Vec<Grant>,
    unasked: u64,
    /// End of the PE's stream.
    end: Time,
}

/// What a PE has to do with one lock at a moment.
#[derive(Default)]
struct State {
    /// It asked or tried.
    asked: Option<Asked>,
    /// Positions of grants not yet given back; several if the lock can be taken again by its holder.
    held: Vec<usize>,
}

/// A request of a PE: when, where, and whether it shares the lock.
#[derive(Clone, Copy)]
struct Asked {
    time: Time,
    visit: VisitIx,
    shared: bool,
}

impl History {
    fn read(trace: &Trace, pe: PeId, stream: &Stream) -> History {
        let Some(end) = stream.locks.first().and_then(|_| stream.end()) else { return History::default() };
        let mut history = History { end, ..History::default() };
        let mut states: FxHashMap<u64, State> = FxHashMap::default();
        for event in &stream.locks {
            let state = states.entry(event.lock).or_default();
            match event.kind {
                LockKind::Requested | LockKind::Tried => {
                    state.asked = Some(Asked { time: event.time, visit: event.visit, shared: event.shared });
                }
                LockKind::Acquired => {
                    let asked = state.asked.take().map(|asked| (asked.time, asked.visit));
                    let asked = asked.or_else(|| entered(trace, stream, event));
                    let (requested, operation) = asked.unwrap_or((event.time, event.visit));
                    let grant = history.grant(pe, event, (requested, operation, event.time), true);
                    state.held.push(grant);
                }
                LockKind::Released => {
                    let grant = state.held.pop().unwrap_or_else(|| {
                        let asked = state.asked.take();
                        history.unasked += u64::from(asked.is_none());
                        let begin = stream.begin().unwrap_or(event.time);
                        let times = asked.map(|asked| of_request(trace.paths(), stream, asked));
                        // A release does not say whether the lock was shared.
                        let event = LockEvent { shared: asked.map_or(event.shared, |asked| asked.shared), ..*event };
                        history.grant(pe, &event, times.unwrap_or((begin, VisitIx::NONE, begin)), false)
                    });
                    let grant = &mut history.grants[grant];
                    grant.acquired = grant.acquired.min(event.time);
                    (grant.released, grant.release) = (event.time, event.visit);
                }
            }
        }
        history
    }

    fn grant(
        &mut self,
        pe: PeId,
        event: &LockEvent,
        (requested, operation, acquired): (Time, VisitIx, Time),
        recorded: bool,
    ) -> usize {
        let released = self.end.max(acquired);
        let requested = requested.min(acquired);
        let (release, shared) = (VisitIx::NONE, event.shared);
        let (lock, enabled_by) = (event.lock, u32::MAX);
        let grant = Grant {
            lock,
            pe,
            operation,
            requested,
            acquired,
            released,
            release,
            shared,
            recorded,
            enabled_by,
            reaches: released,
        };
        self.grants.push(grant);
        self.grants.len() - 1
    }
}

/// The operation that a lock was acquired in, if that is what the operation is for. Who waits for its turn waits for a lock that is handed on.
fn entered(trace: &Trace, stream: &Stream, event: &LockEvent) -> Option<(Time, VisitIx)> {
    let enter = operation_enter(stream, trace.paths(), event.visit)?;
    let path = stream.visits.at(event.visit).path;
    let role = trace.regions()[trace.paths().region(path)].role;
    // A call on a file that gets a lock of it is for that.
    matches!(role, Role::LockAcquire | Role::WaitOnValue | Role::Io).then_some((enter, event.visit))
}

/// A request whose grant is not recorded: asked at the enter, got at the exit of its operation.
fn of_request(paths: &CallPaths, stream: &Stream, Asked { time, visit, .. }: Asked) -> (Time, VisitIx, Time) {
    let enter = operation_enter(stream, paths, visit).unwrap_or(time);
    (enter, visit, operation_exit(stream, paths, visit).unwrap_or(time))
}
