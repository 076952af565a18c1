//! What a thread is doing, for itself and for the handler that samples it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What a thread is doing, for itself and for its handler: how many recorded calls it is in, and whether samples wait.
#[derive(Debug, Default)]
pub(crate) struct Attention(AtomicU32);

const WAITING: u32 = 1 << 31;

#[allow(clippy::inline_always, reason = "part of the hot path: a load or a store")]
impl Attention {
    /// No call is being recorded, and nothing has to be done before one.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.0.load(Relaxed) == 0
    }

    /// How many calls are being recorded.
    #[inline(always)]
    pub(crate) fn calls(&self) -> u32 {
        self.0.load(Relaxed) & !WAITING
    }

    #[inline(always)]
    pub(crate) fn set_calls(&self, calls: u32) {
        self.0.store(calls, Relaxed);
    }

    /// Whether samples wait to be written.
    pub(crate) fn samples_wait(&self) -> bool {
        self.0.load(Relaxed) & WAITING != 0
    }

    /// Says that samples wait. For the handler.
    pub(crate) fn let_wait(&self) {
        self.0.fetch_or(WAITING, Relaxed);
    }
}
