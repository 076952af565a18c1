//! A thread's lane: its events in their final bytes, in a ring of chunks that outlives the process.
//!
//! For [`crate::call`] and [`crate::facts`]. The ring is a shared mapping of the lane's file, so what was written is in the file whatever
//! becomes of the process. When the ring is full, its chunks are appended to the `.evt` file by one system call and the ring begins anew;
//! the pause is an event. Memory is the ring's size for each thread that lives, or whose lane waits for the next one, and no file stays open. If the disk is full, or the recording
//! as large as it may be, what was kept stays, further events are only counted, and the program goes on; or, where the newest events are wanted, they go
//! over the oldest. File systems of clusters, which map shared files badly, get a ring in private memory that is stored at the end.

mod rows;

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use crate::attention::Attention;
use crate::creation::Created;
use crate::current::{Current, Inner};
use crate::mapped::Extent;
use crate::memory::{self, map, release};
use crate::room;
use crate::sample::{self, Counts, Sampler};
use crate::{counters::Counters, paths::Sites, profile::Profile, scratch, stack::Stack};
use partune_parts::clock;
use partune_parts::draft::{Draft, EVENTS, FLAT, Half, MAX_DRAFTS, POLLS};
use partune_parts::encode::{At, Message};
use partune_parts::layout::{CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE, Header, MAGIC, VERSION, bytes, part, stopped};

const BUFFER_FLUSH: u8 = 10;
/// How often a ring is copied that begins anew meanwhile.
const COPIES: usize = 3;
/// Bytes of a file that are asked for at once.
const RESERVED: usize = 16 << 20;

/// What is kept of calls.
pub(crate) enum Keep {
    Events,
    /// Also the counters' values at each enter and leave.
    EventsAndCounters(Box<Counters>),
    Statistics(Box<Profile>),
}

/// What one thread records, and what it needs for that. What each call looks at comes first, in few cache lines.
#[repr(C, align(64))]
pub(crate) struct Lane {
    /// Calls inside of calls are not recorded; and samples that wait are written before the next call.
    pub(crate) attention: Attention,
    pub(crate) current: Current,
    pub(crate) sites: Sites,
    pub(crate) keep: Keep,
    /// Bits of the drafts, which have to be written before the next record.
    drafts: u64,
    header: *mut Header,
    /// Next byte.
    at: *mut u8,
    /// No event may begin after this.
    limit: *mut u8,
    last_time: u64,
    ring: *mut u8,
    /// The next number for something of this thread that lives on: a request.
    pub(crate) sequence: u64,
    pub(crate) stack: Stack,
    /// Return addresses of calls that MPI makes of its own functions.
    pub(crate) inner: Inner,
    /// Before the message that the current call sends was told.
    untold: Point,
    /// Whether polls that find nothing are kept in rows.
    pub(crate) joins_polls: bool,
    /// Whether newer events go over the oldest where there is no more room.
    pub(crate) keeps_newest: bool,
    /// When the current poll began.
    polled: u64,
    /// Ticks, about; 0 before the first row of polls.
    microsecond: u64,
    /// How long the thread had run, and when, while it polled.
    ran: rows::OnCore,
    ring_size: usize,
    path: PathBuf,
    /// Whether the ring is private memory, which has to be stored at the end.
    private: bool,
    overflow_path: PathBuf,
    /// Whether that file was made.
    has_overflow: bool,
    /// The thread as the program made it, if it did.
    pub(crate) created: Option<Created>,
    /// The team that the thread was in last, if a runtime made it.
    pub(crate) team: Option<u32>,
    /// Looks where the thread is between calls, if it does.
    pub(crate) sampler: Option<NonNull<Sampler>>,
}

/// What of a lane has to be brought to its files when the process ends, by whichever thread. The owner may go on meanwhile, so nothing
/// here is the lane's own: the place of the header never changes, and its fields are atomic.
pub(crate) struct Rest {
    header: *const Header,
    path: PathBuf,
    /// Whether the ring is private memory.
    private: bool,
    tables: Vec<Arc<Extent>>,
    samples: Option<Arc<Counts>>,
}

// SAFETY: the header lies in a mapping that whoever stores it knows to be there, and is looked at by atomic loads alone.
unsafe impl Send for Rest {}

