//! What a program executed, as callgrind counted it: how often its loops turned, and the chain of bounds of a run from the peak of the core on.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use partune_analysis::{Scalar, Section, Unit};
use partune_kernels::counts::turns;
use partune_kernels::{Core, Executions, Needed, kernels, x86};
use partune_machine::Machine;
use partune_symbols::{Module, NoFiles, Storage};
use partune_trace::{PauseKind, Stream};

use crate::diagnosis::Diagnosis;
use crate::kernels::{KernelError, Loops, read};

/// What the processes of a program executed, all together.
#[derive(Clone, Debug)]
pub struct Counted {
    pub binary: PathBuf,
    pub processes: usize,
    /// By the address of an instruction of the program itself.
    counts: BTreeMap<u64, u64>,
    /// Instructions that were executed in libraries.
    elsewhere: u64,
}

/// Reads files of callgrind, one of each process.
pub fn read_counts(files: &[PathBuf]) -> Result<Counted, KernelError> {
    let mut all: Option<Counted> = None;
    for path in files {
        let text = fs::read_to_string(path).map_err(|error| KernelError::Counts { path: path.clone(), error })?;
        let executions = Executions::callgrind(&text);
        let executions = executions.map_err(|error| KernelError::NoCounts { path: path.clone(), error })?;
        let (binary, counts) = executions
            .program()
            .ok_or_else(|| KernelError::NotExecuted { path: path.clone(), command: executions.command.clone() })?;
        let known = all.get_or_insert_with(|| Counted {
            binary: binary.into(),
            processes: 0,
            counts: BTreeMap::new(),
            elsewhere: 0,
        });
        if known.binary != Path::new(binary) {
            return Err(KernelError::Programs {
                path: path.clone(),
                binary: binary.into(),
                other: known.binary.clone(),
            });
        }
        known.processes += 1;
        for (address, count) in counts {
            *known.counts.entry(*address).or_default() += count;
        }
        let others = executions.objects.iter().filter(|(path, _)| *path != binary);
        known.elsewhere += others.flat_map(|(_, counts)| counts.values()).sum::<u64>();
    }
    all.ok_or(KernelError::NoCountsGiven)
}

/// Runs a program under callgrind, which takes some fifty times as long, and counts. It knows no AVX-512.
pub fn count(binary: &Path, arguments: &[OsString], prints_to_stderr: bool) -> Result<Counted, KernelError> {
    let folder = tempfile::tempdir().map_err(|error| KernelError::Counting { why: error.to_string() })?;
    let file = folder.path().join("counts");
    let mut out = OsString::from("--callgrind-out-file=");
    out.push(&file);
    let mut command = Command::new("valgrind");
    if prints_to_stderr {
        command.stdout(std::io::stderr());
    }
    let status = command
        .args(["--tool=callgrind", "--dump-instr=yes", "--quiet"])
        .arg(out)
        .arg(with_folder(binary))
        .args(arguments)
        .status();
    match status {
        Err(error) => Err(KernelError::Counting {
            why: format!(
                "valgrind: {error}\n  remedy: install valgrind, or count elsewhere and name the file with --counts"
            ),
        }),
        Ok(_) if file.exists() => read_counts(&[file]),
        Ok(status) => Err(KernelError::Counting { why: format!("valgrind counted nothing ({status})") }),
    }
}

/// A program by its path: a name alone would be looked for where programs are installed, as shells do.
fn with_folder(binary: &Path) -> PathBuf {
    if binary.parent() == Some(Path::new("")) { Path::new(".").join(binary) } else { binary.to_owned() }
}

impl Counted {
    /// Says of each loop of a program how often it turned, and leaves out those that did not.
    pub fn weigh(&self, binary: &Path, loops: &mut Loops) -> Result<(), KernelError> {
        let same = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if same(binary) != same(&self.binary) {
            let other = binary.to_owned();
            return Err(KernelError::OtherProgram { binary: self.binary.clone(), other });
        }
        for it in &mut loops.loops {
            it.executed = Some(turns(&it.kernel, &self.counts) as f64 * f64::from(it.kernel.turns()));
        }
        loops.loops.retain(|it| it.executed != Some(0.0));
        Ok(())
    }

