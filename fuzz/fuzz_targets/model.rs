//! Fuzzes `model::model`.
#![no_main]

#[path = "../model.rs"]
mod model;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| model::model(bytes));
