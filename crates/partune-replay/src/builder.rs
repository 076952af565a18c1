//! Makes the steps of a PE: its visits and its ends of ties, one after the other, with what changes do to them.

use std::cmp::Reverse;

use partune_base::{CallPathId, Id, PeId, Time};
use partune_index::{End, Part};
use partune_trace::{Completion, Role, VisitIx};

use crate::classes::{Classifier, Found, RECORDED, acts};
use crate::effects::{Effects, Moment, Treatment, add, grain};
use crate::program::{Operation, Step, What};
use crate::source::Source;
use crate::sweep::{Doing, Watch};

/// An operation that is open.
struct Open {
    number: u32,
    begin: Time,
    /// What the PE had worked when it began: what it works from then on is code of the user's that runs inside.
    worked: i64,
    /// The latest of the gifts that it needs, and how many they are.
    gift: Time,
    needs: u32,
    /// What it gives leaves with a later one that it is combined with.
    holds: bool,
}

/// Makes the steps of one PE.
pub(crate) struct Builder<'a> {
    source: &'a Source<'a>,
    effects: &'a Effects,
    pe: PeId,
    ends: &'a [End],
    next_end: usize,
    now: Time,
    doing: Doing,
    /// Work since the last step.
    work: f64,
    /// Ticks of the run that were the user's code, and not an operation.
    worked: i64,
    open: Vec<Open>,
    /// Times outside of operations in which it only waited, in order.
    holes: Vec<(Time, Time)>,
    next_hole: usize,
    /// The first time with a lock that is not over.
    next_held: usize,
    /// Whether it matters in which block work is done, and under which locks: it is shared out, or counted to be.
    by_block: bool,
    block: usize,
    steps: Vec<Step>,
    operations: Vec<Operation>,
    /// Finds the classes of operations, while the run is looked at for the first time.
    classifier: Option<Classifier<'a>>,
    /// What was found of them then, in order of their begins, and how many began.
    known: &'a [Operation],
    begun: usize,
    /// Whether something is done later than where it is called.
    defers: bool,
    /// What was started before and is needed later: it waits for these at its next step with others.
    deferred: Vec<(u32, u32)>,
    /// What is done later than where it is called: the operation, what it takes, and after when; and the first of `effects.delays` that is to come.
    delayed: Vec<(u32, Vec<u32>, Time)>,
    next_delay: usize,
    /// What those that are combined give, and how many they are so far.
    held: Vec<u32>,
    combined: u32,
    /// The last operation with others was a collective.
    met: bool,
    /// Of each share of the effects, how many of its moments in the block have been.
    next_moments: Vec<usize>,
    /// For each operation that takes something, when the last of it was given; empty if nothing is shared out.
    last_gifts: Vec<(VisitIx, Time)>,
    counted: Option<Counted<'a>>,
}

