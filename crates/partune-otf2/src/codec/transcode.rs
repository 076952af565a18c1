//! Copies the files of an archive record by record: whatever byte order, compression and chunk size they have, they come out little endian,
//! plain, and in chunks of the size asked for.
//!
//! For `partune convert`. Nothing is interpreted: times and ids stay local, older records stay old, records of unknown types are copied as
//! bytes. Only those that stand in a big endian buffer cannot be (nobody knows what to turn around) and count as lost. Damaged inputs are
//! copied as far as they can be read.

use std::collections::{BTreeMap, BTreeSet};

use super::attributes::AttributeList;
use super::chunk::{Chunk, check_size, chunk};
use super::cursor::Endian;
use super::definition::{Definition, Region, SourceCodeLocation, SystemTreeNode, Text};
use super::definitions::{DefinitionWriter, Outcome, Scope, read_definitions};
use super::error::{CodecError, Damage, EndKind};
use super::event::Event;
use super::event_writer::EventWriter;
use super::events::{ChunkOutcome, EventVisitor, read_chunk};
use super::marker::{MarkerRecord, MarkerWriter, read_markers};
use super::snapshot::{Found, SnapshotWriter, read_snapshots};
use super::thumbnail::{ThumbnailRecord, ThumbnailWriter, read_thumbnail};

/// What was copied, and what could not be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    /// Records in the copy.
    pub records: u64,
    /// What was lost. Unknown records count only if they were.
    pub damage: Damage,
    /// Names that the file does not define and that a reader needs; the copy has a text that says so.
    pub unnamed: u64,
}

/// Copies an event file with chunks of `from` bytes into one with chunks of `to` bytes.
pub fn events(bytes: &[u8], from: u64, to: u64, sink: &mut dyn FnMut(&[u8])) -> Result<Copied, CodecError> {
    let mut parts = slices(bytes, from);
    events_of(&mut |read| parts.next().is_some_and(read), from, to, sink)
}

/// Hands the bytes of the next chunk of a file to a function, and returns what it returns: whether to go on. False where there is no chunk.
pub type NextChunk<'a> = dyn FnMut(&mut dyn FnMut(&[u8]) -> bool) -> bool + 'a;

