//! `partune compare`: what differs between runs of a program, beyond their own spread.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use partune_engine::{AdviseRequest, Advised, Comparison, Condition, Scope};
use partune_report::{Verified, advice_id, compare_document, compare_schema, compare_text, verified_text};

use crate::commands::runs;
use crate::output;
use crate::progress::Bar;

/// Compare runs: what differs in time, places, efficiencies and findings.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune compare before/traces.otf2 after/traces.otf2\n  partune compare before after --json > difference.json\n  partune compare before after --fail-on 'run > +3 %'"
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
    /// Hold what the advice with this id predicts for the base against what the other runs saved
    #[arg(long, value_name = "ID")]
    advice: Option<String>,
    /// End with status 3 if this holds between the base and another run: 'run > +3 %', 'parallel < 0.8'
    #[arg(long = "fail-on", value_name = "CONDITION")]
    fail_on: Vec<Condition>,
    #[command(flatten)]
    reading: runs::Reading,
}

/// A condition of `--fail-on` holds.
const FAILED: u8 = 3;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.schema {
        return output::print(&compare_schema()).map(|()| ExitCode::SUCCESS);
    }
    let opened = runs::open(&args.archives, &args.reading)?;
    let comparison = partune_engine::compare(&opened.diagnoses())?;
    let mut fails = false;
    for condition in &args.fail_on {
        fails |= condition.holds(&comparison)?;
    }
    let advised = args.advice.as_ref().map(|_| advise(&opened)).transpose()?;
    let verified = match (&args.advice, &advised) {
        (Some(id), Some(advised)) => Some(named(advised, id, &comparison)?),
        _ => None,
    };
    let named = opened.named();
    output::print(&if args.json {
        compare_document(&comparison, &named, verified.as_ref())
    } else {
        let verified = verified.as_ref().map(verified_text).unwrap_or_default();
        compare_text(&comparison, &named, args.rows, output::style()) + &verified
    })?;
    opened.leave();
    Ok(if fails { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

/// All advice for the base.
fn advise(opened: &runs::Opened) -> anyhow::Result<Advised> {
    let request = AdviseRequest { scope: Scope::All, ..AdviseRequest::default() };
    Ok(partune_engine::advise(opened.diagnoses()[0], &request, &Bar::new(false))?)
}

/// The advice with an id, beside what became of it.
fn named<'a>(advised: &'a Advised, id: &str, comparison: &Comparison) -> anyhow::Result<Verified<'a>> {
    let remedy = "\n  remedy: partune advise --all BASE --json lists ids and what they predict";
    let advice = advised.advice.iter().find(|advice| advice_id(advice) == id);
    let advice = advice.with_context(|| format!("there is no advice {id} for the base{remedy}"))?;
    let verified = Verified::new(advice, advised.run_s, comparison);
    verified.with_context(|| format!("nothing predicts what the advice {id} saves{remedy}"))
}
