//! From the lane of a thread to its event file: what was flushed during the run, and what was still in the ring.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::mem::offset_of;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use partune_otf2::codec::{Event, EventVisitor, chunks, read_chunk};
use partune_parts::draft;
#[cfg(doc)]
use partune_parts::layout::ANYBODY;
use partune_parts::layout::{self, CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE, MAGIC, SEEN, VERSION, bytes, part};

use crate::newest;
use crate::parts::{self, u32_at, u64_at};
use crate::space::Needed;
use crate::statistics::Counted;

/// Why a thread kept nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    Disk,
    Size,
}

impl Stop {
    fn of(word: u64) -> Option<Stop> {
        match word & !layout::stopped::WITHOUT_RING {
            layout::stopped::DISK => Some(Stop::Disk),
            layout::stopped::SIZE => Some(Stop::Size),
            _ => None,
        }
    }
}

/// The parts of a lane, as they were found.
#[derive(Debug)]
pub(crate) struct Lane {
    ring_path: PathBuf,
    flushed_path: PathBuf,
    /// Bytes of whole chunks in the flushed file, as the ring's header says: whatever comes after is not the recorder's.
    flushed: u64,
    /// Where newer bytes went over older ones.
    turned: Option<Turned>,
    /// The first moment that is kept, and how many events before it are not, once that is so of all lanes.
    pub(crate) newest: Option<(u64, u64)>,
    /// The flushed file is shorter than that.
    is_cut: bool,
    /// Bytes that come after them.
    rest: u64,
    pub(crate) events: u64,
    /// Whether its ring cannot be read: then what was not flushed is missing.
    pub(crate) is_broken: bool,
    /// Why nothing was kept any more.
    pub(crate) stopped: Option<Stop>,
    /// How many events are not there for want of room.
    pub(crate) lost: u64,
    /// Ticks of the first and the last event.
    pub(crate) times: Option<(u64, u64)>,
    /// Whom the operation waits for that is the last one and has no end.
    pub(crate) awaits: Vec<Awaited>,
    /// What the system called the thread when it was seen last; 0 if it had ended.
    pub(crate) tid: u64,
    /// When the thread was seen between calls after that, and where: addresses in memory.
    pub(crate) seen: Option<(u64, Vec<u64>)>,
    /// What was counted instead of events, in a profile.
    pub(crate) counted: Option<Counted>,
}

/// A flushed file that is a ring.
#[derive(Clone, Copy, Debug)]
struct Turned {
    /// Where its oldest chunk begins.
    from: u64,
    /// Its bytes.
    capacity: u64,
}

/// Whom an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// The process's number of a communicator, and a rank of it or [`ANYBODY`](layout::ANYBODY).
    Comm(u32, u32),
    /// What the system calls a thread of the same process; 0 if nobody knew which.
    Thread(u64),
}

impl Awaited {
    fn of(word: u64) -> Awaited {
        match (word as u32, word >> 32) {
            (layout::THREAD, tid) => Awaited::Thread(tid),
            (comm, rank) => Awaited::Comm(comm, rank as u32),
        }
    }
}

impl Lane {
    /// Reads the lane `STEM-THREAD`. A process on a file system over the network that was killed left only what it had flushed.
    pub(crate) fn read(stem: &Path, thread: u32) -> io::Result<Lane> {
        Lane::of_files(part(stem, thread, "lane"), part(stem, thread, "evt"))
    }

    /// Reads it again, after its files were changed.
    pub(crate) fn look_again(&mut self) -> io::Result<()> {
        *self = Lane::of_files(std::mem::take(&mut self.ring_path), std::mem::take(&mut self.flushed_path))?;
        Ok(())
    }

