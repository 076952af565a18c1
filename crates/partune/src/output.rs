//! The only place that prints.

use std::io::{self, Write};

/// Prints a document. A reader that closes the pipe (`| head`) is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// Tells something about the work, beside the document.
pub(crate) fn note(text: &str) {
    // Nothing can be done if the error stream is closed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Tells what went wrong.
pub(crate) fn error(error: &anyhow::Error) {
    // Nothing can be done if the error stream is closed too.
    let _ = writeln!(io::stderr().lock(), "partune: {error:#}");
}
