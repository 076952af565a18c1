//! Reads and writes definition files, the global one and those of locations.
//!
//! For importers and exporters. Ids may be sparse, out of order and defined twice; records are handed over as they stand, and what that means
//! is for the caller to say. Writers give whole chunks to a callback.

use super::chunk::{Chunk, END_OF_CHUNK, END_OF_FILE, chunks};
use super::cursor::Cursor;
use super::definition::Definition;
use super::error::{CodecError, Damage, EndKind, Flaw};
use super::events::{closed, record_end};
use super::output::{Output, framed, put_length};

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
    let mut outcome = Outcome::default();
    for chunk in chunks(bytes, chunk_size)? {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(damage) => {
                outcome.damage.lost_chunks += 1;
                outcome.damage.first = outcome.damage.first.or(Some((damage.offset, damage.flaw)));
                continue;
            }
        };
        let end = read_records(
            &chunk,
            &mut |id, at, end| {
                let definition = Definition::read(scope.key(id), at, end)?;
                Ok((matches!(definition, Definition::Unknown { .. }), definition))
            },
            &mut outcome,
            visit,
        );
        outcome.damage.end(end, chunk.offset);
        if end == EndKind::EndOfFile {
            break;
        }
    }
    Ok(outcome)
}

/// Reads the records `id length data` of one buffer. `read` decodes one and says whether its type is unknown.
pub(crate) fn read_records<'a, T>(
    chunk: &Chunk<'a>,
    read: &mut impl FnMut(u8, &mut Cursor<'a>, usize) -> Result<(bool, T), Flaw>,
    outcome: &mut Outcome,
    visit: &mut (impl FnMut(T) + ?Sized),
) -> EndKind {
    let mut at = Cursor::new(chunk.bytes, chunk.endian);
    loop {
        let start = at.pos();
        let mut record = || {
            let id = match at.u8()? {
                END_OF_CHUNK => return Ok(Err(EndKind::EndOfChunk)),
                END_OF_FILE => return Ok(Err(EndKind::EndOfFile)),
                id => id,
            };
            let end = record_end(&mut at)?;
            let (unknown, record) = read(id, &mut at, end)?;
            let extended = closed(&at, end)?;
            at = at.at(end);
            outcome.damage.unknown_records += u64::from(unknown);
            outcome.damage.extended_records += u64::from(extended);
            Ok(Ok(record))
        };
        match record() {
            Ok(Ok(record)) => {
                outcome.definitions += 1;
                visit(record);
            }
            Ok(Err(end)) => return end,
            Err(Flaw::Truncated) => return EndKind::Exhausted,
            Err(flaw) => return EndKind::Damaged { offset: start, flaw },
        }
    }
}

/// Writes definitions in order. Finish it, or the last chunk is lost.
#[derive(Debug)]
pub struct DefinitionWriter<S> {
    output: Output<S>,
    scratch: Vec<u8>,
    written: u64,
}

impl<S: FnMut(&[u8])> DefinitionWriter<S> {
    /// A writer of chunks of `chunk_size` bytes (the C library reads 256 KiB to 16 MiB) into `sink`.
    pub fn new(chunk_size: u64, sink: S) -> Result<Self, CodecError> {
        Ok(DefinitionWriter { output: Output::new(chunk_size, false, sink)?, scratch: Vec::new(), written: 0 })
    }

    /// Appends a definition. The bytes of an unknown one are copied and must be little endian.
    pub fn write<'a>(&mut self, definition: impl Into<Definition<'a>>) -> Result<(), CodecError> {
        let definition = definition.into();
        let bound = definition.size();
        let to = self.output.record(framed(bound), 0)?;
        self.scratch.clear();
        definition.put(&mut self.scratch);
        to.push(definition.id());
        put_length(to, self.scratch.len(), bound);
        to.extend_from_slice(&self.scratch);
        self.written += 1;
        Ok(())
    }

    /// Ends the file; the number of definitions in it, which the anchor file repeats for the global one.
    pub fn finish(self) -> u64 {
        self.output.finish();
        self.written
    }
}
