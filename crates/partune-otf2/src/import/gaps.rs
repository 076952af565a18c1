//! What lies between the recorded visits of a location, level by level: a level is the inside of a recorded visit, or of the whole location.
//!
//! Each visit comes after a gap of its level, and each level ends with one. A [`Walker`] shows them in order of time, with the samples that were
//! taken in them, to who counts ([`super::counts`]) and who weaves ([`super::weave`]): while events come in, or of visits that were recorded. A sample lies in the innermost level at its time.

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
    /// A visit, which begins a level, and what it was called in.
    fn enter(&mut self, _visit: &Recorded, _own: Option<&Called>) {}
    /// A level ends.
    fn leave(&mut self) {}
}

/// Finds the gaps of a location while its events come in.
pub(super) struct Walker {
    levels: Vec<Level>,
    /// Samples that belong to no gap yet.
    samples: Vec<Sampled>,
}

struct Level {
    is_operation: bool,
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

impl Walker {
    /// At the begin of a location, or where an operation of it has ended that no recorded visit is around: its context, and when.
    pub(super) fn new(ended: Option<(u32, Time)>) -> Walker {
        let (before, last) = ended.unzip();
        Walker { levels: vec![Level { is_operation: false, context: NOTHING, before, last }], samples: Vec::new() }
    }

    /// Samples that belong to no gap yet.
    pub(super) fn pending(&self) -> &[Sampled] {
        &self.samples
    }

    pub(super) fn sample(&mut self, sample: Sampled) {
        self.samples.push(sample);
    }

    /// A visit is entered; `next` is the first enter with a context from here on, in the level.
    pub(super) fn enter(
        &mut self,
        time: Time,
        is_operation: bool,
        own: Option<&Called>,
        next: Option<&Called>,
        to: &mut impl Visitor,
    ) {
        let Some(level) = self.levels.last_mut() else { return };
        let context = own.map_or(NOTHING, |own| own.context.into());
        to.gap(&level.gap(time, next, context, &self.samples));
        self.samples.clear();
        level.before = own.map(|own| own.context).or(level.before);
        self.levels.push(Level { is_operation, context, before: None, last: Some(time) });
    }

    /// The innermost visit is left. Samples that were taken later go to what is around it.
    pub(super) fn leave(&mut self, time: Time, to: &mut impl Visitor) {
        if self.levels.len() > 1
            && let Some(level) = self.levels.pop()
        {
            let inside = self.samples.iter().take_while(|sample| sample.time < time).count();
            level.leave(time, &self.samples[..inside], to);
            self.samples.drain(..inside);
            if let Some(around) = self.levels.last_mut() {
                around.last = Some(time);
            }
        }
    }

    /// All visits are left.
    pub(super) fn finish(mut self, to: &mut impl Visitor) {
        if let Some(all) = self.levels.pop() {
            let last = self.samples.last().map_or(Time::MIN, |sample| sample.time);
            all.leave(last, &self.samples, to);
        }
    }
}

/// Shows the gaps between visits that were recorded, of which the first may follow an operation that has ended, and the last may not be the last of the location.
pub(super) fn walk(
    recording: &Recording<'_>,
    contexts: &Contexts,
    ended: Option<(u32, Time)>,
    is_last: bool,
    to: &mut impl Visitor,
) {
    let mut walker = Walker::new(ended);
    // When each visit around is left, and the first recorded visit after it.
    let mut around: Vec<(Time, usize)> = Vec::new();
    let mut called = recording.called;
    let mut samples = recording.samples;
    for (index, visit) in recording.visits.iter().enumerate() {
        let before = split(&mut samples, |sample| sample.next.index() <= index);
        before.iter().for_each(|sample| walker.sample(*sample));
        for (exit, _) in around.drain((visit.depth as usize).min(around.len())..).rev() {
            walker.leave(exit, to);
        }
        split(&mut called, |called| called.visit.index() < index);
        let own = called.first().filter(|called| called.visit.index() == index);
        let end = around.last().map_or(usize::MAX, |(_, end)| *end);
        let next = called.first().filter(|next| next.visit.index() < end);
        walker.enter(visit.enter, contexts.is_operation(visit.region), own, next, to);
        to.enter(visit, own);
        around.push((visit.exit, recording.ends[index]));
    }
    samples.iter().for_each(|sample| walker.sample(*sample));
    for (exit, _) in around.drain(..).rev() {
        walker.leave(exit, to);
    }
    if is_last {
        walker.finish(to);
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

    fn leave(self, exit: Time, samples: &[Sampled], to: &mut impl Visitor) {
        let end = self.last.map_or(exit, |last| last.max(exit));
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
