//! The C library's own functions, which come after ours in the loader's order.

use std::ffi::CStr;

use partune_collect::next::Next;

/// A function of the C library. Conditions have changed: there are two of each name where there was an older C library.
pub(crate) const fn next(name: &'static CStr) -> Next {
    let is_condition =
        matches!(name.to_bytes(), [b'p', b't', b'h', b'r', b'e', b'a', b'd', b'_', b'c', b'o', b'n', b'd', b'_', ..]);
    if cfg!(target_arch = "x86_64") && is_condition { Next::of_version(name, c"GLIBC_2.3.2") } else { Next::new(name) }
}

/// Calls the C library's function of a name with words, which is how all arguments of these functions are passed; a number comes back.
macro_rules! call {
    ($name:ident($($word:expr),*)) => {{
        static NEXT: partune_collect::next::Next =
            $crate::function::next(partune_collect::next::named(concat!(stringify!($name), "\0")));
        let address = NEXT.address();
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
