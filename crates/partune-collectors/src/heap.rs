//! The memory of the collectors: that of the C library, by names that nobody puts another function in front of.
//!
//! A program may bring functions of its own that give memory, and these lock what threads wait for; what is recorded of that needs memory as well, and
//! must not ask them for it while they are at work. Some programs, such as those that are checked for races (`-fsanitize=thread`), do put a function in
//! front of `__libc_memalign`, and none of the others; so what has to be more aligned than usual is a part of what `__libc_malloc` gives.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

/// As aligned as what the C library gives without being asked.
const USUAL: usize = 2 * size_of::<usize>();

#[global_allocator]
static HEAP: Heap = Heap;

struct Heap;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(at: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_free(at: *mut c_void);
}

// SAFETY: the C library's functions do what is asked of them.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= USUAL {
            // SAFETY: a size.
            return unsafe { __libc_malloc(layout.size()) }.cast();
        }
        let Some(room) = layout.size().checked_add(layout.align()) else { return std::ptr::null_mut() };
        // SAFETY: a size.
        let begin = unsafe { __libc_malloc(room) };
        if begin.is_null() {
            return begin.cast();
        }
        // SAFETY: at least the usual alignment further on and at most this one, so that a word lies before it and there is room behind.
        unsafe {
            let at = begin.byte_add(layout.align() - begin.addr() % layout.align());
            at.cast::<*mut c_void>().sub(1).write(begin);
            at.cast()
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= USUAL {
            // SAFETY: a size.
            return unsafe { __libc_calloc(1, layout.size()) }.cast();
        }
        // SAFETY: as the caller said.
        let at = unsafe { self.alloc(layout) };
        if !at.is_null() {
            // SAFETY: there are as many bytes.
            unsafe { at.write_bytes(0, layout.size()) };
        }
        at
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= USUAL {
            // SAFETY: memory of this heap.
            return unsafe { __libc_realloc(at.cast(), size) }.cast();
        }
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return std::ptr::null_mut() };
        // SAFETY: as the caller said.
        let new = unsafe { self.alloc(wanted) };
        if !new.is_null() {
            // SAFETY: both have as many bytes.
            unsafe { new.copy_from_nonoverlapping(at, layout.size().min(size)) };
            // SAFETY: memory of this heap.
            unsafe { self.dealloc(at, layout) };
        }
        new
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let at: *mut c_void = at.cast();
        // SAFETY: memory of this heap; before what is more aligned than usual lies where it begins.
        unsafe { __libc_free(if layout.align() <= USUAL { at } else { at.cast::<*mut c_void>().sub(1).read() }) };
    }
}
