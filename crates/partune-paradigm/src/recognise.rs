//! From a region's name to its construct: the one list of paradigms, and who wins where two know a name.

use crate::{
    Construct, Paradigm, caf, charm, cuda, hip, level_zero, measurement, mpi, openacc, opencl, openmp, openshmem,
    others, posix_io, pthread, sycl, upc,
};

/// All paradigms. A name that two know is the earlier one's, unless the producer says otherwise; no such name is known.
pub static PARADIGMS: &[&Paradigm] = &[
    &mpi::MPI,
    &openmp::OPENMP,
    &openshmem::OPENSHMEM,
    &upc::UPC,
    &caf::CAF,
    &charm::CHARM,
    &pthread::PTHREAD,
    &cuda::CUDA,
    &hip::HIP,
    &opencl::OPENCL,
    &openacc::OPENACC,
    &sycl::SYCL,
    &level_zero::LEVEL_ZERO,
    &posix_io::POSIX_IO,
    &measurement::MEASUREMENT,
    &others::HMPP,
    &others::OMPSS,
    &others::GASPI,
    &others::WINDOWS_THREADS,
    &others::QT_THREADS,
    &others::ACE_THREADS,
    &others::TBB,
    &others::MTAPI,
    &others::KOKKOS,
];

/// The paradigm of a name, or of another word for it; letters and digits count, case and punctuation do not.
pub fn paradigm(word: &str) -> Option<&'static Paradigm> {
    let same = |name: &str| plain(name).eq(plain(word));
    PARADIGMS.iter().copied().find(|paradigm| same(paradigm.name) || paradigm.aliases.iter().copied().any(same))
}

/// Whether a name is that of a programming model: user code is of none, and neither is what a recorder writes about itself.
pub fn is_model(name: &str) -> bool {
    PARADIGMS.iter().any(|paradigm| paradigm.name == name && **paradigm != measurement::MEASUREMENT)
}

/// What a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognised {
    pub paradigm: &'static Paradigm,
    pub construct: &'static Construct,
}

/// Finds the construct that a region's name means; `None` is user code.
///
/// `hint` is the paradigm that the producer of the archive gives, in any case and punctuation; it may be wrong (EZTrace calls
/// every region a user function) or absent. The name decides; a hint breaks ties and lets ordinary names (`read`) count.
/// Cost: a few hash look-ups and at most one short allocation.
pub fn recognise(region_name: &str, hint: Option<&str>) -> Option<Recognised> {
    let name = region_name.trim();
    let name = name.strip_suffix("()").unwrap_or(name);
    let hinted = hint.and_then(paradigm);
    if let Some(paradigm) = hinted
        && let Some(construct) = (paradigm.recognise_hinted)(name)
    {
        return Some(Recognised { paradigm, construct });
    }
    PARADIGMS.iter().find_map(|&paradigm| {
        let construct = (paradigm.recognise)(name)?;
        Some(Recognised { paradigm, construct })
    })
}

fn plain(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase())
}
