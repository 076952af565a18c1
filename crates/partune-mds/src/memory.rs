//! Caches and what is in them: the protocol (MSI or MESI) over lines, who wrote which element when, and how far a cache reaches back.
//!
//! A PE has a line as long as no other PE wrote to it since the PE's last access: times of accesses tell, so nothing is done to others where a line is
//! written to. For the same reason a miss is true sharing where another PE wrote an element that is used now after that time, else false.

use partune_cache::{Distances, Lines};

use crate::layout::Arrays;
use crate::order::Watch;
use crate::outcome::{Counts, SIZES};

/// What a reference touches: elements that lie one behind the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// The number of the first element, and how many.
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) address: u64,
    /// Of an element.
    pub(crate) bytes: u64,
    pub(crate) is_write: bool,
}

/// Who touches it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) pe: u16,
    /// The part of the work that the PE does: another one than its own where threads move.
    pub(crate) thread: u16,
    pub(crate) phase: u16,
    /// The turn of the phase, for its working set.
    pub(crate) turn: u32,
}

/// Seconds that lines take, and the protocol.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    pub(crate) near: f64,
    pub(crate) far: f64,
    pub(crate) memory: f64,
    pub(crate) upgrade: f64,
    /// A PE may write a line that it alone has had since the last write, or ever, without an upgrade.
    pub(crate) exclusive: bool,
    /// The node of each PE.
    pub(crate) node: Vec<i64>,
}

/// The last write to an element; time 0 where there was none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Word {
    pub(crate) time: u32,
    pub(crate) pe: u16,
    thread: u16,
    pub(crate) phase: u16,
}

/// The last write to a line, likewise; before the first, the PE that read it first.
#[derive(Clone, Copy, Debug)]
struct Line {
    time: u32,
    pe: u16,
    /// It was written and is not in memory: nobody else has read it since, nor has its owner found it thrown out.
    is_modified: bool,
    /// Nobody else has had it since.
    is_alone: bool,
}

impl Line {
    const NOBODY: u16 = u16::MAX;
    const UNTOUCHED: Line = Line { time: 0, pe: Line::NOBODY, is_modified: false, is_alone: false };

    /// Whether a PE that has it may write it as it is.
    fn is_writable(self, pe: u16, exclusive: bool) -> bool {
        self.pe == pe && if exclusive { self.is_alone } else { self.is_modified }
    }
}

/// A line that a PE has touched.
#[derive(Clone, Copy, Debug, Default)]
struct Copy {
    /// Of its last access.
    time: u32,
    turn: u32,
    /// Bytes that were touched in this turn: 64 parts of the line.
    mask: u64,
    /// Why it was missed last: an upgrade that follows would not be needed without that.
    came: Came,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Came {
    #[default]
    Needed,
    Falsely,
    WithThread,
}

#[derive(Clone, Debug, Default)]
struct Pe {
    lines: Lines,
    distances: Distances,
    copies: Vec<Copy>,
    /// The line of the last access and its number among `copies`, plus one: most are followed by others to it.
    last: (usize, usize),
}

#[derive(Debug)]
pub(crate) struct Memory {
    shift: u32,
    first_line: u64,
    /// Bytes of a 64th of a line, at least one: 2 to this power.
    part: u32,
    words: Vec<Word>,
    lines: Vec<Line>,
    pes: Vec<Pe>,
    /// Lines that a cache has; none: all.
    cache: Option<u64>,
    latencies: Latencies,
    time: u32,
    /// What phases wrote and phases read, by pairs of PEs: `bytes[writer * pes + reader]`; empty where nothing flows. By `writer * phases + reader`.
    pub(crate) flow: Vec<Vec<u64>>,
    phases: usize,
    /// Where it is asked for.
    pub(crate) watch: Option<Watch>,
}

/// What is noted beside the counts of an array.
pub(crate) struct Notes<'a> {
    pub(crate) counts: &'a mut Counts,
    /// Different lines and bytes of the turn.
    pub(crate) set: &'a mut (u64, u64),
    /// Accesses to lines that were there, by how many others were touched since: none, 1, 2 and 3, 4 to 7, …
    pub(crate) distances: &'a mut [u64; SIZES + 1],
}

impl Memory {
    pub(crate) fn new(arrays: &Arrays, pes: usize, phases: usize, cache: Option<u64>, latencies: Latencies) -> Memory {
        Memory {
            shift: arrays.shift,
            first_line: arrays.first_line,
            part: arrays.shift.saturating_sub(6),
            words: vec![Word::default(); arrays.elements as usize],
            lines: vec![Line::UNTOUCHED; arrays.lines as usize],
            pes: vec![Pe::default(); pes],
            cache,
            latencies,
            time: 0,
            flow: vec![Vec::new(); phases * phases],
            phases,
            watch: None,
        }
    }

    /// References so far.
    pub(crate) fn references(&self) -> u32 {
        self.time
    }

    /// Touches elements; gives the seconds that the PE waits for their lines.
    pub(crate) fn touch(&mut self, who: Who, touch: Touch, notes: &mut Notes<'_>) -> f64 {
        if touch.count == 0 {
            return 0.0;
        }
        self.time += 1;
        if touch.is_write {
            notes.counts.writes += touch.count;
        } else {
            notes.counts.reads += touch.count;
            self.flows(who, touch);
        }
        if let Some(watch) = &mut self.watch {
            let words = touch.first as usize..(touch.first + touch.count) as usize;
            watch.touch(who, touch, self.time, &self.words[words]);
        }
        let end = touch.address + touch.count * touch.bytes;
        let mut seconds = 0.0;
        for line in touch.address >> self.shift..=(end - 1) >> self.shift {
            seconds += self.line(who, touch, line, end, notes);
        }
        if touch.is_write {
            let word = Word { time: self.time, pe: who.pe, thread: who.thread, phase: who.phase };
            self.words[touch.first as usize..(touch.first + touch.count) as usize].fill(word);
        }
        seconds
    }

