//! Conditions: who waits for one gives its mutex back, until another thread gives a sign.

use std::ffi::c_int;

use partune_collect::Region;
use partune_collect::frame::{self, Frame};

use crate::awake::is_awake;
use crate::function::call;
use crate::locks::{Kind, holder, is_nested, measured, released, taken, unseen};
use crate::objects;
use crate::waits::{Waiting, aside, signed, signing};

/// The calling thread waits for a sign, and gives a mutex back meanwhile.
fn begin(region: &'static Region, frame: Frame, condition: usize, mutex: usize) -> Option<Waiting> {
    // It has the mutex again after the sign, and not for as long as it waits.
    measured(mutex);
    aside(|| {
        let is_given = objects::is_awaited(mutex) && !is_nested(mutex);
        let release = if is_given { released(Kind::Exclusive, mutex) } else { None };
        let mut waiting = Waiting::begin(region, frame, condition, None);
        match (&mut waiting, release) {
            (Some(waiting), Some(release)) => Kind::Exclusive.released(&mut waiting.call, waiting.world, release),
            (None, Some(release)) => unseen(Kind::Exclusive, release),
            (_, None) => {}
        }
        waiting
    })
}

macro_rules! waits {
    ($($region:ident $name:ident($($more:ident),*);)*) => {$(
        static $region: Region = crate::construct(stringify!($name));

        /// Waits for a condition.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(condition: usize, mutex: usize, $($more: usize),*) -> c_int {
            if !is_awake() {
                return call!($name(condition, mutex $(, $more)*));
            }
            let waiting = begin(&$region, frame::here(), condition, mutex);
            let result = call!($name(condition, mutex $(, $more)*));
            taken(mutex, holder);
            if waiting.is_some() {
                signed(waiting, result == 0);
            }
            result
        }
    )*};
}

waits! {
    WAIT pthread_cond_wait();
    TIMEDWAIT pthread_cond_timedwait(time);
    CLOCKWAIT pthread_cond_clockwait(clock, time);
    C_WAIT cnd_wait();
    C_TIMEDWAIT cnd_timedwait(time);
}

/// Functions that give a sign, here and for semaphores.
macro_rules! signs {
    ($($region:ident $name:ident;)*) => {$(
        static $region: Region = crate::construct(stringify!($name));

        /// Gives a sign to those that wait.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(object: usize) -> c_int {
            if !objects::is_awaited(object) {
                return call!($name(object));
            }
            let frame = frame::here();
            let signing = aside(|| signing(&$region, frame, object));
            let result = call!($name(object));
            if signing.is_some() {
                aside(|| {
                    partune_collect::leave(signing);
                    Some(())
                });
            }
            result
        }
    )*};
}

signs! {
    SIGNAL pthread_cond_signal;
    BROADCAST pthread_cond_broadcast;
    C_SIGNAL cnd_signal;
    C_BROADCAST cnd_broadcast;
    POST sem_post;
}
