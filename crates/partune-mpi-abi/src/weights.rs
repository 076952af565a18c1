//! The two special weights of distributed graphs, which MPICH keeps in variables.

use crate::Abi;
use core::ffi::CStr;

/// Where a special weight is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// The address itself.
    Number(usize),
    /// The pointer that this data symbol holds.
    ValueOf(&'static CStr),
}

/// `MPI_UNWEIGHTED`.
pub const fn unweighted(abi: Abi) -> Weight {
    match abi {
        Abi::OpenMpi => Weight::Number(2),
        Abi::Mpich => Weight::ValueOf(c"MPI_UNWEIGHTED"),
        Abi::Standard => Weight::Number(10),
    }
}

/// `MPI_WEIGHTS_EMPTY`.
pub const fn weights_empty(abi: Abi) -> Weight {
    match abi {
        Abi::OpenMpi => Weight::Number(3),
        Abi::Mpich => Weight::ValueOf(c"MPI_WEIGHTS_EMPTY"),
        Abi::Standard => Weight::Number(11),
    }
}
