//! `partune kernel`: what the loops of a program need at least.

use std::ffi::OsString;
use std::path::PathBuf;

use partune_engine::LoopChoice;
use partune_report::{kernels_document, kernels_picture, kernels_schema, kernels_text};

use crate::commands::size::count;
use crate::output;

/// Say what the innermost loops of a program need at least on a core, from its peak to the order of instructions, and what is lost between.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  partune kernel ./app --function solve\n  partune kernel ./app --loop solve.c:120 --core skylake-server --json\n  partune kernel ./app --function solve --elements 1000000 --machine machine.toml --roofline loops.svg\n  partune kernel ./app --function solve --source solve.c\n  partune kernel ./app -- input"
)]
pub(crate) struct Args {
    /// An executable or a shared library of x86-64; with debug data (-g) its loops have lines
    #[arg(required_unless_present = "schema", value_name = "BINARY")]
    binary: Option<PathBuf>,
    /// Loops of this function only, with or without its namespace and arguments
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Loops with code of this line only
    #[arg(long = "loop", value_name = "FILE:LINE", value_parser = place)]
    places: Vec<(String, u32)>,
    /// The core to bound them on [default: this machine's]
    #[arg(long, value_name = "CORE")]
    core: Option<String>,
    /// Add what the caches of --machine cost each loop that is run again and again with so many turns of the source's
    #[arg(long, value_name = "N", value_parser = count::<u64>(1))]
    elements: Option<u64>,
    /// What lines of the caches cost: a file that `partune machine measure` made
    #[arg(long, value_name = "FILE", requires = "elements")]
    machine: Option<PathBuf>,
    /// Draw the loops under the ceilings of --machine into this file (SVG), as many as --rows
    #[arg(long, value_name = "FILE", requires = "elements")]
    roofline: Option<PathBuf>,
    /// Take M and MA from the source: what clang -O0 -g -S -emit-llvm and opt -passes=mem2reg,sroa wrote of it
    #[arg(long, value_name = "FILE")]
    ir: Vec<PathBuf>,
    /// The same of a source in C or C++, which --clang translates
    #[arg(long, value_name = "FILE")]
    source: Vec<PathBuf>,
    /// What --source is compiled with: "-Iinclude -DN=100"
    #[arg(
        long,
        value_name = "WORDS",
        requires = "source",
        allow_hyphen_values = true,
        default_value = "",
        hide_default_value = true
    )]
    flags: String,
    /// The compiler for --source, with its opt beside it; without this clang, or the newest clang-N
    #[arg(long, value_name = "PROGRAM", requires = "source")]
    clang: Option<PathBuf>,
    /// How often loops turned: what callgrind with dump-instr=yes wrote, a file of each process; those that did not are left out
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "arguments")]
    counts: Vec<PathBuf>,
    /// How many loops to print as text
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = count::<usize>(0))]
    rows: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the JSON schema of --json and stop
    #[arg(long)]
    schema: bool,
    /// Run the program with these arguments under callgrind, which takes some fifty times as long, and count how often its loops turn; with none: after `--` alone
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Option<Vec<OsString>>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Some(binary) = args.binary.as_deref().filter(|_| !args.schema) else {
        return output::print(&kernels_schema());
    };
    let core = partune_engine::core_named(args.core.as_deref())?;
    let choice = LoopChoice { functions: args.function.clone(), places: args.places.clone() };
    let machine = match (args.elements, &args.machine) {
        (None, _) => None,
        (Some(elements), Some(path)) => Some((elements, path, partune_engine::read_machine(path)?)),
        (Some(_), None) => anyhow::bail!(
            "--elements needs --machine FILE: what lines of the caches cost\n  remedy: partune machine measure -o machine.toml"
        ),
    };
    let mut loops = partune_engine::loops(binary, core, &choice)?;
    if loops.functions == 0 {
        anyhow::bail!(
            "{}: it has no symbols of functions, by which loops are found\n  remedy: build it without -s, or take it as it was before strip",
            binary.display()
        );
    }
    if !args.ir.is_empty() || !args.source.is_empty() {
        let mut source = Vec::new();
        for path in &args.ir {
            source.extend(partune_engine::read_ir(path)?);
        }
        let flags: Vec<OsString> = args.flags.split_whitespace().map(OsString::from).collect();
        for path in &args.source {
            source.extend(partune_engine::compile_ir(path, &flags, args.clang.as_deref())?);
        }
        partune_engine::ask_source(&mut loops, &source)?;
    }
    if let Some((elements, path, machine)) = &machine {
        partune_engine::finite_caches(&mut loops, (path, machine), *elements)?;
    }
    // The parser does not tell that nothing follows `--`.
    let is_alone = || std::env::args_os().next_back().is_some_and(|last| last == "--");
    let counted = match &args.arguments {
        _ if !args.counts.is_empty() => Some(partune_engine::read_counts(&args.counts)?),
        Some(arguments) => Some(partune_engine::count(binary, arguments, args.json)?),
        None if is_alone() => Some(partune_engine::count(binary, &[], args.json)?),
        None => None,
    };
    if let Some(counted) = counted {
        counted.weigh(binary, &mut loops)?;
    }
    if let Some((file, picture)) = args.roofline.as_ref().zip(kernels_picture(&loops, args.rows)) {
        output::write(file, &picture)?;
    }
    output::print(&if args.json {
        kernels_document(&loops, &binary.display().to_string())
    } else {
        kernels_text(&loops, args.rows, output::style())
    })
}

fn place(text: &str) -> Result<(String, u32), String> {
    let wrong = || format!("{text} is no place in a source, as solve.c:120");
    let (file, line) = text.rsplit_once(':').ok_or_else(wrong)?;
    Ok((file.to_owned(), line.parse().map_err(|_| wrong())?))
}
