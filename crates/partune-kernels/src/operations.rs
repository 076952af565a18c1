//! The operations of a loop by what they do and with what: those of equal turns come in equal numbers.

use std::collections::{BTreeMap, BTreeSet};

use crate::class::Class;
use crate::elements::{Elements, is_carrier};
use crate::instruction::{Instruction, Memory, Register};
use crate::streams::Streams;

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operand {
    /// The same in each turn: a register that the loop does not write, a place in memory, a number of the code.
    Stays(Register),
    At(Memory),
    Number(i64),
    /// What the turn before made of what the one before that made.
    Carried,
    Fresh,
}

/// Which elements of a vector may be of different turns.
#[derive(Clone, Copy, Debug)]
pub enum Lanes {
    Any,
    /// Neighbours, of which a turn has so many.
    InOrder(u64),
}

/// How often each operation is done, and on how many elements.
#[derive(Debug, Default)]
pub struct Operations {
    /// By what it does, on what, to how many at once, and how many of these do the same.
    count: BTreeMap<(&'static str, Vec<Operand>, [u32; 2]), u64>,
    /// Whether operands that stay cannot be told apart by where they are.
    is_moved: bool,
}

impl Operations {
    /// `data` are the program's constants by address and size: those of a vector that differ are of one turn. O(n log n).
    pub fn new<'d>(
        streams: &Streams,
        before: &[&Instruction],
        code: &[&Instruction],
        elements: &Elements,
        data: &dyn Fn(u64, u64) -> Option<&'d [u8]>,
    ) -> Operations {
        let mut made = at_begin(code);
        // In how many equal parts a vector that stays divides at most.
        let parts = |place: Memory, element: u32, lanes: u32| {
            let is_constant = place.base.is_none() && place.index.is_none() && place.bytes >= element * lanes;
            let Some(bytes) = data(place.offset as u64, place.bytes.into()).filter(|_| is_constant) else {
                return lanes;
            };
            let is_equal = |parts: &u32| {
                let mut all = bytes.chunks((place.bytes / parts).max(1) as usize);
                lanes.is_multiple_of(*parts) && all.all(|it| bytes.starts_with(it))
            };
            (1..=lanes).rev().find(is_equal).unwrap_or(1)
        };
        let equal = |operand: &Operand, element: u32, lanes: u32| match operand {
            Operand::Stays(register) => match before.iter().rev().find(|it| it.writes.contains(register)) {
                Some(it) if it.mixes && it.is_of_two() => 1,
                Some(it) => it.load.map_or(lanes, |place| parts(place, element, lanes)),
                None => lanes,
            },
            Operand::At(place) => parts(*place, element, lanes),
            Operand::Number(_) | Operand::Carried | Operand::Fresh => lanes,
        };
        let mut operations = Operations::default();
        for (at, it) in code.iter().enumerate() {
            let mut operands: Vec<Operand> = it
                .reads
                .iter()
                .map(|register| made.get(register).copied().unwrap_or(Operand::Stays(*register)))
                .collect();
            let stays = |place: &Memory| {
                let is_loaded = streams.loads.iter().any(|it| it.at == at && it.stride == 0);
                is_loaded && code.iter().all(|it| it.store.is_none_or(|store| !is_same_place(&store, place)))
            };
            operands.extend(it.load.map(|place| if stays(&place) { Operand::At(place) } else { Operand::Fresh }));
            operands.extend(it.constant.map(Operand::Number));
            operands.sort_unstable();
            let result = match operands[..] {
                _ if operands.contains(&Operand::Carried) => Operand::Carried,
                [only] if it.class == Class::Nothing => only,
                _ => Operand::Fresh,
            };
            it.writes.iter().for_each(|register| _ = made.insert(*register, result));
            let store = streams.stores.iter().find(|store| store.at == at && store.stride != 0);
            let is_changed_in_place = store.is_some() && it.load.is_some();
            if it.flops() > 0 || is_changed_in_place {
                let lanes = if it.alternates() { it.lanes / 2 } else { it.lanes }.max(1);
                let same = operands.iter().map(|operand| equal(operand, it.element, it.lanes)).fold(lanes, u32::min);
                *operations.count.entry((it.name, operands, [it.lanes.max(1), same.max(1)])).or_default() += 1;
            } else if let Some(store) = store
                && store.bytes <= 8
                && !operands.is_empty()
                && operands.iter().all(|it| !matches!(it, Operand::Carried | Operand::Fresh))
            {
                // What stays is put there.
                *operations.count.entry(("", operands, [1, 1])).or_default() +=
                    u64::from(store.bytes / elements.stored(store));
            }
        }
        // Where registers are few, what stays is now in one and now in memory.
        let all = || operations.count.keys().flat_map(|(_, operands, _)| operands);
        operations.is_moved =
            all().any(|it| matches!(it, Operand::At(_))) && all().any(|it| matches!(it, Operand::Stays(_)));
        operations
    }

