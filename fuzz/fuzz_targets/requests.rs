//! Fuzzes `requests::requests`.
#![no_main]

#[path = "../requests.rs"]
mod requests;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| _ = requests::requests(bytes));
