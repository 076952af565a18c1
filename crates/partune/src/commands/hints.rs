//! `partune hints`: what the runtime of a program of objects could do better by itself.

use std::path::{Path, PathBuf};

use anyhow::Context;
use partune_report::{hints_document, hints_schema, hints_text};

use crate::commands::resources::Resources;
use crate::commands::runs;
use crate::output;
use crate::progress::Bar;

/// Deduce from a recorded run of objects (Charm++) what its runtime could do better by itself: placement, trees, priorities, pieces, combining.
///
/// What the program is like says what could be done; each hint is then tried on the recorded run, which is executed anew message by message, and is kept if it
/// saves time for certain. Hints name arrays and methods and are symbolic in the numbers of PEs and objects, so they serve other sizes.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune hints recording -o hints.toml\n  partune hints gauss.sts -o hints.toml --program 'charmrun +p4 ./gauss 1000'\n  partune hints recording --explain"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// The archive: its anchor file, or the folder that holds it; of several runs there, the one with the median run time
    #[arg(required_unless_present = "schema", value_name = "ARCHIVE")]
    archive: Option<PathBuf>,
    /// Write the hints to this file, which is written anew; without any that are kept no file is written
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The command that was recorded, for partune run to tell whether hints are of its program; else as the archive has it, or the archive's name
    #[arg(long, value_name = "COMMAND")]
    program: Option<String>,
    /// Say by what hints were found, and why others are not kept
    #[arg(long)]
    explain: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
    /// Tell on stderr how long each stage took
    #[arg(long)]
    timings: bool,
    #[command(flatten)]
    resources: Resources,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.schema {
        return output::print(&hints_schema());
    }
    let archive = args.archive.as_deref().context("no archive given")?;
    args.resources.take(&[archive.to_owned()])?;
    let hinted = {
        let bar = Bar::new(args.timings);
        partune_engine::hints(runs::open_one(archive, &bar)?, args.program.as_deref(), &name(archive), &bar)?
    };
    let found = hinted.objects.as_ref().filter(|it| !it.file.is_empty());
    if let (Some(file), Some(found)) = (&args.output, found) {
        output::write(file, &found.file.to_string())?;
    }
    output::print(&if args.json {
        hints_document(&hinted, &archive.display().to_string())
    } else {
        hints_text(&hinted, args.explain, output::style())
    })
}

/// What an archive is called: a log by its file, a folder by its name.
fn name(archive: &Path) -> String {
    let found = partune_engine::runs(archive).ok().and_then(|runs| runs.into_iter().next());
    let file = found.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let whole = std::path::absolute(archive).unwrap_or_else(|_| archive.to_owned());
    let folder = if whole.is_file() { whole.parent().map(Path::to_owned) } else { Some(whole) };
    let folder = folder.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    // All anchors of OTF2 are called alike.
    file.filter(|stem| stem != "traces").or(folder).unwrap_or_default()
}
