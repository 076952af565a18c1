//! Joins the segments of a location into one stream.
//!
//! In steps, so that the long ones run in parallel over locations: [`join`] walks the segments in order with the real call
//! stack, closes what they left open and resolves their paths to those of the location (cost: segments × paths);
//! [`Joined::weave`] adds visits of functions that are known from calling contexts only; when the paths of all locations are
//! known, [`Joined::assemble`] concatenates columns and resolves rows (linear).

use partune_base::{CallPathId, Time};
use partune_trace::{CallSite, Pause, PauseKind, Stream, VisitIx, Visits};
use rustc_hash::FxHashMap;

use crate::codec::Damage;

use super::addresses::Addresses;
use super::contexts::Contexts;
use super::resolve::{Resolver, UNKNOWN_BEGIN};
use super::segment::{Faults, Parent, RegionKey, Segment};
use super::weave::{Called, Recorded, Woven, WovenPath, weave};

/// A path of a location: parent (a position in the same list, smaller) and region.
pub(super) type LocationPath = (Option<u32>, RegionKey);

/// The segments of a location, with the stack known.
#[derive(Default)]
pub(super) struct Joined {
    segments: Vec<Resolved>,
    /// What was lost of its event file.
    pub(super) damage: Damage,
    /// Why some of that file could not be read.
    pub(super) unread: Option<String>,
    paths: Vec<LocationPath>,
    /// The visits with those of functions, if calling contexts tell of any.
    woven: Option<Woven>,
    pub(super) faults: Faults,
    pub(super) times: Option<(Time, Time)>,
}

/// A segment whose base is known.
struct Resolved {
    segment: Segment,
    /// Path of the location for each node of the segment.
    paths: Vec<u32>,
    /// Visit of the location for each visit of the stack at its begin, innermost first.
    base: Vec<VisitIx>,
    /// Number of visits in the segments before.
    offset: u32,
    /// A collective that began before the segment.
    collective_begin: Option<Time>,
}

/// A visit that is open.
#[derive(Clone, Copy)]
struct Open {
    visit: VisitIx,
    path: u32,
}

/// Walks the segments with the real stack; `None` if they are irregular and must be decoded again as one.
pub(super) fn join(segments: Vec<Segment>) -> Option<Joined> {
    let mut joined = Joined::default();
    let mut known: FxHashMap<(Option<u32>, RegionKey), u32> = FxHashMap::default();
    let mut stack: Vec<Open> = Vec::new();
    let mut offset = 0;
    let mut collective_begin = None;
    let mut paused: Option<Time> = None;
    for mut segment in segments {
        let backwards = matches!((segment.times, joined.times), (Some((first, _)), Some((_, last))) if first < last);
        if segment.irregular || (backwards && !joined.segments.is_empty()) {
            return None;
        }
        if let Some((first, last)) = segment.times {
            joined.times = Some((joined.times.map_or(first, |(first, _)| first), last));
        }
        joined.faults.add(segment.faults);
        let base: Vec<Open> = stack.iter().rev().copied().collect();

        let mut paths: Vec<u32> = Vec::with_capacity(segment.nodes.len());
        for node in &segment.nodes {
            let parent = match node.parent {
                Parent::Node(node) => Some(paths[node as usize]),
                Parent::Base(k) => base.get(k as usize).map(|open| open.path),
            };
            let path = *known.entry((parent, node.region)).or_insert_with(|| {
                joined.paths.push((parent, node.region));
                joined.paths.len() as u32 - 1
            });
            paths.push(path);
        }

        for (time, region) in std::mem::take(&mut segment.closes) {
            let Some(open) = stack.pop() else {
                joined.faults.stray_leaves += 1;
                continue;
            };
            if joined.paths[open.path as usize].1 != region {
                return None;
            }
            close(&mut joined.segments, open.visit, time);
        }
        stack.extend(segment.open.iter().map(|visit| Open {
            visit: VisitIx(visit.0 + offset),
            path: paths[segment.stream.visits.path[visit.index()].0 as usize],
        }));

        if let (Some(begin), Some(end)) = (paused, segment.resumed) {
            segment.stream.pauses.insert(0, Pause { begin, end, kind: PauseKind::Off });
            paused = None;
        }
        paused = paused.or(segment.paused);
        let visits = segment.stream.visits.len() as u32;
        let pending = segment.collective_begin;
        let ends_one = !segment.stream.collectives.is_empty();
        let base = base.into_iter().map(|open| open.visit).collect();
        joined.segments.push(Resolved { segment, paths, base, offset, collective_begin });
        collective_begin = pending.or(if ends_one { None } else { collective_begin });
        offset = offset.checked_add(visits)?;
    }
    let last = joined.times.map_or(Time::ZERO, |(_, last)| last);
    joined.faults.missing_leaves += stack.len() as u64;
    for open in stack {
        close(&mut joined.segments, open.visit, last);
    }
    if let (Some(begin), Some(resolved)) = (paused, joined.segments.last_mut()) {
        resolved.segment.stream.pauses.push(Pause { begin, end: last, kind: PauseKind::Off });
    }
    Some(joined)
}

