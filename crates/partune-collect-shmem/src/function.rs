//! A wrapped function: its name for the archive, and the real function behind it.

use std::ffi::CStr;

use partune_collect::frame::Frame;
use partune_collect::next::{self, Next};
use partune_collect::{Call, Kind, Region};

/// The name of the paradigm, as the archive's regions have it.
pub(crate) const PARADIGM: &str = "OpenSHMEM";

/// One function of OpenSHMEM.
#[derive(Debug)]
pub(crate) struct Function {
    region: Region,
    next: Next,
}

impl Function {
    pub(crate) const fn new(name: &'static CStr) -> Function {
        let Ok(text) = name.to_str() else { panic!("names are ASCII") };
        Function { region: Region::new(text, Kind::Construct(PARADIGM)), next: Next::new(name) }
    }

    /// The function of the library.
    #[allow(clippy::inline_always, reason = "a load")]
    #[inline(always)]
    pub(crate) fn real(&self) -> usize {
        self.next.address()
    }

    /// Begins to record a call; none if it is not to be recorded.
    pub(crate) fn enter(&'static self, frame: Frame) -> Option<Call<'static>> {
        next::enter(&self.region, frame)
    }

    /// The same of a function that looks whether something has come, and returns in any case.
    pub(crate) fn enter_poll(&'static self, frame: Frame) -> Option<Call<'static>> {
        next::enter_poll(&self.region, frame)
    }
}
