//! A wrapped function: its name for the archive, and the real function behind it.

use std::ffi::CString;
use std::hint::cold_path;
use std::sync::atomic::{AtomicUsize, Ordering};

use partune_collect::frame::Frame;
use partune_collect::{Call, Kind, Region, loader};

/// The name of the paradigm, as the archive's regions have it.
pub(crate) const PARADIGM: &str = "OpenSHMEM";

/// One function of OpenSHMEM.
#[derive(Debug)]
pub(crate) struct Function {
    region: Region,
    /// The library's own; 0 until somebody calls it.
    real: AtomicUsize,
}

impl Function {
    pub(crate) const fn new(name: &'static str) -> Function {
        Function { region: Region::new(name, Kind::Construct(PARADIGM)), real: AtomicUsize::new(0) }
    }

    /// The function of the library.
    #[allow(clippy::inline_always, reason = "a load")]
    #[inline(always)]
    pub(crate) fn real(&self) -> usize {
        let address = self.real.load(Ordering::Relaxed);
        if address == 0 {
            cold_path();
            return self.look();
        }
        address
    }

    #[cold]
    fn look(&self) -> usize {
        let name = self.region.name;
        let address = find(name).unwrap_or_else(|| loader::missing(name));
        self.real.store(address, Ordering::Relaxed);
        address
    }

    /// Begins to record a call; none if it is not to be recorded.
    #[inline(never)]
    pub(crate) fn enter(&'static self, frame: Frame) -> Option<Call<'static>> {
        match partune_collect::known(&self.region, frame, None) {
            Some(known) => Some(known.enter()),
            None => partune_collect::enter(&self.region, frame),
        }
    }

    /// The same of a function that looks whether something has come, and returns in any case.
    #[inline(never)]
    pub(crate) fn enter_poll(&'static self, frame: Frame) -> Option<Call<'static>> {
        match partune_collect::known(&self.region, frame, None) {
            Some(known) => Some(known.enter_poll()),
            None => partune_collect::enter_poll(&self.region, frame),
        }
    }
}

/// A function of the library by its name.
pub(crate) fn find(name: &str) -> Option<usize> {
    loader::symbol(libc::RTLD_NEXT, &CString::new(name).ok()?)
}
