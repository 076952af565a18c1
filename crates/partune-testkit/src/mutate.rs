//! Damage with structure: records of an OTF2 file lost, doubled, moved, or with other ids, counts and times, in chunks that are whole.
//!
//! A flipped byte mostly ends a chunk; what stays readable and is wrong is found by changing what a record says. The wire format is
//! walked here by itself, so that the reader under test is not its own judge.

/// A small generator of numbers: the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of a round.
    pub fn new(round: u64) -> Random {
        Random(0x9e37_79b9_7f4a_7c15 ^ (round + 1).wrapping_mul(0xff51_afd7_ed55_8ccd))
    }

    /// A number below a limit; 0 if the limit is.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

const END_OF_CHUNK: u8 = 0;
const END_OF_BUFFER: u8 = 1;
const END_OF_FILE: u8 = 2;
const CHUNK_HEADER: u8 = 3;
const TIMESTAMP: u8 = 5;
/// Header of a chunk: its mark, byte order, numbers of the first and last record.
const HEADER: usize = 18;

/// A part of a chunk: a time, or a record with its attributes.
#[derive(Clone, Debug)]
enum Piece {
    Time(u64),
    Record { id: u8, body: Vec<u8> },
}

/// Changes some records of a file of chunks (`.evt`, `.def`); `None` if it is none.
pub fn records(bytes: &[u8], chunk_size: usize, random: &mut Random) -> Option<Vec<u8>> {
    let mut pieces = parse(bytes, chunk_size)?;
    for _ in 0..=random.below(6) {
        change(&mut pieces, random);
    }
    Some(write(&pieces, chunk_size, random))
}

/// The pieces of all chunks.
fn parse(bytes: &[u8], chunk_size: usize) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    for chunk in bytes.chunks(chunk_size.max(HEADER + 1)) {
        // Only little endian ones are walked.
        if chunk.len() <= HEADER || chunk[0] != CHUNK_HEADER || chunk[1] != b'B' {
            return None;
        }
        let mut at = HEADER;
        while let Some(id) = chunk.get(at).copied().filter(|id| *id > END_OF_FILE) {
            at += 1;
            if id == TIMESTAMP {
                pieces.push(Piece::Time(u64::from_le_bytes(chunk.get(at..at + 8)?.try_into().ok()?)));
                at += 8;
                continue;
            }
            let mut length = usize::from(*chunk.get(at)?);
            at += 1;
            if length == 0xff {
                length = u64::from_le_bytes(chunk.get(at..at + 8)?.try_into().ok()?) as usize;
                at += 8;
            }
            pieces.push(Piece::Record { id, body: chunk.get(at..at.checked_add(length)?)?.to_vec() });
            at += length;
        }
    }
    Some(pieces)
}

/// One change.
fn change(pieces: &mut Vec<Piece>, random: &mut Random) {
    if pieces.is_empty() {
        return;
    }
    let at = random.below(pieces.len());
    let end = (at + 1 + random.below(4)).min(pieces.len());
    match random.below(12) {
        0 => drop(pieces.drain(at..end)),
        1 => {
            let copies = pieces[at..end].to_vec();
            pieces.splice(at..at, copies);
        }
        2 => {
            let other = random.below(pieces.len());
            pieces.swap(at, other);
        }
        3 => {
            let piece = pieces.remove(at);
            let to = random.below(pieces.len() + 1);
            pieces.insert(to, piece);
        }
        // The same again and again: deep calls, many members, many rows of one id.
        4 => {
            let copies: Vec<Piece> = pieces[at..end].iter().cycle().take(random.below(3000)).cloned().collect();
            pieces.splice(at..at, copies);
        }
        5 => pieces.truncate(at),
        _ => {
            let donor = random.below(pieces.len());
            let given = number(&pieces[donor], random);
            alter(&mut pieces[at], given, random);
        }
    }
}

