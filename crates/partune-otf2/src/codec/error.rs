//! What can be wrong with bytes: as an error where nothing can be read at all, as data where the rest still can.
//!
//! For callers that tell the user what was lost. Offsets count bytes from the start of the buffer that was handed over.

use thiserror::Error;

/// The bytes are of no use, or a record cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CodecError {
    /// The anchor file does not begin as an OTF2 anchor file does.
    #[error("this is not an OTF2 anchor file")]
    NotAnAnchor,
    /// The anchor file ends before its fields do, or a field is broken.
    #[error("the anchor file is damaged at byte {offset}: {flaw}")]
    Anchor {
        /// Where the broken field begins.
        offset: usize,
        /// What is wrong there.
        flaw: Flaw,
    },
    /// The chunk size of the anchor cannot hold a chunk header and a record.
    #[error("a chunk size of {0} bytes cannot hold a record")]
    ChunkSize(u64),
    /// A file of a zlib archive does not begin with a block header.
    #[error("the file is not compressed as its anchor file says")]
    NotCompressed,
    /// A zlib block is damaged, and nothing before it could be inflated.
    #[error("the compressed block at byte {offset} cannot be inflated")]
    Inflate {
        /// Where the block begins.
        offset: usize,
    },
    /// Inflating would take more memory than the caller allows.
    #[error("the inflated file is larger than {limit} bytes")]
    TooLarge {
        /// The bound that the caller set.
        limit: usize,
    },
    /// A record does not fit into one chunk of the size that was asked for.
    #[error("a record of up to {record} bytes does not fit into a chunk of {chunk} bytes")]
    RecordTooLarge {
        /// Upper bound of the size of the record.
        record: u64,
        /// Size of a chunk.
        chunk: u64,
    },
}

/// What is wrong with a record or a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum Flaw {
    /// The bytes end inside it.
    #[error("the data end inside a record")]
    Truncated,
    /// The length byte of a compressed integer is larger than the integer.
    #[error("{0} is no length of a compressed integer")]
    IntegerLength(u8),
    /// The attributes take more bytes than the record has.
    #[error("the attributes exceed the length of their record")]
    Overrun,
    /// A map of ids that is neither dense nor sparse.
    #[error("{0} is no kind of id map")]
    IdMapMode(u8),
    /// A string without its final NUL byte.
    #[error("a string does not end")]
    UnterminatedString,
    /// A buffer that does not begin with a chunk header.
    #[error("this is not a chunk header")]
    ChunkHeader,
    /// An endianness byte that is neither little nor big.
    #[error("{0:#04x} is no endianness")]
    Endianness(u8),
}

/// How the reading of a buffer came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndKind {
    /// The end mark of a chunk that has a successor.
    EndOfChunk,
    /// The end mark of the file.
    EndOfFile,
    /// The bytes ended without an end mark, between two records or inside one: the file was cut, or never finished.
    Exhausted,
    /// The record at `offset` cannot be decoded; what follows it in this buffer is lost.
    Damaged {
        /// Where the record begins, in bytes from the start of the buffer's records.
        offset: usize,
        /// What is wrong with it.
        flaw: Flaw,
    },
}

/// What was lost while a file was read. `Damage::default()` means nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Chunks whose header is broken; all their records are lost.
    pub lost_chunks: u64,
    /// Chunks in which reading stopped at a broken record.
    pub damaged_chunks: u64,
    /// Buffers that ended without an end mark.
    pub truncated_chunks: u64,
    /// Records of a type that this codec does not know.
    pub unknown_records: u64,
    /// Records that a newer version has extended; the extension is lost.
    pub extended_records: u64,
    /// Where in the file the first broken chunk or record begins, and what is wrong with it.
    pub first: Option<(u64, Flaw)>,
}

impl Damage {
    /// Whether nothing was lost.
    pub fn is_none(&self) -> bool {
        *self == Damage::default()
    }

    /// Adds the loss of another part of the same file; the parts must be added in file order.
    pub fn add(&mut self, other: &Damage) {
        self.lost_chunks += other.lost_chunks;
        self.damaged_chunks += other.damaged_chunks;
        self.truncated_chunks += other.truncated_chunks;
        self.unknown_records += other.unknown_records;
        self.extended_records += other.extended_records;
        self.first = self.first.or(other.first);
    }

    /// Counts the end of a buffer whose records begin at byte `base` of the file. True at an orderly end.
    pub(crate) fn end(&mut self, end: EndKind, base: u64) -> bool {
        match end {
            EndKind::EndOfChunk | EndKind::EndOfFile => return true,
            EndKind::Exhausted => self.truncated_chunks += 1,
            EndKind::Damaged { offset, flaw } => {
                self.damaged_chunks += 1;
                self.first = self.first.or(Some((base + offset as u64, flaw)));
            }
        }
        false
    }
}
