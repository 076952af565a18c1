//! What a command on a model may take. A model is a program: a short one may describe more than any machine can work out, and closed forms
//! may grow with every step. So time and memory are watched from beside, whatever the command is doing, and it ends with an error.

use std::time::{Duration, Instant};

use crate::commands::size::count;
use crate::output;

/// How often is looked.
const PERIOD: Duration = Duration::from_millis(20);

#[derive(clap::Args)]
pub(super) struct Limits {
    /// Give up after so many seconds; 0: never
    #[arg(long, global = true, default_value_t = 600, value_name = "SECONDS", value_parser = count::<u64>(0))]
    time_limit: u64,
    /// Give up where more memory than this is needed, in MiB; 0: never
    #[arg(long, global = true, default_value_t = 4096, value_name = "MIB", value_parser = count::<u64>(0))]
    memory_limit: u64,
}

impl Limits {
    /// Ends the process with an error where a limit is reached.
    pub(super) fn watch(&self) {
        let time = (self.time_limit > 0).then(|| Duration::from_secs(self.time_limit));
        let memory = (self.memory_limit > 0).then_some(self.memory_limit << 10);
        let begin = Instant::now();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(PERIOD);
                if let Some(limit) = time.filter(|limit| begin.elapsed() >= *limit) {
                    give_up(&format!("not done after {} s", limit.as_secs()), "--time-limit SECONDS");
                }
                if let Some(limit) = memory.filter(|limit| resident_kib().is_some_and(|used| used > *limit)) {
                    give_up(&format!("more than {} MiB of memory are needed", limit >> 10), "--memory-limit MIB");
                }
            }
        });
    }
}

fn give_up(what: &str, option: &str) -> ! {
    let remedy =
        format!("give values to more parameters (-D NAME=VALUE), make the model smaller, or allow more with {option}");
    output::error(&anyhow::anyhow!("{what}\n  remedy: {remedy}"));
    std::process::exit(1)
}

/// Memory of this process; none where the system does not tell.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
