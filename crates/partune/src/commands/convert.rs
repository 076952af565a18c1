//! `partune convert`: one archive into another.

use std::fmt::Write;
use std::path::PathBuf;

use crate::output;

/// Copy an archive, record by record, into an OTF2 archive that every current tool reads.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune convert old/traces.otf2 new")]
pub(crate) struct Args {
    /// The archive to read: its anchor file, or the folder that holds it
    from: PathBuf,
    /// The folder to make, or an anchor file to make (ends in .otf2)
    to: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let converted = partune_engine::convert(&args.from, &args.to)?;
    let mut text = format!(
        "{}: {} events, {} definitions, {} locations\n",
        converted.anchor.display(),
        converted.events,
        converted.definitions,
        converted.locations
    );
    for entry in converted.quality.entries() {
        let _ = writeln!(text, "  {}: {} ({} times)", entry.severity.name(), entry.message, entry.count);
    }
    output::print(&text)
}
