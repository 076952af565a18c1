//! Threads that a program makes itself: POSIX threads of this process.
#![allow(unsafe_code, reason = "the C library's functions on its objects")]

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::{Found, How, Measured, Model, Threads, on_crew};
use crate::batches::{HandOver, rounds, timed, together};

pub(super) static THREADS: Model = Model { name: "pthread", word: "threads", weight: 1, how: How::Threads(measure) };

/// An object of the C library, which threads share.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: these objects are made for being used by several threads at once, through the C library's functions only.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn new(value: T) -> Shared<T> {
        Shared(UnsafeCell::new(value))
    }

    fn at(&self) -> *mut T {
        self.0.get()
    }
}

#[allow(clippy::unnecessary_wraps, reason = "all models are measured in the same way, and others fail")]
fn measure(threads: &Threads) -> Result<Found, String> {
    let counts = threads.counts();
    let slice_s = threads.budget_s / (counts.len() + 6) as f64;
    let mut rows = Vec::new();
    for count in counts {
        rows.push((count, barrier(count, slice_s)));
    }
    let two = [locks(slice_s), conditions(slice_s), semaphores(slice_s), life(slice_s)];
    rows.extend(two.into_iter().flatten().map(|measured| (2, measured)));
    Ok(Found { rows, ..Found::default() })
}

fn barrier(count: u32, slice_s: f64) -> Measured {
    // SAFETY: an object of this type may hold any bytes until it is initialised.
    let barrier = Shared::new(unsafe { std::mem::zeroed::<libc::pthread_barrier_t>() });
    // SAFETY: the object lives until all threads are joined, and is initialised once.
    unsafe { libc::pthread_barrier_init(barrier.at(), std::ptr::null(), count) };
    let wait = || {
        // SAFETY: as many threads as the barrier is for call it.
        unsafe { libc::pthread_barrier_wait(barrier.at()) };
    };
    let samples = on_crew(count, |crew, _| together(crew, slice_s, |_| wait()));
    Measured::of("pthread_barrier_wait", "group_sync", samples)
}

/// A mutex that is free, and one that another thread gives back.
fn locks(slice_s: f64) -> Vec<Measured> {
    let mutex = Shared::new(libc::PTHREAD_MUTEX_INITIALIZER);
    let (lock, unlock) = operations(&mutex);
    let [free, freed] = rounds(slice_s, || [timed(lock), timed(unlock)]);
    let over = HandOver { take: &lock, give: &unlock, wait: &lock, done: &unlock };
    let [given, got] = hand_over(&over, slice_s);
    vec![
        Measured::of("pthread_mutex_lock", "lock_acquire", free),
        Measured::of("pthread_mutex_unlock", "lock_release", freed),
        Measured::of("pthread_mutex_lock, handed over", "lock_acquire", got),
        Measured::of("pthread_mutex_unlock, handed over", "lock_release", given),
    ]
}

fn operations(mutex: &Shared<libc::pthread_mutex_t>) -> (impl Fn() + Copy + Sync, impl Fn() + Copy + Sync) {
    let lock = || {
        // SAFETY: an initialised mutex that this thread does not have.
        unsafe { libc::pthread_mutex_lock(mutex.at()) };
    };
    let unlock = || {
        // SAFETY: an initialised mutex that this thread has.
        unsafe { libc::pthread_mutex_unlock(mutex.at()) };
    };
    (lock, unlock)
}

fn hand_over(over: &HandOver<'_>, slice_s: f64) -> [Vec<f64>; 2] {
    let origin = Instant::now();
    on_crew(2, |crew, thread| over.samples(crew, thread == 0, &|| origin.elapsed().as_secs_f64(), slice_s))
}

fn conditions(slice_s: f64) -> Vec<Measured> {
    let mutex = Shared::new(libc::PTHREAD_MUTEX_INITIALIZER);
    let condition = Shared::new(libc::PTHREAD_COND_INITIALIZER);
    let (lock, unlock) = operations(&mutex);
    let ready = AtomicBool::new(false);
    let give = || {
        lock();
        ready.store(true, Ordering::Relaxed);
        unlock();
        // SAFETY: an initialised condition.
        unsafe { libc::pthread_cond_signal(condition.at()) };
    };
    let wait = || {
        lock();
        while !ready.swap(false, Ordering::Relaxed) {
            // SAFETY: both are initialised, and this thread has the mutex.
            unsafe { libc::pthread_cond_wait(condition.at(), mutex.at()) };
        }
    };
    let [given, got] = hand_over(&HandOver { take: &|| (), give: &give, wait: &wait, done: &unlock }, slice_s);
    vec![Measured::of("pthread_cond_signal", "signal", given), Measured::of("pthread_cond_wait", "wait_on_value", got)]
}

fn semaphores(slice_s: f64) -> Vec<Measured> {
    // SAFETY: an object of this type may hold any bytes until it is initialised.
    let semaphore = Shared::new(unsafe { std::mem::zeroed::<libc::sem_t>() });
    // SAFETY: the object outlives its use, and is initialised once.
    unsafe { libc::sem_init(semaphore.at(), 0, 0) };
    let give = || {
        // SAFETY: an initialised semaphore.
        unsafe { libc::sem_post(semaphore.at()) };
    };
    let wait = || {
        // SAFETY: an initialised semaphore. A signal may end the call early.
        while unsafe { libc::sem_wait(semaphore.at()) } != 0 {}
    };
    let [given, got] = hand_over(&HandOver { take: &|| (), give: &give, wait: &wait, done: &|| () }, slice_s);
    vec![Measured::of("sem_post", "signal", given), Measured::of("sem_wait", "wait_on_value", got)]
}

/// Making a thread, and joining one: from its end until the join is over.
fn life(slice_s: f64) -> Vec<Measured> {
    static ORIGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    static ENDED: AtomicU64 = AtomicU64::new(0);
    extern "C" fn body(_: *mut c_void) -> *mut c_void {
        ENDED.store(ORIGIN.elapsed().as_nanos() as u64, Ordering::Release);
        std::ptr::null_mut()
    }
    let _ = *ORIGIN;
    let one = || {
        // SAFETY: an identifier may hold any bytes until a thread is made.
        let mut thread: libc::pthread_t = unsafe { std::mem::zeroed() };
        let begin = ORIGIN.elapsed();
        // SAFETY: the function has the type that the C library calls, and needs nothing of this frame.
        let made = unsafe { libc::pthread_create(&raw mut thread, std::ptr::null(), body, std::ptr::null_mut()) };
        let created = ORIGIN.elapsed();
        if made != 0 {
            return [0.0; 2];
        }
        // SAFETY: the thread was made, and is joined once.
        unsafe { libc::pthread_join(thread, std::ptr::null_mut()) };
        let over = ORIGIN.elapsed().as_nanos() as u64;
        // It may have ended before it was waited for.
        let from = ENDED.load(Ordering::Acquire).max(created.as_nanos() as u64);
        [created.saturating_sub(begin).as_secs_f64(), over.saturating_sub(from) as f64 * 1e-9]
    };
    let [created, joined] = rounds(slice_s, one);
    vec![
        Measured::of("pthread_create", "pe_management", created),
        Measured::of("pthread_join", "pe_management", joined),
    ]
}
