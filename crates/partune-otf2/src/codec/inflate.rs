//! The zlib blocks of old archives.
//!
//! For whoever opens an archive whose anchor file says [`Compression::Zlib`]. OTF2 1.x could be built with it; OTF2 3 reads it no longer.
//! Each write of the library became a block: a mark of eight bytes, three sizes of four (compressed, plain, compressed of the block before),
//! then a zlib stream that is flushed but not ended. The sizes are little endian whatever the host; big endian ones are understood too.
//!
//! The library wrote as many bytes behind the header as the *plain* data have, so blocks may be followed by bytes without meaning: the next
//! block is looked for at both distances. Source: `OTF2_File.c` and `OTF2_Compression_Zlib.c` of OTF2 as it came with Scalasca 2.5.

use std::borrow::Cow;

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
    if !is_block(bytes, 0) {
        return Err(CodecError::NotCompressed);
    }
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Some(block) = Block::read(bytes, at) else {
            return Ok(Plain { bytes: Cow::Owned(out), damaged_at: Some(at) });
        };
        if block.plain > limit.saturating_sub(out.len()) {
            return Err(CodecError::TooLarge { limit });
        }
        if !inflate(block.data, block.plain, &mut out) {
            if out.is_empty() {
                return Err(CodecError::Inflate { offset: at });
            }
            return Ok(Plain { bytes: Cow::Owned(out), damaged_at: Some(at) });
        }
        at = block.next;
    }
    Ok(Plain { bytes: Cow::Owned(out), damaged_at: None })
}

struct Block<'a> {
    data: &'a [u8],
    plain: usize,
    next: usize,
}

fn is_block(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).is_some_and(|rest| MARKS.iter().any(|mark| rest.starts_with(mark)))
}

impl<'a> Block<'a> {
    /// The block at `at`; its data may be cut.
    fn read(bytes: &'a [u8], at: usize) -> Option<Block<'a>> {
        if !is_block(bytes, at) {
            return None;
        }
        let behind = at.checked_add(HEADER)?;
        let sizes = bytes.get(at + 8..behind)?;
        let rest = bytes.get(behind..)?;
        let size = |from: usize| {
            let four = sizes[from..].first_chunk::<4>().copied().unwrap_or_default();
            [u32::from_le_bytes(four) as usize, u32::from_be_bytes(four) as usize]
        };
        let (compressed, plain) = (size(0), size(4));
        // The order in which the compressed data fit into what is left; little endian if both or neither does.
        let order = usize::from(compressed[0] > rest.len() && compressed[1] <= rest.len());
        let (compressed, plain) = (compressed[order], plain[order]);
        let data = rest.get(..compressed).unwrap_or(rest);
        let ends = [behind.saturating_add(compressed), behind.saturating_add(plain)];
        let next = ends.into_iter().find(|&end| is_block(bytes, end) || end == bytes.len()).unwrap_or(ends[0]);
        Some(Block { data, plain, next })
    }
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
