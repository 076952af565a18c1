//! The programs in `programs/`, compiled in every way that changes what debug data look like.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// A compiled program, removed when dropped.
pub(crate) struct Program {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    folder: TempDir,
}

pub(crate) fn source(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    folder.join(name).to_str().unwrap().to_owned()
}

impl Program {
    /// Compiles a source by its ending. `flags` are those of its compiler.
    pub(crate) fn compile(name: &str, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program").to_str().unwrap().to_owned();
        let compiler = match name.rsplit('.').next() {
            Some("c" | "S") => "gcc",
            Some("cc") => "g++",
            Some("f90") => "gfortran",
            _ => "rustc",
        };
        let libraries: &[&str] = if compiler == "rustc" { &[] } else { &["-lm"] };
        let mut command = Command::new(compiler);
        command.current_dir(folder.path()).args(flags).arg(source(name)).args(["-o", &path]).args(libraries);
        run(&mut command);
        let bytes = std::fs::read(&path).unwrap();
        Self { path, bytes, folder }
    }

    /// Changes the program with a tool that gets its path last.
    pub(crate) fn then(mut self, tool: &str, arguments: &[&str]) -> Self {
        let folder = self.folder.path();
        run(Command::new(tool).current_dir(folder).args(arguments).arg(&self.path));
        self.bytes = std::fs::read(&self.path).unwrap();
        self
    }

    /// A file beside the program.
    pub(crate) fn beside(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// The addresses right after each call instruction, as `objdump` disassembles it.
    pub(crate) fn return_addresses(&self) -> Vec<u64> {
        let listing = run(Command::new("objdump").args(["-d", "--no-show-raw-insn", "-j", ".text", &self.path]));
        let mut after_call = false;
        let mut addresses = Vec::new();
        for line in listing.lines() {
            let Some((address, instruction)) = line.split_once(":\t") else { continue };
            let address = u64::from_str_radix(address.trim(), 16).unwrap();
            if after_call {
                addresses.push(address);
            }
            after_call = instruction.starts_with("call") || instruction.starts_with("bl ");
        }
        addresses
    }
}

/// Runs a command that must succeed; its output.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
