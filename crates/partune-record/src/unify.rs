//! One numbering for what all processes numbered each for itself: communicators, groups, windows, files, metrics.
//!
//! Processes never talked about numbers. A communicator is the same on two of them if it has the same members in the same order and each
//! saw as many with these members before: creation is collective, so the members count alike.

use std::sync::Arc;

use partune_base::{StringId, Strings};
use partune_parts::log::Interface;
use rustc_hash::FxHashMap;

use crate::contexts::{NONE, Numbered};
use crate::log::{self, ProcessLog};
use crate::meetings::Meetings;
use crate::worlds::{Key, Worlds};

/// What a communicator consists of, by positions of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommRow {
    /// Each process by itself.
    Alone,
    Intra(u32),
    Inter(u32, u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Comm {
    pub(crate) row: CommRow,
    pub(crate) name: String,
    /// [`NONE`] if it has none.
    pub(crate) parent: u32,
}

/// A list of ranks, by position of the paradigm in [`Worlds::paradigms`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) paradigm: usize,
    pub(crate) members: Vec<u64>,
}

/// Members as a process's log has them, in a world; none if nothing is known of it.
type Members = (Option<Key>, Arc<str>);

/// Global rows, in the order of their first use; ids are positions.
#[derive(Default)]
pub(crate) struct Unified {
    pub(crate) groups: Vec<Group>,
    pub(crate) comms: Vec<Comm>,
    /// Name and communicator.
    pub(crate) windows: Vec<(String, u32)>,
    pub(crate) files: Numbered<StringId>,
    /// Handles: position of the file, interface, and how many such are open already.
    pub(crate) handles: Numbered<(u32, Interface, u32)>,
    /// Name and unit, and whether values grow.
    pub(crate) metrics: Numbered<(StringId, StringId, bool)>,
    group_ids: FxHashMap<Members, u32>,
    comm_ids: FxHashMap<(Members, Arc<str>, u32), u32>,
    window_ids: FxHashMap<(u32, u32), u32>,
    alone: Option<u32>,
}

/// The global ids of a process's numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    pub(crate) groups: Vec<u64>,
    pub(crate) comms: Vec<u64>,
    pub(crate) windows: Vec<u64>,
    pub(crate) handles: Vec<u64>,
    pub(crate) metrics: Vec<u64>,
}

