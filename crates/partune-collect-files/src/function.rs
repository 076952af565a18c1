//! A function of the C library: its name for the archive, and the one behind it.

use std::ffi::CStr;

use partune_collect::frame::Frame;
use partune_collect::next::{self, Next};
use partune_collect::{Call, Kind, Region, is_left_alone};

use partune_collect::callers::{self, Caller};
use partune_collect::errno;

/// The name of the paradigm, as the archive's regions have it.
const PARADIGM: &str = "POSIX I/O";

/// One function; compilers and feature macros make several of one, which the archive calls by its plain name.
#[derive(Debug)]
pub(crate) struct Function {
    region: Region,
    next: Next,
}

impl Function {
    pub(crate) const fn new(symbol: &'static CStr, name: &'static str) -> Function {
        Function { region: Region::new(name, Kind::Construct(PARADIGM)), next: Next::new(symbol) }
    }

    /// The function of the library.
    #[allow(clippy::inline_always, reason = "a load")]
    #[inline(always)]
    pub(crate) fn real(&self) -> usize {
        self.next.address()
    }

    /// Begins to record a call of the program; none if it is not the program's, or not to be recorded.
    #[inline(never)]
    pub(crate) fn enter(&'static self, frame: Frame) -> Option<Call<'static>> {
        if callers::of(frame.return_address()) != Caller::Program {
            return None;
        }
        errno::kept(|| next::enter(&self.region, frame))
    }

    /// The same of a function that handlers of signals may call (signal-safety(7)): none if one may have called it.
    #[inline(never)]
    pub(crate) fn enter_unless_in_handler(&'static self, frame: Frame) -> Option<Call<'static>> {
        let is_others = callers::known(frame.return_address()).is_some_and(|caller| caller != Caller::Program);
        if is_others || is_left_alone() { None } else { self.enter(frame) }
    }
}

/// A wrapper: the function's symbol and its name in the archive, its parameters, and what is done instead of calling it at once when the process is
/// recorded, where `real()` calls it and `frame` is the caller's.
macro_rules! wrapper {
    ($($symbol:ident as $name:literal ($($parameter:ident: $kind:ty),*) -> $result:ty => |$function:ident, $frame:ident, $real:ident| $act:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol($($parameter: $kind),*) -> $result {
            static FUNCTION: $crate::function::Function = $crate::function::Function::new(
                ::partune_collect::next::named(concat!(stringify!($symbol), "\0")),
                $name,
            );
            let real: unsafe extern "C" fn($($kind),*) -> $result = unsafe { ::std::mem::transmute(FUNCTION.real()) };
            if !::partune_collect::is_recorded() {
                return unsafe { real($($parameter),*) };
            }
            let ($function, $frame) = (&FUNCTION, ::partune_collect::frame::here());
            let $real = || unsafe { real($($parameter),*) };
            $act
        }
    )*};
}

pub(crate) use wrapper;
