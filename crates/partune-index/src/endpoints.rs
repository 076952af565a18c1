//! Who a stream of events is to the others: threads of a process may act for its main PE.
//!
//! Ranks of a group name one PE of a process. Where any thread may call the paradigm (`MPI_THREAD_MULTIPLE`), rows of a thread
//! on a group that it is not in belong to the main PE of its process: its *endpoint*. Rows on groups of threads, which it is in, are its own.

use partune_base::{GroupId, Id, PeId, Table};
use partune_trace::{Stream, Trace};

/// The endpoint of every PE, and the PEs of every endpoint.
pub(crate) struct Endpoints {
    of: Table<PeId, PeId>,
    /// All PEs in order of (endpoint, PE), and where those of each endpoint begin; one more entry than PEs.
    pes: Vec<PeId>,
    offsets: Vec<u32>,
}

impl Endpoints {
    /// Linear in PEs, and in the rows and groups of those threads that are not the main PE of their process.
    pub(crate) fn new(trace: &Trace) -> Endpoints {
        let of: Table<PeId, PeId> = trace.pes().ids().map(|pe| endpoint(trace, pe)).collect();
        let mut pes: Vec<PeId> = of.ids().collect();
        pes.sort_by_key(|pe| (of[*pe], *pe));
        let mut offsets = vec![0; of.len() + 1];
        for endpoint in &of {
            offsets[endpoint.index() + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        Endpoints { of, pes, offsets }
    }

    /// How many PEs there are, whether they are endpoints or not.
    pub(crate) fn len(&self) -> usize {
        self.of.len()
    }

    /// The endpoint of a PE; none for none.
    pub(crate) fn of(&self, pe: PeId) -> PeId {
        self.of.get(pe).copied().unwrap_or(PeId::NONE)
    }

    /// The PEs that act for an endpoint, in order; empty for a PE that is not one.
    pub(crate) fn pes(&self, endpoint: PeId) -> &[PeId] {
        let at = |i: usize| self.offsets[i] as usize;
        &self.pes[at(endpoint.index())..at(endpoint.index() + 1)]
    }
}

fn endpoint(trace: &Trace, pe: PeId) -> PeId {
    let main = trace.main_of(pe);
    if main != pe && acts_for_another(trace, pe) { main } else { pe }
}

/// Whether a PE itself is in a group, and not another one of its process for it.
pub(crate) fn is_in(trace: &Trace, pe: PeId, group: GroupId) -> bool {
    trace.groups().get(group).is_some_and(|group| group.members.contains(pe))
}

/// Whether a thread has rows on a group that it is not in.
fn acts_for_another(trace: &Trace, pe: PeId) -> bool {
    let stream = &trace.streams()[pe];
    let mut groups: Vec<GroupId> = Vec::new();
    for group in row_groups(stream) {
        if groups.last() != Some(&group) {
            groups.push(group);
        }
    }
    groups.sort_unstable();
    groups.dedup();
    groups.iter().any(|group| !is_in(trace, pe, *group))
}

fn row_groups(stream: &Stream) -> impl Iterator<Item = GroupId> + '_ {
    let sends = stream.sends.iter().map(|row| row.group);
    let recvs = stream.recvs.iter().map(|row| row.group);
    let collectives = stream.collectives.iter().map(|row| row.group);
    sends.chain(recvs).chain(collectives)
}
