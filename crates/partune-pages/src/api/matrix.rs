//! `matrix`: who gives how much to whom.

use partune_engine::{Exchange, Fold};
use serde::Serialize;

use super::Ask;
use super::rows::Rows;
use crate::error::Error;
use crate::run::{Run, SIDE};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Matrix {
    rows: Rows,
    by: &'static str,
    cells: Vec<Vec<f64>>,
    total: f64,
    most: f64,
}

#[derive(Clone, Copy)]
enum By {
    Bytes,
    Count,
    Seconds,
}

pub(super) fn matrix(run: &Run, ask: &Ask<'_>) -> Result<Matrix, Error> {
    let by = ask.query.word("by", &[("bytes", By::Bytes), ("count", By::Count), ("seconds", By::Seconds)])?;
    let most_rows = ask.query.number("rows", 1..=SIDE)?.unwrap_or(SIDE).min(ask.most);
    let value = |cell: &Exchange| match by {
        By::Bytes => cell.bytes as f64,
        By::Count => cell.count as f64,
        By::Seconds => run.seconds(cell.time),
    };
    let (full, exchanges) = run.exchanges();
    // Rows hold powers of two, so those of a coarser fold are made of whole rows.
    let fold = Fold::new(run.pes().to_vec(), most_rows);
    let exchanges = exchanges.folded(fold.each() / full.each());
    let cells: Vec<Vec<f64>> = exchanges.rows().map(|row| row.iter().map(value).collect()).collect();
    Ok(Matrix {
        rows: Rows::new(run, &fold),
        by: match by {
            By::Bytes => "bytes",
            By::Count => "count",
            By::Seconds => "seconds",
        },
        total: value(&exchanges.total()),
        most: cells.iter().flatten().copied().fold(0.0, f64::max),
        cells,
    })
}
