//! Ties of collectives, by the shape of the operation.
//!
//! | shape | givers | takers |
//! |---|---|---|
//! | all-to-all, barriers, start-up, … | all | all |
//! | access to a file by all | all | all, if nobody left before the last one came |
//! | one-to-all | the root | all others |
//! | all-to-one | all others | the root |
//! | scan | each rank but the last | the next, which passes it on with its own |
//!
//! Between two groups, members give to those of the other. A collective whose root is not among the members ties
//! nobody, nor does a scan of members without ranks.

use std::ops::Range;

use partune_base::{Id, PeId, Time};
use partune_trace::{GroupKind, Members, Participants, Role, Trace, VisitIx};
use rayon::prelude::*;

use super::points::{Maker, NOTHING, Points};
use super::{End, Gift, Part};
use crate::collectives::{Collectives, Instance, Member};
use crate::{Place, Polls};

/// Who gives and who takes in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    OneToAll,
    AllToOne,
    /// A chain in the order of ranks.
    Scan,
    AllToAll,
    /// One tie for what each of two groups gives the other.
    TwoGroups,
    /// Nobody is tied.
    Nothing,
}

/// The shape of each instance.
pub(super) fn shapes(trace: &Trace, collectives: &Collectives) -> Vec<Shape> {
    let of = |instance: &Instance| Meeting { trace, instance, members: collectives.members(instance) }.shape();
    collectives.instances.par_iter().with_min_len(1024).map(of).collect()
}

/// One instance.
#[derive(Clone, Copy)]
struct Meeting<'a> {
    trace: &'a Trace,
    instance: &'a Instance,
    members: &'a [Member],
}

impl<'a> Meeting<'a> {
    fn shape(self) -> Shape {
        let has_root = || self.members.iter().any(|member| self.is_root(member));
        if self.members.len() < 2 {
            return Shape::Nothing;
        }
        let ranked = || self.members.iter().all(|member| self.rank(member).is_some());
        let role = self.instance.role;
        let (shape, is_known) = if role == Role::OneToAll {
            (Shape::OneToAll, has_root())
        } else if role == Role::AllToOne {
            (Shape::AllToOne, has_root())
        } else if role == Role::Scan {
            (Shape::Scan, ranked())
        } else if role == Role::Io {
            (Shape::AllToAll, self.kept_all())
        } else {
            (if self.sides().is_some() { Shape::TwoGroups } else { Shape::AllToAll }, true)
        };
        if is_known { shape } else { Shape::Nothing }
    }

    /// Whether nobody left before the last one came. Nothing in an access to a file asks for that, and who did not wait is not tied.
    fn kept_all(self) -> bool {
        let last = self.members.iter().map(|member| member.enter).max();
        self.members.iter().all(|member| Some(member.exit) >= last)
    }

