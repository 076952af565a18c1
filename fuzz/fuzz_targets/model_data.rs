//! Fuzzes `model_data::model_data`.
#![no_main]

#[path = "../model_data.rs"]
mod model_data;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| model_data::model_data(bytes));
