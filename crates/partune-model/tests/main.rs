//! The language from text to numbers: golden values, closed forms, laws, errors.

mod closed_forms;
mod decisions;
mod errors;
mod generated;
mod golden;
mod golden_values;
mod laws;
mod support;
