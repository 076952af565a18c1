//! How an archive's files reach the importer: somebody else opens them.

use std::io;
use std::sync::Arc;

/// The contents of a file: mapped or read, shared between threads.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The files of one archive, by name relative to the folder of its anchor, with `/` between folders.
pub trait Files: Sync {
    /// The contents of a file; an error of kind [`io::ErrorKind::NotFound`] if there is no such file.
    fn open(&self, name: &str) -> io::Result<Bytes>;
}

/// Archives in memory, for tests and tools: name and contents.
impl Files for std::collections::BTreeMap<String, Vec<u8>> {
    fn open(&self, name: &str) -> io::Result<Bytes> {
        let bytes = self.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(bytes.clone()))
    }
}
