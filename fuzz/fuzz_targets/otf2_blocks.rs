//! Fuzzes `otf2::blocks`.
#![no_main]

#[path = "../otf2.rs"]
#[allow(dead_code)]
mod otf2;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| otf2::blocks(bytes));
