//! A table in a file that outlives the process: rows of one type behind a head, mapped into memory, which can grow.
//!
//! For [`crate::profile`]. Where the disk has no room for more, the whole table goes on in private memory, and what the file held then
//! stays in it; [`Mapped::store`] brings to the file at the end what fits. Old mappings stay as long as the table, since another thread
//! may be storing them while the process ends; they cost addresses, not memory. No file stays open.

use std::fs::{File, OpenOptions};
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::memory::{map, release, reserved, zeroed};

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
    rows: PhantomData<T>,
}

impl<T: Copy> Mapped<T> {
    /// A new file with `head` bytes and room for some rows behind them, all zero.
    pub(crate) fn create(path: &Path, head: usize, capacity: usize) -> io::Result<Mapped<T>> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        let (base, private) = map(&file, path, head + capacity * size_of::<T>())?;
        let path = path.to_owned();
        Ok(Mapped { base, head, capacity, path, private, left: false, old: Vec::new(), rows: PhantomData })
    }

    /// The first byte of the head.
    pub(crate) fn head(&self) -> *mut u8 {
        self.base
    }

    /// Whether it left the file the last time it grew: what is in the old mapping stays there.
    pub(crate) fn has_left(&self) -> bool {
        self.left
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
            base
        };
        self.capacity = capacity;
        Some(())
    }

    /// Brings what is in private memory to the file, as far as the disk has room.
    pub(crate) fn store(&self, rows: usize) {
        if self.private {
            let used = self.size(rows.min(self.capacity));
            // SAFETY: head and rows are one mapping.
            let bytes = unsafe { std::slice::from_raw_parts(self.base, used) };
            let _ = self.file().map(|file| file.write_all_at(bytes, 0));
        }
    }

    /// Ends the table: the file is left with its used rows, memory is given back.
    ///
    /// # Safety
    /// Nobody else may be looking at it, and nobody at what it gave out.
    pub(crate) unsafe fn close(self, rows: usize) {
        self.store(rows);
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
        table.store(5);
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
