//! Loops whose bounds are known.

mod caches;
mod known;
mod strange;
