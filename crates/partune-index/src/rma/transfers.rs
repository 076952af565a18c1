//! Transfers and their completions: tied by window and matching number, which producers may use again and again.
//!
//! A completion completes every transfer of its window and number before it that is not complete yet. What a put or atomic that
//! did not block needs is over when it is done at its target: a remote completion (fence, quiet) counts where there is one, and
//! the local one, after which the buffer may be used again, where there is none. A blocking put is over when it came back.

use partune_base::{Id, PeId, Time};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{CallPaths, RmaCompletionKind, RmaTransfer, RmaTransferKind, Stream, Trace, VisitIx};
use rayon::prelude::*;

use super::Transfer;
use crate::requests::operation_exit;

/// All transfers in order of (PE, row). Linear but for sorting by window and number; 48 bytes a row while it runs.
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
            Code::UncompletedAccesses,
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

/// What happens to transfers of one number. In order: at one moment, starts come first, and the remote completion last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Start { row: u32, writes: bool },
    Blocking,
    Local,
    Remote,
}

/// A step: sorted by what ties them (window and number), then by time and operation.
type Row = ((u32, u64), Time, VisitIx, Step);

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
    let start = |(row, it): (usize, &RmaTransfer)| {
        let writes = matches!(it.kind, RmaTransferKind::Put | RmaTransferKind::Atomic);
        ((it.window.0, it.matching), it.time, it.visit, Step::Start { row: row as u32, writes })
    };
    let mut steps: Vec<Row> = stream.transfers.iter().enumerate().map(start).collect();
    steps.extend(stream.completions.iter().filter_map(|it| {
        let step = match it.kind {
            RmaCompletionKind::Blocking => Step::Blocking,
            RmaCompletionKind::NonBlocking => Step::Local,
            RmaCompletionKind::Remote => Step::Remote,
            RmaCompletionKind::Tested => return None,
        };
        Some(((it.window.0, it.matching), it.time, it.visit, step))
    }));
    steps.sort_by_key(|step| (step.0, step.1, step.2, step.3));

    let mut completed = 0_u64;
    // Not complete at all, and complete here but perhaps not at the target.
    let (mut open, mut under_way): (Vec<(u32, bool)>, Vec<u32>) = (Vec::new(), Vec::new());
    for same in steps.chunk_by(|a, b| a.0 == b.0) {
        open.clear();
        under_way.clear();
        for &(_, time, visit, step) in same {
            let mut complete = |row: u32| {
                let transfer = &mut transfers[row as usize];
                (transfer.completion, transfer.completed) = (visit, time);
            };
            match step {
                Step::Start { row, writes } => {
                    open.push((row, writes));
                    continue;
                }
                Step::Blocking => {}
                Step::Local => under_way.extend(open.iter().filter(|(_, writes)| *writes).map(|(row, _)| row)),
                Step::Remote => under_way.drain(..).for_each(&mut complete),
            }
            completed += open.len() as u64;
            open.drain(..).for_each(|(row, _)| complete(row));
        }
    }
    let open = transfers.len() as u64 - completed;
    (transfers, open)
}
