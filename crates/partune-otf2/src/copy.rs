//! Copies a whole archive, record by record, into one that today's C library reads: little endian, uncompressed.
//!
//! For `partune convert`. Events, definitions, snapshots, markers, thumbnails and statistics are copied as they are, whatever they mean, so
//! nothing is lost but what was damaged; the copy's findings are the original's. Built on [`codec::transcode`].

use std::io::{self, Write};

use partune_diag::{Code, Diagnostic, Quality, Severity};
use partune_import::{Files, ImportError, Pieces, read_all};
use rayon::prelude::*;
use thiserror::Error;

use crate::codec::transcode::{self, Copied};
use crate::codec::{self, Anchor, CodecError, Compression, Definition, Scope, Substrate};
use crate::import::{Archive, report_damage};

/// Where the files of an archive are written to, by name relative to its folder, with `/` between folders.
pub trait Sink: Sync {
    /// Creates a file, and the folders around it.
    fn create(&self, name: &str) -> io::Result<Box<dyn Write + Send>>;
}

/// What was copied.
#[derive(Debug, Default)]
pub struct Copy {
    pub events: u64,
    pub definitions: u64,
    pub locations: u64,
    /// What could not be copied.
    pub quality: Quality,
}

/// Why an archive cannot be copied.
#[derive(Debug, Error)]
pub enum CopyError {
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error("cannot write {name}: {error}")]
    Write { name: String, error: io::Error },
    #[error("{name}: {error}")]
    Codec { name: String, error: CodecError },
    #[error("nothing in it could be read: {noticed}\n  remedy: copy or record it again")]
    Nothing { noticed: String },
}

/// Sizes of chunks that the C library reads.
const CHUNK_SIZES: std::ops::RangeInclusive<u64> = 256 << 10..=16 << 20;

/// Copies the archive with this anchor file to one with another anchor file.
///
/// Cost: linear in bytes, parallel over locations. Memory: a chunk per thread.
pub fn copy(files: &dyn Files, anchor_name: &str, sink: &dyn Sink, to_anchor: &str) -> Result<Copy, CopyError> {
    let anchor = crate::import::read_anchor(files, anchor_name)?;
    let archive = Archive::new(files, anchor_name, anchor.clone());
    let name = to_anchor.strip_suffix(".otf2").unwrap_or(to_anchor);
    let chunk = |size: u64| size.clamp(*CHUNK_SIZES.start(), *CHUNK_SIZES.end());
    let out = Anchor {
        compression: Compression::None,
        substrate: Substrate::Posix,
        event_chunk_size: chunk(anchor.event_chunk_size),
        definition_chunk_size: chunk(anchor.definition_chunk_size),
        ..anchor.clone()
    };
    let job = Job { archive: &archive, from: &anchor, to: &out, sink };
    let mut copy = Copy::default();

    let from = format!("{}.def", archive.name);
    let bytes = archive.read(&from).map_err(|error| ImportError::unreadable(&from, &error))?;
    let bytes: &[u8] = &bytes;
    let mut locations = Vec::new();
    let note = &mut |definition: Definition<'_>| {
        if let Definition::Location(it) = definition {
            locations.push(it.id);
        }
    };
    let read = codec::read_definitions(bytes, anchor.definition_chunk_size, Scope::Global, note);
    let read = read.map_err(codec_error(&from))?;
    if read.definitions == 0 {
        report_damage(&from, &read.damage, &mut copy.quality);
        return Err(nothing(&copy.quality));
    }
    locations.sort_unstable();
    locations.dedup();
    let copied = job.to_file(&from, &format!("{name}.def"), &mut copy.quality, |to| {
        transcode::definitions(bytes, anchor.definition_chunk_size, out.definition_chunk_size, Scope::Global, to)
    })?;
    copy.definitions = copied.records;
    let message = "names of nodes, regions or files are not defined; the copy calls them (undefined)";
    copy.quality.add(
        Diagnostic::info(Code::UnnamedDefinitions, message, "the .def file is damaged: copy the archive again")
            .times(copied.unnamed),
    );

    let (mut is_lost, mut has_statistics) = (false, false);
    let parts: Vec<Result<Part, CopyError>> =
        locations.par_iter().map(|id| job.location(*id, &format!("{name}/{id}"))).collect();
    for part in parts {
        let part = part?;
        copy.events += part.events;
        has_statistics |= part.has_statistics;
        is_lost |= part.quality.entries().iter().any(|entry| entry.severity != Severity::Info);
        copy.quality.merge(part.quality);
    }
    copy.locations = locations.len() as u64;
    if copy.events == 0 && !has_statistics && is_lost {
        // Without its anchor file, what was written so far is no archive.
        return Err(nothing(&copy.quality));
    }

    let marker = format!("{}.marker", archive.name);
    job.rare_file(&marker, &format!("{name}.marker"), &mut copy.quality, |bytes, to| {
        transcode::markers(bytes, anchor.definition_chunk_size, out.definition_chunk_size, to)
    })?;
    // They are numbered without gaps; how many the anchor file claims need not be true.
    let mut thumbnails = 0;
    while thumbnails < anchor.thumbnails {
        let from = format!("{}.{thumbnails}.thumb", archive.name);
        if !job.rare_file(&from, &format!("{name}.{thumbnails}.thumb"), &mut copy.quality, transcode::thumbnail)? {
            let missing = u64::from(anchor.thumbnails - thumbnails);
            let remedy = "the anchor file is damaged, or the archive was not copied whole";
            copy.quality
                .add(Diagnostic::data_loss(Code::MissingThumbnails, "thumbnails are missing", remedy).times(missing));
            break;
        }
        thumbnails += 1;
    }
    let out = Anchor { global_definitions: copy.definitions, locations: copy.locations, thumbnails, ..out.clone() };
    job.write(to_anchor, &out.write())?;
    Ok(copy)
}

