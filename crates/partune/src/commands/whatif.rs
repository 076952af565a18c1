//! `partune whatif`: how long a run would take under changes.

use std::path::PathBuf;

use anyhow::Context;
use partune_engine::{RunChange, WhatIfRequest};
use partune_report::{what_if_document, what_if_schema, what_if_text};

use crate::commands::runs;
use crate::output;
use crate::progress::Bar;

/// Say how long a recorded run would take under changes: work shared out evenly, a barrier removed, another network.
///
/// The run is followed again: work takes what it took, messages and collectives take what others like them took, or what a machine
/// description says, and who waits for whom follows from that. What changes there are is in the book's page on predictions.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune whatif run --change 'balance solve'\n  partune whatif run --change 'remove app.c:120' --change 'scale network latency*0.5' --json\n  \
                  partune whatif run --change 'balance solve' -o balanced && partune analyze balanced"
)]
pub(crate) struct Args {
    /// The archive: its anchor file (traces.otf2), or the folder that holds it; of several runs there, the one with the median run time
    #[arg(required_unless_present = "schema")]
    archive: Option<PathBuf>,
    /// A change; several are made one on top of the other. Without any, how well the run can be followed
    #[arg(long = "change", value_name = "CHANGE")]
    changes: Vec<RunChange>,
    /// What messages and collectives need: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Write the changed run as an archive: a folder that does not exist
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
    /// Tell on stderr how long each stage took
    #[arg(long)]
    timings: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.schema {
        return output::print(&what_if_schema());
    }
    let archive = args.archive.as_deref().context("no archive given")?;
    let machine = args.machine.as_deref().map(partune_engine::read_machine).transpose()?;
    let mut changes = args.changes.clone();
    partune_engine::read_maps(&mut changes)?;
    let request = WhatIfRequest { changes, machine, keeps_run: args.output.is_some() };
    let what_if = {
        let bar = Bar::new(args.timings);
        partune_engine::what_if(runs::open_one(archive, &bar)?, &request, &bar)?
    };
    let changes: Vec<String> = args.changes.iter().map(ToString::to_string).collect();
    if let Some(folder) = &args.output
        && let Some(written) = what_if.write(folder)
    {
        written?;
    }
    output::print(&if args.json {
        what_if_document(&what_if, &archive.display().to_string(), &changes)
    } else {
        what_if_text(&what_if, &changes, output::style())
    })?;
    anyhow::ensure!(
        what_if.refused.is_empty() || what_if.refused.len() < changes.len(),
        "no change could be made\n  remedy: partune analyze names the places of this run"
    );
    std::mem::forget(what_if);
    Ok(())
}
