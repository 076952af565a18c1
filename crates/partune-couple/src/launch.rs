//! Launches the program: a command of the shell, with what it is to measure in the environment.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

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
    /// This signal came, and the launch was ended.
    Interrupted(i32),
}

/// How often it is looked whether a launch has ended.
const LOOK: Duration = Duration::from_millis(20);
/// How long a launch that was told to end may take for that.
const GRACE: Duration = Duration::from_secs(3);

/// Runs a launch; `said` gets what it writes to its error stream. The measuring program reads `PARTUNE_COUPLE` (the file to append to), `_RUN`, `_LENGTHS`,
/// `_BUDGET`, `_CONFIDENCE` and `_ROUNDS`.
pub fn launch(plan: &Plan, launch: &Launch, said: &Path) -> Result<Ended, CoupleError> {
    let results = std::path::absolute(&plan.results).unwrap_or_else(|_| plan.results.clone());
    let lengths: Vec<String> = plan.lengths.iter().map(ToString::to_string).collect();
    let watch = watch();
    watch.is_idle.store(false, Ordering::SeqCst);
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
        .spawn();
    let most = Duration::try_from_secs_f64(plan.timeout_s).unwrap_or(Duration::MAX);
    let ended = child.and_then(|child| wait(child, most, &watch.signal)).map_err(CoupleError::NotStarted);
    watch.is_idle.store(true, Ordering::SeqCst);
    ended
}

/// Signals that end a process: while a launch is under way, which of them came; otherwise they do what they always do.
struct Watch {
    is_idle: Arc<AtomicBool>,
    /// 0: none.
    signal: Arc<AtomicUsize>,
}

/// Begins to watch, once. A signal that was ignored (`nohup`) stays so.
fn watch() -> &'static Watch {
    static WATCH: OnceLock<Watch> = OnceLock::new();
    WATCH.get_or_init(|| {
        let watch = Watch { is_idle: Arc::new(AtomicBool::new(true)), signal: Arc::default() };
        let ignored = ignored();
        for signal in [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
            // Where it cannot be watched, it ends partune alone.
            let _ = signal_hook::flag::register_conditional_default(signal, watch.is_idle.clone());
            let _ = signal_hook::flag::register_usize(signal, watch.signal.clone(), signal as usize);
        }
        watch
    })
}

/// Signals that this process ignores: signal 1 is the lowest bit.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// Ends this process as a signal would have.
pub fn end_by(signal: i32) {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

fn wait(mut child: Child, most: Duration, interrupted: &AtomicUsize) -> std::io::Result<Ended> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { Ended::Done } else { Ended::Failed(status) });
        }
        let signal = interrupted.load(Ordering::Relaxed) as i32;
        if signal != 0 {
            // What a launcher is told it tells its ranks.
            end(&mut child, Signal::TERM, GRACE)?;
            return Ok(Ended::Interrupted(signal));
        }
        if begin.elapsed() > most {
            end(&mut child, Signal::KILL, Duration::ZERO)?;
            return Ok(Ended::Stuck);
        }
        std::thread::sleep(LOOK);
    }
}

/// Ends a command and what it started, whose group has the number of its first process as long as nobody waited for that.
fn end(child: &mut Child, signal: Signal, grace: Duration) -> std::io::Result<()> {
    let group = Pid::from_child(child);
    // It may have no process any more.
    let _ = kill_process_group(group, signal);
    let told = Instant::now();
    while told.elapsed() < grace {
        if child.try_wait()?.is_some() {
            break;
        }
        std::thread::sleep(LOOK);
    }
    // What is left of the group keeps its number.
    let _ = kill_process_group(group, Signal::KILL);
    child.wait().map(|_| ())
}