impl Rest {
    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.word(offset_of!(Header, events)).load(Relaxed)
    }

    /// What was counted of the thread's samples.
    pub(crate) fn samples(&self) -> Option<&Counts> {
        self.samples.as_deref()
    }

    /// Brings what is in private memory to the file. The lane can go on afterwards.
    ///
    /// Bytes before the header's cursor were written before it was published, so a copy has them, and what an owner appends meanwhile lies
    /// after the cursor that the copy says. Only if the ring began anew while it was copied, that is not so: then it is copied again, and what
    /// a thread still does that ends with its process has no claim to be whole.
    ///
    /// # Safety
    /// The lane must not be closed meanwhile.
    pub(crate) unsafe fn store(&self) {
        // SAFETY: as the caller said.
        self.tables.iter().for_each(|table| unsafe { table.store() });
        if self.word(offset_of!(Header, stopped)).load(Acquire) != 0 {
            self.store_lost();
        } else if self.private {
            // SAFETY: as the caller said.
            unsafe { self.store_ring() };
        }
    }

    /// A word of the header.
    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the mapping stays until the lane is closed, and the header is at its begin.
        unsafe { AtomicU64::from_ptr(self.header.cast_mut().cast::<u64>().add(at / 8)) }
    }

    /// Says in the file of a lane that has stopped how many events were lost since.
    fn store_lost(&self) {
        let [events, kept] =
            [offset_of!(Header, events), offset_of!(Header, kept)].map(|at| self.word(at).load(Relaxed));
        let (lost, at) = ((events - kept).to_ne_bytes(), offset_of!(Header, lost) as u64);
        let _ = OpenOptions::new().write(true).open(&self.path).and_then(|file| file.write_all_at(&lost, at));
    }

    /// # Safety
    /// The lane must not be closed meanwhile.
    unsafe fn store_ring(&self) {
        let Ok(file) = OpenOptions::new().write(true).open(&self.path) else { return };
        let word = |at: usize| self.word(at);
        for _ in 0..COPIES {
            let used = word(offset_of!(Header, cursor)).load(Acquire);
            let mut about: [u64; size_of::<Header>() / 8] = std::array::from_fn(|at| word(8 * at).load(Relaxed));
            about[offset_of!(Header, cursor) / 8] = used;
            // SAFETY: header and ring are one mapping, in which the cursor lies.
            unsafe { memory::write(&file, self.header.cast::<u8>().add(HEADER_SIZE), used as usize, HEADER_SIZE) };
            let _ = file.write_all_at(about.map(u64::to_ne_bytes).as_flattened(), 0);
            fence(Acquire);
            let goes_on = |at: usize| word(at).load(Relaxed) == about[at / 8];
            if goes_on(offset_of!(Header, flushed)) && goes_on(offset_of!(Header, stopped)) {
                break;
            }
        }
    }
}

/// How far a lane was written.
struct Point {
    /// Of the chunk in the ring; [`NOWHERE`] if it is no more.
    chunk: u64,
    at: *mut u8,
    last_time: u64,
    events: u64,
}

const NOWHERE: u64 = u64::MAX;

impl Lane {
    /// A lane in `STEM-THREAD.lane`.
    pub(crate) fn create(stem: &Path, thread: u32, ring_size: usize, depth: usize) -> io::Result<Lane> {
        let path = part(stem, thread, "lane");
        let file = scratch::create(&path)?;
        let (base, private) = map(&file, &path, HEADER_SIZE + ring_size)?;
        let header = base.cast::<Header>();
        // SAFETY: the mapping is as large, and page aligned.
        unsafe {
            (*header).magic = MAGIC;
            (*header).version = VERSION;
            (*header).thread = thread;
            (*header).chunk_size = CHUNK_SIZE as u64;
            (*header).ring_size = ring_size as u64;
        }
        // SAFETY: the ring lies after the header in the same mapping.
        let ring = unsafe { base.add(HEADER_SIZE) };
        let mut lane = Lane {
            at: ring,
            limit: ring,
            last_time: 0,
            untold: Point { chunk: NOWHERE, at: ring, last_time: 0, events: 0 },
            joins_polls: true,
            keeps_newest: false,
            polled: 0,
            microsecond: 0,
            ran: rows::OnCore::default(),
            drafts: 0,
            header,
            ring,
            ring_size,
            path,
            private,
            overflow_path: part(stem, thread, "evt"),
            has_overflow: false,
            attention: Attention::default(),
            current: Current::NONE,
            sequence: u64::from(thread) << 40,
            sites: Sites::new(thread, depth),
            stack: Stack::EMPTY,
            inner: Inner::default(),
            keep: Keep::Events,
            created: None,
            team: None,
            sampler: None,
        };
        lane.begin_chunk(0);
        room::take(ring_size as u64);
        Ok(lane)
    }

