//! The loops of a program and their bounds: from a binary to kernels with places in the source.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use partune_base::Strings;
use partune_kernels::ir::Asked;
use partune_kernels::{Ceilings, Core, CountsError, Kernel, TrafficError, core_of, cores, kernels_with_data, x86};
use partune_symbols::{Address, Module, NoFiles, Storage, demangle};
use thiserror::Error;

use crate::called::{is_called, nearest};
use crate::finite::Finite;

/// Which loops are wanted; all of them without a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopChoice {
    /// Functions, as people write them: whole names, or without arguments and namespaces.
    pub functions: Vec<String>,
    /// Files (or ends of their paths) and lines that loops have.
    pub places: Vec<(String, u32)>,
}

/// An innermost loop of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopBounds {
    pub function: String,
    /// Empty and 0 where the program has no debug data.
    pub file: String,
    /// The first line in that file that the loop's code is of.
    pub line: u32,
    pub kernel: Kernel,
    /// Instructions as an assembler writes them: those of the chain from turn to turn, and those that no table knows.
    pub chain: Vec<String>,
    pub unknown: Vec<String>,
    /// Turns of the source's loop that were counted, once they were (see [`Counted`](crate::Counted)).
    pub executed: Option<f64>,
    /// What a turn of the source asks for, once it was read (see [`ask_source`](crate::ask_source)): M and MA are of it then.
    pub asked: Option<Asked>,
    /// Whether its loop of the source, once that was read, calls something, so that nobody knows what it asks for.
    pub calls_in_source: bool,
    /// What caches add, once it was asked for (see [`finite_caches`](crate::finite_caches)), or why that is not known.
    pub finite: Option<Result<Finite, TrafficError>>,
}

impl LoopBounds {
    /// M and MA on a core: of the source where that was read, else of the machine code; none without bounds.
    pub fn first_bounds(&self, core: &Core) -> Option<(f64, f64)> {
        let bounds = self.kernel.bounds.as_ref()?;
        Some(self.asked.as_ref().map_or((bounds.m, bounds.ma), |asked| asked.bounds(core)))
    }
}

/// The loops of a program that were chosen.
#[derive(Clone, Debug)]
pub struct Loops {
    pub core: &'static Core,
    /// In order of address.
    pub loops: Vec<LoopBounds>,
    /// Functions that were looked at.
    pub functions: usize,
    /// Whether lines can be known.
    pub has_lines: bool,
    /// Turns of the source's loops that caches were asked for.
    pub elements: Option<u64>,
    /// Those of the machine, once caches were asked for.
    pub ceilings: Option<Ceilings>,
}

#[derive(Debug, Error)]
pub enum KernelError {
    #[error("{}: {error}\n  remedy: name an executable or a shared library", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{0}\n  remedy: name an executable or a shared library")]
    NotElf(String),
    #[error(
        "{}: this is not linked, so its debug data names no function for certain\n  remedy: name the program or library that it is linked into, or link it alone: cc -shared -o loop.so {}", .0.display(), .0.display()
    )]
    NotLinked(PathBuf),
    #[error("{}: only machine code of x86-64 is understood", .0.display())]
    Architecture(PathBuf),
    #[error("no core {name} is known\n  remedy: one of {known}")]
    NoCore { name: String, known: String },
    #[error("this machine's processor ({cpu}) has no table of its core\n  remedy: --core with one of {known}")]
    UnknownCpu { cpu: String, known: String },
    #[error("{}: there is no function {name}{near}\n  remedy: nm -C shows its functions; one that was inlined everywhere has the name of its caller", path.display())]
    NoFunction { path: PathBuf, name: String, near: String },
    #[error("{}: no loop has code of {file}:{line}{why}", path.display())]
    NoLoop { path: PathBuf, file: String, line: u32, why: &'static str },
    #[error("{}: what lines of its caches cost was not measured\n  remedy: partune machine measure -o {}", .0.display(), .0.display())]
    NoCaches(PathBuf),
    #[error("{}: {error}\n  remedy: name what valgrind --tool=callgrind --dump-instr=yes wrote", path.display())]
    Counts { path: PathBuf, error: std::io::Error },
    #[error("{}: {error}", path.display())]
    NoCounts { path: PathBuf, error: CountsError },
    #[error("no counts of callgrind were given")]
    NoCountsGiven,
    #[error("{}: nothing of the program was executed, by its command line: {command}", path.display())]
    NotExecuted { path: PathBuf, command: String },
    #[error("{}: it is of {}, and those before of {}\n  remedy: name the files of one run", path.display(), binary.display(), other.display())]
    Programs { path: PathBuf, binary: PathBuf, other: PathBuf },
    #[error("what was counted is of {}, and not of {}", binary.display(), other.display())]
    OtherProgram { binary: PathBuf, other: PathBuf },
    #[error("nothing was counted: {why}")]
    Counting { why: String },
    #[error(
        "counts are of {counted} processes, and the run has {recorded}\n  remedy: count with as many, a file each: mpirun -n {recorded} valgrind --tool=callgrind --dump-instr=yes --callgrind-out-file=counts.%p ./app"
    )]
    Processes { counted: usize, recorded: usize },
    #[error(
        "the run has no bounds that the core's could stand below\n  remedy: a trace, and not a profile, with the analysis bounds"
    )]
    NoBounds,
    #[error(
        "counts are of a whole run, and this is a part of one\n  remedy: analyse all of it, of a recording that was never switched off"
    )]
    Part,
}

