//! From pieces of a file to records.
//!
//! A [`Scanner`] takes the text of a `.prv` in pieces of any size and hands each record to a [`Sink`] with its numbers in place: nothing is
//! allocated per line. Lines that are cut by the end of a piece wait for the next. Nearly every line is numbers with colons between them and
//! takes the fast way; what is not (negative numbers, spaces, foreign line ends) is read field by field. What cannot be read is counted.

use super::numbers::{MARGIN, find_ends, read_all};

/// Whom a record is about; all counted from 1 as in the file, 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    pub cpu: u64,
    pub application: u64,
    pub task: u64,
    pub thread: u64,
}

/// One end of a communication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    pub object: Object,
    /// When the program asked for it.
    pub logical: i64,
    /// When it happened.
    pub physical: i64,
}

/// A line of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The thread was in a state. An end of −1 is not known.
    State { object: Object, begin: i64, end: i64, state: u64 },
    /// Things that happened at one moment: type, value, type, value, ….
    Events { object: Object, time: i64, pairs: &'a [[u64; 2]] },
    /// A message.
    Communication { send: End, recv: End, size: u64, tag: u64 },
}

/// Where records go.
pub trait Sink {
    fn record(&mut self, record: &Record<'_>);

    /// A line that does not begin with a digit: the header, a communicator, a comment. Without its end.
    fn line(&mut self, line: &[u8]);
}

/// What was read, and what could not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub records: u64,
    /// Lines with too few or too many fields, or with something that is no number.
    pub malformed: u64,
    /// Numbers of more than 64 bits; they count as the largest one.
    pub large: u64,
    /// Records of types that are not read: global communications, which no tool reads, and unknown ones.
    pub ignored: u64,
    /// Lines of more than [`Scanner::LONGEST`] bytes.
    pub endless: u64,
    /// The last line has no end: the file was cut.
    pub cut: bool,
}

/// Reads records from text that comes in pieces.
#[derive(Debug, Default)]
pub struct Scanner {
    /// A margin, the text that is not read yet, and another margin.
    text: Vec<u8>,
    ends: Vec<u32>,
    values: Vec<u64>,
    large: Vec<u32>,
    /// Inside of a line that is too long.
    skipping: bool,
    counts: Counts,
}

const AFTER: usize = 64;
/// So much text is searched at a time: small enough that it, its ends and its numbers stay near the processor.
const BLOCK: usize = 1 << 14;

const STATE: u64 = 1;
const EVENTS: u64 = 2;
const COMMUNICATION: u64 = 3;

impl Scanner {
    /// Bytes of the longest line that is read: a communicator of a million tasks has ten million.
    pub const LONGEST: usize = 1 << 26;

    /// What was read so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Takes the next piece of the file.
    pub fn feed(&mut self, piece: &[u8], sink: &mut impl Sink) {
        for part in piece.chunks(BLOCK) {
            self.take(part, sink);
        }
    }

    /// The file is at its end: what is left is a line without an end.
    pub fn finish(mut self, sink: &mut impl Sink) -> Counts {
        if !self.skipping && self.text.len() > MARGIN {
            let line = self.text.split_off(MARGIN);
            // What a cut number was nobody knows; a comment says what it says.
            if line.first().is_some_and(u8::is_ascii_digit) {
                self.counts.cut = true;
            } else {
                sink.line(&line);
            }
        }
        self.counts
    }

    fn take(&mut self, part: &[u8], sink: &mut impl Sink) {
        if self.text.is_empty() {
            self.text.resize(MARGIN, b'0');
        }
        let old = self.text.len();
        self.text.extend_from_slice(part);
        let Some(last) = part.iter().rposition(|byte| *byte == b'\n') else {
            if self.skipping || self.text.len() > Self::LONGEST {
                self.counts.endless += u64::from(!self.skipping);
                self.skipping = true;
                self.text.truncate(MARGIN);
            }
            return;
        };
        let end = old + last + 1;
        let mut from = MARGIN;
        if std::mem::take(&mut self.skipping) {
            let first = self.text[MARGIN..end].iter().position(|byte| *byte == b'\n').unwrap_or(0);
            from += first + 1;
        }
        let rest = self.text.len();
        self.text.resize(rest + AFTER, b'0');
        self.lines(from, end, sink);
        self.text.truncate(rest);
        self.text.drain(MARGIN..end);
    }

