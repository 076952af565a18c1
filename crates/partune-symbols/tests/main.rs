//! Tests of symbol resolution, on programs compiled here, with binutils' `addr2line` as somebody else's truth.
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod damage;
mod fallbacks;
mod programs;
mod truth;

use partune_base::{StringId, Strings};
use partune_symbols::{Address, Files, Module, NoFiles, Origin, Storage};

/// An answer as text: the frames innermost first, each `function at file:line`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    frames: Vec<(String, String, u32)>,
    /// Name, file and line of the real function's declaration.
    function: (String, String, u32),
    origin: Origin,
}

fn answers(path: &str, bytes: &[u8], addresses: &[Address]) -> Vec<Answer> {
    let storage = Storage::new();
    answers_with(path, bytes, addresses, &NoFiles, &storage)
}

fn answers_with<'a>(
    path: &str,
    bytes: &'a [u8],
    addresses: &[Address],
    files: &dyn Files<'a>,
    storage: &'a Storage,
) -> Vec<Answer> {
    let module = Module::parse(path, bytes, files, storage).unwrap();
    assert!(module.quality().is_empty(), "{:?}", module.quality());
    let mut strings = Strings::default();
    let places = module.resolve(addresses, &mut strings);
    assert!(places.quality.is_empty(), "{:?}", places.quality);
    assert_eq!(places.len(), addresses.len());
    let text = |id: StringId| strings.get(id).to_owned();
    let answer = |(place, frames): (&partune_symbols::Place, &[partune_symbols::Frame])| Answer {
        frames: frames.iter().map(|frame| (text(frame.function), text(frame.file), frame.line)).collect(),
        function: (text(place.function.name), text(place.function.file), place.function.line),
        origin: place.origin,
    };
    places.iter().map(answer).collect()
}
