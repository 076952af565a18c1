//! `partune man`: manual pages, made from the definitions of commands and options.

use std::path::PathBuf;

use anyhow::Context;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::{Cli, output};

/// Print the manual page, or write those of all commands.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  partune man | man -l -\n  partune man -o ~/.local/share/man/man1 && man partune-record"
)]
pub(crate) struct Args {
    /// Write partune.1, partune-analyze.1 and so on into this folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Some(folder) = &args.output else {
        let mut page = Vec::new();
        Man::new(Cli::command()).render(&mut page).context("the page cannot be made")?;
        return output::print_source(&String::from_utf8(page).context("the page is no text")?);
    };
    let cannot = || format!("cannot write into {}\n  remedy: give another folder with -o", folder.display());
    std::fs::create_dir_all(folder).with_context(cannot)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(cannot)
}
