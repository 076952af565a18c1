//! Where not all of a run was recorded: whose k-th operation of a group is the same.
//!
//! A PE may have begun an operation before the first event that it has, and others not; and it may have left one more than others when its recording
//! ended. So operations are counted anew in each stretch of recording: each member is moved against the one that has most, to where as few as possible are
//! impossible of those that begin or end together, or at the same time. Nobody leaves an operation that synchronises before the last one
//! came, nobody gets what the root has not begun to give, and those that act together do the same.

use std::cmp::Reverse;

use partune_base::{PeId, Time};
use partune_trace::{Role, Trace};

use super::assemble::Part;
use crate::stretches::Stretches;

/// Where a part is, in order of what it belongs to: set, stretch, member, and its position there.
type Place = (u32, u32, u32, u32);

/// Numbers the parts of those sets anew of which members have different numbers of parts in a stretch, or somebody would have left an operation before the
/// last one came. Linear, but for sorting and moving those.
pub(super) fn align(trace: &Trace, stretches: &Stretches, parts: &mut [Vec<Part>]) {
    let odd = odd(parts);
    let mut places: Vec<Place> = Vec::new();
    for (member, parts) in (0..).zip(&*parts) {
        for (position, part) in (0..).zip(parts).filter(|(_, part)| odd[part.set as usize]) {
            places.push((part.set, stretches.at(part.member.pe, part.member.enter), member, position));
        }
    }
    places.sort_unstable();
    for set in places.chunk_by(|a, b| a.0 == b.0) {
        let mut next = 0;
        for stretch in set.chunk_by(|a, b| a.1 == b.1) {
            let members: Vec<&[Place]> = stretch.chunk_by(|a, b| a.2 == b.2).collect();
            let moves = moves(trace, parts, &members);
            let first = moves.iter().min().map_or(0, |least| -least);
            let mut end = next;
            for (places, by) in members.iter().zip(&moves) {
                for (ordinal, place) in (next + (first + by) as u32..).zip(*places) {
                    parts[place.2 as usize][place.3 as usize].ordinal = ordinal;
                    end = end.max(ordinal + 1);
                }
            }
            next = end;
        }
    }
}

/// The sets whose members do not all have as many parts, or of which somebody left an operation before the last one came.
fn odd(parts: &[Vec<Part>]) -> Vec<bool> {
    let sets = parts.iter().flatten().map(|part| part.set as usize + 1).max().unwrap_or(0);
    let mut sizes = vec![0_u32; sets];
    for part in parts.iter().flatten() {
        sizes[part.set as usize] = sizes[part.set as usize].max(part.ordinal + 1);
    }
    let mut firsts = vec![0; sets + 1];
    for (set, size) in sizes.iter().enumerate() {
        firsts[set + 1] = firsts[set] + *size as usize;
    }
    let mut counts = vec![0_u32; firsts[sets]];
    let mut spans = vec![(Time::MIN, Time::MAX); firsts[sets]];
    for part in parts.iter().flatten() {
        let at = firsts[part.set as usize] + part.ordinal as usize;
        counts[at] += 1;
        if synchronises(part.role) {
            spans[at] = (spans[at].0.max(part.member.enter), spans[at].1.min(part.member.exit));
        }
    }
    let is_odd = |set: usize| {
        let own = firsts[set]..firsts[set + 1];
        counts[own.clone()].windows(2).any(|two| two[0] != two[1])
            || spans[own].iter().any(|(last_enter, first_exit)| first_exit < last_enter)
    };
    (0..sets).map(is_odd).collect()
}

fn synchronises(role: Role) -> bool {
    matches!(role, Role::GroupSync | Role::AllToAll)
}

/// By how many operations each member's first part in a stretch comes after that of the member with most.
fn moves(trace: &Trace, parts: &[Vec<Part>], members: &[&[Place]]) -> Vec<i64> {
    let part = |place: &Place| &parts[place.2 as usize][place.3 as usize];
    let Some((longest, reference)) = members.iter().enumerate().max_by_key(|(at, places)| (places.len(), Reverse(*at)))
    else {
        return Vec::new();
    };
    let best = |places: &[Place]| -> i64 {
        let behind = reference.len() as i64 - places.len() as i64;
        let from_begin_or_end = if trace.begins_late() { [behind, 0] } else { [0, behind] };
        // Where first and last are at the same time as one of the others'.
        let at_once = [0, places.len() - 1].into_iter().flat_map(|at| {
            let own = &part(&places[at]).member;
            let first = reference.partition_point(|place| part(place).member.exit < own.enter);
            let end = reference.partition_point(|place| part(place).member.enter <= own.exit);
            (first.saturating_sub(1)..=end).map(move |other| other as i64 - at as i64)
        });
        let tried = from_begin_or_end.into_iter().chain(at_once);
        let impossible = |by: &i64| {
            let (own, other) = ((-by).max(0) as usize, (*by).max(0) as usize);
            let met = places.iter().skip(own).zip(reference.iter().skip(other));
            met.filter(|(a, b)| !may_be_one(part(a), part(b))).count()
        };
        tried.min_by_key(impossible).unwrap_or(0)
    };
    members.iter().enumerate().map(|(at, places)| if at == longest { 0 } else { best(places) }).collect()
}

/// Whether two parts may be of one operation.
fn may_be_one(a: &Part, b: &Part) -> bool {
    let roots_differ = a.root.is_some() && b.root.is_some() && a.root != b.root;
    if a.role != b.role || a.kind != b.kind || roots_differ {
        return false;
    }
    let root = if a.root.is_some() { a.root } else { b.root };
    let is_root = |part: &Part| root != PeId::NONE && part.member.pe == root;
    // Whether what the first one does ends before the other one does anything.
    let before = |a: &Part, b: &Part| a.member.exit < b.member.enter;
    match a.role {
        role if synchronises(role) => !before(a, b) && !before(b, a),
        Role::OneToAll => !(is_root(a) && before(b, a) || is_root(b) && before(a, b)),
        Role::AllToOne => !(is_root(a) && before(a, b) || is_root(b) && before(b, a)),
        _ => true,
    }
}
