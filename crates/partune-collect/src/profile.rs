//! Statistics of call paths instead of events: memory by the number of paths, none by the length of the run.
//!
//! Rows lie in the thread's mapped `.stat` file, indexed by path, so that they outlive the process as lanes do; so do the calls that are
//! open. What happens between recorded calls is counted by pairs of calls that follow each other (see [`Gap`]), so that a profile
//! knows of the functions around calls what events would have told.

use std::io;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::counters::cpu_time;
use crate::mapped::{Extent, Mapped};
use crate::path::Path;
use partune_parts::layout::{
    Gap, NO_PATH, OPEN, Open, PROFILE_HEADER_SIZE, PROFILE_MAGIC, ProfileHeader, Row, SEVERAL, VERSION, part,
    size_class,
};

const FIRST_ROWS: usize = 512;
const FIRST_GAPS: usize = 1024;
/// More calls than these, before one path, are not told apart: the time between belongs to what is around.
const MOST_BEFORE: usize = 64;

/// The statistics of one thread.
pub(crate) struct Profile {
    rows: Mapped<Row>,
    gaps: Mapped<Gap>,
    /// Open calls that the header has no room for.
    deep: Vec<Open>,
    has_cpu: bool,
    /// The thread's CPU time when recording was turned off.
    paused_cpu: u64,
    /// Bytes of the message that the innermost call sends, if it sends one.
    sent: Option<[u64; 2]>,
}

/// A time, and the thread's CPU time; 0 if that is not kept.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    time: u64,
    cpu: u64,
}

impl Profile {
    /// Statistics in `STEM-THREAD.stat` and `STEM-THREAD.gaps`.
    pub(crate) fn create(stem: &FilePath, thread: u32, has_cpu: bool) -> io::Result<Profile> {
        let rows = Mapped::create(&part(stem, thread, "stat"), PROFILE_HEADER_SIZE, FIRST_ROWS)?;
        let gaps = Mapped::create(&part(stem, thread, "gaps"), 0, FIRST_GAPS)?;
        let mut profile = Profile { rows, gaps, deep: Vec::new(), has_cpu, paused_cpu: 0, sent: None };
        let header = profile.header();
        header.magic = PROFILE_MAGIC;
        header.version = VERSION;
        header.thread = thread;
        header.has_cpu = AtomicU64::new(has_cpu.into());
        header.depth = AtomicU64::new(1);
        header.open[0] = Open { path: NO_PATH, before: NO_PATH, ..Open::default() };
        Ok(profile)
    }

    /// What is kept of a time that is now, or just was.
    #[inline]
    pub(crate) fn moment(&self, time: u64) -> Moment {
        Moment { time, cpu: if self.has_cpu { cpu_time() } else { 0 } }
    }

    fn header(&mut self) -> &mut ProfileHeader {
        // SAFETY: the head of the table is as large, aligned to a page, and all of its bytes are initialised.
        unsafe { &mut *self.rows.head().cast::<ProfileHeader>() }
    }

    /// The open call at a depth.
    #[inline]
    fn open(&mut self, depth: usize) -> Option<&mut Open> {
        if depth < OPEN { Some(&mut self.header().open[depth]) } else { self.deep.get_mut(depth - OPEN) }
    }

    #[inline]
    fn depth(&mut self) -> usize {
        *self.header().depth.get_mut() as usize
    }

    /// Begins a call. `is_flat`: paths have no functions that the time before it could belong to.
    pub(crate) fn enter(&mut self, path: Path, Moment { time, cpu }: Moment, is_flat: bool) {
        self.sent = None;
        let depth = self.depth();
        if let Some(outer) = self.open(depth - 1) {
            let (before, between, between_cpu) = match outer.before {
                NO_PATH => {
                    // What the thread did before its first recorded call is not known.
                    outer.enter = if depth == 1 && outer.enter == 0 { time } else { outer.enter };
                    (NO_PATH, 0, 0)
                }
                before => (before, time.saturating_sub(outer.end), cpu.saturating_sub(outer.cpu_end)),
            };
            if !is_flat
                && self.between(before, path, between, between_cpu)
                && let Some(outer) = self.open(depth - 1)
            {
                outer.inside += between;
                outer.cpu_inside += between_cpu;
            }
        }
        let open = Open { path: path.0, before: NO_PATH, enter: time, end: time, cpu, cpu_end: cpu, ..Open::default() };
        match self.open(depth) {
            Some(slot) => *slot = open,
            None => self.deep.push(open),
        }
        self.header().depth.store(depth as u64 + 1, Relaxed);
    }

