//! The language from text to numbers: golden values, closed forms, laws, errors.
#![allow(clippy::format_collect, clippy::format_push_string, reason = "sources of models are short")]

mod breakdown;
mod choices;
mod closed_forms;
mod decisions;
mod errors;
mod events;
mod generated;
mod golden;
#[allow(clippy::unreadable_literal, reason = "as the golden file has them")]
mod golden_values;
mod laws;
mod numbers;
mod plans;
mod support;
