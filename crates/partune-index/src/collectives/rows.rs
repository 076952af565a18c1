//! Parts that the archive gives as rows: the k-th of a group on each member, in the order of their starts.

use partune_base::{GroupId, Id, PeId, Time};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{Collective, GroupKind, NO_REQUEST, Participants, Role, Stream, Trace, VisitIx};
use rayon::prelude::*;

use super::Member;
use super::assemble::{Part, Set, Sets};
use crate::endpoints::{Endpoints, is_in};
use crate::requests::{collective_starts, operation_enter, operation_exit};

/// The parts of every endpoint, in order of PE. Makes one set a group, and one for each PE alone in its group.
pub(super) fn parts(trace: &Trace, endpoints: &Endpoints, sets: &mut Sets, quality: &mut Quality) -> Vec<Vec<Part>> {
    for (id, group) in trace.groups().iter_ids() {
        let size = if group.kind == GroupKind::SelfOnly { 1 } else { group.members.known() as u32 };
        sets.push(Set { group: id, size, fork: u32::MAX, inferred: false });
    }
    let found: Vec<Found> = (0..trace.pes().len())
        .into_par_iter()
        .map_init(
            || vec![0_u32; trace.groups().len()],
            |ordinals, pe| Reader { trace, endpoints }.endpoint(PeId::from_index(pe), ordinals),
        )
        .collect();

    let (mut unknown, mut lost) = (0, 0);
    let mut first_losses = Vec::with_capacity(found.len());
    let mut parts = Vec::with_capacity(found.len());
    for mut found in found {
        unknown += found.unknown;
        lost += found.lost;
        first_losses.push(found.first_lost);
        for part in &mut found.alone {
            let group = GroupId(part.set);
            let set = sets.push(Set { group, size: 1, fork: u32::MAX, inferred: false });
            (part.set, part.ordinal) = (set, 0);
        }
        found.parts.append(&mut found.alone);
        parts.push(found.parts);
    }
    drop_after_loss(&first_losses, &mut parts);
    quality.add(
        Diagnostic::data_loss(
            Code::UndefinedGroup,
            "collective operations on a group that the archive does not define",
            "the definitions of the archive are incomplete: record again, or keep all files of the archive together",
        )
        .times(unknown),
    );
    quality.add(
        Diagnostic::data_loss(
            Code::UncompletedCollectives,
            "non-blocking collective operations were started whose completion is not recorded",
            "the run was cut off or the recorder loses completions: record to the end",
        )
        .times(lost),
    );
    parts
}

/// What one endpoint took part in.
#[derive(Default)]
struct Found {
    /// In the order of their starts.
    parts: Vec<Part>,
    /// In groups of one PE; their set is the number of the group.
    alone: Vec<Part>,
    unknown: u64,
    lost: u64,
    first_lost: Option<Time>,
}

struct Reader<'a> {
    trace: &'a Trace,
    endpoints: &'a Endpoints,
}

