//! How much this process may still write: its part of what the whole recording may be, and the system's limit for a file.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of events that this process may keep, and those that it has taken.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The process may keep so many bytes.
pub(crate) fn limit(bytes: u64) {
    LIMIT.store(bytes, Relaxed);
}

/// The process is one of so many that the limit is for.
pub(crate) fn share(processes: u32) {
    let _ = LIMIT.fetch_update(Relaxed, Relaxed, |all| (all != u64::MAX).then(|| all / u64::from(processes.max(1))));
}

/// Takes so many bytes. Whether they are within the limit.
pub(crate) fn take(bytes: u64) -> bool {
    TAKEN.fetch_add(bytes, Relaxed).saturating_add(bytes) <= LIMIT.load(Relaxed)
}

/// Gives back bytes that were taken and not used.
pub(crate) fn give(bytes: u64) {
    TAKEN.fetch_sub(bytes, Relaxed);
}

/// Whether a file may be as large. One that grows beyond would get the process a signal that ends it.
pub(crate) fn fits_a_file(bytes: u64) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a place for what is asked.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) != 0 || bytes <= limit.rlim_cur }
}
