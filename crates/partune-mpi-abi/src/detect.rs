//! Which interface a library has, from what can be seen of it.

use crate::Abi;
use core::ffi::CStr;

/// The data symbol that only Open MPI has.
pub const OPEN_MPI_WORLD: &CStr = c"ompi_mpi_comm_world";

/// `int MPI_Abi_get_version(int *major, int *minor)` of MPI 5.0; may be called before initialisation. A library with
/// another interface may have it too and then gives -1, so its existence alone proves nothing.
pub const ABI_VERSION: &CStr = c"PMPI_Abi_get_version";

/// What can be seen of a library without initialising it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Evidence<'a> {
    /// The major number that [`ABI_VERSION`] gave; none if the function does not exist.
    pub abi_major: Option<i32>,
    /// Whether [`OPEN_MPI_WORLD`] exists.
    pub open_mpi_world: bool,
    /// What `MPI_Get_library_version` gave; it may be called before initialisation. None if it does not exist or was
    /// not called.
    pub library_version: Option<&'a str>,
}

/// The interface of a library; none if nothing that was seen tells.
///
/// The standard interface goes first, because a library that has it may sit above another one in the same process.
/// An unknown library without Open MPI's symbol is not taken for MPICH: a wrong guess would crash the program.
pub fn detect(evidence: &Evidence) -> Option<Abi> {
    if evidence.abi_major.is_some_and(|major| major > 0) {
        return Some(Abi::Standard);
    }
    if evidence.open_mpi_world {
        return Some(Abi::OpenMpi);
    }
    let version = evidence.library_version?;
    // "MPICH Version:", "MVAPICH2 Version", "Intel(R) MPI Library", "CRAY MPICH version", "ParaStation MPI".
    let mpich = ["MPICH", "MVAPICH", "Intel(R) MPI", "ParaStation"];
    mpich.iter().any(|name| version.contains(name)).then_some(Abi::Mpich)
}
