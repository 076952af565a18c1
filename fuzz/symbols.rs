//! What the fuzz target of symbol resolution does with its input.
//!
//! For `fuzz_targets/symbols_elf.rs` and for the tests of `partune-symbols`, which run it over mutations of real programs.

use partune_base::Strings;
use partune_symbols::{Address, Module, NoFiles, Storage};

/// An ELF file. Besides not panicking, every address has an answer with a name.
pub(crate) fn elf(bytes: &[u8]) {
    let storage = Storage::new();
    let Ok(module) = Module::parse("fuzzed", bytes, &NoFiles, &storage) else { return };
    let starts = module.functions().iter().map(|function| Address::Exact(function.start));
    let ends = module.functions().iter().map(|function| Address::Return(function.end));
    let offsets = (0..bytes.len() as u64).step_by(61).filter_map(|offset| module.address_of(offset));
    let addresses: Vec<_> = starts.chain(ends).chain(offsets.map(Address::Exact)).take(4096).collect();
    let mut strings = Strings::default();
    let places = module.resolve(&addresses, &mut strings);
    assert_eq!(places.len(), addresses.len());
    for (place, frames) in places.iter() {
        assert!(!frames.is_empty());
        assert!(frames.iter().all(|frame| !strings.get(frame.function).is_empty()));
        assert_eq!(place.function.name, frames[frames.len() - 1].function);
    }
}
