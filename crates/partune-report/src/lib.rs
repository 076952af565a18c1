//! Documents made of a diagnosis: text for a terminal, JSON for programs, tables and time lines for other tools.
//!
//! The edge where ids become names and ticks become seconds. Nothing is computed here that an analysis could have computed.

mod adapted;
mod advise;
mod couple;
mod data;
mod ending;
mod export;
mod hints;
mod json;
mod kernels;
mod machine;
mod model_calibrate;
mod model_decide;
mod model_tune;
pub mod names;
mod next;
mod roofline;
mod run;
mod runs;
mod schema;
mod screen;
pub mod sentences;
mod style;
mod tables;
mod text;
mod what_if;
pub mod words;

pub use adapted::{
    AdaptedDocument, AdaptedEntry, ChangeEntry, SettingEntry, adapted_json, adapted_schema, adapted_text,
};
pub use advise::{advice_document, advice_id, advice_schema, advice_text};
pub use couple::{couple_document, couple_schema, couple_text};
pub use data::{data_document, data_schema, data_text};
pub use ending::lines as ending_lines;
pub use export::{ExportError, FILES as PARQUET_FILES, chrome, parquet};
pub use hints::{hints_document, hints_schema, hints_text};
pub use json::{document, finding_id};
pub use kernels::{kernels_document, kernels_picture, kernels_schema, kernels_text};
pub use machine::{machine_json, machine_text};
pub use model_calibrate::{CalibratedBy, model_calibrate_document, model_calibrate_schema, model_calibrate_text};
pub use model_decide::{Decided, model_decide_document, model_decide_schema};
pub use model_tune::{model_tune_document, model_tune_schema, model_tune_text};
pub use next::advice;
pub use run::{facts, paradigms, waiting};
pub use runs::{
    NamedRun, Tuning, checked_text, compare_document, compare_junit, compare_markdown, compare_schema, compare_text,
    compare_value, ledger_document, ledger_schema, ledger_text, other_pes_text, plural, scaling_document,
    scaling_schema, scaling_text, scaling_value, times, tune_document, tune_schema, tune_text, verified_text,
};
pub use schema::schema;
pub use style::{Style, Tone};
pub use tables::{cell_text, number_text, table_rows};
pub use text::{TextOptions, text};
pub use what_if::{other_pes_document, what_if_document, what_if_schema, what_if_text};
