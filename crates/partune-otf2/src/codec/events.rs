//! Decodes the events of a chunk, each handed to a visitor as it is found.
//!
//! For importers and for counting. This is the hottest loop of reading an archive. ENTER and LEAVE, most events of most archives, are decoded
//! in a window of constant size, whose loads need neither a bounds check nor a branch on the length of the integer. All other records take
//! the general way, and so do big endian buffers, which no machine of today writes. A visitor is a type parameter, so its calls are inlined.

use super::attributes::AttributeList;
use super::chunk::{ATTRIBUTE_LIST, Chunk, END_OF_CHUNK, END_OF_FILE, TIMESTAMP};
use super::cursor::{Cursor, Endian, MASK};
use super::error::{Damage, EndKind, Flaw};
use super::event::{Event, is_singleton};

/// Receives the events of a chunk in order. Times are those of the location's clock, ids those of the location.
pub trait EventVisitor {
    /// An ENTER event.
    fn enter(&mut self, time: u64, region: u32);
    /// A LEAVE event.
    fn leave(&mut self, time: u64, region: u32);
    /// Any other event.
    fn event(&mut self, time: u64, event: &Event<'_>);
    /// The attributes of the event whose method is called next, whichever that is.
    fn attributes(&mut self, attributes: AttributeList<'_>) {
        let _ = attributes;
    }
    /// An event of a type that is newer than this codec, with its bytes.
    fn unknown(&mut self, time: u64, id: u8, bytes: &[u8]) {
        let _ = (time, id, bytes);
    }
}

/// What a chunk held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkOutcome {
    /// Events handed to the visitor, without unknown ones.
    pub events: u64,
    /// Events of unknown types. `otf2-print` lists them, and headers count them.
    pub unknown: u64,
    /// Events that a newer version has extended; the extension was skipped.
    pub extended: u64,
    /// How the chunk ended.
    pub end: EndKind,
}

impl ChunkOutcome {
    /// What was lost, for a chunk whose records begin at `offset` in the file.
    pub fn damage(&self, offset: u64) -> Damage {
        let mut damage = Damage { unknown_records: self.unknown, extended_records: self.extended, ..Damage::default() };
        damage.end(self.end, offset);
        damage
    }
}

/// Decodes the events of a chunk.
pub fn read_chunk<V: EventVisitor>(chunk: &Chunk<'_>, visitor: &mut V) -> ChunkOutcome {
    let mut place = Place { at: Cursor::new(chunk.bytes, chunk.endian), time: 0 };
    let mut outcome = ChunkOutcome { events: 0, unknown: 0, extended: 0, end: EndKind::Exhausted };
    loop {
        if chunk.endian == Endian::Little {
            let (after, events) = visits(place, visitor);
            place = after;
            outcome.events += events;
        }
        outcome.end = match event(place, visitor) {
            Ok(Step::Event { after, extended }) => {
                place = after;
                outcome.events += 1;
                outcome.extended += u64::from(extended);
                continue;
            }
            Ok(Step::Unknown { after }) => {
                place = after;
                outcome.unknown += 1;
                continue;
            }
            Ok(Step::End(end)) => end,
            Err(Flaw::Truncated) => EndKind::Exhausted,
            Err(flaw) => EndKind::Damaged { offset: place.at.pos(), flaw },
        };
        return outcome;
    }
}

const ENTER: u8 = 12;
const LEAVE: u8 = 13;

/// Bytes that a time, the type of a visit and an eight byte load of its region take: 9 + 1 + 1 + 8.
const WINDOW: usize = 19;
/// Where the type of a record is after a time.
const AFTER_TIME: usize = 9;

/// Where a chunk is being read. Small and passed by value, so that it stays in registers.
#[derive(Clone, Copy)]
struct Place<'a> {
    at: Cursor<'a>,
    time: u64,
}

/// Decodes visits of a little endian buffer while there are enough bytes for a window, up to any other record. Returns their number.
#[inline]
fn visits<'a, V: EventVisitor>(place: Place<'a>, visitor: &mut V) -> (Place<'a>, u64) {
    let Place { at, mut time } = place;
    let mut rest = at.rest();
    let mut events = 0;
    while let Some(window) = rest.first_chunk::<WINDOW>() {
        // Whether a time precedes is hard to predict, so it is computed, not branched on.
        let timed = window[0] == TIMESTAMP;
        let stamp = if timed { load::<1>(window) } else { time };
        let id = if timed { window[AFTER_TIME] } else { window[0] };
        let len = if timed { window[AFTER_TIME + 1] } else { window[1] };
        let bits = if timed { load::<{ AFTER_TIME + 2 }>(window) } else { load::<2>(window) };
        let head = if timed { AFTER_TIME + 2 } else { 2 };
        if (id != ENTER && id != LEAVE) || len > 4 {
            break;
        }
        let n = usize::from(len);
        let region = (bits & MASK[n]) as u32;
        time = stamp;
        events += 1;
        if id == ENTER {
            visitor.enter(time, region);
        } else {
            visitor.leave(time, region);
        }
        rest = rest.get(head + n..).unwrap_or_default();
    }
    let used = at.rest().len() - rest.len();
    (Place { at: at.at(at.pos() + used), time }, events)
}

