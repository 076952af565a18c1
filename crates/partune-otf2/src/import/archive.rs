//! The files of an archive: its anchor, and what lies beside it for each location.

use std::io;

use partune_base::PeId;
use partune_diag::{Code, Diagnostic, Quality};
use partune_import::{Bytes, Files, ImportError, read_all};
use partune_trace::TraceBuilder;

use super::clock::LocationClock;
use super::definitions::Definitions;
use super::inflated::Inflated;
use super::mappings::Mappings;
use super::report::report_damage;
use super::tables;
use crate::codec::{self, Anchor, Compression, Scope, Substrate};

/// Bytes that an inflated file may have at most for each byte of the compressed one, and at least: no zlib stream has more.
const INFLATE_FACTOR: usize = 1100;
/// Bytes of an inflated file of definitions, which is in memory as a whole: 1 GiB.
const INFLATED: usize = 1 << 30;

/// Reads an anchor file, and refuses archives whose files we cannot open.
pub(crate) fn read_anchor(files: &dyn Files, name: &str) -> Result<Anchor, ImportError> {
    let read = files.open(name).and_then(|file| read_all(file.as_ref()));
    let bytes = read.map_err(|error| ImportError::unreadable(name, &error))?;
    let remedy = "give the archive's anchor file (usually traces.otf2)";
    let anchor = Anchor::read(&bytes).map_err(|error| ImportError::damaged("", error.to_string(), remedy))?;
    match anchor.substrate {
        Substrate::Posix => Ok(anchor),
        Substrate::Sion => Err(ImportError::unsupported(
            "the archive lies in SION containers, which partune does not read",
            "record with the POSIX substrate (SCOREP_TRACING_USE_SION=false), or unpack it with the SION tools",
        )),
        Substrate::None => Err(ImportError::unsupported(
            "the archive was written to nowhere (substrate NONE): there are no events",
            "",
        )),
        Substrate::Unknown(byte) => {
            Err(ImportError::unsupported(format!("the archive uses substrate {byte}, which partune does not know"), ""))
        }
    }
}

/// An archive that is being read.
pub(crate) struct Archive<'a> {
    pub(crate) files: &'a dyn Files,
    /// The name of its anchor without `.otf2`: its other files begin with it.
    pub(crate) name: &'a str,
    anchor: Anchor,
}

/// What is known of a location before its events are read.
pub(super) struct Location {
    pub(super) pe: PeId,
    /// The main PE of its process.
    pub(super) main: PeId,
    pub(super) process: u32,
    pub(super) mappings: Mappings,
    pub(super) clock: LocationClock,
    /// Bytes of its event file; none if it cannot be read.
    pub(super) event_bytes: Option<u64>,
    /// The name of that file.
    pub(super) events: String,
    /// Number of events by its definition.
    pub(super) announced: u64,
    /// Faults that were found outside of records.
    pub(super) faults: Vec<Diagnostic>,
}

impl<'a> Archive<'a> {
    pub(crate) fn new(files: &'a dyn Files, anchor_name: &'a str, anchor: Anchor) -> Archive<'a> {
        Archive { files, name: anchor_name.strip_suffix(".otf2").unwrap_or(anchor_name), anchor }
    }

    /// An event file, which has plain bytes for whoever reads it, from its begin on.
    pub(crate) fn open(&self, name: &str) -> io::Result<Bytes> {
        let file = self.files.open(name)?;
        if !self.is_packed() || file.size() == 0 {
            return Ok(file);
        }
        let limit = inflated_limit(usize::try_from(file.size()).unwrap_or(usize::MAX));
        Ok(std::sync::Arc::new(Inflated::open(file, limit)?))
    }

    /// The plain bytes of a file of definitions or snapshots.
    pub(crate) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let bytes = read_all(self.files.open(name)?.as_ref())?;
        if self.is_packed() { self.inflate(&bytes) } else { Ok(bytes) }
    }

    /// Whether files have to be inflated from their begin on.
    pub(super) fn is_packed(&self) -> bool {
        self.anchor.compression == Compression::Zlib
    }

    fn inflate(&self, packed: &[u8]) -> io::Result<Vec<u8>> {
        let limit = inflated_limit(packed.len()).min(INFLATED);
        // A block that cannot be inflated ends the plain bytes early; the decoder then reports that the file is cut.
        match codec::inflate::plain(packed, self.anchor.compression, limit) {
            Ok(plain) => Ok(plain.bytes.into_owned()),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }

    /// Opens the files of a location.
    pub(super) fn location(
        &self,
        pe: PeId,
        location: &tables::DefinedLocation,
        definitions: &Definitions,
        builder: &TraceBuilder,
    ) -> Location {
        let mut mappings = Mappings::default();
        let mut faults = Vec::new();
        let name = format!("{}/{}.def", self.name, location.archive_id);
        match self.read(&name) {
            Ok(bytes) => {
                let read = codec::read_definitions(
                    &bytes,
                    self.anchor.definition_chunk_size,
                    Scope::Local,
                    &mut |definition| mappings.add(&definition),
                );
                let mut quality = Quality::default();
                if let Ok(outcome) = read {
                    report_damage(&name, &outcome.damage, &mut quality);
                }
                faults.extend(quality.entries().iter().cloned());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                faults.push(Diagnostic::error(Code::DamagedFile, format!("{name}: {error}"), "copy the archive again"));
            }
        }
        let name = format!("{}/{}.evt", self.name, location.archive_id);
        let event_bytes = match self.open(&name) {
            Ok(file) => Some(file.size()),
            Err(error) => {
                if location.events > 0 || error.kind() != io::ErrorKind::NotFound {
                    let message = format!("event files cannot be read: {}", plain_error(&error));
                    faults.push(Diagnostic::data_loss(
                        Code::MissingFile,
                        message,
                        "copy the whole archive, with the folder beside the anchor file",
                    ));
                }
                None
            }
        };
        let unusable = codec::check_size(self.anchor.event_chunk_size).err();
        if let Some(error) = unusable.filter(|_| event_bytes.is_some()) {
            let message = format!("event files cannot be read: {error}");
            faults.push(Diagnostic::error(
                Code::DamagedFile,
                message,
                "the anchor file is damaged; copy the archive again",
            ));
        }
        let clock = LocationClock::new(std::mem::take(&mut mappings.offsets), definitions.global_offset);
        let process = builder.pes[pe].process.0;
        let main = builder.main_of(pe);
        Location { pe, main, process, mappings, clock, event_bytes, events: name, announced: location.events, faults }
    }
}

/// What a file of so many bytes may hold at most.
fn inflated_limit(packed: usize) -> usize {
    packed.saturating_mul(INFLATE_FACTOR).saturating_add(1 << 20)
}

/// An error without the name of the file, so that equal ones are counted together.
fn plain_error(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound { "they are missing".to_owned() } else { error.to_string() }
}
