//! Who is in the trace: processes and threads, and the communicators between them.
//!
//! Processes are those that the header lists, and those that have records; threads are those that have records, and the first of each
//! process. So numbers in a header take no room, and of tasks that it lists and that have no record there are at most so many.

use std::collections::BTreeMap;

use partune_base::{GroupId, PeId, ProcessId, StringId};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{Group, GroupKind, Members, Pe, PeKind, Process, TraceBuilder};
use rustc_hash::{FxHashMap, FxHashSet};

use super::lanes::Lane;
use crate::codec::{Communicator, Header, Row, Task};

/// No PE.
pub(super) const NOBODY: PeId = PeId::NONE;

/// Where the trace's numbers are in the tables.
#[derive(Default)]
pub(super) struct People {
    /// The PE of each lane.
    pes: Vec<PeId>,
    applications: Vec<u64>,
    /// The lane of each PE, if it has one.
    lanes: Vec<Option<usize>>,
    mains: FxHashMap<(u64, u64), PeId>,
    groups: FxHashMap<(u64, u64), GroupId>,
    worlds: FxHashMap<u64, GroupId>,
}

/// A process while the tables are made: what the header says of it, and its lanes by thread.
#[derive(Default)]
struct Found {
    listed: Option<Task>,
    threads: BTreeMap<u64, Option<usize>>,
}

impl People {
    pub(super) fn build(
        header: &Header,
        communicators: &[Communicator],
        row: &Row,
        lanes: &[Lane],
        builder: &mut TraceBuilder,
    ) -> People {
        let found = find(header, lanes, &mut builder.quality);
        let mut people = People { pes: vec![NOBODY; lanes.len()], ..People::default() };
        people.applications = lanes.iter().map(|lane| lane.application).collect();
        let names = Names { row, first: first_threads(header), many: header.applications.len() > 1 };
        for (&(application, task), found) in &found {
            let strings = &mut builder.strings;
            let name = strings.intern(&names.task(application, task));
            let node = names.node(found.listed).map_or(StringId::NONE, |node| strings.intern(&node));
            let rank = u32::try_from(task - 1).ok();
            let process = builder.processes.push(Process { name, rank, node, pes: Vec::new() });
            for (position, (&thread, &lane)) in found.threads.iter().enumerate() {
                let pe = people.add_pe(builder, process, position, lane, &names, (application, task, thread));
                if position == 0 {
                    people.mains.insert((application, task), pe);
                }
            }
        }
        people.add_groups(header, communicators, &found, builder);
        people
    }

    fn add_pe(
        &mut self,
        builder: &mut TraceBuilder,
        process: ProcessId,
        position: usize,
        lane: Option<usize>,
        names: &Names<'_>,
        (application, task, thread): (u64, u64, u64),
    ) -> PeId {
        let name = builder.strings.intern(&names.thread(application, task, thread));
        let archive_id = self.lanes.len() as u64;
        let pe = Pe { name, kind: PeKind::Cpu, process, thread: position as u32, device: None, archive_id };
        let pe = builder.pes.push(pe);
        builder.processes[process].pes.push(pe);
        self.lanes.push(lane);
        if let Some(lane) = lane {
            self.pes[lane] = pe;
        }
        pe
    }

    /// Communicators that the trace lists, and for each application one of all.
    fn add_groups(
        &mut self,
        header: &Header,
        communicators: &[Communicator],
        found: &BTreeMap<(u64, u64), Found>,
        builder: &mut TraceBuilder,
    ) {
        let paradigm = builder.strings.intern(partune_paradigm::MPI.name);
        let mut unknown = 0;
        let mut inter = Vec::new();
        let mut sizes: FxHashMap<u64, usize> = FxHashMap::default();
        found.keys().for_each(|(application, _)| *sizes.entry(*application).or_default() += 1);
        for communicator in communicators {
            let (application, id, tasks) = match communicator {
                Communicator::Intra { application, id, tasks } => (*application, *id, tasks),
                Communicator::Inter { .. } => {
                    inter.push(communicator);
                    continue;
                }
            };
            if self.groups.contains_key(&(application, id)) {
                continue;
            }
            let of = |task: &u64| self.mains.get(&(application, *task)).copied().unwrap_or(NOBODY);
            let members: Vec<PeId> = tasks.iter().map(of).collect();
            unknown += members.iter().filter(|member| !member.is_some()).count() as u64;
            let is_world = Some(&members.len()) == sizes.get(&application) && !self.worlds.contains_key(&application);
            let kind = if is_world { GroupKind::World } else { GroupKind::Communicator };
            let name = if is_world { "MPI_COMM_WORLD".to_owned() } else { format!("communicator {id}") };
            let name = builder.strings.intern(&name);
            let group = builder.groups.push(Group { name, kind, paradigm, members: members.into() });
            self.groups.insert((application, id), group);
            if is_world {
                self.worlds.insert(application, group);
            }
        }
        for communicator in inter {
            let Communicator::Inter { application, id, groups } = communicator else { continue };
            let of = |group: &(u64, u64)| self.groups.get(group).map(|group| &builder.groups[*group].members);
            let (Some(first), Some(second)) = (of(&groups[0]), of(&groups[1])) else {
                unknown += 1;
                continue;
            };
            let members = Members::joined(first, second);
            let name = builder.strings.intern(&format!("communicator {id}"));
            let group = builder.groups.push(Group { name, kind: GroupKind::Inter, paradigm, members });
            self.groups.entry((*application, *id)).or_insert(group);
        }
        for application in 1..=header.applications.len() as u64 {
            let members: Vec<PeId> = found
                .range((application, 0)..=(application, u64::MAX))
                .filter_map(|(who, _)| self.mains.get(who).copied())
                .collect();
            if members.len() > 1 && !self.worlds.contains_key(&application) {
                let name = builder.strings.intern("MPI_COMM_WORLD");
                let group = Group { name, kind: GroupKind::World, paradigm, members: members.into() };
                self.worlds.insert(application, builder.groups.push(group));
            }
        }
        builder.quality.add(
            Diagnostic::data_loss(
                Code::UnknownMembers,
                "a communicator has members that are not in the trace",
                "the trace was cut out of a larger one, or its header is damaged: use the whole trace",
            )
            .times(unknown),
        );
    }

