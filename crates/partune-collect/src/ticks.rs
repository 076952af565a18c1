//! A clock that interrupts a thread after each so much of its CPU time.
//!
//! The kernel's task clock (`perf_event_open`) ticks exactly then, but only who may count the kernel's own time gets it: without that it
//! misses what a thread does there, such as its page faults, and shares are wrong. Else it is a timer of POSIX, which ticks when the kernel looks
//! at it: often 250 times a second.
//!
//! The task clock's signal is one that is ignored where nobody handles it, and that waits only once: one that comes while the thread becomes
//! another program, or blocks all signals for an hour, does no harm. Its descriptor is closed at once, since programs close descriptors that they
//! do not know; the page that is mapped of it keeps it.

use std::ffi::{c_int, c_void};
use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;
use std::sync::OnceLock;

use crate::perf::{Attributes, SOFTWARE, TASK_CLOCK};
use crate::signals::{Handler, action, handle};

pub(crate) enum Ticks {
    /// The page that keeps the event.
    TaskClock(NonNull<c_void>),
    Timer(libc::timer_t),
}

impl Ticks {
    /// Lets a handler run in the calling thread, `rate` times a second of its CPU time, the first time after a part of 64. `None` if the system cannot.
    pub(crate) fn begin(rate: u32, part: usize, handler: Handler) -> Option<Ticks> {
        task_clock(rate, handler).or_else(|| timer(rate, part, handler))
    }

    /// The handler may still run once.
    pub(crate) fn end(self) {
        // SAFETY: the page and the timer are its own, and it is the last that knows them.
        unsafe {
            match self {
                Ticks::TaskClock(page) => libc::munmap(page.as_ptr(), PAGE),
                Ticks::Timer(timer) => libc::timer_delete(timer),
            };
        }
    }
}

/// What is mapped of an event at least, on any machine: less is rounded up.
const PAGE: usize = 1;

fn task_clock(rate: u32, handler: Handler) -> Option<Ticks> {
    static SIGNAL: OnceLock<Option<c_int>> = OnceLock::new();
    #[repr(C)]
    struct Owner {
        kind: c_int,
        thread: libc::pid_t,
    }
    /// `F_SETSIG`, `F_SETOWN_EX`, `F_OWNER_TID`.
    const SET_SIGNAL: c_int = 10;
    const SET_OWNER: c_int = 15;
    const THREAD: c_int = 0;
    let period = 1_000_000_000 / u64::from(rate.max(1));
    let event = Attributes { kind: SOFTWARE, config: TASK_CLOCK, period, wakeup: 1, ..Attributes::default() }.open()?;
    let signal = (*SIGNAL.get_or_init(|| take([libc::SIGURG], handler)))?;
    let fd = event.as_raw_fd();
    // SAFETY: the event's descriptor, a structure that outlives the call, and a new mapping.
    unsafe {
        let owner = Owner { kind: THREAD, thread: libc::gettid() };
        if libc::fcntl(fd, SET_SIGNAL, signal) != 0
            || libc::fcntl(fd, SET_OWNER, &raw const owner) != 0
            || libc::fcntl(fd, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) != 0
        {
            return None;
        }
        let page = libc::mmap(std::ptr::null_mut(), PAGE, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
        NonNull::new(page).filter(|_| page != libc::MAP_FAILED).map(Ticks::TaskClock)
    }
}

fn timer(rate: u32, part: usize, handler: Handler) -> Option<Ticks> {
    static SIGNAL: OnceLock<Option<c_int>> = OnceLock::new();
    let signal = (*SIGNAL.get_or_init(|| take((libc::SIGRTMIN()..libc::SIGRTMAX()).rev(), handler)))?;
    let period = 1_000_000_000 / i64::from(rate.max(1));
    let time = |nanoseconds: i64| libc::timespec {
        tv_sec: nanoseconds / 1_000_000_000,
        tv_nsec: (nanoseconds % 1_000_000_000).max(1),
    };
    let times = libc::itimerspec { it_interval: time(period), it_value: time(period * (part as i64 % 64 + 1) / 64) };
    // SAFETY: zero is a valid event; the thread's number, and places that outlive the calls.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer = std::ptr::null_mut();
        if libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, &raw mut timer) != 0 {
            return None;
        }
        libc::timer_settime(timer, 0, &raw const times, std::ptr::null_mut());
        Some(Ticks::Timer(timer))
    }
}

/// Takes the first of some signals that the program does not use.
fn take(signals: impl IntoIterator<Item = c_int>, handler: Handler) -> Option<c_int> {
    let is_unused = |signal: &c_int| action(*signal).is_some_and(|action| action.sa_sigaction == libc::SIG_DFL);
    let signal = signals.into_iter().find(is_unused)?;
    handle(signal, handler, libc::SA_RESTART, true).then_some(signal)
}
