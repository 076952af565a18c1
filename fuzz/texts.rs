//! What the fuzz target of small texts does with its input: descriptions of machines, filters of functions, changes of runs.
//!
//! For `fuzz_targets/texts.rs`, and for the tests of `partune`. What was read as a machine or a change is written, and reads the
//! same again.

use partune_engine::RunChange;
use partune_symbols::Filter;

/// A machine, a filter, and changes.
pub(crate) fn texts(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(machine) = partune_machine::read(text) {
        let again = partune_machine::read(&partune_machine::write(&machine));
        assert_eq!(again.as_ref(), Ok(&machine), "{text}");
    }
    for line in text.lines() {
        if let Ok(change) = line.parse::<RunChange>() {
            assert_eq!(change.to_string().parse().as_ref(), Ok(&change), "{line}");
        }
    }
    match Filter::parse(text) {
        Ok(filter) => _ = text.lines().map(|line| filter.includes(line)).filter(|included| *included).count(),
        Err(error) => assert!(text.lines().nth(error.line - 1).is_some_and(|line| line.trim() == error.text)),
    }
}
