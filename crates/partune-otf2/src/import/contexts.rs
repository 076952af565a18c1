//! Calling contexts: which functions call which, and where, as the definitions of an archive chain them.
//!
//! A CALLING_CONTEXT is a region, the place in its source that it is at, and the context it was called from. The place of a
//! context is where it calls those below it, so the call site of a context is the place of its parent; only a construct of a
//! paradigm, whose inside is not the user's source, may carry its call site itself.
//!
//! Functions of the user have no events of their own in such archives, they are in the chains only. So chains are kept as a
//! tree of [`Frame`]s, one for each function and call site in each caller; everything else in a chain (constructs, phases,
//! iterations) has events and is passed over. Chains come from files: a caller may be missing or be its own caller.

use partune_base::{RegionId, Strings, Table};
use partune_diag::{Code, Diagnostic, Quality};
use partune_import::IdMap;
use partune_trace::{CallSite, Region, RegionKind, Role};
use rustc_hash::{FxHashMap, FxHashSet};

use super::definitions::Definitions;
use super::mappings::Mappings;
use super::tables::Tables;
use crate::codec::Mapping;

/// More functions around an event than this: the outermost ones and the innermost are kept. Every operation can open and close
/// all of its functions, so this bounds memory by the size of the input.
pub(super) const DEEPEST: u32 = 128;

/// A definition as the archive has it; ids are the archive's.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContextDef {
    pub(super) id: u64,
    pub(super) region: u32,
    pub(super) place: u64,
    pub(super) parent: u64,
}

/// A function in a chain of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    /// The frame it was called from; [`NO_FRAME`] for the outermost function.
    pub(super) parent: u32,
    pub(super) region: RegionId,
    pub(super) site: CallSite,
}

/// Stands for "called from nowhere": the root of the tree of frames.
pub(super) const NO_FRAME: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Context {
    /// The archive's id.
    region: u32,
    /// Position of the parent, or `NO_PARENT`.
    parent: u32,
    /// Functions around it, with itself if it is one.
    frame: u32,
    /// Where its parent calls it.
    site: CallSite,
    /// Number of contexts in its chain, with itself.
    length: u32,
    at: Position,
}

/// Where a function is while it calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// The return address, counted from the begin of its module.
    pub(super) offset: Option<u64>,
    pub(super) line: CallSite,
}

const NO_PARENT: u32 = u32::MAX;

/// All contexts of an archive.
#[derive(Default)]
pub(super) struct Contexts {
    ids: IdMap,
    rows: Vec<Context>,
    frames: Vec<Frame>,
    depths: Vec<u32>,
    pub(super) kinds: Kinds,
}

/// What [`super::lasting`] and [`super::gaps`] ask of regions, and which functions are a program's own.
#[derive(Default)]
pub(super) struct Kinds {
    /// Regions that run before the program's first function.
    pub(super) starts: FxHashSet<RegionId>,
    /// Iterations, and operations, by the archive's id of the region.
    pub(super) iterations: FxHashSet<u32>,
    /// By region: whether code inside it is not the user's.
    pub(super) operations: Vec<bool>,
    /// Regions that a team runs, by the archive's id.
    pub(super) parallel: FxHashSet<u32>,
    /// For outermost functions, by frame: the innermost one that start-up and shut-down have in common.
    pub(super) programs: FxHashMap<u32, u32>,
}

