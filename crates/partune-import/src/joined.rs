//! Joins the segments of a PE into one stream.
//!
//! In steps, so that the long ones run in parallel over PEs: [`join`] walks the segments in order with the real call
//! stack, closes what they left open and resolves their paths to those of the PE (cost: segments × paths); a source may put other visits in
//! the place of the recorded ones ([`Joined::replace`]); when the paths of all PEs are known, [`Joined::assemble`] concatenates
//! columns (linear).

use partune_base::{CallPathId, RegionId, Time};
use partune_trace::{CallSite, Stream, Visit, VisitIx, Visits};
use rustc_hash::FxHashMap;

use crate::replaced::{PePath, Recorded, Replaced};
use crate::segment::{Beside, Faults, RegionKey, Segment};
use crate::tree::Parent;

/// A path of a PE as events name it: parent (a position in the same list, smaller) and region.
type RecordedPath = (Option<u32>, RegionKey);

/// The begin of a collective that is that of the visit it ends in.
pub const UNKNOWN_BEGIN: Time = Time::MIN;

/// The segments of a PE, with the stack known.
#[derive(Default)]
pub struct Joined<B> {
    segments: Vec<Resolved<B>>,
    paths: Vec<RecordedPath>,
    replaced: Option<Replaced>,
    /// When recording was switched on (true) and off.
    pub(crate) switches: Vec<(Time, bool)>,
    pub faults: Faults,
    open: Vec<VisitIx>,
    pub(crate) times: Option<(Time, Time)>,
}

