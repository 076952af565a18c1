//! How archives are read and analysed: the same options for every command that looks at whole runs.

use partune_engine::{Options, Request, Selection};

use crate::commands::operations::OperationsFile;
use crate::commands::piece::Piece;
use crate::commands::resources::Resources;

#[derive(clap::Args)]
pub(crate) struct Reading {
    #[command(flatten)]
    resources: Resources,
    /// Keep time stamps as recorded, even if messages run backwards in time
    #[arg(long)]
    no_clock_repair: bool,
    #[command(flatten)]
    operations: OperationsFile,
    #[command(flatten)]
    piece: Piece,
}

impl Reading {
    /// What is asked of each run.
    pub(crate) fn asked(&self, options: Options) -> anyhow::Result<Request> {
        let options = Options { operations: self.operations.read()?, ..options };
        Ok(Request { options, repair_clocks: !self.no_clock_repair, ..Request::default() })
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    pub(crate) fn selection(&self) -> Selection {
        self.piece.selection()
    }
}
