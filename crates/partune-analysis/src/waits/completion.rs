//! Transfers that are still under way when a synchronisation begins: one-sided accesses that did not block.
//!
//! PPW's delay of a non-blocking access (figure 4-5) depends on who asks for its completion. Where an operation is there to
//! complete accesses (a fence or quiet, a wait for its handle, the end of an epoch, a window's lock given back: *explicit*), the
//! delay is TB − SB: from the begin of the synchronisation until the transfer begins. Nobody records TB, so no wait is claimed;
//! what is known is in the analysis `overlap`. Where nothing asks but a synchronisation for another purpose (a barrier or another
//! collective: *implicit*), it is TC − SB: until the transfer is complete.
//!
//! A barrier waits for its last member too, and before that nobody can leave it: what lies before the end of the operation's
//! own wait is that wait's (so none is claimed where clocks do not tell how long that was). No cause is named: what else kept the
//! network or the target busy is not recorded.

use partune_base::{PeId, Time};
use partune_index::{Index, Place, Transfer};
use partune_trace::{Role, Trace, VisitIx};

use super::Wait;
use crate::Pattern;

/// The accesses that one operation completed, which earlier ones had started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed<'a> {
    pub(crate) operation: VisitIx,
    /// When the last of them was complete, within the operation.
    pub(crate) last: Time,
    /// Positions in [`partune_index::RmaIndex::transfers`].
    pub(crate) transfers: &'a [u32],
}

/// Calls `each` for every operation of a PE that completed accesses of earlier ones, in order. Sorts the accesses that did not block.
pub(crate) fn completed(trace: &Trace, index: &Index, pe: PeId, mut each: impl FnMut(Completed<'_>)) {
    let all = &index.rma.transfers;
    let first = all.partition_point(|transfer| transfer.pe < pe);
    let later = |transfer: &Transfer| transfer.completion.is_some() && transfer.completion != transfer.start;
    let of_pe = index.rma.of_pe(pe).iter().enumerate().filter(|(_, transfer)| later(transfer));
    let mut rows: Vec<(VisitIx, u32)> = of_pe.map(|(i, it)| (it.completion, (first + i) as u32)).collect();
    rows.sort_unstable();
    for same in rows.chunk_by(|a, b| a.0 == b.0) {
        let operation = same[0].0;
        if trace.role_of(pe, operation).is_transparent() {
            continue;
        }
        let transfers: Vec<u32> = same.iter().map(|(_, number)| *number).collect();
        let last = transfers.iter().map(|number| all[*number as usize].completed).max().unwrap_or(Time::MIN);
        let visit = trace.visit(pe, operation);
        each(Completed { operation, last: last.max(visit.enter).min(visit.exit), transfers: &transfers });
    }
}

/// Whether an operation of this role is there to complete accesses, so that the program asked for it.
pub(crate) fn asks(role: Role) -> bool {
    matches!(role, Role::CommSync | Role::RmaGroupSync | Role::RmaComplete | Role::RmaWait | Role::LockRelease)
}

/// Adds the waits of a PE for accesses that nothing asked for, behind those that its operations have; `rows` are in order of
/// operations.
pub(super) fn add(trace: &Trace, index: &Index, pe: PeId, rows: &mut Vec<Wait>) {
    if !index.clocks.aligned {
        return;
    }
    let mut found = Vec::new();
    completed(trace, index, pe, |it| {
        if asks(trace.role_of(pe, it.operation)) {
            return;
        }
        let first = rows.partition_point(|wait| wait.operation < it.operation);
        let own = rows[first..].iter().take_while(|wait| wait.operation == it.operation);
        let begin = own.fold(trace.visit(pe, it.operation).enter, |begin, wait| begin.max(wait.end));
        let last =
            it.transfers.iter().max_by_key(|number| (index.rma.transfers[**number as usize].completed, **number));
        if let Some(instance) = last.filter(|_| begin < it.last) {
            found.push(Wait {
                pe,
                operation: it.operation,
                pattern: Pattern::CompetingPutGet,
                begin,
                end: it.last,
                cause: Place::NONE,
                instance: *instance,
            });
        }
    });
    rows.append(&mut found);
}