    /// Ends the innermost call; it is the one of `path`, since wrappers and regions nest.
    pub(crate) fn leave(&mut self, path: Path, Moment { time, cpu }: Moment) {
        let depth = self.depth() - 1;
        let Some(open) = self.open(depth).copied().filter(|open| open.path == path.0 && depth > 0) else { return };
        let inclusive = time.saturating_sub(open.enter);
        let inclusive_cpu = cpu.saturating_sub(open.cpu);
        *self.header().calls.get_mut() += 1;
        if let Some(row) = self.row(path.0) {
            if row.count == 0 {
                (row.min, row.first) = (inclusive, open.enter);
            }
            row.count += 1;
            row.inclusive += inclusive;
            row.own += inclusive.saturating_sub(open.inside);
            row.own_cpu += inclusive_cpu.saturating_sub(open.cpu_inside);
            row.min = row.min.min(inclusive);
            row.max = row.max.max(inclusive);
            row.last = time;
        }
        self.header().depth.store(depth as u64, Relaxed);
        self.deep.truncate(depth.saturating_sub(OPEN));
        if let Some(outer) = self.open(depth - 1) {
            outer.inside += inclusive;
            outer.before = path.0;
            outer.end = time;
            outer.cpu_inside += inclusive_cpu;
            outer.cpu_end = cpu;
        }
    }

    /// An operation begins or ends: what lies between two of them is work of the block.
    #[inline]
    pub(crate) fn operation(&mut self, begins: bool, Moment { time, cpu }: Moment) {
        let header = self.header();
        let (from, from_cpu) = (*header.worked_from.get_mut(), *header.worked_from_cpu.get_mut());
        if !begins {
            (*header.worked_from.get_mut(), *header.worked_from_cpu.get_mut()) = (time, cpu);
        } else if from > 0 {
            *header.block.get_mut() += time.saturating_sub(from);
            *header.block_cpu.get_mut() += cpu.saturating_sub(from_cpu);
        }
    }

    /// The innermost call was a collective operation. `signature`: it ended a block, which has this one.
    pub(crate) fn met(&mut self, members: u32, signature: Option<u64>) {
        let depth = self.depth() - 1;
        let Some(path) = self.open(depth).map(|open| open.path) else { return };
        let header = self.header();
        let ended = signature.map(|signature| {
            let work = [std::mem::take(header.block.get_mut()), std::mem::take(header.block_cpu.get_mut())];
            (signature, work)
        });
        let Some(row) = self.row(path) else { return };
        let members = u64::from(members);
        row.members = if row.members == 0 || row.members == members { members } else { SEVERAL };
        if let Some((signature, [ticks, cpu])) = ended {
            row.block += ticks;
            row.block_cpu += cpu;
            row.signature = row.signature.wrapping_add(signature);
        }
    }

    /// A transfer inside the innermost call.
    pub(crate) fn moved(&mut self, sent: u64, received: u64) {
        self.transferred(sent, received, sent.max(received));
    }

    fn transferred(&mut self, sent: u64, received: u64, size: u64) {
        let depth = self.depth() - 1;
        let Some(path) = self.open(depth).map(|open| open.path) else { return };
        let Some(row) = self.row(path) else { return };
        row.transfers += 1;
        row.bytes_sent = row.bytes_sent.saturating_add(sent);
        row.bytes_received = row.bytes_received.saturating_add(received);
        row.sizes[size_class(size)] += 1;
    }