/// What was copied of a location.
struct Part {
    events: u64,
    has_statistics: bool,
    quality: Quality,
}

/// What the copies of single files share.
struct Job<'a> {
    archive: &'a Archive<'a>,
    from: &'a Anchor,
    to: &'a Anchor,
    sink: &'a dyn Sink,
}

impl Job<'_> {
    /// Copies the files of a location that exist.
    fn location(&self, id: u64, to: &str) -> Result<Part, CopyError> {
        let from = format!("{}/{id}", self.archive.name);
        let mut quality = Quality::default();
        let mut events = 0;
        for kind in ["def", "evt", "snap"] {
            let (from, to) = (format!("{from}.{kind}"), format!("{to}.{kind}"));
            let unread = |error| ImportError::unreadable(&from, &error);
            let (events_from, events_to) = (self.from.event_chunk_size, self.to.event_chunk_size);
            if kind == "evt" {
                let file = match self.archive.open(&from) {
                    Ok(file) => file,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(unread(error).into()),
                };
                let mut pieces = Pieces::new(file.as_ref(), 0..u64::MAX, events_from);
                let copied = self.to_file(&from, &to, &mut quality, |sink| {
                    let next: &mut transcode::NextChunk<'_> = &mut |read| pieces.read().is_some_and(read);
                    transcode::events_of(next, events_from, events_to, sink)
                })?;
                if let Some(error) = pieces.failed {
                    return Err(unread(error).into());
                }
                events = copied.records;
                continue;
            }
            let bytes = match self.archive.read(&from) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(unread(error).into()),
            };
            self.to_file(&from, &to, &mut quality, |sink| match kind {
                "def" => {
                    let (from, to) = (self.from.definition_chunk_size, self.to.definition_chunk_size);
                    transcode::definitions(&bytes, from, to, Scope::Local, sink)
                }
                _ => transcode::snapshots(&bytes, events_from, events_to, sink),
            })?;
        }
        // Statistics are partune's own, never compressed, and name things by global ids only.
        let statistics = self.rare(&format!("{from}.stat"))?;
        let has_statistics = statistics.is_some();
        if let Some(bytes) = statistics {
            self.write(&format!("{to}.stat"), &bytes)?;
        }
        Ok(Part { events, has_statistics, quality })
    }

    /// Writes one file with what `copy` hands out, chunk by chunk.
    fn to_file(
        &self,
        from: &str,
        to: &str,
        quality: &mut Quality,
        copy: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<Copied, CodecError>,
    ) -> Result<Copied, CopyError> {
        let failed = |error| CopyError::Write { name: to.to_owned(), error };
        let mut file = self.sink.create(to).map_err(failed)?;
        let mut written = Ok(());
        let copied = copy(&mut |chunk| {
            if written.is_ok() {
                written = file.write_all(chunk);
            }
        })
        .map_err(codec_error(from))?;
        written.and_then(|()| file.flush()).map_err(failed)?;
        report_damage(from, &copied.damage, quality);
        Ok(copied)
    }

    /// Copies a marker or thumbnail file, which are never compressed; whether it exists.
    fn rare_file(
        &self,
        from: &str,
        to: &str,
        quality: &mut Quality,
        copy: impl FnOnce(&[u8], &mut dyn FnMut(&[u8])) -> Result<Copied, CodecError>,
    ) -> Result<bool, CopyError> {
        let Some(bytes) = self.rare(from)? else { return Ok(false) };
        self.to_file(from, to, quality, |sink| copy(&bytes, sink)).map(|_| true)
    }

    /// A file that is never compressed, if it is there.
    fn rare(&self, name: &str) -> Result<Option<Vec<u8>>, CopyError> {
        match self.archive.files.open(name).and_then(|file| read_all(file.as_ref())) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ImportError::unreadable(name, &error).into()),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), CopyError> {
        let write = || {
            let mut file = self.sink.create(name)?;
            file.write_all(bytes)?;
            file.flush()
        };
        write().map_err(|error| CopyError::Write { name: name.to_owned(), error })
    }
}

/// Nothing was read, and why: the worst of what was noticed, the first of those.
fn nothing(quality: &Quality) -> CopyError {
    let worst = quality.entries().iter().rev().max_by_key(|entry| entry.severity);
    CopyError::Nothing { noticed: worst.map_or_else(|| "it is empty".to_owned(), |entry| entry.message.clone()) }
}

fn codec_error(name: &str) -> impl FnOnce(CodecError) -> CopyError {
    let name = name.to_owned();
    move |error| CopyError::Codec { name, error }
}
