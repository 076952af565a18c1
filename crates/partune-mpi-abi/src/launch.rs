//! How programs of each interface are started and where their library is.

use crate::Abi;
use core::ffi::CStr;

/// Names under which the loader knows the libraries of an interface, likeliest first.
pub const fn sonames(abi: Abi) -> &'static [&'static CStr] {
    match abi {
        Abi::OpenMpi => &[c"libmpi.so.40", c"libmpi.so.20"],
        Abi::Mpich => &[c"libmpich.so.12", c"libmpi.so.12", c"libmpi_cray.so.12"],
        Abi::Standard => &[c"libmpi_abi.so.1", c"libmpi_abi.so.0", c"libmpi_abi.so"],
    }
}

/// Environment variables with a process's rank and the number of processes, as its launcher sets them. The second may
/// be missing where the first is there.
pub const fn world_variables(abi: Abi) -> &'static [(&'static str, &'static str)] {
    match abi {
        Abi::OpenMpi => &[("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMIX_RANK", "SLURM_NTASKS")],
        Abi::Mpich => &[("PMI_RANK", "PMI_SIZE"), ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE")],
        Abi::Standard => &[],
    }
}

/// The variable in which Slurm tells a process which of its step it is, whatever library the process uses.
pub const SLURM_RANK: &str = "SLURM_PROCID";
/// The one in which it tells how many they are. Not that of the job (`SLURM_NTASKS`), which the script of a job has too.
pub const SLURM_SIZE: &str = "SLURM_STEP_NUM_TASKS";

/// Variables with the number of processes on the node of a process.
pub const NODE_SIZES: [&str; 4] =
    ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"];

/// The interface of the library that the launcher of this process belongs to, from its environment; none if no
/// launcher is known by it. `is_set` tells whether a variable is there.
///
/// A launcher does not prove a library (Slurm sets PMI variables for any), so it only says where to look first.
pub fn launched(is_set: impl Fn(&str) -> bool) -> Option<Abi> {
    Abi::ALL.into_iter().find(|&abi| world_variables(abi).iter().any(|(rank, _)| is_set(rank)))
}
