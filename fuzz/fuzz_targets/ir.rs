//! Fuzzes `ir::text`.
#![no_main]

#[path = "../ir.rs"]
mod ir;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ir::text(bytes));
