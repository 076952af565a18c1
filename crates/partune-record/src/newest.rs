//! A recording that kept the newest events of each thread begins, in all of them, where the last of them has everything: what others did earlier met
//! somebody of whom nothing is known.
//!
//! As in [`crate::cut`] the parts themselves are changed, before an archive is made of them: it can be done again at any time, also after it was
//! interrupted. What was open at the moment at which they begin, is entered there.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::mem::offset_of;
use std::path::{Path, PathBuf};

use partune_parts::encode::{CONTEXT_ENTER, CONTEXT_LEAVE, ENTER, LEAVE, UNWOUND};
use partune_parts::layout::{self, CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE, bytes};

use crate::cut::{common, own};
use crate::lanes::{Chunks, Lane};
use crate::log::Sync;
use crate::parts::{self, u64_at};
use crate::records::{Record, Records};

/// Lanes, each with what is known of its process's clock. How many events were written over, or dropped; none if all were kept.
pub(crate) fn begin<'a>(lanes: impl Iterator<Item = (&'a [Sync], &'a mut Lane)>) -> io::Result<Option<u64>> {
    let mut lanes: Vec<_> = lanes.collect();
    let begins = lanes.iter().filter_map(|(syncs, lane)| {
        let first = lane.times.filter(|_| lane.has_turned()).map(|times| times.0);
        Some(common(syncs, lane.newest.map(|it| it.0).or(first)?))
    });
    let Some(begin) = begins.max() else { return Ok(None) };
    for (syncs, lane) in &mut lanes {
        if lane.newest.is_none() && !lane.is_broken {
            lane.begin_at(own(syncs, begin).max(1))?;
        }
    }
    Ok(Some(lanes.iter().filter_map(|(_, lane)| lane.newest).map(|it| it.1).fold(0, u64::saturating_add)))
}

/// The flushed file of a lane that begins later than it did, until it takes the place of the old one.
fn made(flushed: &Path) -> PathBuf {
    flushed.with_added_extension("newest")
}