/// Sets the exit of an open visit.
fn close(segments: &mut [Resolved], visit: VisitIx, time: Time) {
    let at = segments.partition_point(|resolved| resolved.offset <= visit.0);
    // Empty segments share their offset with the next one; the last of them holds the visit.
    if let Some(resolved) = at.checked_sub(1).and_then(|at| segments.get_mut(at)) {
        resolved.segment.stream.visits.exit[(visit.0 - resolved.offset) as usize] = time;
    }
}

impl Joined {
    /// Number of event records.
    pub(super) fn events(&self) -> u64 {
        self.segments.iter().map(|resolved| resolved.segment.stream.events).sum()
    }

    /// Adds the visits of functions, if enters named calling contexts.
    pub(super) fn weave(&mut self, contexts: &Contexts, resolver: &Resolver<'_>) {
        if self.segments.iter().all(|resolved| resolved.segment.called.is_empty()) {
            return;
        }
        let mut depths: Vec<u32> = Vec::with_capacity(self.paths.len());
        for (parent, _) in &self.paths {
            depths.push(parent.map_or(0, |parent| depths[parent as usize] + 1));
        }
        let regions: Vec<_> = self.paths.iter().map(|(_, region)| resolver.region(*region)).collect();
        let of_segment = |resolved: &Resolved| -> Vec<Recorded> {
            let visits = resolved.segment.stream.visits.iter().map(|visit| {
                let path = resolved.paths[visit.path.0 as usize] as usize;
                Recorded { enter: visit.enter, exit: visit.exit, region: regions[path], depth: depths[path] }
            });
            visits.collect()
        };
        let recorded: Vec<Recorded> = self.segments.iter().flat_map(of_segment).collect();
        let called = self.segments.iter().flat_map(|resolved| {
            let offset = resolved.offset;
            resolved.segment.called.iter().map(move |it| Called { visit: VisitIx(it.visit.0 + offset), ..*it })
        });
        self.woven = Some(weave(&recorded, &called.collect::<Vec<_>>(), contexts));
    }

    /// The paths of the location in terms of the trace.
    pub(super) fn paths_of_trace(&self, resolver: &Resolver<'_>) -> Vec<WovenPath> {
        match &self.woven {
            Some(woven) => woven.paths.clone(),
            None => self.paths.iter().map(|(up, region)| (*up, resolver.region(*region), CallSite::NONE)).collect(),
        }
    }

