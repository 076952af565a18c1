//! Fuzzes `symbols::elf`.
#![no_main]

#[path = "../symbols.rs"]
mod symbols;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| symbols::elf(bytes));
