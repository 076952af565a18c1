//! Whose code calls, by the file that it was loaded from: what runtimes do with threads and files of their own is not what the program does.
//!
//! Found once for each place that calls.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::modules::{Modules, module_at};

/// Who is at a place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Program,
    /// A library that serves a paradigm, the system's, or one with threads of its own.
    Runtime,
    /// The module that the recorder is in, which in tests is the program.
    Recorder,
}

/// How names of files begin: the C library; MPI, OpenSHMEM, coarrays and what they load; runtimes of OpenMP and of devices; what all of these reach networks,
/// launchers and the machine by.
const RUNTIMES: [&str; 46] = [
    "ld-linux",
    "libc.so",
    "libc-2",
    "libpthread",
    "libmpi",
    "libpmpi",
    "libfmpi",
    "libmpl",
    "libopa.",
    "libopen-",
    "liboshmem",
    "libshmem",
    "libcaf_",
    "mca_",
    "libprrte",
    "libpmi",
    "libevent",
    "libslurm",
    "libmunge",
    "libucp",
    "libuct",
    "libucs",
    "libucm",
    "libucc",
    "ucx_",
    "libfabric",
    "libpsm",
    "libhcoll",
    "libsharp",
    "libibverbs",
    "librdmacm",
    "libmlx",
    "libefa",
    "libhwloc",
    "hwloc_",
    "libnuma",
    "libgomp",
    "libomp.so",
    "libomp5",
    "libomptarget",
    "libarcher",
    "libiomp",
    "libcuda",
    "libamdhip",
    "libhsa-",
    "libhsakmt",
];

/// How names of libraries begin that compute or communicate for the program, and that keep threads of their own for it: linear algebra, Fourier transforms, messages
/// between devices and between sockets. What these run is in the library, too; libraries whose threads run the program's functions (TBB, GLib) are not among them.
const LIBRARIES: [&str; 15] = [
    "libopenblas",
    "libscipy_openblas",
    "libblas",
    "libcblas",
    "liblapack",
    "libflexiblas",
    "libblis",
    "libmkl_",
    "libarmpl",
    "libnvpl_",
    "libtatlas",
    "libfftw3",
    "libnccl",
    "librccl",
    "libzmq",
];

const KNOWN: usize = 1024;

/// Addresses and, in the lowest two bits, who is there.
static LAST: [AtomicUsize; KNOWN] = [const { AtomicUsize::new(0) }; KNOWN];

fn place(address: usize) -> &'static AtomicUsize {
    &LAST[address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - KNOWN.trailing_zeros())]
}

/// Who is at an address; the recorder where there is none, since nobody can tell it from the program then.
pub fn of(address: usize) -> Caller {
    known(address).unwrap_or_else(|| {
        let caller = look(address);
        place(address).store(address << 2 | caller as usize, Ordering::Relaxed);
        caller
    })
}

/// The same, if that takes no memory: it was found before, or is the recorder.
pub fn known(address: usize) -> Option<Caller> {
    let known = place(address).load(Ordering::Relaxed);
    if known >> 2 == address & (usize::MAX >> 2) && address != 0 {
        return Some(match known & 3 {
            0 => Caller::Program,
            1 => Caller::Runtime,
            _ => Caller::Recorder,
        });
    }
    let is_own = || Modules::last().is_some_and(|modules| modules.is_own(address));
    (address == 0 || is_own()).then_some(Caller::Recorder)
}

/// Whether what is at an address is no runtime, nor a recorder that is a library of its own.
pub fn is_program(address: usize) -> bool {
    is_that_of_the_program(of(address), address)
}

/// The same, if that takes no memory.
pub fn is_known_program(address: usize) -> Option<bool> {
    known(address).map(|caller| is_that_of_the_program(caller, address))
}

fn is_that_of_the_program(caller: Caller, address: usize) -> bool {
    match caller {
        Caller::Program => true,
        Caller::Runtime => false,
        Caller::Recorder => address == 0 || is_linked(),
    }
}

/// Whether the recorder is a part of the program.
fn is_linked() -> bool {
    static LINKED: AtomicUsize = AtomicUsize::new(0);
    match LINKED.load(Ordering::Relaxed) {
        0 => {
            let is_library =
                module_at(look as *const () as usize).is_some_and(|(_, path)| file(&path).starts_with("lib"));
            LINKED.store(1 + usize::from(!is_library), Ordering::Relaxed);
            !is_library
        }
        known => known == 2,
    }
}

#[cold]
fn look(address: usize) -> Caller {
    let Some((_, path)) = module_at(address) else { return Caller::Program };
    if module_at(look as *const () as usize).is_some_and(|(_, own)| own == path) {
        return Caller::Recorder;
    }
    if is_runtime(file(&path)) { Caller::Runtime } else { Caller::Program }
}

fn file(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn is_runtime(file: &str) -> bool {
    RUNTIMES.iter().chain(&LIBRARIES).any(|begin| file.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_names() {
        let runtimes =
            ["libc.so.6", "libmpi.so.40", "mca_btl_tcp.so", "libgomp.so.1", "libucs.so.0", "libcaf_openmpi.so.3"];
        assert!(runtimes.into_iter().all(is_runtime));
        let libraries =
            ["libscipy_openblas64_-32a4b2a6.so", "libopenblasp-r0.3.20.so", "libblas.so.3", "libmkl_core.so.2"];
        assert!(libraries.into_iter().all(is_runtime));
        let others = [
            "libtbb.so.12",
            "libglib-2.0.so.0",
            "a.out",
            "libstdc++.so.6",
            "libcapture.so",
            "libpython3.11.so.1.0",
            "libgfortran.so.5",
            "",
        ];
        assert!(!others.into_iter().any(is_runtime));
    }

    #[test]
    fn the_answer_is_the_same_again() {
        let own = the_answer_is_the_same_again as *const () as usize;
        assert_eq!([of(own), of(own)], [Caller::Recorder; 2]);
        assert!(is_program(own), "it is linked into the test");
        let exit = libc::exit as *const () as usize;
        assert_eq!([of(exit), of(exit)], [Caller::Runtime; 2]);
        assert!(!is_program(exit));
    }
}
