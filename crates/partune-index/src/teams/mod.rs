//! Teams of threads: which PEs ran a parallel region together, and who forked them.
//!
//! Three kinds of archives: fork and join with team events of every thread (Score-P since 1.3), fork and join only (OTF2 1.0),
//! and parallel regions without any such event (tools on OMPT). The last two are inferred from what ran when, and say so.

mod infer;

use partune_base::{GroupId, PeId, Time};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{PeKind, Process, Stream, TeamKind, Trace};
use rayon::prelude::*;

use crate::Place;

/// A parallel region: forked by one PE, run by a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Where it was forked: the visit around the fork event.
    pub place: Place,
    pub fork: Time,
    /// When it was joined; the end of the forking PE's stream if that is not recorded.
    pub join: Time,
    /// The team; none if the archive does not tell.
    pub team: GroupId,
    /// Its PEs with the time each began and ended its part, in order of PE.
    pub members: Vec<(PeId, Time, Time)>,
    /// Whether the members were inferred from what ran between fork and join, because the archive does not name them.
    pub inferred: bool,
}

/// All parallel regions in order of (fork, forking PE): about 80 bytes a region and 24 a member.
#[derive(Clone, Debug, Default)]
pub struct Teams {
    pub forks: Vec<Fork>,
}

impl Teams {
    pub(crate) fn build(trace: &Trace, quality: &mut Quality) -> Teams {
        let found: Vec<Found> = trace.processes().as_slice().par_iter().map(|process| find(trace, process)).collect();
        let mut teams = Teams::default();
        let (mut outside, mut nested) = (0, 0);
        for process in found {
            teams.forks.extend(process.forks);
            outside += process.outside;
            nested += process.nested;
        }
        teams.forks.sort_by_key(|fork| (fork.fork, fork.place.pe));
        quality.add(
            Diagnostic::data_loss(
                Code::UnknownTeams,
                "threads took part in a team whose fork is not recorded; barriers of such teams are not analysed",
                "record the whole run, with fork and join events",
            )
            .times(outside),
        );
        quality.add(
            Diagnostic::data_loss(
                Code::NestedTeams,
                "nested parallel regions without record of their teams are not analysed",
                "record with a tool that writes team events (Score-P with OPARI2 or its OMPT adapter of version 8 and later)",
            )
            .times(nested),
        );
        teams
    }
}

/// The parallel regions of one process.
#[derive(Default)]
struct Found {
    forks: Vec<Fork>,
    /// Parts in teams that nobody forked.
    outside: u64,
    /// Nested regions that could not be told apart.
    nested: u64,
}

/// One thread's part in a team.
#[derive(Clone, Copy)]
struct Part {
    team: GroupId,
    begin: Time,
    pe: PeId,
    end: Time,
}

fn find(trace: &Trace, process: &Process) -> Found {
    let threads: Vec<PeId> = process
        .pes
        .iter()
        .copied()
        .filter(|pe| trace.pes().get(*pe).is_some_and(|about| about.kind == PeKind::Cpu))
        .filter(|pe| !trace.streams()[*pe].visits.is_empty() || !trace.streams()[*pe].teams.is_empty())
        .collect();
    let mut found = Found::default();
    let mut parts: Vec<Part> = Vec::new();
    for &pe in &threads {
        read_events(pe, &trace.streams()[pe], &mut found.forks, &mut parts);
    }
    if found.forks.is_empty() {
        if threads.len() > 1 {
            infer::from_regions(trace, &threads, &mut found);
        }
        return found;
    }
    assign(parts, &mut found);
    infer::from_visits(trace, &threads, &mut found);
    found
}

/// Forks and parts of one thread, from its team events.
fn read_events(pe: PeId, stream: &Stream, forks: &mut Vec<Fork>, parts: &mut Vec<Part>) {
    let end = stream.end().unwrap_or_default();
    let (mut open_forks, mut open_parts): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for event in &stream.teams {
        match event.kind {
            TeamKind::Fork => {
                open_forks.push(forks.len());
                forks.push(Fork {
                    place: Place { pe, visit: event.visit },
                    fork: event.time,
                    join: end.max(event.time),
                    team: GroupId::NONE,
                    members: Vec::new(),
                    inferred: false,
                });
            }
            TeamKind::Join => {
                if let Some(fork) = open_forks.pop() {
                    forks[fork].join = event.time.max(forks[fork].fork);
                }
            }
            TeamKind::TeamBegin => {
                // The forking thread begins its part right after the fork: that names the team.
                if let Some(fork) = open_forks.last().map(|fork| &mut forks[*fork]).filter(|fork| !fork.team.is_some())
                {
                    fork.team = event.group;
                }
                open_parts.push(parts.len());
                parts.push(Part { team: event.group, begin: event.time, pe, end: end.max(event.time) });
            }
            TeamKind::TeamEnd => {
                if let Some(at) = open_parts.iter().rposition(|part| parts[*part].team == event.group) {
                    parts[open_parts[at]].end = event.time;
                    open_parts.truncate(at);
                }
            }
            TeamKind::Create | TeamKind::Begin | TeamKind::Wait | TeamKind::End => {}
        }
    }
}

/// Gives every part to the last fork of its team before it.
fn assign(mut parts: Vec<Part>, found: &mut Found) {
    parts.retain(|part| part.team.is_some());
    parts.sort_by_key(|part| (part.team, part.begin, part.pe));
    let mut order: Vec<usize> = (0..found.forks.len()).filter(|fork| found.forks[*fork].team.is_some()).collect();
    order.sort_by_key(|fork| (found.forks[*fork].team, found.forks[*fork].fork));
    let mut next = 0;
    for part in parts {
        let before = |fork: &Fork| (fork.team, fork.fork) <= (part.team, part.begin);
        while next < order.len() && before(&found.forks[order[next]]) {
            next += 1;
        }
        let fork = next.checked_sub(1).map(|last| &mut found.forks[order[last]]);
        match fork.filter(|fork| fork.team == part.team && part.begin <= fork.join) {
            Some(fork) => fork.members.push((part.pe, part.begin, part.end.min(fork.join.max(part.begin)))),
            None => found.outside += 1,
        }
    }
    for fork in &mut found.forks {
        fork.members.sort_unstable();
        fork.members.dedup_by_key(|member| member.0);
    }
}
