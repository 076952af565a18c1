//! Fuzzes `parts::parts`: lines, records and numbers are changed, not only bytes.
#![no_main]

#[path = "../parts.rs"]
mod parts;

use partune_testkit::mutate::Random;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| _ = parts::parts(bytes));

libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    let mut files = parts::unpack(&bytes[..size]);
    parts::change(&mut files, &mut Random::new(seed.into()));
    let packed = parts::pack(&files);
    if packed.len() > most || files.is_empty() {
        return libfuzzer_sys::fuzzer_mutate(bytes, size, most);
    }
    bytes[..packed.len()].copy_from_slice(&packed);
    packed.len()
});
