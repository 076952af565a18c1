//! The event file of a zlib archive, inflated piece by piece as it is read, so that the memory it takes does not depend on what it claims to hold.
//!
//! Blocks are found by their headers when the file is opened: 48 bytes of memory each. Reading on costs what inflating costs; reading what lies before
//! the place that was read last begins the block anew. Nothing comes of a damaged block, or of what comes after it.

use std::io::{self, ErrorKind};
use std::sync::{Mutex, PoisonError};

use flate2::{Decompress, FlushDecompress, Status};

use crate::codec::CodecError;
use crate::codec::inflate::{Block, block};
use partune_import::{Bytes, Contents};

/// Packed bytes that are read at a time.
const PACKED: usize = 1 << 16;

/// A packed file that is read as if it were plain.
pub(super) struct Inflated {
    file: Bytes,
    blocks: Vec<Placed>,
    size: u64,
    stream: Mutex<Stream>,
}

/// A block, and where what comes of it begins.
struct Placed {
    begin: u64,
    block: Block,
}

/// Where inflating stands.
struct Stream {
    block: usize,
    inflate: Decompress,
    /// Packed bytes that were read, and how many of them were taken.
    packed: Vec<u8>,
    taken: usize,
    /// Place from which on nothing comes: a block there is damaged.
    end: u64,
}

impl Inflated {
    /// Finds the blocks of a file, which may claim to hold `limit` bytes.
    pub(super) fn open(file: Bytes, limit: usize) -> io::Result<Inflated> {
        let invalid = |error: CodecError| io::Error::new(ErrorKind::InvalidData, error);
        let (mut blocks, mut size, mut at) = (Vec::new(), 0_u64, 0);
        let mut failed = None;
        let mut read = |at: u64, into: &mut [u8]| {
            fill(&file, at, into).unwrap_or_else(|error| {
                failed = Some(error);
                0
            })
        };
        while at < file.size() {
            let Some(block) = block(at, file.size(), &mut read) else { break };
            let begin = size;
            size = size.saturating_add(block.plain);
            if size > limit as u64 {
                return Err(invalid(CodecError::TooLarge { limit }));
            }
            at = block.next;
            blocks.push(Placed { begin, block });
        }
        match failed {
            Some(error) => Err(error),
            None if blocks.is_empty() => Err(invalid(CodecError::NotCompressed)),
            None => Ok(Inflated { file, blocks, size, stream: Mutex::new(Stream::of(0, u64::MAX)) }),
        }
    }
}

impl Contents for Inflated {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // Of several at one place all but the last are empty.
        let number = self.blocks.partition_point(|placed| placed.begin <= at).saturating_sub(1);
        let Placed { begin, block } = &self.blocks[number];
        if at >= self.size.min(stream.end) || into.is_empty() {
            return Ok(0);
        }
        if stream.block != number || begin + stream.inflate.total_out() > at {
            *stream = Stream::of(number, stream.end);
        }
        let mut passed = Vec::new();
        while begin + stream.inflate.total_out() < at {
            passed.resize(PACKED.min((at - begin - stream.inflate.total_out()) as usize), 0);
            if stream.next(&self.file, block, &mut passed)? == 0 {
                stream.end = begin + stream.inflate.total_out();
                return Ok(0);
            }
        }
        let rest = (begin + block.plain - at).min(into.len() as u64) as usize;
        let count = stream.next(&self.file, block, &mut into[..rest])?;
        if count == 0 {
            stream.end = at;
            if at == 0 {
                let offset = 0;
                return Err(io::Error::new(ErrorKind::InvalidData, CodecError::Inflate { offset }));
            }
        }
        Ok(count)
    }
}

impl Stream {
    fn of(block: usize, end: u64) -> Stream {
        Stream { block, inflate: Decompress::new(true), packed: Vec::new(), taken: 0, end }
    }

    /// Inflates some more of the block; 0 if nothing more can be had of it.
    fn next(&mut self, file: &Bytes, block: &Block, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.taken == self.packed.len() {
                let at = block.data.start + self.inflate.total_in();
                let want = (block.data.end - at).min(PACKED as u64) as usize;
                self.packed.resize(want, 0);
                let count = fill(file, at, &mut self.packed)?;
                self.packed.truncate(count);
                self.taken = 0;
            }
            let before = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(&self.packed[self.taken..], into, FlushDecompress::Sync);
            let taken = (self.inflate.total_in() - before.0) as usize;
            let count = (self.inflate.total_out() - before.1) as usize;
            self.taken += taken;
            match status {
                _ if count > 0 => return Ok(count),
                Ok(Status::Ok | Status::BufError) if taken > 0 => {}
                Ok(Status::Ok | Status::BufError | Status::StreamEnd) | Err(_) => return Ok(0),
            }
        }
    }
}

/// Fills a buffer from a place, as far as the file goes.
fn fill(file: &Bytes, at: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        match file.read_at(at + done as u64, &mut into[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
