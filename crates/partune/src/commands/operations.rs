//! `--operations`: what functions of the program do, for the commands that analyse.

use std::path::{Path, PathBuf};

use anyhow::Context;

use partune_engine::{OPERATIONS, Operations, OperationsError};

#[derive(clap::Args)]
pub(crate) struct OperationsFile {
    /// What functions of the program do, and patterns of your own: a file as docs/operations.md has it; else operations.toml beside the archive
    #[arg(long, value_name = "FILE")]
    operations: Option<PathBuf>,
}

impl OperationsFile {
    /// What the file says; nothing if none is given.
    pub(crate) fn read(&self) -> Result<Operations, OperationsError> {
        self.operations.as_deref().map_or_else(|| Ok(Operations::default()), partune_engine::read_operations)
    }
}

/// Puts a file of operations beside the archive of a recording, where analyses find it.
pub(crate) fn keep(file: &Path, archive: &Path) -> anyhow::Result<()> {
    let to = archive.with_file_name(OPERATIONS);
    let cannot = || {
        format!("cannot copy {} to {}\n  remedy: give it to analyze with --operations", file.display(), to.display())
    };
    std::fs::copy(file, &to).map(|_| ()).with_context(cannot)
}
