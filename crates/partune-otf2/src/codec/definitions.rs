//! Reads and writes definition files, the global one and those of locations.
//!
//! For importers and exporters. Ids may be sparse, out of order and defined twice; records are handed over as they stand, and what that means
//! is for the caller to say. Writers give whole chunks to a callback.

use super::chunk::{Chunk, ChunkDamage, END_OF_CHUNK, END_OF_FILE, chunks};
use super::cursor::Cursor;
use super::definition::Definition;
use super::error::{CodecError, Damage, EndKind, Flaw};
use super::events::record_end;
use super::output::RecordOutput;

/// Which definition file: the two give types 5 to 8 different meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `ARCHIVE.def`.
    Global,
    /// `ARCHIVE/LOCATION.def`.
    Local,
}

impl Scope {
    /// The type of a record as the table has it.
    fn key(self, id: u8) -> u16 {
        match (self, id) {
            (Scope::Local, ..=9) => 0x100 | u16::from(id),
            _ => u16::from(id),
        }
    }
}

/// What a definition file held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Records handed over, with unknown ones.
    pub definitions: u64,
    /// What was lost.
    pub damage: Damage,
}

/// Reads the records of a definition file in order.
pub fn read_definitions(
    bytes: &[u8],
    chunk_size: u64,
    scope: Scope,
    visit: &mut dyn FnMut(Definition<'_>),
) -> Result<Outcome, CodecError> {
    let read = |id, at: &mut Cursor<'_>, end| {
        let definition = Definition::read(scope.key(id), at, end)?;
        let unknown = matches!(definition, Definition::Unknown { .. });
        visit(definition);
        Ok(unknown)
    };
    read_file(bytes, chunk_size, read)
}

/// Reads the chunks of a file of records `id length data`. `read` decodes one, uses it, and says whether its type is unknown.
pub(crate) fn read_file(
    bytes: &[u8],
    chunk_size: u64,
    mut read: impl FnMut(u8, &mut Cursor<'_>, usize) -> Result<bool, Flaw>,
) -> Result<Outcome, CodecError> {
    let mut outcome = Outcome::default();
    for chunk in chunks(bytes, chunk_size)? {
        match chunk {
            Ok(chunk) => {
                let end = read_chunk(&chunk, &mut read, &mut outcome);
                outcome.damage.end(end, chunk.offset);
                if end == EndKind::EndOfFile {
                    break;
                }
            }
            Err(ChunkDamage { offset, flaw, .. }) => {
                outcome.damage.add(&Damage { lost_chunks: 1, first: Some((offset, flaw)), ..Damage::default() });
            }
        }
    }
    Ok(outcome)
}

fn read_chunk(
    chunk: &Chunk<'_>,
    read: &mut impl FnMut(u8, &mut Cursor<'_>, usize) -> Result<bool, Flaw>,
    outcome: &mut Outcome,
) -> EndKind {
    let mut at = Cursor::new(chunk.bytes, chunk.endian);
    loop {
        let start = at.pos();
        let mut record = || {
            let id = match at.u8()? {
                END_OF_CHUNK => return Ok(Some(EndKind::EndOfChunk)),
                END_OF_FILE => return Ok(Some(EndKind::EndOfFile)),
                id => id,
            };
            let end = record_end(&mut at)?;
            // A record sees its own bytes only, so one that wants more is found out before it is used.
            let mut inside = at.until(end);
            let unknown = read(id, &mut inside, end).map_err(|flaw| match flaw {
                Flaw::Truncated => Flaw::Overrun,
                other => other,
            })?;
            outcome.definitions += 1;
            outcome.damage.unknown_records += u64::from(unknown);
            outcome.damage.extended_records += u64::from(inside.pos() < end);
            at = at.at(end);
            Ok(None)
        };
        match record() {
            Ok(None) => {}
            Ok(Some(end)) => return end,
            Err(Flaw::Truncated) => return EndKind::Exhausted,
            Err(flaw) => return EndKind::Damaged { offset: start, flaw },
        }
    }
}

/// Writes definitions in order. Finish it, or the last chunk is lost.
#[derive(Debug)]
pub struct DefinitionWriter<S>(RecordOutput<S>);

impl<S: FnMut(&[u8])> DefinitionWriter<S> {
    /// A writer of chunks of `chunk_size` bytes (the C library reads 256 KiB to 16 MiB) into `sink`.
    pub fn new(chunk_size: u64, sink: S) -> Result<Self, CodecError> {
        RecordOutput::new(chunk_size, sink).map(DefinitionWriter)
    }

    /// Appends a definition. The bytes of an unknown one are copied and must be little endian.
    pub fn write<'a>(&mut self, definition: impl Into<Definition<'a>>) -> Result<(), CodecError> {
        let definition = definition.into();
        self.0.record(definition.id(), definition.size(), |to| definition.put(to))
    }

    /// Ends the file; the number of definitions in it, which the anchor file repeats for the global one.
    pub fn finish(self) -> u64 {
        self.0.finish()
    }
}
