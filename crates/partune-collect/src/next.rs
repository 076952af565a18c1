//! A function of a library that a collector has a wrapper before: the library's own, the next in the loader's order, and calls of the wrapper.

use std::ffi::{CStr, CString};
use std::hint::cold_path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::call::{self, Call, LeftOut};
use crate::errno;
use crate::frame::Frame;
use crate::loader;
use crate::region::Region;
use crate::state::is_recorded;

/// The library's own function.
#[derive(Debug)]
pub struct Next {
    name: &'static CStr,
    /// Of two functions of a name that of this version, where there are two.
    version: Option<&'static CStr>,
    /// 0 until somebody calls it.
    address: AtomicUsize,
}

impl Next {
    pub const fn new(name: &'static CStr) -> Next {
        Next { name, version: None, address: AtomicUsize::new(0) }
    }

    pub const fn of_version(name: &'static CStr, version: &'static CStr) -> Next {
        Next { version: Some(version), ..Next::new(name) }
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

    /// Allocates nothing, and leaves `errno` alone: the first call may be in a signal's handler. A look-up in vain allocates, so what has a version is
    /// looked up by that first.
    #[cold]
    fn look(&self) -> usize {
        errno::kept(|| {
            let found = self.version.and_then(|version| loader::versioned(libc::RTLD_NEXT, self.name, version));
            let found = found.or_else(|| loader::symbol(libc::RTLD_NEXT, self.name));
            let address = found.unwrap_or_else(|| loader::missing(&self.name.to_string_lossy()));
            self.address.store(address, Ordering::Relaxed);
            address
        })
    }
}

/// A name with its end, of which the compiler makes it: `named(concat!(stringify!(name), "\0"))`.
///
/// # Panics
/// Where the compiler runs it, if there is no end or another one in it.
pub const fn named(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name ends with a zero, and has no other one"),
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

/// Where no call was begun: if that is because its calls are left out, nothing that the library calls inside of it is recorded until that ends.
pub fn left_out(region: &'static Region, frame: Frame) -> Option<LeftOut> {
    if is_recorded() && region.is_left_out() { LeftOut::begin(frame) } else { None }
}

/// Runs the library's own function where no call was begun.
#[inline]
pub fn without<T>(region: &'static Region, frame: Frame, act: impl FnOnce() -> T) -> T {
    let left_out = left_out(region, frame);
    let result = act();
    left_out.into_iter().for_each(LeftOut::end);
    result
}
