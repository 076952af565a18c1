//! The MPI library of the program: found among what is loaded, never linked.
//!
//! Preloaded, the library is what comes next in the loader's order. A program that loads MPI itself (Python) may keep it out
//! of that order; then every loaded library that has an MPI is asked. What the program itself finds by names is in `lookup.rs`.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use partune_collect::loader::{Library, path};
pub(crate) use partune_collect::loader::{lookup, object, symbol};
use partune_collect::modules::{Generation, generation};

/// The address of a function after this library in the loader's order, under the first of its names that exists.
pub(crate) fn function(names: &[CString]) -> Option<usize> {
    let next = names.iter().find_map(|name| symbol(libc::RTLD_NEXT, name));
    next.or_else(|| names.iter().find_map(|name| others().iter().find_map(|library| symbol(library.handle, name))))
}

/// The address of data, as the program sees it.
pub(crate) fn data(name: &CStr) -> Option<usize> {
    symbol(libc::RTLD_DEFAULT, name).or_else(|| others().iter().find_map(|library| symbol(library.handle, name)))
}

/// This library itself, open.
pub(crate) fn own() -> Option<*mut c_void> {
    static OWN: OnceLock<Option<Library>> = OnceLock::new();
    OWN.get_or_init(|| Library::open(&own_path()?)).as_ref().map(|library| library.handle)
}

/// The library that an address lies in, for as long as it is asked. None for the program itself.
pub(crate) fn within<T>(address: usize, ask: impl FnOnce(*mut c_void) -> T) -> Option<T> {
    let library = Library::at(address)?;
    let answer = ask(library.handle);
    library.close();
    Some(answer)
}

/// Loaded libraries that have an MPI of their own. Looked for when others were loaded since; no lock is held, since a library's initialisation, during which
/// the loader is held, may ask.
fn others() -> &'static [Library] {
    struct Known {
        as_of: Generation,
        libraries: Vec<Library>,
    }
    static KNOWN: AtomicPtr<Known> = AtomicPtr::new(null_mut());
    let as_of = generation();
    // SAFETY: what is stored there is never freed.
    if let Some(known) = unsafe { KNOWN.load(Ordering::Acquire).as_ref() }
        && known.as_of == as_of
    {
        return &known.libraries;
    }
    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: `add_path` takes what is given here.
    unsafe { libc::dl_iterate_phdr(Some(add_path), (&raw mut paths).cast()) };
    let own = own_path();
    let with_mpi = |library: Library| {
        if symbol(library.handle, c"PMPI_Init").is_some() {
            return Some(library);
        }
        library.close();
        None
    };
    let paths = paths.iter().filter(|path| Some(*path) != own.as_ref());
    let libraries = paths.filter_map(|path| Library::open(path)).filter_map(with_mpi).collect();
    let known: &'static Known = Box::leak(Box::new(Known { as_of, libraries }));
    KNOWN.store(std::ptr::from_ref(known).cast_mut(), Ordering::Release);
    &known.libraries
}

unsafe extern "C" fn add_path(info: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> c_int {
    // SAFETY: the loader gives valid information, and `paths` is the vector of `others`.
    let (name, paths) = unsafe { ((*info).dlpi_name, &mut *paths.cast::<Vec<CString>>()) };
    // The program itself has no name here; it was asked already.
    // SAFETY: a C string, if any.
    if !name.is_null() && unsafe { *name } != 0 {
        // SAFETY: the loader's C string, which is not null.
        paths.push(unsafe { CStr::from_ptr(name) }.to_owned());
    }
    0
}

/// The path of the library that this code is in.
fn own_path() -> Option<CString> {
    path(own_path as fn() -> Option<CString> as usize)
}
