//! `partune machine`: what this machine needs when nothing stands in the way.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use partune_microbench::{MODELS, Model, Settings, alone, launch, print, worker};
use partune_report::{machine_json, machine_text};

use crate::commands::size::count;
use crate::output;

/// Measure a machine, or show what was measured.
///
/// A description says what operations need here when nobody is late, and what recording costs. With it,
/// `partune analyze --machine` finds operations that take much longer than they should.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune machine measure -o machine.toml -- mpirun -n 4\n  \
                        partune machine show machine.toml\n  partune analyze --machine machine.toml run/traces.otf2")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Measure(Measure),
    Show(Show),
    #[command(hide = true)]
    Worker(Worker),
}

/// Run micro-benchmarks on this machine, as a launch line uses it.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune machine measure -o machine.toml -- mpirun -n 4\n\n\
                        Without a launch line this process alone is measured: rates, overheads, and threads, nothing of MPI. \
                        Use the launch line of the program that you want to understand.")]
struct Measure {
    /// The file to write; one that is there is replaced
    #[arg(short, long, value_name = "FILE", default_value = "machine.toml")]
    output: PathBuf,
    /// Seconds that measuring may take, about
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = budget)]
    budget: f64,
    #[command(flatten)]
    what: What,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// How programs are launched here, such as mpirun -n 4
    #[arg(last = true, value_name = "LAUNCH")]
    launch: Vec<String>,
}

#[derive(clap::Args)]
struct What {
    /// What to measure; otherwise all of it, but without a launch line threads alone
    #[arg(long, value_name = "MODEL", value_delimiter = ',', value_parser = PossibleValuesParser::new(MODELS.iter().map(|it| it.word)))]
    only: Vec<String>,
    /// Threads to measure at most; otherwise as OMP_NUM_THREADS says, or as many as there are processors
    #[arg(long, value_name = "COUNT", value_parser = count::<u32>(2))]
    threads: Option<u32>,
    /// The MPI library to load, if the launcher's is not found
    #[arg(long, value_name = "LIBRARY")]
    mpi_library: Option<String>,
}

impl What {
    fn settings(&self, budget_s: f64, launch: &[String]) -> Settings {
        let wanted = |model: &Model| match &self.only[..] {
            [] => !launch.is_empty() || !model.is_launched(),
            only => only.iter().any(|word| word == model.word),
        };
        Settings {
            budget_s,
            library: self.mpi_library.clone(),
            threads: self.threads,
            only: MODELS.iter().copied().filter(|model| wanted(model)).collect(),
            launch: launch.to_vec(),
        }
    }
}

/// Print a description for people.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune machine show machine.toml\n  partune machine show machine.toml --json")]
struct Show {
    /// The description
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What the launch line starts.
#[derive(clap::Args)]
struct Worker {
    #[arg(long)]
    budget: f64,
    #[command(flatten)]
    what: What,
    #[arg(last = true)]
    launch: Vec<String>,
}

fn budget(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text} is no number of seconds"))?;
    if seconds > 0.0 && seconds.is_finite() { Ok(seconds) } else { Err("must be a positive number".to_owned()) }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Measure(args) => measure(args),
        Command::Show(args) => {
            let machine = partune_engine::read_machine(&args.file)?;
            output::print(&if args.json { machine_json(&machine) } else { machine_text(&machine) })
        }
        Command::Worker(args) => match worker(&args.what.settings(args.budget, &args.launch))? {
            Some(machine) => output::print(&print(&machine)),
            None => Ok(()),
        },
    }
}

fn measure(args: &Measure) -> anyhow::Result<()> {
    let folder = args.output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        // Before measuring, not after.
        bail!("{}: no such folder\n  remedy: make it, or give another place with -o", folder.display());
    }
    let settings = args.what.settings(args.budget, &args.launch);
    let machine = if args.launch.is_empty() {
        alone(&settings)
    } else {
        let program = std::env::current_exe().context("cannot find partune itself")?.display().to_string();
        let launched = launch(&settings, |settings| worker_words(&program, settings))?;
        if !launched.output.trim().is_empty() {
            output::note(launched.output.trim_end());
        }
        launched.machine
    };
    partune_engine::write_machine(&args.output, &machine)?;
    if args.json {
        return output::print(&machine_json(&machine));
    }
    output::print(&format!("{}{}: written\n", machine_text(&machine), args.output.display()))
}

/// The words that start a worker with these settings.
fn worker_words(program: &str, settings: &Settings) -> Vec<String> {
    let only: Vec<&str> = settings.only.iter().map(|model| model.word).collect();
    let (budget, only) = (settings.budget_s.to_string(), only.join(","));
    let words = [program, "machine", "worker", "--budget", &budget, "--only", &only].map(str::to_owned);
    let option = |name: &str, value: Option<String>| value.map(|value| [name.to_owned(), value]);
    let options = [
        option("--threads", settings.threads.map(|count| count.to_string())),
        option("--mpi-library", settings.library.clone()),
    ];
    let launch = std::iter::once("--".to_owned()).chain(settings.launch.iter().cloned());
    words.into_iter().chain(options.into_iter().flatten().flatten()).chain(launch).collect()
}
