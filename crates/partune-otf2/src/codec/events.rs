//! Decodes the events of a chunk, each handed to a visitor as it is found.
//!
//! For importers and for counting. This is the hottest loop of reading an archive. ENTER and LEAVE, most events of most archives, are decoded
//! in a window of constant size, whose loads need neither a bounds check nor a branch on the length of the integer; all other records take
//! the general way. A visitor is a type parameter, so its calls are inlined.

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
    let mut reader = Reader {
        chunk,
        pos: 0,
        time: 0,
        outcome: ChunkOutcome { events: 0, unknown: 0, extended: 0, end: EndKind::Exhausted },
    };
    loop {
        match chunk.endian {
            Endian::Little => reader.visits::<false, V>(visitor),
            Endian::Big => reader.visits::<true, V>(visitor),
        }
        if let Some(end) = reader.step(visitor) {
            reader.outcome.end = end;
            return reader.outcome;
        }
    }
}

/// Bytes that a time, the type of a visit and an eight byte load of its region take: 9 + 1 + 1 + 8.
const WINDOW: usize = 19;

struct Reader<'c, 'a> {
    chunk: &'c Chunk<'a>,
    pos: usize,
    time: u64,
    outcome: ChunkOutcome,
}

impl Reader<'_, '_> {
    /// Decodes visits while there are enough bytes for a window, up to any other record.
    #[inline]
    fn visits<const BIG: bool, V: EventVisitor>(&mut self, visitor: &mut V) {
        let mut rest = self.chunk.bytes.get(self.pos..).unwrap_or_default();
        let before = rest.len();
        let mut time = self.time;
        let mut events = 0;
        while let Some(window) = rest.first_chunk::<WINDOW>() {
            let (stamped, visit) = if window[0] == TIMESTAMP {
                (load::<BIG, 1>(window), decode::<BIG, 9>(window))
            } else {
                (time, decode::<BIG, 0>(window))
            };
            let Some((id, region, used)) = visit else { break };
            time = stamped;
            events += 1;
            if id == ENTER {
                visitor.enter(time, region);
            } else {
                visitor.leave(time, region);
            }
            rest = rest.get(used..).unwrap_or_default();
        }
        self.time = time;
        self.outcome.events += events;
        self.pos += before - rest.len();
    }

    /// Decodes one event of any type, with the time and the attributes before it; the end if there is none.
    fn step<V: EventVisitor>(&mut self, visitor: &mut V) -> Option<EndKind> {
        let start = self.pos;
        match self.event(visitor) {
            Ok(end) => end,
            Err(Flaw::Truncated) => Some(EndKind::Exhausted),
            Err(flaw) => Some(EndKind::Damaged { offset: start, flaw }),
        }
    }

    fn event<V: EventVisitor>(&mut self, visitor: &mut V) -> Result<Option<EndKind>, Flaw> {
        let mut at = Cursor::new(self.chunk.bytes, self.chunk.endian).at(self.pos);
        let mut time = self.time;
        let mut attributes = None;
        let id = match next(&mut at, &mut time, &mut attributes)? {
            Next::End(end) => return Ok(Some(end)),
            Next::Record(id) => id,
        };
        let read = if is_singleton(id) {
            Event::read(id, &mut at)?.map(|event| (event, false))
        } else {
            let (end, mut inside) = record_end(&mut at)?;
            let event = Event::read(id, &mut inside)?;
            let (behind, extended) = if event.is_some() { closed(inside, end)? } else { (at.at(end), false) };
            if event.is_none() {
                let bytes = at.take(end - at.pos())?;
                if let Some(list) = attributes.take() {
                    visitor.attributes(list);
                }
                visitor.unknown(time, id, bytes);
            }
            at = behind;
            event.map(|event| (event, extended))
        };
        match read {
            Some((event, extended)) => {
                if let Some(list) = attributes {
                    visitor.attributes(list);
                }
                match event {
                    Event::Enter { region } => visitor.enter(time, region),
                    Event::Leave { region } => visitor.leave(time, region),
                    other => visitor.event(time, &other),
                }
                self.outcome.events += 1;
                self.outcome.extended += u64::from(extended);
            }
            None => self.outcome.unknown += 1,
        }
        self.time = time;
        self.pos = at.pos();
        Ok(None)
    }
}

const ENTER: u8 = 12;
const LEAVE: u8 = 13;

/// Eight bytes at `AT`.
#[inline]
fn load<const BIG: bool, const AT: usize>(window: &[u8; WINDOW]) -> u64 {
    // `AT` is 1, 2 or 11 here, so the slice always has eight bytes; the fallback is never taken and compiles to nothing.
    let eight = window[AT..].first_chunk::<8>().copied().unwrap_or_default();
    if BIG { u64::from_be_bytes(eight) } else { u64::from_le_bytes(eight) }
}

/// The visit whose type stands at `AT`: type, region, bytes up to its end. `None` if it is something else, or damaged.
#[inline]
fn decode<const BIG: bool, const AT: usize>(window: &[u8; WINDOW]) -> Option<(u8, u32, usize)> {
    let id = window[AT];
    let len = window[AT + 1];
    if id != ENTER && id != LEAVE {
        return None;
    }
    let tail = &window[AT + 2..];
    let eight = tail.first_chunk::<8>().copied().unwrap_or_default();
    if len <= 4 {
        let n = usize::from(len);
        let bits = if BIG {
            u64::from_be_bytes(eight).checked_shr(64 - 8 * u32::from(len)).unwrap_or(0)
        } else {
            u64::from_le_bytes(eight) & MASK[n]
        };
        Some((id, bits as u32, AT + 2 + n))
    } else if len == 0xff {
        Some((id, u32::MAX, AT + 2))
    } else {
        None
    }
}

/// What follows times and attributes.
pub(crate) enum Next {
    /// A record of this type.
    Record(u8),
    /// An end mark.
    End(EndKind),
}

/// Reads times and attributes up to the record that they belong to.
pub(crate) fn next<'a>(
    at: &mut Cursor<'a>,
    time: &mut u64,
    attributes: &mut Option<AttributeList<'a>>,
) -> Result<Next, Flaw> {
    loop {
        match at.u8()? {
            TIMESTAMP => *time = at.u64()?,
            ATTRIBUTE_LIST => {
                let (end, mut inside) = record_end(at)?;
                *attributes = Some(AttributeList::read(&mut inside)?);
                *at = closed(inside, end)?.0;
            }
            END_OF_CHUNK => return Ok(Next::End(EndKind::EndOfChunk)),
            END_OF_FILE => return Ok(Next::End(EndKind::EndOfFile)),
            id => return Ok(Next::Record(id)),
        }
    }
}

/// Reads the length of a record: where it ends, and a cursor at its attributes.
pub(crate) fn record_end<'a>(at: &mut Cursor<'a>) -> Result<(usize, Cursor<'a>), Flaw> {
    let length = at.record_length()?;
    Ok((at.pos() + length, *at))
}

/// Leaves a record whose attributes were read up to `inside`; also whether it has more of them.
pub(crate) fn closed(inside: Cursor<'_>, end: usize) -> Result<(Cursor<'_>, bool), Flaw> {
    match inside.pos().cmp(&end) {
        std::cmp::Ordering::Greater => Err(Flaw::Overrun),
        std::cmp::Ordering::Equal => Ok((inside, false)),
        std::cmp::Ordering::Less => Ok((inside.at(end), true)),
    }
}
