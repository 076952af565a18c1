//! `partune model extract`: a model of a recorded run.

use std::path::PathBuf;

use anyhow::{Context, bail};
use partune_engine::{OutlinePhase, Request, Run};
use partune_mds::extract::{MOST_PES, Recorded, RecordedFlow, RecordedPhase, extract};
use partune_mds::follow;
use partune_model::{Values, defaults, format, lower, parse};

use crate::commands::runs;
use crate::output;
use crate::progress::Bar;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model extract RUN -o run.pam && partune model tune run.pam --try 'P = 2'")]
pub(super) struct Extract {
    /// The archive: its anchor file (traces.otf2), or the folder that holds it; of several runs there, the one with the median run time
    run: PathBuf,
    /// Write the model to a file instead of printing it; it must not exist
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Extract) -> anyhow::Result<()> {
    args.output.as_deref().map_or(Ok(()), output::absent)?;
    let archive = args.run.display();
    let diagnosis = {
        let bar = Bar::new(false);
        let request = Request { only: vec!["efficiency".to_owned()], predicts: false, ..Request::default() };
        partune_engine::analyze(runs::open_one(&args.run, &bar)?, &request, &bar)
    };
    let run = &diagnosis.run;
    if run.is_profile() {
        bail!("{archive}: a profile does not tell one block from another\n  remedy: record without --profile");
    }
    let recorded = recorded(run, &format!("{archive}, which ran for {:.6} s", run.run_seconds()));
    if recorded.blocks.is_empty() {
        bail!("{archive}: no PE worked in it\n  remedy: partune analyze says what was recorded");
    }
    if recorded.pes > MOST_PES {
        bail!(
            "{archive}: {} PEs, and a model has at most {MOST_PES}\n  remedy: record the program on fewer",
            recorded.pes
        );
    }
    let text = extract(&recorded);
    let text = format(&text).unwrap_or(text);
    match &args.output {
        Some(file) => {
            output::write(file, &text)?;
            let (run_s, model_s) = (run.run_seconds(), seconds(&text)?);
            let (blocks, phases, pes) = (recorded.blocks.len(), recorded.phases_seen(), recorded.pes);
            output::note(&format!(
                "{}: blocks: {blocks}, phases: {phases}, PEs: {pes}; {model_s:.6} s of the {run_s:.6} s that the run took, and the rest is waiting within blocks",
                file.display()
            ));
            Ok(())
        }
        None => output::print(&text),
    }
}

/// What the model takes.
fn seconds(text: &str) -> anyhow::Result<f64> {
    let file = parse(text).0;
    let values = defaults(&file, &Values::new());
    let (model, _) = lower(text, &file, &values, &|_: &str| Err(String::new()));
    let model = model.context("a model of a run is complete")?;
    let outcome = follow(&model, super::one(&model, None)?, &partune_mds::Options::default());
    Ok(outcome.map_err(|error| anyhow::anyhow!(error.message.clone()))?.run_s)
}

fn recorded(run: &Run, title: &str) -> Recorded {
    let outline = run.outline();
    let per_second = run.clock().ticks_per_second() as f64;
    let nanoseconds = |ticks: f64| (ticks / per_second * 1e9).round() as i64;
    let mut phases: Vec<RecordedPhase> = outline.phases.iter().map(|phase| named(run, *phase)).collect();
    for ((phase, function), calls) in &outline.calls {
        if let Some(function) = run.region(*function) {
            phases[*phase].calls.push((function.name.to_owned(), calls.clone()));
        }
    }
    let synchronised = outline.blocks.iter().filter(|it| it.1).count().max(1);
    let flow =
        |(&(phase, from, to), bytes): (&(usize, usize, usize), &u64)| RecordedFlow { phase, from, to, bytes: *bytes };
    Recorded {
        title: title.to_owned(),
        pes: outline.pes.len(),
        phases,
        work: (0..outline.blocks.len())
            .flat_map(|block| outline.work(block))
            .map(|it| nanoseconds(*it as f64))
            .collect(),
        barrier: nanoseconds(outline.synchronising / synchronised as f64),
        flows: outline.flows.iter().map(flow).collect(),
        blocks: outline.blocks,
    }
}

/// A phase is called after the function that ends it, or the loop that it is a turn of.
fn named(run: &Run, phase: OutlinePhase) -> RecordedPhase {
    let place = |path| {
        let (construct, at) = (run.region_at(path).construct, run.location(path));
        let line = if at.line > 0 { format!(", {}:{}", at.file, at.line) } else { String::new() };
        let function = if at.function.is_empty() { String::new() } else { format!(" in {}", at.function) };
        format!("{construct}{function}{line}")
    };
    let (name, ends) = match phase.closes.some() {
        Some(path) => {
            let function = run.location(path).function;
            let name = if function.is_empty() { run.region_at(path).construct } else { function };
            (name, format!("until {}", place(path)))
        }
        None => ("end", "until the end".to_owned()),
    };
    let name = phase.turns.some().map_or(name, |path| run.region_at(path).name);
    RecordedPhase { name: name.to_owned(), place: ends, calls: Vec::new() }
}
