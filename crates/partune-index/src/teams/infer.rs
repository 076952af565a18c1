//! Teams of archives that do not name them.
//!
//! What is inferred is checked again where it is used: barriers of inferred teams count only if all members entered equally
//! many and nobody left before the last one came.

use partune_base::{CallPathId, GroupId, PeId, Time};
use partune_trace::{Role, Stream, Trace, VisitIx};

use super::{Fork, Found};
use crate::Place;

/// Forks without team events: the team is every thread of the process that began something between fork and join.
pub(super) fn from_visits(trace: &Trace, threads: &[PeId], found: &mut Found) {
    let mut unnamed: Vec<usize> = (0..found.forks.len()).filter(|fork| !found.forks[*fork].team.is_some()).collect();
    unnamed.sort_by_key(|fork| (found.forks[*fork].fork, found.forks[*fork].place.pe));
    let mut busy_until = Time::MIN;
    for index in unnamed {
        let fork = &mut found.forks[index];
        if fork.fork < busy_until {
            found.nested += 1;
            continue;
        }
        busy_until = fork.join;
        fork.inferred = true;
        for &pe in threads {
            if pe == fork.place.pe {
                fork.members.push((pe, fork.fork, fork.join));
            } else if let Some((begin, end)) = active(&trace.streams()[pe], fork.fork, fork.join) {
                fork.members.push((pe, begin, end));
            }
        }
        fork.members.sort_unstable();
    }
}

/// No forks at all: overlapping outermost parallel regions of the threads are one region, run by every thread that began
/// something in that time.
pub(super) fn from_regions(trace: &Trace, threads: &[PeId], found: &mut Found) {
    let mut regions: Vec<(Time, PeId, Time, VisitIx)> = Vec::new();
    for &pe in threads {
        outermost_parallel(trace, pe, &mut regions);
    }
    regions.sort_unstable();
    let mut rest = &regions[..];
    while let Some(&(begin, main, mut end, visit)) = rest.first() {
        let mut count = 1;
        while let Some(region) = rest.get(count).filter(|region| region.0 < end) {
            end = end.max(region.2);
            count += 1;
        }
        let members = members(trace, threads, &rest[..count], (begin, end));
        if members.len() > 1 {
            let place = Place { pe: main, visit };
            found.forks.push(Fork { place, fork: begin, join: end, team: GroupId::NONE, members, inferred: true });
        }
        rest = &rest[count..];
    }
}

/// The threads with a region among `regions`, or with anything else begun in the extent, in order of PE.
fn members(
    trace: &Trace,
    threads: &[PeId],
    regions: &[(Time, PeId, Time, VisitIx)],
    extent: (Time, Time),
) -> Vec<(PeId, Time, Time)> {
    let mut own: Vec<(PeId, Time, Time)> = regions.iter().map(|region| (region.1, region.0, region.2)).collect();
    own.sort_unstable();
    own.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.2 = first.2.max(next.2);
        }
        same
    });
    let mut threads = threads.to_vec();
    threads.sort_unstable();
    let has_own = |pe: &PeId| own.binary_search_by_key(pe, |member| member.0).is_ok();
    let others: Vec<(PeId, Time, Time)> = threads
        .iter()
        .filter(|pe| !has_own(pe))
        .filter_map(|&pe| active(&trace.streams()[pe], extent.0, extent.1).map(|(begin, end)| (pe, begin, end)))
        .collect();
    own.extend(others);
    own.sort_unstable();
    own
}

/// When a thread began its first and ended its last visit among those that begin in `[from, until]`.
fn active(stream: &Stream, from: Time, until: Time) -> Option<(Time, Time)> {
    let visits = &stream.visits;
    let first = visits.enter.partition_point(|enter| *enter < from);
    let after = visits.enter.partition_point(|enter| *enter <= until);
    let end = visits.exit.get(first..after)?.iter().max()?;
    Some((visits.enter[first], (*end).min(until)))
}

fn outermost_parallel(trace: &Trace, pe: PeId, regions: &mut Vec<(Time, PeId, Time, VisitIx)>) {
    let stream = &trace.streams()[pe];
    let is_parallel = |path: CallPathId| trace.regions()[trace.paths().region(path)].role == Role::Parallel;
    let mut until = Time::MIN;
    for (index, visit) in stream.visits.iter().enumerate() {
        if visit.enter >= until && is_parallel(visit.path) {
            regions.push((visit.enter, pe, visit.exit, VisitIx(index as u32)));
            until = visit.exit;
        }
    }
}
