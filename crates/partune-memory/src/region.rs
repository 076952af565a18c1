//! A file that is mapped as a whole, and pieces of it.
//!
//! The mapping is cut into areas, one for each power of two, and each area into slots of that size. Addresses cost nothing: of a slot only the pages that somebody
//! asked for are reserved on the disk. So a slot can be much larger than its piece, which then grows where it is.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::available;

const PAGE: usize = 1 << 12;
/// The smallest slots, and the largest of which there are some.
const SMALLEST: u32 = 12;
const LARGEST: u32 = 36;
const AREAS: usize = (LARGEST - SMALLEST + 1) as usize;
/// Bytes of an area, as a power of two: as many as the file may have, at most the first.
const AREA: std::ops::RangeInclusive<u32> = 30..=38;
/// From here on blocks are reserved for a piece and given back with it; smaller slots have theirs reserved many at once, and kept.
const LARGE: usize = 1 << 20;
/// Blocks that are reserved at once for slots of small pieces.
const AT_ONCE: usize = 4 << 20;
/// What is let go of at once.
const LET_GO: usize = 64 << 20;
/// What is made ready at once.
const READY: usize = 1 << 20;
/// Whoever reads further ahead than this brings more than is looked at: the columns of many PEs are read side by side.
const FAR: u64 = 1 << 20;

pub(crate) struct Region {
    file: File,
    at: NonNull<u8>,
    /// Bytes of an area, as a power of two.
    area: u32,
    slots: [Mutex<Slots>; AREAS],
    used: AtomicUsize,
    /// Whether the system brings what is around a page that is looked at.
    reads_ahead: bool,
    /// What was given back and taken again reads as zeros where the file system can make holes.
    has_holes: AtomicBool,
    /// What is said where there is no room left.
    full: CString,
}

// SAFETY: the mapping lives as long as the region, and which part of it is whose is told under a lock.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// The slots of an area.
#[derive(Default)]
struct Slots {
    /// How many were ever taken.
    taken: usize,
    /// The free one that was given back last, counted from 1; each begins with the one before.
    free: usize,
    /// Bytes of the area that have blocks, for small pieces.
    reserved: usize,
}

impl Region {
    pub(crate) fn new(file: File, folder: &Path) -> io::Result<Region> {
        let largest = rustix::process::getrlimit(rustix::process::Resource::Fsize).current.unwrap_or(u64::MAX);
        let mut error = io::Error::from(Errno::FBIG);
        for area in AREA.rev().filter(|area| ((AREAS as u64) << area) <= largest) {
            let bytes = AREAS << area;
            match map(&file, bytes) {
                Ok(at) => {
                    let reads_ahead = available::read_ahead(&file).is_none_or(|it| it <= FAR);
                    if !reads_ahead {
                        // SAFETY: the mapping that was just made; a hint.
                        let _ = unsafe { rustix::mm::madvise(at.as_ptr().cast(), bytes, Advice::Random) };
                    }
                    return Ok(Region {
                        file,
                        at,
                        area,
                        reads_ahead,
                        slots: Default::default(),
                        used: AtomicUsize::new(0),
                        has_holes: AtomicBool::new(true),
                        full: message(
                            folder,
                            "no room is left for what is beyond the limit of memory",
                            "give a folder with more room by --spill, or more memory by --memory",
                        ),
                    });
                }
                Err(why) => error = why,
            }
        }
        Err(error)
    }

    /// A piece of this size; one that grows gets a slot with room for that, so that what is pushed to again and again is seldom copied.
    pub(crate) fn take(&self, size: usize, zeroed: bool, grows: bool) -> *mut u8 {
        // Small slots have blocks for all of their pages, so room in them is not for nothing.
        let room = if grows && size >= LARGE { size.saturating_mul(8).min(1 << LARGEST) } else { size };
        for index in first_area(size.max(room))..AREAS {
            let bytes = 1_usize << (SMALLEST as usize + index);
            if bytes > 1 << self.area {
                break;
            }
            let Some((offset, again)) = self.slot(index, bytes) else { continue };
            if bytes >= LARGE {
                self.reserve(offset, size.next_multiple_of(PAGE));
            }
            self.make_ready(offset, size);
            self.used.fetch_add(size, Ordering::Relaxed);
            // SAFETY: inside of the mapping.
            let at = unsafe { self.at.add(offset) }.as_ptr();
            if again && zeroed {
                let holes = bytes >= LARGE && self.has_holes.load(Ordering::Relaxed);
                // SAFETY: the slot is as long, and nobody else's.
                unsafe { at.write_bytes(0, if holes { size.min(PAGE) } else { size }) };
            }
            return at;
        }
        self.end()
    }

