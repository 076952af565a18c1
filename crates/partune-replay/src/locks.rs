//! Locks: who held which, and who gets them when a run is followed: whoever comes first, whatever the order of the run was.
//!
//! As locks of real libraries do, one that is given back is free at once: who waits for it has it when it was woken, unless somebody else comes meanwhile.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use partune_base::{PeId, Table, Time};
use partune_index::{End, Grant, Index, Part, handed_on};
use partune_trace::{Role, Trace};

use crate::costs::Level;
use crate::follow::{Clocks, LONG_AGO};

/// A lock that several PEs had, by its position among all, and whether it is shared with others that do so too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) lock: u32,
    pub(crate) shared: bool,
}

/// Makes ties of locks, and their ends. Each time that a PE had a lock is one: the PE takes where it asks for the lock, and gives where it gives it back. Until
/// it is recorded who asks when, and where what is done has an order of its own, such as the turns of a loop, it goes from one to the next as in the run instead, and is no [`Hold`]. `gifts`: when the last one gave
/// it back that kept the PE from having it earlier. `moved`: where the PE really waits. Linear in grants.
pub(crate) fn ties(
    trace: &Trace,
    index: &Index,
    ends: &mut Table<PeId, Vec<End>>,
    gifts: &mut Vec<Time>,
    moved: impl Fn(PeId, End) -> End,
) -> Vec<Option<Hold>> {
    let mut holds = Vec::new();
    let several = index.locks.by_lock().filter(|grants| grants.iter().any(|grant| grant.pe != grants[0].pe));
    for (lock, grants) in (0..).zip(several) {
        let in_order = grants.iter().rposition(|grant| !is_asked(trace, grant)).map_or(0, |last| last + 1);
        handed_on(grants, |at, grant, before| {
            // Who has it before all that is recorded did not ask.
            if !grant.operation.is_some() {
                return;
            }
            let before: Vec<&Grant> = before.iter().copied().filter(|it| it.pe != grant.pe).collect();
            // Who has it before it is known to be given back has it from somewhere within the operation that gives it back.
            let exit = trace.streams()[grant.pe].visits.exit.get(grant.operation.index()).copied();
            let latest = exit.map_or(Time::MAX, |exit| Time(exit.0.saturating_sub(1)));
            let gift = before.iter().map(|it| it.released.min(latest)).max().unwrap_or(Time::MIN);
            let tie = gifts.len() as u32;
            let takes = moved(grant.pe, End { time: grant.requested, visit: grant.operation, tie, part: Part::Takes });
            let mut add = |givers: &[&Grant], hold| {
                let tie = gifts.len() as u32;
                gifts.push(gift);
                for it in givers {
                    ends[it.pe].push(End { time: it.released, visit: it.release, tie, part: Part::Gives });
                }
                ends[grant.pe].push(End { tie, ..takes });
                holds.push(hold);
            };
            // The first one that asks comes after those that did not.
            if at <= in_order && !before.is_empty() {
                add(&before, None);
            }
            // What was held for no time keeps nobody waiting.
            if at >= in_order && (takes.time, takes.visit) < (grant.released, grant.release) {
                add(&[grant], Some(Hold { lock, shared: grant.shared }));
            }
        });
    }
    holds
}

/// Whether it is recorded when a PE asked for a lock. Threads that did not wait may tell in hindsight that they had it, where somebody waited for them; what is
/// done in turns asks for its turn.
fn is_asked(trace: &Trace, grant: &Grant) -> bool {
    let role = grant.operation.some().map(|operation| trace.role_of(grant.pe, operation));
    role.is_some_and(|role| !role.is_transparent() && !matches!(role, Role::LockRelease | Role::WaitOnValue))
}

/// When PEs held locks that nobody else can hold meanwhile.
pub(crate) fn held(trace: &Trace, index: &Index) -> Table<PeId, Vec<(Time, Time)>> {
    let mut held: Table<PeId, Vec<(Time, Time)>> = Table::filled(trace.pes().len(), Vec::new());
    for grant in index.locks.grants.iter().filter(|grant| grant.recorded && !grant.shared) {
        held[grant.pe].push((grant.acquired, grant.released));
    }
    for of_pe in &mut held {
        of_pe.sort_unstable();
        let mut merged: Vec<(Time, Time)> = Vec::with_capacity(of_pe.len());
        for (begin, end) in of_pe.drain(..) {
            match merged.last_mut().filter(|last| begin <= last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => merged.push((begin, end)),
            }
        }
        *of_pe = merged;
    }
    held
}

