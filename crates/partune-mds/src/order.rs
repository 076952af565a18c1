//! What a program computes, as far as a model tells it: which write each read sees, and whether anything sees to it that it does.
//!
//! For whoever changes a model and asks whether the program would still do the same. Two answers. The *data flow* is a number made of all tasks, each with
//! the elements it read and wrote and how often these had been written before: other PEs, schedules and layouts leave it as it is, another order of
//! dependent tasks does not. *Conflicts* are accesses of two PEs to one element, one of them a write, with no meeting of all PEs between them: their
//! order is whatever it happens to be.
//!
//! Cost: some nanoseconds an element, and 16 bytes more for each; so only where it is asked for.

use std::collections::BTreeMap;

use crate::layout::Arrays;
use crate::memory::{Touch, Who, Word};

/// Accesses in no order: what one PE wrote, another one accesses, or what one read, another one writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The array.
    pub data: String,
    /// Names of phases: of the access that came first in the walk, and of the other one.
    pub first: String,
    pub second: String,
    /// Whether the first one wrote; the second one did if not.
    pub is_first_write: bool,
    /// How often; and of one of them the element, in row-major order, and the PEs.
    pub count: u64,
    pub element: u64,
    pub pes: (u32, u32),
}

/// What is told of the order of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The same for programs that compute the same from the same.
    pub data_flow: u64,
    pub conflicts: Vec<Conflict>,
}

/// Who has read an element since all met: the first PE that did, and another one, each with the phase. That is enough for whoever writes it to meet one.
#[derive(Clone, Copy, Debug, Default)]
struct Readers {
    /// Of the last read; readers from before all met are none.
    time: u32,
    first: Reader,
    /// The same as the first one where there is none.
    other: Reader,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reader {
    pe: u16,
    phase: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    array: usize,
    first: u16,
    second: u16,
    is_first_write: bool,
}

#[derive(Debug)]
pub(crate) struct Watch {
    /// Where the numbers of each array's elements begin.
    firsts: Vec<u64>,
    /// All PEs met after this.
    met: u32,
    readers: Vec<Readers>,
    /// How often each element was written.
    versions: Vec<u32>,
    /// Of the task that is under way, what it read and wrote.
    reads: u64,
    writes: u64,
    data_flow: u64,
    found: BTreeMap<Pair, (u64, u64, (u32, u32))>,
}

impl Watch {
    pub(crate) fn new(arrays: &Arrays) -> Watch {
        Watch {
            firsts: arrays.all.iter().map(|array| array.first).collect(),
            met: 0,
            readers: vec![Readers::default(); arrays.elements as usize],
            versions: vec![0; arrays.elements as usize],
            reads: 0,
            writes: 0,
            data_flow: 0,
            found: BTreeMap::new(),
        }
    }

    /// All PEs have met; the last access had this time.
    pub(crate) fn meet(&mut self, time: u32) {
        self.met = time;
    }

    pub(crate) fn task_ends(&mut self) {
        if (self.reads, self.writes) != (0, 0) {
            self.data_flow = self.data_flow.wrapping_add(mixed(self.reads, self.writes));
            (self.reads, self.writes) = (0, 0);
        }
    }

    /// An access at a time, to elements of which `words` has the last writes before it.
    pub(crate) fn touch(&mut self, who: Who, touch: Touch, time: u32, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let element = touch.first + at as u64;
            let (version, readers) = (&mut self.versions[element as usize], &mut self.readers[element as usize]);
            let mut earlier = None;
            if word.time > self.met && word.pe != who.pe {
                earlier = Some((word.phase, word.pe, true));
            }
            let is_read = readers.time > self.met;
            if touch.is_write {
                let other = if readers.first.pe == who.pe { readers.other } else { readers.first };
                if is_read && other.pe != who.pe && earlier.is_none() {
                    earlier = Some((other.phase, other.pe, false));
                }
                *version += 1;
                self.writes = self.writes.wrapping_add(mixed(element, u64::from(*version)));
            } else {
                self.reads = self.reads.wrapping_add(mixed(element, u64::from(*version)));
                let own = Reader { pe: who.pe, phase: who.phase };
                if !is_read {
                    (readers.first, readers.other) = (own, own);
                } else if readers.other.pe == readers.first.pe && own.pe != readers.first.pe {
                    readers.other = own;
                }
                readers.time = time;
            }
            if let Some((first, pe, is_first_write)) = earlier {
                let array = self.firsts.partition_point(|first| *first <= element) - 1;
                let pair = Pair { array, first, second: who.phase, is_first_write };
                let own = element - self.firsts[array];
                self.found.entry(pair).or_insert((0, own, (u32::from(pe), u32::from(who.pe)))).0 += 1;
            }
        }
    }

    pub(crate) fn order(&self, arrays: &Arrays, name: &dyn Fn(usize) -> String) -> Order {
        let conflict = |(pair, (count, element, pes)): (&Pair, &(u64, u64, (u32, u32)))| Conflict {
            data: arrays.all[pair.array].name.clone(),
            first: name(usize::from(pair.first)),
            second: name(usize::from(pair.second)),
            is_first_write: pair.is_first_write,
            count: *count,
            element: *element,
            pes: *pes,
        };
        Order { data_flow: self.data_flow, conflicts: self.found.iter().map(conflict).collect() }
    }
}

/// Two numbers as one that looks random: the finalizer of splitmix64.
fn mixed(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(b.rotate_left(32)) ^ 0xD134_2543_DE82_EF95;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
