//! A run that is read slice by slice, each as a trace of its own.

use partune_diag::Quality;
use partune_job::Job;
use partune_trace::Trace;

use crate::error::ImportError;
use crate::files::Files;
use crate::source::Advance;

/// The slices of a run, in order of time: see [`partune_trace::Slice`]. Together they have its events, and all have its tables, call paths too.
pub trait Slices: Sync {
    /// At least two.
    fn count(&self) -> usize;

    /// Reads one. Diagnostics of the whole input are in the first. None where the input is not as it was when slices were looked for.
    fn read(&self, slice: usize, advance: Advance<'_>) -> Option<Trace>;

    /// What can be said of the whole input when all slices are read, of which so many ticks are [`Slice::unknown`](partune_trace::Slice::unknown) together.
    fn conclude(&self, unknown: u64) -> Quality;
}

/// Looks for slices of at most about so many events, in the events of an input. None where it has not more than twice as many, where there are none, or where something is in
/// it that may go across; why is said of what is large. All processes of a job look, each through a part of the events, and find the same; each may read any slice then.
pub type FindSlices = for<'a> fn(
    &'a dyn Files,
    &'a str,
    u64,
    &dyn Job,
    Advance<'_>,
) -> Result<Result<Box<dyn Slices + 'a>, Option<String>>, ImportError>;