/// What [`event`] found.
enum Step<'a> {
    Event { after: Place<'a>, extended: bool },
    Unknown { after: Place<'a> },
    End(EndKind),
}

/// Decodes one event of any type, with the time and the attributes before it.
#[allow(clippy::inline_always, reason = "keeps the place in registers")]
#[inline(always)]
fn event<'a, V: EventVisitor>(place: Place<'a>, visitor: &mut V) -> Result<Step<'a>, Flaw> {
    let Place { mut at, mut time } = place;
    let mut attributes = None;
    let id = match next(&mut at, &mut time, &mut attributes)? {
        Next::End(end) => return Ok(Step::End(end)),
        Next::Record(id) => id,
    };
    let singleton = is_singleton(id);
    let end = if singleton { at.pos() } else { record_end(&mut at)? };
    let mut inside = at;
    let read = Event::read(id, &mut inside)?;
    let extended = if singleton || read.is_none() { false } else { closed(&inside, end)? };
    if let Some(list) = attributes {
        visitor.attributes(list);
    }
    let after = Place { at: if singleton { inside } else { at.at(end) }, time };
    match read {
        Some(Event::Enter { region }) => visitor.enter(time, region),
        Some(Event::Leave { region }) => visitor.leave(time, region),
        Some(other) => visitor.event(time, &other),
        None => {
            visitor.unknown(time, id, at.take(end - at.pos())?);
            return Ok(Step::Unknown { after });
        }
    }
    Ok(Step::Event { after, extended })
}

/// Eight bytes at `AT`.
#[inline]
fn load<const AT: usize>(window: &[u8; WINDOW]) -> u64 {
    // `AT` is 1, 2 or 11, so there always are eight bytes; the default is never taken and compiles to nothing.
    u64::from_le_bytes(window[AT..].first_chunk::<8>().copied().unwrap_or_default())
}

/// What follows times and attributes.
pub(crate) enum Next {
    /// A record of this type.
    Record(u8),
    /// An end mark.
    End(EndKind),
}

/// Reads times and attributes up to the record that they belong to.
#[allow(clippy::inline_always, reason = "keeps the cursor in registers")]
#[inline(always)]
pub(crate) fn next<'a>(
    at: &mut Cursor<'a>,
    time: &mut u64,
    attributes: &mut Option<AttributeList<'a>>,
) -> Result<Next, Flaw> {
    loop {
        let id = at.u8()?;
        if id > ATTRIBUTE_LIST {
            return Ok(Next::Record(id));
        }
        match id {
            TIMESTAMP => *time = at.u64()?,
            ATTRIBUTE_LIST => {
                let (list, after) = attribute_list(*at)?;
                *attributes = Some(list);
                *at = after;
            }
            END_OF_CHUNK => return Ok(Next::End(EndKind::EndOfChunk)),
            END_OF_FILE => return Ok(Next::End(EndKind::EndOfFile)),
            id => return Ok(Next::Record(id)),
        }
    }
}

#[inline(never)]
fn attribute_list(mut at: Cursor<'_>) -> Result<(AttributeList<'_>, Cursor<'_>), Flaw> {
    let end = record_end(&mut at)?;
    let list = AttributeList::read(&mut at)?;
    closed(&at, end)?;
    Ok((list, at.at(end)))
}

/// Reads the length of a record: where it ends, which is within the buffer.
#[inline]
pub(crate) fn record_end(at: &mut Cursor<'_>) -> Result<usize, Flaw> {
    let length = at.record_length()?;
    Ok(at.pos() + length)
}

/// Whether a record whose known attributes were read up to `inside` has more of them.
#[inline]
pub(crate) fn closed(inside: &Cursor<'_>, end: usize) -> Result<bool, Flaw> {
    if inside.pos() > end { Err(Flaw::Overrun) } else { Ok(inside.pos() < end) }
}
