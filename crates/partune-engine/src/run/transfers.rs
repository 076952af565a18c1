//! What went from one PE to another, and where several met.

use partune_base::{CallPathId, GroupId, PeId, Time};
use partune_index::Instance;
use partune_picture::{Between, First, Fold, Found, Moved, moved};
use partune_trace::RmaTransferKind;

use super::Run;

/// Something that went from one PE to another: of a get, from the PE that had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub kind: TransferKind,
    pub from: PeId,
    pub begin: Time,
    pub to: PeId,
    /// Before `begin` where clocks could not be repaired.
    pub end: Time,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferKind {
    Message { tag: u32, group: GroupId },
    Put,
    Get,
    Atomic,
}

/// A collective operation of several PEs.
pub struct Collective<'a> {
    run: &'a Run,
    instance: &'a Instance,
}

/// The part of one PE: from when on it was there, until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub pe: PeId,
    pub enter: Time,
    pub exit: Time,
}

impl From<RmaTransferKind> for TransferKind {
    fn from(kind: RmaTransferKind) -> TransferKind {
        match kind {
            RmaTransferKind::Put => TransferKind::Put,
            RmaTransferKind::Get => TransferKind::Get,
            RmaTransferKind::Atomic => TransferKind::Atomic,
        }
    }
}

impl TransferKind {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            TransferKind::Message { .. } => "message",
            TransferKind::Put => "put",
            TransferKind::Get => "get",
            TransferKind::Atomic => "atomic",
        }
    }
}

impl Run {
    /// All messages whose sender and receiver are known, in order of the receiver's.
    pub fn messages(&self) -> impl Iterator<Item = Transfer> + '_ {
        self.index.messages.iter().map(|message| self.transfer(&Moved::Message(*message)))
    }

    /// Accesses of a PE to memory of others that are known and recorded something.
    pub fn accesses(&self, pe: PeId) -> impl Iterator<Item = Transfer> + '_ {
        let target = move |row: u32| self.trace.streams()[pe].transfers[row as usize].target;
        let known = self.index.rma.of_pe(pe).iter().filter(move |access| self.has_visits(target(access.row)));
        known.map(|access| self.transfer(&Moved::Access(*access)))
    }

    /// What has an end in an interval on a PE of a picture, in order of PE and time; nothing but the number of ends if they are more than `most`.
    pub fn transfers_within(&self, fold: &Fold, begin: Time, end: Time, most: usize) -> Found<Transfer> {
        let found = moved(&self.trace, &self.index, fold, begin, end, most);
        Found { rows: found.rows.iter().map(|it| self.transfer(it)).collect(), count: found.count }
    }

    /// What some PEs gave to others, and of it the first that are asked for, those of which both ends are known.
    pub fn between(
        &self,
        givers: &[PeId],
        getters: &[PeId],
        (order, most): (First, usize),
    ) -> (Between, Vec<Transfer>) {
        let between = Between::new(&self.trace, &self.index, (givers, getters), (order, most));
        let first = between.first.iter().map(|it| self.transfer(it)).collect();
        (between, first)
    }

    /// The collectives whose last member came within an interval, those that took longest first.
    pub fn collectives_within(&self, begin: Time, end: Time, most: usize) -> Found<Collective<'_>> {
        let found = self.lines().collectives(begin, end, most);
        let of = |at: usize| Collective { run: self, instance: &self.index.collectives.instances[at] };
        Found { rows: found.rows.into_iter().map(of).collect(), count: found.count }
    }

    fn transfer(&self, moved: &Moved) -> Transfer {
        let ((from, begin), (to, end)) = moved.ends(&self.trace);
        let (kind, bytes) = match moved {
            Moved::Message(message) => {
                let send = &self.trace.streams()[message.sender].sends[message.send as usize];
                (TransferKind::Message { tag: send.tag, group: send.group }, send.bytes)
            }
            Moved::Access(access) => {
                let row = &self.trace.streams()[access.pe].transfers[access.row as usize];
                (row.kind.into(), row.bytes)
            }
        };
        Transfer { kind, from, begin, to, end, bytes }
    }
}

impl Collective<'_> {
    /// Its group; none for the threads of a team, and for some start-ups.
    pub fn group(&self) -> GroupId {
        self.instance.group
    }

    /// A call path on which it is.
    pub fn path(&self) -> CallPathId {
        let members = self.run.index.collectives.members(self.instance);
        let known = members.iter().find(|member| member.wait.is_some());
        known.map_or(CallPathId::NONE, |member| self.run.trace.visit(member.pe, member.wait).path)
    }

    pub fn members(&self) -> impl ExactSizeIterator<Item = Member> + '_ {
        let members = self.run.index.collectives.members(self.instance);
        members.iter().map(|member| Member { pe: member.pe, enter: member.enter, exit: member.exit })
    }
}
