//! Memory that processes share and that nobody sees them access.

use partune_base::{Id as _, PeId, Table};
use partune_trace::Trace;

/// For each PE, whether it has a part in a window of several processes in which nobody accesses another PE's part by a call: who made it for something
/// loads and stores there, as in the shared memory of a node.
pub fn shares_unseen(trace: &Trace) -> Table<PeId, bool> {
    let mut is_seen = vec![false; trace.windows().len()];
    for transfer in trace.streams().iter().flat_map(|stream| &stream.transfers) {
        if let Some(is_seen) = is_seen.get_mut(transfer.window.index()) {
            *is_seen = true;
        }
    }
    let mut shares: Table<PeId, bool> = Table::filled(trace.pes().len(), false);
    for (window, _) in trace.windows().as_slice().iter().zip(is_seen).filter(|(_, is_seen)| !is_seen) {
        let Some(group) = trace.groups().get(window.group) else { continue };
        let members: Vec<PeId> = group.members.iter().filter(|pe| trace.pes().get(*pe).is_some()).collect();
        let process = |pe: &PeId| trace.pes()[*pe].process;
        if members.iter().any(|pe| process(pe) != process(&members[0])) {
            members.into_iter().for_each(|pe| shares[pe] = true);
        }
    }
    shares
}
