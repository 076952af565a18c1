//! A format: how to tell its files from others, and how a run is read from them.

use partune_trace::Trace;

use crate::error::ImportError;
use crate::files::Files;
use crate::slices::{FindAround, FindSlices};
use crate::source::Advance;

/// A trace format, as one value. Each is one line in the engine's list.
pub struct Format {
    /// As people call it.
    pub name: &'static str,
    /// How the names of its entries end, so that they are found in a folder.
    pub endings: &'static [&'static str],
    /// How the names of other files end that these endings fit too.
    pub others: &'static [&'static str],
    /// Whether a file of this name that begins with these bytes (up to 64) is the entry of an input.
    pub detect: fn(&str, &[u8]) -> bool,
    /// Reads everything, from the name of the entry.
    pub open: fn(&dyn Files, &str, Advance<'_>) -> Result<Trace, ImportError>,
    /// The same slice by slice, where the format can be read so.
    pub slices: Option<FindSlices>,
    /// What lies around a piece of a run by itself, likewise.
    pub around: Option<FindAround>,
}

impl Format {
    /// Whether a file has a name as entries have.
    pub fn is_entry(&self, name: &str) -> bool {
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        ends(self.endings) && !ends(self.others)
    }
}