    /// Reads whole lines.
    fn lines(&mut self, from: usize, to: usize, sink: &mut impl Sink) {
        self.large.clear();
        let ends = find_ends(&self.text, from, to, &mut self.ends);
        read_all(&self.text, from, ends, &mut self.values, &mut self.large);
        let (text, values) = (&self.text[..], &self.values[..]);
        let large = (!self.large.is_empty()).then_some(&self.large[..]);
        let (mut begin, mut first) = (from, 0);
        while first < ends.len() {
            let (mut at, mut before, mut whole) = (first, begin, true);
            let separator = loop {
                let end = ends[at] as usize;
                whole &= end > before;
                before = end + 1;
                at += 1;
                match text[end] {
                    b':' if at < ends.len() => {}
                    other => break other,
                }
            };
            if separator == b'\n' && whole {
                let beyond = large.map_or(0, |large| {
                    large.iter().filter(|position| (first..at).contains(&(**position as usize))).count()
                });
                self.counts.large += beyond as u64;
                record(&values[first..at], &mut self.counts, sink);
            } else {
                // Something else is in this line, which has an end.
                while text[ends[at - 1] as usize] != b'\n' && at < ends.len() {
                    at += 1;
                }
                before = ends[at - 1] as usize + 1;
                other_line(&text[begin..before], &mut self.counts, sink);
            }
            (begin, first) = (before, at);
        }
    }
}

/// A line of numbers.
#[inline]
fn record(fields: &[u64], counts: &mut Counts, sink: &mut impl Sink) {
    match *fields {
        [EVENTS, cpu, application, task, thread, time, ref pairs @ ..] => {
            let object = Object { cpu, application, task, thread };
            let (pairs, odd) = pairs.as_chunks::<2>();
            counts.malformed += u64::from(!odd.is_empty() || pairs.is_empty());
            if !pairs.is_empty() {
                counts.records += 1;
                sink.record(&Record::Events { object, time: time.cast_signed(), pairs });
            }
        }
        [STATE, cpu, application, task, thread, begin, end, state, ref more @ ..] => {
            counts.malformed += u64::from(!more.is_empty());
            counts.records += 1;
            let object = Object { cpu, application, task, thread };
            sink.record(&Record::State { object, begin: begin.cast_signed(), end: end.cast_signed(), state });
        }
        [COMMUNICATION, ref fields @ ..] if fields.len() >= 2 * ENDS + 2 => {
            counts.malformed += u64::from(fields.len() > 2 * ENDS + 2);
            counts.records += 1;
            let (send, recv) = (communicating(&fields[..ENDS]), communicating(&fields[ENDS..]));
            sink.record(&Record::Communication { send, recv, size: fields[2 * ENDS], tag: fields[2 * ENDS + 1] });
        }
        [STATE | EVENTS | COMMUNICATION, ..] => counts.malformed += 1,
        _ => counts.ignored += 1,
    }
}

/// Fields of one end of a communication.
const ENDS: usize = 6;

#[inline]
fn communicating(fields: &[u64]) -> End {
    End {
        object: Object { cpu: fields[0], application: fields[1], task: fields[2], thread: fields[3] },
        logical: fields[4].cast_signed(),
        physical: fields[5].cast_signed(),
    }
}

/// A line that is not just numbers and colons.
#[cold]
fn other_line(line: &[u8], counts: &mut Counts, sink: &mut impl Sink) {
    let line = line.trim_ascii();
    match line.first() {
        None => {}
        Some(first) if first.is_ascii_digit() => {
            let mut large = 0;
            let fields: Option<Vec<u64>> =
                line.split(|byte| *byte == b':').map(|field| number(field, &mut large)).collect();
            counts.large += large;
            match fields {
                Some(fields) => record(&fields, counts, sink),
                None => counts.malformed += 1,
            }
        }
        Some(_) => sink.line(line),
    }
}

/// A number with a sign, or spaces around it. Negative ones are in two's complement.
fn number(field: &[u8], large: &mut u64) -> Option<u64> {
    let field = field.trim_ascii();
    let (negative, digits) = match field.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, field.strip_prefix(b"+").unwrap_or(field)),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |value: Option<u64>, digit: &u8| value?.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    let value = digits.iter().fold(Some(0), add);
    *large += u64::from(value.is_none());
    let value = value.unwrap_or(u64::MAX);
    Some(if negative { 0_i64.saturating_sub_unsigned(value).cast_unsigned() } else { value })
}
