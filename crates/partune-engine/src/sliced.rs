//! A diagnosis of a run that is looked at slice by slice, so that memory depends on the size of a slice and not of the run.
//!
//! Slices begin and end where all PEs have met and nothing is under way. Each is read, matched and asked like a run of its own; what it answers adds up. The size of slices is that of
//! the archive's making and not of the memory that there is, so that what is found does not depend on it either.

use std::path::Path;

use partune_analysis::{Gathered, Input, Needs, Waits, analyses_of};
use partune_diag::Quality;
use partune_import::Slices;
use partune_index::clock_repair::{Carried, Repair, repair_slice};
use partune_index::{Index, Ties};
use partune_trace::Trace;

use crate::files::Folder;
use crate::formats::{self, OpenError};
use crate::run::Matched;
use crate::session::{conclude, run_analyses};
use crate::{Diagnosis, Progress, Request, Run, timed};

/// Event records of a slice, at most about; of a run with more than twice as many slices are looked at.
pub const SLICE: u64 = 1 << 25;
/// Bytes of an event record, at least.
const LEAST: u64 = 2;

/// What came of looking at an archive in slices.
pub enum Sliced {
    Diagnosed(Box<Diagnosis>),
    /// It is to be opened and analysed as a whole. Why, where it is large and that is a matter of what is in it.
    Whole(Option<String>),
}

/// The diagnosis of an archive with more than twice so many event records as `slice`, if it can be looked at in slices of about that size; not if it is smaller, or something in it goes across,
/// or more is asked for than what adds up.
pub fn analyze_in_slices(
    path: &Path,
    request: &Request,
    slice: u64,
    progress: &dyn Progress,
) -> Result<Sliced, OpenError> {
    let able = analyses_of(Needs::Queries);
    let is_known = |name: &String| able.iter().any(|analysis| analysis.name == *name);
    let runs = formats::runs(path)?;
    let [entry] = runs.as_slice() else { return Ok(Sliced::Whole(None)) };
    let is_small = formats::bytes(entry) <= LEAST * 2 * slice;
    let is_able = request.options.operations.is_empty() && request.only.iter().all(is_known);
    if is_small || !is_able || formats::has_operations(entry) {
        return Ok(Sliced::Whole(None));
    }
    let Some(find) = formats::detect(entry)?.slices else { return Ok(Sliced::Whole(None)) };
    let (files, name) = (Folder::of(entry), formats::name(entry));
    progress.stage("looking for slices");
    let advance = |done, total| progress.advance(done, total);
    let found = timed(progress, "slices", || find(&files, &name, slice, &advance));
    let found = found.map_err(|error| OpenError::Import { path: entry.clone(), error })?;
    let diagnosed = match found {
        Ok(slices) => analyze(slices.as_ref(), request, progress).map_err(|why| Some(why.to_owned())),
        Err(why) => Err(why),
    };
    Ok(diagnosed.map_or_else(Sliced::Whole, |it| Sliced::Diagnosed(Box::new(it))))
}

/// Not where clocks disagree so much that they cannot be trusted, which is a matter of the whole run, and where the archive changed meanwhile.
fn analyze(slices: &dyn Slices, request: &Request, progress: &dyn Progress) -> Result<Diagnosis, &'static str> {
    const CHANGED: &str = "it changed while it was read";
    const UNTRUSTED: &str = "its clocks disagree too much to be repaired in slices";
    let mut gathered = Gathered::default();
    let (mut matched, mut quality) = (Matched::default(), Quality::default());
    let mut last: Option<Trace> = None;
    let (mut repair, mut carried) = (Repair::default(), Carried::default());
    let mut unknown = 0_u64;
    progress.stage("analysing");
    for number in 0..slices.count() {
        drop(last.take());
        let trace = timed(progress, "reading", || slices.read(number, &|_, _| ())).ok_or(CHANGED)?;
        let mut index = timed(progress, "matching", || Index::build(&trace));
        if index.clocks.found.is_needed() && !request.repair_clocks {
            return Err("its clocks disagree and are not to be repaired");
        }
        let (trace, done, next) =
            timed(progress, "clocks", || repair_slice(trace, &index, &carried)).ok_or(UNTRUSTED)?;
        if done.changed_times() {
            index = timed(progress, "matching", || Index::build(&trace));
        }
        carried = next;
        repair.add(done);
        let ties = Ties::build(&trace, &index);
        let waits = timed(progress, "waits", || Waits::in_ties(&trace, &index, &ties, &request.options));
        let shared = gathered.shared();
        let input = Input { trace: &trace, index: &index, waits: &waits, options: &request.options, shared: &shared };
        timed(progress, "asking", || gathered.ask(&input, ties));
        timed(progress, "adding", || gathered.add(shared));
        matched.add(Matched::of(&index));
        quality.merge(index.quality);
        unknown = unknown.saturating_add(trace.slice().map_or(0, |slice| slice.unknown));
        if number + 1 < slices.count() {
            quality.merge(trace.quality().clone());
        }
        progress.advance(number as u64 + 1, slices.count() as u64);
        last = Some(trace);
    }
    quality.merge(slices.conclude(unknown));
    let (trace, shared) = gathered.finish(last.ok_or(CHANGED)?);
    repair.duration = trace.duration();
    if !repair.trustworthy() {
        return Err(UNTRUSTED);
    }
    let (index, waits) = (Index { quality, ..Index::default() }, Waits::default());
    let input = Input { trace: &trace, index: &index, waits: &waits, options: &request.options, shared: &shared };
    let able = analyses_of(Needs::Queries);
    let outcome = run_analyses(&able, &input, request, progress);
    let run = Run::new(trace, index, waits, (repair, matched));
    Ok(conclude(run, outcome, &able, request))
}
