//! What threads wait at, as a runtime tells of it: barriers, tasks, critical, atomic and ordered code, locks.

use std::cell::Cell;

use partune_collect::frame::{self, Frame};
use partune_collect::team::Model;
use partune_collect::{
    Call, Region, enter as enter_call, is_in_call, leave_region, open_call, team as members, thread_word,
};

use super::abi::{BEGIN, Count, Data, Place, Word};
use super::team;
use super::work::SINGLE;
use crate::locks;
use crate::sync::{
    ATOMIC, ATOMIC_BLOCK, BARRIER, CRITICAL, CRITICAL_BLOCK, IMPLICIT_BARRIER, ORDERED, ORDERED_BLOCK, SET_LOCK,
    SET_NEST_LOCK, TEST_LOCK, TEST_NEST_LOCK, UNSET_LOCK, UNSET_NEST_LOCK, give_back,
};
use crate::tasks::{TASKGROUP, TASKWAIT};

static IMPLEMENTATION_BARRIER: Region = crate::construct("omp implementation barrier");
static TEAMS_BARRIER: Region = crate::construct("omp implicit barrier (teams)");
static REDUCTION: Region = crate::construct("omp reduction");

/// What the task that runs on a thread has begun and not ended: whether it runs a `single`, and calls, a bit for each, the innermost lowest, that says
/// whether it is recorded.
#[derive(Clone, Copy)]
pub(super) struct Doing(usize);

impl Doing {
    pub(super) const NOTHING: Doing = Doing(0);
    const SINGLE: usize = 1 << (usize::BITS - 1);

    fn get() -> Doing {
        Doing(DoingWord::get())
    }

    fn set(self) {
        DoingWord::set(self.0);
    }
}

thread_word! {
    /// What the thread is doing.
    DoingWord, "partune_openmp_doing"
}

thread_local! {
    /// Whether a call that gets a lock was begun here: nobody of ours stands around it.
    static IS_LOCKING: Cell<bool> = const { Cell::new(false) };
}

/// Another task runs now, which does something else, or it goes on with that. Returns what the one before does.
pub(super) fn switch(doing: Doing) -> Doing {
    let before = Doing::get();
    doing.set();
    before
}

/// A task begins a `single`, or is told to end it.
pub(super) fn set_single(is_single: bool) {
    let Doing(doing) = Doing::get();
    Doing(if is_single { doing | Doing::SINGLE } else { doing & !Doing::SINGLE }).set();
}

/// What it begins now cannot be in a `single` that it runs: LLVM's functions for programs of GCC do not tell the end of one.
pub(super) fn end_single() {
    if Doing::get().0 & Doing::SINGLE != 0 {
        set_single(false);
        leave_region(&SINGLE);
    }
}

/// Begins a call.
fn begin(region: &'static Region, frame: Frame) {
    // The program's own calls are wrapped, and what is inside of one is the runtime's business.
    let is_recorded = !is_in_call() && enter_call(region, frame).is_some();
    let Doing(doing) = Doing::get();
    Doing(doing & Doing::SINGLE | (doing << 1 & !Doing::SINGLE) | usize::from(is_recorded)).set();
}

