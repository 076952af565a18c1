//! From the statistics of a thread, as the recorder left them, to those of a location in the archive.
//!
//! Calls that were open when the process ended are ended at the last time that is known of the thread, as an unfinished trace would be.

use std::collections::BTreeMap;
use std::io;
use std::mem::{offset_of, size_of};
use std::path::Path;

use partune_otf2::statistics::{self, Block, Statistics};
use partune_parts::layout::{
    Gap, NO_PATH, OPEN, Open, PROFILE_HEADER_SIZE, PROFILE_MAGIC, ProfileHeader, Row, SIZE_CLASSES, VERSION, part,
};

use crate::contexts::NONE;
use crate::parts::{self, u32_at, u64_at};

/// What one thread counted. Paths are numbers of its process's log.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// By path; those that the thread did not execute have a count of zero.
    rows: Vec<Row>,
    gaps: Vec<Gap>,
    paused: u64,
    /// The block that no synchronisation ended.
    open_block: Block,
    has_cpu: bool,
    pub(crate) lost: u64,
    /// The disk was full, and the process was killed before it could store what it counted from then on.
    pub(crate) has_left: bool,
    /// Ticks of the first and the last enter or leave.
    pub(crate) times: Option<(u64, u64)>,
}

impl Counted {
    /// Reads `STEM-THREAD.stat` and what is beside it. Nothing was counted if they are not there or not whole: on a file system over the
    /// network they are written when the process ends.
    pub(crate) fn read(stem: &Path, thread: u32) -> io::Result<Counted> {
        let read = |ending| parts::read(&part(stem, thread, ending));
        Ok(Counted::parse(&read("stat")?, &read("gaps")?))
    }

    fn parse(stat: &[u8], gaps: &[u8]) -> Counted {
        let word = |at: usize| u64_at(stat, at);
        let version = word(offset_of!(ProfileHeader, version)).map(|word| word as u32);
        let header = |at: usize| word(at).unwrap_or(0);
        if word(offset_of!(ProfileHeader, magic)) != Some(PROFILE_MAGIC) || version != Some(VERSION) {
            return Counted::default();
        }
        let table =
            |bytes: &'_ [u8], size: usize, used: u64| bytes.len().min(size.saturating_mul(used as usize)) / size;
        let body = stat.get(PROFILE_HEADER_SIZE..).unwrap_or_default();
        let used = header(offset_of!(ProfileHeader, rows));
        let rows = table(body, size_of::<Row>(), used);
        let used_gaps = header(offset_of!(ProfileHeader, gaps));
        let known_gaps = table(gaps, size_of::<Gap>(), used_gaps);
        let mut counted = Counted {
            rows: body.chunks_exact(size_of::<Row>()).take(rows).filter_map(row).collect(),
            gaps: gaps.chunks_exact(size_of::<Gap>()).take(known_gaps).filter_map(gap).collect(),
            paused: header(offset_of!(ProfileHeader, paused)),
            open_block: Block {
                ticks: header(offset_of!(ProfileHeader, block)),
                signature: 0,
                cpu: header(offset_of!(ProfileHeader, block_cpu)),
            },
            has_cpu: header(offset_of!(ProfileHeader, has_cpu)) != 0,
            lost: 0,
            has_left: header(offset_of!(ProfileHeader, left)) != 0,
            times: None,
        };
        counted.lost = header(offset_of!(ProfileHeader, calls)).saturating_sub(counted.calls());
        let depth = (header(offset_of!(ProfileHeader, depth)) as usize).min(OPEN);
        let at = offset_of!(ProfileHeader, open);
        let open: Vec<Open> =
            (0..depth).filter_map(|level| open(stat.get(at + level * size_of::<Open>()..)?)).collect();
        counted.end(open);
        let since = header(offset_of!(ProfileHeader, paused_since));
        let end = counted.times.map_or(0, |times| times.1);
        if since > 0 {
            counted.paused = counted.paused.saturating_add(end.saturating_sub(since));
        }
        counted
    }

    /// Ends what is open, innermost first; the first of `open` is the thread itself.
    fn end(&mut self, mut open: Vec<Open>) {
        let done = self.rows.iter().filter(|row| row.count > 0);
        let last = done.map(|row| row.last).chain(open.iter().map(|open| open.enter)).max().unwrap_or(0);
        while open.len() > 1
            && let Some(call) = open.pop()
        {
            let inclusive = last.saturating_sub(call.enter);
            // The thread's CPU time is known up to the last call in it that ended.
            let cpu = call.cpu_end.max(call.cpu);
            let inclusive_cpu = cpu.saturating_sub(call.cpu);
            if let Some(outer) = open.last_mut() {
                outer.inside = outer.inside.saturating_add(inclusive);
                outer.cpu_inside = outer.cpu_inside.saturating_add(inclusive_cpu);
                outer.cpu_end = outer.cpu_end.max(cpu);
            }
            let path = call.path as usize;
            if call.path == NO_PATH || path > self.rows.len() {
                continue;
            }
            if path == self.rows.len() {
                self.rows.push(Row::default());
            }
            let row = &mut self.rows[path];
            if row.count == 0 {
                (row.first, row.min) = (call.enter, inclusive);
            }
            row.count += 1;
            row.inclusive = row.inclusive.saturating_add(inclusive);
            row.own = row.own.saturating_add(inclusive.saturating_sub(call.inside));
            row.own_cpu = row.own_cpu.saturating_add(inclusive_cpu.saturating_sub(call.cpu_inside));
            row.min = row.min.min(inclusive);
            row.max = row.max.max(inclusive);
            row.last = last;
        }
        let first = self.rows.iter().filter(|row| row.count > 0).map(|row| row.first).min();
        self.times = first.map(|first| (first, last.max(first)));
    }

