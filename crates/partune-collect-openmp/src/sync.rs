//! What threads of a team wait at: barriers, critical sections, atomic updates without an instruction, ordered code, locks.

use partune_collect::frame::{self, Frame};
use partune_collect::team::{self, Model};
use partune_collect::{Call, Region, enter, is_in_call, leave};

use crate::awake;
use crate::locks;
use crate::runtime::call;
use crate::team::current;

pub(crate) static IMPLICIT_BARRIER: Region = crate::construct("omp implicit barrier");
pub(crate) static BARRIER: Region = crate::construct("omp barrier");
pub(crate) static CRITICAL: Region = crate::construct("omp critical");
pub(crate) static CRITICAL_BLOCK: Region = crate::construct("omp critical sblock");
pub(crate) static ATOMIC: Region = crate::construct("omp atomic");
pub(crate) static ATOMIC_BLOCK: Region = crate::construct("omp atomic sblock");
pub(crate) static ORDERED: Region = crate::construct("omp ordered");
pub(crate) static ORDERED_BLOCK: Region = crate::construct("omp ordered sblock");

/// Runs a function of the runtime that waits.
#[inline]
pub(crate) fn meet(region: &'static Region, frame: Frame, act: impl FnOnce() -> usize) -> usize {
    let call = awake::world().and_then(|_| enter(region, frame));
    let result = act();
    leave(call);
    result
}

/// Runs one that gets a lock if it returns something that `has` it, and says so. The region that it leads to begins with its end.
#[inline]
fn acquire(
    world: Option<u32>,
    region: &'static Region,
    frame: Frame,
    lock: usize,
    act: impl FnOnce() -> usize,
    has: fn(usize) -> bool,
    inside: Option<&'static Region>,
) -> usize {
    let call = world.and_then(|_| enter(region, frame));
    let result = act();
    if let Some(mut call) = call {
        call.returned();
        if has(result) {
            let (number, order) = locks::acquired(lock);
            call.acquired(Model::OpenMp, number, order);
        }
        match inside {
            Some(region) => call.leave_into(region, frame),
            None => call.leave(),
        }
    }
    result
}

/// A function that gives a lock back begins. Where its calls are left out, that the lock is free is told all the same.
pub(crate) fn give_back(region: &'static Region, frame: Frame, lock: usize) -> Option<Call<'static>> {
    let mut call = enter(region, frame);
    if call.is_some() || region.is_left_out() && !is_in_call() {
        match (&mut call, locks::given_back(lock)) {
            (Some(call), Some((number, order))) => call.released(Model::OpenMp, number, order),
            (None, Some((number, order))) => team::release(None, number, order),
            (_, None) => {}
        }
    }
    call
}

/// Functions that wait for the team, or for something in it: a barrier, tasks.
macro_rules! waits {
    ($($region:ident $name:ident($($word:ident),*);)*) => {$(
        /// Waits.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($word: usize),*) -> usize {
            let frame = frame::here();
            meet(&$region, frame, || call!(frame, $name($($word),*)))
        }
    )*};
}

pub(crate) use waits;

waits! {
    BARRIER GOMP_barrier();
    BARRIER GOMP_barrier_cancel();
}

/// Code that one thread runs at a time: what enters and what leaves it, and what tells it from others.
macro_rules! sections {
    ($($region:ident $block:ident $begin:ident $end:ident($($name:ident),*) $lock:expr;)*) => {$(
        /// Enters code that one thread runs at a time.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $begin($($name: usize),*) {
            let frame = frame::here();
            acquire(awake::world(), &$region, frame, $lock, || call!(frame, $begin($($name),*)), |_| true, Some(&$block));
        }

        /// Leaves it.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $end($($name: usize),*) {
            let frame = frame::here();
            if awake::world().is_some() && let Some((number, order)) = locks::given_back($lock) {
                team::release(Some(&$block), number, order);
            }
            call!(frame, $end($($name),*));
        }
    )*};
}

sections! {
    CRITICAL CRITICAL_BLOCK GOMP_critical_start GOMP_critical_end() std::ptr::from_ref(&CRITICAL) as usize;
    CRITICAL CRITICAL_BLOCK GOMP_critical_name_start GOMP_critical_name_end(name) name;
    ATOMIC ATOMIC_BLOCK GOMP_atomic_start GOMP_atomic_end() std::ptr::from_ref(&ATOMIC) as usize;
    ORDERED ORDERED_BLOCK GOMP_ordered_start GOMP_ordered_end() ordered();
}

/// Ordered code is a lock that a team hands on from iteration to iteration.
fn ordered() -> usize {
    // No lock is there.
    current().map_or(0, |team| 1 + team as usize)
}

/// Locks of the program. These functions are recorded even if the runtime tells of itself: it does not say when one has tried in vain. Functions that get one, that try to, and that give it back; in C and in Fortran.
macro_rules! locks {
    ($($region:ident $name:literal $kind:ident: $($spelling:ident)*;)*) => {$(
        pub(crate) static $region: Region = crate::construct($name);
        $(locks!($kind $region $spelling);)*
    )*};
    (get $region:ident $name:ident) => {
        /// Gets a lock.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(lock: usize) {
            let frame = frame::here();
            acquire(awake::known_world(), &$region, frame, lock, || call!(frame, $name(lock)), |_| true, None);
        }
    };
    (try_to_get $region:ident $name:ident) => {
        /// Gets a lock if it is free.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(lock: usize) -> usize {
            let frame = frame::here();
            let has = |result| result as u32 != 0;
            acquire(awake::known_world(), &$region, frame, lock, || call!(frame, $name(lock)), has, None)
        }
    };
    (give_back $region:ident $name:ident) => {
        /// Gives a lock back.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(lock: usize) {
            let frame = frame::here();
            let call = awake::known_world().and_then(|_| give_back(&$region, frame, lock));
            call!(frame, $name(lock));
            leave(call);
        }
    };
}

locks! {
    SET_LOCK "omp_set_lock" get: omp_set_lock omp_set_lock_ omp_set_lock_8_;
    SET_NEST_LOCK "omp_set_nest_lock" get: omp_set_nest_lock omp_set_nest_lock_ omp_set_nest_lock_8_;
    TEST_LOCK "omp_test_lock" try_to_get: omp_test_lock omp_test_lock_ omp_test_lock_8_;
    TEST_NEST_LOCK "omp_test_nest_lock" try_to_get: omp_test_nest_lock omp_test_nest_lock_ omp_test_nest_lock_8_;
    UNSET_LOCK "omp_unset_lock" give_back: omp_unset_lock omp_unset_lock_ omp_unset_lock_8_;
    UNSET_NEST_LOCK "omp_unset_nest_lock" give_back: omp_unset_nest_lock omp_unset_nest_lock_ omp_unset_nest_lock_8_;
}
