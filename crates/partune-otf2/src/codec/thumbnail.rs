//! Thumbnails: small summaries of a trace over time, for a first picture of it.
//!
//! For `transcode` and for counting; partune makes its own summaries. Each file `ARCHIVE.N.thumb` is chunked, and never compressed.
//! Source: `OTF2_Thumbnail.c` of OTF2 3.0.2.

use super::cursor::Cursor;
use super::definitions::{Outcome, read_file};
use super::error::CodecError;
use super::output::RecordOutput;
use super::record::plain_records;

plain_records! {
    /// A record of a thumbnail file.
    ThumbnailRecord;
    10 "THUMBNAIL_HEADER" ThumbnailHeader<'a> { name: Str, description: Str, thumbnail_type: U8, number_of_samples: C32, metrics: C64s }
    11 "THUMBNAIL_SAMPLE" ThumbnailSample<'a> { baseline: C64, metric_samples: C64s }
}

/// Bytes of a chunk of a thumbnail file, in every archive.
pub const THUMBNAIL_CHUNK_SIZE: u64 = 1 << 20;

/// Reads the records of a thumbnail file in order: its header and its samples.
pub fn read_thumbnail(bytes: &[u8], visit: &mut dyn FnMut(ThumbnailRecord<'_>)) -> Result<Outcome, CodecError> {
    let read = |id: u8, at: &mut Cursor<'_>, end| {
        let record = ThumbnailRecord::read(u16::from(id), at, end)?;
        let unknown = matches!(record, ThumbnailRecord::Unknown { .. });
        visit(record);
        Ok(unknown)
    };
    read_file(bytes, THUMBNAIL_CHUNK_SIZE, read)
}

/// Writes a thumbnail file. Finish it, or the last chunk is lost.
#[derive(Debug)]
pub struct ThumbnailWriter<S>(RecordOutput<S>);

impl<S: FnMut(&[u8])> ThumbnailWriter<S> {
    /// A writer of chunks into `sink`.
    pub fn new(sink: S) -> Result<Self, CodecError> {
        RecordOutput::new(THUMBNAIL_CHUNK_SIZE, sink).map(ThumbnailWriter)
    }

    /// Appends a record. The bytes of an unknown one are copied and must be little endian.
    pub fn write<'a>(&mut self, record: impl Into<ThumbnailRecord<'a>>) -> Result<(), CodecError> {
        let record = record.into();
        self.0.record(record.id(), record.size(), |to| record.put(to))
    }

    /// Ends the file; the number of records in it.
    pub fn finish(self) -> u64 {
        self.0.finish()
    }
}
