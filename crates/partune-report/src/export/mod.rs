//! Traces for other tools: Chrome's trace format, and tables in Parquet files. Written as a stream; memory does not grow with the run.

mod arrows;
mod chrome;
mod parquet;
mod rows;

use thiserror::Error;

pub use chrome::chrome;
pub use parquet::{FILES, parquet};

/// Why nothing, or not everything, was written.
#[derive(Debug, Error)]
pub enum ExportError {
    #[error(
        "a profile has no events, so there is no time line\n  remedy: record without --profile, or write tables with --parquet"
    )]
    Profile,
    #[error(transparent)]
    Write(#[from] std::io::Error),
    #[error(transparent)]
    Parquet(#[from] ::parquet::errors::ParquetError),
}
