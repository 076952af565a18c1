//! Where an address of symmetric memory lies: in the symmetric heap or in the global data of the program, and at which offset.
//!
//! Offsets are the same on all PEs. In the heap they count from where its mapping begins; in global data they are the addresses that the
//! program was linked with. Global data of shared libraries has no offset: nothing says that they lie alike.

use std::ffi::{c_int, c_void};
use std::hint::cold_path;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What other PEs can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Heap,
    Data,
}

/// Addresses from one to another; none while both are 0.
struct Known {
    begin: AtomicUsize,
    end: AtomicUsize,
}

impl Known {
    const fn new() -> Known {
        Known { begin: AtomicUsize::new(0), end: AtomicUsize::new(0) }
    }

    fn set(&self, range: &Range<usize>) {
        self.begin.store(range.start, Ordering::Relaxed);
        self.end.store(range.end, Ordering::Release);
    }

    /// The offset of an address, if it lies there.
    #[inline]
    fn offset(&self, address: usize) -> Option<usize> {
        let end = self.end.load(Ordering::Acquire);
        let begin = self.begin.load(Ordering::Relaxed);
        (begin <= address && address < end).then(|| address - begin)
    }
}

static HEAP: Known = Known::new();
/// From where the program lies in memory to the end of what it can write.
static DATA: Known = Known::new();

/// Which segment an address lies in, and its offset if that is known.
#[inline]
pub(crate) fn locate(address: usize) -> (Segment, Option<u64>) {
    if let Some(offset) = HEAP.offset(address) {
        return (Segment::Heap, Some(offset as u64));
    }
    if let Some(offset) = DATA.offset(address) {
        return (Segment::Data, Some(offset as u64));
    }
    cold_path();
    (Segment::Data, None)
}

/// The library gave this address of the symmetric heap, or none.
pub(crate) fn learn(address: usize) {
    if address != 0 && HEAP.offset(address).is_none() {
        find_heap(address);
    }
}

/// Finds where the program's global data lies.
pub(crate) fn find_data() {
    // SAFETY: `data` takes what is given here.
    unsafe { libc::dl_iterate_phdr(Some(data), std::ptr::null_mut()) };
}

#[cold]
fn find_heap(address: usize) {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    if let Some(range) = maps.lines().filter_map(mapping).find(|range| range.contains(&address)) {
        HEAP.set(&range);
    }
}

/// `7f00-7f10 rw-s …`
fn mapping(line: &str) -> Option<Range<usize>> {
    let (begin, end) = line.split_once(' ')?.0.split_once('-')?;
    Some(usize::from_str_radix(begin, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

/// Takes the first object, which is the program, and ends.
unsafe extern "C" fn data(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the loader's, with as many segments as it says.
    let (base, segments) = unsafe {
        let info = &*info;
        (info.dlpi_addr as usize, std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize))
    };
    let written = segments.iter().filter(|it| it.p_type == libc::PT_LOAD && it.p_flags & libc::PF_W != 0);
    if let Some(end) = written.map(|it| it.p_vaddr as usize + it.p_memsz as usize).max() {
        DATA.set(&(base..base + end));
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_heap_and_of_the_program_have_offsets() {
        static mut GLOBAL: u64 = 0;
        let global = &raw mut GLOBAL as usize;
        let local = Box::new([0_u8; 64]);
        assert_eq!(locate(global), (Segment::Data, None), "nothing is known yet");
        find_data();
        let (segment, offset) = locate(global);
        assert!(segment == Segment::Data && offset.is_some_and(|it| it > 0 && it < 1 << 32), "{offset:?}");
        let address = local.as_ptr() as usize;
        assert_eq!(locate(address).1, None);
        learn(0);
        assert_eq!(locate(address).1, None);
        learn(address);
        let (segment, offset) = locate(address + 8);
        assert_eq!((segment, offset), (Segment::Heap, locate(address).1.map(|it| it + 8)));
        assert!(offset.is_some());
    }

    #[test]
    fn lines_of_mappings() {
        let line = "7f3a00000000-7f3a10000000 rw-s 00000000 00:01 32769 /SYSV00000000 (deleted)";
        assert_eq!(mapping(line), Some(0x7f3a_0000_0000..0x7f3a_1000_0000));
        assert_eq!(mapping(""), None);
    }
}
