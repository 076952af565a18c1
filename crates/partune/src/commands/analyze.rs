//! `partune analyze`: from an archive to findings with causes.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use partune_engine::job::Job;
use partune_engine::{About, Core, Counted, Diagnosis, Options, Progress, Request, SLICE, Selection, Sliced, analyses};
use partune_report::{TextOptions, document, schema, text};

use crate::commands::filter;
use crate::commands::reading::Reading;
use crate::commands::resources::{Resources, Room};
use crate::commands::runs;
use crate::commands::size::count;
use crate::commands::thresholds::Thresholds;
use crate::output;
use crate::progress::Bar;

/// Say where a recorded run loses time, how much, who causes it and at which line.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune analyze scorep_run/traces.otf2\n  partune analyze scorep_run --json > run.json\n  partune analyze scorep_run --from 20% --to 1.5s\n  mpirun -n 8 partune analyze scorep_run"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// The archive: its anchor file (traces.otf2), or the folder that holds it; of several runs there, the one with the median run time
    #[arg(required_unless_present = "schema")]
    archive: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
    /// Print the figures of every analysis too
    #[arg(long)]
    full: bool,
    /// Run and print only these analyses
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = PossibleValuesParser::new(analyses().map(|it| it.name)))]
    only: Vec<String>,
    /// How many findings to print as text; by default as many as fit on a screen, at most four
    #[arg(long, value_name = "N", value_parser = count::<usize>(0))]
    findings: Option<usize>,
    /// Rows of a table to print as text
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = count::<usize>(0))]
    rows: usize,
    /// Tell on stderr how long each stage took
    #[arg(long)]
    timings: bool,
    /// Write which functions cost more to record than they tell, for partune record --filter FILE
    #[arg(long, value_name = "FILE")]
    write_filter: Option<PathBuf>,
    /// What operations need on the machine of the run: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Begin the bounds at the peak of the core: how often the program's instructions were executed, as callgrind with dump-instr=yes writes it, a file of each process
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "machine")]
    kernels: Vec<PathBuf>,
    /// With --kernels: the core [default: this machine's]
    #[arg(long, value_name = "CORE", requires = "kernels")]
    core: Option<String>,
    /// Where a launcher of MPI starts several processes: the library that they talk by [default: the launcher's]
    #[arg(long, value_name = "NAME")]
    mpi_library: Option<String>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    thresholds: Thresholds,
}

/// What is asked for, of what the arguments name.
pub(crate) struct Asked {
    request: Request,
    kernels: Option<(Counted, &'static Core)>,
    selection: Selection,
}

impl Args {
    /// Whether processes that a launcher started may share the work: it is of a whole run and looks at no kernel.
    pub(crate) fn can_be_shared(&self) -> bool {
        !self.schema && self.kernels.is_empty() && self.reading.selection() == Selection::default()
    }

    /// Reads what the arguments name, but for the archive.
    pub(crate) fn asked(&self) -> anyhow::Result<Asked> {
        let machine = self.machine.as_deref().map(partune_engine::read_machine).transpose()?;
        let counted = (!self.kernels.is_empty()).then(|| partune_engine::read_counts(&self.kernels)).transpose()?;
        let core = counted.as_ref().map(|_| partune_engine::core_named(self.core.as_deref())).transpose()?;
        let mut only = self.only.clone();
        if self.write_filter.is_some() && !only.is_empty() {
            only.push(filter::ANALYSIS.to_owned());
        }
        let request = self.reading.asked(Options { machine, ..self.thresholds.options() })?;
        let selection = self.reading.selection();
        Ok(Asked { request: Request { only, ..request }, kernels: counted.zip(core), selection })
    }

    pub(crate) fn archive(&self) -> anyhow::Result<&Path> {
        self.archive.as_deref().context("no archive given")
    }

    pub(crate) fn resources(&self) -> &Resources {
        self.reading.resources()
    }

    pub(crate) fn mpi_library(&self) -> Option<&str> {
        self.mpi_library.as_deref()
    }

