//! What a recorded process leaves in `DIR/parts`, for the collector that writes it and the launcher that reads it after the run.
//!
//! - `NAME.log`: the definition log, one per process, lines of words (see [`crate::log`]); complete lines count, a torn last one does not.
//! - `NAME-T.lane`: thread T's lane: a [`Header`] in the first [`HEADER_SIZE`] bytes, then a ring of chunks. The chunks after
//!   [`Header::flushed`] that were not written out yet are here, the last one unfinished.
//! - `NAME-T.evt`: the chunks that did not fit the ring any more, complete, as an OTF2 event file has them. Absent if none. Where the newest
//!   events are kept and there is no more room, it is a ring itself, see [`Header::capacity`].
//! - `NAME-T.stat`: in profile mode, thread T's statistics: a [`ProfileHeader`] in the first [`PROFILE_HEADER_SIZE`] bytes, then a
//!   [`Row`] for each path, by its number.
//! - `NAME-T.gaps`: beside it, what lies between: [`Gap`]s.
//!
//! Everything is little endian and belongs to one version of partune: [`VERSION`] must be equal.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::draft::{BITS, Half, Stored};
use crate::polls::Polls;

/// Of the log and of the files beside it.
pub const VERSION: u32 = 7;
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
/// The anchor in the archive's folder: where it is, the archive is complete.
pub const ANCHOR: &str = "traces.otf2";

/// The file of a thread with an ending: `STEM-THREAD.ENDING`, where the stem is the path of the process's log without its ending.
pub fn part(stem: &Path, thread: u32, ending: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(format!("-{thread}.{ending}"));
    PathBuf::from(name)
}

/// Attributes of events, which the archive defines under these numbers and names.
pub mod attributes {
    /// For how many calls in a row a visit stands, none of which found anything.
    pub const POLLS: u32 = 0;
    /// Where an access to a window begins, in units of the target, or one to a file, in bytes.
    pub const DISPLACEMENT: u32 = 1;
    /// The bytes of a unit in the window that is created.
    pub const DISPLACEMENT_UNIT: u32 = 2;
    /// What a thread waits for or gives a sign for: a condition or a semaphore, by its number in the window.
    pub const OBJECT: u32 = 3;
    pub const NAMES: [&str; 4] =
        ["PARTUNE::POLLS", "PARTUNE::DISPLACEMENT", "PARTUNE::DISPLACEMENT_UNIT", "PARTUNE::OBJECT"];
}

/// Why a lane keeps nothing any more, in [`Header::stopped`].
pub mod stopped {
    /// The disk has no room, or its quota, or the limit of the size of a file.
    pub const DISK: u64 = 1;
    /// The recording is as large as it may be.
    pub const SIZE: u64 = 2;
    /// Added: what was in the ring is not there any more.
    pub const WITHOUT_RING: u64 = 256;
}

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
    /// The attributes of the event after it follow.
    pub const ATTRIBUTE_LIST: u8 = 6;
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
    /// Position in the ring where the current chunk begins.
    pub chunk: AtomicU64,
    /// Bytes that went to the `.evt` file.
    pub flushed: AtomicU64,
    /// Events before the current chunk.
    pub events_before: AtomicU64,
    /// Why nothing is kept any more: one of [`stopped`]; 0 while events are.
    pub stopped: AtomicU64,
    /// Events until then, and since.
    pub kept: AtomicU64,
    pub lost: AtomicU64,
    // From here on each call writes.
    /// Position in the ring where the next record goes.
    pub cursor: AtomicU64,
    /// Events so far.
    pub events: AtomicU64,
    /// Which drafts there are, and above these bits the cursor that they belong after: where it is another one they are written.
    pub drafted: AtomicU64,
    /// What comes after the last record and is not written yet, see [`crate::draft`].
    pub drafts: [Stored; Half::ALL.len()],
    /// The row of polls that goes on, between the halves of the drafts.
    pub polls: Polls,
    /// When the call that said it last began, and whom it waits for until it returns: communicator, and rank above it, or [`ANYBODY`]; or
    /// [`THREAD`], and above it what the system calls a thread. It waits if that is the time of the last event.
    pub awaits: [AtomicU64; 2],
    /// When the thread was last found between two calls, and where: addresses as in [`crate::log::Line::Died`]; after the last one is 0.
    pub seen: [AtomicU64; 1 + SEEN],
    /// What the system calls the thread; 0 if nobody said so, and when it has ended.
    pub tid: AtomicU64,
    /// Who else ends the call of [`Header::awaits`], which says so with its begin: more of such words up to [`NOBODY`].
    pub awaits_also: [AtomicU64; 1 + ALSO],
    /// How large the `.evt` file is, where what is newer goes over the oldest: byte B of all that went to it is at B modulo this, and the next ring goes over
    /// the oldest one, so that is not to be read. 0 while it grows.
    pub capacity: AtomicU64,
    /// Ticks of the first moment that is kept, and events before it, once those of all threads end there; 0 before. For the launcher.
    pub begins: AtomicU64,
    pub overwritten: AtomicU64,
}

