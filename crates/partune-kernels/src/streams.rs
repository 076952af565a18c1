//! How a loop steps through memory: which accesses move by a constant each turn, and what they have in common.

use std::collections::BTreeMap;

use crate::instruction::{Instruction, Memory, Register, Value};

/// An access that moves by a constant each turn of the loop; by 0 if it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Position of its instruction in the body.
    pub at: usize,
    /// Registers as they were before the code that leads to the loop.
    pub base: Option<Register>,
    pub index: Option<Register>,
    pub scale: u8,
    /// From these, when the turn begins.
    pub offset: i64,
    pub bytes: u32,
    pub stride: i64,
    /// By how many elements it moves where the index alone moves: that counts them, and its scale is their size.
    pub counted: Option<u32>,
}

impl Stream {
    fn key(&self) -> (Option<Register>, Option<Register>, u8, i64) {
        (self.base, self.index, self.scale, self.stride)
    }

    /// Bytes of an element, where an index counts them.
    pub fn element(&self) -> Option<u32> {
        u32::try_from(self.stride.unsigned_abs() / u64::from(self.counted?)).ok()
    }

    /// Whether what comes after this one, in the order of what they have in common and then of offsets, is taken to be in the same array.
    pub fn is_of_array(&self, next: &Stream) -> bool {
        let is_alike = (self.base, self.index, self.scale) == (next.base, next.index, next.scale);
        is_alike && (self.base.is_some() || self.stride == 0 && next.stride == 0 || is_near(self, next))
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
    /// Of what every turn does, in its order, where `before` runs each time before the first turn. O(n log n).
    pub fn new(before: &[&Instruction], code: &[&Instruction]) -> Streams {
        let (outer, turn) = (held(before), held(code));
        // Where a register of the loop's begin was before the code that leads to it, and what a turn adds to it.
        let begin = |register: Register| outer.get(&register).copied().unwrap_or(value_of(register));
        let step = |register: Register| match turn.get(&register) {
            None => (register < FRESH).then_some(0),
            Some(value) => (value.of == Some(register)).then_some(value.offset),
        };
        let mut now: BTreeMap<Register, Value> = BTreeMap::new();
        let mut streams = Streams::default();
        for (at, instruction) in code.iter().enumerate() {
            let part = |register: Option<Register>, by: i64| {
                let Some(register) = register else { return Some((None, 0, 0)) };
                let value = now.get(&register).copied().unwrap_or(value_of(register));
                let (of, step) =
                    value.of.map_or(Some((Value { of: None, offset: 0 }, 0)), |of| Some((begin(of), step(of)?)))?;
                let offset = of.offset.checked_add(value.offset)?.checked_mul(by)?;
                Some((of.of, offset, step.checked_mul(by)?))
            };
            let stream = |memory: Memory| {
                let Memory { scale, bytes, .. } = memory;
                let (base, base_offset, base_step) = part(memory.base, 1)?;
                let (index, index_offset, index_step) = part(memory.index, i64::from(scale))?;
                let offset = memory.offset.checked_add(base_offset)?.checked_add(index_offset)?;
                let stride = base_step.checked_add(index_step)?;
                // Far from what a program can have, sums of these fit everywhere.
                let is_counter = base_step == 0 && index_step != 0 && scale > 1;
                let counted =
                    is_counter.then(|| u32::try_from(stride.unsigned_abs() / u64::from(scale)).ok()).flatten();
                let is_sane = offset.unsigned_abs() < 1 << 60 && stride.unsigned_abs() < 1 << 60;
                let known = !memory.is_scattered && is_sane;
                known.then_some(Stream { at, base, index, scale, offset, bytes, stride, counted })
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
            hold(&mut now, at, instruction);
        }
        streams
    }

    /// Different bytes that are loaded, and stored, in a turn: what several accesses see one after another counts once.
    pub fn distinct(&self) -> (u64, u64) {
        let of = |streams: &[Stream]| arrays(streams).iter().map(|array| union(array)).sum::<u64>();
        (of(&self.loads) + self.scattered_loads, of(&self.stores) + self.scattered_stores)
    }
}

/// What registers hold after some code, from what they held before it; those that it does not write are not here.
fn held(code: &[&Instruction]) -> BTreeMap<Register, Value> {
    let mut held: BTreeMap<Register, Value> = BTreeMap::new();
    code.iter().enumerate().for_each(|(at, instruction)| hold(&mut held, at, instruction));
    held
}

/// What an instruction makes of what registers hold.
fn hold(held: &mut BTreeMap<Register, Value>, at: usize, instruction: &Instruction) {
    let set = instruction
        .sets
        .or_else(|| instruction.step.map(|(register, by)| (register, Value { of: Some(register), offset: by })));
    let known = set.and_then(|(register, value)| {
        let Some(of) = value.of else { return Some((register, value)) };
        let before = held.get(&of).copied().unwrap_or(value_of(of));
        Some((register, Value { offset: before.offset.checked_add(value.offset)?, ..before }))
    });
    for register in &instruction.writes {
        held.insert(*register, value_of(FRESH + at as Register));
    }
    if let Some((register, value)) = known {
        held.insert(register, value);
    }
}

fn value_of(register: Register) -> Value {
    Value { of: Some(register), offset: 0 }
}

/// What an instruction made that nobody knows has a number from here on, which no register has.
const FRESH: Register = 1 << 16;

/// Turns that lie between accesses to one array at most: what is farther apart is taken for another array, or another row of it.
const NEAR: u64 = 32;

/// The streams that move, by what they move through: those that step alike, and are near.
pub fn arrays<'a>(streams: impl IntoIterator<Item = &'a Stream>) -> Vec<Vec<Stream>> {
    let mut moving: Vec<Stream> = streams.into_iter().filter(|stream| stream.stride != 0).copied().collect();
    moving.sort_unstable_by_key(|it| (it.key(), it.offset));
    moving.chunk_by(is_near).map(<[Stream]>::to_vec).collect()
}

fn is_near(one: &Stream, other: &Stream) -> bool {
    let apart = other.offset.abs_diff(one.offset);
    one.key() == other.key() && apart <= one.stride.unsigned_abs().saturating_mul(NEAR)
}

/// Different bytes that streams through one array touch in a turn, in the long run.
pub fn union(array: &[Stream]) -> u64 {
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for it in array {
        let stride = it.stride.unsigned_abs();
        let first = it.offset.rem_euclid(stride as i64) as u64;
        let end = first + u64::from(it.bytes).min(stride);
        parts.push((first, end.min(stride)));
        if end > stride {
            parts.push((0, end - stride));
        }
    }
    parts.sort_unstable();
    let (mut sum, mut end) = (0, 0);
    for (first, last) in parts {
        sum += last.saturating_sub(end.max(first));
        end = end.max(last);
    }
    sum
}
