//! The world of UPC: its threads, which are processes, and their shared memory; how recording begins.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use partune_collect::definitions::{self, Comm};
use partune_collect::frame::Frame;
use partune_collect::meeting::Set;
use partune_collect::{Region, job, leave};

/// The name of the paradigm, as the archive's regions have it.
pub(crate) const PARADIGM: &str = "UPC";

/// Says which thread has what a shared pointer points to, and where: by a pointer to the shared pointer.
pub(crate) type Where = unsafe extern "C" fn(pointer: *const c_void, thread: *mut c_int, address: *mut u64);

/// This process among the threads.
#[derive(Debug)]
pub(crate) struct World {
    /// All threads, this one among them.
    pub(crate) all: Set,
    locate: Where,
}

static WORLD: OnceLock<World> = OnceLock::new();

pub(crate) fn world() -> Option<&'static World> {
    WORLD.get()
}

impl World {
    /// # Safety
    /// It is a pointer to a shared pointer.
    pub(crate) unsafe fn locate(&self, pointer: *const c_void) -> (u32, u64) {
        let (mut thread, mut address) = (0, 0);
        // SAFETY: as the caller says.
        unsafe { (self.locate)(pointer, &raw mut thread, &raw mut address) };
        (thread as u32, address)
    }
}

/// Begins to record this process, which is one of so many threads. False if it is not recorded.
pub(crate) fn join(init: &'static Region, [thread, threads]: [c_int; 2], locate: Where, frame: Frame) -> bool {
    let (Ok(rank), Ok(size)) = (u32::try_from(thread), u32::try_from(threads)) else { return false };
    if world().is_some() {
        partune_collect::note("UPC threads that are threads of one process are not recorded, but for the first");
        return false;
    }
    if rank >= size || !partune_collect::begin(PARADIGM, "GASP") {
        return false;
    }
    partune_collect::record_everywhere();
    let mut call = partune_collect::enter(init, frame);
    let key = job::key(size);
    let number = partune_collect::identify(PARADIGM, rank, size, key);
    let members: Vec<u32> = (0..size).collect();
    let all = Comm { world: number, sequence: 0, members: &members, remote: &[], parent: None, name: "all threads" };
    let comm = definitions::comm(&all);
    let window = definitions::window(comm, 0, "shared memory", "");
    if let Some(call) = &mut call {
        call.returned();
        call.window_create(window, Some(1));
    }
    leave(call);
    partune_collect::record_in_phases();
    WORLD.set(World { all: Set { comm, window, rank, size, world: Some(key) }, locate }).is_ok()
}
