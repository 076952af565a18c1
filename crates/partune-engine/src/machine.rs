//! Reads and writes machine descriptions.

use std::io;
use std::path::{Path, PathBuf};

use partune_machine::{Machine, ReadError};

/// Why a description cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    #[error("{}: {error}\n  remedy: make one with partune machine measure -o {}", path.display(), path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Read { path: PathBuf, error: ReadError },
    #[error("{}: {error}\n  remedy: give another place with -o", path.display())]
    Write { path: PathBuf, error: io::Error },
}

/// Reads a description.
pub fn read_machine(path: &Path) -> Result<Machine, MachineError> {
    let text = std::fs::read_to_string(path).map_err(|error| MachineError::Open { path: path.to_owned(), error })?;
    partune_machine::read(&text).map_err(|error| MachineError::Read { path: path.to_owned(), error })
}

/// Writes a description; a file that is there is replaced.
pub fn write_machine(path: &Path, machine: &Machine) -> Result<(), MachineError> {
    std::fs::write(path, partune_machine::write(machine))
        .map_err(|error| MachineError::Write { path: path.to_owned(), error })
}
