//! From the ids of one location to those of the trace.

use partune_base::{GroupId, Id, PeId, RegionId, Table, Time, WindowId};
use partune_trace::{Group, GroupKind, RmaSyncKind, Stream, VisitIx, Window};

use super::mappings::Mappings;
use super::segment::RegionKey;
use super::tables::Tables;
use crate::codec::Mapping;

/// Maps what the events of one location name.
pub(super) struct Resolver<'a> {
    pub(super) pe: PeId,
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
        let id = match key.as_global() {
            Some(id) => u64::from(id),
            None => self.mappings.map(Mapping::Region, key.0),
        };
        self.tables.region(id)
    }

    /// Replaces the archive's ids in all rows and their visits.
    /// `on_windows`: rows of `collectives` whose group is still the id of a window.
    pub(super) fn rows(&self, stream: &mut Stream, on_windows: &[u32], visit: &dyn Fn(VisitIx) -> VisitIx) {
        for row in &mut stream.sends {
            row.visit = visit(row.visit);
            row.group = self.group(row.group);
            row.peer = self.peer(row.group, row.peer);
        }
        for row in &mut stream.recvs {
            row.visit = visit(row.visit);
            row.group = self.group(row.group);
            row.peer = self.peer(row.group, row.peer);
        }
        let mut on_windows = on_windows.iter().peekable();
        for (index, row) in stream.collectives.iter_mut().enumerate() {
            row.visit = visit(row.visit);
            row.group = if on_windows.next_if_eq(&&(index as u32)).is_some() {
                let window = self.window(WindowId(row.group.0)).and_then(|window| self.windows.get(window));
                window.map_or(GroupId::NONE, |window| window.group)
            } else {
                self.group(row.group)
            };
            row.root = self.root(row.group, row.root);
        }
        for row in &mut stream.transfers {
            row.visit = visit(row.visit);
            (row.window, row.target) = self.window_rank(row.window, row.target);
        }
        for row in &mut stream.completions {
            row.visit = visit(row.visit);
            row.window = self.window(row.window).unwrap_or(WindowId::NONE);
        }
        for row in &mut stream.rma_syncs {
            row.visit = visit(row.visit);
            if let RmaSyncKind::Group(group) = &mut row.kind {
                let id = self.mappings.map(Mapping::Group, u64::from(group.0));
                *group = self.tables.group_of_members(id).unwrap_or(GroupId::NONE);
            }
            (row.window, row.target) = self.window_rank(row.window, row.target);
        }
        for row in &mut stream.teams {
            row.visit = visit(row.visit);
            row.group = self.group(row.group);
        }
        for row in &mut stream.tasks {
            row.visit = visit(row.visit);
            row.group = self.group(row.group);
        }
        stream.requests.iter_mut().for_each(|row| row.visit = visit(row.visit));
        stream.locks.iter_mut().for_each(|row| row.visit = visit(row.visit));
        stream.metrics.iter_mut().for_each(|row| row.visit = visit(row.visit));
        stream.io.iter_mut().for_each(|row| row.visit = visit(row.visit));
    }

    fn group(&self, raw: GroupId) -> GroupId {
        if !raw.is_some() {
            return GroupId::NONE;
        }
        let id = self.mappings.map(Mapping::Comm, u64::from(raw.0));
        self.tables.comms.get(id).map_or(GroupId::NONE, GroupId)
    }

    pub(super) fn window(&self, raw: WindowId) -> Option<WindowId> {
        let id = self.mappings.map(Mapping::RmaWin, u64::from(raw.0));
        self.tables.windows.get(id).map(WindowId)
    }

    fn window_rank(&self, window: WindowId, rank: PeId) -> (WindowId, PeId) {
        let Some(window) = self.window(window) else { return (WindowId::NONE, PeId::NONE) };
        let group = self.windows.get(window).map_or(GroupId::NONE, |window| window.group);
        (window, self.peer(group, rank))
    }

    /// The PE of a rank in a group.
    fn peer(&self, group: GroupId, rank: PeId) -> PeId {
        let Some(group) = self.groups.get(group) else { return PeId::NONE };
        let first = match group.kind {
            GroupKind::SelfOnly => return if rank.0 == 0 { self.pe } else { PeId::NONE },
            // Ranks are those of the other side.
            GroupKind::Inter => {
                let in_first = group.members.first_contains(self.pe);
                if in_first { group.members.split() } else { 0 }
            }
            GroupKind::World | GroupKind::Communicator | GroupKind::Team => 0,
        };
        group.members.get(first.saturating_add(rank.index())).unwrap_or(PeId::NONE)
    }

    fn root(&self, group: GroupId, rank: PeId) -> PeId {
        match rank.0 {
            u32::MAX | ROOT_THIS_GROUP => PeId::NONE,
            ROOT_SELF => self.pe,
            _ => self.peer(group, rank),
        }
    }
}

/// Stands for "not yet known" until the stream is joined.
pub(super) const UNKNOWN_BEGIN: Time = Time::MIN;
