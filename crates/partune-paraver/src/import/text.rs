//! The files of a trace: the `.prv`, plain or compressed, in pieces; the small ones beside it, whole.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use partune_diag::{Code, Diagnostic, Quality};
use partune_import::{Advance, Contents, Files, ImportError};

use super::reader::Reader;
use crate::codec::{Counts, Header, Scanner};

/// Bytes that are read at once.
const PIECE: usize = 1 << 18;
/// More than this of names is not read: they are for people.
const NAMES: u64 = 1 << 28;

/// The name without `.prv` or `.prv.gz`.
pub(super) fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.strip_suffix(".prv").unwrap_or(name)
}

/// The whole of a file beside the trace; empty if there is none, and `missing` is said.
pub(super) fn beside(files: &dyn Files, name: &str, missing: (&str, &str), quality: &mut Quality) -> Vec<u8> {
    let read = files.open(name).and_then(|file| {
        let mut bytes = Vec::new();
        Source::new(&*file).take(NAMES).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    read.unwrap_or_else(|error| {
        let message = if error.kind() == io::ErrorKind::NotFound {
            format!("there is no {name}: {}", missing.0)
        } else {
            format!("{name} cannot be read ({error}): {}", missing.0)
        };
        quality.add(Diagnostic::info(Code::MissingNames, message, missing.1));
        Vec::new()
    })
}

/// How the text ended.
pub(super) struct End {
    pub(super) counts: Counts,
    /// Why it could not be read further.
    pub(super) failed: Option<io::Error>,
}

/// Whether a file of this name that begins with these bytes is a trace. Of compressed ones only the name says so.
pub(super) fn is_trace(name: &str, head: &[u8]) -> bool {
    head.starts_with(Header::MARK) || head.starts_with(&COMPRESSED) && name.ends_with(".prv.gz")
}

const COMPRESSED: [u8; 2] = [0x1f, 0x8b];

/// Reads all records.
pub(super) fn read(
    files: &dyn Files,
    name: &str,
    reader: &mut Reader<'_>,
    progress: Advance<'_>,
) -> Result<End, ImportError> {
    let unreadable = |error| ImportError::unreadable(name, &error);
    let file = files.open(name).map_err(unreadable)?;
    let mut source = Source::new(&*file);
    let mut magic = [0; 2];
    let compressed = file.read_at(0, &mut magic).map_err(unreadable)? == 2 && magic == COMPRESSED;
    let mut scanner = Scanner::default();
    let ended = if compressed {
        let mut inflated = MultiGzDecoder::new(io::BufReader::with_capacity(PIECE, source));
        pump(&mut inflated, &mut scanner, reader, |inflated| progress(inflated.get_ref().get_ref().at, file.size()))
    } else {
        pump(&mut source, &mut scanner, reader, |source| progress(source.at, file.size()))
    };
    // The last line may have no end.
    let counts = scanner.finish(reader);
    if reader.begun() {
        return Ok(End { counts, failed: ended.err() });
    }
    ended.map_err(unreadable)?;
    let message = "it is not a Paraver trace: its first line does not begin with #Paraver";
    Err(ImportError::damaged(name, message, "give the .prv or .prv.gz file; if it is that, copy it again"))
}

/// Feeds a scanner until the end of the text, or what is no trace.
fn pump<R: Read>(
    text: &mut R,
    scanner: &mut Scanner,
    reader: &mut Reader<'_>,
    progress: impl Fn(&R),
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let count = match text.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        scanner.feed(&piece[..count], reader);
        if reader.refused() {
            return Ok(());
        }
        progress(text);
    }
}

/// A file from its begin to its end.
struct Source<'a> {
    file: &'a dyn Contents,
    at: u64,
}

impl<'a> Source<'a> {
    fn new(file: &'a dyn Contents) -> Source<'a> {
        Source { file, at: 0 }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(self.at, into)?;
        self.at += count as u64;
        Ok(count)
    }
}