    /// The lane of each PE.
    pub(super) fn lanes_of_pes(&self) -> Vec<Option<usize>> {
        self.lanes.clone()
    }

    /// The PE of a lane, and the group that a thread of an application reaches it in.
    pub(super) fn peer(&self, application: u64, lane: u32) -> (PeId, GroupId) {
        let same = self.applications[lane as usize] == application;
        let group = self.worlds.get(&application).copied().filter(|_| same);
        (self.pes[lane as usize], group.unwrap_or(GroupId::NONE))
    }

    /// The group of a communicator; that of all if it has no number.
    pub(super) fn group(&self, application: u64, communicator: u64) -> GroupId {
        let group = match communicator {
            0 => self.worlds.get(&application),
            id => self.groups.get(&(application, id)),
        };
        group.copied().unwrap_or(GroupId::NONE)
    }

    /// The first PE of a process.
    pub(super) fn main(&self, application: u64, task: u64) -> PeId {
        self.mains.get(&(application, task)).copied().unwrap_or(NOBODY)
    }
}

/// Tasks that a header may list and of which there is no record: a few bytes of it each, and a kilobyte of the trace.
const IDLE: u64 = 1 << 17;

/// Processes that are listed or have records, with the threads that have.
fn find(header: &Header, lanes: &[Lane], quality: &mut Quality) -> BTreeMap<(u64, u64), Found> {
    let mut found: BTreeMap<(u64, u64), Found> = BTreeMap::new();
    let mut idle = 0_u64;
    let have_records: FxHashSet<(u64, u64)> = lanes.iter().map(|lane| (lane.application, lane.task)).collect();
    for (application, tasks) in (1..).zip(&header.applications) {
        for (task, listed) in (1..).zip(tasks) {
            idle += u64::from(!have_records.contains(&(application, task)));
            if idle > IDLE && !have_records.contains(&(application, task)) {
                continue;
            }
            let process = Found { listed: Some(*listed), threads: BTreeMap::from([(1, None)]) };
            found.insert((application, task), process);
        }
    }
    let mut beyond = 0;
    for (at, lane) in lanes.iter().enumerate() {
        let process = found.entry((lane.application, lane.task)).or_default();
        beyond += u64::from(process.listed.is_none_or(|listed| lane.thread > listed.threads));
        process.threads.insert(lane.thread, Some(at));
    }
    quality.add(
        Diagnostic::data_loss(
            Code::DamagedHeader,
            "the header of the trace lists more tasks without a record than can be; the others were left out",
            "the header is damaged, or the trace was cut: use the whole trace",
        )
        .times(idle.saturating_sub(IDLE)),
    );
    quality.add(
        Diagnostic::info(
            Code::UnlistedThreads,
            "threads have records that the header of the trace does not list",
            "the header is damaged, or the trace was put together by hand; what they did counts",
        )
        .times(beyond),
    );
    found
}

/// For each task of each application, the number of threads before it in the header.
fn first_threads(header: &Header) -> Vec<Vec<u64>> {
    let mut next = 0_u64;
    let mut of = |task: &Task| {
        let first = next;
        next = next.saturating_add(task.threads);
        first
    };
    header.applications.iter().map(|tasks| tasks.iter().map(&mut of).collect()).collect()
}

struct Names<'a> {
    row: &'a Row,
    first: Vec<Vec<u64>>,
    many: bool,
}

impl Names<'_> {
    fn node(&self, task: Option<Task>) -> Option<String> {
        let node = task?.node.checked_sub(1)?;
        let name = usize::try_from(node).ok().and_then(|node| self.row.nodes.get(node));
        Some(name.cloned().unwrap_or_else(|| format!("node {}", node + 1)))
    }

    fn task(&self, application: u64, task: u64) -> String {
        let rank = task - 1;
        if self.many { format!("application {application}, rank {rank}") } else { format!("rank {rank}") }
    }

    fn thread(&self, application: u64, task: u64, thread: u64) -> String {
        let of = |list: &[Vec<u64>]| -> Option<u64> {
            let tasks = list.get(usize::try_from(application - 1).ok()?)?;
            tasks.get(usize::try_from(task - 1).ok()?)?.checked_add(thread - 1)
        };
        let name = of(&self.first).and_then(|at| self.row.threads.get(usize::try_from(at).ok()?));
        name.filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| format!("THREAD {application}.{task}.{thread}"))
    }
}