    fn of_files(ring_path: PathBuf, flushed_path: PathBuf) -> io::Result<Lane> {
        let bytes = parts::read(&ring_path)?;
        let header = Header::read(&bytes);
        if header.as_ref().is_some_and(|header| header.begins > 0) {
            newest::settle(&flushed_path)?;
        }
        let stored = parts::size(&flushed_path)?;
        let mut lane = Lane {
            ring_path,
            flushed_path,
            flushed: whole(stored),
            turned: None,
            newest: None,
            is_cut: false,
            rest: 0,
            is_broken: false,
            events: 0,
            stopped: None,
            lost: 0,
            times: None,
            awaits: Vec::new(),
            tid: 0,
            seen: None,
            counted: None,
        };
        lane.is_broken = header.is_none();
        let ring = header.as_ref().map(|header| header.ring(bytes)).unwrap_or_default();
        let awaits = header.as_ref().map_or_else(Vec::new, |header| header.awaits.clone());
        lane.tid = header.as_ref().map_or(0, |header| header.tid);
        let seen = header.as_ref().and_then(|header| Some((*header.seen.first()?, header.seen[1..].to_vec())));
        if let Some(header) = header {
            let size = if header.capacity == 0 { header.flushed } else { header.flushed.min(header.capacity) };
            lane.is_cut = stored < size;
            lane.flushed = whole(size.min(stored));
            // The next ring would go over the oldest one, and may have begun to.
            lane.turned = (header.capacity > 0).then(|| Turned {
                from: (header.flushed.saturating_add(header.ring_size)) % header.capacity,
                capacity: header.capacity,
            });
            if lane.turned.is_some() {
                let is_whole = !lane.is_cut && header.flushed >= header.capacity;
                lane.flushed = if is_whole { lane.flushed.saturating_sub(header.ring_size) } else { 0 };
            }
            lane.newest = (header.begins > 0).then_some((header.begins, header.overwritten));
            lane.stopped = header.stopped;
            lane.lost = header.lost;
        }
        let chunks = lane.chunks_with(ring)?;
        lane.look(&chunks)?;
        lane.rest = lane.behind(chunks.ring).len() as u64;
        let is_last = |time: u64| lane.times.is_some_and(|(_, last)| last == time);
        lane.seen = seen.filter(|(time, _)| lane.times.is_none_or(|(_, last)| *time > last));
        lane.awaits =
            awaits.into_iter().filter(|(time, _)| is_last(*time)).map(|(_, word)| Awaited::of(word)).collect();
        Ok(lane)
    }

    /// The same with what the thread counted instead of events.
    pub(crate) fn read_counted(stem: &Path, thread: u32) -> io::Result<Lane> {
        let mut lane = Lane::read(stem, thread)?;
        let counted = Counted::read(stem, thread)?;
        lane.times = counted.times;
        lane.counted = Some(counted);
        Ok(lane)
    }

    pub(crate) fn ring_path(&self) -> &Path {
        &self.ring_path
    }

    pub(crate) fn flushed_path(&self) -> &Path {
        &self.flushed_path
    }

    /// Whether newer events went over older ones.
    pub(crate) fn has_turned(&self) -> bool {
        self.turned.is_some()
    }

    /// Its chunks, of which those of the ring are in these bytes of its file.
    pub(crate) fn chunks(&self, file: &[u8]) -> io::Result<Chunks> {
        let ring = Header::read(file).map(|header| header.ring(file.to_vec())).unwrap_or_default();
        self.chunks_with(ring)
    }

    fn chunks_with(&self, ring: Vec<u8>) -> io::Result<Chunks> {
        let flushed = if self.flushed > 0 { Some(partune_files::open_regular(&self.flushed_path)?) } else { None };
        Ok(Chunks { flushed, count: self.flushed / CHUNK_SIZE as u64, turned: self.turned, ring })
    }

    /// Counts the events and finds the first and last time.
    fn look(&mut self, chunks: &Chunks) -> io::Result<()> {
        let all = 0..chunks.len();
        let first = chunks.first_times(all.clone())?;
        let last = chunks.first_times(all.clone().rev())?;
        self.times = first.zip(last).map(|(first, last)| (first.0, last.1));
        self.events = match all.last() {
            Some(last) => last_event(&chunks.get(last)?).unwrap_or_default(),
            None => 0,
        };
        Ok(())
    }

    /// What the disk must have room for.
    pub(crate) fn needed(&self, can_link: bool) -> io::Result<Needed> {
        if self.flushed > 0 && can_link && !self.is_cut {
            // The recorder asked for more than it wrote.
            let there = fs::metadata(&self.flushed_path)?.blocks().saturating_mul(512);
            return Ok(Needed::grown(self.bytes(), there));
        }
        Ok(Needed::file(self.bytes()))
    }

    /// Size of the event file.
    pub(crate) fn bytes(&self) -> u64 {
        self.flushed + self.rest
    }

