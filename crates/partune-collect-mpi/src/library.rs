//! The MPI library of the program: found among what is loaded, never linked.
//!
//! Preloaded, the library is what comes next in the loader's order. A program that loads MPI itself (Python) may keep it out
//! of that order; then every loaded library that has an MPI is asked.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The address of a function after this library in the loader's order, under the first of its names that exists.
pub(crate) fn function(names: &[CString]) -> Option<usize> {
    let next = names.iter().find_map(|name| symbol(libc::RTLD_NEXT, name));
    next.or_else(|| names.iter().find_map(|name| others().iter().find_map(|library| symbol(library.handle, name))))
}

/// The address of data, as the program sees it.
pub(crate) fn data(name: &CStr) -> Option<usize> {
    symbol(libc::RTLD_DEFAULT, name).or_else(|| others().iter().find_map(|library| symbol(library.handle, name)))
}

fn symbol(within: *mut c_void, name: &CStr) -> Option<usize> {
    // SAFETY: a handle of the loader and a C string.
    let address = unsafe { libc::dlsym(within, name.as_ptr()) } as usize;
    (address != 0).then_some(address)
}

/// A library that is loaded; never closed.
struct Library {
    handle: *mut c_void,
}

// SAFETY: handles of the loader belong to no thread.
unsafe impl Send for Library {}
// SAFETY: looking a name up in a loaded library changes nothing that others see.
unsafe impl Sync for Library {}

/// Loaded libraries that have an MPI of their own. Looked for once: MPI is loaded when its first function is called.
fn others() -> &'static [Library] {
    static OTHERS: OnceLock<Vec<Library>> = OnceLock::new();
    OTHERS.get_or_init(|| {
        let mut paths: Vec<CString> = Vec::new();
        // SAFETY: `add_path` takes what is given here.
        unsafe { libc::dl_iterate_phdr(Some(add_path), (&raw mut paths).cast()) };
        let open = |path: CString| {
            // SAFETY: only asks for what is loaded.
            let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
            (!handle.is_null()).then_some(Library { handle })
        };
        let has_mpi = |library: &Library| symbol(library.handle, c"PMPI_Init").is_some();
        let own = own_path();
        paths.retain(|path| Some(path) != own.as_ref());
        paths.into_iter().filter_map(open).filter(has_mpi).collect()
    })
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
    // SAFETY: a structure of pointers, filled by the call.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    let here: *const c_void = (own_path as fn() -> Option<CString> as *const ()).cast();
    // SAFETY: an address of this library and the structure.
    let found = unsafe { libc::dladdr(here, &raw mut about) } != 0;
    let name: *const c_char = if found { about.dli_fname } else { null_mut() };
    // SAFETY: a C string of the loader.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned())
}
