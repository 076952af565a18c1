//! What the fuzz target of LLVM's representation does with its input.
//!
//! For `fuzz_targets/ir.rs` and for the tests of `partune-kernels`, which run it over changes of what a compiler wrote.

use partune_kernels::cores;
use partune_kernels::ir::source_loops;

/// Text of LLVM's representation. Besides not panicking, bounds are numbers and in order.
pub(crate) fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for it in source_loops(&text).unwrap_or_default() {
        assert!(it.lines.0 <= it.lines.1);
        let Some(asked) = it.asked else { continue };
        for core in cores() {
            let (m, ma) = asked.bounds(core);
            assert!(m.is_finite() && ma.is_finite() && m <= ma);
        }
    }
}
