//! A program whose parallel regions are run with other settings where that is faster: the collectors choose them while it runs, and say what came of it.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus};

use partune_base::{StringId, Strings};

use crate::RecordError;
use crate::handing::Way;
use crate::launch::{failed, hand_on, prepended};
use crate::places::{At, Places};
use crate::{library, signals};

/// What came of a program.
#[derive(Debug)]
pub struct Adapted {
    pub status: ExitStatus,
    /// Processes that ended in order and had a parallel region, where this folder can be seen.
    pub processes: usize,
    /// Where something could be chosen, the longest first.
    pub regions: Vec<AdaptedRegion>,
    /// Why it is not known what came of it.
    pub failure: Option<RecordError>,
}

/// A parallel region, of all processes that ran it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdaptedRegion {
    /// The function that it is in.
    pub function: String,
    pub file: String,
    /// 0 if unknown.
    pub line: u32,
    /// Of one process.
    pub threads: u64,
    /// Of its longest loop that leaves its schedule to the environment, in one execution; 0 if there is none.
    pub iterations: u64,
    /// The environment's schedule, as `OMP_SCHEDULE` has it.
    pub schedule: String,
    /// Seconds of all its executions.
    pub took_s: f64,
    /// What that is less than with the program's own settings.
    pub saved_s: f64,
    /// Executions with each setting, `own` first.
    pub settings: Vec<(String, u64)>,
    /// What was kept, after how many executions: of the process that it took longest in.
    pub changes: Vec<(u64, String)>,
}

/// Runs a command with its regions adapted. Signals are handed on to it. `shrinks`: they may have fewer threads than the program says.
///
/// # Errors
/// Where it cannot be started, or the files that it needs cannot be made.
pub fn run_adapted(
    command: &[OsString],
    variables: impl IntoIterator<Item = (String, String)>,
    shrinks: bool,
) -> Result<Adapted, RecordError> {
    let [program, arguments @ ..] = command else { return Err(RecordError::NoCommand) };
    let folder = tempfile::Builder::new().prefix("partune-").tempdir();
    let folder = folder.map_err(RecordError::file(&std::env::temp_dir()))?;
    let path = folder.path().canonicalize().map_err(RecordError::file(folder.path()))?;
    let library = library::unpack(&path)?;
    let told = path.join("told");
    fs::create_dir(&told).map_err(RecordError::file(&told))?;
    let mut own: Vec<(OsString, OsString)> = vec![
        ("PARTUNE_ADAPT".into(), told.clone().into()),
        ("LD_PRELOAD".into(), prepended(library.path.as_os_str(), "LD_PRELOAD", ":")),
    ];
    own.extend(shrinks.then(|| ("PARTUNE_ADAPT_THREADS".into(), "1".into())));
    own.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
    let mut launched = Command::new(program);
    hand_on(&mut launched, &own, Way::of(command));
    launched.args(arguments).envs(own);
    let status = signals::spawn(&mut launched).and_then(signals::wait).map_err(failed(program))?;
    // The program has ended; what cannot be told of it does not change how.
    let read = || -> Result<_, RecordError> {
        let files = told_by(&told)?;
        let mut strings = Strings::default();
        let parts: Vec<Part> = files.iter().flat_map(|text| parts(text, &mut strings)).collect();
        Ok((files.len(), regions(parts, strings)?))
    };
    let (told, failure) = match read() {
        Ok(told) => (told, None),
        Err(failure) => ((0, Vec::new()), Some(failure)),
    };
    Ok(Adapted { status, processes: told.0, regions: told.1, failure })
}

/// What each process said, in the order of their numbers.
fn told_by(folder: &Path) -> Result<Vec<String>, RecordError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut paths: Vec<_> = entries.map_err(RecordError::file(folder))?.into_iter().map(|it| it.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).map_err(RecordError::file(path))).collect()
}

/// A region in one process; where it is is not known yet.
struct Part {
    module: StringId,
    at: At,
    region: AdaptedRegion,
}

