//! Which ledger is meant by `--ledger`: what advice predicted, and what came of it.

use std::path::{Path, PathBuf};

use partune_engine::{LEDGER, ledger_beside};

/// The file that is named, or in the folder that is named; else beside a recording, or here.
pub(crate) fn file(named: Option<&Path>, recording: Option<&Path>) -> PathBuf {
    match (named, recording) {
        (Some(folder), _) if folder.is_dir() => folder.join(LEDGER),
        (Some(file), _) => file.to_owned(),
        (None, Some(recording)) => ledger_beside(recording),
        (None, None) => PathBuf::from(LEDGER),
    }
}
