//! Loops whose bounds are known.

mod caches;
mod counted;
mod known;
mod strange;