/// A PE that asks for a lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Asks {
    /// When it can have it at the earliest, as far as is known.
    ready: i64,
    /// Since when it asks.
    since: i64,
    pe: PeId,
}

/// A PE that waits until a lock is given back, and takes so long to be woken then.
#[derive(Clone, Copy)]
struct Waits {
    asks: Asks,
    shared: bool,
    wakes: i64,
}

/// A lock while a run is followed.
#[derive(Clone)]
struct Lock {
    /// How many have it, and whether that is one who shares it with nobody.
    holders: u32,
    alone: bool,
    /// When it was last given back by who had it alone, and by who shared it.
    given: [Clocks; 2],
    /// Who waits until it is given back; who asked first comes first.
    waiting: VecDeque<Waits>,
    /// Ticks that it was had alone.
    held: i64,
}

/// All locks while a run is followed, by its typical clocks. PEs that ask have their turns in the order of time, when no PE has anything else to do: nobody can
/// ask for an earlier time then.
pub(crate) struct Locks {
    all: Vec<Lock>,
    asking: BinaryHeap<Reverse<Asks>>,
    turn: Option<Asks>,
}

impl Locks {
    pub(crate) fn new(holds: &[Option<Hold>]) -> Locks {
        let count = holds.iter().flatten().last().map_or(0, |last| last.lock as usize + 1);
        let free = Lock { holders: 0, alone: false, given: [LONG_AGO; 2], waiting: VecDeque::new(), held: 0 };
        Locks { all: vec![free; count], asking: BinaryHeap::new(), turn: None }
    }

    /// Whose turn it is to ask once more.
    pub(crate) fn next(&mut self) -> Option<PeId> {
        self.turn = self.asking.pop().map(|asks| asks.0);
        self.turn.map(|asks| asks.pe)
    }

    /// A PE asks for a lock now, and takes so long to be woken when it is given back. When it was given back, if the PE waited for that; none if it has it at a later
    /// turn only.
    pub(crate) fn ask(&mut self, pe: PeId, hold: Hold, now: Clocks, wakes: i64) -> Option<Clocks> {
        let typical = now[Level::Typical as usize];
        let Some(turn) = self.turn.take_if(|turn| turn.pe == pe) else {
            self.asking.push(Reverse(Asks { ready: typical, since: typical, pe }));
            return None;
        };
        let lock = &mut self.all[hold.lock as usize];
        if lock.alone || lock.holders > 0 && !hold.shared {
            let at = lock.waiting.partition_point(|other| other.asks.since <= turn.since);
            lock.waiting.insert(at, Waits { asks: turn, shared: hold.shared, wakes });
            return None;
        }
        let [by_one, by_all] = lock.given;
        let given = if hold.shared { by_one } else { partune_index::later(by_one, by_all) };
        let at = given[Level::Typical as usize];
        let ready = if at > turn.since { at.saturating_add(wakes) } else { turn.since };
        if turn.ready < ready {
            self.asking.push(Reverse(Asks { ready, ..turn }));
            return None;
        }
        lock.holders += 1;
        lock.alone = !hold.shared;
        Some(std::array::from_fn(|level| if given[level] > now[level] { given[level] } else { LONG_AGO[level] }))
    }

    /// A PE gives back a lock that it had since a time.
    pub(crate) fn give_back(&mut self, hold: Hold, since: i64, now: Clocks) {
        let lock = &mut self.all[hold.lock as usize];
        let typical = now[Level::Typical as usize];
        let given = &mut lock.given[usize::from(hold.shared)];
        *given = partune_index::later(*given, now);
        lock.holders = lock.holders.saturating_sub(1);
        if !hold.shared {
            lock.held += (typical - since).max(0);
        }
        if lock.holders == 0 {
            lock.alone = false;
            // The first one is woken, and those after it that can share the lock with it. Who finds it taken then waits on.
            while let Some(Waits { asks, shared, wakes }) = lock.waiting.pop_front() {
                self.asking.push(Reverse(Asks { ready: typical.saturating_add(wakes), ..asks }));
                if !(shared && lock.waiting.front().is_some_and(|next| next.shared)) {
                    break;
                }
            }
        }
    }

    /// A PE goes on without a lock.
    pub(crate) fn forget(&mut self, pe: PeId, hold: Hold) {
        self.all[hold.lock as usize].waiting.retain(|waits| waits.asks.pe != pe);
    }

    /// For how long the lock was had by one in all that was had longest.
    pub(crate) fn longest(&self) -> i64 {
        self.all.iter().map(|lock| lock.held).max().unwrap_or(0)
    }
}
