//! What lies between the recorded visits of a location, level by level: a level is the inside of a recorded visit, or of the whole location.
//!
//! Each visit comes after a gap of its level, and each level ends with one. [`walk`] shows them in order of time, with the samples that were
//! taken in them; who counts and who weaves sees the same ones. A sample lies in the innermost level at its time.

use partune_base::Time;
use partune_import::Recorded;
use partune_trace::VisitIx;

use super::contexts::Contexts;

/// The enter of a visit named a calling context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    pub(super) visit: VisitIx,
    /// Position in [`Contexts`].
    pub(super) context: u32,
    pub(super) unwind_distance: u32,
}

/// The program was interrupted to see where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    /// The visit that is entered next.
    pub(super) next: VisitIx,
    pub(super) time: Time,
    /// Position in [`Contexts`].
    pub(super) context: u32,
    pub(super) unwind_distance: u32,
    /// As the archive numbers it.
    pub(super) generator: u32,
}

/// What was recorded of a location: visits in order of their enters, the others in order of visits.
pub(super) struct Recording<'a> {
    pub(super) visits: &'a [Recorded],
    pub(super) called: &'a [Called],
    pub(super) samples: &'a [Sampled],
    /// For each visit the first one after it that is not inside of it.
    ends: Vec<usize>,
}

impl<'a> Recording<'a> {
    pub(super) fn new(visits: &'a [Recorded], called: &'a [Called], samples: &'a [Sampled]) -> Recording<'a> {
        Recording { visits, called, samples, ends: ends(visits) }
    }
}

/// Time between two events of a level.
pub(super) struct Gap<'a> {
    pub(super) begin: Time,
    pub(super) end: Time,
    /// The last operation before it in the level that has a context.
    pub(super) before: Option<u32>,
    /// The next one in the level.
    pub(super) next: Option<&'a Called>,
    pub(super) samples: &'a [Sampled],
    /// What is on both sides; gaps with the same sides are alike. None inside of operations, where nothing is shared out.
    pub(super) sides: Option<[u64; 2]>,
}

/// Who is shown the gaps.
pub(super) trait Visitor {
    /// Before each visit, and at the end of each level.
    fn gap(&mut self, gap: &Gap<'_>);
    /// A visit, which begins a level, and what it was called in; `end`: the first visit after it.
    fn enter(&mut self, _visit: &Recorded, _own: Option<&Called>) {}
    /// A level ends.
    fn leave(&mut self) {}
}

struct Level {
    is_operation: bool,
    /// The first recorded visit after it.
    end: usize,
    exit: Time,
    /// What it was called in.
    context: u64,
    before: Option<u32>,
    /// When the last visit in it ended.
    last: Option<Time>,
}

/// Instead of a context: there is none.
const NOTHING: u64 = u32::MAX as u64;
/// Added to the context of a level: its begin or end.
const EDGE: u64 = 1 << 32;

pub(super) fn walk(recording: &Recording<'_>, contexts: &Contexts, to: &mut impl Visitor) {
    let last = recording.samples.last().map(|sample| sample.time);
    let all = Level {
        is_operation: false,
        end: usize::MAX,
        exit: last.unwrap_or(Time::MIN),
        context: NOTHING,
        before: None,
        last: None,
    };
    let mut levels = vec![all];
    let mut called = recording.called;
    let mut samples = recording.samples;
    for (index, visit) in recording.visits.iter().enumerate() {
        while levels.len() > visit.depth as usize + 1
            && let Some(level) = levels.pop()
        {
            let exit = level.exit;
            let inside = split(&mut samples, |sample| sample.next.index() <= index && sample.time < exit);
            level.leave(inside, to);
        }
        split(&mut called, |called| called.visit.index() < index);
        let own = called.first().filter(|called| called.visit.index() == index);
        let Some(level) = levels.last_mut() else { return };
        let next = called.first().filter(|next| next.visit.index() < level.end);
        let before = split(&mut samples, |sample| sample.next.index() <= index);
        to.gap(&level.gap(visit.enter, next, own.map_or(NOTHING, |own| own.context.into()), before));
        level.last = Some(visit.exit);
        level.before = own.map(|own| own.context).or(level.before);
        to.enter(visit, own);
        levels.push(Level {
            is_operation: contexts.is_operation(visit.region),
            end: recording.ends[index],
            exit: visit.exit,
            context: own.map_or(NOTHING, |own| own.context.into()),
            before: None,
            last: Some(visit.enter),
        });
    }
    while let Some(level) = levels.pop() {
        let (exit, is_all) = (level.exit, levels.is_empty());
        let inside = split(&mut samples, |sample| is_all || sample.time < exit);
        level.leave(inside, to);
    }
}

impl Level {
    fn gap<'a>(&self, end: Time, next: Option<&'a Called>, side: u64, samples: &'a [Sampled]) -> Gap<'a> {
        // Before the first event, what is known begins with the first sample.
        let begin = self.last.or(samples.first().map(|sample| sample.time)).unwrap_or(end).min(end);
        let edge = || self.context | EDGE;
        let before = self.before.map_or_else(edge, u64::from);
        let sides = (!self.is_operation).then_some([before, side]);
        Gap { begin, end, before: self.before, next, samples, sides }
    }

    fn leave(self, samples: &[Sampled], to: &mut impl Visitor) {
        let end = self.last.map_or(self.exit, |last| last.max(self.exit));
        to.gap(&self.gap(end, None, self.context | EDGE, samples));
        to.leave();
    }
}

/// Ticks from one time to another; none backwards.
pub(super) fn length(begin: Time, end: Time) -> u64 {
    u64::try_from(end.0.saturating_sub(begin.0)).unwrap_or(0)
}

/// Takes the first ones that are so.
fn split<'a, T>(list: &mut &'a [T], is_so: impl Fn(&T) -> bool) -> &'a [T] {
    let count = list.iter().take_while(|it| is_so(it)).count();
    let (first, rest) = list.split_at(count);
    *list = rest;
    first
}

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
