//! `partune completions`: what a shell needs to complete commands and options, made from their definitions.

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::{Cli, output};

/// Print the completions of a shell.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  partune completions bash > ~/.local/share/bash-completion/completions/partune\n  \
                  partune completions zsh > ~/.zfunc/_partune\n  \
                  partune completions fish > ~/.config/fish/completions/partune.fish"
)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "partune", &mut script);
    output::print_source(&String::from_utf8(script).context("the completions are no text")?)
}
