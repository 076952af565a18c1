//! How a loop steps through memory: which accesses move by a constant each turn, and what they have in common.

use std::collections::BTreeMap;

use crate::class::Class;
use crate::instruction::{Instruction, Memory, Register};

/// An access that moves by a constant each turn of the loop; by 0 if it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Position of its instruction in the body.
    pub at: usize,
    pub base: Option<Register>,
    pub index: Option<Register>,
    pub scale: u8,
    /// From the registers as they are when the turn begins.
    pub offset: i64,
    pub bytes: u32,
    pub stride: i64,
}

impl Stream {
    fn key(&self) -> (Option<Register>, Option<Register>, u8, i64) {
        (self.base, self.index, self.scale, self.stride)
    }

    /// After how many turns it is where another one was; none if never, or never exactly.
    pub fn turns_after(&self, other: &Stream) -> Option<u32> {
        if self.key() != other.key() {
            return None;
        }
        // offset + stride * turns = other.offset
        let ahead = other.offset - self.offset;
        let inside = |ahead: i64| ahead <= 0 && -ahead + i64::from(self.bytes) <= i64::from(other.bytes);
        if self.stride == 0 {
            return inside(ahead).then_some(1).map(|turns| if other.at < self.at { 0 } else { turns });
        }
        let turns = ahead.div_euclid(self.stride);
        let here = |turns: i64| inside(ahead - self.stride * turns).then_some(turns);
        let turns = here(turns).or_else(|| here(turns + 1))?;
        u32::try_from(turns).ok()
    }
}

/// The accesses of a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    pub loads: Vec<Stream>,
    pub stores: Vec<Stream>,
    /// Bytes of accesses that do not move by a constant, in a turn.
    pub scattered_loads: u64,
    pub scattered_stores: u64,
}

impl Streams {
    /// Of what every turn does, in its order. O(n log n).
    pub fn new(code: &[&Instruction]) -> Streams {
        let steps = steps(code);
        let mut moved: BTreeMap<Register, i64> = BTreeMap::new();
        let mut streams = Streams::default();
        for (at, instruction) in code.iter().enumerate() {
            let stream = |memory: Memory| {
                let of = |register: Option<Register>, by: i64| {
                    let Some(register) = register else { return Some((0, 0)) };
                    let step = *steps.get(&register).unwrap_or(&Some(0));
                    let moved = *moved.get(&register).unwrap_or(&0);
                    Some((step?.checked_mul(by)?, moved.checked_mul(by)?))
                };
                let (base, base_moved) = of(memory.base, 1)?;
                let (index, index_moved) = of(memory.index, i64::from(memory.scale))?;
                let offset = memory.offset.checked_add(base_moved)?.checked_add(index_moved)?;
                let Memory { base: of_base, index: of_index, scale, bytes, .. } = memory;
                let stride = base.checked_add(index)?;
                // Far from what a program can have, sums of these fit everywhere.
                let is_sane = offset.unsigned_abs() < 1 << 60 && stride.unsigned_abs() < 1 << 60;
                let known = !memory.is_scattered && is_sane;
                known.then_some(Stream { at, base: of_base, index: of_index, scale, offset, bytes, stride })
            };
            let put = |memory: Option<Memory>, known: &mut Vec<Stream>, scattered: &mut u64| {
                let Some(memory) = memory else { return };
                match stream(memory) {
                    Some(stream) => known.push(stream),
                    None => *scattered += u64::from(memory.bytes),
                }
            };
            put(instruction.load, &mut streams.loads, &mut streams.scattered_loads);
            put(instruction.store, &mut streams.stores, &mut streams.scattered_stores);
            if let Some((register, by)) = instruction.step {
                let moved = moved.entry(register).or_default();
                *moved = moved.saturating_add(by);
            }
        }
        streams
    }

    /// Different bytes that are loaded, and stored, in a turn: what several accesses see one after another counts once.
    pub fn distinct(&self) -> (u64, u64) {
        (distinct(&self.loads) + self.scattered_loads, distinct(&self.stores) + self.scattered_stores)
    }

    /// Turns of the source's loop in one of the machine's: the least number of elements that any access moves by. `element` are the bytes of what
    /// the loop computes with, for accesses to vectors. 1 where no access moves.
    pub fn turns(&self, code: &[&Instruction], element: u32) -> u32 {
        let of = |stream: &&Stream| {
            let is_integer = code[stream.at].element == 0 && stream.bytes <= 8;
            let element = if is_integer || element == 0 { stream.bytes } else { element };
            let elements = stream.stride.unsigned_abs() / u64::from(element.max(1));
            u32::try_from(elements).ok().filter(|elements| *elements > 0)
        };
        self.loads.iter().chain(&self.stores).filter_map(|it| of(&it)).min().unwrap_or(1)
    }
}

/// What is added to each register in a turn: `None` where it is changed otherwise. Those that are not written are not here.
fn steps(code: &[&Instruction]) -> BTreeMap<Register, Option<i64>> {
    let mut steps: BTreeMap<Register, Option<i64>> = BTreeMap::new();
    for instruction in code {
        for register in &instruction.writes {
            let by = instruction.step.filter(|(of, _)| of == register).map(|(_, by)| by);
            let step = steps.entry(*register).or_insert(Some(0));
            *step = step.zip(by).and_then(|(step, by)| step.checked_add(by));
        }
        // What a call leaves in registers is not known: it keeps those that loops count with by convention, and no loop with a call has bounds.
        debug_assert!(instruction.class != Class::Call || instruction.step.is_none());
    }
    steps
}

/// Bytes of the union of what streams touch in the long run, by turn.
fn distinct(streams: &[Stream]) -> u64 {
    let mut groups: BTreeMap<_, Vec<(u64, u64)>> = BTreeMap::new();
    for stream in streams.iter().filter(|stream| stream.stride != 0) {
        let stride = stream.stride.unsigned_abs();
        let first = stream.offset.rem_euclid(stride as i64) as u64;
        let end = first + u64::from(stream.bytes).min(stride);
        let parts = groups.entry(stream.key()).or_default();
        parts.push((first, end.min(stride)));
        if end > stride {
            parts.push((0, end - stride));
        }
    }
    let union = |parts: &mut Vec<(u64, u64)>| {
        parts.sort_unstable();
        let mut end = 0;
        let mut sum = 0;
        for (first, last) in parts.iter() {
            sum += last.saturating_sub(end.max(*first));
            end = end.max(*last);
        }
        sum
    };
    groups.values_mut().map(union).sum()
}
