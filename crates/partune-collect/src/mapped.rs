//! A table in a file that outlives the process: rows of one type after a head, mapped into memory, which can grow.
//!
//! For [`crate::profile`]. Where the disk has no room for more, the whole table goes on in private memory, and what the file held then
//! stays in it; [`Extent::store`] brings to the file at the end what fits. Another thread may do so while the owner goes on, so an extent is all
//! that it sees, and old mappings stay as long as the table; they cost addresses, not memory. No file stays open.

use std::fs::{File, OpenOptions};
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::memory::{self, map, release, reserved, zeroed};
use crate::scratch;

/// Where a table is that left its file, and how much of it is used: for whoever stores it.
#[derive(Debug)]
pub(crate) struct Extent {
    /// Null while the mapping is that of the file.
    base: AtomicPtr<u8>,
    /// Bytes that are used. They are stored after the base that has room for them and loaded before it, so there are as many after any base.
    used: AtomicUsize,
    path: PathBuf,
}

impl Extent {
    /// Brings what is in private memory to the file, as far as the disk has room.
    ///
    /// # Safety
    /// The table must not be closed meanwhile.
    pub(crate) unsafe fn store(&self) {
        let used = self.used.load(Ordering::Acquire);
        let base = self.base.load(Ordering::Acquire);
        if base.is_null() {
            return;
        }
        if let Ok(file) = OpenOptions::new().write(true).open(&self.path) {
            // SAFETY: mappings stay until the table is closed, and so many bytes of this one were used.
            unsafe { memory::write(&file, base, used, 0) };
        }
    }
}

/// Rows of `T`, which is plain numbers and valid if all of its bytes are zero.
pub(crate) struct Mapped<T> {
    base: *mut u8,
    head: usize,
    capacity: usize,
    path: PathBuf,
    private: bool,
    /// Whether it went on in memory the last time it grew, and was in the file until then.
    left: bool,
    /// Mappings before it grew, and their sizes.
    old: Vec<(*mut u8, usize)>,
    extent: Arc<Extent>,
    rows: PhantomData<T>,
}

impl<T: Copy> Mapped<T> {
    /// A new file with `head` bytes and room for some rows after them, all zero.
    pub(crate) fn create(path: &Path, head: usize, capacity: usize) -> io::Result<Mapped<T>> {
        let file = scratch::create(path)?;
        let (base, private) = map(&file, path, head + capacity * size_of::<T>())?;
        let path = path.to_owned();
        let place = AtomicPtr::new(if private { base } else { std::ptr::null_mut() });
        let extent = Arc::new(Extent { base: place, used: AtomicUsize::new(head), path: path.clone() });
        Ok(Mapped { base, head, capacity, path, private, left: false, old: Vec::new(), extent, rows: PhantomData })
    }

    /// The first byte of the head.
    pub(crate) fn head(&self) -> *mut u8 {
        self.base
    }

    /// Whether it left the file the last time it grew: what is in the old mapping stays there.
    pub(crate) fn has_left(&self) -> bool {
        self.left
    }

    /// For whoever stores it.
    pub(crate) fn extent(&self) -> &Arc<Extent> {
        &self.extent
    }

    /// So many rows are used.
    pub(crate) fn use_rows(&self, rows: usize) {
        self.extent.used.store(self.size(rows.min(self.capacity)), Ordering::Release);
    }

    /// The row at an index, if the table is so large.
    #[inline]
    pub(crate) fn get(&mut self, index: usize) -> Option<&mut T> {
        // SAFETY: the row lies in the mapping, which is aligned to pages.
        (index < self.capacity).then(|| unsafe { &mut *self.base.add(self.head).cast::<T>().add(index) })
    }

    /// The row at an index; the table grows up to it. None if there is no memory for it.
    #[inline]
    pub(crate) fn make(&mut self, index: usize) -> Option<&mut T> {
        if index >= self.capacity {
            self.grow(index)?;
        }
        self.get(index)
    }

