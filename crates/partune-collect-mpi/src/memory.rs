//! Memory from the system: nothing of the recorder may call `malloc` where the program communicates.

/// Zeroed memory of `bytes`; none if the system has none.
pub(crate) fn allocate(bytes: usize) -> Option<*mut usize> {
    partune_collect::memory::zeroed(bytes).map(<*mut u8>::cast)
}

/// # Safety
/// The memory must be of [`allocate`], with the same size, and no longer used.
pub(crate) unsafe fn free(memory: *mut usize, bytes: usize) {
    // SAFETY: as the caller said.
    unsafe { libc::munmap(memory.cast(), bytes) };
}

/// Room for the arrays of one call, kept by its thread for the next one.
pub(crate) struct Scratch {
    memory: *mut usize,
    bytes: usize,
}

impl Scratch {
    pub(crate) const fn new() -> Scratch {
        Scratch { memory: std::ptr::null_mut(), bytes: 0 }
    }

    /// At least `bytes`, aligned to pages; what was in it is lost. Null if there is no memory.
    pub(crate) fn room(&mut self, bytes: usize) -> *mut usize {
        const LEAST: usize = 16 * 1024;
        if bytes > self.bytes {
            self.release();
            let bytes = bytes.next_power_of_two().max(LEAST);
            if let Some(memory) = allocate(bytes) {
                (self.memory, self.bytes) = (memory, bytes);
            }
        }
        self.memory
    }

    fn release(&mut self) {
        if !self.memory.is_null() {
            // SAFETY: allocated in `room` with this size, and the caller's room is asked for anew.
            unsafe { free(self.memory, self.bytes) };
        }
        (self.memory, self.bytes) = (std::ptr::null_mut(), 0);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.release();
    }
}