/// The lane's header is that of the new file: so that takes its place, if it did not yet.
pub(crate) fn settle(flushed: &Path) -> io::Result<()> {
    match fs::rename(made(flushed), flushed) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

impl Lane {
    /// Drops everything before a moment.
    fn begin_at(&mut self, begin: u64) -> io::Result<()> {
        let mut all = parts::read(self.ring_path())?;
        let chunks = self.chunks(&all)?;
        let kept = Kept::of(&chunks, begin)?;
        let path = made(self.flushed_path());
        let mut file = File::create(&path)?;
        let (mut flushed, mut events) = (0, 0);
        // The last chunk goes to the ring, those before to the file.
        let mut next = Chunk::new(begin, &kept.open);
        for at in kept.chunk..chunks.len() {
            let bytes = chunks.get(at)?;
            let from = if at == kept.chunk { kept.begin } else { CHUNK_HEADER_SIZE };
            let records = Records::of(&bytes).filter(|it| it.begin >= from);
            let (to, count) = records.fold((from, 0), |(_, count), it| (it.end, count + 1));
            if next.bytes.len() + (to - from) >= CHUNK_SIZE {
                file.write_all(&next.whole(events))?;
                (flushed, events) = (flushed + CHUNK_SIZE as u64, events + next.events);
                next = Chunk::new(begin, &[]);
            }
            next.bytes.extend_from_slice(&bytes[from..to]);
            next.events += count;
        }
        // What is left is entered at the begin and nothing follows: a call that waited goes on to wait, and its begin is what says so.
        let still = next.events > 0 && next.events == kept.open.len() as u64 && flushed == 0;
        let before = if chunks.len() > 0 { before(&chunks.get(0)?) } else { 0 };
        drop(chunks);
        file.sync_all()?;
        all.resize(HEADER_SIZE, 0);
        let mut set = |at: usize, value: u64| all[at..at + 8].copy_from_slice(&value.to_le_bytes());
        set(offset_of!(layout::Header, ring_size), CHUNK_SIZE as u64);
        set(offset_of!(layout::Header, chunk), 0);
        set(offset_of!(layout::Header, flushed), flushed);
        set(offset_of!(layout::Header, capacity), 0);
        set(offset_of!(layout::Header, begins), begin);
        set(offset_of!(layout::Header, overwritten), before + kept.dropped);
        set(offset_of!(layout::Header, events_before), events);
        set(offset_of!(layout::Header, cursor), next.bytes.len() as u64);
        set(offset_of!(layout::Header, events), events + next.events);
        set(offset_of!(layout::Header, drafted), 0);
        // Its ring is in this file, whatever became of the one that it had.
        set(offset_of!(layout::Header, stopped), 0);
        if still {
            for at in [offset_of!(layout::Header, awaits), offset_of!(layout::Header, awaits_also)] {
                if self.times.is_some_and(|(_, last)| u64_at(&all, at) == Some(last)) {
                    all[at..at + 8].copy_from_slice(&begin.to_le_bytes());
                }
            }
        }
        all.extend_from_slice(&next.numbered(events));
        parts::replace(self.ring_path(), &all)?;
        self.look_again()
    }
}

/// What a lane keeps.
struct Kept {
    /// The first chunk of which something is kept, and from which byte on.
    chunk: u64,
    begin: usize,
    /// Events before that.
    dropped: u64,
    /// The calls and regions that are open there, as records that enter them, the outermost first.
    open: Vec<Vec<u8>>,
}

impl Kept {
    fn of(chunks: &Chunks, begin: u64) -> io::Result<Kept> {
        let none = chunks.len();
        let mut kept = Kept { chunk: none, begin: CHUNK_HEADER_SIZE, dropped: 0, open: Vec::new() };
        // Of those that are left later, those that were entered since, those that are known to be open, and then those that were entered before the
        // oldest event: the innermost first.
        let (mut since, mut known, mut older) = (0_u64, 0, Vec::new());
        for at in 0..none {
            for record in Records::of(&chunks.get(at)?) {
                let step = Step::of(record);
                if record.time < begin {
                    kept.dropped += 1;
                    match step {
                        Some(Step::Enter) => kept.open.push(made_of(record.kind, record.content)),
                        Some(Step::Leave) => drop(kept.open.pop()),
                        None => {}
                    }
                    continue;
                }
                if kept.chunk == none {
                    (kept.chunk, kept.begin, known) = (at, record.begin, kept.open.len());
                }
                match step {
                    Some(Step::Enter) => since += 1,
                    Some(Step::Leave) if since > 0 => since -= 1,
                    Some(Step::Leave) if known > 0 => known -= 1,
                    Some(Step::Leave) => older.push(entered(record)),
                    None => {}
                }
            }
        }
        older.reverse();
        older.append(&mut kept.open);
        kept.open = older;
        Ok(kept)
    }
}

/// What an event does to what is open.
enum Step {
    Enter,
    Leave,
}

impl Step {
    fn of(record: Record<'_>) -> Option<Step> {
        match record.kind {
            ENTER | CONTEXT_ENTER => Some(Step::Enter),
            LEAVE | CONTEXT_LEAVE => Some(Step::Leave),
            _ => None,
        }
    }
}

/// The record that enters what this one leaves.
fn entered(record: Record<'_>) -> Vec<u8> {
    match record.kind {
        // Which frames are new is the last of its members, and small.
        CONTEXT_LEAVE => made_of(CONTEXT_ENTER, &[record.content, &[1, UNWOUND as u8]].concat()),
        _ => made_of(ENTER, record.content),
    }
}

/// A record, whose content, numbers of paths and regions, is short.
fn made_of(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind, content.len() as u8], content].concat()
}

/// A chunk that is being made.
struct Chunk {
    bytes: Vec<u8>,
    events: u64,
}

impl Chunk {
    /// One that begins with events at a time.
    fn new(time: u64, events: &[Vec<u8>]) -> Chunk {
        let mut bytes = vec![bytes::CHUNK, bytes::LITTLE_ENDIAN];
        bytes.resize(CHUNK_HEADER_SIZE, 0);
        if !events.is_empty() {
            bytes.push(bytes::TIMESTAMP);
            bytes.extend(time.to_le_bytes());
            bytes.extend(events.concat());
        }
        Chunk { bytes, events: events.len() as u64 }
    }

    /// Its bytes, with the numbers of its first and last event.
    fn numbered(&self, before: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[2..CHUNK_HEADER_SIZE].copy_from_slice(&[before + 1, before + self.events].map(u64::to_le_bytes).concat());
        bytes
    }

    /// The same, as long as a chunk is.
    fn whole(&self, before: u64) -> Vec<u8> {
        let mut bytes = self.numbered(before);
        bytes.resize(CHUNK_SIZE, bytes::END_OF_CHUNK);
        bytes
    }
}

/// How many events come before a chunk.
fn before(chunk: &[u8]) -> u64 {
    u64_at(chunk, 2).unwrap_or(1).saturating_sub(1)
}
