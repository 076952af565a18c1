//! The records of a PE, as they come: what begins and ends goes to its time line, what they say of messages and objects is kept beside.

use partune_base::{MetricId, ObjectId, Time};
use partune_import::{RegionKey, Segment};
use partune_trace::{Execution, NO_MATCHING, Pause, PauseKind, Trigger, VisitIx};

use super::acts::What;
use super::kept::{Ended, Faults, Kept};
use super::messages::{Creation, Receipt};
use super::reductions::Part;
use super::tables::{self, IDLE, LOG_FLUSH, NOTE, PACK, SCHEDULER, SEND, Tables, UNPACK};
use super::timeline::Timeline;
use crate::codec::{Line, Record, Span, To};

/// Something that has begun.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Open {
    what: Opened,
    region: RegionKey,
    since: Time,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    Execution {
        entry: i64,
        event: i64,
    },
    Span(Span),
    UserSpan {
        nested: i64,
    },
    /// A message is sent until then, or until something else happens.
    Creation {
        end: Time,
    },
}

pub(super) struct Decoder<'a> {
    tables: &'a Tables,
    line: Timeline,
    open: Vec<Open>,
    /// The first half of an event with a duration.
    half: Option<(i64, i64, Time)>,
    paused: Option<Time>,
    computed: bool,
    now: Time,
}

/// Times beyond this are none: 285 years.
const FARTHEST: i64 = 1 << 53;
/// Numbers that no table has, as many as are told apart.
const MOST_UNKNOWN: usize = 4096;

