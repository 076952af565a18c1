//! OTF2's event records, written in place.
//!
//! Integers are compressed: a byte with the number of bytes, then those, little endian; the greatest value is the single byte 0xff.
//! Sources: `OTF2_Buffer_WriteUint32` and the generated writers of OTF2 3.0; the tests of the collectors read what is written with `partune-otf2`.

use crate::layout::bytes::{ATTRIBUTE_LIST, TIMESTAMP};

pub const ENTER: u8 = 12;
pub const LEAVE: u8 = 13;
pub const SEND: u8 = 14;
pub const RECV: u8 = 18;
pub const CONTEXT_ENTER: u8 = 66;
pub const CONTEXT_LEAVE: u8 = 67;
const CONTEXT_SAMPLE: u8 = 68;
/// Which frames of a sample are new is not known.
const UNKNOWN: u32 = u32::MAX;
/// The frame that is entered is new; whether its callers are is not known.
pub const UNWOUND: u32 = 1;

/// No event of ours is longer, its time included.
pub const MAX_EVENT: usize = 80;

/// A place in a chunk, with room after it for what is written.
#[derive(Clone, Copy, Debug)]
#[must_use = "it is where the next goes"]
pub struct At(*mut u8);

#[allow(clippy::inline_always, reason = "keeps the place in a register")]
impl At {
    /// # Safety
    ///
    /// From here on, and as long as this place and those that it leads to are written to, there must be room that is nobody else's: for an
    /// event [`MAX_EVENT`] bytes.
    #[inline(always)]
    pub const unsafe fn new(place: *mut u8) -> At {
        At(place)
    }

    /// Where this is.
    #[inline(always)]
    pub const fn place(self) -> *mut u8 {
        self.0
    }

    #[inline(always)]
    pub fn byte(self, value: u8) -> At {
        // SAFETY: whoever made the place has left room for an event, of which this byte is a part.
        unsafe {
            *self.0 = value;
            At(self.0.add(1))
        }
    }

    /// A few bytes at once: with those that follow they are one store.
    #[inline(always)]
    fn bytes<const COUNT: usize>(self, bytes: [u8; COUNT]) -> At {
        const { assert!(COUNT <= 8, "a word") }
        let mut word = [0; 8];
        word[..COUNT].copy_from_slice(&bytes);
        let At(place) = self.word(u64::from_le_bytes(word));
        // SAFETY: not beyond the begin of the word that was written.
        At(unsafe { place.sub(8 - COUNT) })
    }

    #[inline(always)]
    pub fn word(self, value: u64) -> At {
        // SAFETY: whoever made the place has left room for an event, of which these eight bytes are a part.
        unsafe {
            self.0.cast::<u64>().write_unaligned(value.to_le());
            At(self.0.add(8))
        }
    }

    #[inline(always)]
    pub fn time(self, ticks: u64) -> At {
        self.byte(TIMESTAMP).word(ticks)
    }

    /// A compressed integer of 32 bits.
    #[inline(always)]
    pub fn c32(self, value: u32) -> At {
        if value <= 0xff {
            return self.small(value as u8);
        }
        if value == u32::MAX {
            return self.byte(0xff);
        }
        // Compared, not counted: processors of ten years ago search for the highest bit slowly.
        let len = 2 + usize::from(value > 0xffff) + usize::from(value > 0xff_ffff);
        // SAFETY: there is room for an event, so for five bytes; those beyond the length are overwritten by what follows.
        unsafe {
            *self.0 = len as u8;
            self.0.add(1).cast::<u32>().write_unaligned(value.to_le());
            At(self.0.add(1 + len))
        }
    }

