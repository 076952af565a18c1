//! `partune advise`: what to do about a run, and what it would save.

use std::path::PathBuf;

use anyhow::Context;
use partune_engine::{AdviseRequest, Options, Request, Scope};
use partune_report::{advice_document, advice_schema, advice_text, ledger_document, ledger_schema, ledger_text};

use crate::commands::resources::Resources;
use crate::commands::size::count;
use crate::commands::{ledger, runs};
use crate::output;
use crate::progress::Bar;

/// Say what to do about a recorded run, ranked by how much shorter it would be.
///
/// Findings and gaps of the run call for actions; each that a change of the run can stand for is predicted by following the run again
/// under that change, as whatif does.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune advise run\n  partune advise run --all --json > advice.json\n  partune advise --ledger partune.toml"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// The archive: its anchor file (traces.otf2), or the folder that holds it; of several runs there, the one with the median run time
    #[arg(required_unless_present_any = ["schema", "ledger"])]
    archive: Option<PathBuf>,
    /// Show what earlier advice predicted and what came of it, as partune compare --ledger keeps it in this file; without FILE in partune.toml beside
    /// the archive, or here
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[allow(clippy::option_option, reason = "left out, without a file, with one")]
    ledger: Option<Option<PathBuf>>,
    /// Try all that could be done, and pairs of what helps most
    #[arg(long)]
    all: bool,
    /// What operations need on the machine of the run: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// How many pieces of advice to print as text
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = count::<usize>(0))]
    rows: usize,
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
        return output::print(&if args.ledger.is_some() { ledger_schema() } else { advice_schema() });
    }
    if let Some(file) = &args.ledger {
        let file = ledger::file(file.as_deref(), args.archive.as_deref());
        let entries = partune_engine::read_ledger(&file)?;
        let name = file.display().to_string();
        return output::print(&if args.json { ledger_document(&name, &entries) } else { ledger_text(&name, &entries) });
    }
    let archive = args.archive.as_deref().context("no archive given")?;
    let machine = args.machine.as_deref().map(partune_engine::read_machine).transpose()?;
    args.resources.take(&[archive.to_owned()])?;
    let bar = Bar::new(args.timings);
    let options = Options { machine: machine.clone(), ..Options::default() };
    let request = Request { options, predicts: false, ..Request::default() };
    let diagnosis = partune_engine::analyze(runs::open_one(archive, &bar)?, &request, &bar);
    let scope = if args.all { Scope::All } else { Scope::Likely };
    let advised = partune_engine::advise(&diagnosis, &AdviseRequest { machine, scope }, &bar)?;
    drop(bar);
    output::print(&if args.json {
        advice_document(&advised, &diagnosis, &archive.display().to_string())
    } else {
        advice_text(&advised, &diagnosis, args.rows, output::style())
    })?;
    // The process ends here: freeing a large trace piece by piece would only keep the user waiting.
    std::mem::forget((diagnosis, advised));
    Ok(())
}