/// A number that a piece holds somewhere.
fn number(piece: &Piece, random: &mut Random) -> u64 {
    match piece {
        Piece::Time(time) => *time,
        Piece::Record { body, .. } => {
            let at = random.below(body.len());
            let bytes = body.get(at..).unwrap_or_default().iter().take(4);
            bytes.rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
        }
    }
}

/// Changes what a piece says.
fn alter(piece: &mut Piece, given: u64, random: &mut Random) {
    const EXTREMES: [u64; 12] =
        [0, 1, 2, 0x7f, 0xff, 0xffff, 0x7fff_ffff, u32::MAX as u64, 1 << 32, 1 << 61, i64::MAX as u64, u64::MAX];
    let value = match random.below(3) {
        0 => given,
        1 => EXTREMES[random.below(EXTREMES.len())],
        _ => given.wrapping_add(EXTREMES[random.below(4)]),
    };
    match piece {
        Piece::Time(time) => *time = if random.below(2) == 0 { value } else { time.wrapping_add(value) },
        Piece::Record { id, body } => match random.below(8) {
            0 => *id = value as u8,
            1 => body.truncate(random.below(body.len())),
            2 => body.extend(value.to_le_bytes()),
            3 => {
                let at = random.below(body.len());
                if let Some(byte) = body.get_mut(at) {
                    *byte = value as u8;
                }
            }
            _ => integer(body, value, random),
        },
    }
}

/// Writes another number where one stands: numbers are their length and so many bytes.
fn integer(body: &mut Vec<u8>, value: u64, random: &mut Random) {
    let mut fields = Vec::new();
    let mut at = 0;
    while let Some(length) = body.get(at).map(|length| usize::from(*length)) {
        let bytes = if length == 0xff { 0 } else { length };
        if bytes > 8 || at + 1 + bytes > body.len() {
            at += 1;
            continue;
        }
        fields.push((at, 1 + bytes));
        at += 1 + bytes;
    }
    let Some((at, length)) = fields.get(random.below(fields.len())).copied() else { return };
    let bytes = value.to_le_bytes();
    let needed = 8 - value.leading_zeros() as usize / 8;
    let number = std::iter::once(needed as u8).chain(bytes[..needed].iter().copied());
    body.splice(at..at + length, number.collect::<Vec<u8>>());
}

/// The pieces in chunks that are whole; now and then a header counts wrongly.
fn write(pieces: &[Piece], chunk_size: usize, random: &mut Random) -> Vec<u8> {
    let mut file = Vec::new();
    let mut chunk = Vec::new();
    let (mut first, mut count) = (1_u64, 0_u64);
    let mut finish = |chunk: &mut Vec<u8>, first: u64, last: u64, is_last: bool| {
        let odd = random.below(50) == 0;
        file.extend([CHUNK_HEADER, b'B']);
        file.extend(if odd { random.next() } else { first }.to_le_bytes());
        file.extend(last.to_le_bytes());
        file.append(chunk);
        if is_last {
            file.extend([END_OF_FILE, END_OF_BUFFER]);
        } else {
            let padded = file.len().next_multiple_of(chunk_size);
            file.resize(padded, END_OF_CHUNK);
        }
    };
    for piece in pieces {
        let bytes = piece.bytes();
        // Two bytes are left for the end marks.
        if HEADER + chunk.len() + bytes.len() + 2 > chunk_size {
            if chunk.is_empty() {
                continue;
            }
            finish(&mut chunk, first, count, false);
            first = count + 1;
        }
        count += u64::from(matches!(piece, Piece::Record { .. }));
        chunk.extend(bytes);
    }
    finish(&mut chunk, first, count, true);
    file
}

impl Piece {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Piece::Time(time) => std::iter::once(TIMESTAMP).chain(time.to_le_bytes()).collect(),
            Piece::Record { id, body } => {
                let mut bytes = vec![*id, body.len().min(0xff) as u8];
                if bytes[1] == 0xff {
                    bytes.extend((body.len() as u64).to_le_bytes());
                }
                bytes.extend(body);
                bytes
            }
        }
    }
}
