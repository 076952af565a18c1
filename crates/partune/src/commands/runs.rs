//! Several archives, analysed one after the other: for the commands that put runs together.

use std::path::PathBuf;

use anyhow::Context;
use partune_engine::{Diagnosis, Options, Request};
use partune_report::NamedRun;

use crate::commands::operations::OperationsFile;
use crate::commands::piece::Piece;
use crate::progress::Bar;

/// How archives are read.
#[derive(clap::Args)]
pub(crate) struct Reading {
    /// Threads to use; 0: one per processor
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Keep time stamps as recorded, even if messages run backwards in time
    #[arg(long)]
    no_clock_repair: bool,
    #[command(flatten)]
    operations: OperationsFile,
    #[command(flatten)]
    piece: Piece,
}

/// Archives with what was found in them.
pub(crate) struct Opened {
    names: Vec<String>,
    diagnoses: Vec<Diagnosis>,
}

/// Opens and analyses archives. The first that cannot be read ends it.
pub(crate) fn open(archives: &[PathBuf], reading: &Reading) -> anyhow::Result<Opened> {
    rayon::ThreadPoolBuilder::new().num_threads(reading.threads).build_global().context("cannot start threads")?;
    let options = Options { operations: reading.operations.read()?, ..Options::default() };
    let request = Request { options, repair_clocks: !reading.no_clock_repair, predicts: false, ..Request::default() };
    let bar = Bar::new(false);
    let mut runs = Opened { names: Vec::new(), diagnoses: Vec::new() };
    for archive in archives {
        let opened = partune_engine::open(archive, &bar)?;
        let diagnosis = partune_engine::analyze_piece(opened, &reading.piece.selection(), &request, &bar);
        runs.diagnoses.push(diagnosis.with_context(|| archive.display().to_string())?);
        runs.names.push(archive.display().to_string());
    }
    Ok(runs)
}

impl Opened {
    pub(crate) fn diagnoses(&self) -> Vec<&Diagnosis> {
        self.diagnoses.iter().collect()
    }

    pub(crate) fn named(&self) -> Vec<NamedRun<'_>> {
        let named = self.names.iter().zip(&self.diagnoses);
        named.map(|(archive, diagnosis)| NamedRun { archive, diagnosis }).collect()
    }

    /// The process ends here: freeing large traces piece by piece would only keep the user waiting.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }
}
