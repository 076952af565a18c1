//! `partune report`: an archive in, one HTML file out that a colleague can read without partune.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use partune_engine::{Options, Request};
use partune_pages::{Runs, Sources};

use crate::commands::history;
use crate::commands::reading::Reading;
use crate::commands::runs;
use crate::commands::thresholds::Thresholds;
use crate::output;
use crate::progress::Bar;

/// Write what `view` shows of a run into one HTML file that needs no network: summary, findings, pictures.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune report scorep_run/traces.otf2 -o run.html\n  partune report --history nightly -o public"
)]
pub(crate) struct Args {
    /// The archive: its anchor file (traces.otf2), or the folder that holds it; of several runs there, the one with the median run time
    #[arg(required_unless_present = "history")]
    archive: Option<PathBuf>,
    /// The file to write, report.html without this; of --history the folder, history without this. Pages that are there are replaced
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write pages on the revisions of a program instead: in this folder lies a folder for each, with an archive or those that record --repeat made
    #[arg(long, value_name = "FOLDER", conflicts_with = "archive")]
    history: Option<PathBuf>,
    /// Write the text of source files that lie in this folder into the report, those whose lines cost most; may be given several times
    #[arg(long, value_name = "FOLDER")]
    source: Vec<PathBuf>,
    /// What operations need on the machine of the run: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    thresholds: Thresholds,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let sources = Sources::new(&args.source)
        .context("cannot show source files\n  remedy: give folders that are there with --source")?;
    let machine = args.machine.as_deref().map(partune_engine::read_machine).transpose()?;
    let options = Options { machine, ..args.thresholds.options() };
    let archives = args.archive.iter().chain(&args.history).cloned().collect::<Vec<_>>();
    let (request, selection) = (Request { draws: true, ..args.reading.asked(options)? }, args.reading.selection());
    let room = args.reading.resources().limit()?;
    let tell = || room.map_or(Ok(()), |room| room.tell(&archives));
    if let Some(from) = &args.history {
        tell()?;
        let to = args.output.as_deref().unwrap_or(Path::new("history"));
        return history::run(from, to, &request, &selection, &sources);
    }
    let Some(archive) = &args.archive else { return Ok(()) };
    let output = args.output.as_deref().unwrap_or(Path::new("report.html"));
    replaceable(output)?;
    let bar = Bar::new(false);
    let diagnosis = if let Some(diagnosis) = runs::in_slices(archive, &selection, &request, &bar)? {
        diagnosis
    } else {
        tell()?;
        partune_engine::analyze_piece(runs::open_one(archive, &bar)?, &selection, &request, &bar)?
    };
    drop(bar);
    let findings = diagnosis.findings.len();
    let runs = Runs::of(archive, diagnosis).with_sources(sources);
    let text = partune_pages::report(&runs);
    write(output, &text)?;
    output::print(&format!("{}: {} findings, {} KiB\n", output.display(), findings, text.len().div_ceil(1024)))?;
    // The process ends here: freeing a large trace piece by piece would only keep the user waiting.
    std::mem::forget(runs);
    Ok(())
}

/// Refuses a file that is there and is no page, before the work that would be written over it: it may be the archive.
fn replaceable(path: &Path) -> anyhow::Result<()> {
    const PAGE: &[u8] = b"<!doctype html>";
    let mut begin = Vec::new();
    let mut is_other = || {
        let file = std::fs::File::open(path).map(|file| file.take(PAGE.len() as u64));
        file.and_then(|mut file| file.read_to_end(&mut begin)).is_ok_and(|bytes| bytes > 0 && begin != PAGE)
    };
    if path.is_file() && is_other() { output::absent(path) } else { Ok(()) }
}

/// Writes the file beside its place first, so that nobody sees half of it, and nothing is lost where it cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    replaceable(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).context("-o names no file")?;
    let cannot = || format!("cannot write {}\n  remedy: give another place with -o", path.display());
    let begun = format!("{name}.part");
    let written = partune_engine::create(folder, &begun).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.flush()?;
        std::fs::rename(folder.join(&begun), path)
    });
    if written.is_err() {
        _ = std::fs::remove_file(folder.join(&begun));
    }
    written.with_context(cannot)
}
