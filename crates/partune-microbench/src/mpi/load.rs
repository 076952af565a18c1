//! Finds the MPI library of the launcher that started this process, and its functions.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use partune_mpi_abi::{ABI_VERSION, Abi, Evidence, OPEN_MPI_WORLD, detect, launched, sonames, world_variables};

/// Why there is no MPI here.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(
        "no MPI library is found: tried {tried} ({reason})\n  remedy: name the library that the launch line belongs to: --mpi-library libmpi.so.40"
    )]
    Library { tried: String, reason: String },
    #[error(
        "{library} is no MPI library that partune knows (it says {version:?})\n  remedy: use Open MPI, an MPICH (Intel MPI, MVAPICH, Cray), or one with the MPI 5.0 ABI"
    )]
    Unknown { library: String, version: String },
    #[error("{library} has no {function}\n  remedy: use a library of MPI 3 or later")]
    Function { library: String, function: &'static str },
    #[error(
        "{library} was loaded, but sees {found} PE where the launcher started {started}: it is not the launcher's library\n  remedy: name the library that the launch line belongs to: --mpi-library libmpich.so.12"
    )]
    Foreign { library: String, found: i32, started: i32 },
}

/// A loaded library. It stays loaded until the process ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Library {
    handle: *mut c_void,
    pub(super) abi: Abi,
}

/// The library with its name and what it says of itself.
pub(super) struct Loaded {
    pub(super) library: Library,
    pub(super) name: String,
    pub(super) version: String,
}

/// Whether a launcher that is known started this process.
pub(crate) fn is_launched() -> bool {
    launched(is_set).is_some()
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// The number of PEs that this process's launcher says it started, if it does.
pub(super) fn launched_size() -> Option<i32> {
    let abi = launched(is_set)?;
    let mut sizes = world_variables(abi).iter().filter(|(rank, _)| is_set(rank));
    sizes.find_map(|(_, size)| std::env::var(size).ok()?.parse().ok())
}

/// Loads the library named, or the first that is found of the launcher's interface, then of the others.
pub(super) fn load(named: Option<&str>) -> Result<Loaded, LoadError> {
    let hinted = launched(is_set);
    let others = Abi::ALL.into_iter().filter(|abi| Some(*abi) != hinted);
    let names: Vec<CString> = match named {
        Some(name) => CString::new(name).into_iter().collect(),
        None => hinted.into_iter().chain(others).flat_map(sonames).map(|name| (*name).to_owned()).collect(),
    };
    let mut reason = String::new();
    for name in &names {
        match open(name) {
            Ok(handle) => return identify(handle, name.to_string_lossy().into_owned()),
            Err(error) if reason.is_empty() => reason = error,
            Err(_) => {}
        }
    }
    let tried = names.iter().map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>().join(", ");
    Err(LoadError::Library { tried, reason })
}

fn open(name: &CStr) -> Result<*mut c_void, String> {
    // Global, because plugins of Open MPI look for the library's symbols among those of the program.
    // SAFETY: the name is a C string; initialisers of an MPI library may run at any time before it is used.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: dlerror gives a C string or null, valid until the next call of the loader.
    let message = unsafe { libc::dlerror() };
    if message.is_null() {
        return Err("unknown reason".to_owned());
    }
    // SAFETY: dlerror's message is not null, ends with a zero byte, and stays until the next call of the loader.
    Err(unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned())
}

fn identify(handle: *mut c_void, name: String) -> Result<Loaded, LoadError> {
    let mut library = Library { handle, abi: Abi::Standard };
    let abi_major = library.symbol(ABI_VERSION).map(|function| {
        let (mut major, mut minor) = (-1, -1);
        // SAFETY: MPI 5.0 gives the function this type and lets it be called at any time.
        let function: extern "C" fn(*mut c_int, *mut c_int) -> c_int = unsafe { std::mem::transmute(function) };
        function(&raw mut major, &raw mut minor);
        major
    });
    let version = library.symbol(c"PMPI_Get_library_version").map(|function| {
        // The longest of all interfaces.
        let mut text = vec![0_u8; 8192];
        let mut length = 0;
        // SAFETY: MPI 3.0 gives the function this type and lets it be called at any time; the buffer is long enough.
        let function: extern "C" fn(*mut c_char, *mut c_int) -> c_int = unsafe { std::mem::transmute(function) };
        function(text.as_mut_ptr().cast(), &raw mut length);
        let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        text.to_string_lossy().trim().to_owned()
    });
    let open_mpi_world = library.symbol(OPEN_MPI_WORLD).is_some();
    let found = detect(&Evidence { abi_major, open_mpi_world, library_version: version.as_deref() });
    let version = version.unwrap_or_default();
    let Some(abi) = found else { return Err(LoadError::Unknown { library: name, version }) };
    library.abi = abi;
    Ok(Loaded { library, name, version })
}

impl Library {
    /// The address of a function or of data of the library; none if it has no such.
    pub(super) fn symbol(&self, name: &CStr) -> Option<usize> {
        // SAFETY: the handle is of a library that stays loaded, the name is a C string.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!address.is_null()).then_some(address as usize)
    }
}
