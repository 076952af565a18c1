//! Visits of functions, from the callers of the calls inside of them.
//!
//! Extrae records the callers of a call, not that functions begin and end. A function is therefore entered where the first call inside of
//! it is entered, stays open while the next call has it among its callers too, and is left where the last one inside of it was left: its
//! visit is a lower bound of its time. Where the program's functions were recorded themselves, callers only say the line of a call.

use partune_base::{RegionId, Table, Time};
use partune_import::{Recorded, Replaced};
use partune_trace::{CallSite, Region, VisitIx};

use super::decode::Called;

/// The callers of a call, outermost first, and the line of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) frames: Box<[Frame]>,
    pub(super) site: CallSite,
}

/// A function among callers, and where it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) region: RegionId,
    pub(super) site: CallSite,
}

/// The inside of a recorded visit, or of everything.
struct Level {
    path: Option<u32>,
    is_open: bool,
    /// Its functions are in `open` from here on.
    first: usize,
    /// When the last visit in it ends.
    last: Time,
}

/// A function that is open.
struct Open {
    visit: VisitIx,
    path: u32,
    frame: Frame,
}

struct Weaver<'a> {
    regions: &'a Table<RegionId, Region>,
    woven: Replaced,
    levels: Vec<Level>,
    open: Vec<Open>,
}

/// Adds the visits of functions. `called` is in order of visits.
pub(super) fn weave(
    recorded: &[Recorded],
    called: &[Called],
    chains: &[Chain],
    regions: &Table<RegionId, Region>,
) -> Replaced {
    let all = Level { path: None, is_open: true, first: 0, last: Time::MIN };
    let mut weaver = Weaver { regions, woven: Replaced::default(), levels: vec![all], open: Vec::new() };
    let mut called = called.iter().peekable();
    for (index, visit) in recorded.iter().enumerate() {
        while weaver.levels.len() > visit.depth as usize + 1 {
            weaver.leave();
        }
        let chain = called.next_if(|called| called.visit.index() == index);
        weaver.enter(visit, chain.and_then(|called| chains.get(called.chain as usize)));
    }
    while !weaver.levels.is_empty() {
        weaver.leave();
    }
    weaver.woven
}

impl Weaver<'_> {
    fn enter(&mut self, visit: &Recorded, chain: Option<&Chain>) {
        let Some(level) = self.levels.last() else { return };
        let region = &self.regions[visit.region];
        let is_operation = !region.role.is_transparent();
        if level.is_open {
            let frames = chain.filter(|_| is_operation).map_or(&[][..], |chain| &chain.frames);
            self.functions(frames, visit.enter);
        }
        let parent = self.parent();
        let path = self.woven.recorded(visit, parent, chain.map_or(CallSite::NONE, |chain| chain.site));
        if let Some(level) = self.levels.last_mut() {
            level.last = visit.exit;
        }
        let (first, last) = (self.open.len(), visit.enter);
        // What is neither an operation nor a function of the program may have functions inside that are not recorded.
        let is_open = !is_operation && !region.is_function();
        self.levels.push(Level { path: Some(path), is_open, first, last });
    }

    /// Leaves the innermost level.
    fn leave(&mut self) {
        self.functions(&[], Time::MIN);
        self.levels.pop();
    }

    /// Opens these functions in the innermost level, and closes those that are open and not among them.
    fn functions(&mut self, frames: &[Frame], time: Time) {
        let Some(&Level { first, last, .. }) = self.levels.last() else { return };
        let kept = self.open[first..].iter().zip(frames).take_while(|(open, frame)| open.frame == **frame).count();
        for open in self.open.drain(first + kept..) {
            self.woven.leave(open.visit, last);
        }
        if !self.woven.has_room(frames.len()) {
            return;
        }
        for frame in &frames[kept..] {
            let parent = self.parent();
            let (visit, path) = self.woven.enter(time, (parent, frame.region, frame.site));
            self.open.push(Open { visit, path, frame: *frame });
        }
    }

    /// The path that is innermost.
    fn parent(&self) -> Option<u32> {
        let level = self.levels.last()?;
        self.open[level.first..].last().map(|open| open.path).or(level.path)
    }
}
