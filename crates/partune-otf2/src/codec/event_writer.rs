//! Writes the event file of a location.
//!
//! For exporters and `transcode`. Records go to a callback chunk by chunk, so a writer holds at most one chunk. A time is written where it
//! differs from the one before; times that run backwards are kept as they are, which readers accept.

use super::attributes::AttributeList;
use super::error::CodecError;
use super::event::{Event, is_singleton};
use super::output::{Output, framed, put_length};

/// Writes events in order. Finish it, or the last chunk is lost.
#[derive(Debug)]
pub struct EventWriter<S> {
    output: Output<S>,
    scratch: Vec<u8>,
}

impl<S: FnMut(&[u8])> EventWriter<S> {
    /// A writer of chunks of `chunk_size` bytes (the C library reads 256 KiB to 16 MiB) into `sink`.
    pub fn new(chunk_size: u64, sink: S) -> Result<Self, CodecError> {
        Ok(EventWriter { output: Output::new(chunk_size, true, sink)?, scratch: Vec::new() })
    }

    /// Appends an event.
    pub fn write(&mut self, time: u64, event: &Event<'_>) -> Result<(), CodecError> {
        self.write_with(time, &AttributeList::new(&[]), event)
    }

    /// Appends an event and its attributes.
    pub fn write_with(
        &mut self,
        time: u64,
        attributes: &AttributeList<'_>,
        event: &Event<'_>,
    ) -> Result<(), CodecError> {
        if !is_singleton(event.id()) {
            return self.append(time, attributes, event.id(), event.bound(), |to| event.put(to));
        }
        let to = self.output.record(attributes.bound() + 1 + event.bound(), time)?;
        attributes.put(&mut self.scratch, to);
        to.push(event.id());
        event.put(to);
        Ok(())
    }

    /// Appends a record with a length, whose data `put` writes.
    pub(crate) fn append(
        &mut self,
        time: u64,
        attributes: &AttributeList<'_>,
        id: u8,
        bound: u64,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), CodecError> {
        let to = self.output.record(attributes.bound() + framed(bound), time)?;
        attributes.put(&mut self.scratch, to);
        self.scratch.clear();
        put(&mut self.scratch);
        to.push(id);
        put_length(to, self.scratch.len(), bound);
        to.extend_from_slice(&self.scratch);
        Ok(())
    }

    /// Appends an event of a type that this codec does not know; `bytes` must be little endian.
    pub fn write_unknown(
        &mut self,
        time: u64,
        attributes: &AttributeList<'_>,
        id: u8,
        bytes: &[u8],
    ) -> Result<(), CodecError> {
        self.append(time, attributes, id, bytes.len() as u64, |to| to.extend_from_slice(bytes))
    }

    /// Ends the file; the number of events in it.
    pub fn finish(self) -> u64 {
        self.output.finish()
    }
}
