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

/// A position in the bytes of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
    endian: Endian,
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
        Cursor { bytes, pos: 0, endian }
    }

    /// The same bytes and byte order at another position; one outside the bytes reads as their end.
    #[must_use]
    pub fn at(self, pos: usize) -> Self {
        Cursor { pos: pos.min(self.bytes.len()), ..self }
    }

    /// Bytes from the start of the slice.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// The byte order in use.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.pos..).unwrap_or_default()
    }

    /// The next `n` bytes as they are.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Flaw> {
        let (taken, _) = self.rest().split_at_checked(n).ok_or(Flaw::Truncated)?;
        self.pos += n;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Flaw> {
        let taken = *self.rest().first_chunk::<N>().ok_or(Flaw::Truncated)?;
        self.pos += N;
        Ok(taken)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, Flaw> {
        let byte = *self.bytes.get(self.pos).ok_or(Flaw::Truncated)?;
        self.pos += 1;
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

    #[inline]
    fn compressed<const MAX: u8>(&mut self) -> Result<u64, Flaw> {
        let rest = self.rest();
        let (&len, tail) = rest.split_first().ok_or(Flaw::Truncated)?;
        if len > MAX {
            if len == 0xff {
                self.pos += 1;
                return Ok(u64::MAX);
            }
            return Err(Flaw::IntegerLength(len));
        }
        let n = usize::from(len);
        let value = if let Some(&eight) = tail.first_chunk::<8>() {
            match self.endian {
                Endian::Little => u64::from_le_bytes(eight) & MASK[n],
                Endian::Big => u64::from_be_bytes(eight).checked_shr(64 - 8 * u32::from(len)).unwrap_or(0),
            }
        } else {
            let bytes = tail.get(..n).ok_or(Flaw::Truncated)?;
            let shift = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
            match self.endian {
                Endian::Little => bytes.iter().rev().fold(0, shift),
                Endian::Big => bytes.iter().fold(0, shift),
            }
        };
        self.pos += 1 + n;
        Ok(value)
    }

    /// A string without its final NUL byte.
    pub fn string(&mut self) -> Result<&'a [u8], Flaw> {
        let rest = self.rest();
        let end = rest.iter().position(|&byte| byte == 0).ok_or(Flaw::UnterminatedString)?;
        self.pos += end + 1;
        Ok(&rest[..end])
    }

    /// The length of a record, checked against the bytes that follow it.
    #[inline]
    pub fn record_length(&mut self) -> Result<usize, Flaw> {
        let length = match self.u8()? {
            0xff => usize::try_from(self.u64()?).map_err(|_| Flaw::Truncated)?,
            short => usize::from(short),
        };
        if length > self.rest().len() { Err(Flaw::Truncated) } else { Ok(length) }
    }
}