    /// A transfer that the innermost call starts when it comes to it: a message that it sends, an access. Bytes that an atomic access sends and
    /// receives are of one transfer, as in the trace of events.
    pub(crate) fn start(&mut self, sent: u64, received: u64) {
        self.transferred(sent, received, sent.saturating_add(received));
        self.sent = Some([sent, received]);
    }

    /// It was not started: the call failed.
    pub(crate) fn retract(&mut self) -> bool {
        let depth = self.depth() - 1;
        let Some(path) = self.open(depth).map(|open| open.path) else { return false };
        let Some([sent, received]) = self.sent.take() else { return false };
        let Some(row) = self.row(path) else { return false };
        row.transfers = row.transfers.saturating_sub(1);
        row.bytes_sent = row.bytes_sent.saturating_sub(sent);
        row.bytes_received = row.bytes_received.saturating_sub(received);
        let class = &mut row.sizes[size_class(sent.saturating_add(received))];
        *class = class.saturating_sub(1);
        true
    }

    /// Its thread has ended: what follows is another one's, and nobody's work lies between.
    pub(crate) fn rest(&mut self) {
        let header = self.header();
        header.open[0].before = NO_PATH;
        (*header.worked_from.get_mut(), *header.worked_from_cpu.get_mut()) = (0, 0);
        self.sent = None;
    }

    /// The program turned recording off, or on.
    pub(crate) fn pause(&mut self, on: bool, Moment { time, cpu }: Moment) {
        let since_cpu = std::mem::replace(&mut self.paused_cpu, cpu);
        let header = self.header();
        let since = header.paused_since.swap(if on { 0 } else { time }, Relaxed);
        if since > 0 {
            let paused = time.saturating_sub(since);
            header.paused.store(header.paused.load(Relaxed) + paused, Relaxed);
            // It is no work.
            if *header.worked_from.get_mut() > 0 {
                *header.worked_from.get_mut() += paused;
                *header.worked_from_cpu.get_mut() += cpu.saturating_sub(since_cpu);
            }
        }
    }

    /// Counts that one call followed another, so many ticks after it. False if they are not told apart.
    fn between(&mut self, before: u32, path: Path, ticks: u64, cpu: u64) -> bool {
        let Some(row) = self.row(path.0) else { return false };
        let latest = row.gaps;
        let (mut next, mut others) = (latest, 0);
        while let Some(gap) = (next as usize).checked_sub(1).and_then(|at| self.gaps.get(at)) {
            if gap.before == before {
                gap.count += 1;
                gap.ticks += ticks;
                gap.cpu += cpu;
                return true;
            }
            next = gap.next;
            others += 1;
            if others == MOST_BEFORE {
                return false;
            }
        }
        let used = self.header().gaps.load(Relaxed);
        let Some(gap) = self.gaps.make(used as usize) else { return false };
        *gap = Gap { before, path: path.0, next: latest, count: 1, ticks, cpu };
        self.header().gaps.store(used + 1, Relaxed);
        self.gaps.use_rows(used as usize + 1);
        if let Some(row) = self.row(path.0) {
            row.gaps = used + 1;
        }
        true
    }

    /// The row of a path; none if there is no memory for it. Paths are numbered in the process, so the
    /// rows of those that only other threads take stay empty.
    #[inline]
    fn row(&mut self, path: u32) -> Option<&mut Row> {
        let index = path as usize;
        if index as u64 >= self.header().rows.load(Relaxed) {
            if path == NO_PATH {
                return None;
            }
            let before = self.rows.head().cast::<ProfileHeader>();
            self.rows.make(index)?;
            if self.rows.has_left() && self.rows.head().cast() != before {
                // SAFETY: mappings stay as long as the table. This one is that of the file, which whoever finds it is to know.
                unsafe { (*before).left.store(1, Relaxed) };
            }
            self.header().rows.store(index as u64 + 1, Relaxed);
            self.rows.use_rows(index + 1);
        }
        self.rows.get(index)
    }

