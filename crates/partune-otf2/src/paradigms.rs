//! OTF2's numbers of paradigms, and the names that partune has for them.

/// Names of numbers, as far as names are needed.
pub const NAMES: &[(u8, &str)] = &[
    (USER, "user"),
    (COMPILER, "compiler"),
    (OPENMP, "OpenMP"),
    (MPI, "MPI"),
    (5, "CUDA"),
    (MEASUREMENT, "measurement system"),
    (PTHREAD, "pthread"),
    (11, "GASPI"),
    (UPC, "UPC"),
    (SHMEM, "OpenSHMEM"),
    (18, "OpenACC"),
    (19, "OpenCL"),
    (22, "none"),
    (23, "HIP"),
    (24, "Kokkos"),
];

pub const USER: u8 = 1;
pub const COMPILER: u8 = 2;
pub const OPENMP: u8 = 3;
pub const MPI: u8 = 4;
pub const MEASUREMENT: u8 = 6;
pub const PTHREAD: u8 = 7;
pub const UPC: u8 = 12;
pub const SHMEM: u8 = 13;
/// Those of threads; all others that communicate are of processes.
pub const OF_THREADS: [u8; 5] = [OPENMP, PTHREAD, 9, 14, 17];

const UNKNOWN: u8 = 0;

pub fn name(number: u8) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// The number of a name; that of the unknown paradigm if it has none.
pub fn number(name: &str) -> u8 {
    NAMES.iter().find(|(_, known)| *known == name).map_or(UNKNOWN, |(number, _)| *number)
}

/// `OTF2_ParadigmClass`: processes, threads by fork and join, threads by create and wait, accelerators.
pub fn class(number: u8) -> u8 {
    match number {
        OPENMP => 1,
        PTHREAD => 2,
        5 | 18 | 19 | 23 | 24 => 3,
        _ => 0,
    }
}
