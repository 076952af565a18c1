//! Visits of functions that have no events of their own, from the calling contexts of the operations inside of them.
//!
//! Where a location's enters name calling contexts, its visits so far are only those of operations and marked regions. Here
//! the functions of their chains get visits around them. A function is entered where the first event inside of it is entered,
//! stays open while the next event on the same level has it in its chain too, and is left where the last one inside of it was
//! left. So time between two operations belongs to the innermost function that both are in, and what a function does before
//! its first and after its last operation belongs to its caller: **its visit is a lower bound of the function's time.**
//!
//! Two operations with the same function in their chains may lie in two executions of it. The unwind distance of an enter says
//! which functions are new since the event before; where the recorder knows that, the visits are told apart.
//!
//! A visit by an event is never cut. A chain that does not have the open functions around such a visit (a phase that
//! begins in one function and ends in another) goes on inside of it with what it does not share with them. An event without a
//! chain (a plain ENTER) lies in the functions that the chained events before and after it share.
//!
//! Called when a location is joined, which knows all visits of the location with their begins and ends; so nothing here depends on how the
//! file was cut into runs. Linear in visits and in the functions entered.

use partune_base::Time;
use partune_import::{Recorded, Replaced};
use partune_trace::{CallSite, VisitIx};

use super::contexts::{Contexts, NO_FRAME};

/// The enter of a visit named a calling context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    pub(super) visit: VisitIx,
    /// Position in [`Contexts`].
    pub(super) context: u32,
    pub(super) unwind_distance: u32,
}

/// The inside of a recorded visit, or of the whole location.
struct Level {
    path: Option<u32>,
    /// The functions around the visit, as far as they are known to be its own.
    around: u32,
    /// The first recorded visit behind it.
    end: usize,
    /// Its open functions are in `Weaver::open` from here on; they are those from `base` (not itself) to `top`.
    first: usize,
    base: u32,
    top: u32,
    /// When the last visit by an event in it ends.
    last: Time,
}

struct Weaver<'a> {
    contexts: &'a Contexts,
    woven: Replaced,
    levels: Vec<Level>,
    /// Visits and paths of open functions.
    open: Vec<(VisitIx, u32)>,
}

/// Adds the visits of functions. `called` is in order of visits.
pub(super) fn weave(recorded: &[Recorded], called: &[Called], contexts: &Contexts) -> Replaced {
    let ends = ends(recorded);
    let mut weaver = Weaver {
        contexts,
        woven: Replaced::default(),
        levels: vec![Level::new(None, NO_FRAME, usize::MAX, 0, Time::MIN)],
        open: Vec::new(),
    };
    let mut called = called.iter().peekable();
    for (index, visit) in recorded.iter().enumerate() {
        while weaver.levels.len() > visit.depth as usize + 1 {
            weaver.leave();
        }
        while called.next_if(|called| called.visit.index() < index).is_some() {}
        let own = called.next_if(|called| called.visit.index() == index);
        let next = own.or_else(|| called.peek().copied());
        weaver.enter(visit, own, next, ends[index]);
    }
    while !weaver.levels.is_empty() {
        weaver.leave();
    }
    weaver.woven
}

/// For each visit the first one behind it that is not inside of it.
fn ends(recorded: &[Recorded]) -> Vec<usize> {
    let mut ends = vec![recorded.len(); recorded.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, visit) in recorded.iter().enumerate() {
        for left in open.drain((visit.depth as usize).min(open.len())..) {
            ends[left] = index;
        }
        open.push(index);
    }
    ends
}

impl Level {
    fn new(path: Option<u32>, around: u32, end: usize, first: usize, last: Time) -> Level {
        Level { path, around, end, first, base: around, top: around, last }
    }
}

impl Weaver<'_> {
    /// Enters a recorded visit. `own`: what it was called in; `next`: the same, or that of the next visit that has it.
    fn enter(&mut self, visit: &Recorded, own: Option<&Called>, next: Option<&Called>, end: usize) {
        let inside = self.levels.last().map_or(usize::MAX, |level| level.end);
        self.close(next.filter(|next| next.visit.index() < inside));
        if let Some(own) = own {
            self.open_functions(self.contexts.around(own.context), visit.enter);
        }
        let Some(level) = self.levels.last_mut() else { return };
        let has_open = self.open.len() > level.first;
        let parent = if has_open { self.open.last().map(|open| open.1) } else { level.path };
        let around = match own {
            Some(own) => self.contexts.inside(own.context),
            None if has_open => level.top,
            None => level.around,
        };
        level.last = visit.exit;
        let site = own.map_or(CallSite::NONE, |own| self.contexts.site(own.context));
        let path = self.woven.recorded(visit, parent, site);
        self.levels.push(Level::new(Some(path), around, end, self.open.len(), visit.enter));
    }

    /// Closes the open functions of the innermost level that the next event in it is not in; all if there is none.
    fn close(&mut self, next: Option<&Called>) {
        let Some(level) = self.levels.last_mut() else { return };
        if self.open.len() == level.first {
            return;
        }
        let kept = next.map_or(0, |next| {
            let common = self.contexts.common(level.top, self.contexts.around(next.context));
            let common = self.contexts.depth(common).min(self.contexts.kept(next.context, next.unwind_distance));
            common.saturating_sub(self.contexts.depth(level.base)) as usize
        });
        let kept = level.first + kept.min(self.open.len() - level.first);
        for (visit, _) in self.open.drain(kept..) {
            self.woven.leave(visit, level.last);
        }
        level.top = self.contexts.ancestor(level.top, self.contexts.depth(level.base) + (kept - level.first) as u32);
    }

    /// Opens the functions of a chain that are not open yet.
    fn open_functions(&mut self, functions: u32, time: Time) {
        let Some(level) = self.levels.last_mut() else { return };
        if self.open.len() == level.first {
            level.base = self.contexts.common(functions, level.around);
            level.top = level.base;
        }
        let mut new = Vec::new();
        let mut frame = functions;
        while frame != level.top && frame != NO_FRAME {
            new.push(frame);
            frame = self.contexts.frame(frame).parent;
        }
        if !self.woven.has_room(new.len()) {
            return;
        }
        level.top = functions;
        let mut parent = if self.open.len() > level.first { self.open.last().map(|open| open.1) } else { level.path };
        for frame in new.into_iter().rev() {
            let frame = self.contexts.frame(frame);
            let function = self.woven.enter(time, (parent, frame.region, frame.site));
            self.open.push(function);
            parent = Some(function.1);
        }
    }

    /// Leaves the innermost level.
    fn leave(&mut self) {
        self.close(None);
        self.levels.pop();
    }
}
