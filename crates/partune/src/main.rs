//! The command line: arguments in, text out, exit status 0 done, 1 the input's fault, 2 usage.
//!
//! One module a command; each parses its own arguments and prints. Everything else is in the engine.

mod commands;
mod output;
mod progress;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Finds where a parallel program loses time, how much, and who causes it.
#[derive(Parser)]
#[command(name = "partune", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Analyze(commands::analyze::Args),
    Compare(commands::compare::Args),
    Convert(commands::convert::Args),
    Machine(commands::machine::Args),
    Model(commands::model::Args),
    Record(commands::record::Args),
    Report(commands::report::Args),
    Scale(commands::scale::Args),
    Synth(commands::synth::Args),
    View(commands::view::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Analyze(args) => commands::analyze::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Convert(args) => commands::convert::run(&args),
        Command::Machine(args) => commands::machine::run(&args),
        Command::Model(args) => commands::model::run(&args),
        // Passes the exit status of what was recorded on.
        Command::Record(args) => match commands::record::run(&args) {
            Ok(status) => return status,
            Err(error) => Err(error),
        },
        Command::Report(args) => commands::report::run(&args),
        Command::Scale(args) => commands::scale::run(&args),
        Command::Synth(args) => commands::synth::run(&args),
        Command::View(args) => commands::view::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::FAILURE
        }
    }
}