impl<'a> Decoder<'a> {
    pub(super) fn new(tables: &'a Tables) -> Decoder<'a> {
        let line = Timeline::new(tables.has_phases);
        Decoder { tables, line, open: Vec::new(), half: None, paused: None, computed: false, now: Time::MIN }
    }

    pub(super) fn faults(&mut self) -> &mut Faults {
        &mut self.line.kept().faults
    }

    /// How many records there were.
    pub(super) fn records(&self) -> u64 {
        self.line.records()
    }

    /// Everything is read. What is open ends with the last record.
    pub(super) fn finish(mut self, mut ended: Ended) -> Segment<Kept> {
        self.close_creation(Time::MAX);
        self.faults().missing_ends += self.open.len() as u64;
        self.close_from(0, self.now);
        ended.early |= !self.computed;
        ended.last = (self.now > Time::MIN).then_some(self.now);
        let last = ended.last;
        if let (Some(begin), Some(last)) = (self.paused, last) {
            self.pause(begin, last, PauseKind::Off);
        }
        self.line.kept().ended = ended;
        self.line.finish(last)
    }

    #[inline]
    pub(super) fn read(&mut self, line: Line<'_>) {
        if line.numbers.is_empty() || line.text.starts_with(super::LOG) {
            return;
        }
        self.line.stream().events += 1;
        match self.tables.layout.record(line) {
            Some(record) => self.record(record),
            None => self.faults().malformed += 1,
        }
    }

    /// A time as it is told, within what a trace can hold.
    fn time(&mut self, time: i64) -> Time {
        let clamped = Time(time.clamp(-FARTHEST, FARTHEST));
        self.faults().far_times += u64::from(clamped.0 != time);
        self.now = self.now.max(clamped);
        clamped
    }

    fn record(&mut self, record: Record<'_>) {
        match record {
            Record::Creation { entry, time, event, bytes, duration, to, .. } => {
                let pes = match to {
                    To::One => 1,
                    To::All(pes) => u32::try_from(pes).unwrap_or(u32::MAX),
                    To::Some(pes) => pes.len() as u32,
                };
                self.creation(duration, time, |visit, time| {
                    let (bytes, to_one) = (bytes.max(0).cast_unsigned(), to == To::One);
                    let (woken, outside, part) = (None, false, None);
                    Creation { visit, time, outside, woken, event, entry, bytes, pes, to_one, part }
                });
            }
            Record::Contribution { entry, time, event, bytes, duration, to_all, collection, turn, target } => {
                let pes = if to_all { self.tables.pes as u32 } else { 1 };
                self.creation(duration, time, |visit, time| {
                    let (bytes, to_one) = (bytes.max(0).cast_unsigned(), !to_all);
                    let (woken, outside, part) = (None, false, Some(Part { collection, turn, target }));
                    Creation { visit, time, outside, woken, event, entry, bytes, pes, to_one, part }
                });
            }
            Record::Result { one, all, delivery } => self.line.result((one, all), delivery),
            Record::BeginProcessing { entry, time, event, source, bytes, identity, counters, .. } => {
                let time = self.time(time);
                self.close_creation(time);
                self.end_of_pause(time);
                self.end_idle(time);
                self.begin_processing(time, (entry, event, source, bytes), identity);
                self.counters(time, counters);
            }
            Record::EndProcessing { entry, time, event, counters } => {
                let time = self.time(time);
                self.close_creation(time);
                self.counters(time, counters);
                let is = |same: bool| move |open: &Open| matches!(open.what, Opened::Execution { entry: of, event: by } if of == entry && (same || by == event));
                let exact = self.open.iter().rposition(is(false));
                self.end(exact.or_else(|| self.open.iter().rposition(is(true))), time);
            }
            Record::Begin(Span::Computation, time) => {
                let time = self.time(time);
                self.line.is_free_from(time);
            }
            Record::End(Span::Computation, time) => {
                let time = self.time(time);
                self.computed = true;
                self.close_creation(time);
                // The program ends in an entry method, whose end is not recorded.
                self.close_from(0, time);
                self.line.scheduled(time);
            }
            Record::Begin(span, time) => {
                let time = self.time(time);
                match span {
                    Span::Pack | Span::Unpack | Span::Interrupt => self.keep_creation(time),
                    Span::Idle | Span::Computation => {
                        self.close_creation(time);
                        self.end_of_pause(time);
                        // Nobody idles inside of something.
                        self.faults().missing_ends += self.open.len() as u64;
                        self.close_from(0, time);
                    }
                }
                self.begin(time, Opened::Span(span), region(span));
            }
            Record::End(span, time) => {
                let time = self.time(time);
                let place = self.open.iter().rposition(|open| open.what == Opened::Span(span));
                if span == Span::Interrupt
                    && let Some(begun) = place.map(|place| self.open[place].since)
                {
                    self.pause(begun, time, PauseKind::Flush);
                }
                self.end(place, time);
            }
            Record::Recording { on, time } => {
                let time = self.time(time);
                self.close_creation(time);
                if on && let Some(begin) = self.paused.take() {
                    self.pause(begin, time, PauseKind::Off);
                    if self.open.is_empty() {
                        self.line.is_free_from(time);
                    }
                } else if !on {
                    self.paused.get_or_insert(time);
                    if self.open.is_empty() {
                        self.line.scheduled(time);
                    }
                }
            }
            Record::UserEvent { id, time } => {
                let time = self.time(time);
                self.close_creation(time);
                let region = self.known(tables::event_key(id));
                self.line.push(time, What::Enter(region));
                self.line.push(time, What::Leave(region));
                self.settle();
            }
            Record::Bracket { id, time, number } => match self.half.take() {
                Some((of, begun, begin)) if (of, begun) == (id, number) => {
                    let end = self.time(time);
                    self.surround(tables::event_key(id), begin, end);
                }
                other => {
                    self.faults().stray_ends += u64::from(other.is_some());
                    self.half = Some((id, number, self.time(time)));
                }
            },
            Record::BracketedNote { begin, end, id } => {
                let end = self.time(end);
                let named = tables::event_key(id);
                let region = if self.tables.is_known(named) { named } else { NOTE };
                let begin = self.time(begin);
                self.surround(region, begin, end);
            }
            Record::Note { time } => {
                let time = self.time(time);
                self.close_creation(time);
                self.line.push(time, What::Enter(NOTE));
                self.line.push(time, What::Leave(NOTE));
                self.settle();
            }
            Record::UserSpan { begins: true, id, time, nested } => {
                let time = self.time(time);
                self.close_creation(time);
                let region = self.known(tables::event_key(id));
                self.begin(time, Opened::UserSpan { nested }, region);
            }
            Record::UserSpan { begins: false, id, time, nested } => {
                let time = self.time(time);
                self.close_creation(time);
                let region = tables::event_key(id);
                let is = |open: &Open| open.region == region && open.what == Opened::UserSpan { nested };
                self.end(self.open.iter().rposition(is), time);
            }
            Record::Supplied { value, time } => self.sample(self.tables.supplied, time, value as f64),
            Record::Memory { bytes, time } => self.sample(self.tables.memory, time, bytes as f64),
            Record::Statistic { id, time, value } => {
                let metric = self.tables.statistic(tables::id(id));
                self.faults().undefined += u64::from(metric.is_none());
                self.sample(metric.unwrap_or(self.tables.other_statistic), Some(time), value);
            }
            Record::EndPhase { time } => {
                self.time(time);
                self.line.end_phase();
                self.settle();
            }
            Record::Delivery { time } => drop(self.time(time)),
            Record::Unknown => self.faults().unknown_records += 1,
        }
    }

    /// Something is sent, and no longer than until something else happens.
    fn creation(&mut self, duration: i64, time: i64, creation: impl FnOnce(VisitIx, Time) -> Creation) {
        let time = self.time(time);
        self.close_creation(time);
        let end = Time(time.0 + duration.clamp(0, FARTHEST));
        let creations = &mut self.line.kept().creations;
        let number = creations.len() as u32;
        creations.push(creation(VisitIx::NONE, time));
        self.begin(time, Opened::Creation { end }, SEND);
        self.line.push(time, What::Sent(number));
    }

    fn begin_processing(&mut self, time: Time, (entry, event, source, bytes): (i64, i64, i64, i64), identity: &[i64]) {
        let known = self.tables.entry(tables::id(entry)).copied();
        let object = known.and_then(|known| known.chare).map_or(ObjectId::NONE, |chare| {
            let (dimensions, is_stand_in) =
                (self.tables.chares[chare as usize].1, self.tables.stand_ins[chare as usize]);
            self.line.kept().objects.of(chare, (dimensions, is_stand_in), identity, event < 0)
        });
        let region = self.known(tables::entry_key(entry));
        self.begin(time, Opened::Execution { entry, event }, region);
        let trigger = match known {
            _ if event < 0 => Trigger::Call,
            Some(known) if known.is_constructor => Trigger::Creation,
            _ => Trigger::Message,
        };
        let stream = self.line.stream();
        let row = stream.executions.len() as u32;
        let visit = VisitIx::NONE;
        stream.executions.push(Execution { visit, begin: time, object, trigger, message: NO_MATCHING });
        self.line.push(time, What::Began(row));
        if event >= 0 {
            match u32::try_from(source).ok().filter(|source| (*source as usize) < self.tables.pes) {
                Some(source) => {
                    let bytes = bytes.max(0).cast_unsigned();
                    let receipt = Receipt { source, event, entry, bytes, execution: row, woken: None };
                    self.line.kept().receipts.push(receipt);
                }
                None => self.faults().nobody += 1,
            }
        }
    }

    /// The region of a number; that of all others where too many are in no table.
    fn known(&mut self, key: RegionKey) -> RegionKey {
        if self.tables.is_known(key) {
            return key;
        }
        let kept = self.line.kept();
        kept.faults.undefined += 1;
        let key = if kept.unknown.len() < MOST_UNKNOWN { key } else { tables::other_key(key) };
        kept.unknown.insert(key);
        key
    }

    fn counters(&mut self, time: Time, values: &[i64]) {
        let metrics = self.tables.counters.iter().zip(values);
        metrics.for_each(|(metric, value)| self.line.push(time, What::Sample(*metric, *value as f64)));
    }

    fn sample(&mut self, metric: MetricId, time: Option<i64>, value: f64) {
        let time = self.time(time.unwrap_or(self.now.0.max(0)));
        self.close_creation(time);
        self.line.push(time, What::Sample(metric, value));
        self.settle();
    }

    fn surround(&mut self, region: RegionKey, begin: Time, end: Time) {
        self.close_creation(end);
        let region = self.known(region);
        let moved = self.line.surround((begin, end), region);
        self.faults().crossing += u64::from(moved);
        self.settle();
    }

    fn pause(&mut self, begin: Time, end: Time, kind: PauseKind) {
        self.line.stream().pauses.push(Pause { begin, end: end.max(begin), kind });
    }

    fn begin(&mut self, time: Time, what: Opened, region: RegionKey) {
        self.line.push(time, What::Enter(region));
        self.open.push(Open { what, region, since: time });
    }

    /// Ends what is open at a place, and what is in it.
    fn end(&mut self, place: Option<usize>, time: Time) {
        let Some(place) = place else {
            self.close_creation(time);
            self.faults().stray_ends += 1;
            return;
        };
        let inside = self.open[place + 1..].iter().filter(|open| !matches!(open.what, Opened::Creation { .. }));
        let missing = inside.count() as u64;
        self.faults().missing_ends += missing;
        self.close_from(place, time);
    }

    /// Ends all that is open from a place on.
    fn close_from(&mut self, place: usize, time: Time) {
        while self.open.len() > place
            && let Some(open) = self.open.pop()
        {
            let end = if let Opened::Creation { end } = open.what { end.min(time) } else { time };
            self.line.leave(end, open.region);
        }
        self.settle();
    }

    /// A message is sent no longer than until something else happens.
    fn close_creation(&mut self, time: Time) {
        if let Some(Open { what: Opened::Creation { end }, .. }) = self.open.last() {
            let end = (*end).min(time);
            self.close_from(self.open.len() - 1, end);
        }
    }

    /// It is packed while it is sent.
    fn keep_creation(&mut self, time: Time) {
        if !matches!(self.open.last(), Some(Open { what: Opened::Creation { end }, .. }) if time <= *end) {
            self.close_creation(time);
        }
    }

    /// Idle ends when something begins.
    fn end_idle(&mut self, time: Time) {
        if let Some(place) = self.open.iter().rposition(|open| open.what == Opened::Span(Span::Idle)) {
            self.faults().missing_ends += 1;
            self.close_from(place, time);
        }
    }

    /// What was open when recording was switched off, and did not end before something new begins, ended unseen.
    fn end_of_pause(&mut self, time: Time) {
        let Some(pause) = self.line.stream().pauses.last().copied() else { return };
        let (off, on) = (pause.begin, pause.end);
        let is_old = |open: &Open| pause.kind == PauseKind::Off && open.since <= off && on <= time;
        if let Some(place) = self.open.iter().position(is_old) {
            self.close_from(place, off);
            self.line.is_free_from(on);
        }
    }

    /// If nothing is open, what happened is told.
    fn settle(&mut self) {
        if self.open.is_empty() {
            self.line.settle();
        }
    }
}

fn region(span: Span) -> RegionKey {
    match span {
        Span::Idle => IDLE,
        Span::Pack => PACK,
        Span::Unpack => UNPACK,
        Span::Interrupt => LOG_FLUSH,
        Span::Computation => SCHEDULER,
    }
}
