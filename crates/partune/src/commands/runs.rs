//! Archives by their paths: several, analysed one after the other, for the commands that put runs together; or one, which of repeated runs is the median one.

use std::path::{Path, PathBuf};

use anyhow::Context;
use partune_engine::{Diagnosis, Options, Progress, Request, SLICE, Selection, Sliced};
use partune_report::NamedRun;

use crate::commands::reading::Reading;
use crate::output;
use crate::progress::Bar;

/// What was opened by each path, and what was found in it.
pub(crate) struct Opened(Vec<Repeats>);

/// Runs of one kind, by their paths; first the one that stands for all.
struct Repeats {
    /// As it was named.
    name: String,
    names: Vec<String>,
    diagnoses: Vec<Diagnosis>,
}

/// Opens one archive; of repeated runs the median one, and says so.
pub(crate) fn open_one(path: &Path, progress: &dyn Progress) -> anyhow::Result<partune_engine::Opened> {
    let opened = partune_engine::open(path, progress)?;
    if let Some(which) = opened.median_run() {
        output::note(&format!("partune: {which}"));
    }
    Ok(opened)
}

/// Opens and analyses archives, and all runs of a folder of repeated ones; large ones slice by slice where that is possible, those of the first archive if no event of it `is_followed`; of a piece what lies around it. One that cannot be read ends it.
pub(crate) fn open(archives: &[PathBuf], reading: &Reading, is_followed: bool) -> anyhow::Result<Opened> {
    let request = Request { predicts: false, compares: true, ..reading.asked(Options::default())? };
    let room = reading.resources().limit()?;
    let bar = Bar::new(false);
    let sets: Vec<Vec<PathBuf>> = archives.iter().map(|it| partune_engine::runs(it)).collect::<Result<_, _>>()?;
    let selection = reading.selection();
    let in_slices = |(set, entry): (usize, &PathBuf)| {
        if is_followed && set == 0 && selection == Selection::default() {
            return Ok(None);
        }
        in_slices(entry, &selection, &request, &bar).with_context(|| entry.display().to_string())
    };
    let entries = || sets.iter().enumerate().flat_map(|(set, entries)| entries.iter().map(move |entry| (set, entry)));
    let sliced: Vec<Option<Diagnosis>> = entries().map(in_slices).collect::<anyhow::Result<_>>()?;
    let others = entries().zip(&sliced).filter(|(_, sliced)| sliced.is_none());
    let others: Vec<PathBuf> = others.map(|((_, entry), _)| entry.clone()).collect();
    room.map_or(Ok(()), |room| room.tell(&others))?;
    let mut sliced = sliced.into_iter();
    let mut all = Vec::new();
    for (archive, entries) in archives.iter().zip(&sets) {
        let name = archive.display().to_string();
        let mut repeats = Repeats { name, names: Vec::new(), diagnoses: Vec::new() };
        for entry in entries {
            let diagnosis = sliced.next().flatten().map_or_else(|| whole(entry, reading, &request, &bar), Ok);
            repeats.diagnoses.push(diagnosis?);
            let folder = entry.parent().filter(|_| entries.len() > 1).unwrap_or(archive);
            repeats.names.push(folder.display().to_string());
        }
        let middle = partune_engine::middle(&repeats.diagnoses).unwrap_or_default();
        repeats.diagnoses.swap(0, middle);
        repeats.names.swap(0, middle);
        all.push(repeats);
    }
    Ok(Opened(all))
}

/// What is found in a large archive slice by slice, or in a piece of it without the rest; see [`found`].
pub(crate) fn in_slices(
    archive: &Path,
    selection: &Selection,
    request: &Request,
    progress: &dyn Progress,
) -> anyhow::Result<Option<Diagnosis>> {
    Ok(found(partune_engine::analyze_large(archive, selection, request, SLICE, progress)?, archive))
}

/// What was found without reading all of an archive at once; where it has to be, none, and why is told, if that is a matter of what is in it.
pub(crate) fn found(sliced: Sliced, archive: &Path) -> Option<Diagnosis> {
    match sliced {
        Sliced::Diagnosed(diagnosis) => Some(*diagnosis),
        Sliced::Whole(Some(why)) => {
            output::note(&format!("partune: all of {} is read at once, since {why}", archive.display()));
            None
        }
        Sliced::Whole(None) | Sliced::Elsewhere => None,
    }
}

fn whole(entry: &Path, reading: &Reading, request: &Request, bar: &Bar) -> anyhow::Result<Diagnosis> {
    let opened = partune_engine::open(entry, bar)?;
    let diagnosis = partune_engine::analyze_piece(opened, &reading.selection(), request, bar);
    diagnosis.with_context(|| entry.display().to_string())
}

impl Opened {
    /// For each path its runs, first the one that stands for them.
    pub(crate) fn sets(&self) -> Vec<Vec<&Diagnosis>> {
        self.0.iter().map(|repeats| repeats.diagnoses.iter().collect()).collect()
    }

    /// For each path the run that stands for it, under the name of the path.
    pub(crate) fn named(&self) -> Vec<NamedRun<'_>> {
        let first =
            self.0.iter().filter_map(|it| Some(NamedRun { archive: &it.name, diagnosis: it.diagnoses.first()? }));
        first.collect()
    }

    /// Every run under its own name.
    pub(crate) fn each(&self) -> Vec<NamedRun<'_>> {
        let pairs = self.0.iter().flat_map(|it| it.names.iter().zip(&it.diagnoses));
        pairs.map(|(archive, diagnosis)| NamedRun { archive, diagnosis }).collect()
    }

    /// The process ends here: freeing large traces piece by piece would only keep the user waiting.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }
}
