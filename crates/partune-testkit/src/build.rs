//! From the tree to a trace.

use std::collections::HashMap;

use partune_base::{CallPathId, PeId, RegionId, StringId, Time};
use partune_trace::{CallSite, Region, RegionKind, TraceBuilder, Visit};

use crate::facts::{self, Here};
use crate::lexer::Source;
use crate::names::{self, Names};
use crate::syntax::{Item, Text, VisitText};

/// Makes the trace of a text.
pub(crate) fn build(source: &Source<'_>, text: &Text) -> TraceBuilder {
    let mut built = TraceBuilder::default();
    let names = names::define(source, text, &mut built);
    let mut maker = Maker { source, built, names, regions: HashMap::new(), paths: HashMap::new(), next_id: 1 << 32 };
    let mut ends: HashMap<(u32, u32), i64> = HashMap::new();
    for (id, items) in &text.pes {
        let frame = Frame { pe: maker.names.pes[id], rank: id.0, thread: id.1, path: CallPathId::NONE, end: None };
        let end = ends.entry(*id).or_insert(i64::MIN);
        maker.items(items, frame, 0, end);
    }
    maker.built.streams.iter_mut().for_each(|stream| {
        stream.sort();
    });
    maker.built
}

/// What is being filled.
pub(crate) struct Maker<'a, 's> {
    pub(crate) source: &'a Source<'s>,
    pub(crate) built: TraceBuilder,
    pub(crate) names: Names,
    regions: HashMap<(StringId, CallSite, RegionKind), RegionId>,
    paths: HashMap<(CallPathId, RegionId, CallSite), CallPathId>,
    /// Matching id of the next RMA access that has none.
    pub(crate) next_id: u64,
}

/// Where a visit is made.
#[derive(Clone, Copy)]
struct Frame {
    pe: PeId,
    rank: u32,
    thread: u32,
    /// Of the parent.
    path: CallPathId,
    /// Of the parent.
    end: Option<i64>,
}

impl Maker<'_, '_> {
    /// Writes items whose times are moved by `shift`; `cursor` is the end of what came before.
    fn items(&mut self, items: &[Item], frame: Frame, shift: i64, cursor: &mut i64) {
        for item in items {
            match item {
                Item::Visit(visit) => self.visit(visit, frame, shift, cursor),
                Item::Repeat { times, first, every, items } => {
                    for turn in 0..i64::from(*times) {
                        self.items(items, frame, shift + first + turn * every, cursor);
                    }
                }
            }
        }
    }

    fn visit(&mut self, visit: &VisitText, frame: Frame, shift: i64, cursor: &mut i64) {
        let fail = |message: String| self.source.fail(visit.line, &format!("{} {message}", visit.name));
        let enter = visit.begin.map_or(if *cursor == i64::MIN { shift } else { *cursor }, |begin| begin + shift);
        let Some(exit) = visit.end.map(|end| end + shift).or(frame.end) else { fail("has no end".to_owned()) };
        if enter > exit {
            fail(format!("begins at {enter} and ends at {exit}"));
        }
        if enter < *cursor {
            fail(format!("begins at {enter}, but the visit before it or its parent is at {cursor}"));
        }
        if frame.end.is_some_and(|end| exit > end) {
            fail(format!("ends at {exit}, after its parent"));
        }
        *cursor = exit;

        let path = self.path(frame.path, visit);
        let stream = &mut self.built.streams[frame.pe];
        stream.events += 2;
        let index = stream.visits.push(Visit { enter: Time(enter), exit: Time(exit), path });
        let Frame { pe, rank, thread, .. } = frame;
        let here = Here { pe, rank, thread, visit: index, enter: Time(enter), exit: Time(exit), shift };
        for fact in &visit.facts {
            facts::record(self, fact, here);
        }
        let mut cursor = enter;
        self.items(&visit.items, Frame { path, end: Some(exit), ..frame }, shift, &mut cursor);
    }

    fn path(&mut self, parent: CallPathId, visit: &VisitText) -> CallPathId {
        let region = self.region(visit);
        let site = self.place(visit.site.as_ref());
        *self.paths.entry((parent, region, site)).or_insert_with(|| self.built.paths.push_at(parent, region, site))
    }

    fn place(&mut self, place: Option<&(String, u32)>) -> CallSite {
        place.map_or(CallSite::NONE, |(file, line)| CallSite { file: self.built.strings.intern(file), line: *line })
    }

    fn region(&mut self, visit: &VisitText) -> RegionId {
        let source = self.place(visit.source.as_ref());
        let CallSite { file, line } = source;
        let strings = &mut self.built.strings;
        let name = strings.intern(&visit.name);
        *self.regions.entry((name, source, visit.kind)).or_insert_with(|| {
            let mut region = Region { kind: visit.kind, file, line, ..Region::of_user(name) };
            if let Some(found) = partune_paradigm::recognise(&visit.name, None) {
                region.construct = strings.intern(found.construct.name);
                region.paradigm = strings.intern(found.paradigm.name);
                region.role = found.construct.role;
                region.completion = found.construct.completion;
                region.participants = found.construct.participants;
            }
            self.built.regions.push(region)
        })
    }
}