/// Work on some paths, in place of steps.
struct Counted<'a> {
    paths: &'a [bool],
    /// By block.
    moments: Vec<Vec<Moment>>,
    grain: i64,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(source: &'a Source<'a>, pe: PeId, effects: &'a Effects) -> Builder<'a> {
        let trace = source.trace;
        let stream = &trace.streams()[pe];
        let ends = &source.ends[pe];
        // Who takes outside of all operations waits there until it came.
        let in_operation =
            |visit: VisitIx| stream.visits.path.get(visit.index()).is_some_and(|path| source.operating[*path]);
        let mut holes: Vec<(Time, Time)> = ends
            .iter()
            .filter(|end| end.part == Part::Takes && !in_operation(end.visit))
            .map(|end| (end.time, source.gifts[end.tie as usize]))
            .filter(|(begin, end)| begin < end)
            .collect();
        holes.sort_unstable();
        let mut builder = Builder {
            source,
            effects,
            pe,
            ends,
            next_end: 0,
            now: if source.is_called(pe) { trace.begin() } else { stream.begin().unwrap_or_default() },
            doing: Doing::Idle,
            work: 0.0,
            worked: 0,
            open: Vec::new(),
            holes,
            next_hole: 0,
            next_held: 0,
            by_block: !effects.shares.is_empty(),
            block: 0,
            steps: Vec::with_capacity(2 * stream.operations.len() + ends.len() + 2),
            operations: Vec::with_capacity(stream.operations.len()),
            classifier: None,
            known: &[],
            begun: 0,
            defers: effects.defers(),
            deferred: Vec::new(),
            delayed: Vec::new(),
            next_delay: 0,
            held: Vec::new(),
            combined: 0,
            met: false,
            next_moments: vec![0; effects.shares.len()],
            last_gifts: if effects.shares.is_empty() { Vec::new() } else { last_gifts(source, pe) },
            counted: None,
        };
        builder.steps.push(Step { at: builder.now, work: 0, what: What::Goes });
        builder
    }

    pub(crate) fn pe(&self) -> PeId {
        self.pe
    }

    /// Finds out what there is to know of operations.
    pub(crate) fn classifying(mut self) -> Self {
        self.classifier = Some(Classifier::new(self.source, self.pe));
        self
    }

    /// Takes that from the program without changes.
    pub(crate) fn knowing(mut self, known: &'a [Operation]) -> Self {
        self.known = known;
        self
    }

    /// Adds up work on some paths in place of making steps.
    pub(crate) fn counting(mut self, paths: &'a [bool]) -> Self {
        let moments = vec![Vec::new(); self.source.index.blocks.blocks.len().max(1)];
        let grain = grain(self.source.trace);
        self.counted = Some(Counted { paths, moments, grain });
        self.by_block = true;
        self
    }

    /// What was added up, by block.
    pub(crate) fn moments(self) -> Vec<Vec<Moment>> {
        self.counted.map(|counted| counted.moments).unwrap_or_default()
    }

    fn step(&mut self, what: What) {
        // What others began while it was in an operation it does after that.
        if self.open.is_empty() && !matches!(what, What::Leaves(_)) {
            // A thread between its parts in teams does nothing that would show that a block is over.
            self.end_blocks();
            self.take_shares(self.begun_before(what));
        }
        // What is left of a tick counts later, so that nothing runs backwards.
        let work = (self.work + 1e-6) as i64;
        self.work -= work as f64;
        self.steps.push(Step { at: self.now, work, what });
    }

    /// What others began by then is begun before a step: nobody can wait, for what is given, with what comes after that.
    fn begun_before(&self, what: What) -> Time {
        match what {
            What::Gives(tie) if !self.effects.shares.is_empty() && self.source.lock(tie).is_none() => {
                let taken = self.source.taken().get(tie as usize).copied().unwrap_or(Time::MAX);
                self.now.min(Time(taken.0.saturating_sub(1)))
            }
            _ => self.now,
        }
    }

    /// Time goes on, of which the PE's own code counts.
    fn pass(&mut self, until: Time) {
        if until <= self.now {
            return;
        }
        let (from, doing) = (self.now, self.doing);
        self.now = until;
        match doing {
            Doing::Work(path) => {
                let spent = until.since(from).0 - self.waited(from, until);
                self.worked += until.since(from).0;
                self.work_on(path, from, until, spent as f64);
            }
            Doing::Operation(_) | Doing::Idle => {}
        }
    }

    /// Ticks of an interval of the user's code in which it only waited.
    fn waited(&mut self, from: Time, until: Time) -> i64 {
        let mut sum = 0;
        while let Some((begin, end)) = self.holes.get(self.next_hole).copied() {
            if begin >= until {
                break;
            }
            sum += end.min(until).since(begin.max(from)).0.max(0);
            if end > until {
                break;
            }
            self.next_hole += 1;
        }
        sum.min(until.since(from).0)
    }

    /// Work of an interval, block by block.
    fn work_on(&mut self, path: CallPathId, from: Time, until: Time, spent: f64) {
        if !self.by_block {
            self.work += spent * self.effects.work(self.pe, path, None);
            return;
        }
        let share = spent / until.since(from).0 as f64;
        let mut begin = from;
        while begin < until {
            let (holds, over) = self.holds(begin);
            let end = self.block_end().map_or(until, |end| end.min(until)).min(over).max(begin);
            // Nobody else can do what is done while a lock is held, so it is not shared out.
            let block = (!holds).then_some(self.block);
            let ticks = end.since(begin).0 as f64 * share * self.effects.work(self.pe, path, block);
            match &mut self.counted {
                Some(counted) => {
                    let at = path.some().map_or(self.source.trace.paths().len(), Id::index);
                    let counts = !holds && counted.paths.get(at) == Some(&true);
                    if counts && let Some(moments) = counted.moments.get_mut(self.block) {
                        add(moments, (begin, ticks), counted.grain);
                    }
                }
                None => self.work += ticks,
            }
            begin = end;
            if begin < until && self.block_end().is_some_and(|end| end <= begin) {
                self.end_block();
            }
        }
    }

    /// Whether the PE holds a lock at a time, and until when that stays so.
    fn holds(&mut self, at: Time) -> (bool, Time) {
        let held = &self.source.held[self.pe];
        while held.get(self.next_held).is_some_and(|(_, end)| *end <= at) {
            self.next_held += 1;
        }
        match held.get(self.next_held) {
            None => (false, Time::MAX),
            Some((begin, end)) if *begin <= at => (true, *end),
            Some((begin, _)) => (false, *begin),
        }
    }

    /// Whether a lock is held right before a time, and may be given back at that.
    fn is_in_hold(&self, at: Time) -> bool {
        let held = &self.source.held[self.pe];
        let next = held.partition_point(|(_, end)| *end < at);
        held.get(next).is_some_and(|(begin, _)| *begin < at)
    }

    /// When the block ends that the PE is in; none for the last.
    fn block_end(&self) -> Option<Time> {
        let extents = self.source.index.blocks.extents.get(self.pe)?;
        (self.block + 1 < extents.len()).then(|| extents[self.block].1)
    }

    fn end_block(&mut self) {
        for (shares, next) in self.effects.shares.iter().zip(&mut self.next_moments).filter(|(it, _)| !it.is_whole) {
            self.work += shares.share(self.pe, self.block, next, Time::MAX);
            *next = 0;
        }
        self.block += 1;
    }

    /// What the PE does of the work that others began by a time, once it is in its block and no longer in the synchronisation before it, nor holds a lock.
    fn take_shares(&mut self, until: Time) {
        if self.effects.shares.is_empty() || self.is_in_hold(until) {
            return;
        }
        let extents = self.source.index.blocks.extents.get(self.pe);
        let begin = extents.and_then(|extents| extents.get(self.block)).map(|extent| extent.0);
        let is_before = until < Time::MAX && begin.is_some_and(|begin| begin > self.now);
        for (shares, next) in self.effects.shares.iter().zip(&mut self.next_moments) {
            if is_before && !shares.is_whole {
                continue;
            }
            self.work += shares.share(self.pe, self.block, next, until);
        }
    }

    /// Blocks that ended by now.
    fn end_blocks(&mut self) {
        while self.by_block && self.block_end().is_some_and(|end| end <= self.now) {
            self.end_block();
        }
    }

    /// Ends of ties up to a time; those at this time only if they are of this visit, or of none that is to come.
    fn give_and_take(&mut self, until: Time, visit: VisitIx) {
        while let Some(end) = self.ends.get(self.next_end).copied() {
            if end.time > until || end.time == until && end.visit != visit && end.visit > visit {
                break;
            }
            self.next_end += 1;
            self.pass(end.time);
            if self.source.post(end.tie).is_none_or(|bytes| bytes >= self.effects.eager) {
                self.end(end);
            }
        }
    }

    fn end(&mut self, end: End) {
        let (treatment, holds) = self
            .open
            .last()
            .map_or((Treatment::Stays, false), |open| (self.operations[open.number as usize].treatment, open.holds));
        let tie = end.tie;
        match (end.part, treatment) {
            (_, Treatment::Goes) => {}
            (Part::Gives | Part::PassesOn | Part::Takes, Treatment::Joins) if self.in_collective() => {}
            (Part::Gives | Part::PassesOn, _) if holds && !self.in_collective() => self.held.push(tie),
            (Part::Begins, _) => self.step(What::Begins(tie)),
            (Part::Gives | Part::PassesOn, _) => {
                self.step(What::Gives(tie));
                self.give_held();
            }
            (Part::Takes, Treatment::Moves) => {
                if let Some((_, takes, _)) = self.delayed.last_mut() {
                    takes.push(tie);
                }
            }
            (Part::Takes, Treatment::Starts) => {
                let number = self.open.last().map_or(0, |open| open.number);
                self.deferred.push((tie, number));
                self.needs(tie);
            }
            (Part::Takes, _) => {
                self.needs(tie);
                self.step(What::Takes(tie));
            }
        }
    }

    /// When the last of the gifts was given that an operation takes, within it; none if it takes none.
    fn last_gift(&self, visit: VisitIx) -> Option<Time> {
        let at = self.last_gifts.binary_search_by_key(&visit, |it| it.0).ok()?;
        Some(self.last_gifts[at].1)
    }

    /// The operation around needs a gift.
    fn needs(&mut self, tie: u32) {
        let gift = self.source.gifts[tie as usize];
        if let Some(open) = self.open.last_mut() {
            open.gift = open.gift.max(gift);
            open.needs += 1;
        }
    }

    fn in_collective(&self) -> bool {
        let visit = self.open.last().map(|open| self.operations[open.number as usize].visit);
        visit.is_some_and(|visit| self.source.trace.role_of(self.pe, visit).is_collective())
    }

    /// What was combined with an operation is given with it.
    fn give_held(&mut self) {
        for tie in std::mem::take(&mut self.held) {
            self.step(What::Gives(tie));
        }
    }

    /// Whether an operation that begins is done later, and after when.
    fn delay(&mut self, visit: VisitIx) -> Option<Time> {
        let delays = &self.effects.delays[self.pe];
        while delays.get(self.next_delay).is_some_and(|delay| delay.0 < visit) {
            self.next_delay += 1;
        }
        delays.get(self.next_delay).filter(|delay| delay.0 == visit).map(|delay| delay.1)
    }

    /// Does what was put off until now.
    fn catch_up(&mut self, until: Time) {
        if self.delayed.is_empty() {
            return;
        }
        let due = self.delayed.iter().take_while(|delayed| delayed.2 <= until).count();
        for (number, takes, _) in self.delayed.drain(..due).collect::<Vec<_>>() {
            let number = self.repeat(number, Treatment::Stays);
            self.step(What::Enters(number));
            takes.into_iter().for_each(|tie| self.step(What::Takes(tie)));
            self.step(What::Leaves(number));
        }
    }

    /// The same operation once more.
    fn repeat(&mut self, number: u32, treatment: Treatment) -> u32 {
        self.operations.push(Operation { treatment, ..self.operations[number as usize] });
        self.operations.len() as u32 - 1
    }

    /// What becomes of an operation that begins, and whether what it gives leaves with a later one.
    fn treatment(&mut self, visit: VisitIx, role: Role) -> (Treatment, bool) {
        let path = self.source.trace.streams()[self.pe].visits.path[visit.index()];
        let treatment = self.effects.treatment(path);
        let (acts, before) = (acts(role), self.met);
        if acts {
            self.met = role.is_collective();
        }
        let combines = matches!(treatment, Treatment::Combines(_));
        // Shut-down waits for what was started, too, and work that is given to a device may need it.
        let is_launch = || {
            role == Role::TaskCreate
                && self.source.trace.region_of(self.pe, visit).completion == Completion::NonBlocking
        };
        let needs_all = acts || role == Role::Finalize || is_launch();
        if needs_all && treatment != Treatment::Starts && !combines && self.defers {
            self.complete();
        }
        match treatment {
            Treatment::Combines(count) => {
                let treatment = if self.combined == 0 { Treatment::Stays } else { Treatment::Joins };
                self.combined = (self.combined + 1) % count.max(1);
                (treatment, self.combined != 0)
            }
            Treatment::Merges if before => (Treatment::Joins, false),
            Treatment::Merges => (Treatment::Stays, false),
            other => (other, false),
        }
    }

    /// What was started is awaited, and what was held back is given, before the PE does something else with others.
    fn complete(&mut self) {
        self.give_held();
        self.combined = 0;
        for (tie, number) in std::mem::take(&mut self.deferred) {
            let number = self.repeat(number, Treatment::Awaits);
            self.step(What::Enters(number));
            self.step(What::Takes(tie));
            self.step(What::Leaves(number));
        }
        self.step(What::Completes);
    }

    /// Steps, operations, and the classes that were found.
    pub(crate) fn finish(mut self) -> (Vec<Step>, Vec<Operation>, Found) {
        let end = self.source.trace.streams()[self.pe].end().unwrap_or(self.now).max(self.now);
        self.give_and_take(Time::MAX, VisitIx::NONE);
        self.pass(end);
        self.catch_up(Time::MAX);
        if self.defers {
            self.complete();
        }
        self.take_shares(Time::MAX);
        self.step(What::Goes);
        let mut operations = self.operations;
        operations.shrink_to_fit();
        (self.steps, operations, self.classifier.map(Classifier::finish).unwrap_or_default())
    }
}

