//! A function of a library that a collector has a wrapper before: the library's own, the next in the loader's order, and calls of the wrapper.

use std::ffi::CString;
use std::hint::cold_path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::call::{self, Call};
use crate::frame::Frame;
use crate::loader;
use crate::region::Region;

/// The library's own function.
#[derive(Debug)]
pub struct Next {
    name: &'static str,
    /// 0 until somebody calls it.
    address: AtomicUsize,
}

impl Next {
    pub const fn new(name: &'static str) -> Next {
        Next { name, address: AtomicUsize::new(0) }
    }

    /// Its address; the program ends if the library has none.
    #[allow(clippy::inline_always, reason = "a load")]
    #[inline(always)]
    pub fn address(&self) -> usize {
        let address = self.address.load(Ordering::Relaxed);
        if address == 0 {
            cold_path();
            return self.look();
        }
        address
    }

    #[cold]
    fn look(&self) -> usize {
        let address = find(self.name).unwrap_or_else(|| loader::missing(self.name));
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// A function of the library by its name.
pub fn find(name: &str) -> Option<usize> {
    loader::symbol(libc::RTLD_NEXT, &CString::new(name).ok()?)
}

/// The file of the library that a function is in, which says which it is.
pub fn library(function: usize) -> String {
    let path = loader::path(function).unwrap_or_default();
    path.to_string_lossy().rsplit('/').next().unwrap_or_default().to_owned()
}

/// Begins to record a call; none if it is not to be recorded.
#[inline(never)]
pub fn enter(region: &'static Region, frame: Frame) -> Option<Call<'static>> {
    match call::known(region, frame, None) {
        Some(known) => Some(known.enter()),
        None => call::enter(region, frame),
    }
}

/// The same of a function that looks whether something has come, and returns in any case.
#[inline(never)]
pub fn enter_poll(region: &'static Region, frame: Frame) -> Option<Call<'static>> {
    match call::known(region, frame, None) {
        Some(known) => Some(known.enter_poll()),
        None => call::enter_poll(region, frame),
    }
}
