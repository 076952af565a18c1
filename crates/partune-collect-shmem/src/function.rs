//! A wrapped function: its name for the archive, and the real function behind it.

use std::ffi::CStr;

use partune_collect::frame::Frame;
use partune_collect::next::{self, Next};
use partune_collect::{Call, Kind, LeftOut, Region};

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
        Function::of_family(name, text)
    }

    /// One of several that differ in context, type or size.
    pub(crate) const fn of_family(name: &'static CStr, family: &'static str) -> Function {
        let Ok(text) = name.to_str() else { panic!("names are ASCII") };
        Function { region: Region::of_family(text, family, Kind::Construct(PARADIGM)), next: Next::new(name) }
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

    /// What is to be ended when the library's function has returned, if its calls are left out.
    pub(crate) fn left_out(&'static self, frame: Frame) -> Option<LeftOut> {
        next::left_out(&self.region, frame)
    }

    /// Runs the library's function where no call was begun.
    pub(crate) fn without<T>(&'static self, frame: Frame, real: impl FnOnce() -> T) -> T {
        next::without(&self.region, frame, real)
    }
}
