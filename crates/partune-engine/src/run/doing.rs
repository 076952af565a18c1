//! What a PE does at a moment: the operation, what it sent and got in it, whom it met, and what it waited for.

use std::cmp::Reverse;
use std::ops::Range;

use partune_analysis::Pattern;
use partune_base::{GroupId, PeId, Time};
use partune_index::Member;

use super::Run;
use super::transfers::TransferKind;
use super::visits::Visit;
use super::waits::Wait;

/// Where to look from a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To what begins later.
    After(Time),
    /// To what begins at the moment or earlier, backwards.
    UpTo(Time),
}

/// An operation of a PE at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Doing {
    pub visit: Visit,
    /// What it sent, then what it received.
    pub messages: Vec<Passed>,
    /// Accesses that it started to memory of others: whom, when, how much.
    pub accesses: Vec<(TransferKind, PeId, Time, u64)>,
    pub meeting: Option<Meeting>,
    pub waits: Vec<Wait>,
}

/// One end of a message, and when the other end was, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Sent from here; else received here.
    pub is_sent: bool,
    /// The other PE.
    pub peer: PeId,
    pub bytes: u64,
    pub tag: u32,
    pub group: GroupId,
    pub sent: Option<Time>,
    pub received: Option<Time>,
}

/// The collective that an operation is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    pub group: GroupId,
    /// Those that were there; those of the group where that is not known.
    pub members: usize,
    pub root: PeId,
    /// Who came last, and when.
    pub last: Option<(PeId, Time)>,
    /// Bytes sent and received.
    pub bytes: Option<(u64, u64)>,
}

impl Way {
    pub(super) fn moment(self) -> Time {
        match self {
            Way::After(moment) | Way::UpTo(moment) => moment,
        }
    }

    /// How far something is from the moment.
    pub(super) fn distance(self, time: Time) -> i64 {
        match self {
            Way::After(moment) => (time - moment).0,
            Way::UpTo(moment) => (moment - time).0,
        }
    }
}

impl Run {
    /// The operation that a PE is in, with at most so many messages and accesses; none where it is in none.
    pub fn doing(&self, pe: PeId, time: Time, most: usize) -> Option<Doing> {
        let stream = self.trace.streams().get(pe)?;
        let next = stream.operations.partition_point(|visit| stream.visits.enter[visit.index()] <= time);
        let at = *stream.operations.get(next.checked_sub(1)?)?;
        let visit = self.visit(pe, at);
        if visit.exit <= time {
            return None;
        }
        let of = |waits: &'_ [partune_analysis::Wait]| {
            let from = waits.partition_point(|wait| wait.operation < at);
            from..from + waits[from..].partition_point(|wait| wait.operation == at)
        };
        let (program, start_up) = (self.waits.of_pe(pe), self.waits.start_up_of_pe(pe));
        let waits: Vec<&partune_analysis::Wait> = program[of(program)].iter().chain(&start_up[of(start_up)]).collect();
        let accesses = &stream.transfers[rows(&stream.transfers, visit, most, |row| row.time)];
        Some(Doing {
            messages: self.passed(visit, most),
            accesses: accesses.iter().map(|row| (row.kind.into(), row.target, row.time, row.bytes)).collect(),
            meeting: self.meeting(visit, &waits),
            waits: waits.into_iter().map(|wait| self.wait(wait)).collect(),
            visit,
        })
    }

    fn passed(&self, visit: Visit, most: usize) -> Vec<Passed> {
        let (pe, index) = (visit.pe, &self.index.messages);
        let stream = &self.trace.streams()[pe];
        let sent = rows(&stream.sends, visit, most, |row| row.time).map(|at| {
            let row = &stream.sends[at];
            let other = index.of_send(pe, at);
            let received = other.map(|it| self.trace.streams()[it.receiver].recvs[it.recv as usize].time);
            let (peer, bytes, tag, group) = (row.peer, row.bytes, row.tag, row.group);
            Passed { is_sent: true, peer, bytes, tag, group, sent: Some(row.time), received }
        });
        let received = rows(&stream.recvs, visit, most, |row| row.time).map(|at| {
            let row = &stream.recvs[at];
            let other = index.of_recv(pe, at);
            let sent = other.map(|it| self.trace.streams()[it.sender].sends[it.send as usize].time);
            let (peer, bytes, tag, group) = (row.peer, row.bytes, row.tag, row.group);
            Passed { is_sent: false, peer, bytes, tag, group, sent, received: Some(row.time) }
        });
        sent.chain(received).take(most).collect()
    }

    /// The collective that an operation is, or ends: by its row, or by what it waits for where it has none.
    fn meeting(&self, visit: Visit, waits: &[&partune_analysis::Wait]) -> Option<Meeting> {
        let (stream, index) = (&self.trace.streams()[visit.pe], &self.index.collectives);
        let row = rows(&stream.collectives, visit, 1, |row| row.end).next();
        let by_wait = || {
            let groups = |wait: &&&partune_analysis::Wait| {
                !matches!(wait.pattern, Pattern::WaitOnLock | Pattern::CompetingPutGet)
            };
            let mut positions = waits.iter().filter(groups).map(|wait| wait.instance as usize);
            positions.find(|position| *position < index.instances.len())
        };
        let position = row.and_then(|row| index.of_row(visit.pe, row)).or_else(by_wait);
        let instance = position.map(|position| &index.instances[position]);
        let members: &[Member] = instance.map_or(&[], |instance| index.members(instance));
        let row = row.map(|row| stream.collectives[row]);
        let group = instance.map(|instance| instance.group).or(row.map(|row| row.group))?;
        let last = members.iter().max_by_key(|member| (member.enter, Reverse(member.pe)));
        let of_group = || self.trace.groups().get(group).map_or(0, |group| group.members.len());
        Some(Meeting {
            group,
            members: if members.is_empty() { of_group() } else { members.len() },
            root: instance.map(|instance| instance.root).or(row.map(|row| row.root)).unwrap_or(PeId::NONE),
            last: last.map(|member| (member.pe, member.enter)),
            bytes: row.map(|row| (row.sent, row.received)),
        })
    }
}

/// The positions of the first rows that are within a visit.
fn rows<T>(rows: &[T], visit: Visit, most: usize, time: impl Fn(&T) -> Time) -> Range<usize> {
    let from = rows.partition_point(|row| time(row) < visit.enter);
    let to = from + rows[from..].partition_point(|row| time(row) <= visit.exit);
    from..to.min(from + most)
}
