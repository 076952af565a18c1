//! Something that is done at a time, once, by a thread of the C library's own: no signal reaches the program, and none of its threads is held up.

use std::ffi::c_void;
use std::io;

/// What `SIGEV_THREAD` wants, which the crate `libc` declares in parts only.
#[repr(C)]
union Event {
    known: libc::sigevent,
    words: std::mem::ManuallyDrop<Words>,
}

/// The begin of `sigevent`, sigevent(3type).
#[repr(C)]
struct Words {
    value: *mut c_void,
    signal: libc::c_int,
    notify: libc::c_int,
    function: extern "C" fn(*mut c_void),
    attributes: *mut c_void,
}

/// Lets something be done at a time in nanoseconds since 1970. It may use atomics, and nothing that is recorded.
pub(crate) fn at(time: u64, act: fn()) -> io::Result<()> {
    extern "C" fn call(act: *mut c_void) {
        // SAFETY: made of such a function below.
        let act: fn() = unsafe { std::mem::transmute(act) };
        act();
    }
    let mut timer: libc::timer_t = std::ptr::null_mut();
    // SAFETY: zero is valid.
    let mut event = Event { known: unsafe { std::mem::zeroed() } };
    event.words = std::mem::ManuallyDrop::new(Words {
        value: act as *mut c_void,
        signal: 0,
        notify: libc::SIGEV_THREAD,
        function: call,
        attributes: std::ptr::null_mut(),
    });
    let then = libc::timespec { tv_sec: (time / 1_000_000_000) as i64, tv_nsec: (time % 1_000_000_000) as i64 };
    let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let when = libc::itimerspec { it_interval: never, it_value: then };
    // SAFETY: places that outlive the calls, and a timer that was made; nobody deletes it before it has run.
    let is_set = unsafe {
        libc::timer_create(libc::CLOCK_REALTIME, (&raw mut event).cast(), &raw mut timer) == 0
            && libc::timer_settime(timer, libc::TIMER_ABSTIME, &raw const when, std::ptr::null_mut()) == 0
    };
    if is_set { Ok(()) } else { Err(io::Error::last_os_error()) }
}
