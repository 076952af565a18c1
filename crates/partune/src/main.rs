//! The command line: arguments in, text out, exit status 0 done, 1 the input's fault, 2 usage; of what runs a program, that program's.
//!
//! One module a command; each parses its own arguments and prints. Everything else is in the engine.

mod commands;
mod output;
mod progress;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use commands::job::{Part, Several};
use partune_base::alike;

#[global_allocator]
static HEAP: partune_memory::Heap = partune_memory::Heap;

/// Record parallel programs and find where they lose time.
#[derive(Parser)]
#[command(
    name = "partune",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    override_usage = "partune -- PROGRAM [ARGUMENT]...\n       partune COMMAND [OPTION]...",
    after_help = "Examples:\n  partune -- mpirun -n 4 ./app            record a run and say where it loses time\n  \
                  partune record -- mpirun -n 4 ./app     keep the recording\n  \
                  partune analyze recording               say where a recorded run loses time"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Run this program, record it into a temporary folder, and print what analyze prints
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

#[derive(Subcommand)]
enum Command {
    Advise(commands::advise::Args),
    Analyze(commands::analyze::Args),
    Compare(commands::compare::Args),
    Completions(commands::completions::Args),
    Convert(commands::convert::Args),
    Hints(commands::hints::Args),
    Kernel(commands::kernel::Args),
    Couple(commands::couple::Args),
    Machine(commands::machine::Args),
    Man(commands::man::Args),
    Model(commands::model::Args),
    Record(commands::record::Args),
    Report(commands::report::Args),
    Run(commands::run::Args),
    Scale(commands::scale::Args),
    Synth(commands::synth::Args),
    Tune(commands::tune::Args),
    View(commands::view::Args),
    Whatif(commands::whatif::Args),
}

impl Command {
    /// Whether it runs programs of the user, which a launcher may have started it for.
    fn starts_programs(&self) -> bool {
        matches!(
            self,
            Command::Couple(_) | Command::Machine(_) | Command::Record(_) | Command::Run(_) | Command::Tune(_)
        )
    }
}

fn main() -> ExitCode {
    let Cli { command, program } = parsed().unwrap_or_else(|error| explained(error).exit());
    let Some(command) = command else { return commands::straight::run(program) };
    if let Command::Analyze(args) = &command
        && args.can_be_shared()
        && let Some(several) = Several::of_this_process()
        && let Some(code) = commands::shared::analyze(args, several)
    {
        return code;
    }
    if !command.starts_programs() && Part::of_this_process().has_nothing_to_do() {
        return ExitCode::SUCCESS;
    }
    let result = match command {
        Command::Advise(args) => commands::advise::run(&args),
        Command::Analyze(args) => commands::analyze::run(&args),
        Command::Compare(args) => match commands::compare::run(&args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Completions(args) => commands::completions::run(&args),
        Command::Convert(args) => commands::convert::run(&args),
        Command::Hints(args) => commands::hints::run(&args),
        Command::Kernel(args) => commands::kernel::run(&args),
        Command::Couple(args) => commands::couple::run(&args),
        Command::Machine(args) => commands::machine::run(&args),
        Command::Man(args) => commands::man::run(&args),
        Command::Model(args) => commands::model::run(&args),
        Command::Record(args) => return commands::record::run(args),
        Command::Report(args) => commands::report::run(&args),
        Command::Run(args) => return commands::run::run(&args),
        Command::Scale(args) => commands::scale::run(&args),
        Command::Synth(args) => commands::synth::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::View(args) => commands::view::run(&args),
        Command::Whatif(args) => commands::whatif::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn parsed() -> Result<Cli, clap::Error> {
    let mut all = signed(Cli::command());
    let matches = all.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut all))
}

/// Takes numbers below zero for values, so that options say what they want instead, and not for options that nobody knows.
fn signed(command: clap::Command) -> clap::Command {
    command.allow_negative_numbers(true).mut_subcommands(signed)
}

/// What is wrong with the arguments; of a first one that is no command, which command it may be, or how a program is recorded.
fn explained(error: clap::Error) -> clap::Error {
    let first =
        std::env::args_os().nth(1).and_then(|first| first.into_string().ok()).filter(|first| !first.starts_with('-'));
    let mut all = Cli::command();
    let Some(word) =
        first.filter(|word| error.kind() == ErrorKind::UnknownArgument && all.find_subcommand(word).is_none())
    else {
        return error;
    };
    let names = all.get_subcommands().map(clap::Command::get_name);
    let tip = match alike(&word, names, 1).pop() {
        Some(near) => format!("perhaps '{near}' was meant"),
        None => "'partune --help' lists the commands; 'partune -- PROGRAM' records a program".to_owned(),
    };
    all.error(ErrorKind::InvalidSubcommand, format!("there is no command '{word}'\n\n  tip: {tip}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    fn shows_an_example(command: &clap::Command) {
        let help = command.clone().render_long_help().to_string();
        assert!(help.contains("Example"), "{}:\n{help}", command.get_name());
        command.get_subcommands().filter(|it| !it.is_hide_set()).for_each(shows_an_example);
    }

    /// Options without a word of help, by command.
    fn without_help(command: &clap::Command) -> Vec<String> {
        let own = command.get_arguments().filter(|arg| arg.get_help().is_none() && !arg.is_hide_set());
        let own: Vec<String> = own.map(|arg| format!("{} {}", command.get_name(), arg.get_id())).collect();
        let below = command.get_subcommands().filter(|it| !it.is_hide_set()).flat_map(without_help);
        own.into_iter().chain(below).collect()
    }

    #[test]
    fn every_option_has_help() {
        assert_eq!(without_help(&Cli::command()), [""; 0]);
    }

    #[test]
    fn every_command_is_sound_and_shows_an_example() {
        Cli::command().debug_assert();
        shows_an_example(&Cli::command());
    }
}
