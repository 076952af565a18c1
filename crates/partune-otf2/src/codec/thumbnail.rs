//! Thumbnails: small summaries of a trace over time, for a first picture of it.
//!
//! For `transcode` and for counting; partune makes its own summaries. Each file `ARCHIVE.N.thumb` is one buffer.
//! Source: `OTF2_Thumbnail.c` of OTF2 3.0.2.

use super::chunk::{ChunkDamage, unchunked};
use super::cursor::Cursor;
use super::definitions::{Outcome, read_records};
use super::output::Buffer;
use super::record::plain_records;

plain_records! {
    /// A record of a thumbnail file.
    ThumbnailRecord;
    10 "THUMBNAIL_HEADER" ThumbnailHeader<'a> { name: Str, description: Str, thumbnail_type: U8, number_of_samples: C32, metrics: C64s }
    11 "THUMBNAIL_SAMPLE" ThumbnailSample<'a> { baseline: C64, metric_samples: C64s }
}

/// Reads the records of a thumbnail file in order: its header and its samples.
pub fn read_thumbnail(bytes: &[u8], visit: &mut dyn FnMut(ThumbnailRecord<'_>)) -> Result<Outcome, ChunkDamage> {
    let chunk = unchunked(bytes)?;
    let mut outcome = Outcome::default();
    let end = read_records(
        &chunk,
        &mut |id: u8, at: &mut Cursor<'_>, end| {
            ThumbnailRecord::read(u16::from(id), at, end)
                .map(|record| (matches!(record, ThumbnailRecord::Unknown { .. }), record))
        },
        &mut outcome,
        visit,
    );
    outcome.damage.end(end, chunk.offset);
    Ok(outcome)
}

/// Writes a thumbnail file in memory.
#[derive(Debug, Default)]
pub struct ThumbnailWriter(Buffer);

impl ThumbnailWriter {
    /// Appends a record. The bytes of an unknown one must be little endian.
    pub fn write<'a>(&mut self, record: impl Into<ThumbnailRecord<'a>>) {
        let record = record.into();
        self.0.record(record.id(), record.size(), |to| record.put(to));
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        self.0.finish()
    }
}