    /// Whether the archive is large enough for slices, and what is asked for can be answered by them.
    pub(crate) fn may_be_in_slices(&self) -> bool {
        let (Ok(archive), Ok(asked)) = (self.archive(), self.asked()) else { return false };
        partune_engine::may_be_in_slices(archive, &asked.request, SLICE)
    }

    /// What comes of looking at the archive in slices, with the other processes of a job.
    pub(crate) fn in_slices(&self, asked: &Asked, job: &dyn Job) -> anyhow::Result<Sliced> {
        let archive = self.archive()?;
        let bar = (job.rank() == 0).then(|| Bar::new(self.timings));
        let progress: &dyn Progress = bar.as_ref().map_or(&(), |bar| bar as &dyn Progress);
        Ok(partune_engine::analyze_in_slices(archive, &asked.request, SLICE, job, progress)?)
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.schema {
        return output::print(&schema());
    }
    let asked = args.asked()?;
    let room = args.resources().limit()?;
    let sliced = match &asked {
        Asked { kernels: Some(_), .. } => Sliced::Whole(None),
        Asked { request, selection, .. } => {
            let bar = Bar::new(args.timings);
            partune_engine::analyze_large(args.archive()?, selection, request, SLICE, &bar)?
        }
    };
    tell(args, asked, sliced, || Ok(room))
}

/// Prints what was found in slices, or what is found in the run as a whole; `room` gives the means to read it.
pub(crate) fn tell(
    args: &Args,
    asked: Asked,
    sliced: Sliced,
    room: impl FnOnce() -> anyhow::Result<Option<Room>>,
) -> anyhow::Result<()> {
    let archive = args.archive()?;
    let Asked { request, kernels, selection } = asked;
    if matches!(sliced, Sliced::Elsewhere) {
        return Ok(());
    }
    let mut diagnosis = if let Some(diagnosis) = runs::found(sliced, archive) {
        diagnosis
    } else {
        room()?.map_or(Ok(()), |room| room.tell(&[archive.to_owned()]))?;
        let bar = Bar::new(args.timings);
        partune_engine::analyze_piece(partune_engine::open(archive, &bar)?, &selection, &request, &bar)?
    };
    if let (Some((counted, core)), Some(path), Some(machine)) = (&kernels, &args.machine, &request.options.machine) {
        diagnosis.begin_at_peak(counted, core, (path, machine))?;
    }
    let name = archive.display().to_string();
    let table_rows = if args.full || !args.only.is_empty() { args.rows } else { 0 };
    output::print(&if args.json {
        document(&diagnosis, &name)
    } else {
        text(&diagnosis, &name, TextOptions { findings: args.findings, table_rows, style: output::style() })
            + &without(&diagnosis, &args.only)
    })?;
    if let Some(file) = &args.write_filter {
        filter::write(&diagnosis, &name, file)?;
    }
    // The process ends here: freeing a large trace piece by piece would only keep the user waiting.
    std::mem::forget(diagnosis);
    Ok(())
}

/// Which analyses that were asked for by name have nothing to show of the run, whether nothing of it was recorded or they were not given what they need besides.
fn without(diagnosis: &Diagnosis, only: &[String]) -> String {
    let is_shown = |about: &About| about.shows.iter().any(|section| diagnosis.section(section.name).is_some());
    let asked = analyses().filter(|about| only.iter().any(|name| name == about.name));
    let silent = asked.filter(|about| !about.shows.is_empty() && !is_shown(about));
    let line = |about: About| match about.name {
        "files" => "\nfiles: no access to a file was recorded\n".to_owned(),
        name => format!("\n{name}: nothing to show of this run ({})\n", about.title),
    };
    silent.map(line).collect()
}

/// What `partune analyze ARCHIVE` prints if nothing else is asked for. `name` is what the run is called.
pub(crate) fn first_screen(archive: &Path, name: &str) -> anyhow::Result<String> {
    let bar = Bar::new(false);
    let diagnosis = partune_engine::analyze(partune_engine::open(archive, &bar)?, &Request::default(), &bar);
    drop(bar);
    Ok(text(&diagnosis, name, TextOptions { findings: None, table_rows: 0, style: output::style() }))
}
