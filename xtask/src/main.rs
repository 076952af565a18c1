//! `cargo xtask`: automation of this repository, in Rust so that it runs wherever the project builds.
//!
//! For those who work on partune. One subcommand a file; nothing here is part of the tool.

#![allow(clippy::print_stdout, reason = "a command line; its results go to stdout")]

mod code;
mod mutants;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  tidy                             Check what the compiler does not: floors, file headers, layers, names (also a test)
  mutants PARTUNE COUNT COMMAND ARCHIVE…
                                   Run a binary on archives with changed records, under 1 GiB and 10 s each: so many through analyze and a
                                   tenth as many through each other command; COMMAND is `all`, or one of them

Example: cargo xtask tidy
";

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => {
            let problems = tidy::run()?;
            for problem in &problems {
                println!("{problem}");
            }
            let summary = if problems.is_empty() { "tidy".to_owned() } else { format!("{} problems", problems.len()) };
            println!("{summary}");
            Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        ["mutants", partune, count, command, ref archives @ ..] if !archives.is_empty() => {
            let only = (command != "all").then_some(command);
            let survived = mutants::run(partune.as_ref(), count.parse()?, only, archives)?;
            Ok(if survived { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        ["--help" | "-h" | "help"] => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            print!("{HELP}");
            Ok(ExitCode::from(2))
        }
    }
}
