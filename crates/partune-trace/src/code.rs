//! User code and constructs: regions and the tree of call paths.

use partune_base::{CallPathId, Id, RegionId, StringId, Strings, Table, short};

use crate::{Completion, Participants, Place, Role};

/// What a region of the user's code stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegionKind {
    /// A function; also every construct, which its role tells apart.
    #[default]
    Function,
    /// A part of a function that somebody marked: a loop, some lines.
    Block,
    /// A part of the run that somebody marked to be looked at by itself.
    Phase,
    /// One turn of a loop that somebody marked: each visit is an iteration.
    Iteration,
}

/// A function, a construct of a paradigm, or a block of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// What it is called: that of a function without arguments, see [`partune_base::short`]. Short after sealing.
    pub name: StringId,
    /// All of what the producer calls it; the same as `name` if that is all.
    pub whole: StringId,
    /// The canonical name of the construct (`MPI_Recv` for `mpi_recv_`), or the same as `name`.
    pub construct: StringId,
    /// The name of its paradigm; [`StringId::NONE`] for user code.
    pub paradigm: StringId,
    pub role: Role,
    pub completion: Completion,
    pub participants: Participants,
    pub kind: RegionKind,
    /// Source file; [`StringId::NONE`] if unknown.
    pub file: StringId,
    /// First line; 0 if unknown.
    pub line: u32,
}

impl Region {
    /// A function of the user's of which no more than the name is known.
    pub fn of_user(name: StringId) -> Region {
        Region {
            name,
            whole: name,
            construct: name,
            paradigm: StringId::NONE,
            role: Role::User,
            completion: Completion::Blocking,
            participants: Participants::Own,
            kind: RegionKind::Function,
            file: StringId::NONE,
            line: 0,
        }
    }

    /// A blocking construct of a paradigm, with the usual participants of its role.
    pub fn of_construct(name: StringId, paradigm: StringId, role: Role) -> Region {
        Region { paradigm, role, participants: role.participants(), ..Region::of_user(name) }
    }

    /// Whether the members of a group take part in it together: what only a group can do, or what this construct does with one.
    pub fn is_collective(&self) -> bool {
        self.role.is_collective() || self.participants == Participants::Group
    }

    /// Whether it looks whether something has come, and comes back in any case.
    pub fn is_poll(&self) -> bool {
        self.completion == Completion::NonBlocking && matches!(self.role, Role::Probe | Role::CommSync | Role::RmaWait)
    }

    /// Shortens the name of a function of the user's.
    pub(crate) fn shorten(&mut self, strings: &mut Strings) {
        if self.is_function() {
            let short = short(strings.get(self.whole)).into_owned();
            self.name = strings.intern(&short);
            self.construct = self.name;
        }
    }

    /// Whether it is a function of the user's.
    pub fn is_function(&self) -> bool {
        !self.paradigm.is_some() && self.kind == RegionKind::Function
    }
}

/// The place in the source from which something is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallSite {
    /// Source file; [`StringId::NONE`] if unknown.
    pub file: StringId,
    /// Line; 0 if unknown.
    pub line: u32,
}

impl CallSite {
    /// An unknown place.
    pub const NONE: CallSite = CallSite { file: StringId::NONE, line: 0 };

    /// Whether it is known.
    pub fn is_some(self) -> bool {
        self.file.is_some() && self.line > 0
    }
}

/// The tree of call paths of all PEs together: a path is a region called from a parent path, at a call site if that is known.
/// A region called from two lines of one parent is two paths.
///
/// Columns indexed by [`CallPathId`]; a parent's id is always smaller than its children's, so that one pass in order of ids
/// visits parents first and one in reverse order visits children first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPaths {
    parents: Table<CallPathId, CallPathId>,
    regions: Table<CallPathId, RegionId>,
    sites: Table<CallPathId, CallSite>,
    depths: Table<CallPathId, u32>,
    recorded: Table<CallPathId, bool>,
    operations: Table<CallPathId, CallPathId>,
    places: Table<CallPathId, Place>,
    lock_bodies: Table<CallPathId, bool>,
}

impl CallPaths {
    /// Adds the path `region` called from `parent` (or a root, from [`CallPathId::NONE`]) at an unknown place; does not look for
    /// an equal one.
    pub fn push(&mut self, parent: CallPathId, region: RegionId) -> CallPathId {
        self.push_at(parent, region, CallSite::NONE)
    }

    /// The same with the place in `parent` from which it is called.
    pub fn push_at(&mut self, parent: CallPathId, region: RegionId, site: CallSite) -> CallPathId {
        // Parents come first; who names a later one has none.
        let parent = if parent.index() < self.len() { parent } else { CallPathId::NONE };
        let depth = self.depths.get(parent).map_or(0, |depth| depth + 1);
        self.regions.push(region);
        self.sites.push(site);
        self.depths.push(depth);
        self.recorded.push(true);
        self.operations.push(CallPathId::NONE);
        self.places.push(Place::NONE);
        self.lock_bodies.push(false);
        self.parents.push(parent)
    }

    /// Says whether any visit of a path has events; see [`CallPaths::is_recorded`].
    pub fn set_recorded(&mut self, path: CallPathId, is_recorded: bool) {
        self.recorded[path] = is_recorded;
    }

