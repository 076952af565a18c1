//! A clock that interrupts a thread after each so much of its CPU time.
//!
//! The kernel's task clock (`perf_event_open`) ticks exactly then, but only who may count the kernel's own time gets it: without that it
//! misses what a thread does there, such as its page faults, and shares are wrong. Else it is a timer of POSIX, which ticks when the kernel looks
//! at it: often 250 times a second.
//!
//! The task clock's signal is one that is ignored where nobody handles it, and that waits only once: one that comes while the thread becomes
//! another program, or blocks all signals for an hour, does no harm. Its descriptor is closed at once, since programs close descriptors that they
//! do not know; the page that is mapped of it keeps it.
//!
//! A program whose turns are as long as a period, or as a simple part of it, would be met at the same places again and again. So the task clock gets
//! another period every few ticks, around the one that is wanted. That takes another event, since the old one's descriptor is closed.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::fd::IntoRawFd as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering::Relaxed};

use crate::perf::{Attributes, SOFTWARE, TASK_CLOCK};
use crate::signals::{Handler, action, handle};

pub(crate) enum Ticks {
    TaskClock(TaskClock),
    Timer(libc::timer_t),
}

/// An event of the kernel, and those that take its place.
pub(crate) struct TaskClock {
    /// The page that keeps the event.
    page: AtomicPtr<c_void>,
    signal: c_int,
    /// The wanted period, in nanoseconds.
    period: u64,
    /// Ticks since the beginning.
    ticks: AtomicUsize,
    /// Of threads, for other periods in each.
    part: usize,
}

impl Ticks {
    /// Lets a handler run in the calling thread, `rate` times a second of its CPU time; `part` is another one for each thread, so that those that do the same
    /// at the same time are not all looked at in the same moment. `None` if the system cannot.
    pub(crate) fn begin(rate: u32, part: usize, handler: Handler) -> Option<Ticks> {
        TaskClock::begin(rate, part, handler).map(Ticks::TaskClock).or_else(|| timer(rate, part, handler))
    }

    /// The handler runs.
    pub(crate) fn ticked(&self) {
        if let Ticks::TaskClock(clock) = self {
            clock.ticked();
        }
    }

    /// The handler may still run once.
    pub(crate) fn end(self) {
        match self {
            Ticks::TaskClock(clock) => unmap(clock.page.into_inner()),
            // SAFETY: the timer is its own, and it is the last that knows it.
            Ticks::Timer(timer) => unsafe {
                libc::timer_delete(timer);
            },
        }
    }
}

/// The signal that ticks are; 0 while there are none. A process has one kind of them.
static TAKEN: AtomicI32 = AtomicI32::new(0);

/// The signal that ticks are, if there are any.
pub(crate) fn signal() -> Option<c_int> {
    Some(TAKEN.load(Relaxed)).filter(|signal| *signal != 0)
}

/// What is mapped of an event at least, on any machine: less is rounded up.
const PAGE: usize = 1;

/// So many ticks have one period: a new event takes some 10 µs.
const TICKS: usize = 8;

impl TaskClock {
    fn begin(rate: u32, part: usize, handler: Handler) -> Option<TaskClock> {
        static SIGNAL: OnceLock<Option<c_int>> = OnceLock::new();
        let period = 1_000_000_000 / u64::from(rate.max(1));
        let first = open(period_of(period, part, 0))?;
        let signal = (*SIGNAL.get_or_init(|| take([libc::SIGURG], handler)))?;
        let page = AtomicPtr::new(map(first, signal)?);
        Some(TaskClock { page, signal, period, ticks: AtomicUsize::new(0), part })
    }

    /// In the handler of a signal.
    fn ticked(&self) {
        let ticks = self.ticks.load(Relaxed) + 1;
        self.ticks.store(ticks, Relaxed);
        if ticks.is_multiple_of(TICKS)
            && let Some(page) =
                open(period_of(self.period, self.part, ticks / TICKS)).and_then(|event| map(event, self.signal))
        {
            unmap(self.page.swap(page, Relaxed));
        }
    }
}

/// The period of a turn: from a half to one and a half of the wanted one. Two turns that follow each other are as long as two of the wanted one, so that
/// times that are long have as many ticks as they should; their periods are spread evenly, by multiples of the golden ratio.
fn period_of(wanted: u64, part: usize, turn: usize) -> u64 {
    let spread = ((part + turn / 2) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let more = ((u128::from(wanted) * u128::from(spread)) >> 64) as u64;
    if turn.is_multiple_of(2) { wanted / 2 + more } else { wanted + wanted / 2 - more }
}

/// An event that ticks in the calling thread.
fn open(period: u64) -> Option<File> {
    Attributes { kind: SOFTWARE, config: TASK_CLOCK, period, wakeup: 1, ..Attributes::default() }.open()
}

/// Lets the event's ticks be a signal, and keeps it by a page that is mapped of it. Its descriptor is closed. By system calls that no collector sees, since the
/// program may be interrupted anywhere.
fn map(event: File, signal: c_int) -> Option<*mut c_void> {
    #[repr(C)]
    struct Owner {
        kind: c_int,
        thread: libc::pid_t,
    }
    /// `F_SETSIG`, `F_SETOWN_EX`, `F_OWNER_TID`.
    const SET_SIGNAL: c_int = 10;
    const SET_OWNER: c_int = 15;
    const THREAD: c_int = 0;
    let event = event.into_raw_fd();
    // SAFETY: the event's descriptor, which nobody else has, a structure that outlives the call, and a new mapping.
    unsafe {
        let owner = Owner { kind: THREAD, thread: libc::gettid() };
        let is_set = libc::syscall(libc::SYS_fcntl, event, SET_SIGNAL, signal) == 0
            && libc::syscall(libc::SYS_fcntl, event, SET_OWNER, &raw const owner) == 0
            && libc::syscall(libc::SYS_fcntl, event, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) == 0;
        let page = if is_set {
            libc::syscall(libc::SYS_mmap, 0usize, PAGE, libc::PROT_READ, libc::MAP_SHARED, event, 0usize)
        } else {
            -1
        };
        libc::syscall(libc::SYS_close, event);
        (page > 0).then_some(page as *mut c_void)
    }
}

fn unmap(page: *mut c_void) {
    // SAFETY: an event's page, of which nobody else knows.
    unsafe { libc::syscall(libc::SYS_munmap, page, PAGE) };
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
    if !handle(signal, handler, libc::SA_RESTART, true) {
        return None;
    }
    TAKEN.store(signal, Relaxed);
    Some(signal)
}
