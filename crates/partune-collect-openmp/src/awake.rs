//! Whether this process is recorded: decided at its first construct.
//!
//! Functions of GCC's runtime are LLVM's as well. Where that one tells a tool what it does, they only pass calls on, so that nothing is told twice.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use partune_collect::loader::symbol;

static WORLD: OnceLock<Option<u32>> = OnceLock::new();
/// Whether the runtime tells what it does.
static TOLD: AtomicBool = AtomicBool::new(false);

/// The world of this process's threads, for those who see the runtime from outside; none if they are not recorded, or if the runtime tells of itself.
#[inline]
pub(crate) fn world() -> Option<u32> {
    let world = known_world();
    if TOLD.load(Ordering::Relaxed) { None } else { world }
}

/// The same, whether or not the runtime tells of itself.
#[inline]
pub(crate) fn known_world() -> Option<u32> {
    let world = WORLD.get().map_or_else(first, |world| *world);
    // A child of `fork` is not recorded.
    world.filter(|_| partune_collect::is_recorded())
}

/// The runtime tells of itself, from now on, to functions that it was given. Returns whether the process is recorded.
pub(crate) fn is_told(version: &str) -> bool {
    let is_recorded = decide(version).is_some();
    TOLD.store(is_recorded, Ordering::Relaxed);
    is_recorded
}

#[cold]
fn first() -> Option<u32> {
    // A runtime that tells of itself looks for somebody to tell when it begins, at the latest now.
    if let Some(ask) = symbol(libc::RTLD_NEXT, c"omp_get_max_threads") {
        // SAFETY: the runtime's function.
        unsafe { std::mem::transmute::<usize, extern "C" fn() -> i32>(ask)() };
    }
    decide("libgomp")
}

fn decide(version: &str) -> Option<u32> {
    *WORLD.get_or_init(|| {
        partune_collect::begin(crate::NAME, version).then(|| partune_collect::identify_threads(crate::NAME))
    })
}
