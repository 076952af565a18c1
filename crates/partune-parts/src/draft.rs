//! Drafts: the ends of a message, kept raw until their thread has time to write them.
//!
//! What a recorder does before a message leaves, and between an arrival and the answer to it, is latency that the partner sees. So the
//! begin of a blocking send (and of one that receives, too) is a few words, which become events when it returns; and the end of a blocking receive is a few words too,
//! which the thread's next call writes. They lie in the header of the lane, beside how far the lane is written: those of a process that
//! was killed are there, and the launcher writes them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::encode::{At, MAX_EVENT, Message, RECV, SEND};
use crate::polls;

/// The halves of calls that can be drafts, in the order of their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The message was received and the call ended.
    Received = 0,
    /// The call began and the message was sent.
    Sent = 1,
}

impl Half {
    pub const ALL: [Half; 2] = [Half::Received, Half::Sent];

    /// Its bit in [`crate::layout::Header::drafted`].
    pub const fn bit(self) -> u64 {
        1 << self as u32
    }
}

/// The bit in [`crate::layout::Header::drafted`] for paths that are the region alone.
pub const FLAT: u64 = 1 << 2;
/// The bit there for a row of polls, which comes after what was received and before what is sent.
pub const POLLS: u64 = 1 << 3;
/// Bits there, below the cursor.
pub const BITS: u32 = 4;
/// Each half becomes so many events.
pub const EVENTS: u64 = 2;
/// Most bytes that all take when they are written.
pub const MAX_DRAFTS: usize = (Half::ALL.len() * EVENTS as usize + polls::EVENTS) * MAX_EVENT;

/// Half a call, and what is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draft {
    pub time: u64,
    /// Path of the call.
    pub path: u32,
    pub message: Message,
}

const WORDS: usize = 4;

/// A draft in a file: time, bytes, path and peer, communicator and tag.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Stored([AtomicU64; WORDS]);

impl Stored {
    #[allow(clippy::inline_always, reason = "a few stores on the hot path")]
    #[inline(always)]
    pub fn set(&self, draft: Draft) {
        let Draft { time, path, message: Message { peer, comm, tag, bytes } } = draft;
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [time, bytes, pair(path, peer), pair(comm, tag)];
        for (stored, word) in self.0.iter().zip(words) {
            stored.store(word, Ordering::Relaxed);
        }
    }

    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub fn get(&self) -> Draft {
        Draft::of_words(self.0.each_ref().map(|word| word.load(Ordering::Relaxed)))
    }
}

impl Draft {
    fn of_words([time, bytes, path, comm]: [u64; WORDS]) -> Draft {
        let message = Message { peer: (path >> 32) as u32, comm: comm as u32, tag: (comm >> 32) as u32, bytes };
        Draft { time, path: path as u32, message }
    }

    /// Writes its [`EVENTS`] after its time.
    #[allow(clippy::inline_always, reason = "the half is known")]
    #[inline(always)]
    pub fn write(self, half: Half, is_flat: bool, at: At) -> At {
        let Draft { path, message, .. } = self;
        match half {
            Half::Received => at.message(RECV, message).leave(path, is_flat),
            Half::Sent => at.enter(path, is_flat).message(SEND, message),
        }
    }
}

/// What the drafts in a lane's file become: the bytes of their events, and how many these are. The first two arguments are words of
/// [`crate::layout::Header`]; `word` reads the file's word at a place after [`crate::layout::Header::drafts`].
pub fn events(drafted: u64, cursor: u64, word: impl Fn(usize) -> Option<u64>) -> (Vec<u8>, u64) {
    let mut bytes = [0; MAX_DRAFTS];
    // SAFETY: the drafts are at most as long as the bytes, which live until they have been copied.
    let begin = unsafe { At::new(bytes.as_mut_ptr()) };
    let (mut at, mut events) = (begin, 0);
    if drafted >> BITS == cursor {
        let is_flat = drafted & FLAT != 0;
        for half in Half::ALL {
            if half == Half::Sent && drafted & POLLS != 0 {
                let words = std::array::from_fn(|place| word(Half::ALL.len() * WORDS + place).unwrap_or_default());
                let (end, more) = polls::write(words, is_flat, at, At::time);
                (at, events) = (end, events + more);
            }
            if drafted & half.bit() == 0 {
                continue;
            }
            let words = std::array::from_fn(|place| word(half as usize * WORDS + place));
            let [Some(time), Some(bytes), Some(path), Some(comm)] = words else { continue };
            let draft = Draft::of_words([time, bytes, path, comm]);
            at = draft.write(half, is_flat, at.time(time));
            events += EVENTS;
        }
    }
    let used = at.place() as usize - begin.place() as usize;
    (bytes[..used].to_vec(), events)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Message = Message { peer: u32::MAX - 1, comm: u32::MAX - 2, tag: u32::MAX - 3, bytes: u64::MAX - 4 };

    #[test]
    fn a_draft_comes_back_from_its_words() {
        let draft = Draft { time: 3 << 40, path: u32::MAX - 5, message: MOST };
        let stored = Stored::default();
        stored.set(draft);
        assert_eq!(stored.get(), draft);
    }

    #[test]
    fn drafts_become_events_where_they_belong() {
        let received = Stored::default();
        received.set(Draft { time: 1, path: 2, message: Message { peer: 3, comm: 4, tag: 5, bytes: 6 } });
        let sent = Stored::default();
        sent.set(Draft { time: u64::MAX - 6, path: u32::MAX - 5, message: MOST });
        let words: Vec<u64> = received.0.iter().chain(&sent.0).map(|word| word.load(Ordering::Relaxed)).collect();
        let of = |bits: u64, cursor| events(100 << BITS | bits, cursor, |at| words.get(at).copied());
        let (receive, two) = of(Half::Received.bit(), 100);
        // Time, a message with four small numbers, a leave with a small one.
        assert_eq!((receive.len(), two), (9 + (2 + 8) + (2 + 2), 2));
        let (both, four) = of(Half::Received.bit() | Half::Sent.bit(), 100);
        assert!(both.len() <= MAX_DRAFTS && both.starts_with(&receive) && four == 4);
        assert_eq!(of(Half::Received.bit() | FLAT, 100).0.len(), 9 + (2 + 8) + 3);
        assert_eq!(of(7, 101), (Vec::new(), 0), "they were written");
        assert_eq!(events(15, 0, |_| None), (Vec::new(), 0), "the file is cut");
    }
}