impl Reader<'_> {
    /// Reads the rows of an endpoint. `ordinals` is scratch, one zero for each group, and is left so.
    fn endpoint(&self, endpoint: PeId, ordinals: &mut [u32]) -> Found {
        let mut found = Found::default();
        let pes = self.endpoints.pes(endpoint);
        let mut ordered = true;
        for &pe in pes {
            let is_here = |group| pe == endpoint || !is_in(self.trace, pe, group);
            ordered &= self.stream(pe, is_here, &mut found);
        }
        if self.endpoints.of(endpoint) != endpoint {
            ordered &= self.stream(endpoint, |group| is_in(self.trace, endpoint, group), &mut found);
        }
        if !ordered || pes.len() > 1 {
            found.parts.sort_by_key(|part| (part.member.enter, part.member.pe, part.member.start));
        }
        for part in &mut found.parts {
            part.ordinal = ordinals[part.set as usize];
            ordinals[part.set as usize] += 1;
        }
        for part in &found.parts {
            ordinals[part.set as usize] = 0;
        }
        found
    }

    /// Reads the rows of one PE on groups for which they are asked for; returns whether they are in the order of their starts.
    fn stream(&self, pe: PeId, is_here: impl Fn(GroupId) -> bool, found: &mut Found) -> bool {
        let stream = &self.trace.streams()[pe];
        let (start_of_row, unfinished) = collective_starts(stream);
        found.lost += unfinished.lost;
        found.first_lost = found.first_lost.into_iter().chain(unfinished.first_lost).min();
        let mut starts = start_of_row.iter().peekable();
        let mut notified: Vec<(GroupId, usize)> = Vec::new();
        for (index, row) in stream.collectives.iter().enumerate() {
            let start = starts.next_if(|(_, of)| *of == index as u32).map(|(event, _)| *event as usize);
            if !is_here(row.group) {
                continue;
            }
            let part = self.part(pe, stream, index, start);
            if self.is_among_named(pe, part.member.start) {
                // Its bytes count where it is; it brings nobody together.
            } else if !row.group.is_some() {
                found.unknown += 1;
            } else if self.trace.groups()[row.group].kind == GroupKind::SelfOnly {
                found.alone.push(part);
            } else if row.role == Role::GroupWait && row.request == NO_REQUEST {
                // The second half belongs to the last first half on the group.
                match notified.iter().rposition(|(group, _)| *group == row.group) {
                    Some(at) => {
                        let first = &mut found.parts[notified.swap_remove(at).1].member;
                        let second = part.member;
                        *first = Member { start: first.start, enter: first.enter, pe: first.pe, ..second };
                    }
                    None => found.parts.push(part),
                }
            } else {
                if row.role == Role::GroupNotify && row.request == NO_REQUEST {
                    notified.push((row.group, found.parts.len()));
                }
                found.parts.push(part);
            }
        }
        start_of_row.is_empty()
    }

    /// The part that a row tells of; `start` is the event that started it, if it was non-blocking.
    fn part(&self, pe: PeId, stream: &Stream, index: usize, start: Option<usize>) -> Part {
        let row = &stream.collectives[index];
        let paths = self.trace.paths();
        // An operation may hold several collectives (a window made with its communicator): its begin belongs to the first, its
        // end to the last.
        let alone = |other: Option<&Collective>| other.is_none_or(|other| other.visit != row.visit);
        let is_first = alone(index.checked_sub(1).map(|i| &stream.collectives[i]));
        let is_last = alone(stream.collectives.get(index + 1));
        let enter = operation_enter(stream, paths, row.visit).filter(|_| is_first).unwrap_or(row.begin);
        let exit = operation_exit(stream, paths, row.visit).filter(|_| is_last).unwrap_or(row.end).max(enter);
        let event = start.map(|event| &stream.requests[event]);
        let begun = event.map(|event| (event.visit, operation_enter(stream, paths, event.visit).unwrap_or(event.time)));
        let (start, announced) = begun.unwrap_or((row.visit, enter));
        let member =
            Member { pe, start, enter: announced, wait: row.visit, wait_enter: enter, exit, row: index as u32 };
        Part { set: row.group.0, ordinal: 0, role: self.shape(pe, start, row), root: row.root, kind: 0, member }
    }

    /// Whether what starts it meets only those that it names (a neighbourhood collective, SYNC IMAGES): that is no meeting of all.
    fn is_among_named(&self, pe: PeId, start: VisitIx) -> bool {
        start.is_some() && self.trace.region_of(pe, start).participants == Participants::Named
    }

    /// The role of the region that starts it, where that is collective; else that of the row.
    fn shape(&self, pe: PeId, start: VisitIx, row: &Collective) -> Role {
        let region = start.some().map(|start| self.trace.region_of(pe, start));
        let role = region.filter(|region| region.is_collective()).map_or(row.role, |region| region.role);
        match role {
            Role::GroupNotify | Role::GroupWait => Role::GroupSync,
            role => role,
        }
    }
}

/// A start whose completion is lost counted on a group that nobody knows. On groups where the PE has fewer parts than others,
/// what it started later may be out of step and is taken out.
fn drop_after_loss(first_losses: &[Option<Time>], parts: &mut [Vec<Part>]) {
    if first_losses.iter().all(Option::is_none) {
        return;
    }
    let sets = parts.iter().flatten().map(|part| part.set + 1).max().unwrap_or(0) as usize;
    let mut sizes = vec![0_u32; sets];
    for part in parts.iter().flatten() {
        sizes[part.set as usize] = sizes[part.set as usize].max(part.ordinal + 1);
    }
    let mut own = vec![0_u32; sets];
    for (parts, first_lost) in parts.iter_mut().zip(first_losses) {
        let Some(first_lost) = first_lost else { continue };
        for part in parts.iter() {
            own[part.set as usize] += 1;
        }
        let keep = |part: &Part| own[part.set as usize] == sizes[part.set as usize] || part.member.enter <= *first_lost;
        let kept: Vec<Part> = parts.iter().copied().filter(keep).collect();
        for part in parts.iter() {
            own[part.set as usize] = 0;
        }
        *parts = kept;
    }
}
