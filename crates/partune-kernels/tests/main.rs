//! Loops whose bounds are known.

mod known;
mod strange;