impl Unified {
    /// Adds what a process, by its position in the run, defined.
    pub(crate) fn add(
        &mut self,
        process: usize,
        log: &ProcessLog,
        (worlds, meetings): (&Worlds, &Meetings<'_>),
        strings: &mut Strings,
    ) -> Local {
        let mut local = Local::default();
        for log::Group { world, members } in &log.groups {
            let (world, [members, _]) = meetings.resolved(process, log, *world, [members, &"".into()]);
            let group = self.group((world, members), worlds);
            local.groups.push((worlds.first_group() + group).into());
        }
        for comm in &log.comms {
            let parent = comm.parent.and_then(|parent| local.comms.get(parent as usize));
            let parent = parent.map_or(NONE, |parent| *parent as u32);
            let members = meetings.resolved(process, log, comm.world, [&comm.members, &comm.remote]);
            local.comms.push(self.comm(members, comm, parent, worlds).into());
        }
        for window in &log.windows {
            let comm = local.comms.get(window.comm as usize).map_or(NONE, |comm| *comm as u32);
            local.windows.push(self.window(comm, window).into());
        }
        for file in &log.files {
            // One of which the log was lost has no name.
            let (name, by, again) = file.as_ref().map_or(("", Interface::Posix, 0), |it| (&it.name, it.by, it.again));
            let file = self.files.number(strings.intern(name));
            local.handles.push(self.handles.number((file, by, again)).into());
        }
        for metric in &log.metrics {
            let row = (strings.intern(&metric.name), strings.intern(&metric.unit), metric.grows);
            local.metrics.push(self.metrics.number(row).into());
        }
        local
    }

    fn group(&mut self, of: Members, worlds: &Worlds) -> u32 {
        let groups = &mut self.groups;
        *self.group_ids.entry(of).or_insert_with_key(|(world, members)| {
            let position = |rank| worlds.position(*world, rank).unwrap_or(u64::from(NONE));
            let members = partune_parts::log::Members::expand(members).into_iter().map(position).collect();
            groups.push(Group { paradigm: world.map_or(0, |(paradigm, ..)| paradigm as usize), members });
            groups.len() as u32 - 1
        })
    }

    fn comm(
        &mut self,
        (world, [members, remote]): (Option<Key>, [Arc<str>; 2]),
        comm: &log::Comm,
        parent: u32,
        worlds: &Worlds,
    ) -> u32 {
        if comm.name == "MPI_COMM_SELF" {
            let next = self.comms.len() as u32;
            return *self.alone.get_or_insert_with(|| {
                self.comms.push(Comm { row: CommRow::Alone, name: comm.name.clone(), parent: NONE });
                next
            });
        }
        // Both sides of an intercommunicator name their own group first.
        let swapped = !remote.is_empty() && remote < members;
        let (a, b) = if swapped { (remote, members) } else { (members, remote) };
        let key = ((world, Arc::clone(&a)), Arc::clone(&b), comm.sequence);
        if let Some(known) = self.comm_ids.get(&key) {
            let known = *known;
            let row = &mut self.comms[known as usize];
            if row.name.is_empty() {
                row.name.clone_from(&comm.name);
            }
            return known;
        }
        let row = if b.is_empty() {
            CommRow::Intra(self.group((world, a), worlds))
        } else {
            CommRow::Inter(self.group((world, a), worlds), self.group((world, b), worlds))
        };
        let id = self.comms.len() as u32;
        self.comms.push(Comm { row, name: comm.name.clone(), parent });
        self.comm_ids.insert(key, id);
        id
    }

    fn window(&mut self, comm: u32, window: &log::Window) -> u32 {
        let windows = &mut self.windows;
        *self.window_ids.entry((comm, window.sequence)).or_insert_with(|| {
            let name = if window.name.is_empty() { &window.kind } else { &window.name };
            windows.push((name.clone(), comm));
            windows.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(comms: &str) -> ProcessLog {
        ProcessLog::parse(&format!("partune {}\n{comms}", partune_parts::layout::VERSION)).expect("a log")
    }

    #[test]
    fn processes_agree_on_communicators_that_they_numbered_differently() {
        let mut unified = Unified::default();
        let mut strings = Strings::default();
        let first = "comm 0 0 0 0-3 - - MPI_COMM_WORLD\ncomm 1 0 0 0 - - MPI_COMM_SELF\n";
        let logs = [
            log(&format!(
                "world 0 MPI process 0 4 9\n{first}comm 2 0 1 0-3 - 0 -\ncomm 3 0 0 0-1 - 0 low\ncomm 4 0 0 0-1 2-3 0 -\n"
            )),
            log("world 0 MPI process 1 4 9\n"),
            log(&format!(
                "world 0 MPI process 2 4 9\n{first}comm 2 0 0 2-3 - 0 high\ncomm 3 0 0 2-3 0-1 0 -\ncomm 4 0 1 0-3 - 0 copy\n"
            )),
            log("world 0 MPI process 3 4 9\n"),
        ];
        let worlds = Worlds::of(logs.iter().zip(0..).map(|(log, at)| (log, at, vec![(0, at)])));
        let meetings = Meetings::of(logs.iter(), &worlds);
        let one = unified.add(0, &logs[0], (&worlds, &meetings), &mut strings);
        let two = unified.add(2, &logs[2], (&worlds, &meetings), &mut strings);
        assert_eq!(one.comms, [0, 1, 2, 3, 4]);
        assert_eq!(two.comms, [0, 1, 5, 4, 2]);
        assert_eq!(unified.comms[2].name, "copy");
        assert_eq!(unified.comms[4].row, CommRow::Inter(1, 2));
        let members: Vec<Vec<u64>> = unified.groups.into_iter().map(|group| group.members).collect();
        assert_eq!(members, [vec![0, 1, 2, 3], vec![0, 1], vec![2, 3]]);
    }
    /// A spawns B twice: first two processes, then one; each child counts its parent as the first stranger.
    const SPAWNED: [&str; 4] = [
        "world 0 MPI process 0 1 a\ncomm 0 0 0 0 1-2 - -\nmeeting 0 1 2 10 20\ncomm 1 0 0 0 3 - -\nmeeting 1 3 1 30 40\ncomm 2 0 0 0,3 - - -\n",
        "world 0 MPI process 0 2 b\ncomm 0 0 0 0-1 2 - -\nmeeting 0 2 1 11 21\n",
        "world 0 MPI process 1 2 b\ncomm 0 0 0 0-1 2 - -\nmeeting 0 2 1 12 22\n",
        "world 0 MPI process 0 1 c\ncomm 0 0 0 0 1 - -\nmeeting 0 1 1 31 41\ncomm 1 0 0 1,0 - - -\n",
    ];

    fn comms_of(texts: &[&str]) -> (Unified, Vec<Vec<u64>>) {
        let logs: Vec<ProcessLog> = texts.iter().map(|text| log(text)).collect();
        let worlds = Worlds::of(logs.iter().zip(0..).map(|(log, at)| (log, at, vec![(0, at)])));
        let meetings = Meetings::of(logs.iter(), &worlds);
        let (mut unified, mut strings) = (Unified::default(), Strings::default());
        let add = |(at, log)| unified.add(at, log, (&worlds, &meetings), &mut strings).comms;
        let comms = logs.iter().enumerate().map(add).collect();
        (unified, comms)
    }

    #[test]
    fn worlds_that_met_share_communicators() {
        let (unified, comms) = comms_of(&SPAWNED);
        // Both sides of each meeting, and what was merged after the second one.
        assert_eq!(comms, [vec![0, 1, 2], vec![0], vec![0], vec![1, 2]]);
        let members = |group: u32| unified.groups[group as usize].members.clone();
        let sides = |comm: &Comm| match comm.row {
            CommRow::Inter(a, b) => [members(a), members(b)],
            CommRow::Intra(a) => [members(a), Vec::new()],
            CommRow::Alone => [Vec::new(), Vec::new()],
        };
        let sides: Vec<[Vec<u64>; 2]> = unified.comms.iter().map(sides).collect();
        assert_eq!(sides, [[vec![0], vec![1, 2]], [vec![0], vec![3]], [vec![0, 3], vec![]]]);
    }

    #[test]
    fn meetings_that_cannot_be_told_apart_stay_unknown() {
        // Two parents spawn one child each at the same time; either child may be of either.
        let parent = |key| format!("world 0 MPI process 0 1 {key}\ncomm 0 0 0 0 1 - -\nmeeting 0 1 1 10 20\n");
        let texts = ["a", "b", "c", "d"].map(parent);
        let (unified, comms) = comms_of(&texts.each_ref().map(String::as_str));
        assert_eq!(comms, [[0], [1], [2], [3]]);
        let unknown = |group: &Group| group.members.contains(&u64::from(NONE));
        assert!(unified.groups.iter().any(unknown), "{:?}", unified.groups);
        // One that met nobody at all.
        let (unified, _) = comms_of(&SPAWNED[..1]);
        assert!(unified.groups.iter().any(unknown), "{:?}", unified.groups);
    }
}
