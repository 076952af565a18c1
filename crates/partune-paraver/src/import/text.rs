//! The files of a trace: the `.prv`, plain or compressed, in pieces; the small ones beside it, whole.

use std::io;
use std::ops::ControlFlow;

use partune_diag::{Code, Diagnostic, Quality};
use partune_import::{Advance, COMPRESSED, Files, ImportError, read_small_text, read_text};

use super::reader::Reader;
use crate::codec::{Counts, Header, Scanner};

/// More than this of names is not read: they are for people.
const NAMES: usize = 1 << 28;

/// The name without `.prv` or `.prv.gz`.
pub(super) fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.strip_suffix(".prv").unwrap_or(name)
}

/// The whole of a file beside the trace; empty if there is none, and `missing` is said.
pub(super) fn beside(files: &dyn Files, name: &str, missing: (&str, &str), quality: &mut Quality) -> Vec<u8> {
    read_small_text(files, name, NAMES).unwrap_or_else(|error| {
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

/// Reads all records.
pub(super) fn read(
    files: &dyn Files,
    name: &str,
    reader: &mut Reader<'_>,
    progress: Advance<'_>,
) -> Result<End, ImportError> {
    let unreadable = |error| ImportError::unreadable(name, &error);
    let file = files.open(name).map_err(unreadable)?;
    let mut scanner = Scanner::default();
    let ended = read_text(&*file, |piece, at| {
        scanner.feed(piece, reader);
        progress(at, file.size());
        if reader.refused() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    // The last line may have no end.
    let counts = scanner.finish(reader);
    if reader.begun() {
        return Ok(End { counts, failed: ended.err() });
    }
    ended.map_err(unreadable)?;
    let message = "it is not a Paraver trace: its first line does not begin with #Paraver";
    Err(ImportError::damaged(name, message, "give the .prv or .prv.gz file; if it is that, copy it again"))
}
