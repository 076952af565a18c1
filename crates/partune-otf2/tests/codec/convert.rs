//! Copies of archives: `otf2-print` must say the same of them as of the originals, and say it without warnings.

use std::path::Path;

use partune_otf2::codec::transcode::{self, Copied};
use partune_otf2::codec::{Anchor, Scope};

use super::archives::{Archive, Location, archives, otf2_print};

/// The archive, copied record by record into chunks of the given sizes.
pub(crate) fn copied(archive: &Archive, event_chunk_size: u64, definition_chunk_size: u64) -> Archive {
    let anchor = Anchor { event_chunk_size, definition_chunk_size, ..archive.anchor.clone() };
    let sound = |copied: Copied| assert!(copied.damage.is_none(), "{}: {copied:?}", archive.name);
    let definitions = |bytes: &[u8], scope| {
        let mut to = Vec::new();
        let mut sink = |chunk: &[u8]| to.extend_from_slice(chunk);
        sound(
            transcode::definitions(
                bytes,
                archive.anchor.definition_chunk_size,
                definition_chunk_size,
                scope,
                &mut sink,
            )
            .unwrap(),
        );
        to
    };
    let events = |bytes: &[u8]| {
        let mut to = Vec::new();
        let mut sink = |chunk: &[u8]| to.extend_from_slice(chunk);
        sound(transcode::events(bytes, archive.anchor.event_chunk_size, event_chunk_size, &mut sink).unwrap());
        to
    };
    let locations = archive.locations.iter().map(|location| Location {
        id: location.id,
        events: location.events.as_deref().map(events),
        definitions: location.definitions.as_deref().map(|bytes| definitions(bytes, Scope::Local)),
    });
    Archive {
        name: archive.name.clone(),
        path: archive.path.clone(),
        anchor,
        definitions: definitions(&archive.definitions, Scope::Global),
        locations: locations.collect(),
    }
}

/// Asserts that the printer says the same of two archives.
pub(crate) fn assert_prints_same(original: &Path, copy: &Path, context: &str) {
    for options in [&["-G", "-M", "-C", "-T"][..], &[][..]] {
        let (Some(expected), Some(found)) = (otf2_print(original, options), otf2_print(copy, options)) else { return };
        let without_paths = |text: &str, anchor: &Path| text.replace(&*anchor.with_extension("").to_string_lossy(), "");
        assert_eq!(without_paths(&found.errors, copy), without_paths(&expected.errors, original), "{context}");
        for (found, expected) in found.text.lines().zip(expected.text.lines()) {
            assert_eq!(found, expected, "{context}");
        }
        assert_eq!(found.text.len(), expected.text.len(), "{context}");
    }
}

#[test]
fn copies_print_the_same() {
    for archive in archives() {
        let folder = tempfile::tempdir().unwrap();
        // The smallest chunks that the library reads, so that there are several.
        let copy = copied(archive, 1 << 18, 1 << 18).write(folder.path());
        assert_prints_same(&archive.path, &copy, &archive.name);
    }
}

/// With the chunk sizes of the original, files that the C library wrote since 1.4 come out byte by byte. Before that it used the long form
/// of lengths throughout, and some archives have lost their last bytes or got a line feed on their way.
#[test]
fn files_of_the_library_come_out_byte_by_byte() {
    let same = |copy: &[u8], original: &[u8]| original.strip_suffix(b"\n").unwrap_or(original) == copy;
    for archive in archives().iter().filter(|archive| archive.anchor.version >= [1, 4, 0]) {
        let copy = copied(archive, archive.anchor.event_chunk_size, archive.anchor.definition_chunk_size);
        assert!(same(&copy.definitions, &archive.definitions), "{}: global definitions", archive.name);
        assert!(same(&archive.anchor.write(), &std::fs::read(&archive.path).unwrap()), "{}: anchor", archive.name);
        for (copy, original) in copy.locations.iter().zip(&archive.locations) {
            for (copy, original) in [(&copy.events, &original.events), (&copy.definitions, &original.definitions)] {
                let (Some(copy), Some(original)) = (copy, original) else { continue };
                assert!(same(copy, original), "{}, location {}", archive.name, copy.len());
            }
        }
    }
}