/// Ends one. What is told of it may end it in another way.
fn end(tell: impl FnOnce(Call<'static>)) {
    let Doing(doing) = Doing::get();
    Doing(doing & Doing::SINGLE | (doing & !Doing::SINGLE) >> 1).set();
    if doing & 1 != 0
        && let Some(mut call) = open_call()
    {
        call.returned();
        tell(call);
    }
}

const IMPLICIT: Word = 2;
const TASK_GROUP: Word = 6;
const IMPLICIT_PARALLEL: Word = 9;

/// A thread begins or ends to synchronise with others.
pub(super) unsafe extern "C" fn region(kind: Word, endpoint: Word, _: *mut Data, _: *mut Data, place: Place) {
    let region = match kind {
        1 | 3 => &BARRIER,
        IMPLICIT | 8 | IMPLICIT_PARALLEL => &IMPLICIT_BARRIER,
        4 => &IMPLEMENTATION_BARRIER,
        5 => &TASKWAIT,
        7 => &REDUCTION,
        10 => &TEAMS_BARRIER,
        // A group of tasks has code of the program inside; see `wait`.
        _ => return,
    };
    let is_last = kind == IMPLICIT_PARALLEL || kind == IMPLICIT && team::is_last(place);
    if endpoint == BEGIN {
        let frame = if is_last { Frame::NONE } else { frame::called_from(place) };
        if !matches!(kind, 5 | 7) {
            end_single();
        }
        begin(region, frame);
    } else if is_last {
        let over = team::last_is_over();
        end(|mut call| {
            call.returned_at(over);
            call.leave();
        });
    } else {
        end(Call::leave);
    }
}

/// A thread begins or ends to wait for others.
pub(super) unsafe extern "C" fn wait(kind: Word, endpoint: Word, _: *mut Data, _: *mut Data, place: Place) {
    if kind != TASK_GROUP {
        return;
    }
    if endpoint == BEGIN {
        begin(&TASKGROUP, frame::called_from(place));
    } else {
        end(Call::leave);
    }
}

/// Code that one thread runs at a time: the wait for it, and the code.
fn exclusive(kind: Word) -> Option<(&'static Region, &'static Region)> {
    match kind {
        5 => Some((&CRITICAL, &CRITICAL_BLOCK)),
        6 => Some((&ATOMIC, &ATOMIC_BLOCK)),
        7 => Some((&ORDERED, &ORDERED_BLOCK)),
        _ => None,
    }
}

const TEST_KINDS: [Word; 2] = [2, 4];

/// Functions that get a lock, and that give it back.
fn lock(kind: Word) -> (&'static Region, &'static Region) {
    match kind {
        2 => (&TEST_LOCK, &UNSET_LOCK),
        3 => (&SET_NEST_LOCK, &UNSET_NEST_LOCK),
        4 => (&TEST_NEST_LOCK, &UNSET_NEST_LOCK),
        _ => (&SET_LOCK, &UNSET_LOCK),
    }
}

pub(super) unsafe extern "C" fn acquire(kind: Word, _: Count, _: Count, _: u64, place: Place) {
    match exclusive(kind) {
        Some((region, _)) => begin(region, frame::called_from(place)),
        // Whether it was got is not said of those that try.
        None if is_in_call() || TEST_KINDS.contains(&kind) => {}
        None => IS_LOCKING.set(enter_call(lock(kind).0, frame::called_from(place)).is_some()),
    }
}

pub(super) unsafe extern "C" fn acquired(kind: Word, lock: u64, place: Place) {
    let tell = |call: &mut Call<'_>| {
        let (number, order) = locks::acquired(lock as usize);
        call.acquired(Model::OpenMp, number, order);
    };
    if let Some((_, block)) = exclusive(kind) {
        let frame = frame::called_from(place);
        end(|mut call| {
            tell(&mut call);
            call.leave_into(block, frame);
        });
    } else if is_in_call() {
        if IS_LOCKING.take() {
            end_lock(tell);
        }
    } else if TEST_KINDS.contains(&kind) {
        at_once(self::lock(kind).0, frame::called_from(place), tell);
    }
}

pub(super) unsafe extern "C" fn released(kind: Word, lock: u64, place: Place) {
    if let Some((_, block)) = exclusive(kind) {
        if let Some((number, order)) = locks::given_back(lock as usize) {
            members::release(Some(block), number, order);
        }
    } else if !is_in_call() {
        give_back(self::lock(kind).1, frame::called_from(place), lock as usize).into_iter().for_each(Call::leave);
    }
}

/// A thread gets a lock that it has.
pub(super) unsafe extern "C" fn nest(endpoint: Word, _: u64, _: Place) {
    if endpoint == BEGIN && IS_LOCKING.take() {
        end_lock(|_| {});
    }
}

fn end_lock(tell: impl FnOnce(&mut Call<'_>)) {
    if let Some(mut call) = open_call() {
        call.returned();
        tell(&mut call);
        call.leave();
    }
}

/// A call of which is told only that it was made.
pub(super) fn at_once(region: &'static Region, frame: Frame, tell: impl FnOnce(&mut Call<'_>)) {
    if is_in_call() {
        return;
    }
    if let Some(mut call) = enter_call(region, frame) {
        tell(&mut call);
        call.leave();
    }
}
