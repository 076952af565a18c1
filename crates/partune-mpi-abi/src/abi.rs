//! The interfaces and the shape of a handle in each.

use core::fmt;

/// The binary interface of an MPI library.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Abi {
    /// Open MPI: handles point to structures of the library.
    OpenMpi,
    /// MPICH and those that keep its interface: Intel MPI, MVAPICH, Cray MPICH, ParaStation MPI. Handles are `int`s.
    Mpich,
    /// The standard interface of MPI 5.0: handles have the width of a pointer, and predefined ones are small numbers.
    Standard,
}

/// What a handle stands for. Kinds matter because MPICH has pointers for files and numbers for all else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Comm,
    Group,
    Datatype,
    Op,
    Win,
    File,
    Request,
    Message,
    Info,
    Errhandler,
}

impl Abi {
    /// All, in the order of the columns of this crate's tables.
    pub const ALL: [Self; 3] = [Self::OpenMpi, Self::Mpich, Self::Standard];

    /// The column of this interface in this crate's tables.
    pub(crate) const fn column(self) -> usize {
        match self {
            Self::OpenMpi => 0,
            Self::Mpich => 1,
            Self::Standard => 2,
        }
    }

    /// Bytes of one handle in an array of handles (the requests of `MPI_Waitall`, the types of `MPI_Alltoallw`).
    pub const fn handle_size(self, kind: Kind) -> usize {
        match (self, kind) {
            (Self::Mpich, Kind::File) | (Self::OpenMpi | Self::Standard, _) => size_of::<usize>(),
            (Self::Mpich, _) => size_of::<u32>(),
        }
    }

    /// A handle as it came in a register, made comparable: where handles are narrower than a register, its upper half
    /// is undefined and is cleared. [`Handle::value`](crate::Handle::value) gives normalised handles.
    pub const fn normalise(self, kind: Kind, handle: usize) -> usize {
        if self.handle_size(kind) == size_of::<u32>() { handle & 0xffff_ffff } else { handle }
    }
}

impl fmt::Display for Abi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
            Self::Standard => "MPI standard ABI",
        })
    }
}
