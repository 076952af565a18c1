//! `partune convert`: one archive into another, a time line for a browser, or tables.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use partune_engine::{Diagnosis, Options, Request};
use partune_report::words;

use crate::commands::resources::Resources;
use crate::commands::runs::open_one;
use crate::output;
use crate::progress::Bar;

/// Convert to OTF2, Perfetto JSON or Parquet.
///
/// What is made follows from the name: a folder or NAME.otf2 is an OTF2 archive that every current tool reads, of an OTF2 archive copied record by
/// record, of any other format all that partune knows of it; NAME.json
/// is a time line in Chrome's trace format, for ui.perfetto.dev and chrome://tracing, NAME.json.gz the same packed. With --parquet it is a folder of Parquet tables:
/// operations, findings, profile.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune convert old/traces.otf2 new\n  partune convert run/traces.otf2 run.json\n  \
                  partune convert run/traces.otf2 --parquet tables"
)]
pub(crate) struct Args {
    /// The archive to read: its anchor file, or the folder that holds it
    from: PathBuf,
    /// What to make: a folder, NAME.otf2, NAME.json or NAME.json.gz
    #[arg(required_unless_present = "parquet")]
    to: Option<PathBuf>,
    /// Make Parquet tables in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "to")]
    parquet: Option<PathBuf>,
    #[command(flatten)]
    resources: Resources,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    args.resources.take(std::slice::from_ref(&args.from))?;
    match (&args.parquet, &args.to) {
        (Some(folder), _) => tables(&args.from, folder),
        (None, Some(to)) => match kind(to)? {
            Kind::TimeLine { packed } => time_line(&args.from, to, packed),
            Kind::Archive => archive(&args.from, to),
        },
        (None, None) => bail!("nothing to make is named"),
    }
}

/// What can be made, by the extension of its name.
enum Kind {
    Archive,
    TimeLine { packed: bool },
}

/// A name without an extension, with a slash at its end or of a folder that is there, is a folder.
fn kind(to: &Path) -> anyhow::Result<Kind> {
    let is_folder = to.is_dir() || to.as_os_str().as_encoded_bytes().ends_with(b"/");
    let extension = |path: &Path| path.extension().map(|it| it.to_string_lossy().into_owned());
    match extension(to).filter(|_| !is_folder).as_deref() {
        None | Some("otf2") => Ok(Kind::Archive),
        Some("json") => Ok(Kind::TimeLine { packed: false }),
        Some("gz") if extension(&to.with_extension("")).as_deref() == Some("json") => {
            Ok(Kind::TimeLine { packed: true })
        }
        Some(other) => bail!(
            "{}: nothing is known to end in .{other}\n  remedy: name a folder or NAME.otf2 (an OTF2 archive), NAME.json or NAME.json.gz (a time line), \
             or give --parquet FOLDER; a folder with a dot in its name ends in a slash",
            to.display()
        ),
    }
}

fn archive(from: &Path, to: &Path) -> anyhow::Result<()> {
    let bar = Bar::new(false);
    let runs = partune_engine::runs(from)?;
    let is_one = runs.len() == 1;
    let entry = partune_engine::median_entry(runs, &bar)?;
    if !is_one {
        output::note(&format!("partune: one of several runs, the one with the median run time: {}", entry.display()));
    }
    let converted = partune_engine::convert(&entry, to, &bar)?;
    let mut text = format!(
        "{}: {} events, {} definitions, {} locations\n",
        converted.anchor.display(),
        converted.events,
        converted.definitions,
        converted.locations
    );
    for entry in converted.quality.entries() {
        let times = partune_report::times(entry.count);
        let _ = writeln!(text, "  {}: {}{times}", words::severity(entry.severity).1, entry.message);
    }
    output::print(&text)
}

/// Causes and instances of a finding that tables have: all, but of findings with very many.
const DETAILS: usize = 1000;

/// The trace with what was found of these analyses; all if none is named.
fn diagnosis(from: &Path, only: &[&str]) -> anyhow::Result<Diagnosis> {
    let bar = Bar::new(false);
    let only = only.iter().map(|name| (*name).to_owned()).collect();
    let options = Options { details: DETAILS, ..Options::default() };
    Ok(partune_engine::analyze(open_one(from, &bar)?, &Request { only, options, ..Request::default() }, &bar))
}

fn time_line(from: &Path, to: &Path, packed: bool) -> anyhow::Result<()> {
    output::absent(to)?;
    // A time line shows events, not what analyses found; the cheapest one is run.
    let diagnosis = diagnosis(from, &["frequency"])?;
    let name = to.file_name().map(|name| name.to_string_lossy().into_owned()).context("no file is named")?;
    let mut out = partune_engine::create(to.parent().unwrap_or(Path::new("")), &name)
        .with_context(|| format!("cannot write {}", to.display()))?;
    if packed {
        let mut packer = GzEncoder::new(&mut out, Compression::fast());
        partune_report::chrome(&diagnosis, &mut packer)?;
        packer.finish()?;
    } else {
        partune_report::chrome(&diagnosis, &mut out)?;
    }
    out.flush()?;
    output::print(&format!(
        "{}: {} events, {} messages; open it in ui.perfetto.dev\n",
        to.display(),
        diagnosis.run.events(),
        diagnosis.run.matched().messages
    ))
}

fn tables(from: &Path, folder: &Path) -> anyhow::Result<()> {
    if let Some(taken) = partune_report::PARQUET_FILES.iter().map(|name| folder.join(name)).find(|path| path.exists()) {
        bail!("{}: there is a table already\n  remedy: give another folder, or remove it first", taken.display());
    }
    let diagnosis = diagnosis(from, &[])?;
    partune_report::parquet(&diagnosis, &mut |name| partune_engine::create(folder, name))?;
    output::print(&format!("{}: {}\n", folder.display(), partune_report::PARQUET_FILES.join(", ")))
}
