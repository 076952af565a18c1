//! Who the roots of collectives are.
//!
//! Only the root's own events say that it is one. All members of a communicator take part in its operations in the same order, so the
//! k-th part of every member belongs to the k-th operation, and its root is the one that says so.

use partune_base::{GroupId, PeId};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{Role, Stream};
use rustc_hash::FxHashMap;

/// Gives each part of an operation with a root that root.
pub(super) fn name_roots(streams: &mut [Stream], quality: &mut Quality) {
    let mut roots: FxHashMap<(GroupId, u32), PeId> = FxHashMap::default();
    let mut contradictions = 0;
    for stream in &*streams {
        number(stream, |part, stream| {
            let root = stream.collectives[part.row].root;
            if root.is_some() && *roots.entry(part.operation).or_insert(root) != root {
                contradictions += 1;
            }
        });
    }
    for stream in streams {
        let mut own = Vec::new();
        number(stream, |part, _| own.push((part.row, roots.get(&part.operation).copied().unwrap_or(PeId::NONE))));
        for (row, root) in own {
            let row = &mut stream.collectives[row];
            row.root = if has_root(row.role) { root } else { PeId::NONE };
        }
    }
    quality.add(
        Diagnostic::data_loss(
            Code::ContradictingRoots,
            "two members of a communicator say that they are the root of the same operation; the first of them counts",
            "events are missing: record again, and see that the buffers of Extrae are large enough",
        )
        .times(contradictions),
    );
}

/// A row, and the operation that it is a part of: the group, and which of its operations.
struct Part {
    row: usize,
    operation: (GroupId, u32),
}

/// Numbers the parts of a stream.
fn number(stream: &Stream, mut part: impl FnMut(Part, &Stream)) {
    let mut counts: FxHashMap<GroupId, u32> = FxHashMap::default();
    for row in 0..stream.collectives.len() {
        let group = stream.collectives[row].group;
        if !group.is_some() {
            continue;
        }
        let count = counts.entry(group).or_default();
        part(Part { row, operation: (group, *count) }, stream);
        *count += 1;
    }
}

fn has_root(role: Role) -> bool {
    matches!(role, Role::OneToAll | Role::AllToOne)
}
