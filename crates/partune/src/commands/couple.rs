//! `partune couple`: what kernels of a program do to each other, and what the program takes because of that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use partune_couple::{CoupleError, Ended, Launch, Outcome, Plan, Recorded, end_by, launch, outcome, read};
use partune_report::{couple_document, couple_schema, couple_text};

use crate::commands::record;
use crate::output;

/// Measure kernels of a program alone and in chains, and predict the program from them.
///
/// The program names its kernels by include/partune_couple.h. It is launched for every size and number of PEs of the plan; what was launched already is
/// not launched again, unless it ended before what the plan asks for.
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune couple app.toml --dry-run\n  partune couple app.toml\n\n\
                        A plan:\n  command = \"mpirun -n {pes} ./app {size}\"\n  sizes = [32, 64, 96]\n  pes = [1, 2, 4]\n  predict = [{ size = 128, pes = 8 }]")]
pub(crate) struct Args {
    /// The plan: a TOML file
    #[arg(required_unless_present = "schema", value_name = "PLAN")]
    plan: Option<PathBuf>,
    /// Say what would be launched and what it costs, and stop
    #[arg(long)]
    dry_run: bool,
    /// Launch nothing: say what comes of the results that are there
    #[arg(long, conflicts_with = "dry_run")]
    no_launch: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Some(path) = args.plan.as_deref().filter(|_| !args.schema) else {
        return output::print(&couple_schema());
    };
    let plan = Plan::read(path)?;
    let launches = plan.launches();
    let mut recorded = read(&plan.results)?;
    let missing: Vec<&Launch> = launches.iter().filter(|it| !is_enough(&plan, &recorded, it)).collect();
    said(&plan, &launches, &missing, &recorded);
    if args.dry_run {
        return Ok(());
    }
    if !args.no_launch {
        measure(&plan, &launches, &missing, &mut recorded)?;
    }
    let outcome: Outcome = outcome(&plan, &launches, &recorded)?;
    output::print(&if args.json { couple_document(&outcome) } else { couple_text(&outcome, output::style()) })
}

fn is_there(recorded: &BTreeMap<String, Recorded>, launch: &Launch) -> bool {
    recorded.get(&launch.label).is_some_and(Recorded::is_complete)
}

/// Whether it was measured as the plan asks for now.
fn is_enough(plan: &Plan, recorded: &BTreeMap<String, Recorded>, launch: &Launch) -> bool {
    recorded.get(&launch.label).is_some_and(|it| it.is_enough(plan))
}

/// What is to come, and what it costs.
fn said(plan: &Plan, launches: &[Launch], missing: &[&Launch], recorded: &BTreeMap<String, Recorded>) {
    let file = plan.results.display();
    let of_others = recorded.keys().filter(|label| launches.iter().all(|it| it.label != **label)).count();
    if of_others > 0 {
        output::note(&format!("partune: {of_others} launches in {file} were of another plan, and are not looked at"));
    }
    let again = missing.iter().filter(|it| is_there(recorded, it)).count();
    if again > 0 {
        output::note(&format!(
            "partune: {again} launches in {file} ended before what the plan asks for now (budget_s, confidence, rounds), and are to be measured again"
        ));
    }
    let there = launches.len() - missing.len();
    if there > 0 {
        output::note(&format!("partune: {there} of {} launches are in {file}", launches.len()));
    }
    if !missing.is_empty() {
        let missing: Vec<Launch> = missing.iter().map(|it| (*it).clone()).collect();
        let [hours, most] = [plan.budget_s, plan.timeout_s].map(|seconds| plan.core_hours(&missing, seconds));
        let seconds = plan.budget_s * missing.len() as f64;
        output::note(&format!(
            "partune: {} launches that measure for {} s each, {seconds:.0} s altogether: about {hours:.3} core-hours, and what the program does before it measures; \
             what takes longer is ended after {} s, so {most:.3} core-hours at most",
            missing.len(),
            plan.budget_s,
            plan.timeout_s
        ));
    }
}

/// Launches what is missing, one after the other.
fn measure(
    plan: &Plan,
    launches: &[Launch],
    missing: &[&Launch],
    recorded: &mut BTreeMap<String, Recorded>,
) -> anyhow::Result<()> {
    let folder = record::temporary()?;
    let stderr = folder.path().join("stderr");
    for (number, it) in missing.iter().enumerate() {
        let begin = Instant::now();
        let ended = launch(plan, it, &stderr)?;
        let name = it.place();
        *recorded = read(&plan.results)?;
        // A fault is told before how the program ended because of it.
        let first = launches.iter().find(|it| is_there(recorded, it)).unwrap_or(it);
        if let (Some(own), Some(other)) =
            (recorded.get(&it.label), recorded.get(&first.label).or(recorded.get(&it.label)))
        {
            partune_couple::outcome::check_launch(plan, it, own, &(first, other))?;
        }
        let error = match ended {
            Ended::Done if is_enough(plan, recorded, it) => None,
            Ended::Done => Some(CoupleError::Silent { launch: name.clone() }),
            Ended::Failed(status) => Some(CoupleError::Failed {
                launch: name.clone(),
                status: status.to_string(),
                command: it.command.clone(),
            }),
            Ended::Stuck => Some(CoupleError::Stuck { launch: name.clone(), seconds: plan.timeout_s }),
            Ended::Interrupted(signal) => {
                let kept = number + launches.len() - missing.len();
                output::note(&format!(
                    "partune: interrupted; {kept} of {} launches are in {}, and the same command goes on from there",
                    launches.len(),
                    plan.results.display()
                ));
                drop(folder);
                end_by(signal);
                return Ok(());
            }
        };
        if let Some(error) = error {
            output::note(&format!("partune: {}", last_words(&stderr)));
            return Err(error.into());
        }
        let done =
            format!("partune: {} of {}: {name}, {:.1} s", number + 1, missing.len(), begin.elapsed().as_secs_f64());
        output::note(&done);
    }
    Ok(())
}

/// The end of what a command said.
fn last_words(stderr: &Path) -> String {
    const LINES: usize = 10;
    let text = std::fs::read(stderr).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    match &lines[lines.len().saturating_sub(LINES)..] {
        [] => "the command said nothing".to_owned(),
        last => format!("the command said:\n{}", last.join("\n")),
    }
}
