//! Names that the loader looks up for the recorder.
//!
//! The name of its function, `dlsym`, is taken by a collector, so that it is found by its version.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The loader's function that looks names up.
pub type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// The address of a name within a library that is open, or within all of them.
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "a handle of the loader's, which only the loader looks at")]
pub fn symbol(within: *mut c_void, name: &CStr) -> Option<usize> {
    let lookup = lookup()?;
    // SAFETY: a handle of the loader and a C string.
    let address = unsafe { lookup(within, name.as_ptr()) } as usize;
    (address != 0).then_some(address)
}

/// The loader's own function, which a collector has another one for: `dlsym` of the C library, or of whoever was preloaded after us.
pub fn lookup() -> Option<Lookup> {
    /// Versions under which C libraries have it: from 2.34 on, and before on each processor.
    const VERSIONS: [&CStr; 3] = [c"GLIBC_2.34", c"GLIBC_2.2.5", c"GLIBC_2.17"];
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    let mut address = FOUND.load(Ordering::Relaxed);
    if address == 0 {
        // SAFETY: a handle of the loader and C strings.
        let found = |version: &&CStr| unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) };
        address = VERSIONS.iter().map(found).find(|address| !address.is_null())? as usize;
        FOUND.store(address, Ordering::Relaxed);
    }
    // SAFETY: the type of the C library's function.
    Some(unsafe { std::mem::transmute::<usize, Lookup>(address) })
}