/// Addresses that are kept of where a thread was seen.
pub const SEEN: usize = 15;

/// Others that are kept of those that a call waits for.
pub const ALSO: usize = 15;

/// After the last of [`Header::awaits_also`].
pub const NOBODY: u64 = u64::MAX;

/// All of a communicator, or whoever comes first.
pub const ANYBODY: u32 = u32::MAX;

/// In the place of a communicator: a thread of this process is waited for.
pub const THREAD: u32 = u32::MAX;

/// The second word of [`Header::awaits`].
const fn awaited(comm: u32, rank: u32) -> u64 {
    comm as u64 | (rank as u64) << 32
}

/// Which thread is waited for: others may say so while the one that waits cannot.
#[derive(Clone, Copy, Debug)]
pub struct AwaitedThread(&'static AtomicU64);

impl AwaitedThread {
    /// What the system calls it; 0 if nobody knows.
    pub fn is(self, tid: u32) {
        self.0.store(awaited(THREAD, tid), Ordering::Relaxed);
    }
}

impl Header {
    /// Says whom the call that began at a time waits for. Two stores.
    #[inline]
    pub fn set_awaits(&self, time: u64, comm: u32, rank: u32) {
        self.awaits[1].store(awaited(comm, rank), Ordering::Relaxed);
        self.awaits[0].store(time, Ordering::Release);
    }

    /// Says whom else the call that began at a time waits for: pairs of communicator and rank, of which the first [`ALSO`] are kept.
    #[inline]
    pub fn set_awaits_also(&self, time: u64, others: impl Iterator<Item = (u32, u32)>) {
        let words = others.map(|(comm, rank)| awaited(comm, rank)).take(ALSO).chain([NOBODY]);
        for (place, word) in self.awaits_also[1..].iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.awaits_also[0].store(time, Ordering::Release);
    }

    /// Says that the call that began at a time waits for a thread, which is not known yet.
    pub fn await_thread(&'static self, time: u64) -> AwaitedThread {
        self.set_awaits(time, THREAD, 0);
        AwaitedThread(&self.awaits[1])
    }

    /// Says where the thread is now. For handlers of signals.
    pub fn set_seen(&self, time: u64, frames: impl Iterator<Item = usize>) {
        self.seen[0].store(0, Ordering::Relaxed);
        let ended = frames.map(|address| address as u64).chain(std::iter::repeat(0));
        for (place, address) in self.seen[1..].iter().zip(ended) {
            place.store(address, Ordering::Release);
        }
        self.seen[0].store(time, Ordering::Release);
    }

    /// The thread has ended: it waits for nobody, and is nowhere.
    pub fn forget(&self) {
        self.awaits[0].store(0, Ordering::Relaxed);
        self.awaits_also[0].store(0, Ordering::Relaxed);
        self.seen[0].store(0, Ordering::Relaxed);
        self.tid.store(0, Ordering::Relaxed);
    }

    /// Publishes how far the lane is written, after the bytes before it.
    #[inline]
    pub fn publish(&self, cursor: usize) {
        self.cursor.store(cursor as u64, Ordering::Release);
    }

    /// Publishes which drafts there are, after their words.
    #[inline]
    pub fn publish_drafts(&self, drafts: u64) {
        let cursor = self.cursor.load(Ordering::Relaxed);
        self.drafted.store(cursor << BITS | drafts, Ordering::Release);
    }
}

/// First bytes of a profile: `partstat`.
pub const PROFILE_MAGIC: u64 = u64::from_le_bytes(*b"partstat");
/// Bytes before the rows of a profile.
pub const PROFILE_HEADER_SIZE: usize = 16 * HEADER_SIZE;
/// Calls that may be open at once and outlive the process; the first stands for the thread itself.
pub const OPEN: usize = 1000;
/// [`Row::members`] of collective operations of different numbers of processes.
pub const SEVERAL: u64 = u32::MAX as u64;
/// No path.
pub const NO_PATH: u32 = u32::MAX;

/// State of a profile, kept in its file as a lane's is.
#[derive(Debug)]
#[repr(C)]
pub struct ProfileHeader {
    pub magic: u64,
    pub version: u32,
    /// Number of the thread in its process, in order of their first event.
    pub thread: u32,
    /// Rows that are used, from the first one.
    pub rows: AtomicU64,
    /// Gaps that are used, in the `.gaps` file.
    pub gaps: AtomicU64,
    /// Calls that ended; those that no row counts were lost.
    pub calls: AtomicU64,
    /// 1 in a file whose rows went on in memory when the disk was full, until they are stored.
    pub left: AtomicU64,
    /// Ticks in which the program had turned recording off.
    pub paused: AtomicU64,
    /// When it turned recording off and not on again; 0 otherwise.
    pub paused_since: AtomicU64,
    /// 1 if CPU times are kept.
    pub has_cpu: AtomicU64,
    /// When the last operation ended; 0 before the first.
    pub worked_from: AtomicU64,
    /// The thread's CPU time then.
    pub worked_from_cpu: AtomicU64,
    /// Ticks and CPU time outside of operations since the last synchronisation of all processes.
    pub block: AtomicU64,
    pub block_cpu: AtomicU64,
    /// Open calls, with the thread itself.
    pub depth: AtomicU64,
    pub open: [Open; OPEN],
}

/// A call that has not returned, and what is known of its inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Open {
    pub path: u32,
    /// The recorded call that ended last in it; [`NO_PATH`] if there was none.
    pub before: u32,
    pub enter: u64,
    /// Ticks in recorded calls in it and in the gaps between them.
    pub inside: u64,
    /// When the recorded call before ended.
    pub end: u64,
    /// The thread's CPU time at [`Open::enter`], the part of it [`Open::inside`], and that at [`Open::end`], in nanoseconds.
    pub cpu: u64,
    pub cpu_inside: u64,
    pub cpu_end: u64,
}

