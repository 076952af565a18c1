//! `partune scale`: how a program scales over runs on several numbers of PEs, and what keeps it from the ideal.

use std::path::PathBuf;

use partune_engine::Mode;
use partune_report::{scaling_document, scaling_schema, scaling_text};

use crate::commands::reading::Reading;
use crate::commands::runs;
use crate::commands::size::count;
use crate::output;

/// Say how a program scales over runs on several numbers of PEs, and what keeps it from the ideal.
#[derive(clap::Args)]
#[command(
    override_usage = "partune scale [OPTIONS] <ARCHIVE> <ARCHIVE>...",
    after_help = "Example:\n  partune scale run-1 run-2 run-4 run-8\n  partune scale --weak run-1 run-8a run-8b --json > scaling.json"
)]
pub(crate) struct Args {
    /// The archives, each an anchor file or the folder that holds it, or all that record --repeat made there, in any order; the median of those on one
    /// number of PEs counts
    #[arg(required_unless_present = "schema", num_args = 2.., value_name = "ARCHIVE")]
    archives: Vec<PathBuf>,
    /// The problem grows with the number of PEs; without this, all runs solve one problem
    #[arg(long)]
    weak: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
    /// How many places of each kind to print as text
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = count::<usize>(0))]
    rows: usize,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.schema {
        return output::print(&scaling_schema());
    }
    let opened = runs::open(&args.archives, &args.reading, false)?;
    let mode = if args.weak { Mode::Weak } else { Mode::Strong };
    let named = opened.each();
    let diagnoses: Vec<_> = named.iter().map(|run| run.diagnosis).collect();
    let scaling = partune_engine::scale(&diagnoses, mode)?;
    output::print(&if args.json {
        scaling_document(&scaling, &named)
    } else {
        scaling_text(&scaling, &named, args.rows, output::style())
    })?;
    opened.leave();
    Ok(())
}
