//! Tests of the paradigm tables: their spellings, their completeness against installed libraries, and real archives.
#![allow(clippy::print_stderr, reason = "a test says what it skips")]

mod archives;
mod libraries;
mod prototypes;
mod spellings;
mod tables;

/// Says that something is not there to test against; in CI that is a failure.
fn skip(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "CI must have it: {what}");
    eprintln!("skipped: {what}");
}
