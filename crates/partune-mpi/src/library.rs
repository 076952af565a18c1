//! A library that is found at run time, and its functions.
#![allow(unsafe_code, reason = "functions of a library that is found at run time")]

use std::ffi::{CStr, c_void};

/// A loaded library. It stays loaded until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Library(*mut c_void);

impl Library {
    /// By the name that the loader knows it by; otherwise what the loader says.
    pub fn open(name: &CStr) -> Result<Library, String> {
        // Global, because plugins of Open MPI look for the library's symbols among those of the program.
        Library::open_as(name, libc::RTLD_GLOBAL)
    }

    /// The same with its symbols seen by nobody else.
    pub fn open_alone(name: &CStr) -> Result<Library, String> {
        Library::open_as(name, libc::RTLD_LOCAL)
    }

    fn open_as(name: &CStr, visible: i32) -> Result<Library, String> {
        // SAFETY: the name is a C string; initialisers of such a library may run at any time before it is used.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | visible) };
        if !handle.is_null() {
            return Ok(Library(handle));
        }
        // SAFETY: dlerror gives a C string or null, valid until the next call of the loader.
        let message = unsafe { libc::dlerror() };
        if message.is_null() {
            return Err("unknown reason".to_owned());
        }
        // SAFETY: dlerror's message is not null, ends with a zero byte, and stays until the next call of the loader.
        Err(unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned())
    }

    /// The first that is found of several names; otherwise what was tried, and what the loader said of the first.
    pub fn first(names: &[&CStr], open: fn(&CStr) -> Result<Library, String>) -> Result<Library, String> {
        let mut reason = None;
        for name in names {
            match open(name) {
                Ok(library) => return Ok(library),
                Err(error) => reason = reason.or(Some(error)),
            }
        }
        Err(reason.unwrap_or_else(|| "no library of it is known for this launcher".to_owned()))
    }

    /// The address of a function or of data of the library; none if it has no such.
    pub fn symbol(&self, name: &CStr) -> Option<usize> {
        // SAFETY: the handle is of a library that stays loaded, the name is a C string.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address as usize)
    }
}

/// A structure of functions of a library: `field "symbol" (types of arguments) -> type of the result;`. Symbols begin with a prefix. `find`
/// tells the first that the library does not have.
#[macro_export]
macro_rules! functions {
    ($name:ident $prefix:literal $($field:ident $symbol:literal ($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that are used.
        struct $name { $($field: extern "C" fn($($argument),*) $(-> $result)?),* }

        #[allow(unsafe_code, reason = "functions of a library that is found at run time")]
        impl $name {
            fn find(library: &$crate::Library) -> Result<$name, &'static str> {
                $(
                    let symbol = concat!($prefix, $symbol, "\0").as_bytes();
                    let name = std::ffi::CStr::from_bytes_with_nul(symbol).unwrap_or_default();
                    let address = library.symbol(name).ok_or($symbol)?;
                    // SAFETY: whoever specifies the function gives it this type.
                    let $field: extern "C" fn($($argument),*) $(-> $result)? = unsafe { std::mem::transmute(address) };
                )*
                Ok($name { $($field),* })
            }
        }
    };
}
