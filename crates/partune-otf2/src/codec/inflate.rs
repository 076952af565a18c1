//! The zlib blocks of old archives.
//!
//! For whoever opens an archive whose anchor file says [`Compression::Zlib`]. OTF2 1.x could be built with it; OTF2 3 reads it no longer.
//! Each write of the library became a block: a mark of eight bytes, three sizes of four (compressed, plain, compressed of the block before),
//! then a zlib stream that is flushed but not ended. The sizes are little endian whatever the host; big endian ones are understood too.
//!
//! The library wrote as many bytes after the header as the *plain* data have, so blocks may be followed by bytes without meaning: the next
//! block is looked for at both distances. Source: `OTF2_File.c` and `OTF2_Compression_Zlib.c` of OTF2 as it came with Scalasca 2.5.

use std::borrow::Cow;
use std::ops::Range;

use flate2::{Decompress, FlushDecompress, Status};

use super::anchor::Compression;
use super::error::CodecError;

const MARKS: [[u8; 8]; 2] = [[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0], [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]];
const HEADER: usize = 20;
/// Output grows by this much at a time, whatever a header says.
const STEP: usize = 1 << 16;

/// Plain bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain<'a> {
    /// The bytes; borrowed if nothing was compressed.
    pub bytes: Cow<'a, [u8]>,
    /// Where the block begins at which inflating had to stop.
    pub damaged_at: Option<usize>,
}

/// The plain bytes of an event, definition or snapshot file, at most `limit` of them if they must be inflated.
pub fn plain(bytes: &[u8], compression: Compression, limit: usize) -> Result<Plain<'_>, CodecError> {
    if compression != Compression::Zlib {
        return Ok(Plain { bytes: Cow::Borrowed(bytes), damaged_at: None });
    }
    if !MARKS.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(CodecError::NotCompressed);
    }
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() as u64 {
        let damaged = at as usize;
        let Some(block) = block(at, bytes.len() as u64, &mut |at, into| copy(bytes, at, into)) else {
            return Ok(Plain { bytes: Cow::Owned(out), damaged_at: Some(damaged) });
        };
        let wanted = usize::try_from(block.plain).unwrap_or(usize::MAX);
        if wanted > limit.saturating_sub(out.len()) {
            return Err(CodecError::TooLarge { limit });
        }
        if !inflate(&bytes[block.data.start as usize..block.data.end as usize], wanted, &mut out) {
            if out.is_empty() {
                return Err(CodecError::Inflate { offset: damaged });
            }
            return Ok(Plain { bytes: Cow::Owned(out), damaged_at: Some(damaged) });
        }
        at = block.next;
    }
    Ok(Plain { bytes: Cow::Owned(out), damaged_at: None })
}

/// A block, as its header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where its zlib stream is; cut where the file ends.
    pub data: Range<u64>,
    /// Bytes that come of it.
    pub plain: u64,
    /// Where the next block begins, or the file ends.
    pub next: u64,
}

/// The block at a place of a file of `size` bytes; none if there is none. `read` fills a buffer from a place of the file, and returns how many bytes
/// there were. It is asked for headers only.
pub fn block(at: u64, size: u64, read: &mut dyn FnMut(u64, &mut [u8]) -> usize) -> Option<Block> {
    let mut header = [0; HEADER];
    let after = at.checked_add(HEADER as u64).filter(|after| *after <= size)?;
    if read(at, &mut header) < HEADER || !MARKS.iter().any(|mark| header.starts_with(mark)) {
        return None;
    }
    let rest = size - after;
    let number = |from: usize| {
        let four = header[from..].first_chunk::<4>().copied().unwrap_or_default();
        [u64::from(u32::from_le_bytes(four)), u64::from(u32::from_be_bytes(four))]
    };
    let (compressed, plain) = (number(8), number(12));
    // The order in which the compressed data fit into what is left; little endian if both or neither does.
    let order = usize::from(compressed[0] > rest && compressed[1] <= rest);
    let (compressed, plain) = (compressed[order], plain[order]);
    let data = after..after + compressed.min(rest);
    let mut begins = |at: u64| {
        let mut mark = [0; 8];
        at == size || (at < size && read(at, &mut mark) == mark.len() && MARKS.contains(&mark))
    };
    let ends = [after.saturating_add(compressed), after.saturating_add(plain)];
    let next = ends.into_iter().find(|&end| begins(end)).unwrap_or(ends[0]);
    Some(Block { data, plain, next })
}

/// Bytes from a place, as many as there are.
fn copy(bytes: &[u8], at: u64, into: &mut [u8]) -> usize {
    let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let count = rest.len().min(into.len());
    into[..count].copy_from_slice(&rest[..count]);
    count
}

/// Appends `plain` inflated bytes; whether that many could be had.
fn inflate(data: &[u8], plain: usize, out: &mut Vec<u8>) -> bool {
    let mut stream = Decompress::new(true);
    let end = out.len() + plain;
    let mut step = Vec::new();
    while out.len() < end {
        let used = stream.total_in() as usize;
        step.clear();
        step.reserve_exact(STEP.min(end - out.len()));
        let before = stream.total_out();
        let status = stream.decompress_vec(data.get(used..).unwrap_or_default(), &mut step, FlushDecompress::Sync);
        let wanted = step.len().min(end - out.len());
        out.extend_from_slice(&step[..wanted]);
        let progress = stream.total_out() > before || stream.total_in() as usize > used;
        match status {
            Ok(Status::Ok | Status::BufError) if progress => {}
            _ => break,
        }
    }
    out.len() == end
}
