//! The archives that the tests run on, in memory, and the C library's printer.
//!
//! Where there are none, the tests say so and pass.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use partune_otf2::codec::{
    Anchor, Chunk, ChunkOutcome, Compression, Definition, EndKind, EventVisitor, Scope, chunks, read_chunk,
    read_definitions,
};
use partune_testkit::outside;

/// An archive, in memory.
pub(crate) struct Archive {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) anchor: Anchor,
    pub(crate) definitions: Vec<u8>,
    pub(crate) locations: Vec<Location>,
}

/// The files of a location, as far as they exist.
pub(crate) struct Location {
    pub(crate) id: u64,
    pub(crate) events: Option<Vec<u8>>,
    pub(crate) definitions: Option<Vec<u8>>,
}

/// All archives, in order of their names.
pub(crate) fn archives() -> &'static [Archive] {
    static ARCHIVES: OnceLock<Vec<Archive>> = OnceLock::new();
    ARCHIVES.get_or_init(|| {
        let Some(folder) = outside::traces() else { return Vec::new() };
        let mut anchors = Vec::new();
        find_anchors(&folder, &mut anchors);
        anchors.sort();
        assert!(!anchors.is_empty(), "no archives in {}", folder.display());
        anchors.iter().map(|path| Archive::read(path)).collect()
    })
}

fn find_anchors(folder: &Path, anchors: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find_anchors(&path, anchors);
        } else if path.extension().is_some_and(|extension| extension == "otf2") {
            anchors.push(path);
        }
    }
}

impl Archive {
    pub(crate) fn read(path: &Path) -> Archive {
        let base = path.with_extension("");
        let anchor =
            Anchor::read(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let definitions = std::fs::read(base.with_extension("def")).unwrap();
        let mut locations = Vec::new();
        read_definitions(&definitions, anchor.definition_chunk_size, Scope::Global, &mut |definition| {
            if let Definition::Location(location) = definition {
                let file = |kind: &str| std::fs::read(base.join(format!("{}.{kind}", location.id))).ok();
                locations.push(Location { id: location.id, events: file("evt"), definitions: file("def") });
            }
        })
        .unwrap();
        let name = path.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
        Archive { name, path: path.to_path_buf(), anchor, definitions, locations }
    }

    /// The chunks of a location's events; all of them must be sound.
    pub(crate) fn chunks<'a>(&self, location: &'a Location) -> Vec<Chunk<'a>> {
        let events = location.events.as_deref().unwrap_or_default();
        chunks(events, self.anchor.event_chunk_size).unwrap().map(|chunk| chunk.unwrap()).collect()
    }

    /// Decodes all events of a location, which must be sound.
    pub(crate) fn read_events<V: EventVisitor>(&self, location: &Location, visitor: &mut V) -> u64 {
        let chunks = self.chunks(location);
        let mut events = 0;
        for (index, chunk) in chunks.iter().enumerate() {
            let ChunkOutcome { events: read, unknown, extended, end } = read_chunk(chunk, visitor);
            let context = || format!("{}, location {}, chunk {index}", self.name, location.id);
            let expected = if index + 1 == chunks.len() { EndKind::EndOfFile } else { EndKind::EndOfChunk };
            assert_eq!((unknown, extended, end), (0, 0, expected), "{}", context());
            if let Some(promised) = chunk.promised() {
                assert_eq!(read, promised, "{}", context());
            }
            events += read;
        }
        events
    }

    /// Writes the archive to a folder, with other files in place of its own; the anchor file.
    pub(crate) fn write(&self, folder: &Path) -> PathBuf {
        let base = folder.join("copy");
        std::fs::create_dir_all(&base).unwrap();
        let anchor = Anchor { compression: Compression::None, ..self.anchor.clone() };
        std::fs::write(folder.join("copy.otf2"), anchor.write()).unwrap();
        std::fs::write(folder.join("copy.def"), &self.definitions).unwrap();
        for Location { id, events, definitions } in &self.locations {
            for (kind, bytes) in [("evt", events), ("def", definitions)] {
                if let Some(bytes) = bytes {
                    std::fs::write(base.join(format!("{id}.{kind}")), bytes).unwrap();
                }
            }
        }
        folder.join("copy.otf2")
    }
}

/// What `otf2-print` says about an archive.
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) errors: String,
}

/// Runs `otf2-print`; `None` if it is not installed.
pub(crate) fn otf2_print(anchor: &Path, options: &[&str]) -> Option<Printed> {
    let output = Command::new("otf2-print").args(options).arg(anchor).stdin(Stdio::null()).output();
    match output {
        Ok(output) => Some(Printed {
            text: String::from_utf8_lossy(&output.stdout).into_owned(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
        Err(error) => {
            outside::missing(&format!("otf2-print to compare with ({error})"));
            None
        }
    }
}

/// The lines of records in a print: their name and the rest.
pub(crate) fn records(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'));
        is_name.then_some((name, rest))
    })
}