    /// Ends the statistics and gives their memory back.
    ///
    /// # Safety
    /// Nobody else may be storing them.
    pub(crate) unsafe fn close(self) {
        // SAFETY: the mapping begins with the header, and nobody writes it any more.
        let header = unsafe { &*self.rows.head().cast::<ProfileHeader>() };
        let (rows, gaps) = (header.rows.load(Relaxed), header.gaps.load(Relaxed));
        // SAFETY: as the caller said; the header is not looked at any more.
        unsafe {
            self.gaps.close(gaps as usize);
            self.rows.close(rows as usize);
        }
    }

    /// What of it is to be stored at the end, by whichever thread.
    pub(crate) fn extents(&self) -> [Arc<Extent>; 2] {
        [Arc::clone(self.rows.extent()), Arc::clone(self.gaps.extent())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a profile's files hold, as if its process had been killed now.
    struct Left(Vec<u8>, Vec<u8>);

    impl Left {
        fn of(folder: &FilePath) -> Left {
            let read = |name: &str| std::fs::read(folder.join(name)).expect("it was made");
            Left(read("p-3.stat"), read("p-3.gaps"))
        }

        fn header(&self) -> &ProfileHeader {
            // SAFETY: the bytes are those of a header, which is numbers only; vectors of this size are aligned to 16 bytes.
            unsafe { &*self.0.as_ptr().cast::<ProfileHeader>() }
        }

        fn row(&self, path: usize) -> Row {
            // SAFETY: the test asks for rows that are in the bytes; any bytes are a row.
            unsafe { self.0.as_ptr().add(PROFILE_HEADER_SIZE).cast::<Row>().add(path).read_unaligned() }
        }

        fn gaps(&self) -> Vec<(u32, u32, u64, u64)> {
            let used = self.header().gaps.load(Relaxed) as usize;
            // SAFETY: the header says how many gaps are in the bytes; any bytes are a gap.
            let gap = |at| unsafe { self.1.as_ptr().cast::<Gap>().add(at).read_unaligned() };
            (0..used).map(gap).map(|it: Gap| (it.before, it.path, it.count, it.ticks)).collect()
        }
    }

    fn profile() -> (tempfile::TempDir, Profile) {
        let folder = tempfile::tempdir().expect("temporary files can be made");
        let profile = Profile::create(&folder.path().join("p"), 3, true).expect("there is room");
        (folder, profile)
    }

    /// A thread that is half of its time on a processor.
    fn at(time: u64) -> Moment {
        Moment { time, cpu: time / 2 }
    }

    #[test]
    fn times_transfers_and_gaps_of_nested_calls_are_in_the_file() {
        let (folder, mut profile) = profile();
        // A region 7 from 100 to 200 with calls 8 at 120..130, 9 at 140..145 and 8 at 160..190; then 9 at 205..210.
        for (enter, path, time) in [
            (true, 7, 100),
            (true, 8, 120),
            (false, 8, 130),
            (true, 9, 140),
            (false, 9, 145),
            (true, 8, 160),
            (false, 8, 190),
            (false, 7, 200),
            (true, 9, 205),
        ] {
            if enter { profile.enter(Path(path), at(time), false) } else { profile.leave(Path(path), at(time)) }
        }
        profile.moved(10, 0);
        profile.moved(0, 2000);
        profile.leave(Path(9), at(210));
        let left = Left::of(folder.path());
        let region = left.row(7);
        assert_eq!(
            (region.count, region.inclusive, region.own, region.first, region.last),
            (1, 100, 20 + 10, 100, 200)
        );
        // In it 20 before the first call and 10 after the last: half of it, rounded at each end.
        assert_eq!(region.own_cpu, 10 + 5);
        let send = left.row(8);
        assert_eq!((send.count, send.inclusive, send.own, send.min, send.max), (2, 40, 40, 10, 30));
        assert_eq!((send.first, send.last), (120, 190));
        let other = left.row(9);
        assert_eq!((other.transfers, other.bytes_sent, other.bytes_received), (2, 10, 2000));
        assert_eq!((other.sizes[2], other.sizes[6]), (1, 1));
        let mut gaps = left.gaps();
        gaps.sort_unstable_by_key(|gap| (gap.1, gap.0));
        assert_eq!(gaps, [(NO_PATH, 7, 1, 0), (9, 8, 1, 15), (NO_PATH, 8, 1, 0), (7, 9, 1, 5), (8, 9, 1, 10)]);
        assert_eq!((left.header().depth.load(Relaxed), left.header().calls.load(Relaxed)), (1, 5));
    }

    #[test]
    fn what_is_open_when_a_process_is_killed_is_known() {
        let (folder, mut profile) = profile();
        profile.enter(Path(1), at(10), false);
        profile.enter(Path(2), at(20), false);
        profile.pause(false, at(25));
        let left = Left::of(folder.path());
        let header = left.header();
        assert_eq!((header.depth.load(Relaxed), header.open[1].path, header.open[2].enter), (3, 1, 20));
        assert_eq!((left.row(2).count, header.paused_since.load(Relaxed)), (0, 25));
    }

    #[test]
    fn thousands_of_paths_and_of_open_calls() {
        const PATHS: u32 = 10_000;
        let (folder, mut profile) = profile();
        for path in 0..PATHS {
            profile.enter(Path(path), at(path.into()), false);
        }
        for path in (0..PATHS).rev() {
            profile.leave(Path(path), at((2 * PATHS - path).into()));
        }
        let left = Left::of(folder.path());
        assert_eq!(
            (left.header().rows.load(Relaxed), left.header().calls.load(Relaxed)),
            (u64::from(PATHS), u64::from(PATHS))
        );
        for path in 0..PATHS as usize {
            let row = left.row(path);
            assert_eq!((row.count, row.inclusive), (1, 2 * (10_000 - path as u64)));
            assert_eq!(row.own, 2, "one tick before and one after the call inside");
        }
    }

    #[test]
    fn calls_behind_too_many_others_are_not_told_apart() {
        let (folder, mut profile) = profile();
        for before in 1..200_u32 {
            let time = 10 * u64::from(before);
            for (path, time) in [(before, time), (0, time + 4)] {
                profile.enter(Path(path), at(time), false);
                profile.leave(Path(path), at(time + 1));
            }
        }
        let left = Left::of(folder.path());
        let to_zero = left.gaps().into_iter().filter(|gap| gap.1 == 0).count();
        assert_eq!((to_zero, left.row(0).count), (MOST_BEFORE, 199));
    }

    /// By hand: 0..10 before the first operation is not known; barriers of all at 20..30 and 50..60 of path 1, a send 34..40 of path 2 and a
    /// pause 42..46 between; then a barrier of four at 70..80.
    #[test]
    fn work_of_blocks_is_with_the_synchronisation_that_ends_them() {
        let (folder, mut profile) = profile();
        let mut call = |path: u32, begin: u64, end: u64, met: Option<(u32, Option<u64>)>| {
            profile.operation(true, at(begin));
            profile.enter(Path(path), at(begin), false);
            if let Some((members, signature)) = met {
                profile.met(members, signature);
            }
            profile.operation(false, at(end));
            profile.leave(Path(path), at(end));
            if end == 40 {
                profile.pause(false, at(42));
                profile.pause(true, at(46));
            }
        };
        call(2, 10, 14, None);
        call(1, 20, 30, Some((8, Some(1 << 63))));
        call(2, 34, 40, None);
        call(1, 50, 60, Some((8, Some(1 << 63 | 5))));
        call(1, 70, 80, Some((4, None)));
        let left = Left::of(folder.path());
        let barrier = left.row(1);
        // 14..20; 30..34, 40..42 and 46..50.
        assert_eq!((barrier.block, barrier.block_cpu), (6 + 10, 3 + 5));
        assert_eq!((barrier.signature, barrier.members), (5, SEVERAL));
        assert_eq!((left.row(2).block, left.row(2).members), (0, 0));
        // 60..70 is in a block that is open.
        assert_eq!((left.header().block.load(Relaxed), left.header().block_cpu.load(Relaxed)), (10, 5));
    }
}