/// The same of a file of which a chunk at a time is in memory.
pub fn events_of(
    chunks: &mut NextChunk<'_>,
    from: u64,
    to: u64,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<Copied, CodecError> {
    let mut copy = EventCopy {
        writer: EventWriter::new(to, sink)?,
        attributes: Vec::new(),
        endian: Endian::Little,
        result: Ok(()),
    };
    let damage = each_chunk(chunks, from, |chunk| {
        copy.endian = chunk.endian;
        let outcome = read_chunk(chunk, &mut copy);
        copy.result.map(|()| outcome)
    })?;
    Ok(Copied { records: copy.writer.finish(), damage, unnamed: 0 })
}

/// Copies a snapshot file with chunks of `from` bytes into one with chunks of `to` bytes.
pub fn snapshots(bytes: &[u8], from: u64, to: u64, sink: &mut dyn FnMut(&[u8])) -> Result<Copied, CodecError> {
    let mut writer = SnapshotWriter::new(to, sink)?;
    let mut parts = slices(bytes, from);
    let chunks = &mut |read: &mut dyn FnMut(&[u8]) -> bool| parts.next().is_some_and(read);
    let damage = each_chunk(chunks, from, |chunk| {
        let mut result = Ok(());
        let outcome = read_snapshots(chunk, &mut |time, attributes, found| {
            if result.is_ok() && !(matches!(found, Found::Unknown(..)) && chunk.endian == Endian::Big) {
                result = writer.write(time, &attributes, &found);
            }
        });
        result.map(|()| outcome)
    })?;
    Ok(Copied { records: writer.finish(), damage, unnamed: 0 })
}

/// Copies a definition file with chunks of `from` bytes into one with chunks of `to` bytes.
pub fn definitions(
    bytes: &[u8],
    from: u64,
    to: u64,
    scope: Scope,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<Copied, CodecError> {
    let mut writer = DefinitionWriter::new(to, sink)?;
    let (names, unnamed) = if scope == Scope::Global { late_names(bytes, from)? } else { (LateNames::new(), NONE) };
    let named = |name: u32| if name == NONE { unnamed } else { name };
    for (id, text) in &names {
        writer.write(Text { id: *id, string: text.as_deref().unwrap_or(UNDEFINED) })?;
    }
    let mut result = Ok(());
    let mut lost = 0;
    let outcome = read_definitions(bytes, from, scope, &mut |definition| match definition {
        Definition::Unknown { endian: Endian::Big, .. } => lost += 1,
        Definition::Text(text) if names.contains_key(&text.id) => {}
        Definition::SystemTreeNode(node) if result.is_ok() => {
            let (name, class_name) = (named(node.name), named(node.class_name));
            result = writer.write(SystemTreeNode { name, class_name, ..node });
        }
        Definition::Region(it) if result.is_ok() => result = writer.write(Region { name: named(it.name), ..it }),
        Definition::SourceCodeLocation(it) if result.is_ok() => {
            result = writer.write(SourceCodeLocation { file: named(it.file), ..it });
        }
        definition if result.is_ok() => result = writer.write(definition),
        _ => {}
    })?;
    result?;
    let unnamed = names.values().filter(|text| text.is_none()).count() as u64;
    Ok(Copied { unnamed, ..copied(writer.finish(), outcome, lost) })
}

/// What a name is that the file does not define.
const UNDEFINED: &[u8] = b"(undefined)";

/// The reference to nothing.
const NONE: u32 = u32::MAX;

type LateNames = BTreeMap<u32, Option<Vec<u8>>>;

/// Names of nodes of the machine, regions and places in the source that are not defined before what they name: their texts, if they are defined
/// after it. The C library's readers join these names to paths and call them without looking, and crash where there is none, so a copy has them at its begin. With them comes the number of the text for
/// what has no name.
fn late_names(bytes: &[u8], chunk_size: u64) -> Result<(LateNames, u32), CodecError> {
    let mut known = BTreeSet::new();
    let mut late = LateNames::new();
    read_definitions(bytes, chunk_size, Scope::Global, &mut |definition| {
        let needed = match definition {
            Definition::Text(text) => {
                match late.get_mut(&text.id) {
                    Some(found) => *found = found.take().or_else(|| Some(text.string.to_vec())),
                    None => _ = known.insert(text.id),
                }
                return;
            }
            Definition::SystemTreeNode(it) => [it.name, it.class_name],
            Definition::Region(it) => [it.name; 2],
            Definition::SourceCodeLocation(it) => [it.file; 2],
            _ => return,
        };
        for name in needed {
            if name == NONE || !known.contains(&name) {
                late.entry(name).or_default();
            }
        }
    })?;
    let free = (0..NONE).rev().find(|id| !known.contains(id) && !late.contains_key(id)).unwrap_or_default();
    if late.remove(&NONE).is_some() {
        late.insert(free, None);
    }
    Ok((late, free))
}

/// Copies a marker file with chunks of `from` bytes into one with chunks of `to` bytes; both are the sizes for definitions.
pub fn markers(bytes: &[u8], from: u64, to: u64, sink: &mut dyn FnMut(&[u8])) -> Result<Copied, CodecError> {
    let mut writer = MarkerWriter::new(to, sink)?;
    let mut result = Ok(());
    let mut lost = 0;
    let outcome = read_markers(bytes, from, &mut |record| match record {
        MarkerRecord::Unknown { endian: Endian::Big, .. } => lost += 1,
        record if result.is_ok() => result = writer.write(record),
        _ => {}
    })?;
    result?;
    Ok(copied(writer.finish(), outcome, lost))
}

/// Copies a thumbnail file.
pub fn thumbnail(bytes: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<Copied, CodecError> {
    let mut writer = ThumbnailWriter::new(sink)?;
    let mut result = Ok(());
    let mut lost = 0;
    let outcome = read_thumbnail(bytes, &mut |record| match record {
        ThumbnailRecord::Unknown { endian: Endian::Big, .. } => lost += 1,
        record if result.is_ok() => result = writer.write(record),
        _ => {}
    })?;
    result?;
    Ok(copied(writer.finish(), outcome, lost))
}

fn copied(records: u64, outcome: Outcome, lost: u64) -> Copied {
    Copied { records, damage: Damage { unknown_records: lost, ..outcome.damage }, unnamed: 0 }
}

/// Reads the chunks of a file of timed records up to its end mark.
fn each_chunk(
    chunks: &mut NextChunk<'_>,
    size: u64,
    mut read: impl FnMut(&Chunk<'_>) -> Result<ChunkOutcome, CodecError>,
) -> Result<Damage, CodecError> {
    check_size(size)?;
    let mut damage = Damage::default();
    let mut result = Ok(());
    let mut index = 0;
    let mut one = |bytes: &[u8]| {
        let end = match chunk(bytes, index, size) {
            Ok(chunk) => read(&chunk).map(|mut outcome| {
                if chunk.endian == Endian::Little {
                    outcome.unknown = 0;
                }
                damage.add(&outcome.damage(chunk.offset));
                outcome.end == EndKind::EndOfFile
            }),
            Err(lost) => {
                damage.add(&Damage { lost_chunks: 1, first: Some((lost.offset, lost.flaw)), ..Damage::default() });
                Ok(false)
            }
        };
        index += 1;
        let goes_on = matches!(end, Ok(false));
        result = end.map(|_| ());
        goes_on
    };
    while chunks(&mut one) {}
    result.map(|()| damage)
}

/// The chunks of a file in memory.
fn slices(bytes: &[u8], size: u64) -> std::slice::Chunks<'_, u8> {
    bytes.chunks(usize::try_from(size).unwrap_or(usize::MAX).max(1))
}

/// Writes each event that it is shown, until one does not fit.
struct EventCopy<S> {
    writer: EventWriter<S>,
    attributes: Vec<super::attributes::Attribute>,
    endian: Endian,
    result: Result<(), CodecError>,
}

impl<S: FnMut(&[u8])> EventCopy<S> {
    fn write(&mut self, time: u64, event: &Event<'_>) {
        if self.result.is_ok() {
            self.result = self.writer.write_with(time, &AttributeList::new(&self.attributes), event);
        }
        self.attributes.clear();
    }
}

impl<S: FnMut(&[u8])> EventVisitor for EventCopy<S> {
    fn enter(&mut self, time: u64, region: u32) {
        self.write(time, &Event::Enter { region });
    }
    fn leave(&mut self, time: u64, region: u32) {
        self.write(time, &Event::Leave { region });
    }
    fn event(&mut self, time: u64, event: &Event<'_>) {
        self.write(time, event);
    }
    fn attributes(&mut self, attributes: AttributeList<'_>) {
        self.attributes.extend(&attributes);
    }
    fn unknown(&mut self, time: u64, id: u8, bytes: &[u8]) {
        if self.result.is_ok() && self.endian == Endian::Little {
            self.result = self.writer.write_unknown(time, &AttributeList::new(&self.attributes), id, bytes);
        }
        self.attributes.clear();
    }
}