impl Contexts {
    /// Follows all chains, each context once.
    pub(super) fn build(
        definitions: &Definitions,
        regions: &Table<RegionId, Region>,
        strings: &mut Strings,
        tables: &Tables,
        quality: &mut Quality,
    ) -> Contexts {
        let mut defs: Vec<ContextDef> = Vec::with_capacity(definitions.contexts.len());
        let mut contexts = Contexts::default();
        for def in &definitions.contexts {
            if contexts.ids.insert(def.id, defs.len() as u32) {
                defs.push(*def);
            }
        }
        let mut maker = Maker::new(definitions, regions, strings, tables, contexts, &defs);
        (0..defs.len() as u32).for_each(|context| maker.follow(context));
        let Maker { mut contexts, broken, deep, .. } = maker;
        contexts.know_kinds(regions, strings, tables);
        quality.add(
            Diagnostic::data_loss(
                Code::BrokenCallers,
                "a chain of callers is broken: a caller is not defined, or calls itself; the part below it is used",
                "a fault of the recorder, or the archive's .def file is damaged: copy it again",
            )
            .times(broken),
        );
        quality.add(
            Diagnostic::info(
                Code::DeepCallers,
                format!("chains of more than {DEEPEST} functions: those in the middle were left out"),
                "deep recursion; nothing is lost but names of functions",
            )
            .times(deep),
        );
        contexts
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Position of the context with a global id.
    pub(super) fn position(&self, id: u64) -> Option<u32> {
        self.ids.get(id)
    }

    /// Position of the context that events of a location name.
    pub(super) fn named(&self, id: u32, mappings: &Mappings) -> Option<u32> {
        self.position(mappings.map(Mapping::CallingContext, u64::from(id)))
    }

    /// The region of a context, as global id of the archive.
    pub(super) fn region(&self, context: u32) -> u32 {
        self.rows[context as usize].region
    }

    /// Number of contexts in a chain, from the outermost one to this.
    pub(super) fn length(&self, context: u32) -> u32 {
        self.rows[context as usize].length
    }

    /// Where a context is while it calls.
    pub(super) fn at(&self, context: u32) -> Position {
        self.rows[context as usize].at
    }

    /// Where a context is called.
    pub(super) fn site(&self, context: u32) -> CallSite {
        self.rows[context as usize].site
    }

    /// The functions around a context, with itself if it is one.
    pub(super) fn inside(&self, context: u32) -> u32 {
        self.rows[context as usize].frame
    }

    /// The functions around a context, without itself.
    pub(super) fn around(&self, context: u32) -> u32 {
        self.parent(context).map_or(NO_FRAME, |parent| self.inside(parent))
    }

    /// How many of the functions around a context, outermost first, went on since the event before, by the unwind distance of
    /// its enter: that many contexts less one, from the entered one up, are new. None are known to be new from a distance
    /// of less than 2, which cannot be that of an enter.
    pub(super) fn kept(&self, context: u32, unwind_distance: u32) -> u32 {
        let new = unwind_distance.saturating_sub(1);
        if new == 0 {
            return u32::MAX;
        }
        if new >= self.rows[context as usize].length {
            return 0;
        }
        let mut at = context;
        for _ in 0..new.min(2 * DEEPEST) {
            let Some(parent) = self.parent(at) else { return 0 };
            at = parent;
        }
        self.depth(self.inside(at))
    }

    /// The same for a sample, whose distance may be undefined. At a distance of 1 it is in the same execution as the event before.
    pub(super) fn kept_by_sample(&self, context: u32, unwind_distance: u32) -> u32 {
        if unwind_distance == u32::MAX { u32::MAX } else { self.kept(context, unwind_distance) }
    }

    /// Whether code inside of visits of a region is not the user's.
    pub(super) fn is_operation(&self, region: RegionId) -> bool {
        self.kinds.operations.get(region.0 as usize).copied().unwrap_or(false)
    }

    pub(super) fn frame(&self, frame: u32) -> Frame {
        self.frames[frame as usize]
    }

    /// Number of functions down to a frame; 0 for the root.
    pub(super) fn depth(&self, frame: u32) -> u32 {
        self.depths.get(frame as usize).copied().unwrap_or(0)
    }

    /// The frame at a depth on the way to a frame.
    pub(super) fn ancestor(&self, mut frame: u32, depth: u32) -> u32 {
        while self.depth(frame) > depth {
            frame = self.frame(frame).parent;
        }
        frame
    }

    /// The innermost frame that two have in common.
    pub(super) fn common(&self, a: u32, b: u32) -> u32 {
        let depth = self.depth(a).min(self.depth(b));
        let (mut a, mut b) = (self.ancestor(a, depth), self.ancestor(b, depth));
        while a != b {
            (a, b) = (self.frame(a).parent, self.frame(b).parent);
        }
        a
    }

    /// The context that a context was called from.
    pub(super) fn parent(&self, context: u32) -> Option<u32> {
        Some(self.rows[context as usize].parent).filter(|parent| *parent != NO_PARENT)
    }
}

/// How far a context has been followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

struct Maker<'a> {
    defs: &'a [ContextDef],
    regions: &'a Table<RegionId, Region>,
    tables: &'a Tables,
    places: IdMap,
    sites: Vec<CallSite>,
    /// Offsets of contexts, by the archive's id.
    offsets: FxHashMap<u64, u64>,
    contexts: Contexts,
    frames: FxHashMap<Frame, u32>,
    states: Vec<State>,
    broken: u64,
    deep: u64,
}

