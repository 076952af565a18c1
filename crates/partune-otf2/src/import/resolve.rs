//! From the ids that the events of one location name to those of the trace.

use partune_base::{FileId, GroupId, PeId, RegionId, Table, WindowId};
use partune_import::RegionKey;
use partune_trace::{Group, GroupKind, IoLayer, Window};

use super::mappings::Mappings;
use super::tables::Tables;
use crate::codec::Mapping;

/// Ids as events have them. They are local to a location, and no ids of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommRef(pub(super) u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WinRef(pub(super) u32);
/// A list of members, which is not a group of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MembersRef(pub(super) u32);
/// An open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandleRef(pub(super) u32);
/// The position of a PE in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rank(pub(super) u32);

/// Undefined, for any of them.
pub(super) const UNDEFINED: u32 = u32::MAX;

/// A region that events name by its local id.
pub(super) fn local_region(id: u32) -> RegionKey {
    RegionKey(u64::from(id))
}

/// A region that events name by its global id, in a calling context.
pub(super) fn global_region(id: u32) -> RegionKey {
    RegionKey(u64::from(id) | GLOBAL)
}

const GLOBAL: u64 = 1 << 32;

/// A file that is referred to and not defined, which sealing tells from none.
pub(super) const UNDEFINED_FILE: FileId = FileId(u32::MAX - 1);

/// Maps what the events of one location name.
#[derive(Clone, Copy)]
pub(super) struct Resolver<'a> {
    pub(super) pe: PeId,
    pub(super) main: PeId,
    pub(super) tables: &'a Tables,
    pub(super) mappings: &'a Mappings,
    pub(super) groups: &'a Table<GroupId, Group>,
    pub(super) windows: &'a Table<WindowId, Window>,
}

/// Roots that are no ranks.
const ROOT_THIS_GROUP: u32 = 0xffff_fffd;
const ROOT_SELF: u32 = 0xffff_fffe;

impl Resolver<'_> {
    /// The region of the trace that events name.
    pub(super) fn region(&self, key: RegionKey) -> RegionId {
        let is_global = key.0 & GLOBAL != 0;
        let id = if is_global { key.0 & !GLOBAL } else { self.mappings.map(Mapping::Region, key.0) };
        self.tables.region(id)
    }

    pub(super) fn group(&self, comm: CommRef) -> GroupId {
        if comm.0 == UNDEFINED {
            return GroupId::NONE;
        }
        let id = self.mappings.map(Mapping::Comm, u64::from(comm.0));
        self.tables.comms.get(id).map_or(GroupId::NONE, GroupId)
    }

    /// The group with these members.
    pub(super) fn group_of(&self, members: MembersRef) -> GroupId {
        let id = self.mappings.map(Mapping::Group, u64::from(members.0));
        self.tables.group_of_members(id).unwrap_or(GroupId::NONE)
    }

    pub(super) fn window(&self, window: WinRef) -> WindowId {
        let id = self.mappings.map(Mapping::RmaWin, u64::from(window.0));
        self.tables.windows.get(id).map_or(WindowId::NONE, WindowId)
    }

    /// The group of a window.
    pub(super) fn group_of_window(&self, window: WindowId) -> GroupId {
        self.windows.get(window).map_or(GroupId::NONE, |window| window.group)
    }

    /// The position of a handle among those that are defined.
    pub(super) fn handle(&self, handle: HandleRef) -> Option<u32> {
        self.tables.handles.get(self.mappings.map(Mapping::IoHandle, u64::from(handle.0)))
    }

    /// What a handle leads to.
    pub(super) fn file(&self, handle: Option<u32>) -> (FileId, IoLayer) {
        handle.map_or((UNDEFINED_FILE, IoLayer::Direct), |at| self.tables.handle_rows[at as usize])
    }

    /// The PE of a rank in a group.
    pub(super) fn peer(&self, group: GroupId, rank: Rank) -> PeId {
        self.groups.get(group).map_or(PeId::NONE, |group| peer(group, [self.pe, self.main], rank.0))
    }

    /// The PE of a root, which may be none.
    pub(super) fn root(&self, group: GroupId, rank: Rank) -> PeId {
        match rank.0 {
            UNDEFINED | ROOT_THIS_GROUP => PeId::NONE,
            ROOT_SELF => self.pe,
            _ => self.peer(group, rank),
        }
    }
}

/// The PE that another one, of a process with this main PE, calls by this rank of a group.
pub(super) fn peer(group: &Group, [pe, main]: [PeId; 2], rank: u32) -> PeId {
    if group.kind == GroupKind::SelfOnly {
        return if rank == 0 { pe } else { PeId::NONE };
    }
    let first = group.first_peer(group.member(pe, main));
    group.members.get(first.saturating_add(rank as usize)).unwrap_or(PeId::NONE)
}