    /// The two groups, if it is between two.
    fn sides(self) -> Option<&'a Members> {
        let group = self.trace.groups().get(self.instance.group)?;
        (group.kind == GroupKind::Inter).then_some(&group.members)
    }

    /// The member of the group as which the PE acted.
    fn of(self, member: &Member) -> PeId {
        let group = self.trace.groups().get(self.instance.group);
        group.map_or(member.pe, |group| group.member(member.pe, self.trace.main_of(member.pe)))
    }

    fn is_root(self, member: &Member) -> bool {
        self.of(member) == self.instance.root
    }

    /// On which side a member of the group is; 0 where there are no sides.
    fn side(self, pe: PeId) -> usize {
        self.sides().map_or(0, |sides| usize::from(!sides.first_contains(pe)))
    }

    /// Whether data goes between a member of a collective and its root.
    fn is_with_root(self, member: &Member) -> bool {
        let (pe, root) = (self.of(member), self.instance.root);
        pe != root && (self.sides().is_none() || self.side(pe) != self.side(root))
    }

    /// The latest gift of some members to one tie, and how many there are.
    fn latest(self, gives: impl Fn(&Member) -> bool) -> (Gift, u32) {
        self.members.iter().filter(|member| gives(member)).fold((NOTHING, 0), |(latest, count), member| {
            (if member.enter > latest.time || count == 0 { arrival(member) } else { latest }, count + 1)
        })
    }

    /// The latest gift of each tie, and how many give to it.
    fn gifts(self, shape: Shape) -> Vec<(Gift, u32)> {
        match shape {
            Shape::OneToAll => vec![self.latest(|member| self.is_root(member))],
            Shape::AllToOne => vec![self.latest(|member| self.is_with_root(member))],
            Shape::AllToAll => vec![self.latest(|_| true)],
            Shape::TwoGroups => (0..2).map(|side| self.latest(|member| self.side(self.of(member)) == side)).collect(),
            Shape::Scan => {
                let ranked = self.ranked();
                let so_far = ranked[..ranked.len() - 1].iter().scan(NOTHING, |latest, &at| {
                    let own = arrival(&self.members[at as usize]);
                    *latest = if own.time > latest.time || *latest == NOTHING { own } else { *latest };
                    Some((*latest, 1))
                });
                so_far.collect()
            }
            Shape::Nothing => Vec::new(),
        }
    }

    /// Positions of members in the order of their ranks.
    fn ranked(self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.members.len() as u32).collect();
        order.sort_by_cached_key(|at| self.rank(&self.members[*at as usize]));
        order
    }

    fn rank(self, member: &Member) -> Option<usize> {
        self.trace.groups().get(self.instance.group)?.members.rank(self.of(member))
    }

    /// When the last member came, if they are threads of a team, which run tasks while they wait.
    fn tasks_until(self) -> Option<Time> {
        let first = self.members.first()?;
        let is_team = self.trace.region_of(first.pe, first.wait.some()?).participants == Participants::Team;
        is_team.then(|| self.members.iter().map(|member| member.enter).max())?
    }

    /// Where a member waits for the others at last, if it ran tasks meanwhile: its operation ended with the first of them, before all had come.
    /// Linear in its operations until then.
    fn goes_on(self, member: &Member, until: Time) -> Option<Place> {
        if member.exit >= until || !member.wait.is_some() {
            return None;
        }
        let stream = &self.trace.streams()[member.pe];
        let paths = self.trace.paths();
        let tasks = |visit: VisitIx| {
            let around = paths.ancestors(stream.visits.path[visit.index()]);
            around.filter(|path| self.trace.regions()[paths.region(*path)].role == Role::TaskRun).count()
        };
        let own = tasks(member.wait);
        let next = stream.operations.partition_point(|visit| *visit <= member.wait);
        let outside = stream.operations[next..].iter().copied().filter(|visit| tasks(*visit) == own);
        let mut waits = outside.take_while(|visit| self.trace.role_of(member.pe, *visit) == Role::TaskWait).peekable();
        let mut last = None;
        while last.is_none_or(|visit: VisitIx| stream.visits.exit[visit.index()] < until) && waits.peek().is_some() {
            last = waits.next();
        }
        last.map(|visit| Place { pe: member.pe, visit })
    }

    /// The ends of some members, ties numbered from `first` on.
    fn ends(self, polls: &Polls, shape: Shape, first: u32, range: Range<usize>, mut each: impl FnMut(PeId, End)) {
        let tasks_until = self.tasks_until().filter(|_| shape == Shape::AllToAll);
        let arrives = |member: &Member, tie| End { time: member.enter, visit: member.start, tie, part: Part::Gives };
        let takes = |member: &Member, tie| {
            if let Some(wait) = tasks_until.and_then(|until| self.goes_on(member, until)) {
                return End { time: wait.enter(self.trace), visit: wait.visit, tie, part: Part::Takes };
            }
            let wait = Place { pe: member.pe, visit: member.wait };
            let started = if member.wait == member.start { None } else { Some(member.enter) };
            let first = started.and_then(|started| polls.of_request(self.trace, wait, started));
            let time = first.map_or(member.wait_enter, |visit| Place { visit, ..wait }.enter(self.trace));
            End { time, visit: first.unwrap_or(member.wait), tie, part: Part::Takes }
        };
        let rank_of = if shape == Shape::Scan { inverse(&self.ranked()) } else { Vec::new() };
        for (at, member) in self.members.iter().enumerate().take(range.end).skip(range.start) {
            let mut end = |end: End| each(member.pe, end);
            match shape {
                Shape::OneToAll | Shape::AllToOne => {
                    let gives = self.is_root(member) == (shape == Shape::OneToAll);
                    if self.is_root(member) || self.is_with_root(member) {
                        end(if gives { arrives(member, first) } else { takes(member, first) });
                    }
                }
                Shape::AllToAll => {
                    end(arrives(member, first));
                    end(takes(member, first));
                }
                Shape::TwoGroups => {
                    let side = self.side(self.of(member)) as u32;
                    end(arrives(member, first + side));
                    end(takes(member, first + 1 - side));
                }
                Shape::Scan => {
                    let rank = rank_of[at];
                    if rank > 0 {
                        end(takes(member, first + rank - 1));
                    }
                    if rank as usize + 1 < self.members.len() {
                        end(End { part: Part::PassesOn, ..takes(member, first + rank) });
                    }
                }
                Shape::Nothing => {}
            }
        }
    }
}

