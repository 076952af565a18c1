//! `partune model calibrate`: what the classes of a model cost, from a recorded run.

use std::path::PathBuf;

use anyhow::{Context, bail};
use partune_engine::Request;
use partune_mds::calibrate::{Measured, calibrate};
use partune_model::change::Original;
use partune_model::parse;
use partune_report::{CalibratedBy, model_calibrate_document, model_calibrate_schema, model_calibrate_text};

use super::{Followed, one};
use crate::commands::runs;
use crate::output;
use crate::progress::Bar;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune model calibrate crash.pam RUN --phase contact_phase=contact\n  \
                        partune model calibrate crash.pam RUN --fit unit -D P=8 --json")]
pub(super) struct Calibrate {
    /// The archive: its anchor file (traces.otf2), or the folder that holds it; of several runs there, the one with the median run time
    #[arg(index = 2, required_unless_present = "schema")]
    run: Option<PathBuf>,
    /// A parameter to be fitted, of which weights are multiples; else all that are times, have no value given and are in weights
    #[arg(long, value_name = "NAME")]
    fit: Vec<String>,
    /// What a phase of the model is called in the run, a function or a marked part, where that is another name
    #[arg(long = "phase", value_name = "PHASE=NAME", value_parser = pair)]
    phases: Vec<(String, String)>,
    #[command(flatten)]
    followed: Followed,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(phase, name)| !phase.is_empty() && !name.is_empty());
    let (phase, name) = pair.ok_or_else(|| format!("{text} is not PHASE=NAME"))?;
    Ok((phase.to_owned(), name.to_owned()))
}

pub(super) fn run(args: &Calibrate) -> anyhow::Result<()> {
    let (Some(input), Some(archive)) = (args.followed.input(), &args.run) else {
        return output::print(&model_calibrate_schema());
    };
    let source = input.source()?;
    let model = source.model(&input.complete(&source))?;
    let alternative = one(&model, args.followed.alt.as_deref()).with_context(|| source.shown())?;
    let phases = &model.application.phases;
    if let Some((unknown, _)) = args.phases.iter().find(|(phase, _)| !phases.contains(phase)) {
        bail!("no phase {unknown} in the model\n  remedy: its phases are {}", phases.join(", "));
    }
    let diagnosis = {
        let bar = Bar::new(false);
        let request = Request { only: vec!["efficiency".to_owned()], predicts: false, ..Request::default() };
        partune_engine::analyze(runs::open_one(archive, &bar)?, &request, &bar)
    };
    let mut measured = Vec::new();
    for phase in phases {
        let named = args.phases.iter().find(|(it, _)| it == phase).map(|(_, name)| name);
        match (diagnosis.run.computed_in(named.unwrap_or(phase)), named) {
            (Some(pes), _) => measured.push(Measured { phase: phase.clone(), pes }),
            (None, None) => {}
            (None, Some(name)) => bail!(
                "{}: nothing is called {name}\n  remedy: partune analyze lists functions and marked parts of the run",
                archive.display()
            ),
        }
    }
    let (syntax, _) = parse(&source.text);
    let values = input.values();
    let original = Original { text: &source.text, file: &syntax, values: &values, model: &model, alternative };
    let options = partune_mds::Options::default();
    let found = calibrate(&original, &args.fit, &measured, &source.files(), &options);
    let found = found.map_err(|error| source.failed(&error))?;
    let name = source.title(alternative);
    let archive = archive.display().to_string();
    let by = CalibratedBy { archive: &archive, run_s: diagnosis.run.run_seconds() };
    output::print(&if args.followed.json {
        model_calibrate_document(&name, &found, by)
    } else {
        model_calibrate_text(&name, &found, by, output::style())
    })
}
