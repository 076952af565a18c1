//! `partune report`: an archive in, one HTML file out that a colleague can read without partune.

use std::path::{Path, PathBuf};

use anyhow::Context;
use partune_engine::{Options, Request};
use partune_pages::Runs;

use crate::commands::operations::OperationsFile;
use crate::commands::piece::Piece;
use crate::commands::runs;
use crate::output;
use crate::progress::Bar;

/// Write what `view` shows of a run into one HTML file that needs no network: summary, findings, pictures.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune report scorep_run/traces.otf2 -o run.html")]
pub(crate) struct Args {
    /// The archive: its anchor file (traces.otf2), or the folder that holds it; of several runs there, the one with the median run time
    archive: PathBuf,
    /// The file to write; one that is there is replaced
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// What operations need on the machine of the run: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Threads to use; 0: one per processor
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Keep time stamps as recorded, even if messages run backwards in time
    #[arg(long)]
    no_clock_repair: bool,
    #[command(flatten)]
    operations: OperationsFile,
    #[command(flatten)]
    piece: Piece,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let machine = args.machine.as_deref().map(partune_engine::read_machine).transpose()?;
    rayon::ThreadPoolBuilder::new().num_threads(args.threads).build_global().context("cannot start threads")?;
    let request = Request {
        options: Options { machine: machine.clone(), operations: args.operations.read()?, ..Options::default() },
        repair_clocks: !args.no_clock_repair,
        ..Request::default()
    };
    let bar = Bar::new(false);
    let opened = runs::open_one(&args.archive, &bar)?;
    let diagnosis = partune_engine::analyze_piece(opened, &args.piece.selection(), &request, &bar)?;
    drop(bar);
    let findings = diagnosis.findings.len();
    let runs = Runs::of(&args.archive, diagnosis, machine);
    let text = partune_pages::report(&runs);
    write(&args.output, &text)?;
    output::print(&format!("{}: {} findings, {} KiB\n", args.output.display(), findings, text.len().div_ceil(1024)))?;
    // The process ends here: freeing a large trace piece by piece would only keep the user waiting.
    std::mem::forget(runs);
    Ok(())
}

/// Writes the file at its place at once, so that nobody sees half of it.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).context("-o names no file")?;
    let cannot = || format!("cannot write {}\n  remedy: give another place with -o", path.display());
    let mut file = partune_engine::create(folder, &name).with_context(cannot)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).with_context(cannot)
}
