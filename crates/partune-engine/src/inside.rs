//! What a run is made from: for tests, and for what makes traces. Front ends do not look inside, and `cargo xtask tidy` sees to it.

use std::path::Path;

use partune_analysis::Waits;
use partune_index::Index;
use partune_index::clock_repair::Repair;
use partune_trace::Trace;

pub use crate::formats::FORMATS;
use crate::{Diagnosis, OpenError, Opened, Progress};

/// What a diagnosis is made from.
#[derive(Clone, Copy)]
pub struct Inside<'a> {
    pub trace: &'a Trace,
    pub index: &'a Index,
    pub waits: &'a Waits,
    pub repair: &'a Repair,
}

pub fn of(diagnosis: &Diagnosis) -> Inside<'_> {
    let run = &diagnosis.run;
    Inside { trace: &run.trace, index: &run.index, waits: &run.waits, repair: &run.repair }
}

/// Opens and imports an archive, as [`crate::open`] does.
pub fn read(path: &Path, progress: &dyn Progress) -> Result<Trace, OpenError> {
    crate::open(path, progress).map(|opened| opened.trace)
}

impl From<Trace> for Opened {
    fn from(trace: Trace) -> Opened {
        Opened { trace, operations: None }
    }
}
