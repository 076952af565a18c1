//! Classes of operations: those on one call path that move about as much with as many others have one cost.

use partune_base::{CallPathId, Id, PeId, Table};
use partune_trace::{Activity, Role, VisitIx};

use crate::source::Source;

/// What operations with one cost have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClassKey {
    pub(crate) path: CallPathId,
    /// 0 for nothing, else one more than the logarithm to base 2 of the bytes.
    pub(crate) size: u8,
    /// The same of PEs that take part.
    pub(crate) partners: u8,
    /// Some partner is on another node.
    pub(crate) remote: bool,
}

/// Of an operation that no cost is known for, and none is asked: management, files, partners that nobody knows.
pub(crate) const RECORDED: u32 = u32::MAX;

/// All classes of a run.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    pub(crate) keys: Vec<ClassKey>,
    /// Bytes that an operation of each moves, on average.
    pub(crate) bytes: Vec<f64>,
}

/// The classes of a PE by its own numbers: key, bytes of all its operations, and how many they are.
pub(crate) type Found = Vec<(ClassKey, f64, u32)>;

impl Classes {
    /// Those of all PEs in the order of their keys, and the number of each PE's classes among them.
    pub(crate) fn new(found: &[Found]) -> (Classes, Vec<Vec<u32>>) {
        let mut keys: Vec<ClassKey> = found.iter().flatten().map(|class| class.0).collect();
        keys.sort_unstable();
        keys.dedup();
        let number = |class: &(ClassKey, f64, u32)| keys.binary_search(&class.0).map_or(RECORDED, |at| at as u32);
        let numbers: Vec<Vec<u32>> = found.iter().map(|found| found.iter().map(number).collect()).collect();
        let (mut bytes, mut counts) = (vec![0.0; keys.len()], vec![0_u64; keys.len()]);
        for ((_, sum, count), number) in found.iter().flatten().zip(numbers.iter().flatten()) {
            bytes[*number as usize] += sum;
            counts[*number as usize] += u64::from(*count);
        }
        bytes.iter_mut().zip(counts).for_each(|(bytes, count)| *bytes /= count.max(1) as f64);
        (Classes { keys, bytes }, numbers)
    }
}

/// Whom a PE meets, by visit.
pub(crate) struct Met {
    /// The most PEs that took part in what it was, and whether some were on other nodes.
    pub(crate) partners: Vec<(u32, bool)>,
    /// Something that it did has no known partner.
    unknown: Vec<bool>,
}

impl Met {
    /// With PEs on these nodes. Linear in messages, transfers and members of collectives.
    pub(crate) fn new(source: &Source<'_>, pe: PeId, nodes: &Table<PeId, u32>) -> Met {
        let index = source.index;
        let stream = &source.trace.streams()[pe];
        let (mut partners, mut unknown) = (vec![(0, false); stream.visits.len()], vec![false; stream.visits.len()]);
        let own = nodes[pe];
        let is_remote = |pe: PeId| nodes.get(pe).is_some_and(|node| *node != own);
        let mut meet = |visit: VisitIx, count: u32, remote: bool| {
            if let Some(partners) = partners.get_mut(visit.index()) {
                *partners = (count.max(partners.0), partners.1 | remote);
            }
        };
        let mut miss = |visit: VisitIx| {
            if let Some(unknown) = unknown.get_mut(visit.index()) {
                *unknown = true;
            }
        };
        for (row, recv) in stream.recvs.iter().enumerate() {
            meet(recv.visit, 1, is_remote(recv.peer));
            if index.messages.of_recv(pe, row).is_none() {
                miss(recv.visit);
            }
        }
        for send in &stream.sends {
            meet(send.visit, 1, is_remote(send.peer));
        }
        for transfer in &stream.transfers {
            meet(transfer.visit, 1, is_remote(transfer.target));
        }
        for (row, collective) in stream.collectives.iter().enumerate() {
            match index.collectives.of_row(pe, row).map(|at| &index.collectives.instances[at]) {
                Some(instance) if instance.missing == 0 => {
                    let members = index.collectives.members(instance);
                    let remote = members.iter().any(|member| is_remote(member.pe));
                    meet(collective.visit, members.len() as u32, remote);
                }
                _ => miss(collective.visit),
            }
        }
        Met { partners, unknown }
    }
}

/// Finds the classes of a PE's operations.
pub(crate) struct Classifier<'a> {
    source: &'a Source<'a>,
    pe: PeId,
    /// By visit: bytes moved.
    bytes: Vec<u64>,
    met: Met,
    found: Found,
    /// Numbers of the classes of each path.
    of_path: Vec<Vec<u32>>,
}

impl<'a> Classifier<'a> {
    pub(crate) fn new(source: &'a Source<'a>, pe: PeId) -> Classifier<'a> {
        let stream = &source.trace.streams()[pe];
        let visits = stream.visits.len();
        let mut bytes = vec![0; visits];
        for (visit, sent, received) in stream.moved() {
            if let Some(bytes) = bytes.get_mut(visit.index()) {
                *bytes += u64::max(sent, received);
            }
        }
        let met = Met::new(source, pe, &source.nodes);
        Classifier { source, pe, bytes, met, found: Vec::new(), of_path: vec![Vec::new(); source.trace.paths().len()] }
    }

    /// The class of an operation that needs so many gifts, and whether some partner is on another node.
    pub(crate) fn class(&mut self, visit: VisitIx, needs: u32) -> (u32, bool) {
        let trace = self.source.trace;
        let path = trace.streams()[self.pe].visits.path[visit.index()];
        let role = trace.regions()[trace.paths().region(path)].role;
        let waits_for_somebody = matches!(
            role,
            Role::WaitOnValue | Role::RmaWait | Role::RmaStart | Role::RmaComplete | Role::TaskWait | Role::DeviceWait
        );
        if !acts(role) || self.met.unknown[visit.index()] || waits_for_somebody && needs == 0 {
            return (RECORDED, false);
        }
        let bytes = self.bytes[visit.index()];
        let (met, remote) = self.met.partners[visit.index()];
        let size = (64 - bytes.leading_zeros()) as u8;
        let key = ClassKey { path, size, partners: (32 - met.max(needs).leading_zeros()) as u8, remote };
        let known = self.of_path[path.index()].iter().copied().find(|class| self.found[*class as usize].0 == key);
        let class = known.unwrap_or_else(|| {
            let class = self.found.len() as u32;
            self.of_path[path.index()].push(class);
            self.found.push((key, 0.0, 0));
            class
        });
        let of_class = &mut self.found[class as usize];
        of_class.1 += bytes as f64;
        of_class.2 += 1;
        (class, remote)
    }

    pub(crate) fn finish(self) -> Found {
        self.found
    }
}

/// Whether an operation with a role does something with others.
pub(crate) fn acts(role: Role) -> bool {
    matches!(role.activity(), Activity::Communication | Activity::Synchronization)
}
