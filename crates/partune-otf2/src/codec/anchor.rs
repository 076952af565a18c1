//! The anchor file: how the other files of an archive are to be read, and who made it.
//!
//! For whoever opens or writes an archive. Later formats only append, so a newer anchor file reads as far as it is known; an older one
//! leaves defaults. Strings need not be UTF-8 in the file; other bytes are replaced.
//!
//! Source: `OTF2_AnchorFile.c` of OTF2 3.0.2.

use super::chunk::{CHUNK_HEADER, END_OF_BUFFER, END_OF_CHUNK, END_OF_FILE, UNCHUNKED_HEADER, unchunked};
use super::cursor::{Cursor, Endian};
use super::error::{CodecError, Flaw};
use super::wire::put_string;

/// Where the files of an archive are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Substrate {
    /// Files of a file system, one or two per location.
    Posix,
    /// Containers of SIONlib, which this codec cannot open.
    Sion,
    /// Nowhere: written to measure the cost of writing.
    None,
    /// Another one.
    Unknown(u8),
}

impl Substrate {
    /// What a byte stands for.
    pub fn from_byte(byte: u8) -> Substrate {
        match byte {
            1 => Substrate::Posix,
            2 => Substrate::Sion,
            3 => Substrate::None,
            other => Substrate::Unknown(other),
        }
    }

    /// The byte that stands for it.
    pub fn byte(self) -> u8 {
        match self {
            Substrate::Posix => 1,
            Substrate::Sion => 2,
            Substrate::None => 3,
            Substrate::Unknown(other) => other,
        }
    }
}

/// How the files other than anchor, markers and thumbnails are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// In zlib blocks; the C library reads them no longer, `inflate` does.
    Zlib,
    /// In another way.
    Unknown(u8),
}

impl Compression {
    /// What a byte stands for.
    pub fn from_byte(byte: u8) -> Compression {
        match byte {
            1 => Compression::None,
            2 => Compression::Zlib,
            other => Compression::Unknown(other),
        }
    }

    /// The byte that stands for it.
    pub fn byte(self) -> u8 {
        match self {
            Compression::None => 1,
            Compression::Zlib => 2,
            Compression::Unknown(other) => other,
        }
    }
}

/// The content of an anchor file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Format of the anchor file itself; 3 is the newest known.
    pub anchor_format: u8,
    /// Format of the records; 2 for OTF2 1.0 to 3.1.
    pub trace_format: u8,
    /// Version of the library that wrote the archive: major, minor, bugfix.
    pub version: [u8; 3],
    /// Bytes of a chunk of an event or snapshot file.
    pub event_chunk_size: u64,
    /// Bytes of a chunk of a definition file.
    pub definition_chunk_size: u64,
    /// Where the files are.
    pub substrate: Substrate,
    /// How they are compressed.
    pub compression: Compression,
    /// Number of locations.
    pub locations: u64,
    /// Number of records in the global definition file.
    pub global_definitions: u64,
    /// Name of the machine.
    pub machine: String,
    /// Name of the program that wrote the archive.
    pub creator: String,
    /// What the archive is.
    pub description: String,
    /// Names and values, from format 2 on.
    pub properties: Vec<(String, String)>,
    /// Identifies the archive, from format 2 on.
    pub trace_id: u64,
    /// Number of snapshots, from format 3 on.
    pub snapshots: u32,
    /// Number of thumbnails, from format 3 on.
    pub thumbnails: u32,
}

/// As the C library writes it by default: formats of OTF2 3.0, chunks of 1 MiB and 4 MiB, everything else empty.
impl Default for Anchor {
    fn default() -> Self {
        Anchor {
            anchor_format: ANCHOR_FORMAT,
            trace_format: 2,
            version: [3, 0, 0],
            event_chunk_size: 1 << 20,
            definition_chunk_size: 4 << 20,
            substrate: Substrate::Posix,
            compression: Compression::None,
            locations: 0,
            global_definitions: 0,
            machine: String::new(),
            creator: String::new(),
            description: String::new(),
            properties: Vec::new(),
            trace_id: 0,
            snapshots: 0,
            thumbnails: 0,
        }
    }
}

