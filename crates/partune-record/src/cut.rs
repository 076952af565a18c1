//! A recording that stopped in one thread, for want of room, ends in all of them there: what others did later met somebody of whom nothing is
//! known, and would be taken for something else.
//!
//! The parts themselves are cut, before an archive is made of them: it can be done again at any time, and changes nothing then.

use std::fs::OpenOptions;
use std::io;
use std::mem::offset_of;

use partune_parts::layout::{self, CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE, bytes};

use crate::lanes::{Lane, Stop};
use crate::log::Sync;
use crate::parts::{self, u64_at};

/// Lanes, each with what is known of its process's clock. Why the first one had stopped, if one had.
pub(crate) fn cut<'a>(lanes: impl Iterator<Item = (&'a [Sync], &'a mut Lane)>) -> io::Result<Option<Stop>> {
    let mut lanes: Vec<_> = lanes.collect();
    let ends = lanes.iter().filter_map(|(syncs, lane)| {
        let why = lane.stopped?;
        Some((lane.times.map_or(0, |times| common(syncs, times.1)), why))
    });
    let Some((end, why)) = ends.min() else { return Ok(None) };
    for (syncs, lane) in &mut lanes {
        let end = own(syncs, end);
        if lane.times.is_some_and(|(_, last)| last > end) {
            lane.cut(end)?;
        }
    }
    Ok(Some(why))
}

/// What a clock shows for all, at its own time.
fn common(syncs: &[Sync], ticks: u64) -> u64 {
    ticks.saturating_add_signed(offset(syncs, ticks))
}

/// The last moment of a clock that is not after one for all.
fn own(syncs: &[Sync], ticks: u64) -> u64 {
    let mut low = ticks.saturating_sub_signed(offset(syncs, ticks)).saturating_sub(1);
    while common(syncs, low + 1) <= ticks {
        low += 1;
    }
    low
}

/// On the line through the first and the last measurement.
fn offset(syncs: &[Sync], ticks: u64) -> i64 {
    let (Some(first), Some(last)) = (syncs.first(), syncs.last()) else { return 0 };
    let slope = (last.offset - first.offset) as f64 / last.ticks.saturating_sub(first.ticks).max(1) as f64;
    first.offset + (slope * (ticks as f64 - first.ticks as f64)).round() as i64
}

impl Lane {
    /// Drops everything after a moment: the ring gets what belongs after the whole chunks before, and those that were flushed after them go.
    fn cut(&mut self, end: u64) -> io::Result<()> {
        let mut all = parts::read(self.ring_path())?;
        let chunks = self.chunks(&all)?;
        // The last chunk that begins before, if one does.
        let begins_before = |at: &u64| chunks.get(*at).map(|chunk| until(&chunk, end).0 > CHUNK_HEADER_SIZE);
        let last = (0..chunks.len()).rev().find_map(|at| begins_before(&at).map(|is| is.then_some(at)).transpose());
        let at = last.transpose()?.unwrap_or(0);
        let mut chunk = chunks.get(at)?.into_owned();
        let (used, events) = until(&chunk, end);
        let before = u64_at(&chunk, 2).unwrap_or(1) - 1;
        chunk.truncate(used);
        drop(chunks);
        let lost = self.lost + self.events.saturating_sub(before + events);
        all.resize(HEADER_SIZE, 0);
        let mut set = |at: usize, value: u64| all[at..at + 8].copy_from_slice(&value.to_le_bytes());
        set(offset_of!(layout::Header, ring_size), CHUNK_SIZE as u64);
        set(offset_of!(layout::Header, chunk), 0);
        set(offset_of!(layout::Header, flushed), at * CHUNK_SIZE as u64);
        set(offset_of!(layout::Header, events_before), before);
        set(offset_of!(layout::Header, stopped), 0);
        set(offset_of!(layout::Header, lost), lost);
        set(offset_of!(layout::Header, cursor), used as u64);
        set(offset_of!(layout::Header, events), before + events);
        set(offset_of!(layout::Header, drafted), 0);
        all.extend_from_slice(&chunk);
        parts::replace(self.ring_path(), &all)?;
        if let Some(flushed) = self.flushed() {
            OpenOptions::new().write(true).open(flushed)?.set_len(at * CHUNK_SIZE as u64)?;
        }
        self.look_again()
    }
}

/// How many bytes of a chunk are before a moment or in it, with its header, and how many events.
fn until(chunk: &[u8], end: u64) -> (usize, u64) {
    let (mut at, mut events) = (CHUNK_HEADER_SIZE, 0);
    // Where what belongs to the next event begins.
    let mut begin = at;
    while let Some(kind) = chunk.get(at) {
        match *kind {
            bytes::TIMESTAMP => match u64_at(chunk, at + 1) {
                Some(time) if time <= end => at += 9,
                _ => break,
            },
            bytes::END_OF_CHUNK | bytes::END_OF_BUFFER | bytes::END_OF_FILE => break,
            kind => {
                let Some(after) = length(&chunk[at + 1..]).and_then(|length| at.checked_add(1 + length)) else { break };
                at = after;
                if kind != bytes::ATTRIBUTE_LIST {
                    begin = at;
                    events += 1;
                }
            }
        }
    }
    (begin.min(chunk.len()), events)
}

/// Bytes of a record after its kind: those of its length, and so many more.
fn length(record: &[u8]) -> Option<usize> {
    match *record.first()? {
        u8::MAX => usize::try_from(u64_at(record, 1)?).ok()?.checked_add(9),
        short => Some(1 + usize::from(short)),
    }
}
