//! Visits of functions that have no events of their own, from the calling contexts of the operations inside of them and from samples.
//!
//! Where a location's enters name calling contexts, its visits so far are only those of operations and marked regions. Here
//! the functions of their chains get visits around them. A function is entered where the first event inside of it is entered,
//! stays open while it is known to go on until the next event on the same level, and is left where the last one inside of it was
//! left. So time between two operations belongs to the innermost function that went on ([`super::lasting`]), and what a function does before
//! its first and after its last operation belongs to a caller: **its visit is a lower bound of the function's time.**
//!
//! The unwind distance of an enter says which functions are new since the event before; where the recorder knows that, the visits are told apart
//! by it. Where there are samples of what lies between, they decide instead ([`super::shares`]): a gap has parts, each in the functions of a
//! sample, and functions that neighbours have in common stay open.
//!
//! A visit by an event is never cut. A chain that does not have the open functions around such a visit (a phase that
//! begins in one function and ends in another) goes on inside of it with what it does not share with them. An event without a
//! chain (a plain ENTER) lies in the functions that the chained events before and after it share.
//!
//! Called when a location is joined, or a slice of it, which knows all visits with their begins and ends; so nothing here depends on how the
//! file was cut into runs. What is known of all its gaps ([`super::counts`]) is known before. Linear in visits, samples and the functions entered.

use partune_base::Time;
use partune_import::{Recorded, Replaced};
use partune_trace::{CallSite, VisitIx};

use super::contexts::{Contexts, NO_FRAME};
use super::counts::Counted;
use super::gaps::{Called, Gap, Recording, Visitor, length, walk};
use super::shares::Stretch;

/// What was made of a location.
pub(super) struct Woven {
    pub(super) visits: Replaced,
    /// Ticks between operations of one function that may have been called again in between.
    pub(super) unknown: u64,
}

/// Which part of a location recorded visits are.
pub(super) struct Part {
    /// Of all of the location.
    pub(super) counted: Counted,
    /// The context of the operation that ended where it begins, and when; none at the begin of the location.
    pub(super) ended: Option<(u32, Time)>,
    /// It is that of a thread that is in no function where it begins and ends, see [`super::lasting`].
    pub(super) serves: bool,
    pub(super) is_last: bool,
}

/// The inside of a recorded visit, or of the whole location.
struct Level {
    path: Option<u32>,
    /// The functions around the visit, as far as they are known to be its own.
    around: u32,
    /// Its open functions are in `Weaver::open` from here on; they are those from `base` (not itself) to `top`.
    first: usize,
    base: u32,
    top: u32,
    /// When the last visit in it ends, or the last part of a gap.
    last: Time,
}

struct Weaver<'a> {
    contexts: &'a Contexts,
    counted: Counted,
    parts: Vec<Stretch>,
    woven: Replaced,
    unknown: u64,
    levels: Vec<Level>,
    /// The functions that ended where the part begins, until the first gap.
    left: Option<u32>,
    /// Visits and paths of open functions.
    open: Vec<(VisitIx, u32)>,
}

/// Adds the visits of functions to recorded ones. Functions that are open at the end of a part go on, unless it is the last one.
pub(super) fn weave(recording: &Recording<'_>, contexts: &Contexts, part: Part) -> Woven {
    let Part { counted, ended, serves, is_last } = part;
    let mut weaver = Weaver {
        contexts,
        counted,
        parts: Vec::new(),
        woven: Replaced::default(),
        unknown: 0,
        levels: vec![Level::new(None, NO_FRAME, 0, Time::MIN)],
        left: ended.map(|(context, _)| contexts.around(context)).filter(|_| serves),
        open: Vec::new(),
    };
    if let Some((context, time)) = ended.filter(|_| !serves) {
        weaver.open_functions(contexts.around(context), time);
        weaver.levels.iter_mut().for_each(|level| level.last = time);
    }
    walk(recording, contexts, ended, is_last, &mut weaver);
    let Weaver { mut woven, unknown, open, levels, .. } = weaver;
    if let Some(level) = levels.last() {
        open.iter().for_each(|(visit, _)| woven.leave(*visit, level.last));
    }
    if !serves {
        woven.go_on(open.into_iter().map(|(visit, _)| visit).collect());
    }
    Woven { visits: woven, unknown }
}

