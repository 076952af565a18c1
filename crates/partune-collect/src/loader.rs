//! What the loader knows: names in libraries, and which library an address is in.
//!
//! The name of its function, `dlsym`, is taken by a collector, so that it is found by its version.

use std::ffi::{CStr, CString, c_char, c_void};
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

/// The same of a version of it.
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "a handle of the loader's, which only the loader looks at")]
pub fn versioned(within: *mut c_void, name: &CStr, version: &CStr) -> Option<usize> {
    // SAFETY: a handle of the loader and C strings.
    let address = unsafe { libc::dlvsym(within, name.as_ptr(), version.as_ptr()) } as usize;
    (address != 0).then_some(address)
}

/// The loader's own function, which a collector has another one for: `dlsym` of the C library, or of whoever was preloaded after us.
pub fn lookup() -> Option<Lookup> {
    /// Versions under which C libraries have it: from 2.34 on, and before on each processor.
    const VERSIONS: [&CStr; 3] = [c"GLIBC_2.34", c"GLIBC_2.2.5", c"GLIBC_2.17"];
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    let mut address = FOUND.load(Ordering::Relaxed);
    if address == 0 {
        address = VERSIONS.iter().find_map(|version| versioned(libc::RTLD_NEXT, c"dlsym", version))?;
        FOUND.store(address, Ordering::Relaxed);
    }
    // SAFETY: the type of the C library's function.
    Some(unsafe { std::mem::transmute::<usize, Lookup>(address) })
}

/// A library that is loaded, and open.
#[derive(Debug)]
pub struct Library {
    pub handle: *mut c_void,
}

// SAFETY: handles of the loader belong to no thread.
unsafe impl Send for Library {}
// SAFETY: looking a name up in a loaded library changes nothing that others see.
unsafe impl Sync for Library {}

impl Library {
    /// Opens what is loaded.
    pub fn open(path: &CStr) -> Option<Library> {
        // SAFETY: only asks for what is loaded.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Library { handle })
    }

    /// Opens a library, and loads it if need be: nobody but who has the handle finds its names.
    pub fn load(name: &CStr) -> Option<Library> {
        // SAFETY: what a library does when it is loaded is its own business.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        (!handle.is_null()).then_some(Library { handle })
    }

    /// The one that an address lies in. None for the program itself.
    pub fn at(address: usize) -> Option<Library> {
        Library::open(&path(address)?)
    }

    /// The program may unload it as if nobody had looked.
    pub fn close(self) {
        // SAFETY: opened once.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// Where the object begins in memory that an address lies in.
pub fn object(address: usize) -> Option<usize> {
    about(address).map(|about| about.dli_fbase as usize)
}

/// The path of the object that an address lies in.
pub fn path(address: usize) -> Option<CString> {
    let name = about(address)?.dli_fname;
    // SAFETY: a C string of the loader, if any.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned())
}

fn about(address: usize) -> Option<libc::Dl_info> {
    // SAFETY: a structure of pointers, filled by the call.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address and the structure.
    (unsafe { libc::dladdr(address as *const c_void, &raw mut about) } != 0).then_some(about)
}

/// Ends a program that calls a function which its library does not have. Without the wrapper it would not have been linked, or loaded, with this
/// library; 127 is how the loader ends it.
pub fn missing(name: &str) -> ! {
    let line = format!("partune: {name} does not exist in the library that the program runs with\n");
    // SAFETY: a buffer and its length.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
    // SAFETY: it does not come back.
    unsafe { libc::_exit(127) }
}
