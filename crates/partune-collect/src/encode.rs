//! OTF2's event records, written in place.
//!
//! Integers are compressed: a byte with the number of bytes, then those, little endian; the greatest value is the single byte 0xff.
//! Sources: `OTF2_Buffer_WriteUint32` and the generated writers of OTF2 3.0; the tests read what is written here with `partune-otf2`.

use crate::layout::bytes::TIMESTAMP;

/// No event of ours is longer, its time included.
pub(crate) const MAX_EVENT: usize = 80;

/// A place in a chunk, with room for [`MAX_EVENT`] bytes behind it.
#[derive(Clone, Copy)]
pub(crate) struct At(pub(crate) *mut u8);

#[allow(clippy::inline_always, reason = "keeps the place in a register")]
impl At {
    #[inline(always)]
    pub(crate) fn byte(self, value: u8) -> At {
        // SAFETY: the lane leaves room for the longest event.
        unsafe {
            *self.0 = value;
            At(self.0.add(1))
        }
    }

    #[inline(always)]
    pub(crate) fn word(self, value: u64) -> At {
        // SAFETY: as above.
        unsafe {
            self.0.cast::<u64>().write_unaligned(value.to_le());
            At(self.0.add(8))
        }
    }

    #[inline(always)]
    pub(crate) fn time(self, ticks: u64) -> At {
        self.byte(TIMESTAMP).word(ticks)
    }

    /// A compressed integer of 32 bits.
    #[inline(always)]
    pub(crate) fn c32(self, value: u32) -> At {
        if value == u32::MAX {
            return self.byte(0xff);
        }
        let len = 4 - value.leading_zeros() / 8;
        // SAFETY: as above; bytes beyond the length are overwritten by what follows.
        unsafe {
            *self.0 = len as u8;
            self.0.add(1).cast::<u32>().write_unaligned(value.to_le());
            At(self.0.add(1 + len as usize))
        }
    }

    /// A compressed integer of 64 bits.
    #[inline(always)]
    pub(crate) fn c64(self, value: u64) -> At {
        if value == u64::MAX {
            return self.byte(0xff);
        }
        let len = 8 - value.leading_zeros() / 8;
        // SAFETY: as above.
        unsafe {
            *self.0 = len as u8;
            self.0.add(1).cast::<u64>().write_unaligned(value.to_le());
            At(self.0.add(1 + len as usize))
        }
    }

    /// A record with a length: its type, the length of what `data` writes, and that.
    #[inline(always)]
    pub(crate) fn record(self, kind: u8, data: impl FnOnce(At) -> At) -> At {
        let length = self.byte(kind);
        let begin = length.byte(0);
        let end = data(begin);
        // SAFETY: both point into the same chunk; no event of ours has 255 bytes.
        unsafe { *length.0 = end.0.offset_from(begin.0) as u8 };
        end
    }
}
