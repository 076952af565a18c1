//! Events of the processor and the kernel that the calling thread counts: `perf_event_open`.

use std::fs::File;
use std::os::fd::{FromRawFd as _, IntoRawFd as _, RawFd};

use crate::descriptor::out_of_the_way;

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

/// An event that is kept to be read.
pub(crate) struct Event {
    /// Belongs to the program if it is not this event by now.
    descriptor: RawFd,
    /// No other event has it.
    id: u64,
}

impl Event {
    pub(crate) fn keep(event: File) -> Option<Event> {
        let descriptor = out_of_the_way(event).into_raw_fd();
        id(descriptor).map(|id| Event { descriptor, id })
    }

    /// Whether the program has left it open.
    pub(crate) fn is_open(&self) -> bool {
        id(self.descriptor) == Some(self.id)
    }

    /// What it has counted, while it [is open](Event::is_open). By a system call that no collector sees.
    pub(crate) fn read(&self) -> Option<u64> {
        let mut count = 0_u64;
        // SAFETY: the event's descriptor, and a place for what it counts.
        let bytes = unsafe { libc::syscall(libc::SYS_read, self.descriptor, &raw mut count, size_of::<u64>()) };
        (bytes == size_of::<u64>() as i64).then_some(count)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.is_open() {
            // SAFETY: its own descriptor.
            unsafe { libc::syscall(libc::SYS_close, self.descriptor) };
        }
    }
}

/// The number of the event that a descriptor is; none if it is something else.
fn id(descriptor: RawFd) -> Option<u64> {
    /// `PERF_EVENT_IOC_ID`.
    const ID: libc::c_ulong = 0x8008_2407;
    let mut id = 0_u64;
    // SAFETY: a number, and a place for what is asked of events.
    (unsafe { libc::syscall(libc::SYS_ioctl, descriptor, ID, &raw mut id) } == 0).then_some(id)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    fn event() -> Option<Event> {
        Event::keep(
            Attributes { kind: SOFTWARE, config: TASK_CLOCK, flags: USER_ONLY, ..Attributes::default() }.open()?,
        )
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no events")]
    fn a_file_of_the_program_that_has_the_number_of_an_event_stays_open() {
        // Some systems have none.
        let Some((event, other)) = event().zip(event()) else { return };
        assert!(event.is_open() && event.read().is_some());
        let own = tempfile::tempfile().expect("a file");
        for taken in [own.as_raw_fd(), other.descriptor] {
            // SAFETY: two descriptors.
            unsafe { libc::dup2(taken, event.descriptor) };
            assert!(!event.is_open());
        }
        let number = event.descriptor;
        drop(event);
        assert!(id(number) == Some(other.id), "it was not closed");
    }
}