    pub(crate) fn header(&self) -> &'static Header {
        // SAFETY: the mapping stays as long as the lane, and nobody keeps the header longer.
        unsafe { &*self.header }
    }

    /// No record has a later time.
    pub(crate) fn last_time(&self) -> u64 {
        self.last_time
    }

    /// Where the next record goes.
    #[allow(clippy::inline_always, reason = "a register")]
    #[inline(always)]
    fn place(&self) -> At {
        // SAFETY: after the limit there is room for half a call and the drafts, and this thread writes alone.
        unsafe { At::new(self.at) }
    }

    /// Where an event of at most [`partune_parts::encode::MAX_EVENT`] bytes goes, after its time. It counts when it is [appended](Lane::append).
    #[allow(clippy::inline_always, reason = "a few instructions")]
    #[inline(always)]
    pub(crate) fn room(&mut self, time: u64) -> At {
        debug_assert_eq!(self.drafts, 0, "drafts come before");
        if self.at >= self.limit {
            self.next_chunk(time);
        }
        self.at_time(self.place(), time)
    }

    /// Writes a time, if it is another one.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn at_time(&mut self, at: At, time: u64) -> At {
        if time <= self.last_time {
            return at;
        }
        self.last_time = time;
        at.time(time)
    }

    /// The event that was written to the room ends here.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(crate) fn append(&mut self, end: At) {
        self.append_all(end, 1);
    }

    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn append_all(&mut self, end: At, count: u64) {
        self.at = end.place();
        let events = &self.header().events;
        events.store(events.load(Relaxed) + count, Relaxed);
        self.header().publish(end.place() as usize - self.ring as usize);
    }

    /// What is told next is a message that the current call sends: [`Lane::retract`] takes it back.
    #[allow(clippy::inline_always, reason = "a few stores")]
    #[inline(always)]
    pub(crate) fn tell_next(&mut self) {
        if self.at >= self.limit {
            self.next_chunk(self.current.time);
        }
        let (chunk, events) = (self.header().chunk.load(Relaxed), self.header().events.load(Relaxed));
        self.untold = Point { chunk, at: self.at, last_time: self.last_time, events };
    }

    /// The current call failed, so it sent no message: takes it back, if it was told and nothing came after but what was told with it.
    #[cold]
    pub(crate) fn retract(&mut self) -> bool {
        if let Keep::Statistics(profile) = &mut self.keep {
            return profile.retract();
        }
        if self.drafts & Half::Sent.bit() != 0 {
            let Draft { time, path, .. } = self.header().drafts[Half::Sent as usize].get();
            let is_flat = self.drafts & FLAT != 0;
            self.drafts &= !Half::Sent.bit();
            self.header().publish_drafts(self.drafts);
            self.settle();
            let at = self.room(time);
            self.append(at.enter(path, is_flat));
            return true;
        }
        // A message, and for some functions that one is awaited.
        self.take_back(2)
    }

    /// Takes back what was told since [`Lane::tell_next`], if it is there and so many events at most.
    pub(crate) fn take_back(&mut self, most: u64) -> bool {
        let header = self.header();
        let Point { chunk, at, last_time, events } = self.untold;
        self.untold.chunk = NOWHERE;
        let told = header.events.load(Relaxed).wrapping_sub(events);
        if chunk != header.chunk.load(Relaxed) || !(1..=most).contains(&told) {
            return false;
        }
        (self.at, self.last_time) = (at, last_time);
        header.publish(at as usize - self.ring as usize);
        header.events.store(events, Relaxed);
        true
    }

    /// Whether half a call can be kept to be written later.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(crate) fn can_draft(&self) -> bool {
        matches!(self.keep, Keep::Events)
    }

    /// Says whom the current call waits for, where it is the last that is known of the thread.
    #[inline]
    pub(crate) fn set_awaits(&self, comm: u32, rank: u32) {
        self.header().set_awaits(self.current.time, comm, rank);
    }

    /// Says whom else it waits for.
    pub(crate) fn set_awaits_also(&self, others: impl Iterator<Item = (u32, u32)>) {
        self.header().set_awaits_also(self.current.time, others);
    }

    /// Keeps half a call. There must be none of this half and those that come before it.
    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(crate) fn draft(&mut self, half: Half, draft: Draft, is_flat: bool) {
        let header = self.header();
        header.drafts[half as usize].set(draft);
        self.drafts |= half.bit() | if is_flat { FLAT } else { 0 };
        header.publish_drafts(self.drafts);
    }

    /// Writes what could wait, before anything else is written.
    pub(crate) fn settle(&mut self) {
        if self.drafts != 0 {
            let (end, count) = self.write_drafts();
            self.append_all(end, count);
        }
    }

    /// Writes that the current call received a message and ends, after the drafts.
    #[inline(never)]
    pub(crate) fn mark_received(&mut self, message: Message) {
        let Current { time, path, is_flat, .. } = self.current;
        let (at, count) = self.behind_drafts();
        let at = self.at_time(at, time);
        let draft = Draft { time, path: path.0, message };
        self.append_all(draft.write(Half::Received, is_flat, at), count + EVENTS);
    }

    /// Writes that the current call begins or ends, after the drafts.
    #[allow(clippy::inline_always, reason = "a few stores")]
    #[inline(always)]
    pub(crate) fn mark(&mut self, enter: bool) {
        if self.drafts != 0 || self.at >= self.limit {
            self.mark_behind(enter);
        } else {
            self.mark_at(self.place(), 0, enter);
        }
    }

    #[inline(never)]
    fn mark_behind(&mut self, enter: bool) {
        let (at, count) = self.behind_drafts();
        self.mark_at(at, count, enter);
    }

    #[allow(clippy::inline_always, reason = "a few stores")]
    #[inline(always)]
    fn mark_at(&mut self, at: At, count: u64, enter: bool) {
        let Current { time, path, is_flat, .. } = self.current;
        let at = self.at_time(at, time);
        self.append_all(if enter { at.enter(path.0, is_flat) } else { at.leave(path.0, is_flat) }, count + 1);
    }

    /// Writes the drafts; returns where an event of the current call, or half of it, goes after them, and how many events are to be counted.
    #[inline]
    fn behind_drafts(&mut self) -> (At, u64) {
        let (at, count) = self.write_drafts();
        if at.place() < self.limit {
            return (at, count);
        }
        self.append_all(at, count);
        self.next_chunk(self.current.time);
        (self.place(), 0)
    }

    /// Writes the drafts, for which there is always room; returns where they end, and how many events they are.
    #[inline]
    fn write_drafts(&mut self) -> (At, u64) {
        let mut end = self.write_draft(Half::Received, (self.place(), 0));
        if self.drafts & POLLS != 0 {
            end = self.write_polls(end);
        }
        let end = self.write_draft(Half::Sent, end);
        self.drafts = 0;
        end
    }

    #[allow(clippy::inline_always, reason = "the half is known")]
    #[inline(always)]
    fn write_draft(&mut self, half: Half, (at, count): (At, u64)) -> (At, u64) {
        if self.drafts & half.bit() == 0 {
            return (at, count);
        }
        let draft = self.header().drafts[half as usize].get();
        let at = self.at_time(at, draft.time);
        (draft.write(half, self.drafts & FLAT != 0, at), count + EVENTS)
    }

    fn begin_chunk(&mut self, offset: usize) {
        let header = self.header();
        header.chunk.store(offset as u64, Relaxed);
        let before = header.events.load(Relaxed);
        header.events_before.store(before, Relaxed);
        // SAFETY: `offset` is that of a whole chunk in the ring.
        let begin = unsafe { self.ring.add(offset) };
        // SAFETY: a chunk is longer than its header.
        let place = unsafe { At::new(begin) };
        self.at = place.byte(bytes::CHUNK).byte(bytes::LITTLE_ENDIAN).word(before + 1).word(0).place();
        // SAFETY: the limit lies in the chunk that begins here. Half a call fits after the limit, drafts after that, and the last byte is for the mark of the end.
        self.limit = unsafe { begin.add(CHUNK_SIZE - 2 * MAX_DRAFTS - 1) };
        // A chunk begins with a time.
        self.last_time = 0;
        self.untold.chunk = NOWHERE;
        // Those that were written must not seem to belong after a cursor that comes again.
        header.publish_drafts(0);
        header.publish(offset + CHUNK_HEADER_SIZE);
    }

    /// Ends the chunk and begins the next one.
    #[cold]
    fn next_chunk(&mut self, time: u64) {
        let header = self.header();
        let chunk = header.chunk.load(Relaxed) as usize;
        let used = self.at as usize - self.ring as usize - chunk;
        // SAFETY: the chunk lies in the ring; its last events' number is in the second word of its header.
        unsafe {
            let begin = self.ring.add(chunk);
            std::ptr::write_bytes(self.at, bytes::END_OF_CHUNK, CHUNK_SIZE - used);
            begin.add(CHUNK_HEADER_SIZE - 8).cast::<u64>().write_unaligned(header.events.load(Relaxed).to_le());
        }
        let next = chunk + CHUNK_SIZE;
        if next < self.ring_size {
            // The next chunk is published with its header only.
            return self.begin_chunk(next);
        }
        let before = self.last_time.max(time);
        let written = self.store_ring();
        self.begin_chunk(0);
        if written {
            let after = clock::now();
            let record = self.at_time(self.place(), before).record(BUFFER_FLUSH);
            self.append(record.end(record.data().word(after)));
        }
    }

    /// Appends the ring, which is full, to the overflow file. If it cannot be, nothing is kept from now on.
    fn store_ring(&mut self) -> bool {
        let header = self.header();
        if header.stopped.load(Relaxed) != 0 {
            self.rest().store_lost();
            return false;
        }
        let has_room = self.turns() || room::take(self.ring_size as u64) || self.begin_to_turn();
        let why = if !has_room {
            stopped::SIZE
        } else if !(self.append_ring() || self.begin_to_turn() && self.append_ring()) {
            stopped::DISK
        } else {
            return true;
        };
        self.stop(why);
        false
    }

    /// Whether newer events go over the oldest by now.
    fn turns(&self) -> bool {
        self.header().capacity.load(Relaxed) != 0
    }

    /// There is no more room: from now on newer events go over the oldest, if they are wanted. Then this is as much as is kept: of two rings at
    /// least, for which there is room in any case.
    fn begin_to_turn(&mut self) -> bool {
        let (flushed, least) = (self.header().flushed.load(Relaxed), 2 * self.ring_size as u64);
        if self.keeps_newest && flushed >= least && !self.turns() {
            self.header().capacity.store(flushed, Release);
        }
        self.turns() || self.keeps_newest && flushed < least
    }

    fn append_ring(&mut self) -> bool {
        // SAFETY: the ring is initialised to its end, chunk by chunk.
        let full = unsafe { std::slice::from_raw_parts(self.ring, self.ring_size) };
        let [flushed, capacity] = [&self.header().flushed, &self.header().capacity].map(|it| it.load(Relaxed));
        let offset = flushed.checked_rem(capacity).unwrap_or(flushed);
        let end = offset + self.ring_size as u64;
        if !room::fits_a_file(end) {
            return false;
        }
        let path = &self.overflow_path;
        let file = if self.has_overflow { OpenOptions::new().write(true).open(path) } else { scratch::create(path) };
        let Ok(file) = file else { return false };
        self.has_overflow = true;
        if capacity == 0 {
            self.reserve(&file, offset);
        }
        let stored = file.write_all_at(full, offset).is_ok();
        if stored {
            self.header().flushed.store(flushed + self.ring_size as u64, Relaxed);
        } else if capacity == 0 {
            // A part of the ring may have been written.
            let _ = file.set_len(offset);
        }
        // Who sees what the ring gets from now on sees that it began anew, see `Rest::store`.
        fence(Release);
        stored
    }

    /// What is in the files stays. The thread goes on to write its ring, which is memory of its own from now on, and counts.
    fn stop(&mut self, why: u64) {
        let header = self.header();
        header.kept.store(header.events.load(Relaxed), Relaxed);
        if self.private {
            // SAFETY: the lane's own.
            unsafe { self.rest().store_ring() };
        }
        let size = HEADER_SIZE + self.ring_size;
        let file = OpenOptions::new().read(true).write(true).open(&self.path);
        let is_kept = file.is_ok_and(|file| {
            let at = offset_of!(Header, stopped) as u64;
            file.write_all_at(&why.to_ne_bytes(), at).is_ok()
                && (self.private || memory::detach(self.header.cast(), size, &file))
        });
        if is_kept {
            header.stopped.store(why, Release);
        } else {
            // The ring's file is written over. The number of its first event is in the first word of its first chunk's header.
            // SAFETY: the ring begins with a whole chunk.
            let first = unsafe { self.ring.add(2).cast::<u64>().read_unaligned() };
            header.kept.store(u64::from_le(first) - 1, Relaxed);
            header.stopped.store(why | stopped::WITHOUT_RING, Release);
        }
    }

    /// Reserves room in the file for some rings at once, since a file that is asked for in pieces is slow to write.
    fn reserve(&self, file: &File, offset: u64) {
        let ahead = (RESERVED / self.ring_size).max(1) * self.ring_size;
        if offset.is_multiple_of(ahead as u64) {
            let (keep, offset, ahead) = (libc::FALLOC_FL_KEEP_SIZE, offset as libc::off_t, ahead as libc::off_t);
            // SAFETY: a descriptor and numbers. Where the file system cannot do it, or the disk has no room for so much, the file grows as it is written.
            unsafe { libc::fallocate(file.as_raw_fd(), keep, offset, ahead) };
        }
    }

    /// The number of its thread.
    pub(crate) fn thread(&self) -> u32 {
        self.header().thread
    }

    /// What of it is in private memory, and to be stored at the end.
    pub(crate) fn rest(&self) -> Rest {
        let tables = match &self.keep {
            Keep::Statistics(profile) => profile.extents().into(),
            Keep::Events | Keep::EventsAndCounters(_) => Vec::new(),
        };
        // SAFETY: the lane's own, which lives as long as the lane.
        let samples = self.sampler.and_then(|sampler| unsafe { sampler.as_ref() }.counts());
        Rest { header: self.header, path: self.path.clone(), private: self.private, tables, samples }
    }

    /// Its thread has ended, and its last events are written: another one may go on with it. What the thread alone had is given back.
    pub(crate) fn rest_from_thread(&mut self) {
        if let Some(sampler) = self.sampler {
            // SAFETY: the thread's, which ends.
            unsafe { sample::rest(sampler) };
        }
        self.settle();
        match &mut self.keep {
            Keep::Events => {}
            Keep::EventsAndCounters(counters) => counters.close(),
            Keep::Statistics(profile) => profile.rest(),
        }
        self.header().forget();
        // What is not in a file would be lost if the process were killed.
        // SAFETY: it is not closed.
        unsafe { self.rest().store() };
        self.untold.chunk = NOWHERE;
        (self.attention, self.current, self.inner) = (Attention::default(), Current::NONE, Inner::default());
        (self.polled, self.ran) = (0, rows::OnCore::default());
    }

    /// Many lanes wait for a thread: the pages of this one go, and come back from its file if it gets one.
    pub(crate) fn cool(&mut self) {
        if !self.private && self.header().stopped.load(Relaxed) == 0 {
            // SAFETY: what a shared mapping of a file holds is in the file.
            unsafe { libc::madvise(self.ring.cast(), self.ring_size, libc::MADV_DONTNEED) };
        }
    }

    /// The calling thread goes on with the lane of one that has ended.
    pub(crate) fn go_on(&mut self) {
        self.sites.go_on();
        if let Keep::EventsAndCounters(counters) = &mut self.keep {
            counters.go_on();
        }
    }

    /// Ends the lane of a thread that ends: its files are left as long as they are used, memory is given back.
    ///
    /// # Safety
    /// Nobody else may be storing it.
    pub(crate) unsafe fn close(mut self) {
        if let Some(sampler) = self.sampler.take() {
            // SAFETY: the thread's, which ends.
            unsafe { sample::end(sampler) };
        }
        self.settle();
        // SAFETY: it is closed after that.
        unsafe { self.rest().store() };
        if self.header().stopped.load(Relaxed) == 0 {
            let used = self.header().cursor.load(Relaxed);
            room::give(self.ring_size as u64 - used);
            if !self.private {
                let size = HEADER_SIZE as u64 + used;
                let _ = OpenOptions::new().write(true).open(&self.path).and_then(|file| file.set_len(size));
            }
        }
        if self.has_overflow {
            // What was asked for ahead is not needed any more.
            let [flushed, capacity] = [&self.header().flushed, &self.header().capacity].map(|it| it.load(Relaxed));
            let size = if capacity == 0 { flushed } else { capacity };
            let _ = OpenOptions::new().write(true).open(&self.overflow_path).and_then(|file| file.set_len(size));
        }
        // SAFETY: header and ring are one mapping, and the lane ends here.
        unsafe { release(self.header.cast(), HEADER_SIZE + self.ring_size) };
        if let Keep::Statistics(profile) = self.keep {
            // SAFETY: as the caller said.
            unsafe { profile.close() };
        }
    }

    /// A number that no other request, operation or file access of this process has.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// A thread records while another stores its lane, which is in private memory: what the file says that it has is whole, and what was
    /// written to the ring.
    #[test]
    fn a_lane_is_stored_while_its_thread_goes_on() {
        const ROUNDS: u64 = 2000;
        const RING: usize = 4 * CHUNK_SIZE;
        let folder = tempfile::tempdir().expect("temporary files can be made");
        let stem = folder.path().join("process");
        let mut lane = Lane::create(&stem, 0, RING, 0).expect("a lane");
        // As on a file system over the network, but for the mapping, which is that of another file.
        (lane.private, lane.path) = (true, folder.path().join("stored"));
        std::fs::write(&lane.path, "").expect("room");
        let (rest, path, done) = (lane.rest(), lane.path.clone(), &AtomicBool::new(false));
        let stored = std::thread::scope(|scope| {
            let path = &path;
            let storing = scope.spawn(move || {
                let mut stored = 0;
                while !done.load(Relaxed) || stored == 0 {
                    // SAFETY: the lane is closed by nobody.
                    unsafe { rest.store() };
                    stored += 1;
                }
                std::fs::read(path).expect("it was stored")
            });
            for time in 1..=ROUNDS {
                let at = lane.room(time);
                lane.append(at.enter(time as u32, true));
            }
            done.store(true, Relaxed);
            storing.join().expect("it does not panic")
        });
        let word = |at: usize| u64::from_le_bytes(stored[at..at + 8].try_into().expect("eight bytes"));
        let used = word(offset_of!(Header, cursor)) as usize;
        assert_eq!((word(0), stored.len() >= HEADER_SIZE + used), (MAGIC, true));
        // SAFETY: the ring is as long, and its thread is done.
        let ring = unsafe { std::slice::from_raw_parts(lane.ring, used) };
        assert!(stored[HEADER_SIZE..HEADER_SIZE + used] == *ring);
        // The last to store it is its owner: nothing is missing then.
        // SAFETY: as above.
        unsafe { lane.rest().store() };
        let stored = std::fs::read(&path).expect("it was stored");
        let events = offset_of!(Header, events);
        assert_eq!(stored[events..events + 8], ROUNDS.to_le_bytes());
    }

    /// A lane that threads have one after another, and that is stored meanwhile, holds what all of them wrote.
    #[test]
    fn a_lane_is_handed_from_thread_to_thread() {
        const THREADS: u64 = 8;
        const ROUNDS: u64 = 100;
        struct Handed(Lane);
        // SAFETY: whoever has it is its owner.
        unsafe impl Send for Handed {}
        let folder = tempfile::tempdir().expect("temporary files can be made");
        let lane = Lane::create(&folder.path().join("process"), 0, 4 * CHUNK_SIZE, 0).expect("a lane");
        let (rest, done) = (lane.rest(), &AtomicBool::new(false));
        let lane = std::thread::scope(|scope| {
            scope.spawn(move || {
                while !done.load(Relaxed) {
                    // SAFETY: the lane is closed by nobody.
                    unsafe { rest.store() };
                }
            });
            let lane = (0..THREADS).fold(Handed(lane), |lane, thread| {
                let of_thread = scope.spawn(move || {
                    let mut handed = lane;
                    let lane = &mut handed.0;
                    lane.go_on();
                    for round in 1..=ROUNDS {
                        let at = lane.room(thread * ROUNDS + round);
                        lane.append(at.enter(round as u32, true));
                    }
                    lane.header().set_awaits(1, 2, 3);
                    lane.rest_from_thread();
                    handed
                });
                of_thread.join().expect("it does not panic")
            });
            done.store(true, Relaxed);
            lane
        });
        let header = lane.0.header();
        assert_eq!((header.events.load(Relaxed), lane.0.last_time()), (THREADS * ROUNDS, THREADS * ROUNDS));
        assert_eq!(header.awaits[0].load(Relaxed), 0, "nobody waits");
    }
}