    /// Adds up whose writes are read.
    fn flows(&mut self, who: Who, touch: Touch) {
        let pes = self.pes.len();
        let words = &self.words[touch.first as usize..(touch.first + touch.count) as usize];
        for alike in words.chunk_by(|a, b| (a.pe, a.phase, a.time == 0) == (b.pe, b.phase, b.time == 0)) {
            let Word { time, pe, phase, .. } = alike[0];
            if time == 0 {
                continue;
            }
            let pairs = &mut self.flow[usize::from(phase) * self.phases + usize::from(who.phase)];
            if pairs.is_empty() {
                *pairs = vec![0; pes * pes];
            }
            pairs[usize::from(pe) * pes + usize::from(who.pe)] += alike.len() as u64 * touch.bytes;
        }
    }

    fn line(&mut self, who: Who, touch: Touch, number: u64, end: u64, notes: &mut Notes<'_>) -> f64 {
        let index = (number - self.first_line) as usize;
        let Memory { words, lines, pes, latencies, .. } = self;
        let (pe, line) = (&mut pes[usize::from(who.pe)], &mut lines[index]);
        if pe.last.0 != index || pe.last.1 == 0 {
            pe.last = (index, pe.lines.id(index as u64) as usize + 1);
            if pe.last.1 > pe.copies.len() {
                pe.copies.resize(pe.last.1, Copy::default());
            }
        }
        let id = pe.last.1 - 1;
        let copy = &mut pe.copies[id];
        let distance = pe.distances.touch(id as u32);
        // The bytes of this line that are touched, from its begin.
        let begin = number << self.shift;
        let (from, until) = (touch.address.max(begin) - begin, end.min(begin + (1 << self.shift)) - begin);
        let is_here = copy.time > 0 && (line.pe == who.pe || line.time <= copy.time);
        let is_elsewhere = line.is_modified && line.pe != who.pe;
        // Its least recently used lines are thrown out of a full cache, and written back where the PE has modified them.
        let is_evicted = is_here && self.cache.is_some_and(|cache| distance.unwrap_or(0) as u64 >= cache);
        let supply = || {
            if !is_elsewhere {
                return latencies.memory;
            }
            let (own, other) = (latencies.node[usize::from(who.pe)], latencies.node[usize::from(line.pe)]);
            if own == other { latencies.near } else { latencies.far }
        };
        let counts = &mut *notes.counts;
        let mut seconds = 0.0;
        if is_here {
            let distance = distance.unwrap_or(0) as u64;
            let class = (u64::BITS - distance.leading_zeros()) as usize;
            notes.distances[class.min(SIZES)] += 1;
            if is_evicted {
                counts.capacity += 1;
                copy.came = Came::Needed;
                seconds = supply();
                counts.capacity_s += seconds;
            } else if touch.is_write && !line.is_writable(who.pe, latencies.exclusive) {
                counts.upgrades += 1;
                seconds = latencies.upgrade;
                match copy.came {
                    Came::Needed => {}
                    Came::Falsely => counts.false_sharing_s += seconds,
                    Came::WithThread => counts.migrated_s += seconds,
                }
            }
        } else {
            seconds = supply();
            // Elements that have a byte in this line, as far as another PE wrote them since.
            let inside = begin.max(touch.address) - touch.address;
            let first = touch.first + inside / touch.bytes;
            let last = touch.first + (begin + until - 1 - touch.address) / touch.bytes;
            let used = words[first as usize..=last as usize].iter();
            let mut changed = used.filter(|word| word.time > copy.time && word.pe != who.pe).peekable();
            let is_changed = changed.peek().is_some();
            let is_own = is_changed && changed.all(|word| word.thread == who.thread);
            let (count, waited, came) = match (is_own, copy.time) {
                (true, _) => (&mut counts.migrated, &mut counts.migrated_s, Came::WithThread),
                (false, 0) => (&mut counts.cold, &mut counts.cold_s, Came::Needed),
                (false, _) if is_changed => (&mut counts.true_sharing, &mut counts.true_sharing_s, Came::Needed),
                (false, _) => (&mut counts.false_sharing, &mut counts.false_sharing_s, Came::Falsely),
            };
            *count += 1;
            *waited += seconds;
            copy.came = came;
        }
        counts.latency_s += seconds;
        if copy.turn != who.turn {
            (copy.turn, copy.mask) = (who.turn, 0);
            notes.set.0 += 1;
        }
        let (from, until) = (from >> self.part, ((until - 1) >> self.part) + 1);
        let mask = (u64::MAX >> (64 - (until - from))) << from;
        notes.set.1 += u64::from((mask & !copy.mask).count_ones()) << self.part;
        copy.mask |= mask;
        copy.time = self.time;
        if touch.is_write {
            *line = Line { time: self.time, pe: who.pe, is_modified: true, is_alone: true };
        } else if line.pe == Line::NOBODY {
            *line = Line { pe: who.pe, is_alone: true, ..*line };
        } else {
            line.is_modified &= !(is_elsewhere || is_evicted);
            line.is_alone &= line.pe == who.pe;
        }
        seconds
    }
}
