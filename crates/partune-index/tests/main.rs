//! Tests of the index, on traces written in the testkit's language and on random ones.

mod blocks;
mod clocks;
mod collectives;
mod epochs;
mod garbage;
mod late;
mod locks;
mod messages;
mod piece;
mod random;
mod rma;
mod teams;
mod ties;

use partune_index::Index;
use partune_trace::Trace;

/// The index of a text in the testkit's language.
fn index(text: &str) -> (Trace, Index) {
    let trace = partune_testkit::trace(text);
    let index = Index::build(&trace);
    (trace, index)
}

/// All that was noticed, one line each.
fn notes(index: &Index) -> Vec<String> {
    index.quality.entries().iter().map(|entry| format!("{} x{}", entry.message, entry.count)).collect()
}

/// What the documentation of the parts says of their memory.
#[test]
fn rows_are_as_small_as_documented() {
    let sizes = [
        (size_of::<partune_index::Message>(), 32),
        (size_of::<partune_index::Member>(), 40),
        (size_of::<partune_index::Instance>(), 28),
        (size_of::<partune_index::Grant>(), 64),
        (size_of::<partune_index::Transfer>(), 24),
        (size_of::<partune_index::ValueWait>(), 24),
        (size_of::<partune_index::Block>(), 20),
        (size_of::<partune_index::End>(), 24),
        (size_of::<partune_index::Gift>() + size_of::<u32>(), 20),
    ];
    for (found, documented) in sizes {
        assert_eq!(found, documented);
    }
}
