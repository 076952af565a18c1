//! What the fuzz targets of the OTF2 codec do with their input.
//!
//! For the targets in `fuzz_targets/` and for the tests of `partune-otf2`, which run the same functions over mutations of small inputs, so
//! that they are exercised without a nightly compiler. Besides not panicking, the decoders must keep their promises: what was read can be
//! written, and reads the same again.

use std::collections::BTreeSet;

use partune_otf2::codec::marker::read_markers;
use partune_otf2::codec::snapshot::read_snapshots;
use partune_otf2::codec::thumbnail::read_thumbnail;
use partune_otf2::codec::{
    Anchor, AttributeList, Compression, Definition, Event, EventVisitor, IdMap, Scope, chunks, inflate, read_chunk,
    read_definitions, transcode,
};

const CHUNK: u64 = 512;
const COPY_CHUNK: u64 = 1 << 18;

/// An anchor file.
pub(crate) fn anchor(bytes: &[u8]) {
    if let Ok(anchor) = Anchor::read(bytes) {
        let again = Anchor::read(&anchor.write()).expect("what was written reads");
        assert_eq!(again.description, anchor.description);
        assert_eq!((again.locations, again.trace_id >> 63), (anchor.locations, again.trace_id >> 63));
    }
}

/// A definition file, taken as a global one and as a local one.
pub(crate) fn definitions(bytes: &[u8]) {
    for scope in [Scope::Global, Scope::Local] {
        let mut copy = Vec::new();
        transcode::definitions(bytes, CHUNK, COPY_CHUNK, scope, &mut |chunk| copy.extend_from_slice(chunk))
            .expect("records fit");
        let mut texts = BTreeSet::new();
        let mut each = |definition: Definition<'_>| texts.extend(text_of(&definition));
        read_definitions(bytes, CHUNK, scope, &mut each).expect("a chunk size");
        let print = |bytes: &[u8], size| {
            let mut lines = Vec::new();
            read_definitions(bytes, size, scope, &mut |mut one| {
                // What has no name in a global file has one in the copy, which says so.
                if scope == Scope::Global {
                    let name = name_of(&mut one);
                    name.into_iter().flatten().filter(|name| !texts.contains(*name)).for_each(|name| *name = NONE);
                }
                lines.extend((!matches!(one, Definition::Unknown { .. })).then(|| format!("{one:?}")));
            })
            .expect("a chunk size");
            lines
        };
        // A copy defines names that nobody does, and early those that the C library's readers need early; else it says the same.
        let (mut before, mut after) = (print(bytes, CHUNK), print(&copy, COPY_CHUNK));
        before.sort();
        after.sort();
        let mut originals = before.iter().peekable();
        after.retain(|line| originals.next_if(|original| *original == line).is_some() || !line.contains(UNDEFINED));
        assert_eq!(before, after);
        if scope == Scope::Global {
            let mut defined = BTreeSet::new();
            read_definitions(&copy, COPY_CHUNK, scope, &mut |mut one| {
                defined.extend(text_of(&one));
                let line = format!("{one:?}");
                assert!(name_of(&mut one).into_iter().flatten().all(|name| defined.contains(name)), "{line}");
            })
            .expect("a chunk size");
        }
    }
}

/// `(undefined)`, as the bytes of a text are printed.
const UNDEFINED: &str = "[40, 117, 110, 100, 101, 102, 105, 110, 101, 100, 41]";

/// The reference to nothing.
const NONE: u32 = u32::MAX;

/// The number of a text.
fn text_of(definition: &Definition<'_>) -> Option<u32> {
    if let Definition::Text(text) = definition { Some(text.id).filter(|id| *id != NONE) } else { None }
}

/// Names that the C library's readers take for granted.
fn name_of<'a>(definition: &'a mut Definition<'_>) -> [Option<&'a mut u32>; 2] {
    match definition {
        Definition::SystemTreeNode(it) => [Some(&mut it.name), Some(&mut it.class_name)],
        Definition::Region(it) => [Some(&mut it.name), None],
        Definition::SourceCodeLocation(it) => [Some(&mut it.file), None],
        _ => [None, None],
    }
}

/// An event file.
pub(crate) fn events(bytes: &[u8]) {
    let print = |bytes: &[u8], size| {
        let mut lines = Lines(Vec::new());
        for chunk in chunks(bytes, size).expect("a chunk size").flatten() {
            let outcome = read_chunk(&chunk, &mut lines);
            assert!(outcome.events + outcome.unknown <= chunk.bytes.len() as u64);
            if outcome.end == partune_otf2::codec::EndKind::EndOfFile {
                break;
            }
        }
        lines.0
    };
    let mut copy = Vec::new();
    transcode::events(bytes, CHUNK, COPY_CHUNK, &mut |chunk| copy.extend_from_slice(chunk)).expect("records fit");
    assert_eq!(print(bytes, CHUNK), print(&copy, COPY_CHUNK));
}

/// A file of zlib blocks, and a mapping table.
pub(crate) fn blocks(bytes: &[u8]) {
    const LIMIT: usize = 1 << 20;
    if let Ok(plain) = inflate::plain(bytes, Compression::Zlib, LIMIT) {
        assert!(plain.bytes.len() <= LIMIT);
    }
    let _ = read_definitions(bytes, CHUNK, Scope::Local, &mut |definition| {
        if let Definition::MappingTable(table) = definition {
            let map = IdMap::new(&table.id_map);
            let mut local = Vec::new();
            table.id_map.for_each(|id, global| {
                // Of several entries for an id the first counts.
                if !local.contains(&id) {
                    assert_eq!(map.get(id), global);
                    local.push(id);
                }
            });
        }
    });
}

/// A snapshot file, a marker file, a thumbnail file.
pub(crate) fn others(bytes: &[u8]) {
    for chunk in chunks(bytes, CHUNK).expect("a chunk size").flatten() {
        read_snapshots(&chunk, &mut |_, attributes, record| drop(format!("{attributes:?} {record:?}")));
    }
    let mut sink = |_: &[u8]| {};
    transcode::snapshots(bytes, CHUNK, COPY_CHUNK, &mut sink).expect("records fit");
    let mut copy = Vec::new();
    let copied =
        transcode::markers(bytes, CHUNK, COPY_CHUNK, &mut |chunk| copy.extend_from_slice(chunk)).expect("records fit");
    assert_eq!(read_markers(&copy, COPY_CHUNK, &mut |_| ()).map(|outcome| outcome.definitions), Ok(copied.records));
    copy.clear();
    let copied = transcode::thumbnail(bytes, &mut |chunk| copy.extend_from_slice(chunk)).expect("records fit");
    assert_eq!(read_thumbnail(&copy, &mut |_| ()).map(|outcome| outcome.definitions), Ok(copied.records));
}

struct Lines(Vec<String>);

impl EventVisitor for Lines {
    fn enter(&mut self, time: u64, region: u32) {
        self.0.push(format!("{time} enter {region}"));
    }
    fn leave(&mut self, time: u64, region: u32) {
        self.0.push(format!("{time} leave {region}"));
    }
    fn event(&mut self, time: u64, event: &Event<'_>) {
        self.0.push(format!("{time} {event:?}"));
    }
    fn attributes(&mut self, attributes: AttributeList<'_>) {
        // Empty lists are not written, and not worth it; those before an unknown record in big endian go with it.
        let _ = attributes;
    }
}
