//! The programs of a command: its words that name an ELF file, as `./app` in `mpirun -n 4 ./app`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use partune_diag::{Code, Diagnostic, Quality};
use partune_symbols::{Module, NoFiles, Storage};

use crate::log::ProcessLog;

/// A program as it lies on the disk.
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

impl Program {
    /// None if the word names no program.
    pub(crate) fn read(word: &Path) -> Option<Program> {
        /// First bytes of every program.
        const ELF: &[u8] = b"\x7fELF";
        let path = word.canonicalize().ok()?;
        let mut file = partune_files::open_regular(&path).ok()?;
        // Words of a command also name what the program reads, which may be large.
        let mut bytes = vec![0; ELF.len()];
        file.read_exact(&mut bytes).ok().filter(|()| bytes == ELF)?;
        file.read_to_end(&mut bytes).ok()?;
        Some(Program { path, bytes })
    }

    /// Whether a library with one of these functions is a part of it, by its symbols; a stripped program has none.
    fn has(&self, functions: &[&str]) -> bool {
        let storage = Storage::new();
        let module = Module::parse(&self.path.to_string_lossy(), &self.bytes, &NoFiles, &storage);
        module.is_ok_and(|module| module.functions().iter().any(|it| functions.contains(&it.name)))
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
