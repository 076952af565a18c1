//! The events of a chunk by their bytes, for those who drop some of them and keep the others as they are.

use partune_parts::layout::{CHUNK_HEADER_SIZE, bytes};

use crate::parts::u64_at;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    /// Its type byte, as in [`partune_parts::encode`].
    pub(crate) kind: u8,
    pub(crate) time: u64,
    /// Where it begins in its chunk, with its time, if that is another one, and its attributes.
    pub(crate) begin: usize,
    pub(crate) end: usize,
    /// What comes after its length.
    pub(crate) content: &'a [u8],
}

/// The events of a chunk, up to the first that is not whole.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    chunk: &'a [u8],
    at: usize,
    time: u64,
}

impl<'a> Records<'a> {
    pub(crate) fn of(chunk: &'a [u8]) -> Records<'a> {
        Records { chunk, at: CHUNK_HEADER_SIZE, time: 0 }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let begin = self.at;
        loop {
            match *self.chunk.get(self.at)? {
                bytes::TIMESTAMP => {
                    self.time = u64_at(self.chunk, self.at + 1)?;
                    self.at += 9;
                }
                bytes::END_OF_CHUNK | bytes::END_OF_BUFFER | bytes::END_OF_FILE => return None,
                kind => {
                    let (skipped, length) = length(self.chunk.get(self.at + 1..)?)?;
                    let from = self.at + 1 + skipped;
                    let content = self.chunk.get(from..from.checked_add(length)?)?;
                    self.at = from + length;
                    if kind != bytes::ATTRIBUTE_LIST {
                        return Some(Record { kind, time: self.time, begin, end: self.at, content });
                    }
                }
            }
        }
    }
}

/// Bytes of a record's length, and what it says.
fn length(record: &[u8]) -> Option<(usize, usize)> {
    match *record.first()? {
        u8::MAX => Some((9, usize::try_from(u64_at(record, 1)?).ok()?)),
        short => Some((1, usize::from(short))),
    }
}
