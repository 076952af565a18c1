//! Memory that PEs share, as arrays over them: who touches which part, and what another distribution would make local.

use std::sync::Arc;

use partune_analysis::{Blocking, SharedArray};
use partune_base::{PeId, WindowId};

use super::Run;

/// A window or symmetric heap whose accesses were all recorded with addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared<'a> {
    pub window: WindowId,
    pub name: &'a str,
    /// Of its group.
    pub group: &'a str,
    /// PEs that it lies on.
    pub pes: usize,
    /// Bytes accessed where they live, and elsewhere.
    pub local: u64,
    pub remote: u64,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Distributed {
    pub array: SharedArray,
    /// The PEs that it lies on, in order of rank.
    pub pes: Vec<PeId>,
    /// The distribution that makes most accesses local.
    pub best: Blocking,
}

impl Run {
    /// Memory that PEs share, of which it is known who touches what.
    pub fn shared_memory(&self) -> Vec<Shared<'_>> {
        let (groups, windows, strings) = (self.trace.groups(), self.trace.windows(), self.trace.strings());
        let known = self.shared_accesses().iter_ids().filter(|(_, accesses)| !accesses.is_empty());
        let rows = known.filter_map(|(window, accesses)| {
            let group = groups.get(windows[window].group)?;
            let (local, all) = accesses.iter().fold((0, 0), |(local, all), it| {
                (local + if it.own == it.owner { it.bytes } else { 0 }, all + it.bytes)
            });
            let (name, of) = (strings.get(windows[window].name), strings.get(group.name));
            Some(Shared { window, name, group: of, pes: group.members.len(), local, remote: all - local })
        });
        rows.collect()
    }

    /// A window as an array; none where it is not known who touches what. The last one that was asked for is kept. O(n log n) in its elements.
    pub fn shared_array(&self, window: WindowId) -> Arc<Option<Distributed>> {
        self.kept_array(window, || {
            let members = &self.trace.groups().get(self.trace.windows().get(window)?.group)?.members;
            let array = SharedArray::new(self.shared_accesses().get(window)?, members.len())?;
            Some(Distributed { best: array.affinity.best()?, array, pes: members.iter().collect() })
        })
    }
}
