//! The programs of a command: its words that name an ELF file, as `./app` in `mpirun -n 4 ./app`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use partune_diag::{Code, Diagnostic, Quality};

use crate::log::ProcessLog;
use crate::places::map;

/// A program as it lies on the disk.
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) content: Mmap,
}

impl Program {
    /// None if the word names no program. Words of a command also name what the program reads.
    pub(crate) fn read(word: &Path) -> Option<Program> {
        let path = word.canonicalize().ok()?;
        let content = map(&path).ok()??;
        content.starts_with(b"\x7fELF").then_some(Program { path, content })
    }

    /// Whether a library with one of these functions is a part of it, by its symbols; a stripped program has none.
    fn has(&self, functions: &[&str]) -> bool {
        partune_symbols::defines(&self.content, functions)
    }
}

/// Says that coarrays were used that could not be seen: of processes that are in no world of them, the library is in the program.
pub(crate) fn tell_of_coarrays<'a>(logs: impl Iterator<Item = &'a ProcessLog>, quality: &mut Quality) {
    let caf = partune_paradigm::CAF.name;
    let unseen = logs.filter(|log| log.worlds.iter().flatten().all(|world| world.paradigm != caf));
    let programs: BTreeSet<&str> = unseen.map(|log| log.program.as_str()).collect();
    let inside = programs
        .into_iter()
        .filter(|path| Program::read(Path::new(path)).is_some_and(|program| program.has(&["_gfortran_caf_init"])));
    quality.add(
        Diagnostic::info(
            Code::HiddenCalls,
            "the coarray library is linked into the program statically, so what it does with MPI was recorded and coarrays were not",
            "link with -lcaf_openmpi: caf app.f90 -lcaf_openmpi",
        )
        .times(inside.count() as u64),
    );
}

/// The first program of a command that MPI was linked into.
pub(crate) fn with_mpi(command: &[OsString]) -> Option<PathBuf> {
    let mut programs = command.iter().filter_map(|word| Program::read(Path::new(word)));
    programs.find(|program| program.has(&["MPI_Init", "PMPI_Init"])).map(|program| program.path)
}
