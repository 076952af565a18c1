//! Writes an archive to a folder: `archive DIR [RANKS [EVENTS [THREADS]]]`; `-` as the folder writes nowhere, to measure.
#![allow(clippy::print_stdout, reason = "it is a program")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use partune_synth::{SynthOptions, write};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = PathBuf::from(arguments.first().map_or("-", String::as_str));
    let number = |index: usize| arguments.get(index).map(|text| text.replace('_', "").parse()).transpose();
    let options = SynthOptions {
        ranks: number(1)?.unwrap_or(64) as u32,
        events: number(2)?.unwrap_or(1_000_000),
        threads: number(3)?.unwrap_or(1) as u32,
        ..SynthOptions::default()
    };
    let started = Instant::now();
    let answers = write(&options, &mut |path: &str| create(&folder, path))?;
    let seconds = started.elapsed().as_secs_f64();
    let rate = answers.events as f64 / seconds / 1e6;
    println!(
        "{} events, {} iterations, {seconds:.2} s, {rate:.1} million events/s",
        answers.events, answers.iterations
    );
    for wait in &answers.waits {
        println!(
            "{:16} {:12.6} s {:9} times  {}",
            wait.pattern,
            wait.total.ns as f64 / 1e9,
            wait.total.count,
            wait.path
        );
    }
    Ok(())
}

fn create(folder: &Path, path: &str) -> io::Result<Box<dyn Write>> {
    if folder == Path::new("-") {
        return Ok(Box::new(io::sink()));
    }
    let path = folder.join(path);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    Ok(Box::new(File::create(path)?))
}
