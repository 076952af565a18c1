//! Memory that processes share and that nobody sees them access.

use partune_base::{PeId, Table, WindowId};
use partune_trace::{RmaSyncKind, Role, Trace};

/// For each PE, whether it has a part in a window that several processes made for themselves, and neither accesses memory of others by calls nor has its own
/// accessed: whoever makes a window loads and stores there then, as in the shared memory of a node. Of who does both nobody can tell, and memory that a paradigm
/// has anyway, such as a symmetric heap, says nothing.
pub fn shares_unseen(trace: &Trace) -> Table<PeId, bool> {
    let mut is_seen: Table<PeId, bool> = Table::filled(trace.pes().len(), false);
    for (pe, stream) in trace.streams().iter_ids() {
        for transfer in stream.transfers.iter().filter(|transfer| transfer.target != pe) {
            is_seen[pe] = true;
            if is_seen.get(transfer.target).is_some() {
                is_seen[transfer.target] = true;
            }
        }
    }
    let mut is_made: Table<WindowId, bool> = Table::filled(trace.windows().len(), false);
    for (pe, stream) in trace.streams().iter_ids() {
        let made = stream.rma_syncs.iter().filter(|row| row.kind == RmaSyncKind::WindowCreated && row.visit.is_some());
        for row in made.filter(|row| trace.role_of(pe, row.visit) == Role::GlobalAlloc) {
            if is_made.get(row.window).is_some() {
                is_made[row.window] = true;
            }
        }
    }
    let mut shares: Table<PeId, bool> = Table::filled(trace.pes().len(), false);
    for (_, window) in trace.windows().iter_ids().filter(|(window, _)| is_made[*window]) {
        let Some(group) = trace.groups().get(window.group) else { continue };
        let members: Vec<PeId> = group.members.iter().filter(|pe| trace.pes().get(*pe).is_some()).collect();
        let process = |pe: &PeId| trace.pes()[*pe].process;
        if members.iter().any(|pe| process(pe) != process(&members[0])) {
            members.into_iter().for_each(|pe| shares[pe] = !is_seen[pe]);
        }
    }
    shares
}
