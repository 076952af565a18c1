//! From the numbers of a line to a record. Which fields it has depends on the version in the symbol table; where versions are in doubt the number of words decides.
//!
//! Fields as Charm++ 8.0.1 writes them (version 11) and as its history tells: bytes since 2, identity and arrival since 4, time of sending since 5, CPU time since
//! 6.5, counters since 6.6, a fourth number of identity since 7, as many as the array has dimensions since 9.

use super::Line;

/// What has a begin and an end, each a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    Computation,
    /// The recorder writes its buffer.
    Interrupt,
    Idle,
    Pack,
    Unpack,
}

/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To<'a> {
    One,
    /// All PEs, so many.
    All(i64),
    /// These PEs.
    Some(&'a [i64]),
}

/// A record. Times are in microseconds, since the begin of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record<'a> {
    /// A message was made and sent. `kind` is the runtime's of messages, `entry` what it calls, `event` its number on this PE.
    Creation {
        kind: i64,
        entry: i64,
        time: i64,
        event: i64,
        bytes: i64,
        duration: i64,
        to: To<'a>,
    },
    /// An entry method begins, for the message `event` of the PE `source`; −1 if for none.
    BeginProcessing {
        kind: i64,
        entry: i64,
        time: i64,
        event: i64,
        source: i64,
        bytes: i64,
        /// Numbers of the object; empty if not told.
        identity: &'a [i64],
        counters: &'a [i64],
    },
    EndProcessing {
        entry: i64,
        time: i64,
        event: i64,
        counters: &'a [i64],
    },
    Begin(Span, i64),
    End(Span, i64),
    /// Recording goes on, or stops.
    Recording {
        on: bool,
        time: i64,
    },
    UserEvent {
        id: i64,
        time: i64,
    },
    /// One end of a user's event with a duration, told when it is over: there is one such record for each end, with the same `number`.
    Bracket {
        id: i64,
        time: i64,
        number: i64,
    },
    /// One end of a user's event with a duration, told when it happens.
    UserSpan {
        begins: bool,
        id: i64,
        time: i64,
        nested: i64,
    },
    Note {
        time: i64,
    },
    BracketedNote {
        begin: i64,
        end: i64,
        id: i64,
    },
    /// A value of the user's; without a time it is that of the record before.
    Supplied {
        value: i64,
        time: Option<i64>,
    },
    Memory {
        bytes: i64,
        time: Option<i64>,
    },
    Statistic {
        id: i64,
        time: i64,
        value: f64,
    },
    EndPhase {
        time: i64,
    },
    /// Of our own recorder: something was contributed to the reduction number `turn` of a collection of objects, whose result goes to whoever `target` stands for.
    Contribution {
        entry: i64,
        time: i64,
        event: i64,
        bytes: i64,
        duration: i64,
        to_all: bool,
        collection: i64,
        turn: i64,
        target: i64,
    },
    /// Of our own recorder: what began last began for the result of a reduction, if any goes to `one` or `all`; what began for the same message has the same
    /// `delivery`.
    Result {
        one: i64,
        all: i64,
        delivery: i64,
    },
    /// A message arrived, or went through a queue; what begins for it says the same.
    Delivery {
        time: i64,
    },
    /// A record of another kind.
    Unknown,
}

/// Which fields the records of a version have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// In tenths.
    pub version: u32,
    /// Hardware counters at the end of records of entry methods.
    pub counters: usize,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { version: 110, counters: 0 }
    }
}

impl Layout {
    /// Newer ones may have other fields.
    pub const NEWEST: u32 = 110;