    /// A compressed integer of 64 bits.
    #[inline(always)]
    pub fn c64(self, value: u64) -> At {
        if value <= 0xff {
            return self.small(value as u8);
        }
        if value < u64::from(u32::MAX) {
            return self.c32(value as u32);
        }
        if value == u64::MAX {
            return self.byte(0xff);
        }
        let len = 8 - value.leading_zeros() / 8;
        // SAFETY: there is room for an event, so for nine bytes; those beyond the length are overwritten by what follows.
        unsafe {
            *self.0 = len as u8;
            self.0.add(1).cast::<u64>().write_unaligned(value.to_le());
            At(self.0.add(1 + len as usize))
        }
    }

    /// A compressed integer of at most one byte, as most are. Zero gets its byte too: then the place of what follows does not depend on the
    /// value, and several of them are a few stores.
    #[inline(always)]
    fn small(self, value: u8) -> At {
        // SAFETY: there is room for an event, so for two bytes.
        unsafe {
            self.0.cast::<u16>().write_unaligned((u16::from(value) << 8 | 1).to_le());
            At(self.0.add(2))
        }
    }

    /// A call begins: its path's number, and whether the path is the region alone.
    #[inline(always)]
    pub fn enter(self, path: u32, is_flat: bool) -> At {
        if is_flat {
            return self.byte(ENTER).c32(path);
        }
        if path <= 0xff {
            return self.bytes([CONTEXT_ENTER, 4, 1, path as u8, 1, UNWOUND as u8]);
        }
        let record = self.record(CONTEXT_ENTER);
        record.end(record.data().c32(path).c32(UNWOUND))
    }

    /// It ends.
    #[inline(always)]
    pub fn leave(self, path: u32, is_flat: bool) -> At {
        if is_flat {
            return self.byte(LEAVE).c32(path);
        }
        if path <= 0xff {
            return self.bytes([CONTEXT_LEAVE, 2, 1, path as u8]);
        }
        let record = self.record(CONTEXT_LEAVE);
        record.end(record.data().c32(path))
    }

    /// The thread was found in a path.
    #[inline]
    pub fn sample(self, path: u32) -> At {
        let record = self.record(CONTEXT_SAMPLE);
        record.end(record.data().c32(path).c32(UNKNOWN).c32(0))
    }

    /// A message was sent or received, as `kind` says.
    #[inline(always)]
    pub fn message(self, kind: u8, message: Message) -> At {
        let record = self.record(kind);
        record.end(record.data().about(message))
    }

    /// What all records of messages say of them.
    #[inline(always)]
    pub fn about(self, message: Message) -> At {
        let Message { peer, comm, tag, bytes } = message;
        if (peer | comm | tag) <= 0xff {
            return self.bytes([1, peer as u8, 1, comm as u8, 1, tag as u8]).c64(bytes);
        }
        self.c32(peer).c32(comm).c32(tag).c64(bytes)
    }

    /// An attribute of the event that follows, if it has a value.
    #[inline(always)]
    pub fn attribute(self, attribute: u32, value: Option<u64>) -> At {
        const U64: u8 = 4;
        let Some(value) = value else { return self };
        let record = self.record(ATTRIBUTE_LIST);
        record.end(record.data().c32(1).c32(attribute).byte(U64).c64(value))
    }

    /// Begins a record with a length.
    #[inline(always)]
    pub fn record(self, kind: u8) -> Record {
        Record { length: self.byte(kind) }
    }
}

/// A message as one of its ends sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Rank of the other end in the communicator.
    pub peer: u32,
    pub comm: u32,
    pub tag: u32,
    pub bytes: u64,
}

/// A record that is being written: its type is there, its length is not.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    length: At,
}

#[allow(clippy::inline_always, reason = "as above")]
impl Record {
    /// Where its data goes.
    #[inline(always)]
    pub fn data(self) -> At {
        // SAFETY: there is room for an event, and the data follows its length.
        At(unsafe { self.length.0.add(1) })
    }

    /// Its data ends here.
    #[inline(always)]
    pub fn end(self, end: At) -> At {
        // SAFETY: both point into the same chunk, one byte after the length; no event of ours has 255 bytes.
        unsafe { *self.length.0 = end.0.offset_from(self.length.0) as u8 - 1 };
        end
    }
}