    /// Computes [`CallPaths::operation`], [`CallPaths::place`] and [`CallPaths::is_lock_body`] of every path.
    ///
    /// The body of a construct that acquires a lock (OpenMP's critical and ordered) is user code, not part of the operation.
    pub(crate) fn seal(&mut self, regions: &Table<RegionId, Region>) {
        let mut in_function: Table<CallPathId, bool> = Table::new();
        for path in self.parents.ids() {
            let region = &regions[self.regions[path]];
            let inherited = self.parents[path].some().map_or(CallPathId::NONE, |parent| self.operations[parent]);
            let around = self.parents[path].some().map(|parent| &regions[self.regions[parent]]);
            self.lock_bodies[path] = region.role.is_transparent()
                && region.paradigm.is_some()
                && around.is_some_and(|it| it.role == Role::LockAcquire && it.paradigm == region.paradigm);
            self.operations[path] = if inherited.is_some() && !self.lock_bodies[path] {
                inherited
            } else if region.role.is_transparent() {
                CallPathId::NONE
            } else {
                path
            };
            let parent = self.parents[path];
            let inside = in_function.get(parent).is_some_and(|inside| *inside);
            self.places[path] = Place::of(region, self.sites[path], self.place(parent), inside);
            in_function.push(inside || region.is_function());
        }
    }

    /// Whether a path is the body of the construct that it is called from, and that construct acquires a lock.
    pub fn is_lock_body(&self, path: CallPathId) -> bool {
        self.lock_bodies[path]
    }

    /// Whether any path is one.
    pub(crate) fn has_lock_bodies(&self) -> bool {
        self.lock_bodies.iter().any(|is| *is)
    }

    /// Whether all paths end in one of these regions.
    pub(crate) fn are_in(&self, regions: &Table<RegionId, Region>) -> bool {
        self.regions.iter().all(|region| region.index() < regions.len())
    }

    /// Lets paths that end in a region behind this one end in it.
    pub(crate) fn end_at_most_in(&mut self, last: RegionId) {
        self.regions.iter_mut().for_each(|region| *region = (*region).min(last));
    }

    /// Where in the source a path ends.
    pub fn place(&self, path: CallPathId) -> Place {
        self.places.get(path).copied().unwrap_or(Place::NONE)
    }

    pub fn parent(&self, path: CallPathId) -> CallPathId {
        self.parents[path]
    }

    /// The path whose time has the time of a path in it: its parent; but the body of a construct that acquires a lock stands beside that, in what is
    /// around both.
    pub fn within(&self, path: CallPathId) -> CallPathId {
        let parent = self.parents[path];
        if self.lock_bodies[path] { self.parents[parent] } else { parent }
    }

    pub fn region(&self, path: CallPathId) -> RegionId {
        self.regions[path]
    }

    /// The place in the parent from which this path is called; [`CallSite::NONE`] if unknown.
    pub fn site(&self, path: CallPathId) -> CallSite {
        self.sites[path]
    }

    /// Whether a visit of it has events of its own. Otherwise it is a function that is known from the call chains of operations, or from
    /// samples, alone: no visit of it made the program stop for an event.
    pub fn is_recorded(&self, path: CallPathId) -> bool {
        self.recorded[path]
    }

    /// Number of ancestors; 0 for a root.
    pub fn depth(&self, path: CallPathId) -> u32 {
        self.depths[path]
    }

    /// The outermost path at or above this one whose role is not transparent: the operation that this path is, or is inside
    /// of. [`CallPathId::NONE`] for user code.
    pub fn operation(&self, path: CallPathId) -> CallPathId {
        self.operations[path]
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    pub fn ids(&self) -> impl DoubleEndedIterator<Item = CallPathId> + ExactSizeIterator + use<> {
        self.parents.ids()
    }

    /// Whether a path is in a class, and none of its ancestors in the same one. Classes are below `classes`. Cost: linear.
    pub fn outermost(&self, classes: usize, class: impl Fn(CallPathId) -> Option<usize>) -> Table<CallPathId, bool> {
        // Children as lists: the last of a parent, and of each the one before.
        let mut last: Table<CallPathId, CallPathId> = Table::filled(self.len(), CallPathId::NONE);
        let mut before = last.clone();
        let mut roots = Vec::new();
        for path in self.ids() {
            match self.parents[path].some() {
                Some(parent) => before[path] = std::mem::replace(&mut last[parent], path),
                None => roots.push(path),
            }
        }
        let mut around = vec![0_u32; classes];
        let mut outermost = Table::filled(self.len(), false);
        for root in roots {
            let mut at = root;
            let mut open = Vec::new();
            loop {
                if let Some(class) = class(at) {
                    outermost[at] = around[class] == 0;
                    around[class] += 1;
                }
                open.push(at);
                let mut next = last[at];
                while !next.is_some() {
                    let Some(done) = open.pop() else { break };
                    if let Some(class) = class(done) {
                        around[class] -= 1;
                    }
                    // The root's neighbours are other trees.
                    next = if open.is_empty() { CallPathId::NONE } else { before[done] };
                }
                match next.some() {
                    Some(next) => at = next,
                    None => break,
                }
            }
        }
        outermost
    }

    /// This path and its ancestors, innermost first.
    pub fn ancestors(&self, path: CallPathId) -> impl Iterator<Item = CallPathId> + Clone + '_ {
        std::iter::successors(path.some(), |path| self.parents[*path].some())
    }
}
