//! PEs go through their programs again: each as far as it can, and on when what it waits for was given.
//!
//! Steps are done in the order of dependence, each once: linear in steps. Where PEs cannot go on (events are missing, or what is followed lets
//! somebody need what only comes after it) the PE that is furthest behind goes on without, and this is counted.

use partune_base::{Id, PeId, Table};

/// Programs of PEs that give and take at ties. Each PE has as many clocks as times are followed side by side.
pub trait Programs<const CLOCKS: usize> {
    /// Goes on with a PE until its end, or until it takes what is not there.
    fn run(&mut self, pe: PeId, turns: &mut Turns<CLOCKS>);

    /// Whose turn it is when none can go on by what was given, where PEs also wait for what comes in the order of time.
    fn next(&mut self) -> Option<PeId> {
        None
    }

    /// How far a PE is that is not at its end.
    fn stuck(&self, pe: PeId) -> Option<i64>;

    /// Does the next step of a PE without what it waits for; the tie that it waited for.
    fn release(&mut self, pe: PeId) -> Option<u32>;
}

/// What is given and taken at a tie.
#[derive(Clone, Copy)]
struct Slot<const CLOCKS: usize> {
    /// When it was there, or the latest gift so far.
    times: [i64; CLOCKS],
    /// Gifts to come.
    remaining: u32,
    /// The first PE that waits for it; others follow in `Turns::next_waiting`.
    waiting: PeId,
}

/// Whose turn it is, and who waits for what: 8 bytes a tie, and 8 a clock. What was followed can be followed again in the same memory.
#[derive(Default)]
pub struct Turns<const CLOCKS: usize> {
    slots: Vec<Slot<CLOCKS>>,
    next_waiting: Table<PeId, PeId>,
    runnable: Vec<PeId>,
}

impl<const CLOCKS: usize> Turns<CLOCKS> {
    /// A PE gives now; after the last gift those that wait have their turn.
    #[inline]
    pub fn give(&mut self, tie: u32, now: [i64; CLOCKS]) {
        let slot = &mut self.slots[tie as usize];
        slot.times = later(slot.times, now);
        slot.remaining = slot.remaining.saturating_sub(1);
        if slot.remaining == 0 {
            let mut waiting = std::mem::replace(&mut slot.waiting, PeId::NONE);
            while waiting.is_some() {
                self.runnable.push(waiting);
                waiting = std::mem::replace(&mut self.next_waiting[waiting], PeId::NONE);
            }
        }
    }

    /// When all was given; if it was not, the PE has its turn again when it is.
    #[inline]
    pub fn take(&mut self, tie: u32, pe: PeId) -> Option<[i64; CLOCKS]> {
        let slot = &mut self.slots[tie as usize];
        if slot.remaining > 0 {
            self.next_waiting[pe] = std::mem::replace(&mut slot.waiting, pe);
            return None;
        }
        Some(slot.times)
    }

    /// Follows programs of so many PEs and steps to their ends, with the number of givers of each tie. Returns how many needs could not be met.
    pub fn follow(
        &mut self,
        programs: &mut impl Programs<CLOCKS>,
        (pes, steps): (usize, usize),
        givers: impl Iterator<Item = u32>,
    ) -> u64 {
        self.slots.clear();
        self.slots.extend(givers.map(|remaining| Slot { times: [i64::MIN; CLOCKS], remaining, waiting: PeId::NONE }));
        self.next_waiting = Table::filled(pes, PeId::NONE);
        self.runnable = (0..pes).rev().map(PeId::from_index).collect();
        let mut unmet = 0;
        // A search for the PE furthest behind looks at all PEs: on a thoroughly damaged trace that must not add up.
        let mut searches = 10 + steps / pes.max(1);
        loop {
            while let Some(pe) = self.runnable.pop().or_else(|| programs.next()) {
                programs.run(pe, self);
            }
            let stuck = (0..pes).map(PeId::from_index).filter_map(|pe| Some((programs.stuck(pe)?, pe)));
            let released: Vec<PeId> = if searches > 0 {
                stuck.min().map(|(_, pe)| pe).into_iter().collect()
            } else {
                stuck.map(|(_, pe)| pe).collect()
            };
            if released.is_empty() {
                return unmet;
            }
            searches = searches.saturating_sub(1);
            unmet += released.len() as u64;
            for pe in released {
                if let Some(tie) = programs.release(pe) {
                    self.unlink(tie as usize, pe);
                }
                self.runnable.push(pe);
            }
        }
    }

    /// Takes a PE from the list of those that wait for a tie.
    fn unlink(&mut self, tie: usize, pe: PeId) {
        let after = std::mem::replace(&mut self.next_waiting[pe], PeId::NONE);
        if self.slots[tie].waiting == pe {
            self.slots[tie].waiting = after;
            return;
        }
        let mut at = self.slots[tie].waiting;
        while at.is_some() {
            if self.next_waiting[at] == pe {
                self.next_waiting[at] = after;
                return;
            }
            at = self.next_waiting[at];
        }
    }
}

/// The later time by each clock.
#[inline]
pub fn later<const CLOCKS: usize>(one: [i64; CLOCKS], other: [i64; CLOCKS]) -> [i64; CLOCKS] {
    std::array::from_fn(|clock| one[clock].max(other[clock]))
}
