//! Takes records as they are read, and hands each to the lane of its thread.

use partune_base::{RegionId, Time};
use partune_trace::{CallSite, Pause, PauseKind, TraceBuilder};
use rustc_hash::FxHashMap;

use super::kinds::{Action, Kinds, Meaning};
use super::lanes::{Callers, Half, Lane, StateSpan, time};
use super::names::Nesting;
use super::states;
use super::weave::{Chain, Frame};
use crate::codec::{Communicator, Header, Object, Pcf, Record, Sink};

/// What was wrong, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    /// Lines of text that are neither communicator nor comment.
    pub(super) unknown_lines: u64,
    /// Times that are negative or too large; what happened then is left out.
    pub(super) bad_times: u64,
    /// Records of an application, task or thread 0.
    pub(super) nobody: u64,
    /// Messages with an end that is not recorded.
    pub(super) half_messages: u64,
    /// Threads beyond what can be numbered.
    pub(super) too_many: u64,
    /// Recorded in bursts at some time.
    pub(super) bursts: u64,
}

/// What was read.
pub(super) struct Read {
    pub(super) header: Header,
    pub(super) communicators: Vec<Communicator>,
    pub(super) lanes: Vec<Lane>,
    pub(super) chains: Vec<Chain>,
    pub(super) actions: Vec<Action>,
    /// By family of actions.
    pub(super) nestings: Vec<Nesting>,
    /// Regions that stand for states.
    pub(super) states: FxHashMap<u64, RegionId>,
    pub(super) faults: Faults,
}

/// Application, task and thread.
type Who = (u64, u64, u64);

pub(super) struct Reader<'a> {
    kinds: Kinds<'a>,
    chains: Chains,
    header: Option<Header>,
    communicators: Vec<Communicator>,
    lanes: Vec<Lane>,
    index: FxHashMap<Who, u32>,
    /// Lanes that were asked for, by a few bits of whose they are: nearly every look-up ends here.
    recent: Vec<(Who, u32)>,
    messages: u64,
    faults: Faults,
    /// Something else than a header came first.
    refused: bool,
}

/// Chains of callers, each once.
#[derive(Default)]
struct Chains {
    rows: Vec<Chain>,
    index: FxHashMap<Box<[u64]>, u32>,
    key: Vec<u64>,
}

const RECENT: usize = 1 << 12;
/// More threads than this cannot be numbered.
const MOST: usize = 1 << 28;

