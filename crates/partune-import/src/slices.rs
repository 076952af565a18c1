//! A run that is read slice by slice, each as a trace of its own, or of which a stretch is read by itself.

use partune_base::{Clock, Time};
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

/// A run of which what lies around an interval can be read by itself: the stretch from the last moment before it where all processes had met with nothing under way to the first
/// behind it, or to the ends of the run.
pub trait Around: Sync {
    fn clock(&self) -> Clock;

    /// When the first and the last event of the run are.
    fn extent(&self) -> (Time, Time);

    /// How many event records are read for an interval.
    fn events(&self, begin: Time, end: Time) -> u64;

    /// Reads them, with the tables and call paths of the run. A visit that goes on has its part in the stretch, and each PE is there as long as it is in the run, so that the trace begins
    /// and ends with it. Diagnostics are those of the whole input. None where the input is not as it was.
    fn read(&self, begin: Time, end: Time, advance: Advance<'_>) -> Option<Trace>;
}

/// Looks through the events of an input for such moments. None where it has not more than twice so many events, or where something is in it that may go across; why is said of what is
/// large.
pub type FindAround = for<'a> fn(
    &'a dyn Files,
    &'a str,
    u64,
    Advance<'_>,
) -> Result<Result<Box<dyn Around + 'a>, Option<String>>, ImportError>;
