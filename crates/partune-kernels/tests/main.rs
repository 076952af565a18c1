//! Loops whose bounds are known.

mod caches;
mod counted;
mod glue;
mod known;
mod roofline;
mod source;
mod strange;
mod turns;
