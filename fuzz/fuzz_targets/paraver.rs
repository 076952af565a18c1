//! Fuzzes `paraver::paraver`.
#![no_main]

#[path = "../paraver.rs"]
mod paraver;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| paraver::paraver(bytes));
