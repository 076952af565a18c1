//! What tests need and this repository does not hold: recorded archives, and programs of others.
//!
//! A test that cannot run passes and is reported as skipped. Archives are too large to belong to a clone, so whoever has none skips their tests, in
//! CI too; programs are what `scripts/setup.sh` installs, so in CI their absence is a failure. Runners hide what a test that passes prints; where the
//! environment variable `PARTUNE_SKIPPED` names a file, a line is added there for each, which `scripts/test.sh` prints at the end.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folder of archives that nobody here wrote: `$PARTUNE_TRACES`, else `../shared/traces` beside the repository. Where it is absent, the test that asks is
/// reported as skipped.
pub fn traces() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var_os("PARTUNE_TRACES").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(&format!("no recorded archives at {}", folder.display()));
    None
}

/// A program, or something else that `scripts/setup.sh` installs, is not here.
///
/// # Panics
/// In CI.
pub fn missing(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "{what} must be present in CI");
    skipped(&format!("no {what}"));
}

/// The calling test does not test everything, and why.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    #[allow(clippy::print_stderr, reason = "what a test skips is said")]
    {
        eprint!("skipped: {line}");
    }
    let Some(path) = std::env::var_os("PARTUNE_SKIPPED") else { return };
    let written =
        OpenOptions::new().create(true).append(true).open(&path).and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
