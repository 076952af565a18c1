//! OTF2's primitive types, read from a slice: fixed and compressed integers, floats, strings.
//!
//! For the record readers of this module. A cursor never reads outside its slice; it may read past the end of the record it is in, which
//! the caller notices by the position (records carry their length).

use super::error::Flaw;

/// The byte order of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Low bytes first.
    Little,
    /// High bytes first.
    Big,
}

impl Endian {
    /// The byte that stands for this order in a chunk header.
    pub fn byte(self) -> u8 {
        match self {
            Endian::Little => 0x42,
            Endian::Big => 0x23,
        }
    }

    /// The order that a byte of a chunk header stands for.
    pub fn from_byte(byte: u8) -> Result<Endian, Flaw> {
        match byte {
            0x42 => Ok(Endian::Little),
            0x23 => Ok(Endian::Big),
            other => Err(Flaw::Endianness(other)),
        }
    }
}

/// A position in the bytes of a buffer; it only moves forward.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    /// Where `rest` ends, in bytes from the start of the buffer.
    end: usize,
    endian: Endian,
}

/// The undefined value, an integer in big endian, or one within the last eight bytes of the buffer; and the bytes it takes.
#[inline(never)]
fn compressed_slowly(rest: &[u8], endian: Endian, max: u8) -> Result<(u64, usize), Flaw> {
    let (&len, tail) = rest.split_first().ok_or(Flaw::Truncated)?;
    if len == 0xff {
        return Ok((u64::MAX, 1));
    }
    if len > max {
        return Err(Flaw::IntegerLength(len));
    }
    let n = usize::from(len);
    let bytes = tail.get(..n).ok_or(Flaw::Truncated)?;
    let shift = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    let value = match endian {
        Endian::Little => bytes.iter().rev().fold(0, shift),
        Endian::Big => bytes.iter().fold(0, shift),
    };
    Ok((value, 1 + n))
}

/// Low bytes to keep of an eight byte load, by the length byte of a compressed integer.
pub(crate) const MASK: [u64; 9] = {
    let mut mask = [0; 9];
    let mut n = 1;
    while n < 8 {
        mask[n] = (1 << (8 * n)) - 1;
        n += 1;
    }
    mask[8] = u64::MAX;
    mask
};

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`.
    pub fn new(bytes: &'a [u8], endian: Endian) -> Self {
        Cursor { rest: bytes, end: bytes.len(), endian }
    }

    /// The same buffer further on; a position after its end reads as its end, one before the cursor as the cursor.
    #[must_use]
    #[inline]
    pub fn at(self, pos: usize) -> Self {
        let ahead = pos.saturating_sub(self.pos());
        Cursor { rest: self.rest.get(ahead..).unwrap_or_default(), ..self }
    }

    /// The same position in a buffer that ends at `end`, if that is not after its end.
    #[must_use]
    pub fn until(self, end: usize) -> Self {
        let len = end.saturating_sub(self.pos()).min(self.rest.len());
        Cursor { rest: &self.rest[..len], end: self.pos() + len, ..self }
    }

    /// Bytes from the start of the buffer.
    #[inline]
    pub fn pos(&self) -> usize {
        self.end - self.rest.len()
    }

    /// The byte order in use.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// What is left.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `n` bytes as they are.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Flaw> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Flaw::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Flaw> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Flaw::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Flaw> {
        let (&byte, rest) = self.rest.split_first().ok_or(Flaw::Truncated)?;
        self.rest = rest;
        Ok(byte)
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Result<u16, Flaw> {
        let bytes = self.array()?;
        Ok(match self.endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        })
    }

    /// Four bytes, not compressed.
    pub fn u32(&mut self) -> Result<u32, Flaw> {
        let bytes = self.array()?;
        Ok(match self.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Eight bytes, not compressed.
    pub fn u64(&mut self) -> Result<u64, Flaw> {
        let bytes = self.array()?;
        Ok(match self.endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        })
    }

    /// A compressed integer of at most four bytes.
    #[inline]
    pub fn c32(&mut self) -> Result<u32, Flaw> {
        Ok(self.compressed::<4>()? as u32)
    }

    /// A compressed integer of at most eight bytes.
    #[inline]
    pub fn c64(&mut self) -> Result<u64, Flaw> {
        self.compressed::<8>()
    }

    // Always inlined, with the rest of it called by value: a cursor whose address is taken lives in memory, and reading back there what
    // was just written in other widths costs more than the decoding itself (measured: a third of the time of a mixed chunk).
    #[allow(clippy::inline_always, reason = "keeps cursors in registers")]
    #[inline(always)]
    fn compressed<const MAX: u8>(&mut self) -> Result<u64, Flaw> {
        if self.endian == Endian::Little
            && let Some(nine) = self.rest.first_chunk::<9>()
            && nine[0] <= MAX
        {
            let n = usize::from(nine[0]);
            let eight = nine[1..].first_chunk::<8>().copied().unwrap_or_default();
            self.rest = self.rest.get(1 + n..).unwrap_or_default();
            return Ok(u64::from_le_bytes(eight) & MASK[n]);
        }
        let (value, used) = compressed_slowly(self.rest, self.endian, MAX)?;
        self.rest = self.rest.get(used..).unwrap_or_default();
        Ok(value)
    }

    /// A string without its final NUL byte.
    pub fn string(&mut self) -> Result<&'a [u8], Flaw> {
        let end = self.rest.iter().position(|&byte| byte == 0).ok_or(Flaw::UnterminatedString)?;
        let (string, rest) = self.rest.split_at_checked(end).ok_or(Flaw::Truncated)?;
        self.rest = rest.get(1..).unwrap_or_default();
        Ok(string)
    }

    /// The length of a record, checked against the bytes that follow it.
    #[inline]
    pub fn record_length(&mut self) -> Result<usize, Flaw> {
        let length = match self.u8()? {
            0xff => usize::try_from(self.u64()?).map_err(|_| Flaw::Truncated)?,
            short => usize::from(short),
        };
        if length > self.rest.len() { Err(Flaw::Truncated) } else { Ok(length) }
    }
}
