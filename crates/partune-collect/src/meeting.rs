//! An operation of one-sided models in which several PEs meet: barriers, collectives, allocation.

use crate::call::Call;
use crate::facts::{Collective, NO_ROOT};
use partune_parts::layout::ANYBODY;

/// PEs that take part in a collective.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    pub comm: u32,
    pub window: u32,
    /// Position of this PE.
    pub rank: u32,
    pub size: u32,
    /// What tells the world from others, if these are all of it.
    pub world: Option<u64>,
}

/// An operation that others take part in. None if its set is not one of this program's PEs.
#[derive(Debug)]
pub struct Meeting(Option<Told>);

#[derive(Debug)]
struct Told {
    op: Collective,
    level: u32,
    root: u32,
    bytes: [u64; 2],
    set: Set,
}

impl Meeting {
    /// The call has begun. `level`: what it orders; `bytes`: sent and received.
    pub fn begin(
        call: &mut Call<'_>,
        set: Option<Set>,
        op: Collective,
        level: u32,
        root: u32,
        bytes: [u64; 2],
    ) -> Meeting {
        let Some(set) = set else { return Meeting(None) };
        call.rma_collective_begin();
        call.awaits(set.comm, ANYBODY);
        Meeting(Some(Told { op, level, root, bytes, set }))
    }

    /// It has returned.
    pub fn end(self, call: &mut Call<'_>) {
        let Some(Told { op, level, root, bytes, set }) = self.0 else { return };
        call.rma_collective_end(op, level, set.window, root, bytes);
        // Nobody leaves before the last one came, unless somebody is the root.
        call.met(set.size, set.world.filter(|_| root == NO_ROOT));
    }
}
