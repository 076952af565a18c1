//! A recording that stopped in one thread, for want of room, ends in all of them there: what others did later met somebody of whom nothing is
//! known, and would be taken for something else.
//!
//! The parts themselves are cut, before an archive is made of them: it can be done again at any time, and changes nothing then.

use std::fs::OpenOptions;
use std::io;
use std::mem::offset_of;

use partune_parts::layout::{self, CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE};

use crate::lanes::{Lane, Stop};
use crate::log::Sync;
use crate::parts::{self, u64_at};
use crate::records::Records;

/// Lanes, each with what is known of its process's clock. Why the first one had stopped, if one had.
pub(crate) fn cut<'a>(lanes: impl Iterator<Item = (&'a [Sync], &'a mut Lane)>) -> io::Result<Option<Stop>> {
    let mut lanes: Vec<_> = lanes.collect();
    let ends = lanes.iter().filter_map(|(syncs, lane)| {
        let why = lane.stopped?;
        // One that lost all that it had tells no moment to cut at.
        Some((lane.times.map_or(u64::MAX, |times| common(syncs, times.1)), why))
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
pub(crate) fn common(syncs: &[Sync], ticks: u64) -> u64 {
    ticks.saturating_add_signed(offset(syncs, ticks))
}

/// The last moment of a clock that is not after one for all.
pub(crate) fn own(syncs: &[Sync], ticks: u64) -> u64 {
    // Drift is small, so a clock for all never goes back while one of its own goes on.
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = high - (high - low) / 2;
        if common(syncs, middle) <= ticks {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// On the line through the first and the last measurement.
fn offset(syncs: &[Sync], ticks: u64) -> i64 {
    let (Some(first), Some(last)) = (syncs.first(), syncs.last()) else { return 0 };
    let passed = |ticks: u64| i128::from(ticks) - i128::from(first.ticks);
    let change = i128::from(last.offset) - i128::from(first.offset);
    let slope = change as f64 / passed(last.ticks).max(1) as f64;
    first.offset.saturating_add((slope * passed(ticks) as f64).round() as i64)
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
    let kept = Records::of(chunk).take_while(|it| it.time <= end);
    kept.fold((CHUNK_HEADER_SIZE.min(chunk.len()), 0), |(_, events), it| (it.end, events + 1))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use partune_parts::layout::{bytes, part, stopped};

    use super::*;

    /// Measured twice, a second of 1e9 ticks apart, by a clock that gains so many of them on the one for all.
    fn syncs(offset: i64, gained: i64) -> [Sync; 2] {
        let first = Sync { ticks: 3_000_000_000, offset, deviation: 0.0 };
        [first, Sync { ticks: first.ticks + 1_000_000_000, offset: offset - gained, ..first }]
    }

    #[test]
    fn a_moment_is_found_on_clocks_that_are_far_apart_and_drift() {
        // 2e16 ticks are months; 1e4 ticks in 1e9 are a drift of 1e-5.
        for offset in [-20_000_000_000_000_000, -5, 0, 5, 20_000_000_000_000_000] {
            for gained in [-10_000, 0, 10_000] {
                let syncs = syncs(offset, gained);
                // Between both measurements, long before them and long after.
                for ticks in [3_500_000_000_u64, 1_000_000_000, 3_000_000_000_000] {
                    let Some(moment) = ticks.checked_add_signed(offset) else { continue };
                    let low = own(&syncs, moment);
                    let is_last = common(&syncs, low) <= moment && common(&syncs, low + 1) > moment;
                    assert!(is_last, "{offset} {gained} {ticks}: {low}");
                    // The clock for all is as far from this moment as it drifted since the first measurement.
                    let drift = ticks.abs_diff(3_000_000_000) / 100_000 + 1;
                    assert!(low.abs_diff(ticks) <= 2 * drift, "{offset} {gained} {ticks}: {low}");
                }
            }
        }
    }

    #[test]
    fn without_offsets_a_moment_is_the_same_on_all_clocks() {
        for ticks in [0, 7, u64::MAX] {
            assert_eq!([own(&[], ticks), own(&syncs(0, 0), ticks)], [ticks; 2]);
        }
        assert_eq!(own(&syncs(5, 0), 7), 2);
        assert_eq!(own(&syncs(-5, 0), 7), 12);
        // Before that clock began.
        assert_eq!(own(&syncs(5, 0), 3), 0);
    }

    #[test]
    fn offsets_that_no_clock_has_are_none_to_fail_of() {
        let mut syncs = syncs(0, 0);
        (syncs[0].offset, syncs[1].offset) = (i64::MIN, i64::MAX);
        for ticks in [0, 1, u64::MAX] {
            own(&syncs, ticks);
        }
    }

    /// A lane with enters at these times, which has stopped for this reason.
    fn lane(folder: &Path, thread: u32, times: &[u64], stopped: u64) -> Lane {
        const ENTER: [u8; 4] = [12, 2, 1, 0];
        let mut ring = vec![bytes::CHUNK, bytes::LITTLE_ENDIAN];
        ring.extend([1, times.len() as u64].map(u64::to_le_bytes).concat());
        for time in times {
            ring.push(bytes::TIMESTAMP);
            ring.extend(time.to_le_bytes());
            ring.extend(ENTER);
        }
        let mut all = vec![0; HEADER_SIZE];
        let mut set = |at: usize, value: u64| all[at..at + 8].copy_from_slice(&value.to_le_bytes());
        set(offset_of!(layout::Header, magic), layout::MAGIC);
        set(offset_of!(layout::Header, version), u64::from(layout::VERSION) | u64::from(thread) << 32);
        set(offset_of!(layout::Header, chunk_size), CHUNK_SIZE as u64);
        set(offset_of!(layout::Header, ring_size), CHUNK_SIZE as u64);
        set(offset_of!(layout::Header, stopped), stopped);
        set(offset_of!(layout::Header, cursor), ring.len() as u64);
        set(offset_of!(layout::Header, events), times.len() as u64);
        all.extend(ring);
        let stem = folder.join("process");
        fs::write(part(&stem, thread, "lane"), all).expect("room");
        Lane::read(&stem, thread).expect("it is there")
    }

    fn cut_all(lanes: &mut [Lane]) -> (Option<Stop>, Vec<Option<(u64, u64)>>) {
        let why = cut(lanes.iter_mut().map(|lane| (&[][..], lane))).expect("they are files");
        (why, lanes.iter().map(|lane| lane.times).collect())
    }

    #[test]
    fn all_end_where_the_first_one_stopped() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut lanes = [
            lane(folder.path(), 0, &[10, 20, 30, 40], 0),
            lane(folder.path(), 1, &[10, 15, 35], stopped::DISK),
            lane(folder.path(), 2, &[12, 25, 28], stopped::SIZE),
        ];
        let ends = vec![Some((10, 20)), Some((10, 15)), Some((12, 28))];
        assert_eq!(cut_all(&mut lanes), (Some(Stop::Size), ends.clone()));
        assert_eq!([lanes[0].lost, lanes[1].lost, lanes[2].lost], [2, 1, 0]);
        assert_eq!(cut_all(&mut lanes), (Some(Stop::Size), ends), "done again, it changes nothing");
    }

    #[test]
    fn one_of_which_nothing_is_left_cuts_nothing_off_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = || lane(folder.path(), 0, &[10, 20, 30], 0);
        let empty = || lane(folder.path(), 1, &[10, 20], stopped::DISK | stopped::WITHOUT_RING);
        assert_eq!(cut_all(&mut [whole(), empty()]), (Some(Stop::Disk), vec![Some((10, 30)), None]));
        let mut lanes = [whole(), empty(), lane(folder.path(), 2, &[11, 25], stopped::SIZE)];
        assert_eq!(cut_all(&mut lanes), (Some(Stop::Size), vec![Some((10, 20)), None, Some((11, 25))]));
        assert_eq!(cut_all(&mut [whole()]), (None, vec![Some((10, 30))]));
    }
}