    /// A free slot of an area, and whether somebody had it before.
    fn slot(&self, index: usize, bytes: usize) -> Option<(usize, bool)> {
        let begin = index << self.area;
        let mut slots = lock(&self.slots[index]);
        if slots.free > 0 {
            let offset = begin + (slots.free - 1) * bytes;
            // SAFETY: a slot that was given back begins with the number of another.
            slots.free = unsafe { self.at.add(offset).cast::<usize>().read() };
            return Some((offset, true));
        }
        let end = (slots.taken + 1) * bytes;
        if end > 1 << self.area {
            return None;
        }
        if bytes < LARGE && end > slots.reserved {
            self.reserve(begin + slots.reserved, AT_ONCE);
            slots.reserved += AT_ONCE;
        }
        slots.taken += 1;
        Some((begin + end - bytes, false))
    }

    /// Takes a piece back.
    pub(crate) fn give(&self, at: *mut u8, size: usize) {
        let (index, offset) = self.place(at);
        let bytes = 1_usize << (SMALLEST as usize + index);
        if bytes >= LARGE {
            self.release(offset + PAGE, size.next_multiple_of(PAGE).saturating_sub(PAGE));
        }
        self.used.fetch_sub(size, Ordering::Relaxed);
        let mut slots = lock(&self.slots[index]);
        // SAFETY: the slot is nobody's now, and its first page has a block.
        unsafe { self.at.add(offset).cast::<usize>().write(slots.free) };
        slots.free = (offset - (index << self.area)) / bytes + 1;
    }

    /// Makes a piece longer or shorter where it is, if its slot has the room.
    pub(crate) fn resize(&self, at: *mut u8, old: usize, new: usize) -> bool {
        let (index, offset) = self.place(at);
        let bytes = 1_usize << (SMALLEST as usize + index);
        if new > bytes {
            return false;
        }
        let pages = |size: usize| size.next_multiple_of(PAGE);
        if bytes >= LARGE && pages(new) > pages(old) {
            self.reserve(offset + pages(old), pages(new) - pages(old));
            self.make_ready(offset + pages(old), pages(new) - pages(old));
        } else if bytes >= LARGE {
            self.release(offset + pages(new), pages(old) - pages(new));
        }
        self.used.fetch_add(new, Ordering::Relaxed);
        self.used.fetch_sub(old, Ordering::Relaxed);
        true
    }

    pub(crate) fn holds(&self, at: *mut u8) -> bool {
        at.addr().wrapping_sub(self.at.addr().get()) < AREAS << self.area
    }

    /// Bytes of all pieces.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Unmaps all pages. They stay in the file, and in memory as long as the system has no better use for it; where it has, they are on their way to the disk already, in order.
    pub(crate) fn let_go(&self, scarce: bool) {
        for (index, slots) in self.slots.iter().enumerate() {
            let taken = lock(slots).taken << (SMALLEST as usize + index);
            for begin in (0..taken).step_by(LET_GO) {
                let length = LET_GO.min(taken - begin);
                // SAFETY: inside of the mapping, which is shared with its file: no byte is lost.
                let _ = unsafe {
                    let at = self.at.add((index << self.area) + begin);
                    rustix::mm::madvise(at.as_ptr().cast(), length, Advice::LinuxDontNeed)
                };
            }
            if scarce && taken > 0 {
                // SAFETY: a part of the file; a hint, so nothing is lost where it cannot be taken.
                unsafe {
                    use std::os::fd::AsRawFd;
                    let (begin, length) = ((index << self.area) as i64, taken as i64);
                    libc::sync_file_range(self.file.as_raw_fd(), begin, length, libc::SYNC_FILE_RANGE_WRITE);
                }
            }
        }
    }

