//! The files of the pages: those that were built into the binary, or those of a folder, read once.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Names and contents of the files of `ui/dist` when this was built.
static BUILT: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Files by name. Only these are ever sent: a path is looked up and never joined to a folder.
pub struct Assets(Vec<(String, Cow<'static, [u8]>)>);

impl Assets {
    /// Those in the binary.
    pub fn built() -> Assets {
        Assets(BUILT.iter().map(|(name, bytes)| ((*name).to_owned(), Cow::Borrowed(*bytes))).collect())
    }

    /// All files below a folder.
    pub fn read(folder: &Path) -> std::io::Result<Assets> {
        let mut files = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(below) = folders.pop() {
            for entry in std::fs::read_dir(folder.join(&below))? {
                let entry = entry?;
                let name = below.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    folders.push(name);
                } else {
                    files.push((name.to_string_lossy().into_owned(), std::fs::read(entry.path())?.into()));
                }
            }
        }
        Ok(Assets(files))
    }

    /// A file by its name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, bytes)| &**bytes)
    }
}
