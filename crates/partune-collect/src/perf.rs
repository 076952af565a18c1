//! Events of the processor and the kernel that the calling thread counts: `perf_event_open`.

use std::fs::File;
use std::os::fd::FromRawFd as _;

pub(crate) const SOFTWARE: u32 = 1;
/// Of [`SOFTWARE`]: nanoseconds on a processor.
pub(crate) const TASK_CLOCK: u64 = 1;

/// The kernel and the hypervisor are not counted (bits 5 and 6 of the flags): without privileges they may not be.
pub(crate) const USER_ONLY: u64 = 1 << 5 | 1 << 6;

/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: u64 = 8;

/// `struct perf_event_attr`, its first version and what follows up to `config2`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) kind: u32,
    pub(crate) size: u32,
    pub(crate) config: u64,
    pub(crate) period: u64,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    pub(crate) flags: u64,
    pub(crate) wakeup: u32,
    pub(crate) breakpoint: u32,
    pub(crate) config1: u64,
    pub(crate) config2: u64,
}

impl Attributes {
    /// Opens the event for the calling thread on any processor; `None` if this machine or its administrator does not give it.
    pub(crate) fn open(self) -> Option<File> {
        let attributes = Attributes { size: size_of::<Attributes>() as u32, ..self };
        // SAFETY: the structure outlives the call; the thread itself, any processor, no group.
        let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, CLOSE_ON_EXEC) };
        // SAFETY: a new descriptor that nobody else has.
        (fd >= 0).then(|| unsafe { File::from_raw_fd(fd as i32) })
    }
}
