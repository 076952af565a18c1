//! The programs of a command: its words that name an ELF file, as `./app` in `mpirun -n 4 ./app`.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use partune_symbols::{Module, NoFiles, Storage};

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

    /// Whether the MPI library is a part of it, by its symbols; a stripped program has none.
    fn has_mpi(&self) -> bool {
        let storage = Storage::new();
        let module = Module::parse(&self.path.to_string_lossy(), &self.bytes, &NoFiles, &storage);
        module.is_ok_and(|module| module.functions().iter().any(|it| matches!(it.name, "MPI_Init" | "PMPI_Init")))
    }
}

/// The first program of a command that MPI was linked into.
pub(crate) fn with_mpi(command: &[OsString]) -> Option<PathBuf> {
    let mut programs = command.iter().filter_map(|word| Program::read(Path::new(word)));
    programs.find(Program::has_mpi).map(|program| program.path)
}
