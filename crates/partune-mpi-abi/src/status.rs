//! The layout of `MPI_Status`: where its public members are, and the byte count that two interfaces keep in it.

use crate::Abi;

/// Where the members of a status are, counted in `int`s from its begin. The same counts are the indices of a Fortran
/// status (`MPI_F_SOURCE`; Fortran's `MPI_SOURCE` is one more).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatusLayout {
    abi: Abi,
    /// Its size in `int`s: also the stride of an array of statuses and `MPI_STATUS_SIZE` of Fortran.
    pub ints: usize,
    pub source: usize,
    pub tag: usize,
    pub error: usize,
    count: Count,
}

/// How the bytes of a received message are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Count {
    /// A 64-bit number at these two `int`s.
    Plain(usize),
    /// The low half, then the high half above a bit that says "cancelled".
    AboveCancelled(usize),
    /// Not known: ask `MPI_Get_elements` with `MPI_BYTE`.
    Hidden,
}

/// What a status says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    pub source: i32,
    pub tag: i32,
    pub error: i32,
    /// Bytes received; none where the interface hides them.
    pub bytes: Option<u64>,
}

/// Names of the members in the `mpi.h` of one interface; for tests that ask a compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatusNames {
    /// The first member that the byte count is in.
    pub count: Option<&'static str>,
    /// Where that member is, in `int`s.
    pub at: usize,
}

const LAYOUTS: [StatusLayout; 3] = [
    StatusLayout { abi: Abi::OpenMpi, ints: 6, source: 0, tag: 1, error: 2, count: Count::Plain(4) },
    StatusLayout { abi: Abi::Mpich, ints: 5, source: 2, tag: 3, error: 4, count: Count::AboveCancelled(0) },
    StatusLayout { abi: Abi::Standard, ints: 8, source: 0, tag: 1, error: 2, count: Count::Hidden },
];

impl Abi {
    /// The layout of a status.
    pub const fn status(self) -> StatusLayout {
        LAYOUTS[self.column()]
    }
}

impl StatusLayout {
    /// The largest status of any interface in `int`s: room for one of an unknown library.
    pub const MOST: usize = 8;

    /// Bytes of a status.
    pub const fn bytes(&self) -> usize {
        self.ints * size_of::<i32>()
    }

    /// What a status of at least [`Self::ints`] `int`s says; none if it is shorter.
    #[allow(clippy::inline_always, reason = "part of recorders' hot paths")]
    #[inline(always)]
    pub fn read(&self, status: &[i32]) -> Option<Status> {
        // Of a layout that the compiler knows, little is left.
        match self.abi {
            Abi::OpenMpi => const { Abi::OpenMpi.status() }.read_known(status),
            Abi::Mpich => const { Abi::Mpich.status() }.read_known(status),
            Abi::Standard => const { Abi::Standard.status() }.read_known(status),
        }
    }

    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn read_known(&self, status: &[i32]) -> Option<Status> {
        let status = status.get(..self.ints)?;
        let wide = |low: usize| u64::from(status[low] as u32) | u64::from(status[low + 1] as u32) << 32;
        let bytes = match self.count {
            Count::Plain(at) => Some(wide(at)),
            Count::AboveCancelled(at) => {
                let high = u64::from(status[at + 1] as u32 >> 1);
                Some(u64::from(status[at] as u32) | high << 32)
            }
            Count::Hidden => None,
        };
        Some(Status { source: status[self.source], tag: status[self.tag], error: status[self.error], bytes })
    }

    /// The member of `mpi.h` that the byte count is in.
    pub const fn names(&self) -> StatusNames {
        match self.count {
            Count::Plain(at) => StatusNames { count: Some("_ucount"), at },
            Count::AboveCancelled(at) => StatusNames { count: Some("count_lo"), at },
            Count::Hidden => StatusNames { count: None, at: 0 },
        }
    }
}