/// What a process said; a line that is cut, since the disk is full, is as if it were not there.
fn parts(text: &str, strings: &mut Strings) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let region = parts.last_mut().map(|part| &mut part.region);
        match (words.as_slice(), region) {
            (["setting", name, executions], Some(region)) => {
                region.settings.push(((*name).to_owned(), executions.parse().unwrap_or_default()));
            }
            (["change", at, to], Some(region)) => {
                let to = to.parse().ok().and_then(|to: usize| region.settings.get(to)).map(|it| it.0.clone());
                region.changes.extend(at.parse().ok().zip(to));
            }
            (["region", module, kind, address, rest @ ..], _) => {
                let (Ok(address), [threads, iterations, kind_of, chunk, took, saved]) = (address.parse(), rest) else {
                    continue;
                };
                let number = |word: &str| word.parse::<u64>().unwrap_or_default();
                let seconds = |word: &str| word.parse::<f64>().unwrap_or_default() / 1e9;
                parts.push(Part {
                    module: strings.intern(module),
                    at: if *kind == "call" { At::Call(address) } else { At::Begin(address) },
                    region: AdaptedRegion {
                        threads: number(threads),
                        iterations: number(iterations),
                        schedule: schedule(number(kind_of), number(chunk)),
                        took_s: seconds(took),
                        saved_s: seconds(saved),
                        ..AdaptedRegion::default()
                    },
                });
            }
            _ => {}
        }
    }
    parts
}

/// A schedule of OpenMP's numbers, as its variable has it.
fn schedule(kind: u64, chunk: u64) -> String {
    let name = match kind {
        1 => "static",
        2 => "dynamic",
        3 => "guided",
        4 => "auto",
        0 => return String::new(),
        other => return format!("schedule {other}"),
    };
    // What stands there without a size has 0 or 1.
    if chunk > 1 || kind == 2 { format!("{name},{}", chunk.max(1)) } else { name.to_owned() }
}

/// Regions with their places. What has one place is one region: of all processes, and where a function was inlined several times of all its copies.
fn regions(parts: Vec<Part>, mut strings: Strings) -> Result<Vec<AdaptedRegion>, RecordError> {
    let places = Places::resolve(parts.iter().map(|part| (part.module, part.at)).collect(), &mut strings)?;
    // With where it is, and what the longest part of it took.
    let mut all: Vec<((StringId, At), f64, AdaptedRegion)> = Vec::new();
    for Part { module, at, mut region } in parts {
        if let Some(function) = places.get(module, at).last() {
            let name = strings.get(function.name);
            // Compilers make a function of a region.
            let end = ["._omp_fn.", ".omp_outlined"].iter().filter_map(|part| name.find(part)).min();
            name[..end.unwrap_or(name.len())].clone_into(&mut region.function);
            strings.get(function.call_file).clone_into(&mut region.file);
            region.line = function.call_line;
        }
        // Without a line only the same address is known to be the same region.
        let is_it = |it: &AdaptedRegion| {
            region.line > 0 && (&it.function, &it.file, it.line) == (&region.function, &region.file, region.line)
        };
        match all.iter_mut().find(|(origin, _, known)| *origin == (module, at) || is_it(known)) {
            Some((_, longest, known)) => {
                if region.took_s > *longest {
                    (*longest, known.changes) = (region.took_s, std::mem::take(&mut region.changes));
                }
                join(known, region);
            }
            None => all.push(((module, at), region.took_s, region)),
        }
    }
    let mut regions: Vec<AdaptedRegion> = all.into_iter().map(|(_, _, region)| region).collect();
    regions.sort_by(|a, b| b.took_s.total_cmp(&a.took_s));
    Ok(regions)
}

/// Adds what another part of a region took.
fn join(region: &mut AdaptedRegion, part: AdaptedRegion) {
    region.took_s += part.took_s;
    region.saved_s += part.saved_s;
    region.threads = region.threads.max(part.threads);
    region.iterations = region.iterations.max(part.iterations);
    for (name, executions) in part.settings {
        match region.settings.iter_mut().find(|it| it.0 == name) {
            Some(it) => it.1 += executions,
            None => region.settings.push((name, executions)),
        }
    }
}
