//! `partune view`: a page in the browser that shows archives, from this machine for this machine.

use std::fs::{OpenOptions, Permissions};
use std::io::{IsTerminal, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use partune_engine::{Options, SLICE};
use partune_pages::{Opening, Sources};
use partune_server::{Limits, Server, Settings};
use tempfile::TempDir;

use crate::commands::reading::Reading;
use crate::commands::thresholds::Thresholds;
use crate::output;

/// Look at archives in the browser: what kind of loss it is, where, when and who causes it.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune view scorep_run/traces.otf2\n\nServes this machine only, until Ctrl-C, at an \
                        address that nobody can guess. It is printed to a terminal only; where output goes elsewhere, what is \
                        printed names a file that only you can read. docs/view-api.md lists what is answered."
)]
pub(crate) struct Args {
    /// Archives: their anchor files (traces.otf2), or the folders that hold them; several are compared
    #[arg(required = true)]
    archives: Vec<PathBuf>,
    /// The port to listen on; 0: one that is free
    #[arg(long, default_value_t = 0, value_name = "N")]
    port: u16,
    /// Keep the secret part of the address in this file, which is made for you alone: with the same --port, links stay good after a restart
    #[arg(long, value_name = "FILE", requires = "port")]
    token_file: Option<PathBuf>,
    /// Print the address only, and open no browser
    #[arg(long)]
    no_open: bool,
    /// Show the text of source files that lie in this folder, beside what their lines cost; may be given several times
    #[arg(long, value_name = "FOLDER")]
    source: Vec<PathBuf>,
    /// What operations need on the machine of the runs: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    thresholds: Thresholds,
    /// Take the page from this folder and not from the program, to work on it
    #[arg(long, value_name = "FOLDER", hide = true)]
    page: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    // What is not there is said here and not in a page.
    for archive in &args.archives {
        partune_engine::runs(archive)?;
    }
    let selection = args.reading.selection();
    let is_followed = selection.phase.is_some() || selection.skip_turns > 0;
    let machine = args.machine.as_deref().map(partune_engine::read_machine).transpose()?;
    let options = Options { machine, ..args.thresholds.options() };
    let request = args.reading.asked(options)?;
    let is_whole = |it: &&PathBuf| is_followed || !partune_engine::may_be_in_slices(it, &request, SLICE);
    let whole: Vec<PathBuf> = args.archives.iter().filter(is_whole).cloned().collect();
    args.reading.resources().take(&whole)?;
    let server = Server::bind(Settings {
        archives: args.archives.clone(),
        port: args.port,
        token: args.token_file.clone(),
        opening: Opening::new(request, selection, SLICE),
        sources: Sources::new(&args.source)
            .context("cannot show source files\n  remedy: give folders that are there with --source")?,
        page: args.page.clone(),
        limits: Limits::default(),
    })?;
    let end = server.signals();
    let terminal = std::io::stdout().is_terminal();
    let files = (!terminal || !args.no_open).then(|| Private::new(&server.url()));
    // Kept until the server ends.
    let files = files.transpose().context("cannot write the address to a private folder")?;
    output::print(&match &files {
        Some(files) if !terminal => format!("partune: serving; the address is in {}\n", files.address().display()),
        _ => format!("partune: {}\n", server.url()),
    })?;
    std::io::stdout().flush().context("cannot print the address")?;
    if let Some(files) = files.as_ref().filter(|_| !args.no_open) {
        open(&files.page());
    }
    server.serve_until(end);
    Ok(())
}

/// The address with its token, in files that nobody else can read. Arguments of a process and the log of a job can be read by others.
struct Private(TempDir);

impl Private {
    fn new(url: &str) -> std::io::Result<Private> {
        let folder =
            tempfile::Builder::new().prefix("partune-").permissions(Permissions::from_mode(0o700)).tempdir()?;
        let private = Private(folder);
        let write = |path: PathBuf, text: String| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(text.as_bytes())
        };
        write(private.address(), format!("{url}\n"))?;
        let page = "<!doctype html><meta charset=utf-8><title>partune view</title><meta http-equiv=refresh";
        write(private.page(), format!("{page} content=\"0; url={url}\"><a href=\"{url}\">partune view</a>\n"))?;
        Ok(private)
    }

    /// The address as text.
    fn address(&self) -> PathBuf {
        self.0.path().join("address")
    }

    /// A page that leads to the address.
    fn page(&self) -> PathBuf {
        self.0.path().join("view.html")
    }
}

/// Opens the browser, if there is one. The address is printed, so nothing is lost where there is none.
fn open(page: &Path) {
    let quiet = || Stdio::null();
    let started = Command::new("xdg-open").arg(page).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    // Reaped by the system when this process ends.
    drop(started);
}
