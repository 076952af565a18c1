//! Fuzzes `diagnosis::diagnosis`: records are changed, not bytes.
#![no_main]

#[path = "../diagnosis.rs"]
mod diagnosis;

use std::fs;
use std::path::Path;

use partune_testkit::mutate::Random;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| diagnosis::diagnosis(bytes));

libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    let mut random = Random::new(seed.into());
    let mut archive = diagnosis::unpack(&bytes[..size]);
    if !archive.contains_key(diagnosis::ANCHOR) {
        archive = example(&mut random);
    }
    diagnosis::change(&mut archive, &mut random);
    let packed = diagnosis::pack(&archive);
    if packed.len() > most || archive.is_empty() {
        return libfuzzer_sys::fuzzer_mutate(bytes, size, most);
    }
    bytes[..packed.len()].copy_from_slice(&packed);
    packed.len()
});

/// One of the archives among the examples.
fn example(random: &mut Random) -> diagnosis::Archive {
    let name = ["ring", "ring_profile", "addresses"][random.below(3)];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/archives").join(name);
    let mut archive = diagnosis::Archive::new();
    let mut read = |name: String| {
        archive.extend(fs::read(folder.join(&name)).map(|bytes| (name, bytes)));
    };
    read(diagnosis::ANCHOR.to_owned());
    read("traces.def".to_owned());
    for location in 0..8 {
        ["evt", "def", "stat"].into_iter().for_each(|kind| read(format!("traces/{location}.{kind}")));
    }
    archive
}
