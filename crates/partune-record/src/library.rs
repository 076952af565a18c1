//! The collectors, which travel inside partune: one file to install, nothing to find at run time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The library that is loaded into MPI programs; built by `build.rs`.
static MPI: &[u8] = include_bytes!(env!("PARTUNE_COLLECT_MPI"));

/// Unpacks the library for the programs of this run and returns its path.
///
/// Into the archive's folder, which other nodes see too; the loader's list of libraries cannot have spaces or colons, so a folder with
/// such a name needs another place.
pub(crate) fn unpack(parts: &Path) -> io::Result<PathBuf> {
    let fits = parts.to_str().is_some_and(|path| !path.contains([' ', ':', ';', '\t', '\n']));
    let folder = if fits {
        parts.to_owned()
    } else {
        let folder = std::env::temp_dir().join(format!("partune-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        folder
    };
    let path = folder.join("libpartune_collect_mpi.so");
    fs::write(&path, MPI)?;
    Ok(path)
}
