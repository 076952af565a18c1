//! Fuzzes `projections::projections`.
#![no_main]

#[path = "../projections.rs"]
mod projections;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| projections::projections(bytes));
