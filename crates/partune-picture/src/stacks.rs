//! What is open on a PE at any moment: the stack of visits, found from the nearest place where it is known.

use partune_base::{PeId, Table, Time};
use partune_trace::{Stream, Trace, VisitIx, Visits};
use rayon::prelude::*;

/// Visits between two known places.
const EACH: usize = 64;
/// How many of the visits around a place are known: what is further out began long before, or is found from there.
const FRAMES: usize = 4;
/// None is open.
const NOTHING: u32 = u32::MAX;

/// Of every 64th visit of each PE, the innermost visits around it: 0.25 bytes per visit.
#[derive(Clone, Debug)]
pub struct Stacks {
    around: Table<PeId, Vec<[u32; FRAMES]>>,
}

impl Stacks {
    /// Linear in visits; parallel over PEs.
    pub fn new(trace: &Trace) -> Stacks {
        let streams: Vec<_> = trace.streams().iter().collect();
        let around: Vec<_> = streams.into_par_iter().map(|stream| around(&stream.visits)).collect();
        Stacks { around: Table::from(around) }
    }

    /// The visits of a PE that have begun by a moment and end after it, outermost first. Looks at 64 visits a frame at most.
    pub fn open(&self, trace: &Trace, pe: PeId, moment: Time) -> Vec<VisitIx> {
        let Some(stream) = trace.streams().get(pe) else { return Vec::new() };
        let visits = &stream.visits;
        let mut end = visits.enter.partition_point(|enter| *enter <= moment);
        let mut open = Vec::new();
        while end > 0 {
            let block = (end - 1) / EACH;
            let inside = (block * EACH..end).rev().filter(|visit| visits.exit[*visit] > moment);
            open.extend(inside.map(|visit| VisitIx(visit as u32)));
            // What is open now and began before this block was open at its begin.
            end = self.around(pe, block).next().map_or(0, |visit| visit + 1);
        }
        open.reverse();
        open
    }

    /// The innermost visits that are open where a block of 64 visits begins, from inside out; some between may have ended.
    pub(crate) fn around(&self, pe: PeId, block: usize) -> impl Iterator<Item = usize> {
        let around = self.around.get(pe).and_then(|blocks| blocks.get(block));
        around.into_iter().flatten().take_while(|visit| **visit != NOTHING).map(|visit| *visit as usize)
    }

    /// The visit in which one lies, or one after that which ended before it begins. Looks at 64 visits at most.
    pub(crate) fn caller(&self, stream: &Stream, pe: PeId, visit: usize) -> Option<usize> {
        let (visits, block) = (&stream.visits, visit / EACH);
        let mut before = (block * EACH..visit).rev();
        before.find(|other| visits.exit[*other] > visits.enter[visit]).or_else(|| self.around(pe, block).next())
    }

    /// The visits of a PE that touch an interval, in order of their enters, outermost first; `None` if more than `most` begin in it.
    pub fn within(&self, trace: &Trace, pe: PeId, begin: Time, end: Time, most: usize) -> Option<Vec<VisitIx>> {
        let Some(stream) = trace.streams().get(pe) else { return Some(Vec::new()) };
        let enters = &stream.visits.enter;
        let first = enters.partition_point(|enter| *enter <= begin);
        let last = first + enters[first..].partition_point(|enter| *enter < end);
        if last - first > most {
            return None;
        }
        let mut visits = self.open(trace, pe, begin);
        visits.extend((first..last).map(|visit| VisitIx(visit as u32)));
        Some(visits)
    }
}

fn around(visits: &Visits) -> Vec<[u32; FRAMES]> {
    let mut open: Vec<u32> = Vec::new();
    let mut around = Vec::with_capacity(visits.len().div_ceil(EACH));
    for (index, enter) in visits.enter.iter().enumerate() {
        while open.last().is_some_and(|last| visits.exit[*last as usize] <= *enter) {
            open.pop();
        }
        if index % EACH == 0 {
            let mut frames = [NOTHING; FRAMES];
            frames.iter_mut().zip(open.iter().rev()).for_each(|(frame, visit)| *frame = *visit);
            around.push(frames);
        }
        open.push(index as u32);
    }
    around
}