/// What a member gives when it arrives.
fn arrival(member: &Member) -> Gift {
    Gift { time: member.enter, place: Place { pe: member.pe, visit: member.start } }
}

/// Where each position is in an order.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    (0..).zip(order).for_each(|(place, at)| places[*at as usize] = place);
    places
}

/// How many ties a collective has.
fn ties(shape: Shape, members: usize) -> u32 {
    match shape {
        Shape::OneToAll | Shape::AllToOne | Shape::AllToAll => 1,
        Shape::TwoGroups => 2,
        Shape::Scan => members as u32 - 1,
        Shape::Nothing => 0,
    }
}

impl Maker<'_> {
    fn meeting(&self, instance: usize) -> Meeting<'_> {
        let collectives = &self.index.collectives;
        let instance = &collectives.instances[instance];
        Meeting { trace: self.trace, instance, members: collectives.members(instance) }
    }

    /// The ties of all collectives, without ends; returns the instance of each.
    pub(super) fn arrivals(&self, shapes: &[Shape], points: &mut Points) -> Vec<u32> {
        let numbered = shapes.par_iter().enumerate().with_min_len(256);
        let gifts: Vec<Vec<(u32, Gift, u32)>> = numbered
            .fold(Vec::new, |mut found, (instance, shape)| {
                let gifts = self.meeting(instance).gifts(*shape).into_iter();
                found.extend(gifts.map(|(gift, givers)| (instance as u32, gift, givers)));
                found
            })
            .collect();
        let mut instances = Vec::new();
        for (instance, gift, givers) in gifts.into_iter().flatten() {
            points.tie(gift, givers);
            instances.push(instance);
        }
        instances
    }

    /// The ends of collectives on PEs of a range, of which `ends` are; their ties begin at `first`.
    pub(super) fn members(&self, shapes: &[Shape], mut first: u32, range: Range<usize>, ends: &mut [Vec<End>]) {
        for (instance, shape) in shapes.iter().enumerate() {
            let meeting = self.meeting(instance);
            let begin = meeting.members.partition_point(|member| member.pe.index() < range.start);
            let count = meeting.members[begin..].partition_point(|member| member.pe.index() < range.end);
            meeting.ends(&self.index.polls, *shape, first, begin..begin + count, |pe, end| {
                ends[pe.index() - range.start].push(end);
            });
            first += ties(*shape, meeting.members.len());
        }
    }
}