/// The newest format of anchor files that is known.
pub const ANCHOR_FORMAT: u8 = 3;

const MAGIC: &[u8] = b"OTF2";

impl Anchor {
    /// Reads an anchor file. Bytes after the known fields are ignored, and the end mark is not required.
    pub fn read(bytes: &[u8]) -> Result<Anchor, CodecError> {
        let chunk = unchunked(bytes).map_err(|_| CodecError::NotAnAnchor)?;
        let mut at = Cursor::new(chunk.bytes, chunk.endian);
        if at.string() != Ok(MAGIC) {
            return Err(CodecError::NotAnAnchor);
        }
        let mut field = at;
        Anchor::fields(&mut at, &mut field)
            .map_err(|flaw| CodecError::Anchor { offset: UNCHUNKED_HEADER + field.pos(), flaw })
    }

    /// Reads what follows the magic; `field` is left at the field that was being read.
    fn fields<'a>(at: &mut Cursor<'a>, field: &mut Cursor<'a>) -> Result<Anchor, Flaw> {
        let mut next = |at: &Cursor<'a>| *field = *at;
        let mut anchor = Anchor {
            anchor_format: at.u8()?,
            trace_format: at.u8()?,
            version: [at.u8()?, at.u8()?, at.u8()?],
            ..Anchor::default()
        };
        next(at);
        anchor.event_chunk_size = at.u64()?;
        anchor.definition_chunk_size = at.u64()?;
        anchor.substrate = Substrate::from_byte(at.u8()?);
        anchor.compression = Compression::from_byte(at.u8()?);
        anchor.locations = at.u64()?;
        anchor.global_definitions = at.u64()?;
        next(at);
        anchor.machine = text(at)?;
        next(at);
        anchor.creator = text(at)?;
        next(at);
        anchor.description = text(at)?;
        next(at);
        if anchor.anchor_format >= 2 {
            // Each property takes at least two bytes, so this ends with the bytes whatever the count says.
            for _ in 0..at.u32()? {
                next(at);
                anchor.properties.push((text(at)?, text(at)?));
            }
            next(at);
            anchor.trace_id = at.u64()?;
        }
        if anchor.anchor_format >= 3 {
            anchor.snapshots = at.u32()?;
            anchor.thumbnails = at.u32()?;
        }
        Ok(anchor)
    }

    /// The anchor file, little endian, in the newest known format whatever `anchor_format` says.
    pub fn write(&self) -> Vec<u8> {
        let mut to = vec![CHUNK_HEADER, Endian::Little.byte()];
        put_string(&mut to, MAGIC);
        to.extend([ANCHOR_FORMAT, self.trace_format]);
        to.extend(self.version);
        to.extend(self.event_chunk_size.to_le_bytes());
        to.extend(self.definition_chunk_size.to_le_bytes());
        to.extend([self.substrate.byte(), self.compression.byte()]);
        to.extend(self.locations.to_le_bytes());
        to.extend(self.global_definitions.to_le_bytes());
        for text in [&self.machine, &self.creator, &self.description] {
            put_string(&mut to, text.as_bytes());
        }
        to.extend((self.properties.len() as u32).to_le_bytes());
        for (name, value) in &self.properties {
            put_string(&mut to, name.as_bytes());
            put_string(&mut to, value.as_bytes());
        }
        to.extend(self.trace_id.to_le_bytes());
        to.extend(self.snapshots.to_le_bytes());
        to.extend(self.thumbnails.to_le_bytes());
        to.extend([END_OF_FILE, END_OF_BUFFER, END_OF_CHUNK]);
        to
    }
}

fn text(at: &mut Cursor<'_>) -> Result<String, Flaw> {
    at.string().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}
