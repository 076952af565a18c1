//! Launches the program: a command of the shell, with what it is to measure in the environment.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::error::CoupleError;
use crate::plan::{Launch, Plan};

/// How a launch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Done,
    /// With this status, and nothing of it counts.
    Failed(ExitStatus),
    /// It took longer than the plan allows.
    Stuck,
}

/// How often it is looked whether a launch has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a launch; `said` gets what it writes to its error stream. The measuring program reads `PARTUNE_COUPLE` (the file to append to), `_RUN`, `_LENGTHS`,
/// `_BUDGET`, `_CONFIDENCE` and `_ROUNDS`.
pub fn launch(plan: &Plan, launch: &Launch, said: &Path) -> Result<Ended, CoupleError> {
    let results = std::path::absolute(&plan.results).unwrap_or_else(|_| plan.results.clone());
    let lengths: Vec<String> = plan.lengths.iter().map(ToString::to_string).collect();
    let stderr = File::create(said).map_or_else(|_| Stdio::null(), Stdio::from);
    let child = Command::new("sh")
        .args(["-c", &launch.command])
        .current_dir(&plan.folder)
        .envs(plan.environment(launch))
        .env("PARTUNE_COUPLE", results)
        .env("PARTUNE_COUPLE_RUN", &launch.label)
        .env("PARTUNE_COUPLE_LENGTHS", lengths.join(","))
        .env("PARTUNE_COUPLE_BUDGET", plan.budget_s.to_string())
        .env("PARTUNE_COUPLE_CONFIDENCE", plan.confidence.to_string())
        .env("PARTUNE_COUPLE_ROUNDS", plan.rounds.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        // A group of its own: what the shell started ends with it.
        .process_group(0)
        .spawn()
        .map_err(CoupleError::NotStarted)?;
    wait(child, Duration::try_from_secs_f64(plan.timeout_s).unwrap_or(Duration::MAX)).map_err(CoupleError::NotStarted)
}

fn wait(mut child: Child, most: Duration) -> std::io::Result<Ended> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { Ended::Done } else { Ended::Failed(status) });
        }
        if begin.elapsed() > most {
            // Its group has the number of its first process, which is there as long as nobody waits for it.
            Command::new("sh").args(["-c", &format!("kill -9 -{}", child.id())]).stderr(Stdio::null()).status()?;
            child.wait()?;
            return Ok(Ended::Stuck);
        }
        std::thread::sleep(LOOK);
    }
}