/// A segment whose base is known.
struct Resolved<B> {
    segment: Segment<B>,
    /// Path of the PE for each node of the segment.
    paths: Vec<u32>,
    /// Visit of the PE for each visit of the stack at its begin, innermost first.
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
pub(crate) fn join<B: Beside>(segments: Vec<Segment<B>>) -> Option<Joined<B>> {
    let mut joined = Joined::default();
    let mut known: FxHashMap<(Option<u32>, RegionKey), u32> = FxHashMap::default();
    let mut stack: Vec<Open> = Vec::new();
    let mut offset = 0;
    let mut collective_begin = None;
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
            let path = *known.entry((parent, node.step)).or_insert_with(|| {
                joined.paths.push((parent, node.step));
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

        joined.switches.append(&mut segment.switches);
        let visits = segment.stream.visits.len() as u32;
        let pending = segment.collective_begin;
        let ends_one = !segment.stream.collectives.is_empty();
        let base = base.into_iter().map(|open| open.visit).collect();
        joined.segments.push(Resolved { segment, paths, base, offset, collective_begin });
        collective_begin = pending.or(if ends_one { None } else { collective_begin });
        offset = offset.checked_add(visits)?;
    }
    let last = joined.times.map_or(Time::ZERO, |(_, last)| last);
    joined.open = stack.iter().map(|open| open.visit).collect();
    joined.faults.missing_leaves += joined.open.len() as u64;
    for open in &joined.open {
        close(&mut joined.segments, *open, last);
    }
    Some(joined)
}

/// Sets the exit of an open visit.
fn close<B>(segments: &mut [Resolved<B>], visit: VisitIx, time: Time) {
    let at = segments.partition_point(|resolved| resolved.offset <= visit.0);
    // Empty segments share their offset with the next one; the last of them holds the visit.
    if let Some(resolved) = at.checked_sub(1).and_then(|at| segments.get_mut(at)) {
        resolved.segment.stream.visits.exit[(visit.0 - resolved.offset) as usize] = time;
    }
}

impl<B: Beside> Joined<B> {
    /// Number of event records.
    pub fn events(&self) -> u64 {
        self.segments.iter().map(|resolved| resolved.segment.stream.events).sum()
    }

    /// The visits that nothing ended, outermost first; they are among [`Faults::missing_leaves`].
    pub fn open(&self) -> &[VisitIx] {
        &self.open
    }

    /// The same among the visits that are in the trace.
    pub(crate) fn going_on(&self) -> Vec<VisitIx> {
        self.replaced.as_ref().map_or(&self.open, |replaced| &replaced.open).clone()
    }

    /// The first and the last time; none without events.
    pub fn times(&self) -> Option<(Time, Time)> {
        self.times
    }

    /// What the reader kept of each segment, with the number of visits before it.
    pub fn beside(&self) -> impl Iterator<Item = (&B, u32)> {
        self.segments.iter().map(|resolved| (&resolved.segment.beside, resolved.offset))
    }

    /// All recorded visits; `region` knows what events name.
    pub fn recorded(&self, region: impl Fn(RegionKey) -> RegionId) -> Vec<Recorded> {
        let mut of_paths: Vec<(RegionId, u32)> = Vec::with_capacity(self.paths.len());
        for (parent, key) in &self.paths {
            let depth = parent.map_or(0, |parent| of_paths[parent as usize].1 + 1);
            of_paths.push((region(*key), depth));
        }
        let of_segment = |resolved: &Resolved<B>| -> Vec<Recorded> {
            let recorded = |visit: Visit| {
                let (region, depth) = of_paths[resolved.paths[visit.path.0 as usize] as usize];
                Recorded { enter: visit.enter, exit: visit.exit, region, depth }
            };
            resolved.segment.stream.visits.iter().map(recorded).collect()
        };
        self.segments.iter().flat_map(of_segment).collect()
    }

    /// The paths of the PE as events name them; none if its visits were replaced.
    pub(crate) fn recorded_paths(&self) -> &[RecordedPath] {
        if self.replaced.is_some() { &[] } else { &self.paths }
    }

    /// Puts others in the place of the recorded visits.
    pub fn replace(&mut self, replaced: Replaced) {
        self.replaced = Some(replaced);
    }

    /// The paths of the PE in terms of the trace, and whether a visit of each was recorded.
    pub(crate) fn paths_of_trace(&self, region: impl Fn(RegionKey) -> RegionId) -> Vec<(PePath, bool)> {
        match &self.replaced {
            Some(replaced) => replaced.paths.iter().copied().zip(replaced.is_recorded.iter().copied()).collect(),
            None => self.paths.iter().map(|(up, key)| ((*up, region(*key), CallSite::NONE), true)).collect(),
        }
    }

    /// One stream of all segments, and what was kept beside. `paths` gives the path of the trace for each path of the PE.
    pub(crate) fn assemble(self, paths: &[CallPathId]) -> (Stream, B) {
        let moved = self.replaced.as_ref().map(|replaced| replaced.moved.as_slice());
        let recorded: usize = self.segments.iter().map(|resolved| resolved.segment.stream.visits.len()).sum();
        let mut all: Option<(Stream, B)> = None;
        for resolved in self.segments {
            let (mut stream, more) = resolved.finish(paths, moved);
            match &mut all {
                None => {
                    if moved.is_none() {
                        stream.visits.reserve_exact(recorded - stream.visits.len());
                    }
                    all = Some((stream, more));
                }
                Some((all, beside)) => {
                    beside.append(more, all);
                    all.append(stream);
                }
            }
        }
        let (mut stream, beside) = all.unwrap_or_default();
        if let Some(replaced) = self.replaced {
            stream.visits = replaced.visits;
            stream.visits.path.iter_mut().for_each(|path| *path = paths[path.0 as usize]);
        }
        for row in &mut stream.collectives {
            if row.begin == UNKNOWN_BEGIN {
                row.begin = stream.visits.get(row.visit).map_or(row.end, |visit| visit.enter);
            }
        }
        stream.shrink();
        (stream, beside)
    }
}

impl<B: Beside> Resolved<B> {
    /// The segment's stream in terms of the trace; without visits if they have `moved`.
    fn finish(self, paths: &[CallPathId], moved: Option<&[VisitIx]>) -> (Stream, B) {
        let Resolved { segment, paths: nodes, base, offset, collective_begin } = self;
        let (mut stream, mut beside) = (segment.stream, segment.beside);
        let recorded = |visit| match Segment::<B>::as_base(visit) {
            Some(k) => base.get(k).copied().unwrap_or(VisitIx::NONE),
            None if visit.is_some() => VisitIx(visit.0 + offset),
            None => visit,
        };
        if let Some(moved) = moved {
            stream.visits = Visits::default();
            let moved = |visit| moved.get(recorded(visit).index()).copied().unwrap_or(VisitIx::NONE);
            stream.map_visits(moved);
            beside.map_visits(&moved);
        } else {
            let of_node: Vec<CallPathId> = nodes.iter().map(|path| paths[*path as usize]).collect();
            stream.visits.path.iter_mut().for_each(|path| *path = of_node[path.0 as usize]);
            stream.map_visits(recorded);
            beside.map_visits(&recorded);
        }
        if let (Some(begin), Some(first)) = (collective_begin, stream.collectives.first_mut())
            && first.begin == UNKNOWN_BEGIN
        {
            first.begin = begin;
        }
        (stream, beside)
    }
}
