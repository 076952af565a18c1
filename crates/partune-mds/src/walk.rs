//! The walk: phases in their order, PEs by their times. A PE takes all of an index, then the one goes on that is earliest; among equals, the one that did
//! least, then the first.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};

use partune_model::model::{Act, EffectKind, Model};
use partune_model::{Diagnostic, Span};
use partune_objects::random::Random;

use crate::Options;
use crate::events::Events;
use crate::layout::{Arrays, Dimension, int, number};
use crate::memory::{Latencies, Memory, Notes, Touch, Who};
use crate::order::Watch;
use crate::outcome::{Bounds, Counts, DataRow, Flow, Outcome, PeRow, PhaseRow, SIZES, Size};
use crate::program::{EachOver, Event, Loop, Node, Pieces, Program, Reference, Work, at};
use crate::trace::Recorder;

/// Rows of counts: phases, by PEs, by arrays.
const MAX_ROWS: usize = 1 << 22;
const MAX_PHASES: usize = 1000;
/// What is not in a phase is in one of this name.
pub(crate) const OUTSIDE: &str = "outside of phases";
const FEW_TURNS: &str = "a model needs few turns to show what repeats";

pub(crate) fn walk(
    model: &Model,
    program: &Program,
    arrays: &Arrays,
    options: &Options,
    recorder: Option<&mut Recorder>,
) -> Result<Outcome, Diagnostic> {
    let machine = &model.application.machine;
    let span = machine.span;
    let seconds = |e| Ok::<_, Diagnostic>(number(model, e, span)?.to_f64());
    let mut node = vec![0; program.pes];
    if let Some((symbol, e)) = &machine.node {
        for (pe, node) in node.iter_mut().enumerate() {
            *node = int(model, &e.substitute(symbol, &(pe as i64).into()), span)?;
        }
    }
    let latencies = Latencies {
        near: seconds(&machine.near)?,
        far: seconds(&machine.far)?,
        memory: seconds(&machine.memory)?,
        upgrade: seconds(&machine.upgrade)?,
        exclusive: int(model, &machine.exclusive, span)? != 0,
        node,
    };
    let barrier = seconds(&machine.barrier)?;
    if [latencies.near, latencies.far, latencies.memory, latencies.upgrade, barrier].iter().any(|it| *it < 0.0) {
        return Err(Diagnostic::error(span, "a time of the machine is negative"));
    }
    let cache = machine.cache.as_ref().map(|e| int(model, e, span)).transpose()?.filter(|bytes| *bytes > 0);
    let cache = cache.map(|bytes| bytes as u64);
    if cache.is_some_and(|bytes| bytes >> arrays.shift == 0) {
        return Err(Diagnostic::error(span, "`cache` is less than a `line`: give 0 for one that keeps all"));
    }
    let phases = model.application.phases.len() + 1;
    if phases > MAX_PHASES || phases * program.pes * arrays.all.len().max(1) > MAX_ROWS {
        let text = "too many phases, PEs and arrays: their product may be 4 million, of at most 1000 phases";
        return Err(Diagnostic::error(Span::default(), text));
    }
    let mut walk = Walk {
        program,
        arrays,
        options,
        memory: Memory::new(arrays, program.pes, phases, cache.map(|bytes| bytes >> arrays.shift), latencies),
        variables: vec![0; program.slots],
        clocks: vec![0.0; program.pes],
        met: 0.0,
        barrier,
        barriers: 0,
        unbound: int(model, &machine.unbound, span)? as u64,
        phase: phases - 1,
        closing: phases - 1,
        turn: 0,
        place: Vec::new(),
        dealt: 0,
        steps: 0,
        rows: vec![Counts::default(); phases * program.pes * arrays.all.len()],
        pes: vec![PeRow::default(); phases * program.pes],
        sets: vec![(0, 0); program.pes],
        distances: vec![[0; SIZES + 1]; phases],
        entered: vec![0; phases],
        sums: vec![Sums { pes: vec![0.0; program.pes], longest: 0.0 }; phases],
        alone: Did::default(),
        events: Events::new(model)?,
        event_waits: 0.0,
        posted: Vec::new(),
        recorder,
        stretches: Vec::new(),
        owned: vec![None; program.domains.len()],
        last: vec![Vec::new(); program.loops],
    };
    if let Some(event) = model.events.first().filter(|_| options.order && program.has_events) {
        let text = "events order tasks, so that no change of this model can be shown to be sound";
        return Err(Diagnostic::error(event.span, text).help("tune a model without events"));
    }
    if options.order {
        walk.memory.watch = Some(Watch::new(arrays));
    }
    walk.enter();
    walk.node(&program.root)?;
    walk.meet(Meeting::Needed);
    walk.leave();
    Ok(walk.outcome(model, cache))
}

