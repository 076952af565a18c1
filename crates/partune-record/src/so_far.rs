//! How far a recording is that goes on, for whoever waits for it.

use std::fs::{self, File};
use std::io::Read as _;
use std::mem::offset_of;
use std::path::Path;

use partune_parts::layout::{self, HEADER_SIZE, MAGIC, PARTS, PROFILE_MAGIC};

use crate::parts::u64_at;

/// What its processes have recorded by now, as far as this machine sees their files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoFar {
    pub processes: usize,
    pub threads: usize,
    /// Events, or calls that were counted.
    pub events: u64,
    /// Bytes of events.
    pub bytes: u64,
    /// Whether calls are counted, and no events kept.
    pub is_profile: bool,
}

/// Reads the headers of what lies in a folder of parts: a page of each thread.
pub fn so_far(folder: &Path) -> SoFar {
    let mut all = SoFar::default();
    for entry in fs::read_dir(folder.join(PARTS)).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("log") => all.processes += 1,
            Some("lane") => {
                all.threads += 1;
                let Some(header) = header(&path, MAGIC) else { continue };
                let word = |at: usize| u64_at(&header, at).unwrap_or_default();
                let [flushed, capacity, cursor] = [
                    offset_of!(layout::Header, flushed),
                    offset_of!(layout::Header, capacity),
                    offset_of!(layout::Header, cursor),
                ]
                .map(word);
                let flushed = if capacity == 0 { flushed } else { flushed.min(capacity) };
                all.events = all.events.saturating_add(word(offset_of!(layout::Header, events)));
                all.bytes = all.bytes.saturating_add(flushed).saturating_add(cursor);
            }
            Some("stat") => {
                all.is_profile = true;
                let calls =
                    header(&path, PROFILE_MAGIC).and_then(|it| u64_at(&it, offset_of!(layout::ProfileHeader, calls)));
                all.events = all.events.saturating_add(calls.unwrap_or_default());
            }
            _ => {}
        }
    }
    all
}

/// The first page of a file that begins so.
fn header(path: &Path, magic: u64) -> Option<[u8; HEADER_SIZE]> {
    let mut page = [0; HEADER_SIZE];
    File::open(path).and_then(|mut file| file.read_exact(&mut page)).ok()?;
    (u64_at(&page, 0) == Some(magic)).then_some(page)
}
