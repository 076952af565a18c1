//! Who the strangers are that processes met on the other side of an intercommunicator: by spawning, by being spawned, or through a port.
//!
//! Nobody was asked. Each side knows how many there were on the other one and when: neither call returns before both are under way. So
//! two sides belong together if each has the size that the other one saw, if they were under way at the same time, and if the end of no other
//! side that is still alone comes nearly as close. Where two meetings cannot be told apart, strangers stay unknown.

use std::sync::Arc;

use partune_parts::log::Members;
use rustc_hash::FxHashMap;

use crate::contexts::NONE;
use crate::log::{Meeting, ProcessLog};
use crate::worlds::{Key, Worlds};

/// All meetings of a run.
pub(crate) struct Meetings<'a> {
    worlds: &'a Worlds,
    sides: Vec<Side<'a>>,
    /// Positions of sides, by process and position of the meeting in its log.
    of: FxHashMap<(usize, usize), usize>,
}

/// One side of a meeting, which all its processes tell of.
struct Side<'a> {
    /// One of them, and its communicator.
    process: usize,
    log: &'a ProcessLog,
    comm: u32,
    own: u32,
    met: u32,
    begin: u64,
    end: u64,
    other: Option<usize>,
}

/// Members in a world, and the how many-th meeting of theirs it is.
type SideKey<'a> = (Option<Key>, &'a Arc<str>, usize);

/// How much nearer than any other one an end has to be.
const NEARER: u64 = 4;

/// How many worlds may be between one process and another.
const FARTHEST: u32 = 8;

impl<'a> Meetings<'a> {
    pub(crate) fn of(logs: impl Iterator<Item = &'a ProcessLog>, worlds: &'a Worlds) -> Meetings<'a> {
        let mut sides: Vec<Side<'_>> = Vec::new();
        let mut known: FxHashMap<SideKey<'_>, usize> = FxHashMap::default();
        let mut of = FxHashMap::default();
        for (process, log) in logs.enumerate() {
            let mut before: FxHashMap<&Arc<str>, usize> = FxHashMap::default();
            for (at, meeting) in log.meetings.iter().enumerate() {
                let Some(comm) = log.comms.get(meeting.comm as usize) else { continue };
                let count = before.entry(&comm.members).or_default();
                let key = (worlds.find(process, log, comm.world), &comm.members, *count);
                *count += 1;
                let side = *known.entry(key).or_insert_with(|| {
                    let own = Members::expand(&comm.members).len() as u32;
                    let &Meeting { comm, size, begin, end, .. } = meeting;
                    sides.push(Side { process, log, comm, own, met: size, begin, end, other: None });
                    sides.len() - 1
                });
                sides[side].begin = sides[side].begin.min(meeting.begin);
                sides[side].end = sides[side].end.max(meeting.end);
                of.insert((process, at), side);
            }
        }
        // Whom one has met cannot have met another one: each round may tell apart what the one before could not.
        while {
            let nearest: Vec<Option<usize>> = (0..sides.len()).map(|side| nearest(&sides, side)).collect();
            let mutual = |(side, other): (usize, &Option<usize>)| other.filter(|other| nearest[*other] == Some(side));
            let found: Vec<Option<usize>> = nearest.iter().enumerate().map(mutual).collect();
            sides.iter_mut().zip(&found).for_each(|(side, other)| side.other = side.other.or(*other));
            found.iter().any(Option::is_some)
        } {}
        Meetings { worlds, sides, of }
    }

    /// Two lists of members, and in which world these are ranks. Where there are strangers in them, that is the list of all locations
    /// of the paradigm, which is the same for whoever was met.
    pub(crate) fn resolved(
        &self,
        process: usize,
        log: &ProcessLog,
        number: u32,
        lists: [&Arc<str>; 2],
    ) -> (Option<Key>, [Arc<str>; 2]) {
        let world = self.worlds.find(process, log, number);
        let size = log.worlds.get(number as usize).and_then(Option::as_ref).map_or(u32::MAX, |world| world.size);
        let same = || lists.map(Arc::clone);
        if log.meetings.is_empty() {
            return (world, same());
        }
        let expanded = lists.map(|list| Members::expand(list));
        if expanded.iter().flatten().all(|member| *member < size) {
            return (world, same());
        }
        let position =
            |member| self.position((process, log), number, member, FARTHEST).unwrap_or(u64::from(NONE)) as u32;
        let positions = expanded.map(|list| {
            let positions: Vec<u32> = list.into_iter().map(position).collect();
            Members::Ranks(&positions).to_string().into()
        });
        (world.map(Worlds::everybody), positions)
    }

    fn position(&self, of: (usize, &ProcessLog), world: u32, member: u32, farthest: u32) -> Option<u64> {
        let (process, log) = of;
        let size = log.worlds.get(world as usize)?.as_ref()?.size;
        if member < size {
            return self.worlds.position(self.worlds.find(process, log, world), member);
        }
        let holds = |meeting: &Meeting| member.checked_sub(meeting.first).is_some_and(|rank| rank < meeting.size);
        let at = log.meetings.iter().position(holds)?;
        let other = &self.sides[self.sides[*self.of.get(&(process, at))?].other?];
        let comm = other.log.comms.get(other.comm as usize)?;
        let there = Members::expand(&comm.members);
        let member = *there.get((member - log.meetings[at].first) as usize)?;
        self.position((other.process, other.log), comm.world, member, farthest.checked_sub(1)?)
    }
}

/// The side that ended nearest to another one, of those that it may have met and of which nobody is known whom they met; none for one of which it is known.
fn nearest(sides: &[Side<'_>], side: usize) -> Option<usize> {
    let own = &sides[side];
    if own.other.is_some() {
        return None;
    }
    let may_meet = |other: &Side<'_>| {
        let is_together = own.begin <= other.end && other.begin <= own.end;
        // No process meets itself.
        let is_other = own.process != other.process && other.other.is_none();
        is_other && is_together && (own.own, own.met) == (other.met, other.own)
    };
    let others = sides.iter().enumerate().filter(|(at, other)| *at != side && may_meet(other));
    let mut found: Vec<(u64, usize)> = others.map(|(at, other)| (own.end.abs_diff(other.end), at)).collect();
    found.sort_unstable();
    match found[..] {
        [] => None,
        [(near, _), (next, _), ..] if next <= near.saturating_mul(NEARER) => None,
        [(_, nearest), ..] => Some(nearest),
    }
}
