//! The steps of collectives: who gives to whom and needs whom, by the shape of the operation. Part of [`crate::steps`].

use std::ops::Range;

use partune_base::Id;
use partune_trace::Role;

use crate::steps::{Order, Planner, Point, Points};

/// How a collective becomes slots: the first of its slots, or none if it does not count.
pub(crate) type FirstSlot = Option<u32>;

impl Planner<'_> {
    /// Gives each collective that counts its slots.
    pub(crate) fn collective_slots(&self, points: &mut Points) -> Vec<FirstSlot> {
        let collectives = &self.index.collectives;
        let slots = collectives.instances.iter().map(|instance| {
            let members = collectives.members(instance);
            let counts =
                self.between_processes.is_none() || members.iter().all(|member| self.counts(member.pe, member.start));
            let first = points.expected.len() as u32;
            let root = members.iter().any(|member| member.pe == instance.root);
            let count = members.len() as u32;
            if count < 2 || !counts {
                return None;
            }
            match shape(instance.role) {
                Shape::OneToAll if root => points.expected.push(1),
                Shape::AllToOne if root => points.expected.push(count - 1),
                Shape::OneToAll | Shape::AllToOne => return None,
                Shape::Scan => points.expected.extend(std::iter::repeat_n(1, members.len() - 1)),
                Shape::AllToAll => points.expected.push(count),
            }
            Some(first)
        });
        slots.collect()
    }

    /// The points of collectives on PEs of a range, of which `points` are.
    pub(crate) fn collectives(&self, slots: &[FirstSlot], range: Range<usize>, points: &mut [Vec<Point>]) {
        let collectives = &self.index.collectives;
        for (instance, first) in collectives.instances.iter().zip(slots) {
            let Some(first) = *first else { continue };
            let members = collectives.members(instance);
            let begin = members.partition_point(|member| member.pe.index() < range.start);
            let shape = shape(instance.role);
            for (at, member) in
                members.iter().enumerate().skip(begin).take_while(|(_, member)| member.pe.index() < range.end)
            {
                let points = &mut points[member.pe.index() - range.start];
                let arrives = |slot: u32| Point { time: member.enter, visit: member.start, slot, order: Order::Gives };
                let needs =
                    |slot: u32| Point { time: member.wait_enter, visit: member.wait, slot, order: Order::Needs };
                let is_root = member.pe == instance.root;
                match shape {
                    Shape::OneToAll | Shape::AllToOne => {
                        points.push(if is_root == (shape == Shape::OneToAll) { arrives(first) } else { needs(first) });
                    }
                    Shape::AllToAll => points.extend([arrives(first), needs(first)]),
                    Shape::Scan => {
                        if at > 0 {
                            points.push(needs(first + at as u32 - 1));
                        }
                        if at + 1 < members.len() {
                            points.push(Point { order: Order::GivesAfter, ..needs(first + at as u32) });
                        }
                    }
                }
            }
        }
    }
}

/// Who needs whom in a collective.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// All others need the root.
    OneToAll,
    /// The root needs all others.
    AllToOne,
    /// Each needs those before it.
    Scan,
    /// Each needs all.
    AllToAll,
}

fn shape(role: Role) -> Shape {
    if role == Role::OneToAll {
        Shape::OneToAll
    } else if role == Role::AllToOne {
        Shape::AllToOne
    } else if role == Role::Scan {
        Shape::Scan
    } else {
        Shape::AllToAll
    }
}
