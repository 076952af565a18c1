//! Semaphores: who waits for one to be posted.

use std::ffi::c_int;

use partune_collect::Region;
use partune_collect::errno;
use partune_collect::frame;

use crate::awake::is_awake;
use crate::function::call;
use crate::waits::{Waiting, aside, signed};

/// Takes one without waiting. The error number is as it was.
fn try_to_take(semaphore: usize) -> bool {
    // The program may be cancelled here, whether it waits or not.
    call!(pthread_testcancel());
    errno::kept(|| call!(sem_trywait(semaphore)) == 0)
}

macro_rules! waits {
    ($($region:ident $name:ident($($more:ident),*);)*) => {$(
        static $region: Region = crate::construct(stringify!($name));

        /// Waits for a semaphore.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(semaphore: usize, $($more: usize),*) -> c_int {
            if !is_awake() {
                return call!($name(semaphore $(, $more)*));
            }
            if try_to_take(semaphore) {
                return 0;
            }
            let frame = frame::here();
            let waiting = aside(|| Waiting::begin(&$region, frame, semaphore, None));
            let result = call!($name(semaphore $(, $more)*));
            if waiting.is_some() {
                signed(waiting, result == 0);
            }
            result
        }
    )*};
}

waits! {
    WAIT sem_wait();
    TIMEDWAIT sem_timedwait(time);
    CLOCKWAIT sem_clockwait(clock, time);
}
