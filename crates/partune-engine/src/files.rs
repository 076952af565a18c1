//! Files of an archive from a folder, mapped into memory.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use partune_otf2::import::{Bytes, Files};

/// The folder of an archive's anchor.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn of(anchor: &Path) -> Folder {
        let parent = anchor.parent().filter(|parent| !parent.as_os_str().is_empty());
        Folder { path: parent.unwrap_or(Path::new(".")).to_owned() }
    }
}

impl Files for Folder {
    fn open(&self, name: &str) -> io::Result<Bytes> {
        let file = File::open(self.path.join(name))?;
        if file.metadata()?.len() == 0 {
            return Ok(Arc::new(Vec::new()));
        }
        // SAFETY: the mapping is read only. Another process that shortens the file while we read can end this process with
        // SIGBUS; recorders write archives once and close them.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file)? };
        Ok(Arc::new(map))
    }
}