/// What a PE has to do of a loop: places in the domain, in row-major order, and where each PE's begin.
#[derive(Clone, Debug)]
struct Owned {
    first: Vec<u32>,
    places: Vec<u32>,
}

/// Time from one meeting of all PEs to the next, of a phase.
#[derive(Clone, Debug)]
struct Sums {
    pes: Vec<f64>,
    /// Of whoever took longest each time.
    longest: f64,
}

/// What a PE did: seconds of weights, and what became of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Did {
    pub(crate) work: f64,
    pub(crate) counts: Counts,
}

impl Did {
    /// What was added to an earlier state of the same.
    fn since(&self, earlier: &Did) -> Did {
        Did { work: self.work - earlier.work, counts: self.counts.since(&earlier.counts) }
    }
}

/// Why all PEs meet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meeting {
    /// A loop over a domain ended.
    Loop,
    /// A barrier, which takes its time.
    Barrier,
    /// What comes needs all that was done before, if anything was.
    Needed,
}

/// What comes first of an index.
enum Ahead<'a> {
    Nothing,
    Works,
    /// For an event, by its place.
    Waits(&'a Event, usize),
}

struct Walk<'a> {
    program: &'a Program,
    arrays: &'a Arrays,
    options: &'a Options,
    memory: Memory,
    variables: Vec<i64>,
    clocks: Vec<f64>,
    /// When all PEs met last.
    met: f64,
    barrier: f64,
    barriers: u64,
    unbound: u64,
    /// The phase, and which of all turns of phases it is.
    phase: usize,
    turn: u32,
    /// The phase of the last loop over a domain: what PEs wait for each other at its end is its.
    closing: usize,
    /// Which PE each thread is on, and how often they were dealt; empty where it is open since all met.
    place: Vec<usize>,
    dealt: u64,
    steps: u64,
    rows: Vec<Counts>,
    pes: Vec<PeRow>,
    /// Working sets of the turn.
    sets: Vec<(u64, u64)>,
    distances: Vec<[u64; SIZES + 1]>,
    entered: Vec<u64>,
    sums: Vec<Sums>,
    /// What only one PE may do.
    alone: Did,
    events: Events,
    /// Seconds that PEs waited for them, and those that were posted since somebody looked.
    event_waits: f64,
    posted: Vec<usize>,
    recorder: Option<&'a mut Recorder>,
    /// Of each PE when what was not recorded yet began, and what it had done by then.
    stretches: Vec<(f64, Did)>,
    /// By domain.
    owned: Vec<Option<Owned>>,
    /// The PE that had each index of a loop before, plus one; by loop.
    last: Vec<Vec<u16>>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node) -> Result<(), Diagnostic> {
        match node {
            Node::Nothing => Ok(()),
            Node::Sequence(all) => all.iter().try_for_each(|one| self.node(one)),
            Node::Seq { slot, lo, hi, body, span } => {
                let (lo, hi) = (self.int(lo, *span)?, self.int(hi, *span)?);
                for value in lo..=hi {
                    self.step(*span)?;
                    self.variables[usize::from(*slot)] = value;
                    self.node(body)?;
                    self.fits(*span)?;
                }
                Ok(())
            }
            Node::If { test, then, otherwise, span } => {
                let holds = test.eval(&self.variables).map_err(at(*span))?;
                self.node(if holds { then } else { otherwise })
            }
            Node::Phase(phase, body) => {
                self.leave();
                let outer = std::mem::replace(&mut self.phase, *phase);
                self.enter();
                if let Some(recorder) = &mut self.recorder {
                    recorder.enter(*phase, &self.clocks);
                }
                let done = self.node(body);
                if let Some(recorder) = &mut self.recorder {
                    recorder.leave(&self.clocks);
                }
                self.leave();
                self.phase = outer;
                self.begin_turn();
                done
            }
            Node::Forall(each) => {
                self.forall(each)?;
                if !each.nowait {
                    self.meet(Meeting::Loop);
                }
                Ok(())
            }
            Node::Work(work) => self.alone(work),
            Node::Event(event) => {
                self.begin_stretches();
                match event.act {
                    Act::Post => self.post(event, self.clocks[0]),
                    Act::Await => (0..self.program.pes).try_for_each(|pe| self.wait(event, pe)),
                }
            }
            Node::Barrier => {
                self.meet(Meeting::Barrier);
                self.barriers += 1;
                Ok(())
            }
        }
    }

    /// A task outside of all loops over domains: the first PE does it, and the others wait.
    fn alone(&mut self, work: &Work) -> Result<(), Diagnostic> {
        self.meet(Meeting::Needed);
        let before = self.did(0);
        self.work(work, 0, 0)?;
        let did = self.did(0).since(&before);
        self.alone.work += did.work;
        self.alone.counts.add(&did.counts);
        let end = self.clocks[0];
        for pe in 1..self.clocks.len() {
            self.pes[self.phase * self.program.pes + pe].wait_s += end - self.clocks[pe];
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.did(0, self.met, &did);
            recorder.meet(false, &self.clocks, end);
        }
        self.begin_at(end);
        Ok(())
    }

    /// What a PE did in this phase so far.
    fn did(&self, pe: usize) -> Did {
        let (row, arrays) = (self.phase * self.program.pes + pe, self.arrays.all.len());
        let mut counts = Counts::default();
        self.rows[row * arrays..(row + 1) * arrays].iter().for_each(|of_array| counts.add(of_array));
        Did { work: self.pes[row].work_s, counts }
    }

    fn forall(&mut self, each: &Loop) -> Result<(), Diagnostic> {
        let domain = &self.program.domains[each.domain];
        let pes = self.program.pes;
        self.closing = self.phase;
        self.begin_stretches();
        let size = match &each.pieces {
            Pieces::Owned => 0,
            Pieces::Own(size) | Pieces::Guided(size) => self.int(size, each.span)?.max(1) as u64,
        };
        let is_guided = matches!(each.pieces, Pieces::Guided(_));
        let owned = if size == 0 { Some(self.owned(each)?) } else { None };
        // Which PE a thread is on: threads have the parts of the domain.
        let place = self.places();
        let moves = self.unbound != 0 || size > 0;
        let mut last = std::mem::take(&mut self.last[each.number]);
        if moves {
            last.resize(domain.count as usize, 0);
        }
        let mut left: Vec<(u64, u64)> = match &owned {
            Some(owned) => (0..pes).map(|it| (u64::from(owned.first[it]), u64::from(owned.first[it + 1]))).collect(),
            None => vec![(0, 0); pes],
        };
        let mut next = 0;
        let key = |clock: f64| clock.max(0.0).to_bits();
        // Threads that wait for an event, which is told by its place.
        let mut blocked: BTreeMap<usize, Vec<(u64, usize)>> = BTreeMap::new();
        let mut last_wait = None;
        let threads = (0..pes).map(|thread| Reverse((key(self.clocks[place[thread]]), 0_u64, thread)));
        let mut queue: BinaryHeap<_> = threads.collect();
        loop {
            for posted in std::mem::take(&mut self.posted) {
                let time = self.events.posted(posted).unwrap_or_default();
                for (done, thread) in blocked.remove(&posted).unwrap_or_default() {
                    queue.push(Reverse((key(self.clocks[place[thread]].max(time)), done, thread)));
                }
            }
            let Some(mut top) = queue.peek_mut() else { break };
            let Reverse((_, done, thread)) = *top;
            let (begin, end) = &mut left[thread];
            if *begin == *end && size > 0 && next < domain.count {
                let piece = if is_guided { ((domain.count - next) / (2 * pes as u64)).max(size) } else { size };
                (*begin, *end) = (next, domain.count.min(next.saturating_add(piece)));
                next = *end;
            }
            if *begin == *end {
                PeekMut::pop(top);
                continue;
            }
            let index = owned.as_ref().map_or(*begin as u32, |owned| owned.places[*begin as usize]);
            *begin += 1;
            let pe = place[thread];
            self.bind(each, u64::from(index));
            self.step(each.span)?;
            let mut posted = 0.0;
            let ahead = if self.program.has_events { self.ahead(&each.body, pe, &mut posted)? } else { Ahead::Works };
            if let Ahead::Waits(event, place) = ahead {
                blocked.entry(place).or_default().push((done, thread));
                last_wait = Some(event);
                *begin -= 1;
                PeekMut::pop(top);
                continue;
            }
            if key(posted) > top.0.0 {
                *begin -= 1;
                top.0.0 = key(posted);
                continue;
            }
            let thread = if size > 0 { pe } else { thread };
            self.body(&each.body, pe, thread)?;
            let row = &mut self.pes[self.phase * pes + pe];
            row.tasks += 1;
            if moves {
                let before = std::mem::replace(&mut last[index as usize], pe as u16 + 1);
                row.moved += u64::from(before != 0 && before != pe as u16 + 1);
            }
            top.0.0 = key(self.clocks[pe]);
            top.0.1 = done + 1;
        }
        if let Some(event) = last_wait.filter(|_| !blocked.is_empty()) {
            let name = self.events.name(event.number);
            let text = format!("`{name}` is awaited, and nothing up to the end of the loop posts it");
            let help = "loops are followed one after the other, and a PE does its indices in their order";
            return Err(Diagnostic::error(event.span, text).help(help));
        }
        self.last[each.number] = last;
        if let Some(owned) = owned.filter(|_| each.owner.is_none()) {
            self.owned[each.domain] = Some(owned);
        }
        (0..self.stretches.len()).for_each(|pe| self.end_stretch(pe));
        Ok(())
    }

    /// What comes is recorded from now on.
    fn begin_stretches(&mut self) {
        if self.recorder.is_some() {
            self.stretches = (0..self.program.pes).map(|pe| (self.clocks[pe], self.did(pe))).collect();
        }
    }

    fn end_stretch(&mut self, pe: usize) {
        if self.recorder.is_none() {
            return;
        }
        let now = self.did(pe);
        if let (Some(recorder), Some((begin, before))) = (&mut self.recorder, self.stretches.get_mut(pe)) {
            recorder.did(pe, *begin, &now.since(before));
            (*begin, *before) = (self.clocks[pe], now);
        }
    }

    fn post(&mut self, event: &Event, time: f64) -> Result<(), Diagnostic> {
        let place = self.events.place(event.number, &event.index, &self.variables, event.span)?;
        self.events.post(place, time);
        self.posted.push(place);
        Ok(())
    }

    /// A PE waits for an event, of which is known when it is posted.
    fn wait(&mut self, event: &Event, pe: usize) -> Result<(), Diagnostic> {
        let place = self.events.place(event.number, &event.index, &self.variables, event.span)?;
        let posted = self.events.posted(place).ok_or_else(|| {
            let text = format!("`{}` is awaited, and not posted by then", self.events.name(event.number));
            let help =
                "an index is followed as a whole: what others post in the same loop is awaited before its first task";
            Diagnostic::error(event.span, text).help(help)
        })?;
        let clock = self.clocks[pe];
        if posted > clock {
            self.end_stretch(pe);
            self.recorder.iter_mut().for_each(|recorder| recorder.wait(pe, clock, posted));
            self.fits(event.span)?;
            self.pes[self.phase * self.program.pes + pe].wait_s += posted - clock;
            self.event_waits += posted - clock;
            self.clocks[pe] = posted;
            self.end_stretch(pe);
        }
        Ok(())
    }

    /// For what an index, whose variables are set, waits before its first task, which a PE does as a whole; and when all that it awaits is posted. What it
    /// posts itself before is posted.
    fn ahead<'n>(&mut self, node: &'n Node, pe: usize, posted: &mut f64) -> Result<Ahead<'n>, Diagnostic> {
        match node {
            Node::Work(_) => Ok(Ahead::Works),
            Node::Event(event) if event.act == Act::Await => {
                let place = self.events.place(event.number, &event.index, &self.variables, event.span)?;
                let Some(time) = self.events.posted(place) else { return Ok(Ahead::Waits(event, place)) };
                *posted = posted.max(time);
                Ok(Ahead::Nothing)
            }
            Node::Event(event) => self.post(event, self.clocks[pe].max(*posted)).map(|()| Ahead::Nothing),
            Node::Sequence(all) => {
                for one in all {
                    match self.ahead(one, pe, posted)? {
                        Ahead::Nothing => {}
                        found => return Ok(found),
                    }
                }
                Ok(Ahead::Nothing)
            }
            Node::Seq { slot, lo, hi, body, span } => {
                let (lo, hi) = (self.int(lo, *span)?, self.int(hi, *span)?);
                for value in lo..=hi {
                    self.step(*span)?;
                    self.variables[usize::from(*slot)] = value;
                    match self.ahead(body, pe, posted)? {
                        Ahead::Nothing => {}
                        found => return Ok(found),
                    }
                }
                Ok(Ahead::Nothing)
            }
            Node::If { test, then, otherwise, span } => {
                let holds = test.eval(&self.variables).map_err(at(*span))?;
                self.ahead(if holds { then } else { otherwise }, pe, posted)
            }
            Node::Nothing | Node::Phase(..) | Node::Forall(_) | Node::Barrier => Ok(Ahead::Nothing),
        }
    }

    /// The parts of a domain. Those of its decomposition are taken out of where they are kept; whoever has them puts them back.
    fn owned(&mut self, each: &Loop) -> Result<Owned, Diagnostic> {
        let domain = &self.program.domains[each.domain];
        let (value, slot, span) = match (&each.owner, &domain.owner) {
            (Some(value), _) => (value, usize::from(each.slot), each.span),
            (None, Some((value, span))) => {
                if let Some(owned) = self.owned[each.domain].take() {
                    return Ok(owned);
                }
                (value, 0, *span)
            }
            (None, None) => return Err(Diagnostic::error(each.span, "nobody owns what this loop runs over")),
        };
        let kept = self.variables.clone();
        let mut owners = Vec::with_capacity(domain.count as usize);
        let mut first = vec![0_u32; self.program.pes + 1];
        for place in 0..domain.count {
            index_at(&domain.ranges, place, &mut self.variables[slot..]);
            let owner = value.int(&self.variables).map_err(at(span))?;
            if !(0..self.program.pes as i64).contains(&owner) {
                let text = format!("the owner of index {place} is {owner}, and PEs are 0 to {}", self.program.pes - 1);
                return Err(Diagnostic::error(span, text));
            }
            owners.push(owner as u16);
            first[owner as usize + 1] += 1;
        }
        self.variables = kept;
        for pe in 0..self.program.pes {
            first[pe + 1] += first[pe];
        }
        let mut free = first.clone();
        let mut places = vec![0; owners.len()];
        for (place, owner) in owners.into_iter().enumerate() {
            let free = &mut free[usize::from(owner)];
            places[*free as usize] = place as u32;
            *free += 1;
        }
        Ok(Owned { first, places })
    }

    /// Where threads are: each on its own PE; or anywhere, drawn anew where all have met.
    fn places(&mut self) -> Vec<usize> {
        if !self.place.is_empty() {
            return self.place.clone();
        }
        let mut place: Vec<usize> = (0..self.program.pes).collect();
        if self.unbound != 0 {
            Random::new(self.unbound ^ self.dealt.wrapping_mul(0xD134_2543_DE82_EF95)).shuffle(&mut place);
            self.dealt += 1;
        }
        self.place.clone_from(&place);
        place
    }

    fn bind(&mut self, each: &Loop, place: u64) {
        index_at(&self.program.domains[each.domain].ranges, place, &mut self.variables[usize::from(each.slot)..]);
    }

    /// All of an index, by one PE.
    fn body(&mut self, node: &Node, pe: usize, thread: usize) -> Result<(), Diagnostic> {
        match node {
            Node::Work(work) => self.work(work, pe, thread),
            Node::Sequence(all) => all.iter().try_for_each(|one| self.body(one, pe, thread)),
            Node::Seq { slot, lo, hi, body, span } => {
                let (lo, hi) = (self.int(lo, *span)?, self.int(hi, *span)?);
                for value in lo..=hi {
                    self.step(*span)?;
                    self.variables[usize::from(*slot)] = value;
                    self.body(body, pe, thread)?;
                }
                Ok(())
            }
            Node::If { test, then, otherwise, span } => {
                let holds = test.eval(&self.variables).map_err(at(*span))?;
                self.body(if holds { then } else { otherwise }, pe, thread)
            }
            Node::Event(event) => match event.act {
                Act::Post => self.post(event, self.clocks[pe]),
                Act::Await => self.wait(event, pe),
            },
            // None of these is inside of a loop over a domain: compilation refuses it.
            Node::Nothing | Node::Phase(..) | Node::Forall(_) | Node::Barrier => Ok(()),
        }
    }

    fn work(&mut self, work: &Work, pe: usize, thread: usize) -> Result<(), Diagnostic> {
        let mut seconds = 0.0;
        if let Some((weight, span)) = &work.weight {
            let weight = weight.eval(&self.variables).map_err(at(*span))?.to_f64();
            if weight < 0.0 || !weight.is_finite() {
                return Err(Diagnostic::error(*span, format!("a weight of {weight}")));
            }
            self.pes[self.phase * self.program.pes + pe].work_s += weight;
            seconds += weight;
        }
        let who = Who { pe: pe as u16, thread: thread as u16, phase: self.phase as u16, turn: self.turn };
        for reference in &work.references {
            seconds +=
                if reference.each.is_empty() { self.reference(reference, who)? } else { self.each(reference, 0, who)? };
        }
        self.clocks[pe] += seconds;
        if let Some(watch) = &mut self.memory.watch {
            watch.task_ends();
        }
        Ok(())
    }

    /// A reference for all that its variables from one of them on run over.
    fn each(&mut self, reference: &Reference, depth: usize, who: Who) -> Result<f64, Diagnostic> {
        let Some(each) = reference.each.get(depth) else { return self.reference(reference, who) };
        let span = reference.span;
        let mut seconds = 0.0;
        match &each.over {
            EachOver::Range(lo, hi) => {
                let (lo, hi) = (self.int(lo, span)?, self.int(hi, span)?);
                for value in lo..=hi {
                    self.step(span)?;
                    self.variables[usize::from(each.slot)] = value;
                    seconds += self.each(reference, depth + 1, who)?;
                }
            }
            EachOver::Row(table, row) => {
                let rows = &self.program.rows[*table];
                let row = self.int(row, span)?;
                let ends = usize::try_from(row).ok().and_then(|row| rows.first.get(row).zip(rows.first.get(row + 1)));
                let Some((first, last)) = ends else {
                    let count = rows.first.len() as i64 - 1;
                    return Err(Diagnostic::error(
                        span,
                        format!("`{}` has rows 0 to {}, not {row}", rows.name, count - 1),
                    ));
                };
                for value in &rows.items[*first as usize..*last as usize] {
                    self.variables[usize::from(each.slot)] = *value;
                    seconds += self.each(reference, depth + 1, who)?;
                }
            }
        }
        Ok(seconds)
    }

    fn reference(&mut self, reference: &Reference, who: Who) -> Result<f64, Diagnostic> {
        let array = &self.arrays.all[reference.array];
        let mut touch =
            Touch { first: array.first, count: 1, address: array.address, bytes: array.bytes, is_write: false };
        // Dimensions of which all is meant, but for those at the end that lie together. Most references have none, which costs nothing.
        let mut whole = Vec::new();
        for (dimension, index) in array.dimensions.iter().zip(&reference.index).rev() {
            let Some(index) = index else {
                if dimension.number == touch.count && dimension.apart == touch.count * touch.bytes {
                    touch.count *= dimension.length;
                } else {
                    whole.push(*dimension);
                }
                continue;
            };
            let index = index.int(&self.variables).map_err(at(reference.span))?;
            let offset = index.wrapping_sub(dimension.lo) as u64;
            if offset >= dimension.length {
                let last = dimension.lo + dimension.length as i64 - 1;
                let text = format!("`{}` has indices {} to {last}, not {index}", array.name, dimension.lo);
                return Err(Diagnostic::error(reference.span, text));
            }
            touch.first += offset * dimension.number;
            touch.address += offset * dimension.apart;
        }
        self.runs(reference, touch, &whole, who)
    }

    /// Runs of elements for each combination of the dimensions of which all is meant.
    fn runs(&mut self, reference: &Reference, touch: Touch, whole: &[Dimension], who: Who) -> Result<f64, Diagnostic> {
        let Some((dimension, rest)) = whole.split_last() else {
            return self.touch(reference, touch, who);
        };
        let mut seconds = 0.0;
        for at in 0..dimension.length {
            self.step(reference.span)?;
            let first = touch.first + at * dimension.number;
            let address = touch.address + at * dimension.apart;
            seconds += self.runs(reference, Touch { first, address, ..touch }, rest, who)?;
        }
        Ok(seconds)
    }

    fn touch(&mut self, reference: &Reference, touch: Touch, who: Who) -> Result<f64, Diagnostic> {
        if u64::from(self.memory.references()) + 2 > self.options.max_references {
            let text = format!("more than {} references to data", self.options.max_references);
            return Err(Diagnostic::error(reference.span, text).help(FEW_TURNS));
        }
        let pe = usize::from(who.pe);
        let row = (self.phase * self.program.pes + pe) * self.arrays.all.len() + reference.array;
        let mut notes =
            Notes { counts: &mut self.rows[row], set: &mut self.sets[pe], distances: &mut self.distances[self.phase] };
        let mut seconds = 0.0;
        if reference.kind != EffectKind::Writes {
            seconds += self.memory.touch(who, Touch { is_write: false, ..touch }, &mut notes);
        }
        if reference.kind != EffectKind::Reads {
            seconds += self.memory.touch(who, Touch { is_write: true, ..touch }, &mut notes);
        }
        Ok(seconds)
    }

    /// All PEs meet.
    fn meet(&mut self, why: Meeting) {
        let last = self.clocks.iter().copied().fold(self.met, f64::max);
        let sums = &mut self.sums[self.closing];
        for (pe, clock) in self.clocks.iter().enumerate() {
            sums.pes[pe] += clock - self.met;
            self.pes[self.closing * self.program.pes + pe].wait_s += last - clock;
        }
        sums.longest += last - self.met;
        let is_barrier = why == Meeting::Barrier;
        let end = if is_barrier { last + self.barrier } else { last };
        let is_seen = why != Meeting::Needed || last > self.met;
        if let Some(recorder) = self.recorder.as_mut().filter(|_| is_seen) {
            recorder.meet(is_barrier, &self.clocks, end);
        }
        self.begin_at(end);
    }

    fn begin_at(&mut self, time: f64) {
        self.met = time;
        self.clocks.fill(time);
        self.place.clear();
        let references = self.memory.references();
        if let Some(watch) = &mut self.memory.watch {
            watch.meet(references);
        }
    }

    fn enter(&mut self) {
        self.entered[self.phase] += 1;
        self.begin_turn();
    }

    fn begin_turn(&mut self) {
        self.turn += 1;
        self.sets.fill((0, 0));
    }

    fn leave(&mut self) {
        for (pe, set) in self.sets.iter().enumerate() {
            let row = &mut self.pes[self.phase * self.program.pes + pe];
            row.lines = row.lines.max(set.0);
            row.bytes = row.bytes.max(set.1);
        }
    }

    fn int(&self, value: &partune_model::code::Value, span: Span) -> Result<i64, Diagnostic> {
        value.int(&self.variables).map_err(at(span))
    }

    /// Whether what is recorded is not too much.
    fn fits(&self, span: Span) -> Result<(), Diagnostic> {
        if self.recorder.as_ref().is_some_and(|recorder| recorder.visits > self.options.max_visits) {
            let text = format!("more than {} visits to record", self.options.max_visits);
            return Err(Diagnostic::error(span, text).help(FEW_TURNS));
        }
        Ok(())
    }

    fn step(&mut self, span: Span) -> Result<(), Diagnostic> {
        self.steps += 1;
        if self.steps > self.options.max_turns {
            let text = format!("more than {} turns of loops", self.options.max_turns);
            return Err(Diagnostic::error(span, text));
        }
        Ok(())
    }

    fn outcome(mut self, model: &Model, cache: Option<u64>) -> Outcome {
        let (pes, arrays) = (self.program.pes, self.arrays.all.len());
        for (at, row) in self.pes.iter_mut().enumerate() {
            self.rows[at * arrays..(at + 1) * arrays].iter().for_each(|counts| row.counts.add(counts));
        }
        let bounds = self.bounds();
        let outside = self.entered.len() - 1;
        let is_used = |phase: usize| {
            let rows = &self.pes[phase * pes..(phase + 1) * pes];
            phase != outside && self.entered[phase] > 0
                || rows.iter().any(|row| row.tasks > 0 || row.counts.reads + row.counts.writes > 0 || row.work_s > 0.0)
        };
        let used: Vec<usize> = (0..self.entered.len()).filter(|phase| is_used(*phase)).collect();
        let name = |phase: usize| model.application.phases.get(phase).map_or(OUTSIDE, String::as_str).to_owned();
        let phase = |&phase: &usize| {
            let rows = &self.pes[phase * pes..(phase + 1) * pes];
            let mut data = Vec::new();
            for array in 0..arrays {
                let mut counts = Counts::default();
                (0..pes).for_each(|pe| counts.add(&self.rows[(phase * pes + pe) * arrays + array]));
                if counts != Counts::default() {
                    data.push(DataRow { name: self.arrays.all[array].name.clone(), counts });
                }
            }
            let mut all = Counts::default();
            rows.iter().for_each(|row| all.add(&row.counts));
            let always = all.misses() - all.capacity;
            let distances = &self.distances[phase];
            let misses = (0..SIZES).map(|size| always + distances[size + 1..].iter().sum::<u64>()).collect();
            PhaseRow { name: name(phase), turns: self.entered[phase], pes: rows.to_vec(), data, misses }
        };
        let phases: Vec<PhaseRow> = used.iter().map(phase).collect();
        let mut flow = Vec::new();
        for (writer, from) in used.iter().enumerate() {
            for (reader, to) in used.iter().enumerate() {
                let pairs = &self.memory.flow[from * self.entered.len() + to];
                if pairs.is_empty() {
                    continue;
                }
                let others = pairs.iter().enumerate().map(|(at, bytes)| ((at / pes) as u32, (at % pes) as u32, *bytes));
                let others = others.filter(|(from, to, bytes)| from != to && *bytes > 0).collect();
                flow.push(Flow { writer, reader, bytes: pairs.iter().sum(), pairs: others });
            }
        }
        let total = |size: usize| phases.iter().map(|phase| phase.misses[size]).sum::<u64>();
        let least = total(SIZES - 1);
        let enough = (0..SIZES).find(|size| total(*size) == least).unwrap_or(0);
        let sizes =
            (0..=enough).map(|size| Size { bytes: 1 << (size as u32 + self.arrays.shift), misses: total(size) });
        Outcome {
            pes,
            line: 1 << self.arrays.shift,
            cache,
            run_s: self.met,
            barriers: self.barriers,
            sizes: sizes.collect(),
            phases,
            flow,
            bounds,
            order: self.memory.watch.as_ref().map(|watch| watch.order(self.arrays, &name)),
        }
    }

    /// The chain of bounds. What only one PE may do counts once in all of them.
    fn bounds(&self) -> Bounds {
        let pes = self.program.pes as f64;
        let Did { work, counts: alone } = self.alone;
        let sum = |of: &dyn Fn(&PeRow) -> f64| self.pes.iter().map(of).sum::<f64>();
        let shared_work = (sum(&|row| row.work_s) - work) / pes;
        let shared = |of: &dyn Fn(&Counts) -> f64| (sum(&|row| of(&row.counts)) - of(&alone)) / pes;
        let lines = |of: &dyn Fn(&Counts) -> f64| shared(of) + of(&alone);
        let (false_sharing_s, migration_s) = (lines(&|it| it.false_sharing_s), lines(&|it| it.migrated_s));
        let mean = shared_work + shared(&|it| it.latency_s);
        let of_pe = |pe: usize| self.sums.iter().map(|sums| sums.pes[pe]).sum::<f64>();
        let most = (0..self.program.pes).map(of_pe).fold(0.0, f64::max);
        let most_by_phase: f64 = self.sums.iter().map(|sums| sums.pes.iter().copied().fold(0.0, f64::max)).sum();
        let longest: f64 = self.sums.iter().map(|sums| sums.longest).sum();
        Bounds {
            ideal_s: shared_work + work,
            communication_s: lines(&|it| it.latency_s) - false_sharing_s - migration_s,
            first_use_s: lines(&|it| it.cold_s),
            capacity_s: lines(&|it| it.capacity_s),
            true_sharing_s: lines(&|it| it.true_sharing_s),
            false_sharing_s,
            migration_s,
            imbalance_s: most - mean - self.event_waits / pes,
            phases_s: most_by_phase - most,
            turns_s: longest - most_by_phase,
            synchronisation_s: self.barriers as f64 * self.barrier,
            events_s: self.event_waits / pes,
        }
    }
}

/// The index at a place of a domain in row-major order.
fn index_at(ranges: &[(i64, u64)], place: u64, index: &mut [i64]) {
    if let [(lo, _)] = ranges {
        index[0] = lo + place as i64;
        return;
    }
    let mut rest = place;
    for (at, (lo, length)) in ranges.iter().enumerate().rev() {
        index[at] = lo + (rest % length) as i64;
        rest /= length;
    }
}
