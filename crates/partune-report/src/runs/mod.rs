//! Documents about several runs: comparison and scaling, as text and as JSON.

mod compare_json;
mod compare_text;
mod integration;
mod ledger;
mod other_pes;
mod place;
mod scaling_json;
mod scaling_text;
mod tails;
mod tune;

use partune_engine::Diagnosis;

pub use compare_json::{compare_document, compare_schema, compare_value};
pub use compare_text::{checked_text, compare_text, verified_text};
pub use integration::{compare_junit, compare_markdown};
pub use ledger::{ledger_document, ledger_schema, ledger_text};
pub use other_pes::other_pes_text;
pub(crate) use other_pes::{OtherPesEntry, unpredictable};
pub(crate) use place::table;
pub use place::{plural, times};
pub use scaling_json::{scaling_document, scaling_schema, scaling_value};
pub use scaling_text::scaling_text;
pub use tune::{Tuning, tune_document, tune_schema, tune_text};

/// A run with the name under which it is shown.
#[derive(Clone, Copy)]
pub struct NamedRun<'a> {
    /// As it was named on the command line.
    pub archive: &'a str,
    pub diagnosis: &'a Diagnosis,
}

/// The schema of what is written, where nothing is left out: what is not known is null.
pub(crate) fn schema_of<T: schemars::JsonSchema>() -> String {
    pretty(&schemars::generate::SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>())
}

/// A JSON document, indented, with a line break at its end.
pub(crate) fn pretty(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("documents have string keys only");
    text.push('\n');
    text
}
