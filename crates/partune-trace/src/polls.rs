//! Loops that poll: tests and probes in a row, of one call path, are one visit with their number, whoever recorded them.
//!
//! A program that waits by asking again and again does one thing, and it is one operation to everybody above. The loop around the polls is part of it if it takes
//! at most [`LOOP`] seconds a turn, with the functions that were seen there; what takes longer is work of the program. All polls but the last of a row found nothing.

use crate::facts::{Polls, Stream};
use crate::kinds::{RequestKind, RmaCompletionKind};
use crate::stream::VisitIx;
use crate::{CallPaths, Region};

use partune_base::{RegionId, Table};

/// Seconds between two polls that are one visit, at most. The recorder takes the same where it keeps rows of polls itself.
const LOOP: f64 = 1e-6;
/// Visits of functions in one turn of the loop, at most.
const AROUND: usize = 16;

/// What of a trace polls, by call path.
pub(crate) struct Polling {
    is_poll: Vec<bool>,
    is_user: Vec<bool>,
    /// Ticks of the loop around polls, at most.
    longest: i64,
}

impl Polling {
    /// `None` if nothing polls.
    pub(crate) fn of(paths: &CallPaths, regions: &Table<RegionId, Region>, ticks_per_second: u64) -> Option<Polling> {
        let is_poll: Vec<bool> = paths.ids().map(|path| regions[paths.region(path)].is_poll()).collect();
        let is_user = paths.ids().map(|path| !paths.operation(path).is_some()).collect();
        let longest = (LOOP * ticks_per_second as f64) as i64;
        is_poll.contains(&true).then_some(Polling { is_poll, is_user, longest })
    }

    /// The poll of the same path that follows one, with nothing but the loop between them.
    fn next(&self, Stream { visits, .. }: &Stream, poll: usize) -> Option<usize> {
        let (path, exit) = (visits.path[poll], visits.exit[poll]);
        if !self.is_poll[path.0 as usize] {
            return None;
        }
        let last = visits.len().min(poll + 2 + AROUND);
        let next = (poll + 1..last).find(|visit| !self.is_user[visits.path[*visit].0 as usize])?;
        let enter = visits.enter[next];
        let is_between = |visit: usize| visits.enter[visit] >= exit && visits.exit[visit] <= enter;
        let follows = visits.path[next] == path
            && enter >= exit
            && enter.since(exit).0 <= self.longest
            && (poll + 1..next).all(is_between);
        follows.then_some(next)
    }
}

impl Stream {
    /// By visit, whether something was completed there.
    pub fn completing(&self) -> Vec<bool> {
        let mut found = vec![false; self.visits.len()];
        let mut mark = |visit: VisitIx| {
            if let Some(found) = found.get_mut(visit.index()) {
                *found = true;
            }
        };
        self.recvs.iter().for_each(|row| mark(row.visit));
        self.collectives.iter().for_each(|row| mark(row.visit));
        let requests = self.requests.iter().filter(|row| row.kind != RequestKind::Tested);
        requests.for_each(|row| mark(row.visit));
        let accesses = self.completions.iter().filter(|row| row.kind != RmaCompletionKind::Tested);
        accesses.for_each(|row| mark(row.visit));
        self.rma_syncs.iter().for_each(|row| mark(row.visit));
        self.io.iter().for_each(|row| mark(row.visit));
        self.handles.iter().for_each(|row| mark(row.visit));
        found
    }

    /// Calls that visits stand for besides one, of those that stand for several.
    pub fn repeated(&self) -> impl Iterator<Item = (VisitIx, u64)> + '_ {
        let known = self.polls.iter().filter(|row| row.visit.is_some());
        known.map(|row| (row.visit, row.count.saturating_sub(1)))
    }

    /// Joins polls in a row; visits are in order, and rows too.
    pub(crate) fn join_polls(&mut self, polling: &Polling, open: &mut [VisitIx]) {
        let completing = self.completing();
        let next = |poll: usize| if completing[poll] { None } else { polling.next(self, poll) };
        if !(0..self.visits.len()).any(|visit| next(visit).is_some()) {
            return;
        }
        // The visit that each becomes part of, of those that are left the old number, and how many calls they are.
        let mut joined: Vec<VisitIx> = Vec::with_capacity(self.visits.len());
        let (mut firsts, mut rows): (Vec<usize>, Vec<Polls>) = (Vec::new(), Vec::new());
        let mut told = self.polls.iter().filter(|row| row.visit.is_some()).peekable();
        let mut first = 0;
        while first < self.visits.len() {
            let into = VisitIx(firsts.len() as u32);
            let mut row = Polls { visit: into, time: self.visits.enter[first], count: 0, found: true };
            let mut poll = first;
            loop {
                while told.next_if(|row| row.visit.index() < poll).is_some() {}
                let of_poll = told.next_if(|row| row.visit.index() == poll);
                row.count = row.count.saturating_add(of_poll.map_or(1, |row| row.count));
                row.found = of_poll.is_none_or(|row| row.found);
                match next(poll) {
                    Some(next) => poll = next,
                    None => break,
                }
            }
            if row.count > 1 || !row.found {
                rows.push(row);
            }
            firsts.push(first);
            joined.resize(poll + 1, into);
            first = poll + 1;
        }
        let is_first = |visit: VisitIx| firsts[joined[visit.index()].index()] == visit.index();
        let has_place = |visit: VisitIx| !visit.is_some() || is_first(visit);
        self.requests.retain(|row| row.kind != RequestKind::Tested || has_place(row.visit));
        self.completions.retain(|row| row.kind != RmaCompletionKind::Tested || has_place(row.visit));
        let visits = std::mem::take(&mut self.visits);
        for (place, first) in firsts.iter().enumerate() {
            let last = firsts.get(place + 1).map_or(visits.len(), |next| *next) - 1;
            let mut visit = visits.at(VisitIx(*first as u32));
            if last > *first {
                visit.exit = visits.exit[last];
            }
            self.visits.push(visit);
        }
        self.map_visits(|visit| joined[visit.index()]);
        open.iter_mut().for_each(|visit| *visit = joined[visit.index()]);
        self.polls = rows;
    }
}