    /// One stream of all segments. `paths` gives the path of the trace for each path of the location.
    pub(super) fn assemble(self, paths: &[CallPathId], resolver: &Resolver<'_>) -> (Stream, Addresses) {
        let moved = self.woven.as_ref().map(|woven| woven.moved.as_slice());
        let recorded: usize = self.segments.iter().map(|resolved| resolved.segment.stream.visits.len()).sum();
        let total = if moved.is_some() { 0 } else { recorded };
        let mut all: Option<Stream> = None;
        let mut addresses = Addresses::default();
        for resolved in self.segments {
            let (stream, told) = resolved.finish(paths, resolver, moved);
            addresses.append(told, all.as_ref().map_or(0, |all| all.transfers.len()));
            match &mut all {
                None => {
                    let mut stream = stream;
                    let more = total - stream.visits.len();
                    stream.visits.enter.reserve_exact(more);
                    stream.visits.exit.reserve_exact(more);
                    stream.visits.path.reserve_exact(more);
                    all = Some(stream);
                }
                Some(all) => append(all, stream),
            }
        }
        let mut stream = all.unwrap_or_default();
        if let Some(woven) = self.woven {
            stream.visits = woven.visits;
            stream.visits.path.iter_mut().for_each(|path| *path = paths[path.0 as usize]);
        }
        for row in &mut stream.collectives {
            if row.begin == UNKNOWN_BEGIN {
                row.begin = stream.visits.get(row.visit).map_or(row.end, |visit| visit.enter);
            }
        }
        shrink(&mut stream);
        (stream, addresses)
    }
}

impl Resolved {
    /// The segment's stream in terms of the trace; without visits if they have `moved`.
    fn finish(self, paths: &[CallPathId], resolver: &Resolver<'_>, moved: Option<&[VisitIx]>) -> (Stream, Addresses) {
        let Resolved { segment, paths: nodes, base, offset, collective_begin } = self;
        let (mut stream, mut told) = (segment.stream, segment.addresses);
        told.units.retain_mut(|(window, _)| resolver.window(*window).map(|known| *window = known).is_some());
        let recorded = |visit| match Segment::as_base(visit) {
            Some(k) => base.get(k).copied().unwrap_or(VisitIx::NONE),
            None if visit.is_some() => VisitIx(visit.0 + offset),
            None => visit,
        };
        if let Some(moved) = moved {
            stream.visits = Visits::default();
            let moved = |visit| moved.get(recorded(visit).index()).copied().unwrap_or(VisitIx::NONE);
            told.entered.iter_mut().for_each(|(visit, _)| *visit = moved(*visit));
            resolver.rows(&mut stream, &segment.on_windows, &moved);
        } else {
            let of_node: Vec<CallPathId> = nodes.iter().map(|path| paths[*path as usize]).collect();
            for path in &mut stream.visits.path {
                *path = of_node[path.0 as usize];
            }
            told.entered.iter_mut().for_each(|(visit, _)| *visit = recorded(*visit));
            resolver.rows(&mut stream, &segment.on_windows, &recorded);
        }
        if let (Some(begin), Some(first)) = (collective_begin, stream.collectives.first_mut())
            && first.begin == UNKNOWN_BEGIN
        {
            first.begin = begin;
        }
        (stream, told)
    }
}

/// Appends the rows of a later segment.
fn append(all: &mut Stream, mut more: Stream) {
    all.events += more.events;
    all.visits.enter.append(&mut more.visits.enter);
    all.visits.exit.append(&mut more.visits.exit);
    all.visits.path.append(&mut more.visits.path);
    all.sends.append(&mut more.sends);
    all.recvs.append(&mut more.recvs);
    all.requests.append(&mut more.requests);
    all.collectives.append(&mut more.collectives);
    all.transfers.append(&mut more.transfers);
    all.completions.append(&mut more.completions);
    all.rma_syncs.append(&mut more.rma_syncs);
    all.locks.append(&mut more.locks);
    all.teams.append(&mut more.teams);
    all.tasks.append(&mut more.tasks);
    all.metrics.append(&mut more.metrics);
    all.io.append(&mut more.io);
    all.pauses.append(&mut more.pauses);
}

/// Gives back what growing vectors took in excess.
fn shrink(stream: &mut Stream) {
    stream.visits.enter.shrink_to_fit();
    stream.visits.exit.shrink_to_fit();
    stream.visits.path.shrink_to_fit();
    stream.sends.shrink_to_fit();
    stream.recvs.shrink_to_fit();
    stream.requests.shrink_to_fit();
    stream.collectives.shrink_to_fit();
    stream.transfers.shrink_to_fit();
    stream.completions.shrink_to_fit();
    stream.metrics.shrink_to_fit();
}
