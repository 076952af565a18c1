//! The runtime's own functions, which come after ours in the loader's order.
//!
//! A program may bring its runtime in a library that is in nobody's order but its own: modules of Python do. Then it is the one that the caller's
//! library brought.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use partune_collect::frame::Frame;
use partune_collect::loader::{Library, missing, object, symbol};

/// A function of the runtime.
pub(crate) struct Function {
    name: &'static CStr,
    /// The one that is in everybody's order; 0 if none was found yet.
    address: AtomicUsize,
    /// Where libraries begin that brought their own, and these.
    others: Mutex<Vec<(usize, usize)>>,
}

impl Function {
    pub(crate) const fn new(name: &'static CStr) -> Function {
        Function { name, address: AtomicUsize::new(0), others: Mutex::new(Vec::new()) }
    }

    /// Its address, for a call that came from this frame.
    #[inline]
    pub(crate) fn address(&self, frame: Frame) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.find(frame),
            address => address,
        }
    }

    #[cold]
    fn find(&self, frame: Frame) -> usize {
        if let Some(address) = symbol(libc::RTLD_NEXT, self.name) {
            self.address.store(address, Ordering::Relaxed);
            return address;
        }
        self.of_caller(frame.return_address()).unwrap_or_else(|| missing(&self.name.to_string_lossy()))
    }

    /// The one that the library brought which an address is in. It stays open: others remember the address.
    fn of_caller(&self, caller: usize) -> Option<usize> {
        let begin = object(caller)?;
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, address)) = others.iter().find(|(other, _)| *other == begin) {
            return Some(*address);
        }
        let address = symbol(Library::at(caller)?.handle, self.name)?;
        others.push((begin, address));
        Some(address)
    }
}

/// Calls the runtime's function of a name with words, which is how all arguments of these functions are passed; a word comes back.
macro_rules! call {
    ($frame:expr, $name:ident($($word:expr),*)) => {{
        static FUNCTION: $crate::runtime::Function = $crate::runtime::Function::new(
            // SAFETY: a name, and its end.
            unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) },
        );
        let address = FUNCTION.address($frame);
        // SAFETY: the function has as many arguments, each of which is a word.
        let function = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn($($crate::runtime::word!($word)),*) -> usize>(address) };
        // SAFETY: the arguments that the program gave.
        unsafe { function($($word),*) }
    }};
}

macro_rules! word {
    ($word:expr) => {
        usize
    };
}

pub(crate) use {call, word};
