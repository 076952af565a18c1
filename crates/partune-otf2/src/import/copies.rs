//! Visits of copies: what a stream of a device moved, where the recorder wrote it as accesses to memory outside of all regions.
//!
//! Score-P writes a copy as a put or get of the stream and its completion, and nothing around them. So that a copy is time like a
//! kernel is, it gets a visit from one to the other. A stream does one thing after the other: what overlaps a visit or another
//! copy, or has no completion, gets none. These visits are no events and are not counted as such.

use partune_base::CallPathId;
use partune_base::{Id, PeId, StringId, Time};
use partune_trace::{
    CallSite, Completion, PeKind, Region, RmaCompletionKind, RmaTransferKind, Role, Stream, TraceBuilder, Visit,
    VisitIx, Visits,
};
use rayon::prelude::*;

/// A copy: when, and its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Copied {
    begin: Time,
    end: Time,
    role: Role,
    transfer: usize,
    completion: usize,
}

/// Adds visits of copies to the streams of devices.
pub(super) fn add(builder: &mut TraceBuilder) {
    let mut streams = std::mem::take(&mut builder.streams).into_vec();
    let is_device = |pe: usize| builder.pes[PeId::from_index(pe)].kind == PeKind::Accelerator;
    let copies: Vec<Vec<Copied>> = streams
        .par_iter()
        .enumerate()
        .map(|(pe, stream)| if is_device(pe) { find(stream) } else { Vec::new() })
        .collect();
    for role in [Role::Put, Role::Get] {
        let first = copies.iter().zip(streams.iter()).find_map(|(copies, stream)| {
            copies.iter().find(|copy| copy.role == role).map(|copy| stream.transfers[copy.transfer].window)
        });
        let Some(window) = first else { continue };
        let group = builder.windows.get(window).map(|window| window.group);
        let paradigm = group.and_then(|group| builder.groups.get(group)).map_or(StringId::NONE, |it| it.paradigm);
        let path = path(builder, role, paradigm);
        for (copies, stream) in copies.iter().zip(streams.iter_mut()) {
            // One kind after the other: rows keep their places, visits are found anew.
            insert(stream, copies.iter().filter(|copy| copy.role == role), path);
        }
    }
    builder.streams = streams.into();
}

/// The call path of copies in one direction.
fn path(builder: &mut TraceBuilder, role: Role, paradigm: StringId) -> CallPathId {
    let text = if role == Role::Put { "copy from the device" } else { "copy to the device" };
    let name = builder.strings.intern(text);
    let paradigm = if paradigm.is_some() { paradigm } else { builder.strings.intern("device") };
    let construct = Region::of_construct(name, paradigm, role);
    let region = builder.regions.push(Region { completion: Completion::NonBlocking, ..construct });
    builder.paths.push_at(CallPathId::NONE, region, CallSite::NONE)
}

/// The copies of a stream that can have visits, in order. Linear.
fn find(stream: &Stream) -> Vec<Copied> {
    let mut copies: Vec<Copied> = Vec::new();
    let (mut next, mut visit, mut busy) = (0, 0, Time::MIN);
    for (index, row) in stream.transfers.iter().enumerate() {
        let role = match row.kind {
            RmaTransferKind::Put => Role::Put,
            RmaTransferKind::Get => Role::Get,
            RmaTransferKind::Atomic => continue,
        };
        while stream.completions.get(next).is_some_and(|it| it.time < row.time) {
            next += 1;
        }
        let limit = stream.transfers.get(index + 1).map_or(Time::MAX, |row| row.time);
        let same = |it: &partune_trace::RmaCompletion| {
            (it.window, it.matching) == (row.window, row.matching) && it.kind != RmaCompletionKind::Tested
        };
        let until = stream.completions[next..].iter().take_while(|it| it.time <= limit).position(same);
        let Some(completion) = until.map(|at| next + at) else { continue };
        let (begin, end) = (row.time, stream.completions[completion].time);
        while stream.visits.enter.get(visit).is_some_and(|enter| *enter < end) {
            busy = busy.max(stream.visits.exit[visit]);
            visit += 1;
        }
        let is_outside = !row.visit.is_some() && !stream.completions[completion].visit.is_some();
        if is_outside && begin < end && busy <= begin {
            copies.push(Copied { begin, end, role, transfer: index, completion });
            busy = end;
        }
    }
    copies
}

/// Puts visits of copies between those of a stream, which they do not overlap.
fn insert<'a>(stream: &mut Stream, copies: impl Iterator<Item = &'a Copied>, path: CallPathId) {
    let mut copies = copies.peekable();
    if copies.peek().is_none() {
        return;
    }
    let old = std::mem::take(&mut stream.visits);
    let (mut visits, mut moved, mut added) = (Visits::default(), Vec::with_capacity(old.len()), Vec::new());
    for visit in old.iter() {
        while let Some(copy) = copies.next_if(|copy| copy.begin < visit.enter) {
            added.push((*copy, visits.push(Visit { enter: copy.begin, exit: copy.end, path })));
        }
        moved.push(visits.push(visit));
    }
    for copy in copies {
        added.push((*copy, visits.push(Visit { enter: copy.begin, exit: copy.end, path })));
    }
    stream.visits = visits;
    stream.map_visits(|visit| moved.get(visit.index()).copied().unwrap_or(VisitIx::NONE));
    for (copy, visit) in added {
        stream.transfers[copy.transfer].visit = visit;
        stream.completions[copy.completion].visit = visit;
    }
}