    /// The area of a piece, and where it begins in the file.
    fn place(&self, at: *mut u8) -> (usize, usize) {
        let offset = at.addr() - self.at.addr().get();
        (offset >> self.area, offset)
    }

    /// Blocks for a part of the file, so that writing to it cannot fail later.
    fn reserve(&self, offset: usize, length: usize) {
        loop {
            match rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, offset as u64, length as u64) {
                Err(Errno::INTR) => {}
                Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO) => self.end(),
                // Others cannot reserve; a full disk is met when pages are written (`watch`).
                _ => return,
            }
        }
    }

    /// Where the system does not read ahead: pages that are about to be written, all at once and not one by one.
    fn make_ready(&self, offset: usize, length: usize) {
        if !self.reads_ahead {
            // SAFETY: inside of the mapping; a hint, so nothing is lost where it cannot be taken.
            let _ = unsafe {
                let at = self.at.add(offset).as_ptr().cast();
                rustix::mm::madvise(at, length.next_multiple_of(PAGE).min(READY), Advice::WillNeed)
            };
        }
    }

    fn release(&self, offset: usize, length: usize) {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if length > 0 && rustix::fs::fallocate(&self.file, hole, offset as u64, length as u64).is_err() {
            self.has_holes.store(false, Ordering::Relaxed);
        }
    }

    fn end(&self) -> ! {
        end(&self.full)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`; who drops the region has no pieces of it left.
        let _ = unsafe { rustix::mm::munmap(self.at.as_ptr().cast(), AREAS << self.area) };
    }
}

/// The smallest area whose slots have room for a piece.
fn first_area(size: usize) -> usize {
    (size.next_power_of_two().trailing_zeros().max(SMALLEST) - SMALLEST) as usize
}

fn map(file: &File, bytes: usize) -> io::Result<NonNull<u8>> {
    file.set_len(bytes as u64)?;
    let flags = MapFlags::SHARED | MapFlags::NORESERVE;
    // SAFETY: a new mapping of a file that nobody else has.
    let at =
        unsafe { rustix::mm::mmap(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags, file, 0)? };
    NonNull::new(at.cast()).ok_or_else(|| Errno::NOMEM.into())
}

/// Nobody panics while a lock is held.
fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What is said where the process can only end, made beforehand: then there may be no memory for it.
pub(crate) fn message(folder: &Path, what: &str, remedy: &str) -> CString {
    let mut text = b"\npartune: ".to_vec();
    text.extend(folder.as_os_str().as_bytes());
    text.extend(format!(": {what}\n  remedy: {remedy}\n").bytes());
    CString::new(text).unwrap_or_default()
}

/// Ends the process with a message, from anywhere: also from where memory is asked for, and from a signal handler.
pub(crate) fn end(message: &CString) -> ! {
    // SAFETY: bytes, to where errors go; then the process is over.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.as_bytes().len());
        libc::_exit(1)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use proptest::prelude::*;

    use super::*;

    fn region() -> (Region, File) {
        let folder = tempfile::tempdir_in("/var/tmp").expect("there is room for a folder");
        let file = tempfile::tempfile_in(folder.path()).expect("there is room for a file");
        let same = file.try_clone().expect("a file can have two handles");
        (Region::new(file, folder.path()).expect("the file can be mapped"), same)
    }

    /// A piece, and the byte that all of it is filled with.
    struct Piece {
        at: *mut u8,
        size: usize,
        filled: u8,
    }

    impl Piece {
        fn fill(&mut self, from: usize) {
            // SAFETY: the test's own piece.
            unsafe { self.at.add(from).write_bytes(self.filled, self.size - from) };
        }

        fn holds(&self, size: usize, byte: u8) -> bool {
            // SAFETY: as above.
            unsafe { std::slice::from_raw_parts(self.at, size) }.iter().all(|it| *it == byte)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Take { size: usize, zeroed: bool, grows: bool },
        Give(prop::sample::Index),
        Resize(prop::sample::Index, usize),
        LetGo,
    }

    fn step() -> impl Strategy<Value = Step> {
        let size = || prop_oneof![3 => 4096_usize..100_000, 1 => 100_000_usize..5_000_000];
        prop_oneof![
            4 => (size(), any::<bool>(), any::<bool>()).prop_map(|(size, zeroed, grows)| Step::Take { size, zeroed, grows }),
            3 => any::<prop::sample::Index>().prop_map(Step::Give),
            3 => (any::<prop::sample::Index>(), size()).prop_map(|(which, size)| Step::Resize(which, size)),
            1 => Just(Step::LetGo),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn pieces_keep_what_is_in_them(steps in prop::collection::vec(step(), 1..60)) {
            let (region, _file) = region();
            let mut pieces: Vec<Piece> = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                let filled = number as u8 + 1;
                match step {
                    Step::Take { size, zeroed, grows } => {
                        let mut piece = Piece { at: region.take(size, zeroed, grows), size, filled };
                        prop_assert!(piece.at.addr().is_multiple_of(PAGE) && region.holds(piece.at));
                        prop_assert!(!zeroed || piece.holds(size, 0));
                        piece.fill(0);
                        pieces.push(piece);
                    }
                    Step::Give(which) if !pieces.is_empty() => {
                        let piece = pieces.swap_remove(which.index(pieces.len()));
                        prop_assert!(piece.holds(piece.size, piece.filled));
                        region.give(piece.at, piece.size);
                    }
                    Step::Resize(which, size) if !pieces.is_empty() => {
                        let at = which.index(pieces.len());
                        let piece = &mut pieces[at];
                        if region.resize(piece.at, piece.size, size) {
                            prop_assert!(piece.holds(piece.size.min(size), piece.filled));
                            let kept = piece.size.min(size);
                            piece.size = size;
                            piece.fill(kept);
                        }
                    }
                    Step::LetGo => region.let_go(number % 2 == 0),
                    Step::Give(_) | Step::Resize(..) => {}
                }
                prop_assert_eq!(region.used(), pieces.iter().map(|it| it.size).sum::<usize>());
            }
            for piece in &pieces {
                prop_assert!(piece.holds(piece.size, piece.filled));
            }
        }
    }

    #[test]
    fn what_grows_stays_where_it_is() {
        let (region, _file) = region();
        let at = region.take(2 << 20, false, true);
        assert!(region.resize(at, 2 << 20, 16 << 20), "the slot has room for it");
        assert!(!region.resize(at, 16 << 20, 17 << 20), "and no more");
        let exact = region.take(2 << 20, false, false);
        assert!(!region.resize(exact, 2 << 20, 3 << 20));
    }

    #[test]
    fn what_is_given_back_takes_no_room_on_the_disk() {
        let (region, file) = region();
        let blocks = || file.metadata().expect("the file is there").blocks() * 512;
        let at = region.take(256 << 20, false, false);
        assert!(blocks() >= 256 << 20, "the disk is asked for room before anything is written");
        region.give(at, 256 << 20);
        assert!(blocks() < 1 << 20, "{} bytes are left", blocks());
        assert_eq!(region.take(200 << 20, false, false), at, "the slot is taken again");
    }

    /// The end of a process where there is no room: what is said of it, and its status. A process of its own in a small file system of its own.
    #[test]
    fn a_full_disk_is_said() {
        const CHILD: &str = "PARTUNE_FULL_DISK";
        if let Some(folder) = std::env::var_os(CHILD) {
            let file = tempfile::tempfile_in(&folder).expect("there is room for a file");
            let region = Region::new(file, Path::new(&folder)).expect("the file can be mapped");
            (0..64).for_each(|_| _ = region.take(8 << 20, false, false));
            return;
        }
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let this = std::env::current_exe().expect("it has a path");
        let mut child = std::process::Command::new("unshare");
        child.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        child.arg("mount -t tmpfs -o size=64M none \"$PARTUNE_FULL_DISK\" && exec \"$0\" --exact \"$1\" --nocapture");
        child.arg(this).arg("region::tests::a_full_disk_is_said").env(CHILD, folder.path());
        let output = child.output().expect("unshare is there");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("no room is left") && said.contains("remedy: give a folder with more room"), "{said}");
    }
}