    /// Whether something is added to a sum, or the like, so many times one by one.
    pub fn are_in_order(&self, turns: u64) -> bool {
        let mut all = self.count.iter();
        all.any(|((_, operands, lanes), times)| {
            operands.contains(&Operand::Carried) && lanes[0] == 1 && *times == turns
        })
    }

    /// Whether it divides into so many turns that do the same; unless that `is_exact`, it does not matter which operands are from the turn before, since
    /// compilers add sums in other orders if they may.
    pub fn divide(&self, turns: u64, lanes: Lanes, is_exact: bool) -> bool {
        let mut count: BTreeMap<(&str, Vec<Operand>, [u32; 2]), u64> = BTreeMap::new();
        for ((name, operands, lanes), times) in &self.count {
            let of = |it: &Operand| match it {
                Operand::Carried if !is_exact => Operand::Fresh,
                Operand::Stays(_) | Operand::At(_) if self.is_moved => Operand::Stays(0),
                _ => *it,
            };
            let mut operands: Vec<Operand> = operands.iter().map(of).collect();
            operands.sort_unstable();
            *count.entry((name, operands, *lanes)).or_default() += times;
        }
        count.into_iter().all(|((_, _, lanes_of), times)| {
            let [at_once, same] = lanes_of.map(u64::from);
            let is_one_turn = matches!(lanes, Lanes::InOrder(elements) if elements >= at_once);
            if is_one_turn { times.is_multiple_of(turns) } else { (times * same).is_multiple_of(turns) }
        })
    }
}

fn is_same_place(one: &Memory, other: &Memory) -> bool {
    (one.base, one.index, one.scale, one.offset) == (other.base, other.index, other.scale, other.offset)
}

/// What registers that a loop writes hold when a turn begins: what is only moved from one to the other, and stays; sums, and what is made of them; what the turn
/// before made.
fn at_begin(code: &[&Instruction]) -> BTreeMap<Register, Operand> {
    let (moved, carried) = (moved(code), carried(code));
    let operand = |it: &Register| match origin(*it, &moved) {
        Some(origin) => Operand::Stays(origin),
        None if carried.contains(it) => Operand::Carried,
        None => Operand::Fresh,
    };
    moved.keys().map(|it| (*it, operand(it))).collect()
}

/// Which register each one that is written was moved from in a turn, as it was when that began; none where it was made.
fn moved(code: &[&Instruction]) -> BTreeMap<Register, Option<Register>> {
    let mut moved = BTreeMap::new();
    for it in code {
        let from = match it.reads[..] {
            [from] if it.class == Class::Nothing && it.load.is_none() => {
                moved.get(&from).copied().unwrap_or(Some(from))
            }
            _ => None,
        };
        moved.extend(it.writes.iter().map(|register| (*register, from)));
    }
    moved
}

/// Where what a register holds when a turn begins was moved from over all turns: a register that the loop does not write, or one of some that it goes round in.
fn origin(of: Register, moved: &BTreeMap<Register, Option<Register>>) -> Option<Register> {
    let mut at = of;
    for _ in 0..=moved.len() {
        match moved.get(&at) {
            Some(from) => at = (*from)?,
            None => return Some(at),
        }
    }
    Some(at)
}

/// Registers whose value depends by way of arithmetic on what they, or others of these, held the turn before.
fn carried(code: &[&Instruction]) -> BTreeSet<Register> {
    type From = BTreeMap<Register, BTreeSet<Register>>;
    // Of which registers it was made in a turn, and of which by way of arithmetic.
    let (mut from, mut computed): (From, From) = Default::default();
    for it in code {
        let of = |register: &Register| from.get(register).cloned().unwrap_or_else(|| BTreeSet::from([*register]));
        let all: BTreeSet<Register> = it.reads.iter().flat_map(of).collect();
        let before = || it.reads.iter().filter_map(|register| computed.get(register)).flatten().copied().collect();
        let is_arithmetic = !is_carrier(it) && it.class != Class::Convert;
        let by_arithmetic: BTreeSet<Register> = if is_arithmetic { all.clone() } else { before() };
        for register in &it.writes {
            from.insert(*register, all.clone());
            computed.insert(*register, by_arithmetic.clone());
        }
    }
    // Over any number of turns.
    let mut grows = true;
    while grows {
        let before = |it: &Register| from.get(it).into_iter().flatten().copied();
        let next: From =
            from.iter().map(|(to, of)| (*to, of.iter().flat_map(before).chain(of.iter().copied()).collect())).collect();
        grows = next != from;
        from = next;
    }
    let leads_to = |one: &Register, to: &Register| one == to || from.get(one).is_some_and(|of| of.contains(to));
    let is_sum = |it: &&Register| computed[*it].iter().any(|of| leads_to(of, it));
    let sums: BTreeSet<Register> = from.keys().filter(is_sum).copied().collect();
    from.iter().filter(|(it, of)| sums.contains(it) || !of.is_disjoint(&sums)).map(|(it, _)| *it).collect()
}
