//! The C library's own functions, which come after ours in the loader's order.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use partune_collect::loader::{missing, symbol};

/// A function of the C library.
pub(crate) struct Function {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Function {
    pub(crate) const fn new(name: &'static CStr) -> Function {
        Function { name, address: AtomicUsize::new(0) }
    }

    #[inline]
    pub(crate) fn address(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.find(),
            address => address,
        }
    }

    #[cold]
    fn find(&self) -> usize {
        /// Conditions have changed: of two functions of a name this is the newer one, where there are two.
        const NEWER: &CStr = c"GLIBC_2.3.2";
        let newer = || {
            // SAFETY: a handle of the loader and C strings.
            let address = unsafe { libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), NEWER.as_ptr()) } as usize;
            Some(address).filter(|address| *address != 0)
        };
        // A look-up in vain makes a text in memory, for which the program may have functions with locks.
        let is_condition = self.name.to_bytes().starts_with(b"pthread_cond_");
        let newer = if cfg!(target_arch = "x86_64") && is_condition { newer() } else { None };
        let found = newer.or_else(|| symbol(libc::RTLD_NEXT, self.name));
        let address = found.unwrap_or_else(|| missing(&self.name.to_string_lossy()));
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Calls the C library's function of a name with words, which is how all arguments of these functions are passed; a number comes back.
macro_rules! call {
    ($name:ident($($word:expr),*)) => {{
        static FUNCTION: $crate::function::Function = $crate::function::Function::new(
            // SAFETY: a name, and its end.
            unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) },
        );
        let address = FUNCTION.address();
        // SAFETY: the function has as many arguments, each of which is a word.
        let function = unsafe {
            std::mem::transmute::<usize, unsafe extern "C" fn($($crate::function::word!($word)),*) -> std::ffi::c_int>(address)
        };
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
