//! Whose code calls: what MPI, threading runtimes and networks do with files is not what the program does.
//!
//! By the name of the library that the caller is in, found once for each place that calls.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use partune_collect::loader;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Program,
    /// A library that serves a paradigm.
    Runtime,
    /// The recorder itself.
    Recorder,
}

/// Begins of the names of libraries that implement paradigms: MPI and OpenSHMEM with what they load, run-time systems of compilers, and
/// what they reach networks and the machine by.
const RUNTIMES: [&str; 34] = [
    "libmpi",
    "libopen-",
    "liboshmem",
    "libpmix",
    "libprrte",
    "libpmi",
    "libmpich",
    "libmpl",
    "libopa",
    "libpsm",
    "mca_",
    "libucp",
    "libucs",
    "libuct",
    "libucm",
    "libucc",
    "ucx_",
    "libfabric",
    "libibverbs",
    "librdmacm",
    "libmlx",
    "libefa",
    "libhwloc",
    "hwloc_",
    "libevent",
    "libnuma",
    "libshmem",
    "libgomp",
    "libomp",
    "libiomp",
    "libarcher",
    "libcaf_",
    "libmunge",
    "libslurm",
];

const KNOWN: usize = 1024;
/// Places and, in the lowest two bits, who is there.
static PLACES: [AtomicUsize; KNOWN] = [const { AtomicUsize::new(0) }; KNOWN];

/// Who calls from a place. Where frames are not known nobody can tell the program from the recorder.
pub(crate) fn of(place: usize) -> Caller {
    if place == 0 {
        return Caller::Recorder;
    }
    let mixed = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - KNOWN.trailing_zeros());
    let known = PLACES[mixed].load(Ordering::Relaxed);
    if known >> 2 == place {
        return match known & 3 {
            0 => Caller::Program,
            1 => Caller::Runtime,
            _ => Caller::Recorder,
        };
    }
    let caller = look(place);
    PLACES[mixed].store(place << 2 | caller as usize, Ordering::Relaxed);
    caller
}

#[cold]
fn look(place: usize) -> Caller {
    let own = loader::object(look as *const () as usize);
    if own.is_some() && loader::object(place) == own {
        return Caller::Recorder;
    }
    let is_runtime = loader::with_path(place, |path: &CStr| {
        let name = path.to_bytes();
        let name = &name[name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1)..];
        RUNTIMES.iter().any(|begin| name.starts_with(begin.as_bytes()))
    });
    if is_runtime == Some(true) { Caller::Runtime } else { Caller::Program }
}
