//! Whether a recorded process still runs: then its parts are not complete.

use std::fs;
use std::path::Path;

use crate::log::ProcessLog;

/// Whether the process that writes this log has it open. One of another machine cannot be asked.
pub(crate) fn writes(log: &ProcessLog, path: &Path) -> bool {
    if log.boot != partune_parts::machine::boot() {
        return false;
    }
    let Ok(path) = path.canonicalize() else { return false };
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", log.pid)) else { return false };
    open.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target == path))
}