    /// The flushed file, if there is one.
    pub(crate) fn flushed(&self) -> Option<&Path> {
        (self.flushed > 0).then_some(&self.flushed_path)
    }

    /// Makes the event file at `path`, where nothing is. The flushed file gets this name besides its own, and the rest is written after
    /// the bytes that the ring's header, which nobody changes, says it has. So it can be done again at any time. Where a file cannot have two
    /// names, or is shorter than the header says, it is copied.
    pub(crate) fn complete(&self, path: &Path) -> io::Result<()> {
        let bytes = parts::read(&self.ring_path)?;
        let rest = self.behind(Header::read(&bytes).map(|header| header.ring(bytes)).unwrap_or_default());
        let file = match self.flushed() {
            Some(flushed) if self.is_cut || !parts::link(flushed, path)? => {
                let mut file = File::create_new(path)?;
                io::copy(&mut partune_files::open_regular(flushed)?.take(self.flushed), &mut file)?;
                file
            }
            Some(_) => OpenOptions::new().write(true).open(path)?,
            None => File::create_new(path)?,
        };
        file.write_all_at(&rest, self.flushed)?;
        file.set_len(self.flushed + rest.len() as u64)
    }

    /// What comes after the flushed bytes: the ring, and the marks of the end.
    fn behind(&self, mut ring: Vec<u8>) -> Vec<u8> {
        if ring.len().is_multiple_of(CHUNK_SIZE) {
            // They need a chunk: one without events.
            ring.extend([bytes::CHUNK, bytes::LITTLE_ENDIAN]);
            ring.extend((self.events + 1).to_le_bytes());
            ring.extend(self.events.to_le_bytes());
        }
        // Readers of the C library take the marks at the end for granted where the chunk has room for them.
        let room = CHUNK_SIZE - ring.len() % CHUNK_SIZE;
        let marks: &[u8] = if room >= 2 { &[bytes::END_OF_FILE, bytes::END_OF_BUFFER] } else { &[bytes::END_OF_FILE] };
        ring.extend_from_slice(marks);
        ring
    }
}

/// The chunks of a lane: those that were flushed, which are read one at a time, then those of the ring.
pub(crate) struct Chunks {
    flushed: Option<File>,
    /// How many were flushed.
    count: u64,
    turned: Option<Turned>,
    ring: Vec<u8>,
}

impl Chunks {
    pub(crate) fn len(&self) -> u64 {
        self.count + self.ring.len().div_ceil(CHUNK_SIZE) as u64
    }

    pub(crate) fn get(&self, at: u64) -> io::Result<Cow<'_, [u8]>> {
        match &self.flushed {
            Some(flushed) if at < self.count => {
                let mut bytes = vec![0; CHUNK_SIZE];
                let at = at * CHUNK_SIZE as u64;
                let place = self.turned.map_or(at, |Turned { from, capacity }| (from + at) % capacity);
                flushed.read_exact_at(&mut bytes, place)?;
                Ok(bytes.into())
            }
            _ => {
                let begin = (at - self.count) as usize * CHUNK_SIZE;
                Ok(self.ring[begin..self.ring.len().min(begin + CHUNK_SIZE)].into())
            }
        }
    }

    /// First and last time of the first of some chunks that has any.
    fn first_times(&self, mut order: impl Iterator<Item = u64>) -> io::Result<Option<(u64, u64)>> {
        order.find_map(|at| self.get(at).map(|chunk| times(&chunk)).transpose()).transpose()
    }
}

/// Whom a lane's last calls wait for: the begin of the call, and the word.
fn awaited(word: impl Fn(usize) -> Option<u64>) -> Vec<(u64, u64)> {
    let words = |of: usize, most: usize| {
        let time = word(of).unwrap_or_default();
        let words = (1..=most).map_while(|at| word(of + 8 * at)).take_while(|word| *word != layout::NOBODY);
        words.map(|word| (time, word)).collect::<Vec<_>>()
    };
    let mut all = words(offset_of!(layout::Header, awaits), 1);
    all.extend(words(offset_of!(layout::Header, awaits_also), layout::ALSO));
    all
}

