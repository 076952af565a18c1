//! OTF2's numbers of paradigms: those of the programming models stand in their tables, those that OTF2 has besides stand here.

use partune_paradigm::{Class, PARADIGMS, Paradigm};

pub const USER: u8 = 1;
pub const COMPILER: u8 = 2;
pub const OPENMP: u8 = of(&partune_paradigm::OPENMP);
pub const MPI: u8 = of(&partune_paradigm::MPI);
pub const MEASUREMENT: u8 = of(&partune_paradigm::MEASUREMENT);
pub const PTHREAD: u8 = of(&partune_paradigm::PTHREAD);
pub const UPC: u8 = of(&partune_paradigm::UPC);
pub const SHMEM: u8 = of(&partune_paradigm::OPENSHMEM);
pub const NONE: u8 = 22;

/// That of a programming model which OTF2 does not know.
pub const UNKNOWN: u8 = 0;

/// Numbers of OTF2 that mean no programming model.
const OWN: [(u8, &str); 3] = [(USER, "user"), (COMPILER, "compiler"), (NONE, "none")];

/// All numbers that have a name, in order.
pub fn all() -> Vec<(u8, &'static str)> {
    let models = PARADIGMS.iter().filter_map(|paradigm| Some((paradigm.otf2?, paradigm.name)));
    let mut all: Vec<_> = OWN.into_iter().chain(models).collect();
    all.sort_unstable();
    all
}

pub fn paradigm(number: u8) -> Option<&'static Paradigm> {
    PARADIGMS.iter().copied().find(|paradigm| paradigm.otf2 == Some(number))
}

pub fn name(number: u8) -> Option<&'static str> {
    let own = OWN.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
    own.or_else(|| Some(paradigm(number)?.name))
}

/// The number of a name; that of the unknown paradigm if it has none.
pub fn number(name: &str) -> u8 {
    let own = OWN.iter().find(|(_, known)| *known == name).map(|(number, _)| *number);
    own.or_else(|| PARADIGMS.iter().find(|paradigm| paradigm.name == name)?.otf2).unwrap_or(UNKNOWN)
}

/// Whether its PEs are threads of one process; those of all others that communicate are processes.
pub fn is_of_threads(number: u8) -> bool {
    paradigm(number).is_some_and(Paradigm::is_of_threads)
}

/// Whether it gives work to a device.
pub fn is_of_devices(number: u8) -> bool {
    paradigm(number).is_some_and(|paradigm| paradigm.class == Class::Accelerator)
}

/// `OTF2_ParadigmClass`: processes, threads by fork and join, threads by create and wait, accelerators.
pub fn class(number: u8) -> u8 {
    match paradigm(number).map_or(Class::None, |paradigm| paradigm.class) {
        Class::Processes | Class::None => 0,
        Class::Team => 1,
        Class::Threads => 2,
        Class::Accelerator => 3,
    }
}

const fn of(paradigm: &Paradigm) -> u8 {
    match paradigm.otf2 {
        Some(number) => number,
        None => UNKNOWN,
    }
}
