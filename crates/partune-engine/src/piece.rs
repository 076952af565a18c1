//! A diagnosis of a piece of a large run, of which only what lies around the piece is read into memory.
//!
//! A first pass looks for moments where all processes had met with nothing under way. What lies between the last of them before the piece and the first behind it is read, matched, asked for
//! waits and cut like the whole run would be: nothing that goes on in the piece began before, but for functions, whose part in the piece is the same.

use std::path::Path;

use partune_import::Around;
use partune_index::Index;
use partune_job::Alone;
use partune_trace::Trace;

use crate::files::Folder;
use crate::formats::{self, OpenError};
use crate::selection::{Selection, SelectionError};
use crate::session::{diagnose, within};
use crate::sliced::archive;
use crate::{Progress, Request, Sliced, analyze_in_slices, timed};

/// Why there is no diagnosis of a piece.
#[derive(Debug, thiserror::Error)]
pub enum PieceError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Selection(#[from] SelectionError),
}

/// The diagnosis of a large archive, or of a piece of it, without reading all of it at once: [in slices](analyze_in_slices), or [what lies around the piece](analyze_piece_alone).
pub fn analyze_large(
    path: &Path,
    selection: &Selection,
    request: &Request,
    slice: u64,
    progress: &dyn Progress,
) -> Result<Sliced, PieceError> {
    if *selection == Selection::default() {
        return Ok(analyze_in_slices(path, request, slice, &Alone, progress)?);
    }
    analyze_piece_alone(path, selection, request, slice, progress)
}

/// The diagnosis of a piece between two times of an archive with more than twice so many event records as `slice`, if no more than so many lie around it. It is that of
/// [`analyze_piece`](crate::analyze_piece) for the whole run, but for what is a matter of all of the run: what was noticed outside of the piece, how many events it has (an estimate in any case), and what it usually
/// takes to get a lock. Not where something in the run goes across, where clocks disagree around the piece, and where it is a phase or begins behind turns of a loop: then all of
/// it is to be read. A piece that is all of the run is looked at in slices.
///
/// Cost: one pass over all events, and what lies around the piece.
pub fn analyze_piece_alone(
    path: &Path,
    selection: &Selection,
    request: &Request,
    slice: u64,
    progress: &dyn Progress,
) -> Result<Sliced, PieceError> {
    let whole = |why: &str| Ok(Sliced::Whole(Some(why.to_owned())));
    if !selection.is_between_times() {
        return Ok(Sliced::Whole(None));
    }
    let Some((entry, _)) = archive(path, request, slice)? else { return Ok(Sliced::Whole(None)) };
    let Some(find) = formats::detect(&entry)?.around else { return Ok(Sliced::Whole(None)) };
    let (files, name) = (Folder::of(&entry), formats::name(&entry));
    progress.stage("looking for what is around the piece");
    let advance = |done, total| progress.advance(done, total);
    let found = timed(progress, "looking through", || find(&files, &name, slice, &advance));
    let found = found.map_err(|error| OpenError::Import { path: entry.clone(), error })?;
    let run: Box<dyn Around + '_> = match found {
        Ok(run) => run,
        Err(why) => return Ok(Sliced::Whole(why)),
    };
    let (begin, end) = selection.between(run.clock(), run.extent())?;
    if (begin, end) == run.extent() {
        return Ok(analyze_in_slices(path, request, slice, &Alone, progress)?);
    }
    if run.events(begin, end) > slice.saturating_mul(2) {
        return whole("processes do not meet near by the piece, or it is large itself");
    }
    progress.stage("reading");
    let Some(trace) = timed(progress, "reading", || run.read(begin, end, &advance)) else {
        return whole("it changed while it was read");
    };
    drop(run);
    analyze(trace, selection, request, progress)
}

/// The diagnosis of a piece, of a stretch around it.
fn analyze(
    trace: Trace,
    selection: &Selection,
    request: &Request,
    progress: &dyn Progress,
) -> Result<Sliced, PieceError> {
    progress.stage("matching");
    let index = timed(progress, "matching", || Index::build(&trace));
    let repair = index.clocks.found;
    if repair.is_needed() {
        let why = "clocks disagree in the piece or near by, and are repaired for the whole run";
        return Ok(Sliced::Whole(Some(why.to_owned())));
    }
    let piece = match selection.find(&trace) {
        Ok(Some(piece)) => piece,
        // Where the program starts up and shuts down is not known of a stretch, and is to be told.
        Ok(None) | Err(SelectionError::Outside { .. }) => return Ok(Sliced::Whole(None)),
        Err(error) => return Err(error.into()),
    };
    progress.stage("waits");
    let (trace, index, waits) = timed(progress, "waits", || within(trace, index, piece, request));
    Ok(Sliced::Diagnosed(Box::new(diagnose(trace, index, (waits, None), repair, request, progress))))
}