/// The state that the process had published.
struct Header {
    cursor: usize,
    chunk: usize,
    ring_size: u64,
    flushed: u64,
    capacity: u64,
    begins: u64,
    overwritten: u64,
    events: u64,
    stopped: Option<Stop>,
    lost: u64,
    /// The ring was written over.
    is_without_ring: bool,
    /// The events of the drafts, which come after the cursor.
    drafts: Vec<u8>,
    /// As in [`layout::Header::awaits`] and [`layout::Header::awaits_also`], each with the begin of its call.
    awaits: Vec<(u64, u64)>,
    tid: u64,
    /// As in [`layout::Header::seen`], up to the last address.
    seen: Vec<u64>,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Header> {
        let word = |at: usize| u64_at(bytes, at);
        let size = |at: usize| usize::try_from(word(at)?).ok();
        let ring_size = size(offset_of!(layout::Header, ring_size))?;
        let known = word(offset_of!(layout::Header, magic))? == MAGIC
            && u32_at(bytes, offset_of!(layout::Header, version))? == VERSION
            && word(offset_of!(layout::Header, chunk_size))? == CHUNK_SIZE as u64;
        let cursor = word(offset_of!(layout::Header, cursor))?;
        let (drafts, drafted) = draft::events(word(offset_of!(layout::Header, drafted))?, cursor, |at| {
            word(offset_of!(layout::Header, drafts) + at * size_of::<u64>())
        });
        let stopped = word(offset_of!(layout::Header, stopped))?;
        let header = Header {
            cursor: usize::try_from(cursor).ok()?,
            chunk: size(offset_of!(layout::Header, chunk))?,
            ring_size: ring_size as u64,
            capacity: word(offset_of!(layout::Header, capacity))?,
            begins: word(offset_of!(layout::Header, begins))?,
            overwritten: word(offset_of!(layout::Header, overwritten))?,
            flushed: word(offset_of!(layout::Header, flushed))?,
            events: word(offset_of!(layout::Header, events))?.checked_add(drafted)?,
            drafts,
            stopped: Stop::of(stopped),
            awaits: awaited(word),
            tid: word(offset_of!(layout::Header, tid))?,
            seen: (0..=SEEN)
                .map_while(|at| word(offset_of!(layout::Header, seen) + 8 * at))
                .take_while(|it| *it > 0)
                .collect(),
            lost: word(offset_of!(layout::Header, lost))?,
            is_without_ring: stopped & layout::stopped::WITHOUT_RING != 0,
        };
        let inside =
            header.chunk <= header.cursor && header.cursor <= ring_size.min(bytes.len().checked_sub(HEADER_SIZE)?);
        let used = header.cursor.checked_sub(header.chunk)? + header.drafts.len();
        let whole = header.chunk.is_multiple_of(CHUNK_SIZE) && used <= CHUNK_SIZE;
        (known && inside && whole && header.cursor >= header.chunk + CHUNK_HEADER_SIZE).then_some(header)
    }

    /// The used part of the ring. The header of the chunk that was being written gets the number of its last event.
    fn ring(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.is_without_ring {
            return Vec::new();
        }
        bytes.truncate(HEADER_SIZE + self.cursor);
        bytes.drain(..HEADER_SIZE);
        bytes.extend_from_slice(&self.drafts);
        let at = self.chunk + CHUNK_HEADER_SIZE - 8;
        bytes[at..at + 8].copy_from_slice(&self.events.to_le_bytes());
        bytes
    }
}

fn whole(bytes: u64) -> u64 {
    bytes - bytes % CHUNK_SIZE as u64
}

/// The number of the last event up to the end of a chunk.
fn last_event(chunk: &[u8]) -> Option<u64> {
    u64_at(chunk, CHUNK_HEADER_SIZE - 8)
}

/// First and last time in a chunk.
fn times(chunk: &[u8]) -> Option<(u64, u64)> {
    struct Times(Option<(u64, u64)>);
    impl Times {
        fn at(&mut self, time: u64) {
            self.0 = Some((self.0.map_or(time, |(first, _)| first), time));
        }
    }
    impl EventVisitor for Times {
        fn enter(&mut self, time: u64, _: u32) {
            self.at(time);
        }
        fn leave(&mut self, time: u64, _: u32) {
            self.at(time);
        }
        fn event(&mut self, time: u64, _: &Event<'_>) {
            self.at(time);
        }
    }
    let mut times = Times(None);
    for chunk in chunks(chunk, CHUNK_SIZE as u64).ok()?.flatten() {
        read_chunk(&chunk, &mut times);
    }
    times.0
}
