//! What the source asks for beside what was compiled: loops of LLVM's representation, tied to those of a program by file and line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use partune_kernels::ir::{IrError, SourceLoop, source_loops};
use thiserror::Error;

use crate::kernels::Loops;

#[derive(Debug, Error)]
pub enum SourceError {
    #[error("{}: {error}\n  remedy: name what clang -S -emit-llvm and opt -passes=mem2reg,sroa wrote", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{}: {error}", path.display())]
    Ir { path: PathBuf, error: IrError },
    #[error("{}: cannot be started: {error}\n  remedy: install clang and llvm of one version, or name one with --clang", program.display())]
    Start { program: PathBuf, error: std::io::Error },
    #[error("{}: {} ended with {status}\n{said}  remedy: compile as the program is compiled: --flags", path.display(), program.display())]
    Compile { path: PathBuf, program: PathBuf, status: std::process::ExitStatus, said: String },
    #[error(
        "{}: Fortran is not translated\n  remedy: translate it with a compiler that has LLVM behind it, and name what that wrote: --ir", .0.display()
    )]
    Fortran(PathBuf),
    #[error("none of the loops that were chosen is at a line of {}, which has {loops} innermost ones\n  remedy: build the program with -g from the same source, and choose loops that are of it", .files.join(", "))]
    NoLoop { files: Vec<String>, loops: usize },
}

/// Reads what LLVM wrote of a source.
pub fn read_ir(path: &Path) -> Result<Vec<SourceLoop>, SourceError> {
    let bytes = partune_files::read_regular(path);
    let bytes = bytes.map_err(|error| SourceError::File { path: path.to_owned(), error })?;
    of_text(path, &bytes)
}

/// Has a source translated by a Clang, the newest that is installed if none is named, and its variables taken from memory by the `opt` that stands beside it; nothing is optimised else.
pub fn compile_ir(source: &Path, flags: &[OsString], clang: Option<&Path>) -> Result<Vec<SourceLoop>, SourceError> {
    // Clang leaves these to a compiler of GCC, which writes something else.
    let end = source.extension().and_then(|end| end.to_str()).unwrap_or_default().to_lowercase();
    if ["f", "for", "ftn", "fpp"].contains(&end.as_str())
        || end.strip_prefix('f').is_some_and(|year| year.parse::<u8>().is_ok())
    {
        return Err(SourceError::Fortran(source.to_owned()));
    }
    let clang = &clang.map_or_else(installed, Path::to_owned);
    let opt = beside(clang, "opt").unwrap_or_else(|| "opt".into());
    let folder = tempfile::tempdir().map_err(|error| SourceError::File { path: source.to_owned(), error })?;
    let text = folder.path().join("source.ll");
    let mut command = Command::new(clang);
    // What is asked for comes last, and holds: lines, and no optimisation.
    command.args(flags).args(["-g", "-O0", "-Xclang", "-disable-O0-optnone", "-S", "-emit-llvm"]);
    output(source, clang, command.arg(source).arg("-o").arg(&text))?;
    let made = output(source, &opt, Command::new(&opt).args(["-S", "-passes=mem2reg,sroa"]).arg(&text))?;
    of_text(source, &made)
}

/// `clang`; where there is none, the newest whose version stands after its name, as distributions call theirs: one with its `opt` beside it before all others.
fn installed() -> PathBuf {
    let versions = VERSIONS.rev().map(|version| PathBuf::from(format!("clang-{version}")));
    let all: Vec<PathBuf> = std::iter::once("clang".into()).chain(versions).filter(|it| found(it).is_some()).collect();
    let whole = all.iter().find(|it| beside(it, "opt").is_some());
    whole.or(all.first()).cloned().unwrap_or_else(|| "clang".into())
}

/// From the first whose representation is read to more than there are.
const VERSIONS: std::ops::RangeInclusive<u32> = 14..=99;

/// Where a program is that a command names.
fn found(program: &Path) -> Option<PathBuf> {
    let has_folder = program.components().count() > 1;
    let folders = if has_folder { None } else { std::env::var_os("PATH") };
    let places = folders.iter().flat_map(std::env::split_paths).map(|folder| folder.join(program));
    places.chain(has_folder.then(|| program.to_owned())).find(|it| it.is_file())
}

/// A program that lies beside where another one really is: versions have folders of their own.
fn beside(program: &Path, name: &str) -> Option<PathBuf> {
    Some(found(program)?.canonicalize().ok()?.with_file_name(name)).filter(|it| it.is_file())
}

fn of_text(path: &Path, bytes: &[u8]) -> Result<Vec<SourceLoop>, SourceError> {
    let text = String::from_utf8_lossy(bytes);
    source_loops(&text).map_err(|error| SourceError::Ir { path: path.to_owned(), error })
}

fn output(path: &Path, program: &Path, command: &mut Command) -> Result<Vec<u8>, SourceError> {
    let output = command.output().map_err(|error| SourceError::Start { program: program.to_owned(), error })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(SourceError::Compile {
        path: path.to_owned(),
        program: program.to_owned(),
        status: output.status,
        said: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Says of each loop of a program what its source asks for, where that is among these: the one with the fewest lines of those that have the loop's first, if there is one. How
/// the source's accesses move tells as well how many of its turns one of the machine's is; where that is not known, neither is what a turn of the machine's asks for.
pub fn ask_source(loops: &mut Loops, source: &[SourceLoop]) -> Result<(), SourceError> {
    let mut is_tied = false;
    for it in &mut loops.loops {
        let has_line = |of: &&SourceLoop| (of.lines.0..=of.lines.1).contains(&it.line) && is_same(&it.file, &of.file);
        let Some(nearest) = source.iter().filter(has_line).min_by_key(|of| of.lines.1 - of.lines.0) else { continue };
        is_tied = true;
        // Nothing tells which of several in a line it is.
        let rival = |of: &SourceLoop| of.lines == nearest.lines && of.asked != nearest.asked;
        if source.iter().filter(has_line).any(rival) {
            continue;
        }
        if let Some(turns) = nearest.asked.as_ref().and_then(|asked| it.kernel.turns_by_steps(&asked.steps)) {
            it.kernel.set_turns(turns);
        }
        it.asked = nearest.asked.clone().filter(|_| it.kernel.known_turns.is_some());
        it.calls_in_source = nearest.asked.is_none();
    }
    if is_tied {
        return Ok(());
    }
    let mut files: Vec<String> = source.iter().map(|it| it.file.clone()).collect();
    files.sort();
    files.dedup();
    Err(SourceError::NoLoop { files, loops: source.len() })
}

/// Whether two names are of one file: one may say less of its folders.
fn is_same(one: &str, other: &str) -> bool {
    let ends = |whole: &str, end: &str| Path::new(whole).ends_with(end.trim_start_matches("./"));
    !one.is_empty() && !other.is_empty() && (ends(one, other) || ends(other, one))
}