    /// Calls that were counted.
    pub(crate) fn calls(&self) -> u64 {
        self.rows.iter().map(|row| row.count).fold(0, u64::saturating_add)
    }

    /// The same by the archive's calling contexts, of which `contexts` has that of each path. Several paths may be one context.
    pub(crate) fn in_archive(&self, contexts: &[u32]) -> Statistics {
        let context = |path: u32| contexts.get(path as usize).copied().filter(|context| *context != NONE);
        let mut rows: BTreeMap<u32, statistics::Row> = BTreeMap::new();
        for (row, path) in self.rows.iter().zip(0..).filter(|(row, _)| row.count > 0) {
            let Some(context) = context(path) else { continue };
            let new = statistics::Row { context, min: row.min, first: row.first, ..statistics::Row::default() };
            let sum = rows.entry(context).or_insert(new);
            sum.count += row.count;
            sum.inclusive = sum.inclusive.saturating_add(row.inclusive);
            sum.own = sum.own.saturating_add(row.own);
            sum.min = sum.min.min(row.min);
            sum.max = sum.max.max(row.max);
            sum.first = sum.first.min(row.first);
            sum.last = sum.last.max(row.last);
            sum.cpu = sum.cpu.saturating_add(row.own_cpu);
            sum.members = statistics::members(sum.members, u32::try_from(row.members).unwrap_or(statistics::SEVERAL));
            sum.block.ticks = sum.block.ticks.saturating_add(row.block);
            sum.block.cpu = sum.block.cpu.saturating_add(row.block_cpu);
            sum.block.signature = sum.block.signature.wrapping_add(row.signature);
            sum.transfers.count += row.transfers;
            sum.transfers.sent = sum.transfers.sent.saturating_add(row.bytes_sent);
            sum.transfers.received = sum.transfers.received.saturating_add(row.bytes_received);
            for (sum, more) in sum.transfers.sizes.iter_mut().zip(&row.sizes) {
                *sum += more;
            }
        }
        let mut gaps: BTreeMap<(Option<u32>, u32), (u64, u64, u64)> = BTreeMap::new();
        for gap in &self.gaps {
            let Some(path) = context(gap.path) else { continue };
            let before = if gap.before == NO_PATH { None } else { context(gap.before) };
            let sum = gaps.entry((before, path)).or_default();
            sum.0 += gap.count;
            sum.1 = sum.1.saturating_add(gap.ticks);
            sum.2 = sum.2.saturating_add(gap.cpu);
        }
        let gap = |((before, context), (count, ticks, cpu))| statistics::Gap { before, context, count, ticks, cpu };
        let (begin, end) = self.times.unwrap_or_default();
        Statistics {
            begin,
            end,
            paused: self.paused,
            lost: self.lost,
            open_block: Some(self.open_block),
            has_cpu: self.has_cpu,
            rows: rows.into_values().collect(),
            gaps: gaps.into_iter().map(gap).collect(),
        }
    }
}

fn row(bytes: &[u8]) -> Option<Row> {
    let word = |at: usize| u64_at(bytes, at);
    let mut sizes = [0; SIZE_CLASSES];
    for (class, count) in sizes.iter_mut().enumerate() {
        *count = word(offset_of!(Row, sizes) + 8 * class)?;
    }
    Some(Row {
        count: word(offset_of!(Row, count))?,
        inclusive: word(offset_of!(Row, inclusive))?,
        own: word(offset_of!(Row, own))?,
        min: word(offset_of!(Row, min))?,
        max: word(offset_of!(Row, max))?,
        first: word(offset_of!(Row, first))?,
        last: word(offset_of!(Row, last))?,
        gaps: 0,
        transfers: word(offset_of!(Row, transfers))?,
        bytes_sent: word(offset_of!(Row, bytes_sent))?,
        bytes_received: word(offset_of!(Row, bytes_received))?,
        own_cpu: word(offset_of!(Row, own_cpu))?,
        members: word(offset_of!(Row, members))?,
        block: word(offset_of!(Row, block))?,
        block_cpu: word(offset_of!(Row, block_cpu))?,
        signature: word(offset_of!(Row, signature))?,
        sizes,
    })
}

