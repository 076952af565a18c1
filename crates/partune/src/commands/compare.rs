//! `partune compare`: what differs between runs of a program, beyond their own spread.

use std::path::PathBuf;

use partune_report::{compare_document, compare_schema, compare_text};

use crate::commands::runs;
use crate::output;

/// Compare runs: what differs in time, places, efficiencies and findings.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune compare before/traces.otf2 after/traces.otf2\n  partune compare before after --json > difference.json"
)]
pub(crate) struct Args {
    /// The archives, each an anchor file or the folder that holds it; the first is the base
    #[arg(required_unless_present = "schema", num_args = 2.., value_name = "ARCHIVE")]
    archives: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
    /// How many places and findings to print as text
    #[arg(long, default_value_t = 10, value_name = "N")]
    rows: usize,
    #[command(flatten)]
    reading: runs::Reading,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.schema {
        return output::print(&compare_schema());
    }
    let opened = runs::open(&args.archives, &args.reading)?;
    let comparison = partune_engine::compare(&opened.diagnoses())?;
    let named = opened.named();
    output::print(&if args.json {
        compare_document(&comparison, &named)
    } else {
        compare_text(&comparison, &named, args.rows, output::style())
    })?;
    opened.leave();
    Ok(())
}
