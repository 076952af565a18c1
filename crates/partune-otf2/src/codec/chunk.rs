//! Chunks: the parts of a file that can be read on their own.
//!
//! For callers that decode in parallel. All files but the anchor file consist of chunks: events and snapshots of the size for events that
//! the anchor file names, definitions and markers of the size for definitions, thumbnails of 1 MiB. A chunk begins with its header
//! (endianness, numbers of its first and last record), and chunks of events begin with a time, so each can be decoded without the others.
//! Truncated files have a short last chunk; a broken header costs its chunk only.

use super::cursor::{Cursor, Endian};
use super::error::{CodecError, Flaw};

/// The rest of the chunk is padding.
pub(crate) const END_OF_CHUNK: u8 = 0;
/// The buffer ends; the C library writes it after the end of a file, and nobody reads so far.
pub(crate) const END_OF_BUFFER: u8 = 1;
/// The file ends.
pub(crate) const END_OF_FILE: u8 = 2;
/// A chunk or buffer begins.
pub(crate) const CHUNK_HEADER: u8 = 3;
/// The time of the following records.
pub(crate) const TIMESTAMP: u8 = 5;
/// The attributes of the following event.
pub(crate) const ATTRIBUTE_LIST: u8 = 6;

/// Size of the header of a chunk.
pub(crate) const CHUNKED_HEADER: usize = 18;
/// Size of the header of a file that is one buffer.
pub(crate) const UNCHUNKED_HEADER: usize = 2;

/// A part of a file that can be read on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Its place among the chunks of the file, from 0.
    pub index: u64,
    /// Where its records begin in the file.
    pub offset: u64,
    /// The number of its first record in the file, from 1. Files without times have 1 in each chunk.
    pub first_event: u64,
    /// The number of its last record; 0 if the chunk was never finished, and in files without times.
    pub last_event: u64,
    /// Its records, without the header.
    pub bytes: &'a [u8],
    /// Its byte order.
    pub endian: Endian,
}

impl Chunk<'_> {
    /// The number of records that the header promises; `None` if it does not say.
    pub fn promised(&self) -> Option<u64> {
        if self.last_event == 0 { None } else { self.last_event.checked_sub(self.first_event)?.checked_add(1) }
    }
}

/// A chunk whose header cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkDamage {
    /// Its place among the chunks of the file, from 0.
    pub index: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// What is wrong.
    pub flaw: Flaw,
}

/// The chunk at a place of a file, from its bytes with the header.
pub fn chunk(bytes: &[u8], index: u64, chunk_size: u64) -> Result<Chunk<'_>, ChunkDamage> {
    let offset = index.saturating_mul(chunk_size);
    let chunk = header(bytes).and_then(|mut at| {
        let (first_event, last_event) = (at.u64()?, at.u64()?);
        let offset = offset + CHUNKED_HEADER as u64;
        Ok(Chunk { index, offset, first_event, last_event, bytes: at.rest(), endian: at.endian() })
    });
    chunk.map_err(|flaw| ChunkDamage { index, offset, flaw })
}

/// Whether chunks of a file can have this size: more than their header.
pub fn check_size(chunk_size: u64) -> Result<(), CodecError> {
    if chunk_size > CHUNKED_HEADER as u64 { Ok(()) } else { Err(CodecError::ChunkSize(chunk_size)) }
}

/// The chunks of a file. An error of the iterator concerns one chunk; the next call goes on after it.
pub fn chunks(bytes: &[u8], chunk_size: u64) -> Result<Chunks<'_>, CodecError> {
    check_size(chunk_size)?;
    let size = usize::try_from(chunk_size).unwrap_or(usize::MAX);
    Ok(Chunks { parts: bytes.chunks(size), index: 0, chunk_size })
}

/// Iterator over the chunks of a file.
#[derive(Debug, Clone)]
pub struct Chunks<'a> {
    parts: std::slice::Chunks<'a, u8>,
    index: u64,
    chunk_size: u64,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, ChunkDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        let part = self.parts.next()?;
        let index = self.index;
        self.index += 1;
        Some(chunk(part, index, self.chunk_size))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.parts.size_hint()
    }
}

/// The only buffer of a file that has no chunks: the anchor file.
pub fn unchunked(bytes: &[u8]) -> Result<Chunk<'_>, ChunkDamage> {
    let at = header(bytes).map_err(|flaw| ChunkDamage { index: 0, offset: 0, flaw })?;
    let offset = UNCHUNKED_HEADER as u64;
    Ok(Chunk { index: 0, offset, first_event: 0, last_event: 0, bytes: at.rest(), endian: at.endian() })
}

fn header(bytes: &[u8]) -> Result<Cursor<'_>, Flaw> {
    let mut at = Cursor::new(bytes, Endian::Little);
    if at.u8()? != CHUNK_HEADER {
        return Err(Flaw::ChunkHeader);
    }
    let endian = Endian::from_byte(at.u8()?)?;
    Ok(Cursor::new(bytes, endian).at(at.pos()))
}
