//! Fuzzes `texts::texts`.
#![no_main]

#[path = "../texts.rs"]
mod texts;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| texts::texts(bytes));
