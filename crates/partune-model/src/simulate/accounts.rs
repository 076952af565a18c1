//! The accounts of a breakdown, kept while the machine runs: time by process, waiting by queue, and chains.
//!
//! A row is the program itself, or a branch of its outermost parallel terms with all that happens inside it. Cost when asked for: some
//! operations a use. Memory: the processes that live at once, the queues, a bounded number of rows, and the chains, which are bounded.

use std::collections::BTreeMap;

use super::chain::{Chains, EMPTY, Key};
use super::machine::NONE;
use super::program::At;
use super::time::{Clock, Stop};
use super::watch::{Grant, Watch};

/// Rows of their own; what comes later shares one more.
const ROWS: usize = 10_000;
/// The row of what is in no parallel term.
const MAIN: u32 = 0;

/// What a row did. Its strands are its processes; one that waits for those that it started is none meanwhile, one that waits for the end of
/// its parallel term still is.
#[derive(Clone)]
pub(super) struct Row<C: Clock> {
    /// The step and index of the branch; none for the program, and for the row of all others.
    pub(super) branch: Option<(At, i64)>,
    pub(super) starts: u64,
    pub(super) busy: C::Sum,
    pub(super) waiting: C::Sum,
    pub(super) par_end: C::Sum,
    /// Of all strands.
    pub(super) time: C::Sum,
    strands: u64,
    /// Since when so many.
    since: C::Time,
    /// Branches that wait for the others, and since when so many.
    done: u64,
    last: C::Time,
}

/// A process of the machine.
#[derive(Clone, Copy)]
struct Frame<T> {
    row: u32,
    chain: u32,
    /// Those it started, in its own row, that ended; and when the last did.
    done: u64,
    last: T,
}

/// Waiting for one queue.
#[derive(Clone, Copy, Default)]
pub(super) struct Waits<S> {
    pub(super) count: u64,
    pub(super) time: S,
}

pub(super) struct Accounts<'a, C: Clock> {
    clock: &'a C,
    pub(super) rows: Vec<Row<C>>,
    known: BTreeMap<(At, i64), u32>,
    frames: Vec<Frame<C::Time>>,
    /// Rows with a branch that ended, of the outermost parallel term that runs: there is one at most.
    open: Vec<u32>,
    pub(super) waits: Vec<Waits<C::Sum>>,
    pub(super) chains: Chains<'a, C>,
}

impl<'a, C: Clock> Accounts<'a, C> {
    /// For so many queues; `links` bounds the chains.
    pub(super) fn new(clock: &'a C, queues: u32, links: usize) -> Self {
        Accounts {
            clock,
            rows: vec![Row::empty(None)],
            known: BTreeMap::new(),
            frames: Vec::new(),
            open: Vec::new(),
            waits: vec![Waits::default(); queues as usize],
            chains: Chains::new(clock, links),
        }
    }

    /// The run ended: the chain of its end, after the row of the program is complete.
    pub(super) fn close(&mut self, now: C::Time) -> u32 {
        self.strands(MAIN, now, 0, 0);
        self.frames.first().map_or(EMPTY, |frame| frame.chain)
    }

    /// More and fewer strands of a row from now on.
    fn strands(&mut self, row: u32, now: C::Time, more: u64, fewer: u64) {
        let row = &mut self.rows[row as usize];
        row.time = self.clock.plus(row.time, self.clock.span(row.since, now, row.strands));
        row.since = now;
        row.strands = (row.strands + more).saturating_sub(fewer);
    }

    /// The row of a branch of an outermost parallel term.
    fn row(&mut self, branch: (At, i64)) -> u32 {
        if let Some(row) = self.known.get(&branch) {
            return *row;
        }
        let next = self.rows.len() as u32;
        if self.rows.len() > ROWS + 1 {
            return next - 1;
        }
        if self.rows.len() == ROWS + 1 {
            self.rows.push(Row::empty(None));
            return next;
        }
        self.rows.push(Row::empty(Some(branch)));
        self.known.insert(branch, next);
        next
    }

    fn frame(&mut self, id: u32) -> &mut Frame<C::Time> {
        let empty = Frame { row: MAIN, chain: EMPTY, done: 0, last: C::Time::default() };
        if self.frames.len() <= id as usize {
            self.frames.resize(id as usize + 1, empty);
        }
        &mut self.frames[id as usize]
    }

    /// Time of a process that nothing but itself decided.
    fn own(&mut self, id: u32, resource: u32, time: C::Sum) -> Result<(), Stop> {
        let Frame { row, chain, .. } = *self.frame(id);
        let chain = self.chains.append(chain, Key { row, resource, handed: false }, time)?;
        self.frame(id).chain = chain;
        Ok(())
    }
}

