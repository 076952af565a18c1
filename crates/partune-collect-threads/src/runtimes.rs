//! Which code is a runtime's, by the file that it was loaded from: what such a library does with its own threads is not what the program does.

use std::sync::atomic::{AtomicUsize, Ordering};

use partune_collect::modules::module_at;

/// How names of files begin: the C library, MPI, OpenSHMEM and what they are made of, runtimes of OpenMP, those of devices, and this one.
const STEMS: [&str; 33] = [
    "ld-linux",
    "libc.so",
    "libc-2",
    "libpthread",
    "libpartune_collect",
    "libmpi",
    "libpmpi",
    "libmpich",
    "libfmpi",
    "liboshmem",
    "libopen-",
    "mca_",
    "libprrte",
    "libpmi",
    "libevent",
    "libucp",
    "libuct",
    "libucs",
    "libucm",
    "libucc",
    "libfabric",
    "libpsm",
    "libhcoll",
    "libsharp",
    "libibverbs",
    "librdmacm",
    "libhwloc",
    "libgomp",
    "libomp.so",
    "libiomp",
    "libcuda",
    "libamdhip",
    "libhsa-",
];

const KNOWN: usize = 512;

/// Whether an address is in a runtime. Those that were asked for last are known; others take a look at the list of all modules.
pub(crate) fn has(address: usize) -> bool {
    /// Addresses, shifted, with the answer in the lowest bit.
    static LAST: [AtomicUsize; KNOWN] = [const { AtomicUsize::new(0) }; KNOWN];
    let place = &LAST[address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - KNOWN.trailing_zeros())];
    let known = place.load(Ordering::Relaxed);
    if known >> 1 == address & (usize::MAX >> 1) {
        return known & 1 == 1;
    }
    let has = look(address);
    place.store(address << 1 | usize::from(has), Ordering::Relaxed);
    has
}

#[cold]
fn look(address: usize) -> bool {
    let Some((_, path)) = module_at(address) else { return false };
    is_one(path.rsplit('/').next().unwrap_or_default())
}

fn is_one(file: &str) -> bool {
    STEMS.iter().any(|stem| file.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::{has, is_one};

    #[test]
    fn libraries_are_known_by_their_names() {
        assert!(
            ["libc.so.6", "libmpi.so.40", "mca_btl_tcp.so", "libgomp.so.1", "libucs.so.0"].iter().all(|it| is_one(it))
        );
        assert!(!["a.out", "libstdc++.so.6", "libcapture.so", "libpython3.11.so.1.0", ""].iter().any(|it| is_one(it)));
    }

    #[test]
    fn the_answer_is_the_same_again() {
        let own = the_answer_is_the_same_again as *const () as usize;
        assert_eq!([has(own), has(own)], [false; 2]);
        let exit = libc::exit as *const () as usize;
        assert_eq!([has(exit), has(exit)], [true; 2]);
    }
}
