//! A model calibrated by a recorded run: text and JSON of `partune model calibrate`.

use std::fmt::Write;

use partune_diag::seconds;
use partune_mds::calibrate::{Calibrated, Explained, PhaseFit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::data::section;
use crate::names::percent;
use crate::runs::{plural, pretty, schema_of};
use crate::style::{Style, Tone};

/// What `partune model calibrate --json` prints.
#[derive(Serialize, JsonSchema)]
struct CalibrateDocument<'a> {
    /// Version of this document.
    partune: u32,
    /// The alternative of the model.
    name: &'a str,
    archive: &'a str,
    pes: usize,
    classes: Vec<ClassEntry<'a>>,
    phases: Vec<PhaseEntry<'a>>,
    /// Phases of the model of which the run has nothing.
    unmeasured: &'a [String],
    run: RunEntry,
}

#[derive(Serialize, JsonSchema)]
struct ClassEntry<'a> {
    /// The parameter.
    name: &'a str,
    /// Seconds; give it with `-D NAME=VALUE`.
    value: f64,
    /// What the model had; null where it had nothing.
    before: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct PhaseEntry<'a> {
    name: &'a str,
    /// Of all PEs.
    all: ExplainedEntry,
    pes: Vec<ExplainedEntry>,
    /// Who does what is not fixed by the model, so that only all PEs together can be compared.
    is_dealt: bool,
    /// The root of the mean square of what PEs are off, over the mean of what was measured.
    off: f64,
}

#[allow(clippy::struct_field_names, reason = "the unit is in the name, as everywhere in documents")]
#[derive(Serialize, JsonSchema)]
struct ExplainedEntry {
    measured_s: f64,
    /// Weights of the model, and its waiting for lines.
    work_s: f64,
    latency_s: f64,
    /// Measured and not in the model; negative where the model says more.
    unexplained_s: f64,
}

#[derive(Serialize, JsonSchema)]
struct RunEntry {
    measured_s: f64,
    predicted_s: f64,
    /// Gap X: what the run takes longer than the model, and its share of the run.
    x_s: f64,
    x: f64,
}

/// The run that a model was calibrated by: its name, and how long it took.
#[derive(Clone, Copy)]
pub struct CalibratedBy<'a> {
    pub archive: &'a str,
    pub run_s: f64,
}

/// The document of `--json`.
pub fn model_calibrate_document(name: &str, found: &Calibrated, by: CalibratedBy<'_>) -> String {
    let classes = found.classes.iter().map(|class| ClassEntry {
        name: &class.name,
        value: class.seconds(),
        before: class.seconds_before(),
    });
    let (x_s, x) = gap(found, by);
    pretty(&CalibrateDocument {
        partune: 1,
        name,
        archive: by.archive,
        pes: found.outcome.pes,
        classes: classes.collect(),
        phases: found.phases.iter().map(phase).collect(),
        unmeasured: &found.unmeasured,
        run: RunEntry { measured_s: by.run_s, predicted_s: found.outcome.run_s, x_s, x },
    })
}

/// The JSON schema of the document.
pub fn model_calibrate_schema() -> String {
    schema_of::<CalibrateDocument<'_>>()
}

/// Gap X, and its share of the run.
fn gap(found: &Calibrated, by: CalibratedBy<'_>) -> (f64, f64) {
    let x_s = by.run_s - found.outcome.run_s;
    (x_s, if by.run_s > 0.0 { x_s / by.run_s } else { 0.0 })
}

fn phase(it: &PhaseFit) -> PhaseEntry<'_> {
    PhaseEntry {
        name: &it.name,
        all: explained(&it.all()),
        pes: it.pes.iter().map(explained).collect(),
        is_dealt: it.is_dealt,
        off: it.off(),
    }
}

fn explained(it: &Explained) -> ExplainedEntry {
    ExplainedEntry { measured_s: it.measured_s, work_s: it.work_s, latency_s: it.latency_s, unexplained_s: it.rest_s() }
}

/// For the terminal.
pub fn model_calibrate_text(name: &str, found: &Calibrated, by: CalibratedBy<'_>, style: Style) -> String {
    let mut out = String::new();
    let pes = plural(found.outcome.pes, "PE", "PEs");
    let _ = writeln!(out, "{}: fitted to {} on {pes}", style.paint(Tone::Strong, name), by.archive);
    let mut rows = vec![["class", "a unit takes", "in the model"].map(str::to_owned).to_vec()];
    for class in &found.classes {
        let before = class.seconds_before().map_or_else(|| "–".to_owned(), seconds);
        rows.push(vec![class.name.clone(), seconds(class.seconds()), before]);
    }
    section(&mut out, style, "classes", &rows);
    let titles = ["phase", "measured", "work", "lines", "unexplained", "of it", "PEs off by"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for phase in &found.phases {
        let all = phase.all();
        let share = if all.measured_s > 0.0 { all.rest_s() / all.measured_s } else { 0.0 };
        let off = if phase.is_dealt { "–".to_owned() } else { percent(phase.off()) };
        let cells = [seconds(all.measured_s), seconds(all.work_s), seconds(all.latency_s), signed(all.rest_s())];
        let tail = [signed_share(share), off];
        rows.push([phase.name.clone()].into_iter().chain(cells).chain(tail).collect());
    }
    section(&mut out, style, "what PEs computed, all of them", &rows);
    for name in &found.unmeasured {
        let text =
            format!("nothing was measured of phase {name}: name what it is in the run with --phase {name}=FUNCTION");
        out.push('\n');
        style.wrapped(&mut out, (Tone::Warning, "note: "), &text);
    }
    let (x_s, x) = gap(found, by);
    let text = format!(
        "{} measured, {} by the model; gap X, which the model does not explain, is {}, {} of the run",
        seconds(by.run_s),
        seconds(found.outcome.run_s),
        signed(x_s),
        signed_share(x)
    );
    out.push('\n');
    style.wrapped(&mut out, (Tone::Strong, "run: "), &text);
    let values: Vec<String> = found.classes.iter().map(|it| format!("-D {}={}", it.name, it.seconds())).collect();
    style.wrapped(&mut out, (Tone::Strong, "use: "), &values.join(" "));
    out
}

fn signed(value: f64) -> String {
    if value < 0.0 { format!("−{}", seconds(-value)) } else { seconds(value) }
}

fn signed_share(value: f64) -> String {
    if value < 0.0 { format!("−{}", percent(-value)) } else { percent(value) }
}
