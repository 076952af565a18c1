//! What a recorded process leaves in `DIR/parts`, for the collector that writes it and the launcher that reads it after the run.
//!
//! - `NAME.log`: the definition log, one a process, lines of words (see [`crate::log`]); complete lines count, a torn last one does not.
//! - `NAME-T.lane`: thread T's lane: a [`Header`] in the first [`HEADER_SIZE`] bytes, then a ring of chunks. The chunks behind
//!   [`Header::flushed`] that were not written out yet are here, the last one unfinished.
//! - `NAME-T.evt`: the chunks that did not fit the ring any more, complete, as an OTF2 event file has them. Absent if none.
//! - `NAME-T.stat`: in profile mode, thread T's statistics: a [`Header`], then rows of [`Row`].
//!
//! Everything is little endian and belongs to one version of partune: [`VERSION`] must be equal.

use std::sync::atomic::{AtomicU64, Ordering};

/// Of the log and of the files beside it.
pub const VERSION: u32 = 1;
/// First bytes of a lane: `partlane`.
pub const MAGIC: u64 = u64::from_le_bytes(*b"partlane");
/// Bytes before the ring: one page.
pub const HEADER_SIZE: usize = 4096;
/// Size of a chunk of events: the smallest that the C library of OTF2 reads.
pub const CHUNK_SIZE: usize = 256 * 1024;
/// Bytes of a chunk before its records: type, endianness, numbers of its first and last event.
pub const CHUNK_HEADER_SIZE: usize = 18;
/// The folder of parts in the archive's.
pub const PARTS: &str = "parts";

/// Type bytes of OTF2's buffers.
pub mod bytes {
    /// The rest of the chunk is padding.
    pub const END_OF_CHUNK: u8 = 0;
    /// The buffer ends.
    pub const END_OF_BUFFER: u8 = 1;
    /// The file ends.
    pub const END_OF_FILE: u8 = 2;
    /// A chunk begins.
    pub const CHUNK: u8 = 3;
    /// Little endian.
    pub const LITTLE_ENDIAN: u8 = 0x42;
    /// A time follows.
    pub const TIMESTAMP: u8 = 5;
}

/// State of a lane, kept in its file so that whoever finds the file knows how far it is written.
///
/// The owner stores [`Header::cursor`] after the bytes before it, so a process that is killed leaves whole events.
#[derive(Debug)]
#[repr(C)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    /// Number of the thread in its process, in order of their first event.
    pub thread: u32,
    pub chunk_size: u64,
    /// Bytes of the ring; a multiple of the chunk size.
    pub ring_size: u64,
    /// Position in the ring where the next record goes; in a profile, the number of rows.
    pub cursor: AtomicU64,
    /// Position in the ring where the current chunk begins.
    pub chunk: AtomicU64,
    /// Bytes in the `.evt` file.
    pub flushed: AtomicU64,
    /// Events so far.
    pub events: AtomicU64,
    /// Events before the current chunk.
    pub events_before: AtomicU64,
    /// Events that could not be kept: the disk was full.
    pub lost: AtomicU64,
}

impl Header {
    /// Publishes how far the lane is written, after the bytes before it.
    #[inline]
    pub(crate) fn publish(&self, cursor: usize) {
        self.cursor.store(cursor as u64, Ordering::Release);
    }
}

/// Sizes of messages fall into these classes: 0, 1–7, 8–63, 64–511, … bytes; the last one is open.
pub const SIZE_CLASSES: usize = 12;

/// The class of a size: 0 for nothing, then one for each factor of 8.
#[inline]
pub fn size_class(bytes: u64) -> usize {
    let bits = 64 - bytes.leading_zeros() as usize;
    bits.div_ceil(3).min(SIZE_CLASSES - 1)
}

/// Statistics of one call path on one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Row {
    /// Executions.
    pub count: u64,
    /// Ticks from enter to leave, summed, without recorded calls inside.
    pub exclusive: u64,
    /// Ticks from enter to leave, summed.
    pub inclusive: u64,
    pub min: u64,
    pub max: u64,
    /// Transfers: messages sent and received, collectives, remote accesses.
    pub transfers: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// Transfers by [`size_class`] of their bytes.
    pub sizes: [u32; SIZE_CLASSES],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_are_factors_of_eight() {
        assert_eq!([0, 1, 7, 8, 63, 64, 511, 512, u64::MAX].map(size_class), [0, 1, 1, 2, 2, 3, 3, 4, 11]);
    }

    #[test]
    fn a_header_fits_its_page() {
        assert!(size_of::<Header>() <= HEADER_SIZE);
    }
}
