//! How an archive's files reach the importer: somebody else opens them, and they are read piece by piece.
//!
//! Files are read and not mapped. A file may become shorter while it is read, and a network file system may fail: a read says so, where a mapping
//! ends the process. Nor is there a limit on how many files are open: an event file is open while a thread decodes some of it.

use std::io;
use std::ops::Range;
use std::sync::Arc;

/// An open file.
pub trait Contents: Send + Sync {
    /// Bytes that it had when it was opened; there may be fewer by now.
    fn size(&self) -> u64;

    /// Reads some of the bytes at a place, at least one; none where the file ends.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize>;
}

/// An open file, shared between threads.
pub type Bytes = Arc<dyn Contents>;

/// The files of one archive, by name relative to the folder of its entry, with `/` between folders.
pub trait Files: Sync {
    /// Opens a file; an error of kind [`io::ErrorKind::NotFound`] if there is no such file.
    fn open(&self, name: &str) -> io::Result<Bytes>;
}

/// A file in memory, for tests and tools.
impl Contents for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// Archives in memory: name and contents.
impl Files for std::collections::BTreeMap<String, Vec<u8>> {
    fn open(&self, name: &str) -> io::Result<Bytes> {
        let bytes = self.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(bytes.clone()))
    }
}

/// Bytes of a file; fewer if it has become shorter. What was in the buffer is replaced.
pub fn read_range(file: &dyn Contents, range: Range<u64>, buffer: &mut Vec<u8>) -> io::Result<()> {
    let want = usize::try_from(range.end.saturating_sub(range.start)).map_err(|_| io::ErrorKind::OutOfMemory)?;
    buffer.try_reserve(want.saturating_sub(buffer.len())).map_err(|_| io::ErrorKind::OutOfMemory)?;
    // What is overwritten anyway need not be zero.
    buffer.resize(want, 0);
    let mut done = 0;
    while done < want {
        match file.read_at(range.start + done as u64, &mut buffer[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(done);
    Ok(())
}

/// All bytes of a file.
pub fn read_all(file: &dyn Contents) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_range(file, 0..file.size(), &mut bytes)?;
    Ok(bytes)
}

/// Pieces of equal size of a file, read one by one into the same buffer.
pub struct Pieces<'a> {
    file: &'a dyn Contents,
    rest: Range<u64>,
    size: u64,
    buffer: Vec<u8>,
    /// Why reading ended before the end.
    pub failed: Option<io::Error>,
}

impl<'a> Pieces<'a> {
    /// Those that begin at a place within a range.
    pub fn new(file: &'a dyn Contents, range: Range<u64>, size: u64) -> Pieces<'a> {
        Pieces { file, rest: range.start..range.end.min(file.size()), size, buffer: Vec::new(), failed: None }
    }

    /// The bytes of the next one; none at the end, or where reading fails.
    pub fn read(&mut self) -> Option<&[u8]> {
        if self.rest.is_empty() || self.failed.is_some() {
            return None;
        }
        let end = self.rest.start.saturating_add(self.size).min(self.rest.end);
        self.failed = read_range(self.file, self.rest.start..end, &mut self.buffer).err();
        self.rest.start = end;
        self.failed.is_none().then_some(&self.buffer)
    }
}
