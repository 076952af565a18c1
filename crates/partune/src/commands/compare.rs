//! `partune compare`: what differs between runs of a program, beyond their own spread.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use partune_engine::{AdviseRequest, Advised, Checked, Comparison, Condition, Diagnosis, Entry, Scope, Verified};
use partune_report::{
    advice_id, checked_text, compare_document, compare_junit, compare_markdown, compare_schema, compare_text,
    verified_text,
};

use crate::commands::reading::Reading;
use crate::commands::size::count;
use crate::commands::{ledger, runs};
use crate::output;
use crate::progress::Bar;

/// Compare runs: what differs in time, places, efficiencies and findings.
#[derive(clap::Args)]
#[command(
    override_usage = "partune compare [OPTIONS] <BASE> <OTHER>...",
    after_help = "Example:\n  partune compare before/traces.otf2 after/traces.otf2\n  partune compare before after --json > difference.json\n  partune compare before after --fail-on 'run > +3 %'\n  \
                  partune compare before after --advice A-28-2c4b9a10 --ledger"
)]
pub(crate) struct Args {
    /// The archives, each an anchor file or the folder that holds it, or all runs that record --repeat made there; the first is the base
    #[arg(required_unless_present = "schema", num_args = 2.., value_names = ["BASE", "OTHER"])]
    archives: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
    /// How many places and findings to print as text
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = count::<usize>(0))]
    rows: usize,
    /// Hold what the advice with this id predicts for the base against what the other runs saved
    #[arg(long, value_name = "ID")]
    advice: Option<String>,
    /// Keep the prediction and what came of it in this file, or in one that is there; without FILE in partune.toml beside the base
    #[arg(long, value_name = "FILE", num_args = 0..=1, requires = "advice")]
    #[allow(clippy::option_option, reason = "left out, without a file, with one")]
    ledger: Option<Option<PathBuf>>,
    /// End with status 3 if this holds between the base and another run, beyond noise where runs were repeated: 'run > +3 %', 'parallel < 0.8'
    #[arg(long = "fail-on", value_name = "CONDITION")]
    fail_on: Vec<Condition>,
    /// Write what came of --fail-on as JUnit XML, a test case a condition
    #[arg(long, value_name = "FILE", requires = "fail_on")]
    junit: Option<PathBuf>,
    /// Write a summary as Markdown, for a comment on a change
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

/// A condition of `--fail-on` holds.
const FAILED: u8 = 3;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.schema {
        return output::print(&compare_schema()).map(|()| ExitCode::SUCCESS);
    }
    let opened = runs::open(&args.archives, &args.reading, args.advice.is_some())?;
    let sets = opened.sets();
    let comparison = partune_engine::compare_sets(&sets)?;
    let checked: Vec<Checked> = args.fail_on.iter().map(|it| it.check(&comparison)).collect::<Result<_, _>>()?;
    let advised = args.advice.as_ref().map(|_| advise(&sets)).transpose()?;
    let verified = match (&args.advice, &advised) {
        (Some(id), Some(advised)) => Some(named(advised, id, &comparison)?),
        _ => None,
    };
    if let (Some(file), Some(verified), Some(id)) = (&args.ledger, &verified, &args.advice) {
        let file = ledger::file(file.as_deref(), args.archives.first().map(PathBuf::as_path));
        let recordings: Vec<(&Path, usize)> =
            args.archives.iter().zip(&sets).map(|(path, runs)| (path.as_path(), runs.len())).collect();
        let entries = Entry::all(verified, id, &recordings, &file, &partune_microbench::date());
        partune_engine::write_ledger(&file, &entries)?;
        output::note(&format!("partune: {} has it now; partune advise --ledger {0} shows all", file.display()));
    }
    let named = opened.named();
    if let Some(file) = &args.junit {
        output::write(file, &compare_junit(&named, &checked))?;
    }
    if let Some(file) = &args.markdown {
        output::write(file, &compare_markdown(&comparison, &named, verified.as_ref(), &checked, args.rows))?;
    }
    output::print(&if args.json {
        compare_document(&comparison, &named, verified.as_ref(), &checked)
    } else {
        let verified = verified.as_ref().map(verified_text).unwrap_or_default();
        compare_text(&comparison, &named, args.rows, output::style()) + &verified + &checked_text(&checked)
    })?;
    let fails = checked.iter().any(Checked::fails);
    opened.leave();
    Ok(if fails { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

/// All advice for the base.
fn advise(sets: &[Vec<&Diagnosis>]) -> anyhow::Result<Advised> {
    let request = AdviseRequest { scope: Scope::All, ..AdviseRequest::default() };
    Ok(partune_engine::advise(sets[0][0], &request, &Bar::new(false))?)
}

/// The advice with an id, beside what became of it.
fn named<'a>(advised: &'a Advised, id: &str, comparison: &Comparison) -> anyhow::Result<Verified<'a>> {
    let remedy = "\n  remedy: partune advise --all BASE --json lists ids and what they predict";
    let advice = advised.advice.iter().find(|advice| advice_id(advice) == id);
    let advice = advice.with_context(|| format!("there is no advice {id} for the base{remedy}"))?;
    let verified = Verified::new(advice, advised.followed.run_s, comparison);
    verified.with_context(|| format!("nothing predicts what the advice {id} saves{remedy}"))
}
