//! Memory with a limit: what is beyond it lies in a file without a name.
//!
//! A trace is some tens of bytes an event, so one of a billion events is larger than the memory of most machines. Its columns are long, and mostly gone through from
//! one end to the other: what paging is good at. So large pieces of memory are taken from a file that is mapped, once those in plain memory have reached their share
//! of the limit, and whoever asked for them does not notice. The system writes pages of the file where it needs the room and brings them back; the process lets go of
//! those that it has mapped before they are more than the limit ([`watch`]). So one algorithm serves any size, and its answer does not depend on where things lay.
//!
//! The file has no name, so nothing is left of it however the process ends. Its blocks are reserved before they are written, so a full disk is met where memory
//! is asked for, and ends the process with a message; a page that cannot be read does the same. Small pieces, below [`LEAST`], are always in plain memory.
//!
//! Cost where nothing is beyond the limit: two atomic additions for each large piece.
#![allow(unsafe_code, reason = "a heap")]

mod available;
mod region;
mod watch;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use available::available;
use region::Region;
use thiserror::Error;
pub use watch::most_resident;

/// Pieces below are always in plain memory: a page.
const LEAST: usize = 1 << 12;
/// The least limit: what the program itself needs, and room to work in.
pub const LEAST_LIMIT: u64 = 64 << 20;
/// Of the limit, what is not for large pieces.
const PROGRAM: u64 = 32 << 20;

/// The heap of a program that has a limit, as its `#[global_allocator]`.
pub struct Heap;

/// What is beyond the limit; none without one.
static BEYOND: OnceLock<Beyond> = OnceLock::new();
/// Bytes of the large pieces that are in plain memory, and that they may have there: what small pieces leave them.
static PLAIN: AtomicUsize = AtomicUsize::new(0);
static PLAIN_MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

struct Beyond {
    region: Region,
}

/// Why there can be no limit.
#[derive(Debug, Error)]
pub enum LimitError {
    #[error("{}: files there are in memory themselves\n  remedy: name a folder on a disk by --spill", .0.display())]
    InMemory(PathBuf),
    #[error("{}: no file for what is beyond the limit of memory can be made there: {}\n  remedy: name another folder by --spill", .0.display(), .1)]
    File(PathBuf, io::Error),
}

/// From now on the process has at most so many bytes resident, and what is beyond them in a file in the folder. A second limit changes how many bytes, and not where the rest is.
/// Held as far as large pieces are what needs the memory, and as fast as the watching thread runs. Returns the bytes that are free there.
pub fn limit(bytes: u64, folder: &Path) -> Result<u64, LimitError> {
    let failed = |error: io::Error| LimitError::File(folder.to_owned(), error);
    let file = unnamed(folder).map_err(failed)?;
    if available::in_memory(&file).map_err(failed)? {
        return Err(LimitError::InMemory(folder.to_owned()));
    }
    let free = rustix::fs::fstatvfs(&file).map_err(|error| failed(error.into()))?;
    watch::hold(bytes.max(LEAST_LIMIT));
    if BEYOND.get().is_none()
        && BEYOND.set(Beyond { region: Region::new(file, folder).map_err(failed)? }).is_ok()
        && let Some(beyond) = BEYOND.get()
    {
        leave_plain(bytes.max(LEAST_LIMIT), 0);
        watch::watch(&beyond.region, folder).map_err(failed)?;
    }
    Ok(free.f_bavail.saturating_mul(free.f_frsize))
}

/// Lets large pieces have of plain memory what is theirs of the limit, without what small pieces have taken. The process has so many bytes in plain memory.
fn leave_plain(limit: u64, taken: u64) {
    let small = taken.saturating_sub(PLAIN.load(Ordering::Relaxed) as u64).max(PROGRAM);
    // Pages that are mapped, of what is in the file, have the rest.
    let plain = limit.saturating_sub(PROGRAM) / 3 * 2;
    let left = plain.saturating_sub(small - PROGRAM);
    PLAIN_MOST.store(usize::try_from(left).unwrap_or(usize::MAX), Ordering::Relaxed);
}

/// Bytes that are in the file now.
pub fn beyond() -> u64 {
    BEYOND.get().map_or(0, |it| it.region.used() as u64)
}

/// A file that nobody else sees, and that goes with the process.
fn unnamed(folder: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    if let Ok(file) = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR) {
        return Ok(file.into());
    }
    // Some file systems want a name first.
    let path = folder.join(format!(".partune-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Where a piece of this size, with so much less elsewhere, has to lie.
fn beyond_for(size: usize, given: usize) -> Option<&'static Region> {
    let beyond = BEYOND.get().filter(|_| size >= LEAST)?;
    let plain = PLAIN.load(Ordering::Relaxed).saturating_sub(given).saturating_add(size);
    (plain > PLAIN_MOST.load(Ordering::Relaxed)).then_some(&beyond.region)
}

/// Where a piece lies, if that is beyond the limit.
fn lies_in(at: *mut u8, size: usize) -> Option<&'static Region> {
    BEYOND.get().filter(|it| size >= LEAST && it.region.holds(at)).map(|it| &it.region)
}