    /// The record of a line; `None` if fields are missing.
    #[inline]
    pub fn record<'a>(&self, line: Line<'a>) -> Option<Record<'a>> {
        Some(match *line.numbers {
            [kind @ (1 | 20 | 21), ref fields @ ..] => self.creation(kind, fields)?,
            [2, kind, entry, time, event, source, ref rest @ ..] => {
                let (bytes, identity, counters) = self.begin(rest)?;
                Record::BeginProcessing { kind, entry, time, event, source, bytes, identity, counters }
            }
            [3, _, entry, time, event, _, ref rest @ ..] => {
                Record::EndProcessing { entry, time, event, counters: self.split_counters(rest).1 }
            }
            [4 | 5, _, time, _, _, ..] | [10, _, _, time, _, _, ..] => Record::Delivery { time },
            [6, time, ..] => Record::Begin(Span::Computation, time),
            [7, time, ..] => Record::End(Span::Computation, time),
            [8, time, ..] => Record::Begin(Span::Interrupt, time),
            [9, time, ..] => Record::End(Span::Interrupt, time),
            [11, time, ..] => Record::Recording { on: true, time },
            [12, time, ..] => Record::Recording { on: false, time },
            [13, id, time, _, _, ..] => Record::UserEvent { id, time },
            [14, time, _, ..] => Record::Begin(Span::Idle, time),
            [15, time, _, ..] => Record::End(Span::Idle, time),
            [16, time, _, ..] => Record::Begin(Span::Pack, time),
            [17, time, _, ..] => Record::End(Span::Pack, time),
            [18, time, _, ..] => Record::Begin(Span::Unpack, time),
            [19, time, _, ..] => Record::End(Span::Unpack, time),
            [26, value, ref rest @ ..] => Record::Supplied { value, time: rest.first().copied() },
            [27, bytes, ref rest @ ..] => Record::Memory { bytes, time: rest.first().copied() },
            [28, time, _, ..] => Record::Note { time },
            [29, begin, end, id, _, ..] => Record::BracketedNote { begin, end, id },
            [30, _, time, ..] => Record::EndPhase { time },
            [32, time, _, _, _, id, ..] => Record::Statistic { id, time, value: decimal(line.text, 3)? },
            [98, id, time, _, _, ref rest @ ..] => user_span(true, id, time, rest),
            [99, id, time, _, _, ref rest @ ..] => user_span(false, id, time, rest),
            [100, id, time, number, _, ..] => Record::Bracket { id, time, number },
            [200, _, entry, time, event, _, bytes, duration, to_all, collection, turn, target, ..] => {
                let to_all = to_all != 0;
                Record::Contribution { entry, time, event, bytes, duration, to_all, collection, turn, target }
            }
            [201, one, all, delivery, ..] => Record::Result { one, all, delivery },
            [] | [200 | 201 | 1..=10 | 13..=19 | 28 | 29 | 30 | 32 | 98..=100, ..] | [26 | 27] => return None,
            _ => Record::Unknown,
        })
    }

    fn creation<'a>(&self, record: i64, fields: &'a [i64]) -> Option<Record<'a>> {
        let [kind, entry, time, event, _, ref rest @ ..] = *fields else { return None };
        let (bytes, rest) = self.optional(20, rest)?;
        let (duration, rest) = self.optional(50, rest)?;
        let to = match (record, rest) {
            (1, _) => To::One,
            (20, _) => To::All(rest.first().copied()?),
            (_, [count, pes @ ..]) => To::Some(&pes[..usize::try_from(*count).ok()?.min(pes.len())]),
            (_, []) => return None,
        };
        Some(Record::Creation { kind, entry, time, event, bytes, duration, to })
    }

    /// Bytes, identity and counters, after the source of a message.
    fn begin<'a>(&self, rest: &'a [i64]) -> Option<(i64, &'a [i64], &'a [i64])> {
        let (bytes, rest) = self.optional(20, rest)?;
        let (_, rest) = self.optional(40, rest)?;
        let (rest, counters) = self.split_counters(rest);
        // What is neither arrival nor CPU time nor a counter is the object's.
        let clock = usize::from(self.version >= 65);
        let identity = if self.version >= 40 { rest.get(..rest.len().checked_sub(clock)?)? } else { &[] };
        Some((bytes, identity, counters))
    }

    /// A field that there is since a version.
    fn optional<'a>(&self, since: u32, fields: &'a [i64]) -> Option<(i64, &'a [i64])> {
        match fields {
            _ if self.version < since => Some((0, fields)),
            [first, rest @ ..] => Some((*first, rest)),
            [] => None,
        }
    }

    /// The counters at the end of a record.
    fn split_counters<'a>(&self, fields: &'a [i64]) -> (&'a [i64], &'a [i64]) {
        let count = if self.version >= 66 { self.counters } else { 0 };
        fields.split_at(fields.len().saturating_sub(count))
    }
}

fn user_span<'a>(begins: bool, id: i64, time: i64, rest: &[i64]) -> Record<'a> {
    Record::UserSpan { begins, id, time, nested: rest.first().copied().unwrap_or(0) }
}

/// A word of a line as a number with decimals.
fn decimal(text: &[u8], word: usize) -> Option<f64> {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    std::str::from_utf8(words.nth(word)?).ok()?.parse().ok()
}
