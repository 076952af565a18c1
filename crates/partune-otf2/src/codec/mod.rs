//! The bytes of an OTF2 archive and the records in them, in both directions.
//!
//! For the importer, the exporter and `partune convert`. This module knows OTF2's records and nothing of what they mean: no event model,
//! no files, no threads. The caller reads a file, or a chunk of it, and hands over the bytes; what comes out borrows from them.
//!
//! Constraints, held by tests and fuzz targets:
//!
//! * no panic on any input, and no allocation that is sized by a number in the input before the bytes after it were seen;
//! * damage is data: a reader says where it stopped and why, and what it read before is right;
//! * endianness belongs to a buffer, so a file may mix both; unknown records are skipped by their length and counted; attributes that a
//!   record lacks at its end are those that a later version of the format added, and stay `None`.
//!
//! | to | use |
//! |---|---|
//! | read the anchor file | [`Anchor::read`] |
//! | get plain bytes of a file of a zlib archive | [`inflate::plain`] |
//! | split a file into chunks | [`chunks`], or [`chunk`] where only one is in memory |
//! | decode the events of a chunk | [`read_chunk`] with an [`EventVisitor`] |
//! | decode definitions | [`read_definitions`] |
//! | translate local ids | [`IdMap`] |
//! | write | [`Anchor::write`], [`EventWriter`], [`DefinitionWriter`] |
//! | copy an archive's files record by record | [`transcode`] |
//!
//! Source: the layout that OTF2 1.0 to 3.1 write (trace format 2), as the C library 3.0.2 reads and writes it.

pub mod anchor;
pub mod attic;
pub mod attributes;
pub mod chunk;
pub mod cursor;
pub mod definition;
pub mod definitions;
pub mod error;
pub mod event;
pub mod event_writer;
pub mod events;
pub mod idmap;
pub mod inflate;
pub mod marker;
pub mod numbers;
mod output;
mod record;
pub mod snapshot;
pub mod thumbnail;
pub mod transcode;
pub mod view;
pub mod wire;

pub use anchor::{Anchor, Compression, Substrate};
pub use attributes::{Attribute, AttributeList, Value};
pub use chunk::{Chunk, ChunkDamage, check_size, chunk, chunks, unchunked};
pub use cursor::Endian;
pub use definition::Definition;
pub use definitions::{DefinitionWriter, Scope, read_definitions};
pub use error::{CodecError, Damage, EndKind, Flaw};
pub use event::Event;
pub use event_writer::EventWriter;
pub use events::{ChunkOutcome, EventVisitor, read_chunk};
pub use idmap::{IdMap, Mapping};
