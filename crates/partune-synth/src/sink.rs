//! Where the files of an archive go.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

/// Makes files. Event files are written all at once, one for each location, a chunk at a time.
pub trait Sink {
    /// Makes an empty file; folders in its path are separated by `/` and made too.
    fn create(&mut self, path: &str) -> io::Result<Box<dyn Write>>;
}

impl<F: FnMut(&str) -> io::Result<Box<dyn Write>>> Sink for F {
    fn create(&mut self, path: &str) -> io::Result<Box<dyn Write>> {
        self(path)
    }
}

/// Files in memory, for tests; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Memory(Rc<RefCell<BTreeMap<String, Vec<u8>>>>);

impl Memory {
    /// A copy of all files by path.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.borrow().clone()
    }
}

impl Sink for Memory {
    fn create(&mut self, path: &str) -> io::Result<Box<dyn Write>> {
        self.0.borrow_mut().insert(path.to_owned(), Vec::new());
        Ok(Box::new(MemoryFile { files: self.clone(), path: path.to_owned() }))
    }
}

struct MemoryFile {
    files: Memory,
    path: String,
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.files.0.borrow_mut().entry(self.path.clone()).or_default().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
