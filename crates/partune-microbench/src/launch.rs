//! Runs a launch line with a worker at its end and reads what rank 0 says.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use partune_machine::{Machine, ReadError, read, write};

use crate::{Model, Settings, not_measured};

/// The lines around the description in a worker's output. Launchers and libraries print beside it.
const BEGIN: &str = "#### partune machine";
const END: &str = "#### end of partune machine";

/// Why a launch line gave no description.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error(
        "cannot start {program}: {reason}\n  remedy: check the launch line; it begins with the launcher, such as mpirun -n 4"
    )]
    Start { program: String, reason: String },
    #[error(
        "{line} ended with {status} and measured nothing{output}\n  remedy: check that the launch line works: {line} hostname"
    )]
    Nothing { line: String, status: String, output: String },
    #[error(
        "{line} started {count} processes that do not know of each other\n  remedy: use the launcher of the MPI library, or leave the launch line away to measure one process"
    )]
    Strangers { line: String, count: usize },
    #[error(
        "{line} was ended, since it did not end within {seconds:.0} s\n  remedy: check that the launch line works: {line} hostname; measure on an idle machine"
    )]
    Stuck { line: String, seconds: f64 },
    #[error("what the worker said cannot be read: {0}")]
    Read(#[from] ReadError),
}

/// What a launch line gave.
#[derive(Debug)]
pub struct Launched {
    pub machine: Machine,
    /// What else was printed on standard output.
    pub output: String,
}

/// A description as a worker prints it.
pub fn print(machine: &Machine) -> String {
    format!("{BEGIN}\n{}{END}\n", write(machine))
}

/// Runs `settings.launch` followed by what `worker` makes of settings: the words of a command that calls
/// [`crate::worker`] with them and prints what [`print`] makes of it. Models that cannot be in one process get a launch of
/// their own; where that fails the description notes it, but for the first.
pub fn launch(settings: &Settings, worker: impl Fn(&Settings) -> Vec<String>) -> Result<Launched, LaunchError> {
    let (joined, others): (Vec<&Model>, Vec<&Model>) = settings.only.iter().partition(|model| model.joins());
    let launches =
        Some(joined).filter(|joined| !joined.is_empty()).into_iter().chain(others.into_iter().map(|it| vec![it]));
    let mut all: Option<Launched> = None;
    for only in launches {
        let share: f64 = only.iter().map(|model| model.share(&settings.only)).sum();
        let settings = Settings { budget_s: settings.budget_s * share, only, ..settings.clone() };
        // Libraries that share a process with MPI are at times killed by it, most on a busy machine.
        let tries = if settings.only.iter().all(|model| model.joins()) { 1 } else { TRIES };
        let mut launched = launch_one(&settings, &worker(&settings));
        for _ in 1..tries {
            if matches!(launched, Err(LaunchError::Nothing { .. })) {
                launched = launch_one(&settings, &worker(&settings));
            }
        }
        match (launched, &mut all) {
            (Ok(launched), None) => all = Some(launched),
            (Err(error), None) => return Err(error),
            (Ok(launched), Some(all)) => all.add(launched),
            (Err(error), Some(all)) => {
                let first = error.to_string().lines().next().unwrap_or_default().to_owned();
                all.machine.notes.extend(settings.only.iter().map(|model| not_measured(model, &first)));
            }
        }
    }
    all.ok_or_else(|| LaunchError::Start {
        program: settings.launch.join(" "),
        reason: "nothing is to measure".to_owned(),
    })
}

impl Launched {
    /// What another launch of the same line gave: its operations, and what is to know about them.
    fn add(&mut self, other: Launched) {
        self.machine.provenance.took_s += other.machine.provenance.took_s;
        self.machine.baselines.extend(other.machine.baselines);
        for note in other.machine.notes {
            if !self.machine.notes.contains(&note) {
                self.machine.notes.push(note);
            }
        }
        self.output += &other.output;
    }
}

/// Launches of a library that shares a process with MPI, at most.
const TRIES: u32 = 4;

/// With Open MPI's own hooks for memory, its OpenSHMEM dies at its end in some builds.
const HOOKS: &str = "OMPI_MCA_opal_common_ucx_opal_mem_hooks";

/// A launch has so many times its budget, and at least so many seconds: on busy machines starting alone takes some.
const PATIENCE: f64 = 10.0;
const LEAST_LIMIT_S: f64 = 60.0;

fn launch_one(settings: &Settings, worker: &[String]) -> Result<Launched, LaunchError> {
    let line = settings.launch.join(" ");
    let mut words = settings.launch.iter().chain(worker);
    let program = words.next().cloned().unwrap_or_default();
    let start = |error: std::io::Error| LaunchError::Start { program: program.clone(), reason: error.to_string() };
    let mut child = Command::new(&program)
        .args(words)
        .env(HOOKS, std::env::var_os(HOOKS).unwrap_or_else(|| "0".into()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(start)?;
    let limit_s = (PATIENCE * settings.budget_s).max(LEAST_LIMIT_S);
    let (said, all_said) = mpsc::channel();
    let stdout = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.map_or(Ok(0), |mut stdout| stdout.read_to_end(&mut bytes));
        // Nobody listens any more to a launch that was stuck.
        let _ = said.send(read.map(|_| bytes));
    });
    let Ok(bytes) = all_said.recv_timeout(Duration::from_secs_f64(limit_s)) else {
        end(&mut child);
        return Err(LaunchError::Stuck { line, seconds: limit_s });
    };
    let bytes = bytes.map_err(start)?;
    let _ = reader.join();
    let status = child.wait().map_err(start)?;
    let text = String::from_utf8_lossy(&bytes);
    let (descriptions, output) = split(&text);
    match &descriptions[..] {
        [one] => Ok(Launched { machine: read(one)?, output }),
        [] => {
            let output = if output.trim().is_empty() { String::new() } else { format!("; it said: {}", output.trim()) };
            Err(LaunchError::Nothing { line, status: status.to_string(), output })
        }
        many => Err(LaunchError::Strangers { line, count: many.len() }),
    }
}

/// Ends a launcher: by what it hands on to those that it started, and after a while for good.
#[allow(unsafe_code, reason = "a signal")]
fn end(child: &mut Child) {
    for signal in [libc::SIGTERM, libc::SIGKILL] {
        // SAFETY: a signal to a process that nobody waited for yet.
        unsafe { libc::kill(child.id() as i32, signal) };
        for _ in 0..100 {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The descriptions in an output, and what stands beside them.
fn split(text: &str) -> (Vec<String>, String) {
    let (mut descriptions, mut output) = (Vec::new(), String::new());
    let mut inside: Option<String> = None;
    for line in text.lines() {
        match &mut inside {
            None if line == BEGIN => inside = Some(String::new()),
            None => output.extend([line, "\n"]),
            Some(description) if line == END => {
                descriptions.push(std::mem::take(description));
                inside = None;
            }
            Some(description) => description.extend([line, "\n"]),
        }
    }
    (descriptions, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_found_among_other_lines() {
        let text = format!("hello\n{BEGIN}\na = 1\n{END}\nbye\n");
        assert_eq!(split(&text), (vec!["a = 1\n".to_owned()], "hello\nbye\n".to_owned()));
        let (none, output) = split(&format!("{BEGIN}\na = 1\n"));
        assert!(none.is_empty() && output.is_empty());
        assert_eq!(split(&text.repeat(2)).0.len(), 2);
    }
}
