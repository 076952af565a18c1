//! The recorded archives that lie beside the repository, where they are present.

use std::path::Path;

use partune_testkit::outside;

use crate::texts::Archive;

pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) entry: String,
    pub(crate) files: Archive,
}

/// All shared sets of logs.
pub(crate) fn shared() -> Vec<Shared> {
    let Some(folder) = outside::traces() else { return Vec::new() };
    let entries = |folder: &Path| {
        let read = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths: Vec<_> = read.map(|entry| entry.expect("it is read").path()).collect();
        paths.sort();
        paths
    };
    let file_name = |path: &Path| path.file_name().expect("it has a name").to_string_lossy().into_owned();
    let load = |folder: &Path| {
        let paths = entries(folder).into_iter().filter(|path| path.is_file());
        let files: Archive = paths.map(|path| (file_name(&path), std::fs::read(&path).expect("it is read"))).collect();
        let entry = files.keys().find(|name| partune_projections::import::FORMAT.is_entry(name)).expect("an entry");
        Shared { name: file_name(folder), entry: entry.clone(), files }
    };
    let found: Vec<Shared> = entries(&folder.join("projections")).iter().map(|folder| load(folder)).collect();
    assert!(found.len() >= 4, "the recorded sets are there");
    found
}