/// For each operation of a PE that takes something within it, when the last of it was given, in order.
fn last_gifts(source: &Source<'_>, pe: PeId) -> Vec<(VisitIx, Time)> {
    let visits = &source.trace.streams()[pe].visits;
    let taken = |end: &End| {
        let visit = visits.get(end.visit).filter(|it| (it.enter..=it.exit).contains(&end.time))?;
        (end.part == Part::Takes).then(|| (end.visit, source.gifts[end.tie as usize].min(visit.exit)))
    };
    let mut gifts: Vec<(VisitIx, Time)> = source.ends[pe].iter().filter_map(taken).collect();
    // The latest of each operation is the first of it.
    gifts.sort_unstable_by_key(|(visit, given)| (*visit, Reverse(*given)));
    gifts.dedup_by_key(|it| it.0);
    gifts
}

impl Watch for Builder<'_> {
    fn goes_on(&mut self, until: Time, doing: Doing) {
        self.doing = doing;
        let visit = match doing {
            Doing::Operation(visit) => visit,
            Doing::Work(_) | Doing::Idle => VisitIx(0),
        };
        if self.counted.is_none() {
            // What happens at the end of an interval is of whatever follows, unless it is of the operation that ends there.
            let before = if matches!(doing, Doing::Operation(_)) { until } else { Time(until.0.saturating_sub(1)) };
            self.catch_up(self.now);
            self.give_and_take(before, visit);
        }
        self.pass(until);
    }

    fn begins(&mut self, at: Time, visit: VisitIx) {
        self.now = self.now.max(at);
        self.end_blocks();
        if self.counted.is_some() {
            return;
        }
        let role = self.source.trace.role_of(self.pe, visit);
        let delay = self.delay(visit);
        let (treatment, holds) = if delay.is_some() { (Treatment::Moves, false) } else { self.treatment(visit, role) };
        if acts(role) {
            // Who only waited in it for what it now has a share of, does that before: what others began before they gave what it waited for.
            if self.by_block
                && let Some(gift) = self.last_gift(visit)
            {
                self.take_shares(Time(gift.0.saturating_sub(1)));
            }
        }
        let number = self.operations.len() as u32;
        let unknown = Operation { visit, class: RECORDED, waited: false, remote: false, measured: 0, treatment };
        let known = self.known.get(self.begun).copied().unwrap_or(unknown);
        self.begun += 1;
        self.operations.push(Operation { treatment, ..known });
        self.step(What::Enters(number));
        self.delayed.extend(delay.map(|after| (number, Vec::new(), after)));
        self.open.push(Open { number, begin: at, worked: self.worked, gift: Time::MIN, needs: 0, holds });
    }

    fn ends(&mut self, at: Time, visit: VisitIx) {
        if self.counted.is_some() {
            return;
        }
        self.give_and_take(at, visit);
        let Some(open) = self.open.pop() else { return };
        if let Some(classifier) = &mut self.classifier {
            let inside = self.worked - open.worked;
            let waited = open.gift > Time(open.begin.0 + inside) && open.gift <= at;
            let measured = if waited { at.since(open.gift).0 } else { at.since(open.begin).0 - inside };
            let operation = &mut self.operations[open.number as usize];
            (operation.class, operation.remote) = classifier.class(visit, open.needs);
            (operation.waited, operation.measured) = (waited, measured.max(0));
        }
        self.step(What::Leaves(open.number));
    }
}
