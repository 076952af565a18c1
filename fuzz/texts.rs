//! What the fuzz target of small text files does with its input: descriptions of machines, and filters of functions.
//!
//! For `fuzz_targets/texts.rs`, and for the tests of `partune`. What was read as a machine is written, and reads the same again.

use partune_symbols::Filter;

/// A machine, and a filter.
pub(crate) fn texts(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(machine) = partune_machine::read(text) {
        let again = partune_machine::read(&partune_machine::write(&machine));
        assert_eq!(again.as_ref(), Ok(&machine), "{text}");
    }
    match Filter::parse(text) {
        Ok(filter) => _ = text.lines().map(|line| filter.includes(line)).filter(|included| *included).count(),
        Err(error) => assert!(text.lines().nth(error.line - 1).is_some_and(|line| line.trim() == error.text)),
    }
}
