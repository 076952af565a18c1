//! How many turns of the source's loop one of the machine's does. Turns of the source are copies of each other: what moves through memory and what is computed must
//! divide into so many equal parts. The most that divide so are taken, since compilers make one turn of several and seldom put several into the source.
//!
//! Where the copies may as well be parts of one turn, as the two numbers of a complex one in a vector, it is not known without more: what compilers
//! divided the number of turns by, the steps of the source, or a loop that does the rest of the turns.

use std::collections::{BTreeMap, BTreeSet};

use crate::bounds::Kernel;
use crate::elements::{Elements, is_carrier};
use crate::instruction::{Instruction, Register};
use crate::operations::{Lanes, Operations};
use crate::streams::{Stream, Streams, arrays, union};

/// Of a loop that does `code` every turn, where `before` runs each time before the first one. `element` are the bytes of what it computes with, and `data`
/// the program's constants by address and size.
pub fn turns<'d>(
    streams: &Streams,
    before: &[&Instruction],
    code: &[&Instruction],
    element: u32,
    data: &dyn Fn(u64, u64) -> Option<&'d [u8]>,
) -> Option<u32> {
    let elements = Elements::new(code, element);
    let moving = Moving::new(streams, &elements);
    let operations = Operations::new(streams, before, code, &elements, data);
    let is_possible = |turns: &u64| moving.may_be(*turns, element) && operations.divide(*turns, Lanes::Any, false);
    if let Some(turns) = divided(before, &moving).filter(is_possible) {
        return u32::try_from(turns).ok();
    }
    let mixes = mixes(&moving, code);
    let largest = |is_exact: bool| {
        let lanes = |turns: u64| if mixes { Lanes::Any } else { Lanes::InOrder(moving.most / turns) };
        let mut all = (1..=moving.most.min(MOST)).rev().filter(|turns| moving.divides(*turns));
        all.find(|turns| operations.divide(*turns, lanes(*turns), is_exact)).unwrap_or(1)
    };
    let most = largest(false);
    let is_known = match most {
        1 => !(mixes && moving.has_scattered && operations.divide(2, Lanes::Any, false)),
        _ if mixes && indices(streams, code) == most => true,
        _ if largest(true) != most => false,
        _ => !mixes || moving.periods.contains(&most) || operations.are_in_order(most),
    };
    u32::try_from(most).ok().filter(|_| is_known)
}

/// The accesses of a loop that move.
struct Moving<'a> {
    /// With the bytes of their elements.
    accesses: Vec<(&'a Stream, u32)>,
    /// Elements by which a turn moves at most, and whether these are only of a vector, since no access tells more.
    most: u64,
    is_of_vector: bool,
    /// The equal parts of a turn in arrays of which it accesses single elements.
    periods: Vec<u64>,
    has_scattered: bool,
}