/// Names of the cores that are known.
pub fn known_cores() -> String {
    cores().iter().map(|core| core.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// The core of that name, else that of this machine.
pub fn core_named(name: Option<&str>) -> Result<&'static Core, KernelError> {
    let Some(name) = name else {
        let said = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let of = |what: &str| {
            let line = said.lines().find(|line| line.split(':').next().is_some_and(|it| it.trim() == what))?;
            line.split_once(':').map(|(_, value)| value.trim().to_owned())
        };
        let number = |what: &str| of(what).and_then(|text| text.parse().ok());
        let found = of("vendor_id").zip(number("cpu family")).zip(number("model"));
        let core = found.and_then(|((vendor, family), model)| core_of(&vendor, family, model));
        let cpu = || of("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
        return core.ok_or_else(|| KernelError::UnknownCpu { cpu: cpu(), known: known_cores() });
    };
    let core = cores().iter().find(|core| core.id == name);
    core.ok_or_else(|| KernelError::NoCore { name: name.to_owned(), known: known_cores() })
}

/// The innermost loops of a program, with their bounds on a core. Code outside of the functions of its symbol table is not looked at.
pub fn loops(path: &Path, core: &'static Core, choice: &LoopChoice) -> Result<Loops, KernelError> {
    let bytes = read(path)?;
    let storage = Storage::default();
    let module = Module::parse(&path.display().to_string(), &bytes, &NoFiles, &storage);
    let module = module.map_err(|error| KernelError::NotElf(error.to_string()))?;
    if !module.is_x86_64() {
        return Err(KernelError::Architecture(path.to_owned()));
    }
    // Of a file that is not linked nobody can tell the functions of lines.
    if bytes.get(16..18) == Some(&[1, 0]) {
        return Err(KernelError::NotLinked(path.to_owned()));
    }
    let names: Vec<String> = module.functions().iter().map(|symbol| demangle(symbol.name).into_owned()).collect();
    let mut chosen = vec![choice.functions.is_empty(); names.len()];
    // Names of debug data are other ones: that of a program of Fortran.
    let mut of_debug_data = Vec::new();
    for wanted in &choice.functions {
        let mut is_there = false;
        for ((symbol, name), is_chosen) in module.functions().iter().zip(&names).zip(&mut chosen) {
            let is_it = is_called(symbol.name, name, wanted);
            (is_there, *is_chosen) = (is_there || is_it, *is_chosen || is_it);
        }
        if !is_there {
            of_debug_data.push(wanted);
        }
    }
    let mut found = Loops {
        core,
        loops: Vec::new(),
        functions: 0,
        has_lines: module.has_debug_data(),
        elements: None,
        ceilings: None,
    };
    let mut strings = Strings::default();
    for ((symbol, name), is_chosen) in module.functions().iter().zip(&names).zip(chosen) {
        if !is_chosen && of_debug_data.is_empty() {
            continue;
        }
        let Some(code) = module.code(symbol.start, symbol.end) else { continue };
        let loops_before = found.loops.len();
        let decoded = x86::decode(code, symbol.start);
        let texts = |of: &[u64]| of.iter().map(|of| x86::text(code, symbol.start, *of)).collect();
        let data = |address: u64, bytes: u64| module.code(address, address.checked_add(bytes)?);
        let mut of_function = Vec::new();
        for kernel in kernels_with_data(&decoded, &data, core) {
            let inside = decoded.iter().filter(|it| kernel.has(it.address));
            let addresses: Vec<Address> = inside.map(|it| Address::Exact(it.address)).collect();
            let places = module.resolve(&addresses, &mut strings);
            // How much code is of each file and function, and their first and last lines.
            let mut lines: BTreeMap<(String, String), (usize, u32, u32)> = BTreeMap::new();
            let mut is_at = choice.places.is_empty();
            for frame in places.iter().filter_map(|(_, frames)| frames.first()) {
                let (file, function) = (strings.get(frame.file).to_owned(), strings.get(frame.function).to_owned());
                is_at |= choice.places.iter().any(|(of, line)| *line == frame.line && is_file(&file, of));
                if frame.line > 0 {
                    let (count, first, last) = lines.entry((file, function)).or_insert((0, frame.line, frame.line));
                    (*count, *first, *last) = (*count + 1, frame.line.min(*first), frame.line.max(*last));
                }
            }
            let most = lines.into_iter().max_by_key(|(_, (count, line, _))| (*count, std::cmp::Reverse(*line)));
            let ((file, function), (_, line, last)) =
                most.unwrap_or_else(|| ((String::new(), name.clone()), (0, 0, 0)));
            let is_of_it = is_chosen || of_debug_data.contains(&&function);
            let (chain, unknown) = (texts(&kernel.chained), texts(&kernel.unknown));
            let bounds = LoopBounds {
                function,
                file,
                line,
                kernel,
                chain,
                unknown,
                executed: None,
                asked: None,
                calls_in_source: false,
                finite: None,
            };
            of_function.push((bounds, last, is_at && is_of_it));
        }
        turns_by_rest(&mut of_function);
        found.loops.extend(of_function.into_iter().filter(|(_, _, is_wanted)| *is_wanted).map(|(it, _, _)| it));
        found.functions += usize::from(is_chosen || found.loops.len() > loops_before);
    }
    if let Some(name) = of_debug_data.into_iter().find(|name| !found.loops.iter().any(|it| it.function == **name)) {
        let near = nearest(names.iter().map(String::as_str), name).map(|near| format!("; {near} is the nearest"));
        let (path, name) = (path.to_owned(), name.clone());
        return Err(KernelError::NoFunction { path, name, near: near.unwrap_or_default() });
    }
    if let Some((file, line)) = choice.places.first().filter(|_| found.loops.is_empty()) {
        let why = if found.has_lines {
            "\n  remedy: without --loop all are listed, with the first line of the code of each"
        } else {
            "\n  remedy: build it with -g, which adds lines and changes no code"
        };
        return Err(KernelError::NoLoop { path: path.to_owned(), file: file.clone(), line: *line, why });
    }
    Ok(found)
}

/// Has loops of one function, with their last lines, do as many turns as the loop that does the rest of them tells: that of the same lines which does the same with
/// the least steps.
fn turns_by_rest(loops: &mut [(LoopBounds, u32, bool)]) {
    let told = |(it, last, _): &(LoopBounds, u32, bool)| {
        let is_of_lines = |(other, other_last, _): &&(LoopBounds, u32, bool)| {
            let meets = it.line > 0 && it.line <= *other_last && other.line <= *last;
            meets && (&it.file, &it.function) == (&other.file, &other.function)
        };
        let rests = loops.iter().filter(is_of_lines);
        let told = rests.filter_map(|(rest, _, _)| Some((it.kernel.times(&rest.kernel)?, &rest.kernel)));
        let (times, rest) = told.max_by_key(|(times, _)| *times)?;
        times.checked_mul(rest.known_turns?)
    };
    let told: Vec<Option<u32>> = loops.iter().map(told).collect();
    for ((it, _, _), turns) in loops.iter_mut().zip(told) {
        if let Some(turns) = turns {
            it.kernel.set_turns(turns);
        }
    }
}

/// The bytes of a program.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, KernelError> {
    partune_files::read_regular(path).map_err(|error| KernelError::File { path: path.to_owned(), error })
}

fn is_file(file: &str, wanted: &str) -> bool {
    file == wanted || file.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('/'))
}
