//! Buffers that are written: chunks of a fixed size with their headers and end marks, handed to a callback as they fill up.
//!
//! For the writers of this module. At most one chunk is in memory. Where a chunk ends follows the C library's rule, so that a file that it
//! wrote comes out the same: a record goes into the next chunk unless its upper bound, and a timestamp where there are timestamps, leaves
//! one byte for the end mark. Source: `OTF2_Buffer_RecordRequest`.

use super::chunk::{CHUNK_HEADER, CHUNKED_HEADER, END_OF_BUFFER, END_OF_CHUNK, END_OF_FILE, TIMESTAMP};
use super::cursor::Endian;
use super::error::CodecError;

const TIMESTAMP_SIZE: u64 = 9;

/// Appends the length of a record whose data have `len` bytes. The C library picks the long form by the upper bound.
pub(crate) fn put_length(to: &mut Vec<u8>, len: usize, bound: u64) {
    match u8::try_from(len) {
        Ok(short) if short < 0xff && bound < 0xff => to.push(short),
        _ => {
            to.push(0xff);
            to.extend((len as u64).to_le_bytes());
        }
    }
}

/// The bytes of a record with a length, by upper bound of its data: type, length, data.
pub(crate) fn framed(bound: u64) -> u64 {
    bound + if bound < 0xff { 2 } else { 10 }
}

/// A file that consists of chunks.
#[derive(Debug)]
pub(crate) struct Output<S> {
    sink: S,
    chunk_size: usize,
    timed: bool,
    buffer: Vec<u8>,
    counted: u64,
    time: Option<u64>,
}

impl<S: FnMut(&[u8])> Output<S> {
    /// A file of timed and counted records, or of records that are neither.
    pub(crate) fn new(chunk_size: u64, timed: bool, sink: S) -> Result<Self, CodecError> {
        let size = usize::try_from(chunk_size).map_err(|_| CodecError::ChunkSize(chunk_size))?;
        if size <= CHUNKED_HEADER {
            return Err(CodecError::ChunkSize(chunk_size));
        }
        let mut output = Output { sink, chunk_size: size, timed, buffer: Vec::new(), counted: 0, time: None };
        output.begin();
        Ok(output)
    }

    fn begin(&mut self) {
        self.buffer.clear();
        self.buffer.extend([CHUNK_HEADER, Endian::Little.byte()]);
        self.buffer.extend((self.counted + 1).to_le_bytes());
        self.buffer.extend(0u64.to_le_bytes());
    }

    /// Makes room for a record of up to `bound` bytes and writes its time, if it is new. The record is to be appended to what is returned.
    pub(crate) fn record(&mut self, bound: u64, time: u64) -> Result<&mut Vec<u8>, CodecError> {
        let required = bound + if self.timed { TIMESTAMP_SIZE } else { 0 };
        let fits = |output: &Self| required < (output.chunk_size - output.buffer.len()) as u64;
        if !fits(self) {
            self.end_chunk();
            self.begin();
            self.time = None;
            if !fits(self) {
                return Err(CodecError::RecordTooLarge { record: bound, chunk: self.chunk_size as u64 });
            }
        }
        if self.timed {
            if self.time != Some(time) {
                self.buffer.push(TIMESTAMP);
                self.buffer.extend(time.to_le_bytes());
                self.time = Some(time);
            }
            self.counted += 1;
        }
        Ok(&mut self.buffer)
    }

    fn count_last(&mut self) {
        self.buffer[CHUNKED_HEADER - 8..CHUNKED_HEADER].copy_from_slice(&self.counted.to_le_bytes());
    }

    fn end_chunk(&mut self) {
        self.count_last();
        self.buffer.resize(self.chunk_size, END_OF_CHUNK);
        (self.sink)(&self.buffer);
    }

    /// Ends the file; the number of counted records.
    pub(crate) fn finish(mut self) -> u64 {
        self.count_last();
        self.buffer.push(END_OF_FILE);
        if self.buffer.len() < self.chunk_size {
            self.buffer.push(END_OF_BUFFER);
        }
        (self.sink)(&self.buffer);
        self.counted
    }
}

/// A file of records without times.
#[derive(Debug)]
pub(crate) struct RecordOutput<S> {
    output: Output<S>,
    scratch: Vec<u8>,
    written: u64,
}

impl<S: FnMut(&[u8])> RecordOutput<S> {
    pub(crate) fn new(chunk_size: u64, sink: S) -> Result<Self, CodecError> {
        Ok(RecordOutput { output: Output::new(chunk_size, false, sink)?, scratch: Vec::new(), written: 0 })
    }

    /// Appends a record of up to `bound` bytes, which `put` writes.
    pub(crate) fn record(&mut self, id: u8, bound: u64, put: impl FnOnce(&mut Vec<u8>)) -> Result<(), CodecError> {
        let to = self.output.record(framed(bound), 0)?;
        self.scratch.clear();
        put(&mut self.scratch);
        to.push(id);
        put_length(to, self.scratch.len(), bound);
        to.extend_from_slice(&self.scratch);
        self.written += 1;
        Ok(())
    }

    /// Ends the file; the number of records in it.
    pub(crate) fn finish(self) -> u64 {
        self.output.finish();
        self.written
    }
}
