//! Markers: remarks on a trace that a tool or a person has left, with a time and a place.
//!
//! For importers that show them, and for `transcode`. The file `ARCHIVE.marker` is one buffer. Source: `OTF2_MarkerReader.c` of OTF2 3.0.2.

use super::chunk::{ChunkDamage, unchunked};
use super::cursor::Cursor;
use super::definitions::{Outcome, read_records};
use super::output::Buffer;
use super::record::plain_records;

plain_records! {
    /// A record of the marker file.
    MarkerRecord;
    5 "DEF_MARKER" DefMarker<'a> { id: C32, marker_group: Str, marker_category: Str, severity: U8 }
    6 "MARKER" Marker<'a> { time: C64, duration: C64, marker: C32, scope: U8, scope_ref: C64, text: Str }
}

/// Reads the records of a marker file in order.
pub fn read_markers(bytes: &[u8], visit: &mut dyn FnMut(MarkerRecord<'_>)) -> Result<Outcome, ChunkDamage> {
    let chunk = unchunked(bytes)?;
    let mut outcome = Outcome::default();
    let end = read_records(
        &chunk,
        &mut |id: u8, at: &mut Cursor<'_>, end| {
            MarkerRecord::read(u16::from(id), at, end)
                .map(|record| (matches!(record, MarkerRecord::Unknown { .. }), record))
        },
        &mut outcome,
        visit,
    );
    outcome.damage.end(end, chunk.offset);
    Ok(outcome)
}

/// Writes a marker file in memory.
#[derive(Debug, Default)]
pub struct MarkerWriter(Buffer);

impl MarkerWriter {
    /// Appends a record. The bytes of an unknown one must be little endian.
    pub fn write<'a>(&mut self, record: impl Into<MarkerRecord<'a>>) {
        let record = record.into();
        self.0.record(record.id(), record.size(), |to| record.put(to));
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        self.0.finish()
    }
}