fn gap(bytes: &[u8]) -> Option<Gap> {
    Some(Gap {
        before: u32_at(bytes, offset_of!(Gap, before))?,
        path: u32_at(bytes, offset_of!(Gap, path))?,
        next: 0,
        count: u64_at(bytes, offset_of!(Gap, count))?,
        ticks: u64_at(bytes, offset_of!(Gap, ticks))?,
        cpu: u64_at(bytes, offset_of!(Gap, cpu))?,
    })
}

fn open(bytes: &[u8]) -> Option<Open> {
    Some(Open {
        path: u32_at(bytes, offset_of!(Open, path))?,
        before: u32_at(bytes, offset_of!(Open, before))?,
        enter: u64_at(bytes, offset_of!(Open, enter))?,
        inside: u64_at(bytes, offset_of!(Open, inside))?,
        end: u64_at(bytes, offset_of!(Open, end))?,
        cpu: u64_at(bytes, offset_of!(Open, cpu))?,
        cpu_inside: u64_at(bytes, offset_of!(Open, cpu_inside))?,
        cpu_end: u64_at(bytes, offset_of!(Open, cpu_end))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(count: u64, first: u64, last: u64) -> Row {
        let inclusive = last - first;
        Row { count, inclusive, own: inclusive, min: inclusive, max: inclusive, first, last, ..Row::default() }
    }

    #[test]
    fn paths_of_one_context_are_one_row() {
        let mut counted = Counted { rows: vec![Row::default(), row(1, 10, 20), row(1, 40, 45)], ..Counted::default() };
        (counted.rows[1].block, counted.rows[1].signature, counted.rows[1].members) = (6, u64::MAX, 4);
        (counted.rows[2].block, counted.rows[2].signature, counted.rows[2].members) = (7, 3, 4);
        counted.rows[2].own_cpu = 9;
        counted.gaps = vec![
            Gap { before: NO_PATH, path: 1, count: 1, ..Gap::default() },
            Gap { before: 1, path: 2, count: 1, ticks: 20, ..Gap::default() },
            Gap { before: 2, path: 1, count: 1, ticks: 5, ..Gap::default() },
        ];
        counted.end(vec![Open { path: NO_PATH, before: 2, enter: 10, end: 45, ..Open::default() }]);
        assert_eq!((counted.calls(), counted.times), (2, Some((10, 45))));
        let archive = counted.in_archive(&[3, 7, 7]);
        assert_eq!(archive.rows.len(), 1);
        let sum = archive.rows[0];
        assert_eq!((sum.context, sum.count, sum.inclusive, sum.min, sum.max), (7, 2, 15, 5, 10));
        assert_eq!((sum.first, sum.last), (10, 45));
        // Signatures add up modulo 2⁶⁴.
        assert_eq!((sum.block.ticks, sum.block.signature, sum.members, sum.cpu), (13, 2, 4, 9));
        let gaps: Vec<_> = archive.gaps.iter().map(|gap| (gap.before, gap.count, gap.ticks)).collect();
        assert_eq!(gaps, [(None, 1, 0), (Some(7), 2, 25)]);
    }

    #[test]
    fn open_calls_end_with_the_last_that_is_known() {
        let mut counted = Counted { rows: vec![Row::default(), row(1, 20, 30)], ..Counted::default() };
        let thread = Open { path: NO_PATH, before: NO_PATH, enter: 10, end: 10, ..Open::default() };
        // On a processor from 5 to 14, of these 4 in the call that ended; the open call began at 17.
        let cpu = Open { cpu: 5, cpu_inside: 4, cpu_end: 14, ..Open::default() };
        let region = Open { path: 0, before: 1, enter: 10, inside: 10, end: 30, ..cpu };
        let call = Open { path: 2, before: NO_PATH, enter: 50, end: 50, cpu: 17, cpu_end: 17, ..Open::default() };
        counted.end(vec![thread, region, call]);
        assert_eq!((counted.rows[0].count, counted.rows[0].inclusive, counted.rows[0].own), (1, 40, 30));
        assert_eq!((counted.rows[0].own_cpu, counted.rows[2].own_cpu), (17 - 5 - 4, 0));
        assert_eq!((counted.rows[2].count, counted.rows[2].inclusive), (1, 0));
        assert_eq!(counted.times, Some((10, 50)));
    }

    #[test]
    fn what_is_no_profile_counts_nothing() {
        for bytes in [&[][..], &[0; 100], &PROFILE_MAGIC.to_le_bytes()] {
            let counted = Counted::parse(bytes, &[1, 2, 3]);
            assert_eq!((counted.calls(), counted.times, counted.lost), (0, None, 0));
        }
        let mut cut = vec![0; PROFILE_HEADER_SIZE + size_of::<Row>()];
        cut[..8].copy_from_slice(&PROFILE_MAGIC.to_le_bytes());
        cut[8..12].copy_from_slice(&VERSION.to_le_bytes());
        let at = offset_of!(ProfileHeader, calls);
        cut[at..at + 8].copy_from_slice(&1000_u64.to_le_bytes());
        assert_eq!(Counted::parse(&cut, &[]).lost, 1000);
    }
}
