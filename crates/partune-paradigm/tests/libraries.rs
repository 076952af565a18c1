//! Completeness: every function that installed libraries export for programs is in a table.

use partune_paradigm::recognise;
use partune_testkit::outside::missing;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn mpi_c() {
    exports("libmpi.so.40", "libopenmpi3", 400, "MPI", is_mpi);
    exports("libmpich.so.12", "libmpich12", 600, "MPI", is_mpi);
}

#[test]
fn mpi_fortran() {
    exports("libmpi_mpifh.so.40", "libopenmpi3", 3000, "MPI", is_mpi);
    exports("libmpi_usempif08.so.40", "libopenmpi3", 700, "MPI", is_mpi);
    exports("libmpichfort.so.12", "libmpich12", 3000, "MPI", is_mpi);
}

#[test]
fn openshmem() {
    // Weak is what a program may call; the strong symbols without a weak partner are the library's own.
    exports("liboshmem.so.40", "libopenmpi3", 900, "OpenSHMEM", |kind, name| {
        kind == "W"
            && (name.contains("shmem") || name.starts_with('_') || name.starts_with("sh") || name == "start_pes")
    });
}

#[test]
fn openmp() {
    exports("libgomp.so.1", "libgomp1", 50, "OpenMP", |_, name| name.starts_with("omp_"));
}

#[test]
fn openacc() {
    exports("libgomp.so.1", "libgomp1", 100, "OpenACC", |_, name| name.starts_with("acc_"));
}

#[test]
fn opencl() {
    exports("libOpenCL.so.1", "ocl-icd-libopencl1", 100, "OpenCL", |_, name| name.starts_with("cl"));
}

#[test]
fn threads() {
    let objects = ["pthread_mutex", "pthread_cond", "pthread_rwlock", "pthread_barrier", "pthread_spin_", "sem_"];
    exports("libc.so.6", "libc6", 50, "pthread", |_, name| objects.iter().any(|object| name.starts_with(object)));
}

#[test]
fn coarrays() {
    exports("libcaf_openmpi.so.3", "libcaf-openmpi-3", 46, "CAF", |_, name| name.starts_with("_gfortran_caf_"));
}

/// A function of MPI; the predefined callbacks (`MPI_COMM_DUP_FN`) are values to programs.
fn is_mpi(kind: &str, name: &str) -> bool {
    let callback = ["_fn", "_fn_null", "_fn_c", "_fn_null_c"];
    let lower = name.to_lowercase();
    let stem = lower.trim_end_matches('_').trim_end_matches("_f08").trim_end_matches("_f");
    ["T", "W"].contains(&kind)
        && (lower.starts_with("mpi_") || lower.starts_with("pmpi_") || lower.starts_with("mpix_"))
        && !callback.iter().any(|end| stem.ends_with(end))
}

/// Holds the exports of a library that are meant against the tables; `least` guards against reading nothing.
fn exports(library: &str, package: &str, least: usize, paradigm: &str, meant: impl Fn(&str, &str) -> bool) {
    let Some(path) = find(library) else {
        return missing(&format!("{library} (Debian package {package})"));
    };
    let symbols = Command::new("nm").args(["-D", "--defined-only"]).arg(&path).output().expect("nm of binutils");
    let symbols = String::from_utf8_lossy(&symbols.stdout);
    let names: Vec<&str> = symbols
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let (kind, name) = (words.next()?, words.next()?.split('@').next()?);
            meant(kind, name).then_some(name)
        })
        .collect();
    let unknown: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| recognise(name, None).is_none_or(|found| found.paradigm.name != paradigm))
        .collect();
    assert!(unknown.is_empty(), "{} of {} of {library}: {unknown:?}", unknown.len(), names.len());
    assert!(names.len() >= least, "{library}: only {} names", names.len());
}

/// Where a library is, from the loader's cache or in the folders of packages that are not in it.
pub(crate) fn find(library: &str) -> Option<PathBuf> {
    let cache =
        Command::new("/sbin/ldconfig").arg("-p").output().map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
    let cached = cache.ok().and_then(|cache| {
        let line = cache.lines().find(|line| line.trim_start().starts_with(&format!("{library} ")))?;
        Some(PathBuf::from(line.split("=> ").nth(1)?))
    });
    cached.or_else(|| {
        let folders = ["", "/openmpi/lib", "/mpich/lib", "/open-coarrays/openmpi/lib"];
        let roots = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
        let all = roots.iter().flat_map(|root| folders.iter().map(move |folder| format!("{root}{folder}/{library}")));
        all.map(PathBuf::from).find(|path| path.exists())
    })
}
