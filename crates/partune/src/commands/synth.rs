//! `partune synth`: archives of any size with known answers, for trying things out and for benches.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;
use clap::error::ErrorKind;
use partune_synth::{Injection, InjectionKind, Model, Skew, SynthError, SynthOptions};

use crate::commands::share::share;
use crate::commands::size::count;
use crate::output;

/// Write a synthetic but causally consistent archive, with patterns of known size if wanted.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  partune synth --ranks 64 --events 50M -o big\n  \
                        partune synth --ranks 8 --inject late-sender:3:1000000:50 -o late && partune analyze late")]
pub(crate) struct Args {
    /// The folder to make
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The programming model
    #[arg(long, value_enum, default_value = "mpi")]
    model: ModelName,
    /// Ranks of MPI, or PEs of OpenSHMEM
    #[arg(long, value_name = "N", default_value_t = SynthOptions::default().ranks, value_parser = count::<u32>(1))]
    ranks: u32,
    /// Threads of each rank
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<u32>(1))]
    threads: u32,
    /// Event records wanted; K, M and G are thousands, millions and billions
    #[arg(long, value_name = "COUNT", default_value = "100K", value_parser = events)]
    events: u64,
    /// What noise and clocks follow from: the same number, the same archive
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<u64>(0))]
    seed: u64,
    /// Share of all events that one location holds
    #[arg(long, value_name = "SHARE", value_parser = share)]
    skew: Option<f64>,
    /// Noise on computation: a share of it
    #[arg(long, value_name = "SHARE", default_value_t = SynthOptions::default().jitter, value_parser = share)]
    jitter: f64,
    /// A rank that computes longer, and how many times as long
    #[arg(long, value_name = "RANK:FACTOR", value_parser = slow)]
    slow: Vec<(u32, f64)>,
    /// Clocks of ranks differ by up to this
    #[arg(long, default_value_t = 0, value_name = "NS", value_parser = count::<u64>(0))]
    clock_offset_ns: u64,
    /// Record a hardware counter at each kernel
    #[arg(long)]
    metrics: bool,
    /// Make something go wrong: KIND:RANK:NANOSECONDS:PERCENT
    #[arg(long, value_name = "PATTERN", value_parser = injection)]
    inject: Vec<Injection>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModelName {
    Mpi,
    Shmem,
}

fn events(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1_000),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1_000_000),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| format!("{text} is no number of events, such as 50M"))?;
    number.checked_mul(factor).ok_or_else(|| format!("{text} is too large"))
}

/// Names of what can go wrong.
const KINDS: &[(&str, InjectionKind)] = &[
    ("late-sender", InjectionKind::LateSender),
    ("late-receiver", InjectionKind::LateReceiver),
    ("late-broadcast", InjectionKind::LateBroadcast),
    ("early-reduce", InjectionKind::EarlyReduce),
    ("late-at-barrier", InjectionKind::LateAtBarrier),
    ("late-at-nxn", InjectionKind::LateAtNxn),
    ("late-signal", InjectionKind::LateSignal),
    ("lock-hold", InjectionKind::LockHold),
];

fn injection(text: &str) -> Result<Injection, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let [kind, rank, delay, percent] = parts[..] else {
        return Err(format!("{text} is not KIND:RANK:NANOSECONDS:PERCENT"));
    };
    let names = || KINDS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let kind = KINDS.iter().find(|(name, _)| *name == kind).ok_or_else(|| format!("{kind} is none of {}", names()))?.1;
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("{text} is no number"));
    let small = |text: &str| number(text).and_then(|n| u32::try_from(n).map_err(|_| format!("{n} is too large")));
    Ok(Injection { kind, rank: small(rank)?, delay_ns: number(delay)?, percent: small(percent)? })
}

fn slow(text: &str) -> Result<(u32, f64), String> {
    let parts = text.split_once(':').and_then(|(rank, factor)| Some((rank.parse().ok()?, factor.parse::<f64>().ok()?)));
    let (rank, factor) = parts.ok_or_else(|| format!("{text} is not RANK:FACTOR, such as 3:1.5"))?;
    let is_factor = factor > 0.0 && factor.is_finite();
    if is_factor { Ok((rank, factor)) } else { Err(format!("the factor {factor} is no positive number")) }
}

/// A file that is open only while a chunk is written: there may be more locations than files that a process may have open.
struct Part(PathBuf);

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        OpenOptions::new().append(true).open(&self.0)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let anchor = args.output.join("traces.otf2");
    if anchor.exists() {
        bail!(
            "{}: there is an archive already\n  remedy: give a folder that does not exist, or remove it first",
            anchor.display()
        );
    }
    let options = SynthOptions {
        model: match args.model {
            ModelName::Mpi => Model::Mpi,
            ModelName::Shmem => Model::Shmem,
        },
        ranks: args.ranks,
        threads: args.threads,
        events: args.events,
        seed: args.seed,
        skew: args.skew.map(|share| Skew { rank: 0, share }),
        jitter: args.jitter,
        slow: args.slow.clone(),
        clock_offset_ns: args.clock_offset_ns,
        metrics: args.metrics,
        inject: args.inject.clone(),
        ..SynthOptions::default()
    };
    let mut create = |name: &str| -> io::Result<Box<dyn Write>> {
        partune_engine::create(&args.output, name)?;
        Ok(Box::new(Part(args.output.join(name))))
    };
    let answers = match partune_synth::write(&options, &mut create) {
        // What options say together is a matter of usage too.
        Err(SynthError::Options(rule)) => {
            clap::Error::raw(ErrorKind::ValueValidation, format!("{rule}\n")).exit();
        }
        written => written.with_context(|| {
            format!("{}: no archive can be made there\n  remedy: name another folder with -o", args.output.display())
        })?,
    };
    let mut text = format!(
        "{}: {} events, {} iterations, {:.6} s\n",
        anchor.display(),
        answers.events,
        answers.iterations,
        answers.duration_ns as f64 / 1e9
    );
    for wait in &answers.waits {
        let _ = writeln!(text, "  {:<16} {:>12.6} s  {}", wait.pattern, wait.total.ns as f64 / 1e9, wait.path);
    }
    output::print(&text)
}
