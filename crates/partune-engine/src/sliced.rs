//! A diagnosis of a run that is looked at slice by slice, so that memory depends on the size of a slice and not of the run.
//!
//! Slices begin and end where all processes have met and nothing is under way. Each is read, matched and asked like a run of its own; what it answers adds up. The size of slices is that of
//! the archive's making and not of the memory that there is, so that what is found does not depend on it either; nor does it on how many processes share the slices ([`crate::dealt`]).

use std::path::{Path, PathBuf};

use partune_analysis::{Input, Needs, Waits, analyses_of};
use partune_import::{FindSlices, ImportError, Slices};
use partune_index::Index;
use partune_job::{Job, Unable, gather};

use crate::dealt::{self, Together};
use crate::files::Folder;
use crate::formats::{self, OpenError};
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
    /// Process 0 of the job has the answer, and this is another one.
    Elsewhere,
}

/// The diagnosis of an archive with more than twice so many event records as `slice`, if it can be looked at in slices of about that size; not if it is smaller, or something in it goes across,
/// or more is asked for than what adds up.
///
/// All processes of a job call it with the same request, and share the slices; what process 0 gets is the same to the byte for any number of them. Where one of them
/// does not get at the archive, that is process 0's error.
pub fn analyze_in_slices(
    path: &Path,
    request: &Request,
    slice: u64,
    job: &dyn Job,
    progress: &dyn Progress,
) -> Result<Sliced, OpenError> {
    let look = || {
        let Some(Large { entry, bytes: _, find }) = all_see(path, large(path, request, slice), job)? else {
            return Ok(Sliced::Whole(None));
        };
        let (files, name) = (Folder::of(&entry), formats::name(&entry));
        progress.stage("looking for slices");
        let advance = |done, total| progress.advance(done, total);
        let found = timed(progress, "slices", || find(&files, &name, slice, job, &advance));
        let found = found.map_err(|error| OpenError::Import { path: entry.clone(), error })?;
        Ok(match found {
            Err(why) => Sliced::Whole(why),
            Ok(slices) => match analyze(slices.as_ref(), request, job, progress) {
                Err(why) => Sliced::Whole(Some(why)),
                Ok(None) => Sliced::Elsewhere,
                Ok(Some(diagnosis)) => Sliced::Diagnosed(Box::new(diagnosis)),
            },
        })
    };
    let found = look();
    if job.rank() == 0 { found } else { Ok(Sliced::Elsewhere) }
}

/// An archive that is large enough, where everything that is asked for adds up.
struct Large {
    entry: PathBuf,
    bytes: u64,
    find: FindSlices,
}

/// Whether an archive is large enough to be looked at in slices of this size, and can answer what is asked for then; not what is in it.
pub fn may_be_in_slices(path: &Path, request: &Request, slice: u64) -> bool {
    large(path, request, slice).is_ok_and(|large| large.is_some())
}

fn large(path: &Path, request: &Request, slice: u64) -> Result<Option<Large>, OpenError> {
    let able = analyses_of(Needs::Queries);
    let is_known = |name: &String| able.iter().any(|analysis| analysis.name == *name);
    let Some((entry, bytes)) = archive(path, request, slice)? else { return Ok(None) };
    if !request.only.iter().all(is_known) {
        return Ok(None);
    }
    let find = formats::detect(&entry)?.slices;
    Ok(find.map(|find| Large { entry, bytes, find }))
}

/// The entry of the archive that a path means, with its size, if it is one that may be large enough for slices of this size, and functions have the operations that it tells.
pub(crate) fn archive(path: &Path, request: &Request, slice: u64) -> Result<Option<(PathBuf, u64)>, OpenError> {
    let mut runs = formats::runs(path)?;
    let Some(entry) = runs.pop().filter(|_| runs.is_empty()) else { return Ok(None) };
    let bytes = formats::bytes(&entry);
    let is_able = request.options.operations.is_empty() && !formats::has_operations(&entry);
    Ok((bytes > LEAST * 2 * slice && is_able).then_some((entry, bytes)))
}

/// What process 0 found, where all that share the work with it see the same.
fn all_see(path: &Path, found: Result<Option<Large>, OpenError>, job: &dyn Job) -> Result<Option<Large>, OpenError> {
    let seen = found.as_ref().map(|large| large.as_ref().map(|large| large.bytes)).map_err(ToString::to_string);
    let all = gather(job, (job.name(), seen));
    let first = match &all[0].1 {
        Ok(Some(bytes)) => *bytes,
        // It works alone, or not at all, whatever others see.
        Ok(None) | Err(_) => return if job.rank() == 0 { found } else { Ok(None) },
    };
    for (rank, (name, seen)) in all.into_iter().enumerate() {
        let why = match seen {
            Ok(Some(bytes)) if bytes == first => continue,
            Ok(_) => "the archive has another size there than where process 0 runs".to_owned(),
            Err(why) => why,
        };
        let error = ImportError::elsewhere(&Unable { rank, name, why });
        return Err(OpenError::Import { path: path.to_owned(), error });
    }
    found
}

/// The diagnosis, for process 0. Not where clocks disagree so much that they cannot be trusted, which is a matter of the whole run, and where the archive changed meanwhile.
fn analyze(
    slices: &dyn Slices,
    request: &Request,
    job: &dyn Job,
    progress: &dyn Progress,
) -> Result<Option<Diagnosis>, String> {
    progress.stage("analysing");
    let Some(Together { gathered, sketch, matched, mut repair, quality, last }) =
        dealt::look(slices, request, job, progress)?
    else {
        return Ok(None);
    };
    let (trace, shared) = timed(progress, "summing up", || gathered.finish(last));
    repair.duration = trace.duration();
    if !repair.trustworthy() {
        return Err(dealt::UNTRUSTED.to_owned());
    }
    let (index, waits) = (Index { quality, ..Index::default() }, Waits::default());
    let input = Input { trace: &trace, index: &index, waits: &waits, options: &request.options, shared: &shared };
    let able = analyses_of(Needs::Queries);
    let outcome = run_analyses(&able, &input, request, progress);
    let is_asked_later = request.compares || request.draws;
    let run = Run::new((trace, index, waits), is_asked_later.then_some(shared), sketch, (repair, matched));
    Ok(Some(conclude(run, outcome, &able, request)))
}
