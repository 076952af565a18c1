//! Statistics of call paths instead of events: memory by the number of paths, none by the length of the run.
//!
//! Rows lie in the thread's mapped `.stat` file, indexed by path, so that they outlive the process as lanes do.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use crate::lane::map;
use crate::layout::{HEADER_SIZE, Header, MAGIC, Row, VERSION, size_class};
use crate::paths::Path;

const FIRST_ROWS: usize = 4096;

/// A call that has not returned.
struct Open {
    path: Path,
    enter: u64,
    /// Ticks in recorded calls inside.
    inside: u64,
}

/// The statistics of one thread.
pub(crate) struct Profile {
    header: *mut Header,
    capacity: usize,
    file: File,
    path: PathBuf,
    private: bool,
    open: Vec<Open>,
}

impl Profile {
    /// Statistics in `STEM-THREAD.stat`.
    pub(crate) fn create(stem: &FilePath, thread: u32) -> io::Result<Profile> {
        let mut name = stem.as_os_str().to_owned();
        name.push(format!("-{thread}.stat"));
        let path = PathBuf::from(name);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        let (base, private) = map(&file, &path, size(FIRST_ROWS))?;
        let header = base.cast::<Header>();
        // SAFETY: the mapping is large enough and page aligned.
        unsafe {
            (*header).magic = MAGIC;
            (*header).version = VERSION;
            (*header).thread = thread;
            (*header).ring_size = (FIRST_ROWS * size_of::<Row>()) as u64;
        }
        Ok(Profile { header, capacity: FIRST_ROWS, file, path, private, open: Vec::with_capacity(64) })
    }

    pub(crate) fn enter(&mut self, path: Path, time: u64) {
        self.open.push(Open { path, enter: time, inside: 0 });
    }

    /// Ends the innermost call; it is the one of `path`, since wrappers and regions nest.
    pub(crate) fn leave(&mut self, path: Path, time: u64) {
        let Some(open) = self.open.pop().filter(|open| open.path == path) else { return };
        let inclusive = time.saturating_sub(open.enter);
        if let Some(outer) = self.open.last_mut() {
            outer.inside += inclusive;
        }
        let Some(row) = self.row(path) else { return };
        row.min = if row.count == 0 { inclusive } else { row.min.min(inclusive) };
        row.max = row.max.max(inclusive);
        row.count += 1;
        row.inclusive += inclusive;
        row.exclusive += inclusive.saturating_sub(open.inside);
    }

    /// A transfer inside the innermost call.
    pub(crate) fn moved(&mut self, sent: u64, received: u64) {
        let Some(path) = self.open.last().map(|open| open.path) else { return };
        let Some(row) = self.row(path) else { return };
        row.transfers += 1;
        row.bytes_sent += sent;
        row.bytes_received += received;
        row.sizes[size_class(sent.max(received))] += 1;
    }

    /// The row of a path; none if there is no memory for it, which counts as lost.
    fn row(&mut self, path: Path) -> Option<&mut Row> {
        let index = path.0 as usize;
        while index >= self.capacity {
            if self.grow().is_err() {
                // SAFETY: the mapping is never removed.
                let lost = unsafe { &(*self.header).lost };
                lost.store(lost.load(Relaxed) + 1, Relaxed);
                return None;
            }
        }
        // SAFETY: as above; the row lies in the mapping.
        unsafe {
            let used = &(*self.header).cursor;
            used.store(used.load(Relaxed).max(index as u64 + 1), Relaxed);
            let rows = self.header.cast::<u8>().add(HEADER_SIZE).cast::<Row>();
            Some(&mut *rows.add(index))
        }
    }

    fn grow(&mut self) -> io::Result<()> {
        let capacity = 2 * self.capacity;
        let old = size(self.capacity);
        if self.private {
            let (base, _) = private(size(capacity))?;
            // SAFETY: the new mapping is larger than the old one, which is left to the process.
            unsafe { std::ptr::copy_nonoverlapping(self.header.cast::<u8>(), base, old) };
            self.header = base.cast();
        } else {
            let (base, is_private) = map(&self.file, &self.path, size(capacity))?;
            if is_private {
                // The disk is full: from here on the rows live in memory.
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(self.header.cast::<u8>(), base, old) };
                self.private = true;
            }
            self.header = base.cast();
        }
        self.capacity = capacity;
        // SAFETY: the mapping is never removed.
        unsafe { (*self.header).ring_size = (capacity * size_of::<Row>()) as u64 };
        Ok(())
    }

    /// Brings rows in private memory to the file.
    pub(crate) fn store(&self) {
        if self.private {
            // SAFETY: header and rows are one mapping.
            let all = unsafe { std::slice::from_raw_parts(self.header.cast::<u8>(), size(self.capacity)) };
            let _ = self.file.write_all_at(all, 0);
        }
    }
}

fn private(size: usize) -> io::Result<(*mut u8, bool)> {
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok((base.cast(), true)) }
}

fn size(rows: usize) -> usize {
    HEADER_SIZE + rows * size_of::<Row>()
}
