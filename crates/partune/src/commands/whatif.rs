//! `partune whatif`: how long a run would take under changes.

use std::path::PathBuf;

use partune_engine::{Machine, PesRuns, RunChange, WhatIfRequest};
use partune_report::{other_pes_document, other_pes_text, what_if_document, what_if_schema, what_if_text};

use crate::commands::resources::Resources;
use crate::commands::runs;
use crate::commands::size::count;
use crate::output;
use crate::progress::Bar;

/// Say how long a recorded run would take under changes: work shared out evenly, a barrier removed, another network.
///
/// The run is followed again: work takes what it took, messages and collectives take what others like them took, or what a machine
/// description says, and who waits for whom follows from that. What changes there are is in the book's page on predictions.
///
/// Another number of PEs is predicted from runs on two numbers or more: what the places that others wait for took follows laws over the number of PEs.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune whatif run --change 'balance solve'\n  partune whatif run --change 'remove app.c:120' --change 'scale network latency*0.5' --json\n  \
                  partune whatif run --change 'balance solve' -o balanced && partune analyze balanced\n  \
                  partune whatif run-2 run-4 run-8 --change 'set pes =64'"
)]
pub(crate) struct Args {
    /// The archive: its anchor file (traces.otf2), or the folder that holds it; of several runs there, the one with the median run time. For another
    /// number of PEs several, in any order; all runs in a folder count
    #[arg(required_unless_present = "schema", value_name = "ARCHIVE")]
    archives: Vec<PathBuf>,
    /// A change; several are made one on top of the other. Without any, how well the run can be followed
    #[arg(long = "change", value_name = "CHANGE")]
    changes: Vec<RunChange>,
    /// What messages and collectives need: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Write the changed run as an archive: a folder that does not exist
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Of another number of PEs: how many places to print as text
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = count::<usize>(0))]
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
        return output::print(&what_if_schema());
    }
    args.resources.take(&args.archives)?;
    let machine = args.machine.as_deref().map(partune_engine::read_machine).transpose()?;
    let archive = match args.archives.as_slice() {
        [archive] => archive,
        [] => anyhow::bail!("no archive given"),
        several => return other_pes(args, several, machine.as_ref()),
    };
    let mut changes = args.changes.clone();
    partune_engine::read_maps(&mut changes)?;
    let request = WhatIfRequest { changes, machine, keeps_run: args.output.is_some() };
    let what_if = {
        let bar = Bar::new(args.timings);
        partune_engine::what_if(runs::open_one(archive, &bar)?, &request, &bar)?
    };
    let changes: Vec<String> = args.changes.iter().map(ToString::to_string).collect();
    let is_made = what_if.refused.is_empty() || what_if.refused.len() < changes.len();
    if let Some(folder) = args.output.as_ref().filter(|_| is_made)
        && let Some(written) = what_if.write(folder)
    {
        written?;
    }
    output::print(&if args.json {
        what_if_document(&what_if, &archive.display().to_string(), &changes)
    } else {
        what_if_text(&what_if, &changes, output::style())
    })?;
    let remedy = if what_if.followed.is_lost() {
        "record a run that has its processors to itself, and is long enough"
    } else {
        "partune analyze names the places of this run"
    };
    anyhow::ensure!(is_made, "no change could be made\n  remedy: {remedy}");
    std::mem::forget(what_if);
    Ok(())
}

/// The only change that several runs tell of: another number of PEs.
fn other_pes(args: &Args, archives: &[PathBuf], machine: Option<&Machine>) -> anyhow::Result<()> {
    let asked = args.changes.iter().find_map(|change| if let RunChange::Pes(pes) = change { Some(*pes) } else { None });
    let Some(pes) = asked else {
        if let Some(words) = archives.iter().find(|it| !it.exists()) {
            let words = words.display();
            anyhow::bail!(
                "there is no archive {words}\n  remedy: give archives that are there; a change is given with --change '{words}'"
            );
        }
        anyhow::bail!(
            "several runs tell of another number of PEs only\n  remedy: give one archive, or --change 'set pes =64'"
        );
    };
    anyhow::ensure!(
        args.output.is_none(),
        "a run on another number of PEs cannot be written: what its PEs would do is not known one by one\n  remedy: leave -o out"
    );
    let bar = Bar::new(args.timings);
    let mut runs = PesRuns::default();
    for archive in archives {
        let entries = partune_engine::runs(archive)?;
        for entry in &entries {
            let name = if entries.len() > 1 { entry.display() } else { archive.display() };
            runs.add(&name.to_string(), partune_engine::open(entry, &bar)?, &bar);
        }
    }
    let said = runs.predict(pes, args.changes.len() == 1, machine);
    drop(bar);
    let changes: Vec<String> = args.changes.iter().map(ToString::to_string).collect();
    output::print(&if args.json {
        other_pes_document(&said, &changes)
    } else {
        other_pes_text(&said, &changes, args.rows, output::style())
    })?;
    anyhow::ensure!(said.refused.is_none(), "the number of PEs could not be changed");
    Ok(())
}