impl<'a> Maker<'a> {
    fn new(
        definitions: &Definitions,
        regions: &'a Table<RegionId, Region>,
        strings: &mut Strings,
        tables: &'a Tables,
        mut contexts: Contexts,
        defs: &'a [ContextDef],
    ) -> Maker<'a> {
        let mut places = IdMap::default();
        let mut sites = Vec::new();
        for (id, file, line) in definitions.places.iter().filter(|_| !defs.is_empty()) {
            let site = CallSite { file: definitions.intern(strings, *file), line: *line };
            if site.is_some() && places.insert(*id, sites.len() as u32) {
                sites.push(site);
            }
        }
        let (site, at) = (CallSite::NONE, Position { offset: None, line: CallSite::NONE });
        let empty = Context { region: u32::MAX, parent: NO_PARENT, frame: NO_FRAME, site, length: 1, at };
        contexts.rows = vec![empty; defs.len()];
        let states = vec![State::New; defs.len()];
        let (frames, offsets) = (FxHashMap::default(), definitions.offsets());
        Maker { defs, regions, tables, places, sites, offsets, contexts, frames, states, broken: 0, deep: 0 }
    }

    /// Computes the row of a context after those of its callers.
    fn follow(&mut self, context: u32) {
        let mut chain = Vec::new();
        let mut at = Some(context);
        while let Some(context) = at {
            match self.states[context as usize] {
                State::New => {
                    self.states[context as usize] = State::Open;
                    chain.push(context);
                    at = self.parent(context);
                }
                State::Open | State::Done => at = None,
            }
        }
        while let Some(context) = chain.pop() {
            let parent = self.parent(context);
            // A parent that is not done is further down in this chain: the chain is a circle.
            let sound = parent.filter(|parent| self.states[*parent as usize] == State::Done);
            let missing = parent.is_none() && self.defs[context as usize].parent != UNDEFINED;
            self.broken += u64::from(missing || sound.is_none() && parent.is_some());
            self.row(context, sound);
            self.states[context as usize] = State::Done;
        }
    }

    fn parent(&self, context: u32) -> Option<u32> {
        let parent = self.defs[context as usize].parent;
        if parent == UNDEFINED { None } else { self.contexts.ids.get(parent) }
    }

    fn row(&mut self, context: u32, parent: Option<u32>) {
        let def = self.defs[context as usize];
        let id = self.tables.region(u64::from(def.region));
        let region = &self.regions[id];
        let above = parent.map(|parent| self.contexts.rows[parent as usize]);
        let mut site = parent.map_or(CallSite::NONE, |parent| self.place(parent));
        if !site.is_some() && region.paradigm.is_some() {
            site = self.place(context);
        }
        let mut frame = above.map_or(NO_FRAME, |above| above.frame);
        if region.role == Role::User && region.kind == RegionKind::Function && !region.paradigm.is_some() {
            if self.contexts.depth(frame) >= DEEPEST {
                frame = self.contexts.frame(frame).parent;
                self.deep += 1;
            }
            frame = self.frame(Frame { parent: frame, region: id, site });
        }
        let length = above.map_or(0, |above| above.length) + 1;
        let at = Position { offset: self.offsets.get(&def.id).copied(), line: self.place(context) };
        self.contexts.rows[context as usize] =
            Context { region: def.region, parent: parent.unwrap_or(NO_PARENT), frame, site, length, at };
    }

    fn place(&self, context: u32) -> CallSite {
        let place = self.places.get(self.defs[context as usize].place);
        place.map_or(CallSite::NONE, |place| self.sites[place as usize])
    }

    fn frame(&mut self, frame: Frame) -> u32 {
        let contexts = &mut self.contexts;
        *self.frames.entry(frame).or_insert_with(|| {
            contexts.depths.push(contexts.depths.get(frame.parent as usize).copied().unwrap_or(0) + 1);
            contexts.frames.push(frame);
            contexts.frames.len() as u32 - 1
        })
    }
}

/// The parent of a context that nobody calls.
const UNDEFINED: u64 = u32::MAX as u64;
