//! Transfers and their completions: tied by window and matching number, which producers may use again and again.
//!
//! A completion completes every transfer of its window and number before it that is not complete yet. A remote completion
//! (fence, quiet) counts only for transfers without a local one: a blocking put has come back long before.

use partune_base::{Id, PeId, Time};
use partune_diag::{Diagnostic, Quality};
use partune_trace::{CallPaths, RmaCompletionKind, Stream, Trace, VisitIx};
use rayon::prelude::*;

use super::Transfer;
use crate::requests::operation_exit;

/// All transfers in order of (PE, row). Linear but for sorting by window and number; 32 bytes a row while it runs.
pub(super) fn find(trace: &Trace, quality: &mut Quality) -> Vec<Transfer> {
    let found: Vec<(Vec<Transfer>, u64)> = trace
        .streams()
        .as_slice()
        .par_iter()
        .enumerate()
        .map(|(pe, stream)| of_stream(PeId::from_index(pe), stream, trace.paths()))
        .collect();
    let open = found.iter().map(|(_, open)| open).sum();
    quality.add(
        Diagnostic::info(
            "accesses to remote memory have no recorded completion; they count as complete when their call came back",
            "",
        )
        .times(open),
    );
    let mut transfers = Vec::with_capacity(found.iter().map(|(rows, _)| rows.len()).sum());
    for (rows, _) in &found {
        transfers.extend_from_slice(rows);
    }
    transfers
}

/// A start or a completion: sorted by what ties them, then by time, starts first.
type Step = ((u32, u64), Time, VisitIx, bool, u32);

fn of_stream(pe: PeId, stream: &Stream, paths: &CallPaths) -> (Vec<Transfer>, u64) {
    if stream.transfers.is_empty() {
        return (Vec::new(), 0);
    }
    let mut transfers: Vec<Transfer> = stream
        .transfers
        .iter()
        .enumerate()
        .map(|(index, row)| Transfer {
            pe,
            row: index as u32,
            start: row.visit,
            completion: VisitIx::NONE,
            completed: operation_exit(stream, paths, row.visit).unwrap_or(row.time),
        })
        .collect();
    let starts = stream.transfers.iter().enumerate();
    let mut steps: Vec<Step> =
        starts.map(|(i, row)| ((row.window.0, row.matching), row.time, row.visit, false, i as u32)).collect();
    let ends = stream.completions.iter().enumerate().filter(|(_, row)| row.kind != RmaCompletionKind::Tested);
    steps.extend(ends.map(|(i, row)| ((row.window.0, row.matching), row.time, row.visit, true, i as u32)));
    steps.sort_by_key(|step| (step.0, step.1, step.2, step.3));

    let mut completed = 0_u64;
    let mut open: Vec<u32> = Vec::new();
    for same in steps.chunk_by(|a, b| a.0 == b.0) {
        open.clear();
        for &(_, time, visit, is_end, index) in same {
            if !is_end {
                open.push(index);
                continue;
            }
            completed += open.len() as u64;
            for row in open.drain(..) {
                let transfer = &mut transfers[row as usize];
                (transfer.completion, transfer.completed) = (visit, time);
            }
        }
    }
    let open = transfers.len() as u64 - completed;
    (transfers, open)
}
