//! Names of functions that a user does not want to see become addresses, before the program starts.
//!
//! For [`crate::launch`]. The programs are the words of the command that name an ELF file: `./app` in `mpirun -n 4 ./app`. Libraries that
//! they load are not looked into; what is instrumented in them is recorded.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use partune_parts::filter::Skip;
use partune_symbols::{Filter, Module, NoFiles, Storage};

use crate::RecordError;

/// Writes the addresses that the rules exclude to a file in `parts`; its path.
pub(crate) fn resolve(rules: &Path, command: &[OsString], parts: &Path) -> Result<PathBuf, RecordError> {
    let text = fs::read_to_string(rules).map_err(RecordError::file(rules))?;
    let filter = Filter::parse(&text).map_err(|error| RecordError::Filter { path: rules.to_owned(), error })?;
    let modules: Vec<String> = command.iter().filter_map(|word| excluded(Path::new(word), &filter)).collect();
    if modules.is_empty() {
        return Err(RecordError::NoModule { path: rules.to_owned() });
    }
    let resolved = parts.join("filter");
    fs::write(&resolved, modules.concat()).map_err(RecordError::file(&resolved))?;
    Ok(resolved)
}

/// The lines of a module; none if the file is not one.
fn excluded(path: &Path, filter: &Filter) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let bytes = fs::read(&path).ok()?;
    let storage = Storage::new();
    let module = Module::parse(&path.to_string_lossy(), &bytes, &NoFiles, &storage).ok()?;
    let skip = |range: &std::ops::Range<u64>| Skip { path: &path, begin: range.start, end: range.end }.line();
    Some(filter.excluded(&module).iter().map(skip).collect())
}
