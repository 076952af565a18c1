//! `partune view`: a page in the browser that shows archives, from this machine for this machine.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context;
use partune_engine::{Options, Request};
use partune_server::{Server, Settings};

use crate::commands::piece::Piece;
use crate::output;

/// Look at archives in the browser: what kind of loss it is, where, when and who causes it.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune view scorep_run/traces.otf2\n\nServes this machine only, until Ctrl-C, at an \
                        address that nobody can guess. docs/view-api.md lists what it answers."
)]
pub(crate) struct Args {
    /// Archives: their anchor files (traces.otf2), or the folders that hold them; several are compared
    #[arg(required = true)]
    archives: Vec<PathBuf>,
    /// The port to listen on; 0: one that is free
    #[arg(long, default_value_t = 0, value_name = "N")]
    port: u16,
    /// Print the address only, and open no browser
    #[arg(long)]
    no_open: bool,
    /// What operations need on the machine of the runs: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Threads to use; 0: one per processor
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Keep time stamps as recorded, even if messages run backwards in time
    #[arg(long)]
    no_clock_repair: bool,
    #[command(flatten)]
    piece: Piece,
    /// Take the page from this folder and not from the program, to work on it
    #[arg(long, value_name = "FOLDER", hide = true)]
    page: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let machine = args.machine.as_deref().map(partune_engine::read_machine).transpose()?;
    rayon::ThreadPoolBuilder::new().num_threads(args.threads).build_global().context("cannot start threads")?;
    let request = Request {
        options: Options { machine: machine.clone(), ..Options::default() },
        repair_clocks: !args.no_clock_repair,
        ..Request::default()
    };
    let server = Server::bind(Settings {
        archives: args.archives.clone(),
        port: args.port,
        request,
        selection: args.piece.selection(),
        machine,
        page: args.page.clone(),
    })?;
    let url = server.url();
    output::print(&format!("partune: {url}\n"))?;
    std::io::stdout().flush().context("cannot print the address")?;
    if !args.no_open {
        open(&url);
    }
    server.serve()?;
    Ok(())
}

/// Opens the browser, if there is one. The address is printed, so nothing is lost where there is none.
fn open(url: &str) {
    let quiet = || Stdio::null();
    let started = Command::new("xdg-open").arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    // Reaped by the system when this process ends.
    drop(started);
}