    #[cold]
    fn grow(&mut self, index: usize) -> Option<()> {
        let mut capacity = self.capacity.max(1);
        while capacity <= index {
            capacity = capacity.checked_mul(2)?;
        }
        let (old, new) = (self.size(self.capacity), self.size(capacity));
        let shared = if self.private { None } else { self.file().and_then(|file| reserved(&file, new, 0)) };
        self.old.push((self.base, old));
        self.base = if let Some(base) = shared {
            base
        } else {
            let Some(base) = zeroed(new) else {
                self.old.pop();
                return None;
            };
            // SAFETY: the new mapping is larger than the old one and another one.
            unsafe { std::ptr::copy_nonoverlapping(self.base, base, old) };
            self.left = !self.private;
            self.private = true;
            self.extent.base.store(base, Ordering::Release);
            base
        };
        self.capacity = capacity;
        Some(())
    }

    /// Ends the table: the file is left with its used rows, memory is given back.
    ///
    /// # Safety
    /// Nobody else may be looking at it, and nobody at what it gave out.
    pub(crate) unsafe fn close(self, rows: usize) {
        self.use_rows(rows);
        // SAFETY: it is closed after that.
        unsafe { self.extent.store() };
        let used = self.size(rows.min(self.capacity));
        if let Some(file) = self.file().filter(|_| !self.private) {
            let _ = file.set_len(used as u64);
        }
        let current = (self.base, self.size(self.capacity));
        for (base, size) in self.old.iter().copied().chain([current]) {
            // SAFETY: mapped with this size, and unused as the caller said.
            unsafe { release(base, size) };
        }
    }

    fn file(&self) -> Option<File> {
        OpenOptions::new().read(true).write(true).open(&self.path).ok()
    }

    fn size(&self, rows: usize) -> usize {
        self.head + rows * size_of::<T>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn rows_are_in_the_file_and_stay_there_when_it_grows() {
        let folder = tempfile::tempdir().expect("temporary files can be made");
        let path = folder.path().join("table");
        let mut table: Mapped<u64> = Mapped::create(&path, 16, 2).expect("a file can be made");
        for index in 0..1000 {
            *table.make(index).expect("there is memory") = index as u64 * 3;
        }
        // Nothing was stored: the file has what the mapping has.
        let bytes = std::fs::read(&path).expect("it is a file");
        let at = |index: usize| u64::from_le_bytes(bytes[16 + 8 * index..][..8].try_into().expect("8 bytes"));
        assert!((0..1000).all(|index| at(index) == index as u64 * 3));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn a_table_that_the_disk_refuses_goes_on_in_memory() {
        let folder = tempfile::tempdir().expect("temporary files can be made");
        let path = folder.path().join("table");
        let mut table: Mapped<u64> = Mapped::create(&path, 0, 4).expect("a file can be made");
        *table.make(3).expect("there is room") = 7;
        // As if the disk were full: a file that cannot grow.
        table.path = folder.path().to_owned();
        *table.make(4).expect("there is memory") = 8;
        assert_eq!((table.private, table.get(3).copied(), table.get(4).copied()), (true, Some(7), Some(8)));
        let bytes = std::fs::read(&path).expect("it is a file");
        assert_eq!(bytes[24..32], 7_u64.to_le_bytes(), "what was in the file stays");
        table.use_rows(5);
        // The file is where it was: what is stored gets there.
        // SAFETY: the table is not closed.
        unsafe { table.extent().store() };
        let bytes = std::fs::read(&path).expect("it is a file");
        assert_eq!((bytes.len(), &bytes[32..40]), (40, &8_u64.to_le_bytes()[..]));
    }

    #[test]
    fn a_table_that_is_closed_leaves_its_used_rows() {
        let folder = tempfile::tempdir().expect("temporary files can be made");
        let path = folder.path().join("table");
        let mut table: Mapped<u64> = Mapped::create(&path, 16, 2).expect("a file can be made");
        for index in 0..1000 {
            *table.make(index).expect("there is memory") = index as u64;
        }
        // SAFETY: nothing of it is used any more.
        unsafe { table.close(1000) };
        let bytes = std::fs::read(&path).expect("it is a file");
        assert_eq!(bytes.len(), 16 + 8 * 1000);
        assert_eq!(bytes[16 + 8 * 999..], 999_u64.to_le_bytes());
    }
}
