//! Text files, plain or compressed with gzip, in one or several members: read piece by piece, so that no file is in memory as a whole.

use std::io::{self, Read};
use std::ops::ControlFlow;

use flate2::read::MultiGzDecoder;

use crate::files::{Contents, Files};

/// Bytes that are read at once.
const PIECE: usize = 1 << 18;

/// The first bytes of a compressed file.
pub const COMPRESSED: [u8; 2] = [0x1f, 0x8b];

/// Gives all text of a file to `each`, piece by piece in the same buffer, with how many bytes of the file were read so far, until it breaks. Text comes before an error
/// where some could be read.
pub fn read_text(file: &dyn Contents, mut each: impl FnMut(&[u8], u64) -> ControlFlow<()>) -> io::Result<()> {
    let source = Source { file, at: 0 };
    let mut magic = [0; 2];
    if file.read_at(0, &mut magic)? == 2 && magic == COMPRESSED {
        let mut inflated = MultiGzDecoder::new(io::BufReader::with_capacity(PIECE, source));
        pump(&mut inflated, |piece, inflated| each(piece, inflated.get_ref().get_ref().at))
    } else {
        pump(&mut { source }, |piece, source| each(piece, source.at))
    }
}

/// All text of a small file, up to so many bytes.
pub fn read_small_text(files: &dyn Files, name: &str, most: usize) -> io::Result<Vec<u8>> {
    let file = files.open(name)?;
    let mut text = Vec::new();
    read_text(&*file, |piece, _| {
        text.extend_from_slice(&piece[..piece.len().min(most - text.len())]);
        if text.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(text)
}

fn pump<R: Read>(text: &mut R, mut each: impl FnMut(&[u8], &R) -> ControlFlow<()>) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let count = match text.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if each(&piece[..count], text).is_break() {
            return Ok(());
        }
    }
}

/// A file from its begin to its end.
struct Source<'a> {
    file: &'a dyn Contents,
    at: u64,
}

impl Read for Source<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(self.at, into)?;
        self.at += count as u64;
        Ok(count)
    }
}
