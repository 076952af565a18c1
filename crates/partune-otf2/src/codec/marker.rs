//! Markers: remarks on a trace that a tool or a person has left, with a time and a place.
//!
//! For importers that show them, and for `transcode`. The file `ARCHIVE.marker` is chunked as definition files are. Source: `OTF2_MarkerReader.c` of OTF2 3.0.2.

use super::cursor::Cursor;
use super::definitions::{Outcome, read_file};
use super::error::CodecError;
use super::output::RecordOutput;
use super::record::plain_records;

plain_records! {
    /// A record of the marker file.
    MarkerRecord;
    5 "DEF_MARKER" DefMarker<'a> { id: C32, marker_group: Str, marker_category: Str, severity: U8 }
    6 "MARKER" Marker<'a> { time: C64, duration: C64, marker: C32, scope: U8, scope_ref: C64, text: Str }
}

/// Reads the records of a marker file in order. `chunk_size` is that of definitions.
pub fn read_markers(
    bytes: &[u8],
    chunk_size: u64,
    visit: &mut dyn FnMut(MarkerRecord<'_>),
) -> Result<Outcome, CodecError> {
    let read = |id: u8, at: &mut Cursor<'_>, end| {
        let record = MarkerRecord::read(u16::from(id), at, end)?;
        let unknown = matches!(record, MarkerRecord::Unknown { .. });
        visit(record);
        Ok(unknown)
    };
    read_file(bytes, chunk_size, read)
}

/// Writes a marker file. Finish it, or the last chunk is lost.
#[derive(Debug)]
pub struct MarkerWriter<S>(RecordOutput<S>);

impl<S: FnMut(&[u8])> MarkerWriter<S> {
    /// A writer of chunks of `chunk_size` bytes, which is that of definitions, into `sink`.
    pub fn new(chunk_size: u64, sink: S) -> Result<Self, CodecError> {
        RecordOutput::new(chunk_size, sink).map(MarkerWriter)
    }

    /// Appends a record. The bytes of an unknown one are copied and must be little endian.
    pub fn write<'a>(&mut self, record: impl Into<MarkerRecord<'a>>) -> Result<(), CodecError> {
        let record = record.into();
        self.0.record(record.id(), record.size(), |to| record.put(to))
    }

    /// Ends the file; the number of records in it.
    pub fn finish(self) -> u64 {
        self.0.finish()
    }
}