impl<'a> Moving<'a> {
    fn new(streams: &'a Streams, elements: &Elements) -> Moving<'a> {
        let moves = |it: &&Stream| it.stride != 0;
        let stores: Vec<(&Stream, u32)> =
            streams.stores.iter().filter(moves).map(|it| (it, elements.stored(it))).collect();
        let loads = streams.loads.iter().filter(moves).map(|it| (it, elements.loaded(it)));
        let accesses: Vec<(&Stream, u32)> = loads.chain(stores.iter().copied()).collect();
        let element = |of: &Stream| accesses.iter().find(|(it, _)| *it == of).map_or(1, |(_, element)| *element);
        let (whole, partial): (Vec<_>, Vec<_>) =
            arrays(accesses.iter().map(|(it, _)| *it)).into_iter().partition(|it| is_whole(it));
        // Each turn stores to its elements, and loads those of an array of which it leaves some out.
        let stored = arrays(stores.iter().map(|(it, _)| *it)).into_iter().filter(|it| !is_whole(it));
        let singles = partial.into_iter().chain(stored).filter(|array| array.iter().all(|it| it.bytes <= element(it)));
        let periods: Vec<u64> = singles.map(|array| periods(&array)).collect();

        let moved = |it: &Stream| it.stride.unsigned_abs() / u64::from(element(it));
        let limits = whole.iter().flatten().map(moved).filter(|elements| *elements > 0);
        let most = limits.reduce(divisor).or_else(|| periods.iter().copied().filter(|it| *it > 1).reduce(divisor));
        let widest = accesses.iter().map(|(it, element)| u64::from(it.bytes / element)).max();
        Moving {
            most: most.or(widest).unwrap_or(1).max(1),
            is_of_vector: most.is_none(),
            periods,
            has_scattered: streams.scattered_loads + streams.scattered_stores > 0,
            accesses,
        }
    }

    /// Whether a turn divides into so many.
    fn divides(&self, turns: u64) -> bool {
        self.most.is_multiple_of(turns) && (self.is_of_vector || self.steps_divide(turns))
    }

    fn steps_divide(&self, turns: u64) -> bool {
        self.accesses.iter().all(|(it, _)| it.stride.unsigned_abs().is_multiple_of(turns))
            && (self.has_scattered || self.periods.iter().all(|it| it.is_multiple_of(turns)))
    }

    /// Whether a turn may be so many although its elements do not tell it: none is of less than what is accessed alone, or computed with.
    fn may_be(&self, turns: u64, element: u32) -> bool {
        let holds = |it: &Stream, bytes: u32| it.stride.unsigned_abs() >= u64::from(bytes) * turns;
        let is_alone = |(it, bytes): &&(&Stream, u32)| it.bytes <= 8 && it.bytes == *bytes;
        self.steps_divide(turns)
            && self.accesses.iter().any(|(it, _)| holds(it, element))
            && self.accesses.iter().filter(is_alone).all(|(it, bytes)| holds(it, *bytes))
    }
}

/// Turns that compilers make one of at most.
const MOST: u64 = 1 << 10;

fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

/// Whether a turn accesses all that it steps over.
fn is_whole(array: &[Stream]) -> bool {
    array.first().is_some_and(|first| union(array) == first.stride.unsigned_abs())
}

/// The most equal parts of its step in which an array is accessed at the same places.
fn periods(array: &[Stream]) -> u64 {
    let Some(step) = array.first().map(|it| it.stride.unsigned_abs()) else { return 1 };
    let places: BTreeSet<u64> = array.iter().map(|it| it.offset.rem_euclid(step as i64) as u64).collect();
    let is_equal = |parts: &u64| {
        step.is_multiple_of(*parts) && places.iter().all(|place| places.contains(&((place + step / parts) % step)))
    };
    (1..=places.len() as u64).rev().find(is_equal).unwrap_or(1)
}

/// How many indices a turn loads from an array: each turn of the source has its own, whatever becomes of what they lead to.
fn indices(streams: &Streams, code: &[&Instruction]) -> u64 {
    let addresses: BTreeSet<Register> = code.iter().flat_map(|it| it.addresses.iter().copied()).collect();
    let is_index =
        |it: &&Stream| it.stride != 0 && code[it.at].writes.iter().any(|register| addresses.contains(register));
    let all = arrays(streams.loads.iter().filter(is_index));
    all.iter().map(|array| periods(array)).reduce(divisor).unwrap_or(0)
}

/// Whether a loop of vectors puts elements from different places into one, or does different things to neighbours: then neighbours need not be of different
/// turns. Vectors that are turned round in themselves are those of a loop that goes down, and what is taken out of vectors one by one is in no vector any more.
fn mixes(moving: &Moving<'_>, code: &[&Instruction]) -> bool {
    let is_down = moving.has_scattered || moving.accesses.iter().any(|(it, _)| it.stride < 0);
    let is_packed = |it: &Instruction| {
        it.class.is_floating() && it.lanes > 1 || it.store.is_some_and(|store| store.bytes > it.element.max(1))
    };
    let has_flops = code.iter().any(|it| it.flops() > 0);
    if !code.iter().any(|it| is_packed(it) && (it.flops() > 0 || !has_flops)) {
        return false;
    }
    // Registers that go into vectors, from the last instruction to the first; what the next turn takes as well.
    let mut taken: BTreeSet<Register> = BTreeSet::new();
    for it in code.iter().rev().chain(code.iter().rev()) {
        let before = taken.len();
        it.writes.iter().for_each(|register| _ = taken.remove(register));
        let is_taken = taken.len() < before;
        if it.mixes && (it.alternates() || is_taken && (!is_down || it.is_of_two())) {
            return true;
        }
        if is_packed(it) || is_taken && is_carrier(it) {
            taken.extend(&it.reads);
        }
    }
    false
}

/// By what the number of turns is divided before a loop: a register is shifted to the right, for the turns of the machine's loop, and then to the left, for the
/// bytes that they step through. Compilers do so where they made one turn of several.
fn divided(before: &[&Instruction], moving: &Moving<'_>) -> Option<u64> {
    let steps: BTreeSet<u64> = moving.accesses.iter().map(|(it, _)| it.stride.unsigned_abs()).collect();
    let mut halved: BTreeMap<Register, u64> = BTreeMap::new();
    let mut found = None;
    for instruction in before {
        let known = instruction.shifts.map(|(register, by)| (register, by, halved.get(&register).copied()));
        instruction.writes.iter().for_each(|register| {
            halved.remove(register);
        });
        match known {
            Some((register, by @ -6..=-1, None)) => {
                halved.insert(register, 1 << -by);
            }
            Some((_, by @ 1..=62, Some(turns))) if steps.contains(&(1 << by)) => found = Some(turns),
            _ => {}
        }
    }
    found
}

impl Kernel {
    /// Turns of the source's loop in one of the machine's, where one of the source moves its accesses by these bytes; none where no number makes every step of the
    /// machine's one of them, or more than one does.
    pub fn turns_by_steps(&self, steps: &BTreeSet<u64>) -> Option<u32> {
        let moved = self.steps();
        let first = *moved.first()?;
        let quotient = |step: &u64| (*step > 0 && first.is_multiple_of(*step)).then(|| first / step);
        let is_possible =
            |turns: &u64| moved.iter().all(|it| it.is_multiple_of(*turns) && steps.contains(&(it / turns)));
        let mut found = steps.iter().filter_map(quotient).filter(is_possible);
        let only = found.next().filter(|_| found.next().is_none())?;
        u32::try_from(only).ok()
    }

    /// How many turns of another machine's loop one of this does, where both do the same: then the other one does the rest of the turns.
    pub fn times(&self, rest: &Kernel) -> Option<u32> {
        let (steps, others) = (self.steps(), rest.steps());
        let (step, other) = (*steps.first()?, *others.first()?);
        let times = step.is_multiple_of(other).then(|| step / other).filter(|times| *times > 1)?;
        let is_so_much = |of: fn(&Kernel) -> f64| {
            let each = |it: &Kernel| of(it) * f64::from(it.turns());
            (each(self) - each(rest) * times as f64).abs() < 1e-6
        };
        let is_same = others.iter().map(|it| it * times).eq(steps.iter().copied())
            && is_so_much(|it| it.flops)
            && is_so_much(|it| it.stored)
            && (self.flops > 0.0 || is_so_much(|it| it.loaded));
        u32::try_from(times).ok().filter(|_| is_same)
    }

    /// Bytes by which its accesses move, to either side.
    fn steps(&self) -> BTreeSet<u64> {
        let all = self.streams.loads.iter().chain(&self.streams.stores);
        all.map(|it| it.stride.unsigned_abs()).filter(|step| *step > 0).collect()
    }
}