impl<'a> Reader<'a> {
    pub(super) fn new(pcf: &'a Pcf, builder: &'a mut TraceBuilder) -> Reader<'a> {
        Reader {
            kinds: Kinds::new(pcf, builder),
            chains: Chains::default(),
            header: None,
            communicators: Vec::new(),
            lanes: Vec::new(),
            index: FxHashMap::default(),
            recent: vec![((0, 0, 0), 0); RECENT],
            messages: 0,
            faults: Faults::default(),
            refused: false,
        }
    }

    /// Whether the header was read.
    pub(super) fn begun(&self) -> bool {
        self.header.is_some()
    }

    /// Whether what was read so far cannot be a trace.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    pub(super) fn finish(mut self) -> Read {
        for lane in &mut self.lanes {
            lane.complete(|callers| self.chains.number(callers, &mut self.kinds));
            for span in &lane.states {
                self.kinds.state(span.state);
            }
        }
        Read {
            header: self.header.unwrap_or_default(),
            communicators: self.communicators,
            lanes: self.lanes,
            chains: self.chains.rows,
            nestings: self.kinds.nestings(),
            states: self.kinds.of_states,
            actions: self.kinds.actions,
            faults: self.faults,
        }
    }

    /// The lane of a thread; none if it is nobody's.
    #[inline]
    fn lane(&mut self, object: &Object) -> Option<u32> {
        let who = (object.application, object.task, object.thread);
        let slot = (who.1.wrapping_mul(67) ^ who.2.wrapping_mul(3) ^ who.0) as usize % RECENT;
        let (known, lane) = self.recent[slot];
        if known == who && who.0 != 0 {
            return Some(lane);
        }
        self.other_lane(who, slot)
    }

    fn other_lane(&mut self, who: Who, slot: usize) -> Option<u32> {
        if who.0 == 0 || who.1 == 0 || who.2 == 0 {
            self.faults.nobody += 1;
            return None;
        }
        if !self.index.contains_key(&who) && self.lanes.len() >= MOST {
            self.faults.too_many += 1;
            return None;
        }
        let lanes = &mut self.lanes;
        let lane = *self.index.entry(who).or_insert_with(|| {
            lanes.push(Lane::new(who.0, who.1, who.2));
            lanes.len() as u32 - 1
        });
        self.recent[slot] = (who, lane);
        Some(lane)
    }

    fn time(&mut self, ticks: i64) -> Option<Time> {
        let time = time(ticks);
        self.faults.bad_times += u64::from(time.is_none());
        time
    }

    #[inline]
    fn events(&mut self, object: &Object, ticks: i64, pairs: &[[u64; 2]]) {
        let Some(time) = self.time(ticks) else { return };
        let Some(lane) = self.lane(object) else { return };
        let lane = &mut self.lanes[lane as usize];
        lane.at(time, |callers| self.chains.number(callers, &mut self.kinds));
        for &[id, value] in pairs {
            match self.kinds.meaning(id) {
                Meaning::Ignored => {}
                Meaning::Counter(metric) => lane.sample(metric, value),
                Meaning::Caller(level) => lane.caller(level, value),
                Meaning::CallerLine(level) => lane.caller_line(level, value),
                Meaning::Calls(family) if value == 0 => lane.end(family),
                Meaning::Calls(family) => {
                    let Some(action) = self.kinds.action(family, value) else { continue };
                    lane.begin(action);
                    if let Some(kind) = self.kinds.actions[action as usize].lock {
                        lane.lock(family, kind);
                    }
                }
                Meaning::SentBytes => lane.collective().sent = value,
                Meaning::ReceivedBytes => lane.collective().received = value,
                Meaning::IsRoot => lane.collective().is_root = value != 0,
                Meaning::Communicator => lane.collective().communicator = value,
                Meaning::FunctionLine => {
                    if let (Some(action), Some(place)) = (lane.begun(), self.kinds.place(id, value)) {
                        self.kinds.set_line(action, place);
                    }
                }
                Meaning::Flush => lane.flush(value != 0),
                Meaning::Tracing => lane.tracing(value != 0),
                Meaning::TracingMode => self.faults.bursts += u64::from(value == 2),
                Meaning::LockAddress => lane.lock_address(value),
            }
        }
    }

    #[inline]
    fn state(&mut self, object: &Object, begin: i64, end: i64, state: u64) {
        let Some(begin) = self.time(begin) else { return };
        let Some(lane) = self.lane(object) else { return };
        // One that has no end lasts until the last record of its thread.
        let end = time(end).map(|end| end.max(begin));
        let lane = &mut self.lanes[lane as usize];
        lane.events += 1;
        if state != states::IDLE && state != states::NOT_CREATED {
            lane.seen(begin, end.unwrap_or(begin));
        }
        if state == states::NOT_TRACED {
            lane.pauses.push(Pause { begin, end: end.unwrap_or(begin), kind: PauseKind::Off });
        } else if lane.marks.is_empty() && states::is_operation(state) {
            lane.states.push(StateSpan { begin, end: end.unwrap_or(Time::MAX), state });
        }
    }

    fn communication(&mut self, send: &crate::codec::End, recv: &crate::codec::End, bytes: u64, tag: u64) {
        let times = [send.logical, send.physical, recv.logical, recv.physical].map(time);
        let [Some(asked), Some(sent), Some(posted), Some(received)] = times else {
            self.faults.half_messages += 1;
            return;
        };
        let (Some(from), Some(to)) = (self.lane(&send.object), self.lane(&recv.object)) else { return };
        let tag = u32::try_from(tag).unwrap_or(u32::MAX);
        let message = self.messages;
        self.messages += 1;
        let half = |logical, physical, peer| Half { logical, physical, peer, tag, bytes, message };
        let sender = &mut self.lanes[from as usize];
        sender.events += 1;
        sender.seen(asked, asked);
        sender.sends.push(half(asked, sent, to));
        let receiver = &mut self.lanes[to as usize];
        receiver.seen(received, received);
        receiver.recvs.push(half(posted, received, from));
    }
}

impl Sink for Reader<'_> {
    #[inline]
    fn record(&mut self, record: &Record<'_>) {
        if self.header.is_none() {
            self.refused = true;
            return;
        }
        match record {
            Record::Events { object, time, pairs } => self.events(object, *time, pairs),
            Record::State { object, begin, end, state } => self.state(object, *begin, *end, *state),
            Record::Communication { send, recv, size, tag } => self.communication(send, recv, *size, *tag),
        }
    }

    fn line(&mut self, line: &[u8]) {
        if self.header.is_none() {
            // An older mark may stand before the header.
            self.header = Header::read(line);
            self.refused |= self.header.is_none() && line != b"new format";
        } else if let Some(communicator) = Communicator::read(line) {
            self.communicators.push(communicator);
        } else if line.first() != Some(&b'#') {
            self.faults.unknown_lines += 1;
        }
    }
}

impl Chains {
    /// The number of a chain of callers.
    fn number(&mut self, (functions, lines): Callers<'_>, kinds: &mut Kinds<'_>) -> u32 {
        self.key.clear();
        self.key.extend(functions.iter().chain(lines));
        if let Some(number) = self.index.get(&self.key[..]) {
            return *number;
        }
        // Innermost first: the line of a level is where its function calls the level below.
        let site = |kinds: &mut Kinds<'_>, level: usize| {
            let line = lines.get(level).copied().filter(|line| *line != 0);
            let place = line.and_then(|line| kinds.place(80_000_001 + level as u64, line));
            place.map_or(CallSite::NONE, |(file, line)| CallSite { file, line })
        };
        let regions: Vec<Option<RegionId>> =
            (0..).zip(functions).map(|(level, function)| kinds.caller(level, *function)).collect();
        let mut frames = Vec::new();
        for (level, region) in regions.iter().enumerate() {
            // The line of a caller that is not known is none either.
            let is_called = regions.get(level + 1).is_some_and(Option::is_some);
            let site = if is_called { site(kinds, level + 1) } else { CallSite::NONE };
            frames.extend(region.map(|region| Frame { region, site }));
        }
        frames.reverse();
        let chain = Chain { frames: frames.into(), site: site(kinds, 0) };
        self.rows.push(chain);
        let number = self.rows.len() as u32 - 1;
        self.index.insert(self.key.clone().into(), number);
        number
    }
}
