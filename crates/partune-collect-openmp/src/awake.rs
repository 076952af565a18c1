//! Whether this process is recorded: decided at its first construct.

use std::sync::OnceLock;

/// The world of this process's threads; none if they are not recorded.
#[inline]
pub(crate) fn world() -> Option<u32> {
    static WORLD: OnceLock<Option<u32>> = OnceLock::new();
    let world = *WORLD.get_or_init(|| {
        partune_collect::begin(crate::NAME, "libgomp").then(|| partune_collect::identify_threads(crate::NAME))
    });
    // A child of `fork` is not recorded.
    world.filter(|_| partune_collect::is_recorded())
}
