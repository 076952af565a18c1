//! From Projections logs to a trace of the event model.
//!
//! Three steps. The symbol table says what numbers mean ([`tables`]), and which logs there are is tried ([`logs`]). The logs are a source whose parts are PEs: in
//! parallel, each becomes a segment of visits and rows ([`decode`]), with what a PE says of its messages kept beside. When all are read, messages are put together
//! ([`messages`]), since only who got one says whom it was for, and objects are numbered ([`objects`]).
//!
//! Nothing here fails on damage: what cannot be read is reported in the trace's quality. Only an entry that cannot be opened, or of which there is no log, is an error.

mod acts;
mod decode;
mod kept;
mod logs;
mod messages;
mod objects;
mod reductions;
mod report;
mod source;
mod tables;
mod timeline;

use partune_import::{Advance, COMPRESSED, Files, Format, ImportError};
use partune_trace::{Trace, TraceBuilder};

use source::Logs;

/// Projections logs, by their symbol table or by any of them.
pub const FORMAT: Format = Format {
    name: "Projections",
    endings: &[".sts"],
    // Those of summaries and of counts.
    others: &[".sum.sts", ".count.sts"],
    detect,
    open: import,
    slices: None,
    around: None,
};

/// How every log begins.
const LOG: &[u8] = b"PROJECTIONS-RECORD";

/// Whether a file of this name that begins with these bytes is a symbol table or a log. Of compressed logs only the name says so.
fn detect(name: &str, head: &[u8]) -> bool {
    let is_table = [&b"PROJECTIONS_ID"[..], b"VERSION "].iter().any(|begin| head.starts_with(begin));
    FORMAT.is_entry(name) && is_table
        || logs::of_log(name).is_some() && (head.starts_with(LOG) || head.starts_with(&COMPRESSED))
}

/// Imports the logs that an entry belongs to: the symbol table `PROGRAM.sts`, or a log `PROGRAM.PE.log`, plain or compressed. `progress` gets bytes of logs done and in
/// all.
///
/// Cost: linear in records, but for putting messages in order. Memory: that of the trace, and about 100 bytes a message while it is made; of the text only a piece for
/// each thread. The result does not depend on the number of threads.
pub fn import(files: &dyn Files, name: &str, progress: Advance<'_>) -> Result<Trace, ImportError> {
    let mut builder = TraceBuilder { resolution: 1_000_000, ..TraceBuilder::default() };
    let found = logs::find(files, name, &mut builder.quality)?;
    let tables = tables::build(&found, &mut builder);
    Ok(partune_import::read(Logs::new(files, found.logs, tables, found.end), builder, progress))
}
