//! Tests of the index, on traces written in the testkit's language and on random ones.

mod blocks;
mod clocks;
mod collectives;
mod dependences;
mod garbage;
mod locks;
mod messages;
mod random;
mod rma;
mod teams;

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
