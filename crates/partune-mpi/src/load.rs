//! Finds the MPI library of the launcher that started this process, and its functions.
#![allow(unsafe_code, reason = "functions of a library that is found at run time")]

use std::ffi::{CStr, CString, c_char, c_int};

use partune_mpi_abi::{ABI_VERSION, Abi, Evidence, OPEN_MPI_WORLD, detect, launched, sonames, world_variables};

use crate::library::Library;

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
        "{library} was loaded, but sees {found} PE where the launcher started {started}: it is not the launcher's library\n  remedy: name the library that the launch line belongs to, --mpi-library libmpich.so.12, or let the launcher start processes of this one: srun --mpi=pmix"
    )]
    Foreign { library: String, found: i32, started: i32 },
}

/// The library with its name and what it says of itself.
pub struct Loaded {
    pub library: Library,
    pub abi: Abi,
    pub name: String,
    pub version: String,
}

/// Whether a launcher that is known started this process.
pub fn is_launched() -> bool {
    launched(is_set).is_some()
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// The number of PEs that this process's launcher says it started, if it does.
pub fn launched_size() -> Option<i32> {
    let abi = launched(is_set)?;
    let mut sizes = world_variables(abi).iter().filter(|(rank, _)| is_set(rank));
    sizes.find_map(|(_, size)| std::env::var(size).ok()?.parse().ok())
}

/// Loads the library named, or the first that is found of the launcher's interface, then of the others.
pub fn load(named: Option<&str>) -> Result<Loaded, LoadError> {
    let hinted = launched(is_set);
    let others = Abi::ALL.into_iter().filter(|abi| Some(*abi) != hinted);
    let names: Vec<CString> = match named {
        Some(name) => CString::new(name).into_iter().collect(),
        None => hinted.into_iter().chain(others).flat_map(sonames).map(|name| (*name).to_owned()).collect(),
    };
    let mut reason = String::new();
    for name in &names {
        match Library::open(name) {
            Ok(library) => return identify(library, name.to_string_lossy().into_owned()),
            Err(error) if reason.is_empty() => reason = error,
            Err(_) => {}
        }
    }
    let tried = names.iter().map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>().join(", ");
    Err(LoadError::Library { tried, reason })
}

fn identify(library: Library, name: String) -> Result<Loaded, LoadError> {
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
    Ok(Loaded { library, abi, name, version })
}
