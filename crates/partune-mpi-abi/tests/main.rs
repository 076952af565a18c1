//! Tests of the tables: every value against the headers of installed libraries, through a C compiler.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test says what it skips, and panics where it fails")]

mod compiled;
mod prototypes;
mod pure;

/// Says that something is not there to test against; in CI that is a failure.
fn skip(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "CI must have it: {what}");
    eprintln!("skipped: {what}");
}
