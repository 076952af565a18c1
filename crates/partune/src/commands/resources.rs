//! What a command may take of the machine: `--threads`, `--memory`, `--spill`.

use std::path::PathBuf;

use anyhow::{Context, bail};
use partune_report::names;

use crate::commands::job::{Part, Several};
use crate::commands::size::{count, size};
use crate::output;

#[derive(clap::Args)]
pub(crate) struct Resources {
    /// Threads to use, at most 64 or two per processor, whichever is more, of each process where a launcher starts several; 0: one per processor
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = count::<usize>(0))]
    threads: usize,
    /// Memory to use at most, such as 512M or 2G, of each process where a launcher starts several; what is beyond it lies in a file [default: three quarters of what is free]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,
    /// The folder of that file, on a disk; the file has no name, and goes with the process [default: that for temporary files, or /var/tmp]
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
}

/// What of free memory is taken where nobody says how much.
const SHARE: (u64, u64) = (3, 4);
/// Bytes of memory for each of an archive's, about: OTF2 has some ten bytes an event, and a trace of it thirty, or seventy where everybody waits all the time.
const GROWTH: u64 = 4;

/// Where what is beyond a limit of memory goes.
pub(crate) struct Room {
    limit: u64,
    folder: PathBuf,
    /// Bytes that are free there.
    free: u64,
}

impl Resources {
    /// Starts the threads and sets the limit, before these archives are read as a whole.
    pub(crate) fn take(&self, archives: &[PathBuf]) -> anyhow::Result<()> {
        self.limit()?.map_or(Ok(()), |room| room.tell(archives))
    }

    /// Starts the threads and sets the limit.
    pub(crate) fn limit(&self) -> anyhow::Result<Option<Room>> {
        let threads = Part::of_this_process().threads(self.threads);
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("cannot start threads")?;
        self.hold(1)
    }

    /// The same where each process of a job works: threads of its own, and the limit of one of those on the node.
    pub(crate) fn limit_each(&self, several: Several) -> anyhow::Result<rayon::ThreadPool> {
        self.hold(several.on_node as u64)?;
        let threads = several.threads(self.threads);
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().context("cannot start threads")
    }

    /// Sets the limit, where nobody says how much that of one of so many processes.
    fn hold(&self, processes: u64) -> anyhow::Result<Option<Room>> {
        let share = || partune_memory::available().map(|bytes| bytes / SHARE.1 * SHARE.0 / processes);
        let Some(limit) = self.memory.or_else(share) else { return Ok(None) };
        let usual = || vec![std::env::temp_dir(), PathBuf::from("/var/tmp")];
        let mut refused = None;
        for folder in self.spill.clone().map_or_else(usual, |folder| vec![folder]) {
            match partune_memory::limit(limit, &folder) {
                Ok(free) => return Ok(Some(Room { limit, folder, free })),
                Err(error) => refused = Some(error),
            }
        }
        // Who did not ask for a limit does without.
        let asked = self.memory.is_some() || self.spill.is_some();
        refused.filter(|_| asked).map_or(Ok(None), |error| Err(error.into()))
    }
}

/// Bytes of memory that traces of these archives need, about.
fn needed(archives: &[PathBuf]) -> u64 {
    archives.iter().map(|it| partune_engine::bytes(it)).sum::<u64>().saturating_mul(GROWTH)
}

impl Room {
    /// Before these archives are read as a whole: says where what does not fit into memory goes, and ends where there is no room for it.
    pub(crate) fn tell(&self, archives: &[PathBuf]) -> anyhow::Result<()> {
        let (Room { limit, folder, free }, needed) = (self, needed(archives));
        let Some(beyond) = needed.checked_sub(*limit).filter(|beyond| *beyond > 0) else { return Ok(()) };
        let in_words = |bytes: u64| names::bytes(bytes as f64);
        // What is needed is known to a factor only.
        if *free < beyond / 2 {
            bail!(
                "{}: {} are free, and about {} are needed for what is beyond {} of memory\n  remedy: name a folder with more room by --spill, or \
                 give more memory by --memory",
                folder.display(),
                in_words(*free),
                in_words(beyond),
                in_words(*limit)
            );
        }
        output::note(&format!(
            "partune: about {} are needed; what is beyond {} of memory goes to a file in {}, where {} are free",
            in_words(needed),
            in_words(*limit),
            folder.display(),
            in_words(*free)
        ));
        Ok(())
    }
}

/// A limit of memory.
fn memory(text: &str) -> Result<u64, String> {
    let least = partune_memory::LEAST_LIMIT;
    size(text)?.checked_sub(least).map(|more| least + more).ok_or_else(|| format!("the least is {}M", least >> 20))
}
