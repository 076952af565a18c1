//! How recording begins with the images, and ends with them.
//!
//! Coarrays that are not allocated are registered by functions that the loader runs before the main program; the library starts itself at the
//! first of them, or at the main program's own call. We start it before it does, so that its start is an operation of its own.

use std::ffi::c_int;
use std::mem::transmute;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use partune_collect::frame::Frame;
use partune_collect::next::{Next, enter, find, library};
use partune_collect::{Call, How, Region, job, leave, suspend};

use crate::{PARADIGM, regions, teams};

/// Starts the library, if nobody did; returns whether it has. `init` is its function, `arguments` those of the program, if they are known by now.
pub(crate) fn start(frame: Frame, init: &Next, arguments: [usize; 2]) -> bool {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.load(Ordering::Relaxed) || STARTED.swap(true, Ordering::Relaxed) {
        return false;
    }
    // SAFETY: the library's, which takes the arguments of the program or nothing.
    let real: unsafe extern "C" fn(usize, usize) = unsafe { transmute(init.address()) };
    partune_collect::begin(PARADIGM, &library(init.address()));
    partune_collect::record_everywhere();
    let call = enter(&regions::INIT, frame);
    // SAFETY: as the caller said.
    unsafe { real(arguments[0], arguments[1]) };
    if partune_collect::is_recorded() {
        join();
    }
    leave(call);
    partune_collect::record_in_phases();
    true
}

/// Finds out which image this process is.
fn join() -> Option<()> {
    // SAFETY: the library's, which takes a team, or a distance to it: 0 is the one of all images.
    let this_image: unsafe extern "C" fn(usize) -> c_int = unsafe { transmute(named("this_image")?) };
    // SAFETY: as above; also whose number, or which images count: 0 are all of them.
    let num_images: unsafe extern "C" fn(usize, usize) -> c_int = unsafe { transmute(named("num_images")?) };
    // SAFETY: the library has started.
    let (image, size) = unsafe { (this_image(0), num_images(0, 0)) };
    let (rank, size) = (u32::try_from(image - 1).ok()?, u32::try_from(size).ok()?);
    let key = job::key(size);
    let world = partune_collect::identify(PARADIGM, rank, size, key);
    teams::set_world(world, rank, size, key);
    Some(())
}

/// A function of the library under either of its prefixes.
pub(crate) fn named(bare: &str) -> Option<usize> {
    ["_gfortran_caf_", "_caf_extensions_"].iter().find_map(|prefix| find(&format!("{prefix}{bare}")))
}

/// The main program runs: gfortran's library has set its handlers of signals, which it does after the first coarrays were registered.
pub(crate) fn is_running() {
    static SEEN: Once = Once::new();
    SEEN.call_once(partune_collect::watch_again);
}

/// The end of the main program.
pub(crate) fn finalize(frame: Frame, real: impl FnOnce()) {
    partune_collect::record_everywhere();
    let call: Option<Call<'static>> = enter(&regions::FINALIZE, frame);
    real();
    leave(call);
    partune_collect::end(How::Finalize);
}

/// A statement from which nobody comes back. The library ends MPI then, or aborts it.
pub(crate) fn stop(region: &'static Region, frame: Frame, how: How, real: impl FnOnce()) {
    partune_collect::record_everywhere();
    leave(enter(region, frame));
    partune_collect::end(how);
    suspend(real);
}
