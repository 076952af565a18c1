//! Documents about several runs: comparison and scaling, as text and as JSON.

mod compare_json;
mod compare_text;
mod place;
mod scaling_json;
mod scaling_text;

use partune_engine::{Advice, Comparison, Diagnosis, RunFigures, Saving};

pub use compare_json::{compare_document, compare_schema, compare_value};
pub use compare_text::{compare_text, verified_text};
pub(crate) use place::plural;
pub use scaling_json::{scaling_document, scaling_schema, scaling_value};
pub use scaling_text::scaling_text;

/// A run with the name under which it is shown.
#[derive(Clone, Copy)]
pub struct NamedRun<'a> {
    /// As it was named on the command line.
    pub archive: &'a str,
    pub diagnosis: &'a Diagnosis,
}

/// Advice for the base of a comparison that predicts something, and what became of it.
pub struct Verified<'a> {
    pub advice: &'a Advice,
    pub saving: Saving,
    /// Seconds of the base that the saving is of.
    pub run_s: f64,
    /// What each run after the base saved.
    pub saved_s: Vec<f64>,
}

impl<'a> Verified<'a> {
    /// None where nothing predicts the advice.
    pub fn new(advice: &'a Advice, run_s: f64, comparison: &Comparison) -> Option<Verified<'a>> {
        let seconds = |run: &RunFigures| run.measured.unwrap_or(run.seconds);
        let base = comparison.runs.first().map(seconds)?;
        let saved_s = comparison.runs.iter().skip(1).map(|run| base - seconds(run)).collect();
        Some(Verified { advice, saving: advice.saving?, run_s, saved_s })
    }

    /// In the range that was predicted, or no farther from it than a hundredth of the run.
    pub(crate) fn is_as_predicted(&self, saved: f64) -> bool {
        let margin = self.run_s / 100.0;
        (self.saving.saves_low_s - margin..=self.saving.saves_high_s + margin).contains(&saved)
    }
}

/// The schema of what is written, where nothing is left out: what is not known is null.
fn schema_of<T: schemars::JsonSchema>() -> String {
    pretty(&schemars::generate::SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>())
}

/// A JSON document, indented, with a line break at its end.
pub(crate) fn pretty(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("documents have string keys only");
    text.push('\n');
    text
}
