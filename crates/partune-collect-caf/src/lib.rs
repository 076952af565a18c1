//! Records coarray Fortran inside the user's program: the calls that gfortran makes into its coarray library, as OpenCoarrays exports them.
//!
//! For `partune record`, which preloads it. Every call has a wrapper here, which records it under the name that Fortran has for it and calls the
//! library's own, the next in the loader's order. What the library does inside, MPI above all, is its own business and not recorded.
//!
//! Each team of images is a communicator, ranks are image numbers less one, and a window stands for it in what its images do together. A
//! window stands for each coarray too; accesses are told with their offset there in bytes. Nobody communicates for the sake of recording.
#![allow(unsafe_code, reason = "arguments of the program and functions of its library")]

mod array;
mod atomics;
mod coarrays;
mod life;
mod regions;
mod rma;
mod sync;
mod teams;
mod wrappers;

/// The name of the paradigm, as the archive's regions have it.
const PARADIGM: &str = "CAF";

#[cfg(test)]
mod tests {
    use std::process::Command;

    use crate::PARADIGM;
    use crate::regions::NAMES;
    use crate::wrappers::ALL;

    /// What the installed library exports for programs has a wrapper.
    #[test]
    fn what_the_library_exports_has_a_wrapper() {
        let folder = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        let library = format!("{folder}/open-coarrays/openmpi/lib/libcaf_openmpi.so.3");
        let Ok(symbols) = Command::new("nm").args(["-D", "--defined-only", &library]).output() else { return };
        let symbols = String::from_utf8_lossy(&symbols.stdout);
        let names: Vec<&str> = symbols.lines().filter_map(|line| line.split("_gfortran_caf_").nth(1)).collect();
        assert!(names.is_empty() || names.len() >= 46, "{names:?}");
        let unwrapped: Vec<&&str> = names.iter().filter(|name| !ALL.contains(name)).collect();
        assert!(unwrapped.is_empty(), "{unwrapped:?}");
    }

    #[test]
    fn regions_are_in_the_table_of_the_paradigm() {
        for name in NAMES {
            let known = partune_paradigm::recognise(name, Some(PARADIGM));
            assert_eq!(known.map(|it| (it.paradigm.name, it.construct.name)), Some((PARADIGM, *name)));
        }
    }

    #[test]
    fn no_call_has_two_wrappers() {
        let mut names = ALL.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
