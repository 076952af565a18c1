//! Real archives that nobody here wrote, where they are present, and ours.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use partune_testkit::outside;

/// An archive with its name in the collection.
pub(crate) struct Archive {
    pub(crate) name: String,
    pub(crate) anchor: PathBuf,
}

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A shared archive without its event files: there is nothing to analyse.
pub(crate) const EMPTY: &str = "casita-4_mpi_lammps_colloid";

/// A place among the shared traces, where they are present.
pub(crate) fn shared(place: &str) -> Option<PathBuf> {
    let folder = outside::traces()?.join(place);
    assert!(folder.is_dir(), "{} is a folder", folder.display());
    Some(folder)
}

/// All shared OTF2 archives that hold events, where they are present, and our own.
pub(crate) fn archives() -> Vec<Archive> {
    let mut found = Vec::new();
    if let Some(shared) = shared("otf2") {
        collect(&shared, &mut found);
        assert!(!found.is_empty(), "no archives in {}", shared.display());
    }
    collect(&workspace().join("examples/archives"), &mut found);
    found.retain(|archive| archive.name != EMPTY);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!found.is_empty(), "the archive in examples/ is always there");
    found
}

/// Anchor files in the folders of a collection.
fn collect(collection: &Path, found: &mut Vec<Archive>) {
    let Ok(folders) = std::fs::read_dir(collection) else { return };
    for folder in folders.flatten().filter(|folder| folder.path().is_dir()) {
        let name = folder.file_name().to_string_lossy().into_owned();
        let inner = std::fs::read_dir(folder.path()).into_iter().flatten().flatten().map(|it| it.path());
        let places = std::iter::once(folder.path()).chain(inner.filter(|path| path.is_dir()));
        let anchor = places
            .filter_map(|place| std::fs::read_dir(place).ok())
            .flat_map(|files| files.flatten().map(|file| file.path()))
            .find(|file| file.extension().is_some_and(|extension| extension == "otf2"));
        if let Some(anchor) = anchor {
            found.push(Archive { name, anchor });
        }
    }
}

/// All files of an archive in memory, by the names under which an importer asks for them.
pub(crate) fn load(anchor: &Path) -> (String, BTreeMap<String, Vec<u8>>) {
    let folder = anchor.parent().expect("an anchor is in a folder");
    let name = anchor.file_name().expect("an anchor has a name").to_string_lossy().into_owned();
    let stem = name.trim_end_matches(".otf2").to_owned();
    let mut files = BTreeMap::new();
    let mut read = |name: String| {
        if let Ok(bytes) = std::fs::read(folder.join(&name)) {
            files.insert(name, bytes);
        }
    };
    read(name.clone());
    read(format!("{stem}.def"));
    for file in std::fs::read_dir(folder.join(&stem)).into_iter().flatten().flatten() {
        read(format!("{stem}/{}", file.file_name().to_string_lossy()));
    }
    (name, files)
}

/// Paraver traces with the names beside them: our own, and a small one of EPOCH, compressed and plain. Entry and files.
pub(crate) fn paraver() -> Vec<(String, BTreeMap<String, Vec<u8>>)> {
    let read = |folder: &Path, names: &[&str]| -> BTreeMap<String, Vec<u8>> {
        let read = |name: &&str| (name.to_string(), std::fs::read(folder.join(name)).expect("it is there"));
        names.iter().map(read).collect()
    };
    let own = read(&workspace().join("examples/archives/paraver"), &["trace.prv", "trace.pcf", "trace.row"]);
    let mut found = vec![("trace.prv".to_owned(), own)];
    if let Some(folder) = shared("paraver/pypop-epoch-mpi-1to16") {
        let names = ["epoch_2proc.prv.gz", "epoch_2proc.pcf", "epoch_2proc.row"];
        let files = read(&folder, &names);
        let (mut plain, mut text) = (files.clone(), Vec::new());
        let packed = plain.remove(names[0]).expect("it was read");
        flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut text).expect("it is whole");
        plain.insert("epoch_2proc.prv".to_owned(), text);
        found.push((names[0].to_owned(), files));
        found.push(("epoch_2proc.prv".to_owned(), plain));
    }
    found
}

/// Sets of Projections logs: our own, and the small ones of others. Entry and files.
pub(crate) fn projections() -> Vec<(String, BTreeMap<String, Vec<u8>>)> {
    let own = workspace().join("examples/archives/projections");
    let recorded = ["pipit-pingpong-2", "projections-test", "charm-local-ge-4"];
    let recorded = shared("projections").into_iter().flat_map(|folder| recorded.map(|name| folder.join(name)));
    let load = |folder: PathBuf| {
        let files = std::fs::read_dir(&folder).expect("the folder is there").flatten().map(|file| file.path());
        let name = |path: &Path| path.file_name().expect("it has a name").to_string_lossy().into_owned();
        let files: BTreeMap<String, Vec<u8>> = files
            .filter(|path| path.is_file())
            .map(|path| (name(&path), std::fs::read(&path).expect("it is there")))
            .collect();
        let is_entry = |name: &&String| partune_projections::import::FORMAT.is_entry(name);
        (files.keys().find(is_entry).expect("there is a symbol table").clone(), files)
    };
    std::iter::once(own).chain(recorded).map(load).collect()
}