    /// What all that was executed of the program needs on a core at least.
    pub fn needed(&self, core: &Core) -> Result<Needed, KernelError> {
        let bytes = read(&self.binary)?;
        let storage = Storage::default();
        let module = Module::parse(&self.binary.display().to_string(), &bytes, &NoFiles, &storage);
        let module = module.map_err(|error| KernelError::NotElf(error.to_string()))?;
        if !module.is_x86_64() {
            return Err(KernelError::Architecture(self.binary.clone()));
        }
        let mut needed = Needed::default();
        for symbol in module.functions() {
            let is_executed = self.counts.range(symbol.start..symbol.end).next().is_some();
            let code = module.code(symbol.start, symbol.end).filter(|_| is_executed);
            let Some(code) = code.map(|code| x86::decode(code, symbol.start)) else { continue };
            needed.add(&Needed::of(&code, &kernels(&code, core), core, &self.counts));
        }
        Ok(needed)
    }
}

impl Diagnosis {
    /// Begins the chain of bounds at the peak of the core: what the program executed, by the clock of the cores of a machine, evenly on all PEs.
    pub fn begin_at_peak(
        &mut self,
        counted: &Counted,
        core: &Core,
        (path, machine): (&Path, &Machine),
    ) -> Result<(), KernelError> {
        let cycle_s = machine.caches.as_ref().ok_or_else(|| KernelError::NoCaches(path.to_owned()))?.cycle_s;
        let trace = &self.run.trace;
        let is_off = |stream: &Stream| stream.pauses.iter().any(|pause| pause.kind == PauseKind::Off);
        if trace.piece().is_some() || trace.begins_late() || trace.streams().iter().any(is_off) {
            return Err(KernelError::Part);
        }
        let recorded = self.run.counts();
        let (pes, processes) = (recorded.pes.max(1) as f64, recorded.processes);
        if processes != counted.processes {
            return Err(KernelError::Processes { counted: counted.processes, recorded: processes });
        }
        let scalar =
            |section: &Section, name: &str| section.scalars.iter().find(|it| it.name == name).map(|it| it.value);
        let user = self.sections.iter().find(|it| it.name == "serial").and_then(|it| scalar(it, "user_code"));
        let user = user.ok_or(KernelError::NoBounds)?;
        let needed = counted.needed(core)?;
        let seconds = |cycles: f64| cycles * cycle_s / pes;
        let levels = [
            ("M", seconds(needed.m), "A"),
            ("MA", seconds(needed.ma), "C"),
            ("MAC", seconds(needed.mac), "S"),
            ("MACS", seconds(needed.macs), "$"),
            ("I", user, "P"),
        ];
        if !self.sections.iter_mut().any(|it| it.begin_bounds_with(&levels)) {
            return Err(KernelError::NoBounds);
        }
        let all = needed.instructions.max(1) as f64;
        let scalars = vec![
            Scalar::new("processes", Unit::Count, counted.processes as f64),
            Scalar::new("instructions", Unit::Count, needed.instructions as f64),
            Scalar::new("in_loops", Unit::Ratio, needed.in_loops as f64 / all),
            Scalar::new("elsewhere", Unit::Ratio, counted.elsewhere as f64 / (all + counted.elsewhere as f64)),
        ];
        self.sections.push(Section { name: "kernels", scalars, ..Section::default() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_run_by_its_path() {
        for (given, run) in [("app", "./app"), ("./app", "./app"), ("bin/app", "bin/app"), ("/bin/app", "/bin/app")] {
            // As text: paths that differ in `.` alone are equal.
            assert_eq!(with_folder(Path::new(given)).as_os_str(), run);
        }
    }
}
