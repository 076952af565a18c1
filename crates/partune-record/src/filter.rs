//! A file that says what is not to be recorded: functions of the program by name, which become addresses before it starts, and of libraries.
//!
//! For [`crate::launch`]. Libraries that programs load are not looked into; what is instrumented in them is recorded.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use partune_parts::filter::Skip;
use partune_symbols::{Filter, Module, NoFiles, Storage};

use crate::RecordError;
use crate::choice::Kind;
use crate::program::Program;

/// What a file says.
pub(crate) struct Rules<'a> {
    path: &'a Path,
    filter: Filter,
    /// Functions of libraries of which calls are left out.
    pub(crate) not: Vec<Kind>,
}

impl Rules<'_> {
    pub(crate) fn read(path: &Path) -> Result<Rules<'_>, RecordError> {
        let text = fs::read_to_string(path).map_err(|error| RecordError::NoFilter { path: path.to_owned(), error })?;
        let filter = Filter::parse(&text).map_err(|error| RecordError::Filter { path: path.to_owned(), error })?;
        let not = filter.not.iter().map(|word| word.parse()).collect::<Result<_, _>>();
        let not = not.map_err(|error| RecordError::FilterWord { path: path.to_owned(), error })?;
        Ok(Rules { path, filter, not })
    }

    /// Writes the addresses that the rules exclude to a file in `parts`; its path, if they are about addresses.
    pub(crate) fn resolve(&self, command: &[OsString], parts: &Path) -> Result<Option<PathBuf>, RecordError> {
        if !self.filter.has_rules() {
            return Ok(None);
        }
        let modules: Vec<String> = command.iter().filter_map(|word| excluded(Path::new(word), &self.filter)).collect();
        if modules.is_empty() {
            return Err(RecordError::NoModule { path: self.path.to_owned() });
        }
        let resolved = parts.join("filter");
        fs::write(&resolved, modules.concat()).map_err(RecordError::file(&resolved))?;
        Ok(Some(resolved))
    }
}

/// The lines of a module; none if the file is not one.
fn excluded(path: &Path, filter: &Filter) -> Option<String> {
    let Program { path, content } = Program::read(path)?;
    let storage = Storage::new();
    let module = Module::parse(&path.to_string_lossy(), &content, &NoFiles, &storage).ok()?;
    let skip = |range: &std::ops::Range<u64>| Skip { path: &path, begin: range.start, end: range.end }.line();
    Some(filter.excluded(&module).iter().map(skip).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let filter = Filter::parse("exclude *\n").expect("a filter");
        for (name, bytes) in [("input", &b"1 2 3"[..]), ("short", b"\x7f"), ("empty", b"")] {
            let path = folder.path().join(name);
            fs::write(&path, bytes).expect("a file is written");
            assert_eq!(excluded(&path, &filter), None, "{name}");
        }
        let test = std::env::current_exe().expect("the test binary has a path");
        assert!(excluded(&test, &filter).is_some_and(|lines| lines.lines().count() > 100));
    }
}