impl<C: Clock> Row<C> {
    fn empty(branch: Option<(At, i64)>) -> Self {
        let (zero, start) = (C::Sum::default(), C::Time::default());
        Row {
            branch,
            starts: 0,
            busy: zero,
            waiting: zero,
            par_end: zero,
            time: zero,
            strands: 0,
            since: start,
            done: 0,
            last: start,
        }
    }

    /// Branches that are done waited until now.
    fn waited(&mut self, clock: &C, now: C::Time) {
        self.par_end = clock.plus(self.par_end, clock.span(self.last, now, self.done));
        self.last = now;
    }
}

impl<C: Clock> Watch<C> for Accounts<'_, C> {
    fn created(&mut self, owner: u32, id: u32, branch: Option<(At, i64)>, now: C::Time) {
        let Frame { row, chain, .. } = *self.frame(owner);
        let row = match branch {
            Some(branch) if row == MAIN => self.row(branch),
            _ => row,
        };
        let chain = self.chains.share(chain);
        *self.frame(id) = Frame { row, chain, done: 0, last: now };
        let first = owner == super::machine::ROOT;
        let account = &mut self.rows[row as usize];
        account.starts += u64::from(first || (branch.is_some() && self.frames[owner as usize].row != row));
        self.strands(row, now, 1, 0);
    }

    fn forked(&mut self, id: u32, now: C::Time) {
        let row = self.frame(id).row;
        self.strands(row, now, 0, 1);
    }

    fn ended(&mut self, id: u32, parent: u32, now: C::Time) {
        let clock = self.clock;
        let Frame { row, chain, .. } = *self.frame(id);
        self.frame(id).chain = EMPTY;
        let over = self.frame(parent);
        let before = std::mem::replace(&mut over.chain, chain);
        if over.row == row {
            let waited = clock.span(over.last, now, over.done);
            over.done += 1;
            over.last = now;
            let account = &mut self.rows[row as usize];
            account.par_end = clock.plus(account.par_end, waited);
        } else {
            let account = &mut self.rows[row as usize];
            account.waited(clock, now);
            account.done += 1;
            if account.done == 1 {
                self.open.push(row);
            }
        }
        self.chains.drop(before);
    }

    fn joined(&mut self, id: u32, now: C::Time) {
        let frame = self.frame(id);
        let (row, done) = (frame.row, std::mem::take(&mut frame.done));
        self.strands(row, now, 1, done);
        if row != MAIN {
            return;
        }
        for row in std::mem::take(&mut self.open) {
            let account = &mut self.rows[row as usize];
            account.waited(self.clock, now);
            let done = std::mem::take(&mut account.done);
            self.strands(row, now, 0, done);
        }
    }

    fn delayed(&mut self, id: u32, time: C::Time) -> Result<(), Stop> {
        let time = self.clock.length(time);
        let row = self.frame(id).row as usize;
        self.rows[row].busy = self.clock.plus(self.rows[row].busy, time);
        self.own(id, NONE, time)
    }

    fn posted(&mut self, id: u32, by: u32, since: C::Time, now: C::Time) -> Result<(), Stop> {
        if since < now {
            let row = self.frame(id).row as usize;
            self.rows[row].waiting = self.clock.plus(self.rows[row].waiting, self.clock.span(since, now, 1));
            // What was done before the event is why this process is so late.
            let poster = self.frame(by).chain;
            let chain = self.chains.share(poster);
            let before = std::mem::replace(&mut self.frame(id).chain, chain);
            self.chains.drop(before);
        }
        Ok(())
    }

    fn granted(&mut self, grant: Grant<C::Time>, now: C::Time) -> Result<(), Stop> {
        let Grant { id, resource, duration, since, from } = grant;
        let time = self.clock.length(duration);
        let row = self.frame(id).row;
        let account = &mut self.rows[row as usize];
        account.busy = self.clock.plus(account.busy, time);
        // A server that came back at the moment of the request made nobody wait.
        let Some(from) = from.filter(|_| since < now) else { return self.own(id, resource, time) };
        let waited = self.clock.span(since, now, 1);
        account.waiting = self.clock.plus(account.waiting, waited);
        let waits = &mut self.waits[resource as usize];
        *waits = Waits { count: waits.count + 1, time: self.clock.plus(waits.time, waited) };
        // What held the server is why this use begins now.
        let holder = self.frame(from).chain;
        let chain = self.chains.share(holder);
        let chain = self.chains.append(chain, Key { row, resource, handed: true }, time)?;
        let before = std::mem::replace(&mut self.frame(id).chain, chain);
        self.chains.drop(before);
        Ok(())
    }
}