impl Level {
    fn new(path: Option<u32>, around: u32, first: usize, last: Time) -> Level {
        Level { path, around, first, base: around, top: around, last }
    }
}

impl Visitor for Weaver<'_> {
    fn gap(&mut self, gap: &Gap<'_>) {
        let mut parts = std::mem::take(&mut self.parts);
        self.counted.shares.share(gap, self.contexts, &mut parts);
        let is_shared = !parts.is_empty();
        let kept = self.kept(gap, is_shared);
        if is_shared {
            let rest = self.rest(gap);
            if let Some(level) = self.levels.last_mut() {
                level.last = level.last.max(gap.begin);
            }
            for part in &parts {
                self.keep(part.frame.unwrap_or(rest), part.kept);
                let begin = self.levels.last().map_or(gap.begin, |level| level.last);
                self.open_functions(part.frame.unwrap_or(rest), begin);
                if let Some(level) = self.levels.last_mut() {
                    level.last = part.end;
                }
            }
        }
        self.parts = parts;
        match gap.next {
            Some(next) => self.keep(self.contexts.around(next.context), kept),
            None => self.keep(NO_FRAME, 0),
        }
    }

    fn enter(&mut self, visit: &Recorded, own: Option<&Called>) {
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
        self.levels.push(Level::new(Some(path), around, self.open.len(), visit.enter));
    }

    fn leave(&mut self) {
        self.levels.pop();
    }
}

impl Weaver<'_> {
    /// How many of the functions before a gap, outermost first and at most, go on after it.
    fn kept(&mut self, gap: &Gap<'_>, is_shared: bool) -> u32 {
        let Some(next) = gap.next else { return 0 };
        let by_distance = self.contexts.kept(next.context, next.unwind_distance);
        let left = self.left.take();
        let Some(before) = gap.before.filter(|_| by_distance == u32::MAX && !is_shared) else { return by_distance };
        let lasting = self.lasting(before, next.context);
        let Some(level) = self.levels.last() else { return lasting };
        let common = self.contexts.common(left.unwrap_or(level.top), self.contexts.around(next.context));
        // A recorded visit goes on anyway, and so does what is around it.
        let known = self.contexts.depth(level.base).max(lasting);
        if (left.is_some() || self.open.len() > level.first) && known < self.contexts.depth(common) {
            self.unknown = self.unknown.saturating_add(length(gap.begin, gap.end));
        }
        lasting
    }

    /// The innermost function that a gap without samples belongs to; that around the level if none is known.
    fn rest(&mut self, gap: &Gap<'_>) -> u32 {
        let around = self.levels.last().map_or(NO_FRAME, |level| level.around);
        let (Some(before), Some(next)) = (gap.before, gap.next) else { return around };
        let common = self.contexts.common(self.contexts.around(before), self.contexts.around(next.context));
        let by_distance = self.contexts.kept(next.context, next.unwind_distance);
        let lasting = if by_distance == u32::MAX { self.lasting(before, next.context) } else { by_distance };
        self.contexts.ancestor(common, lasting)
    }

    fn lasting(&mut self, before: u32, next: u32) -> u32 {
        self.counted.lasting.of(self.contexts, (before, next))
    }

    /// Closes the open functions of the innermost level that others are not in, and all but so many of the outermost ones.
    fn keep(&mut self, functions: u32, most: u32) {
        let Some(level) = self.levels.last_mut() else { return };
        if self.open.len() == level.first {
            return;
        }
        let common = self.contexts.common(level.top, functions);
        let kept = self.contexts.depth(common).min(most).saturating_sub(self.contexts.depth(level.base)) as usize;
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
}