/// A piece: beyond the limit, or of plain memory, which `plain` gives.
fn taken(layout: Layout, zeroed: bool, plain: impl FnOnce() -> *mut u8) -> *mut u8 {
    let size = layout.size();
    match beyond_for(size, 0).filter(|_| layout.align() <= LEAST) {
        Some(region) => region.take(size, zeroed, false),
        None => counted(plain(), size),
    }
}

fn counted(at: *mut u8, size: usize) -> *mut u8 {
    if size >= LEAST && !at.is_null() {
        PLAIN.fetch_add(size, Ordering::Relaxed);
    }
    at
}

fn uncounted(size: usize) {
    if size >= LEAST {
        PLAIN.fetch_sub(size, Ordering::Relaxed);
    }
}

// SAFETY: a piece is of the region or of the system's heap, which its address tells; both do what is asked of them. Pieces of the region are as aligned as pages, and
// who asks for more gets plain memory.
// Not inlined: it would be written out at every place that asks for memory.
unsafe impl GlobalAlloc for Heap {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        taken(layout, false, || unsafe { System.alloc(layout) })
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        taken(layout, true, || unsafe { System.alloc_zeroed(layout) })
    }

    #[inline(never)]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if let Some(region) = lies_in(at, layout.size()) {
            return region.give(at, layout.size());
        }
        uncounted(layout.size());
        // SAFETY: a piece of the system's heap.
        unsafe { System.dealloc(at, layout) };
    }

    #[inline(never)]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let old = layout.size();
        let from = lies_in(at, old);
        if let Some(region) = from
            && size >= LEAST
            && region.resize(at, old, size)
        {
            return at;
        }
        let to = match from {
            Some(region) => Some(region).filter(|_| size >= LEAST),
            None => beyond_for(size, if old >= LEAST { old } else { 0 }).filter(|_| layout.align() <= LEAST),
        };
        if from.is_none() && to.is_none() {
            // SAFETY: a piece of the system's heap.
            let new = unsafe { System.realloc(at, layout, size) };
            if !new.is_null() {
                uncounted(old);
                counted(new, size);
            }
            return new;
        }
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return std::ptr::null_mut() };
        let new = match to {
            Some(region) => region.take(size, false, size > old),
            // SAFETY: as the caller says.
            None => counted(unsafe { System.alloc(wanted) }, size),
        };
        if !new.is_null() {
            // SAFETY: both have as many bytes; of two pieces.
            unsafe { new.copy_from_nonoverlapping(at, old.min(size)) };
            // SAFETY: as the caller says.
            unsafe { self.dealloc(at, layout) };
        }
        new
    }
}

#[cfg(test)]
#[global_allocator]
static HEAP: Heap = Heap;

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_is_beyond_the_limit_is_in_the_file_and_not_resident() {
        assert!(
            matches!(limit(LEAST_LIMIT, Path::new("/dev/shm")), Err(LimitError::InMemory(_))),
            "a file in memory saves none"
        );
        assert!(matches!(limit(LEAST_LIMIT, Path::new("/nonexistent")), Err(LimitError::File(..))));
        let before = vec![1_u64; 1 << 20];
        limit(LEAST_LIMIT, Path::new("/var/tmp")).expect("there is room for a file");
        // Columns that grow by pushing, as readers make them: 320 MB of them.
        let columns: Vec<Vec<u64>> = (0..4)
            .map(|column| {
                let mut values = Vec::new();
                (0..10_000_000).for_each(|it| values.push(it * 4 + column));
                values
            })
            .collect();
        assert!(beyond() > 200 << 20, "{} bytes are beyond the limit", beyond());
        // The thread that watches may be late on a busy machine; it comes.
        let begin = Instant::now();
        let resident = || {
            let text = std::fs::read_to_string("/proc/self/statm").expect("the system tells");
            text.split(' ').nth(1).and_then(|it| it.parse::<u64>().ok()).expect("pages") << 12
        };
        while resident() > LEAST_LIMIT {
            assert!(begin.elapsed() < Duration::from_mins(1), "{} bytes stay resident", resident());
            std::thread::sleep(Duration::from_millis(5));
        }
        for (column, values) in columns.iter().enumerate() {
            assert!((0..).step_by(4).zip(values).all(|(it, value)| it + column as u64 == *value));
        }
        assert!(most_resident() > 0 && before.iter().all(|it| *it == 1));
        // Small pieces are not in the file; large ones have what they leave.
        let least = PLAIN_MOST.load(Ordering::Relaxed);
        let small: Vec<Box<[u8; 1024]>> = (0..60 << 10).map(|_| Box::new([1; 1024])).collect();
        while PLAIN_MOST.load(Ordering::Relaxed).saturating_add(10 << 20) > least {
            assert!(
                begin.elapsed() < Duration::from_mins(1),
                "{} bytes of small pieces are noticed",
                small.len() << 10
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        let zeros = vec![0_u8; 300 << 20];
        assert!(zeros.iter().all(|it| *it == 0));
        drop((columns, zeros, before));
        assert!(beyond() < 1 << 20, "{} bytes are beyond the limit", beyond());
    }
}
