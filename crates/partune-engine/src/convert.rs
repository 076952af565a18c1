//! From one archive to another.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use partune_diag::Quality;
use partune_otf2::copy::{CopyError, Sink, copy};
use partune_otf2::export::{ExportError, Exported, export};
use partune_trace::Trace;
use thiserror::Error;

use crate::Progress;
use crate::files::Folder;
use crate::formats::{self, OpenError, name};

/// Why an archive cannot be converted.
#[derive(Debug, Error)]
pub enum ConvertError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("{}: there is an archive already\n  remedy: give a folder that does not exist, or remove it first", .0.display())]
    Exists(PathBuf),
    #[error("{}: {error}", path.display())]
    Copy { path: PathBuf, error: CopyError },
    #[error("{}: {error}", path.display())]
    Export { path: PathBuf, error: ExportError },
}

/// What was written.
#[derive(Debug)]
pub struct Converted {
    /// The anchor file of the new archive.
    pub anchor: PathBuf,
    pub events: u64,
    pub definitions: u64,
    pub locations: u64,
    /// What could not be converted.
    pub quality: Quality,
}

/// Makes an OTF2 archive in a folder, or with an anchor file that ends in `.otf2`: little endian, uncompressed, complete. An OTF2 archive is
/// copied record by record; of any other format, what the event model holds is written.
pub fn convert(from: &Path, to: &Path, progress: &dyn Progress) -> Result<Converted, ConvertError> {
    let entry = formats::entry(from)?;
    let format = formats::detect(&entry)?;
    let (target, anchor) = Target::of(to)?;
    if format.name == partune_otf2::import::FORMAT.name {
        let copied = copy(&Folder::of(&entry), &name(&entry), &target, &name(&anchor))
            .map_err(|error| ConvertError::Copy { path: entry, error })?;
        let (events, definitions, locations) = (copied.events, copied.definitions, copied.locations);
        return Ok(Converted { anchor, events, definitions, locations, quality: copied.quality });
    }
    let trace = crate::inside::read(&entry, progress)?;
    let mut written = exported(&trace, &target, anchor).map_err(|error| ConvertError::Export { path: entry, error })?;
    let mut quality = trace.quality().clone();
    quality.merge(std::mem::take(&mut written.quality));
    Ok(Converted { quality, ..written })
}

/// Writes a trace as an OTF2 archive, likewise.
pub fn write(trace: &Trace, to: &Path) -> Result<Converted, ConvertError> {
    let (target, anchor) = Target::of(to)?;
    exported(trace, &target, anchor.clone()).map_err(|error| ConvertError::Export { path: anchor, error })
}

fn exported(trace: &Trace, target: &Target, anchor: PathBuf) -> Result<Converted, ExportError> {
    let Exported { events, definitions, locations, quality } = export(trace, target, &name(&anchor))?;
    Ok(Converted { anchor, events, definitions, locations, quality })
}

/// Creates a file in a folder, and the folders around it.
pub fn create(folder: &Path, name: &str) -> io::Result<Box<dyn Write + Send>> {
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    Ok(Box::new(BufWriter::with_capacity(1 << 16, File::create(path)?)))
}

/// The folder of a new archive.
pub(crate) struct Target {
    path: PathBuf,
}

impl Target {
    /// With the path of the anchor file; there must not be one.
    fn of(to: &Path) -> Result<(Target, PathBuf), ConvertError> {
        let anchor = if to.extension().is_some_and(|it| it == "otf2") { to.to_owned() } else { to.join("traces.otf2") };
        if anchor.exists() {
            return Err(ConvertError::Exists(anchor));
        }
        Ok((Target { path: anchor.parent().unwrap_or(Path::new("")).to_owned() }, anchor))
    }
}

impl Sink for Target {
    fn create(&self, name: &str) -> io::Result<Box<dyn Write + Send>> {
        create(&self.path, name)
    }
}