/// Sizes of messages fall into these classes: 0, 1–3, 4–15, 16–63, … bytes; the last one is open: 4 MiB and more.
pub const SIZE_CLASSES: usize = 13;

/// The class of a size: 0 for nothing, then one for each factor of 4.
#[inline]
pub fn size_class(bytes: u64) -> usize {
    let bits = 64 - bytes.leading_zeros() as usize;
    bits.div_ceil(2).min(SIZE_CLASSES - 1)
}

/// Statistics of one call path on one thread: one that ends in a construct or in a marked region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Row {
    /// Executions that ended.
    pub count: u64,
    /// Ticks from enter to leave, summed.
    pub inclusive: u64,
    /// Of these, ticks that are neither in recorded calls inside nor in the [`Gap`]s between them.
    pub own: u64,
    /// Of the shortest and the longest execution.
    pub min: u64,
    pub max: u64,
    /// Enter of the first execution and leave of the last one.
    pub first: u64,
    pub last: u64,
    /// Number of the latest [`Gap`] before this path, plus one; 0 if there is none.
    pub gaps: u64,
    /// Transfers: messages sent and received, collectives, remote accesses, file accesses.
    pub transfers: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// Of [`Row::own`], nanoseconds on a processor; 0 if CPU times are not kept.
    pub own_cpu: u64,
    /// Processes in each collective operation; 0 if there was none, [`SEVERAL`] if not always as many.
    pub members: u64,
    /// Ticks outside of operations in the blocks that executions ended: since the synchronisation of all processes before.
    pub block: u64,
    /// Of these, nanoseconds on a processor.
    pub block_cpu: u64,
    /// Which blocks these were, as a sum of hashes of their numbers in the run.
    pub signature: u64,
    /// Transfers by [`size_class`] of their bytes.
    pub sizes: [u64; SIZE_CLASSES],
}

/// The code between two recorded calls that follow each other, which both are inside of the same others.
///
/// Time between two calls belongs to the innermost function that both are in, which only debug data tells. So pairs are counted,
/// and looked at after the run. There are few more of them than paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Gap {
    /// The call before; [`NO_PATH`] for the begin of what is around.
    pub before: u32,
    /// The call after it.
    pub path: u32,
    /// Number of the next gap before the same path, plus one; 0 if there is none.
    pub next: u64,
    pub count: u64,
    pub ticks: u64,
    /// Of these, nanoseconds on a processor; 0 if CPU times are not kept.
    pub cpu: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_are_factors_of_four() {
        assert_eq!([0, 1, 3, 4, 15, 16, 1023, 1024, 4 << 20].map(size_class), [0, 1, 1, 2, 2, 3, 5, 6, 12]);
        assert_eq!([(4 << 20) - 1, u64::MAX].map(size_class), [11, 12]);
    }

    #[test]
    fn a_header_fits_its_page() {
        assert!(size_of::<Header>() <= HEADER_SIZE);
        assert!(size_of::<ProfileHeader>() <= PROFILE_HEADER_SIZE);
        assert!(PROFILE_HEADER_SIZE.is_multiple_of(align_of::<Row>()));
    }
}
