//! Where a loop's values and addresses are from turn to turn: sums of what does not change in the loop, a constant, and a constant times the turn.
//!
//! Sums of 32 bits are taken not to pass their ends, as in C and Fortran they must not.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{Function, Line, Words};
use super::types::{self, Step, Type, Types};

/// A value that changes by a constant from turn to turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Linear {
    /// What does not change in the loop, how often.
    terms: BTreeMap<u32, i64>,
    pub(super) constant: i64,
    pub(super) step: i64,
}

/// What does not change in a loop and is no sum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Symbol<'a> {
    Local(&'a str),
    Global(&'a str),
    /// An operation on such values.
    Of(&'a str, Vec<Linear>),
    /// What is at a place that the loop does not store to.
    At(Linear),
    /// All terms of an address: what accesses to one array have in common.
    Terms(BTreeMap<u32, i64>),
}

/// An access to memory.
#[derive(Clone, Debug)]
pub(super) struct Access<'a> {
    /// None where it does not move by a constant.
    pub(super) place: Option<Linear>,
    pub(super) of: Type<'a>,
    pub(super) is_store: bool,
}

/// The values of a loop.
pub(super) struct Values<'a, 'f> {
    types: &'f Types<'a>,
    symbols: BTreeMap<Symbol<'a>, u32>,
    /// Of what the loop makes; none where it is not linear.
    known: BTreeMap<&'a str, Option<Linear>>,
    /// Places that are stored to and stay.
    stored: BTreeSet<Linear>,
    /// What the turn begins with, and a turn adds to it.
    begins: BTreeMap<&'a str, Option<Linear>>,
}

/// What an address is a sum of, at most.
const MOST_TERMS: usize = 64;
/// Parts of constant addresses that are in each other.
const DEPTH: u32 = 16;

impl Linear {
    fn constant(constant: i64) -> Linear {
        Linear { constant, ..Linear::default() }
    }

    fn symbol(symbol: u32) -> Linear {
        Linear { terms: BTreeMap::from([(symbol, 1)]), ..Linear::default() }
    }

    fn plus(&self, other: &Linear, times: i64) -> Option<Linear> {
        let add = |one: i64, other: i64| one.checked_add(other.checked_mul(times)?);
        let mut sum = Linear {
            terms: self.terms.clone(),
            constant: add(self.constant, other.constant)?,
            step: add(self.step, other.step)?,
        };
        for (symbol, count) in &other.terms {
            let of = sum.terms.entry(*symbol).or_default();
            *of = add(*of, *count)?;
        }
        sum.terms.retain(|_, count| *count != 0);
        (sum.terms.len() <= MOST_TERMS).then_some(sum)
    }

    fn times(&self, by: i64) -> Option<Linear> {
        Linear::default().plus(self, by)
    }

    fn is_constant(&self) -> bool {
        self.terms.is_empty() && self.step == 0
    }
}

impl<'a, 'f> Values<'a, 'f> {
    /// Of a loop of a function, whose blocks stand in an order in which each follows those that it needs, the head first.
    pub(super) fn new(types: &'f Types<'a>, function: &Function<'a>, order: &[usize]) -> Values<'a, 'f> {
        let mut values = Values {
            types,
            symbols: BTreeMap::new(),
            known: BTreeMap::new(),
            stored: BTreeSet::new(),
            begins: BTreeMap::new(),
        };
        let lines = || {
            order.iter().flat_map(|block| &function.lines[function.blocks[*block].first..function.blocks[*block].end])
        };
        let inside: BTreeSet<&str> = order.iter().map(|block| function.names[*block]).collect();
        let head = order.first().map(|head| &function.blocks[*head]);
        let phis = head.map_or(&[][..], |head| &function.lines[head.first..head.end]);
        let phis: Vec<(&'a str, Phi<'a>)> = phis
            .iter()
            .filter(|line| line.operation == "phi")
            .filter_map(|line| Some((line.result?, phi(line.rest, &inside)?)))
            .collect();
        // First with what each turn begins with as it is, to see what a turn makes of it; then with what that says. Each look may find a store to what was taken for
        // a constant before.
        for _ in 0..LOOKS {
            let before = (values.begins.clone(), values.stored.len());
            values.known.clear();
            for line in lines() {
                values.follow(line, &phis);
            }
            for (name, phi) in &phis {
                let begin = values.begin(name, phi);
                values.begins.insert(name, begin);
            }
            if (&before.0, before.1) == (&values.begins, values.stored.len()) {
                break;
            }
        }
        values
    }

    /// What a value is at the begin of a turn, once it is known what a turn makes of it.
    fn begin(&mut self, name: &'a str, phi: &Phi<'a>) -> Option<Linear> {
        let itself = self.symbol(Symbol::Local(name));
        let mut begin = match phi.before {
            Some(before) => self.value(before)?,
            None => Linear::symbol(itself),
        };
        for next in &phi.next {
            let next = self.value(next)?;
            let of_turn = match self.begins.get(name) {
                // What was found the last time holds if a turn keeps it.
                Some(Some(known)) => next.plus(known, -1)?,
                Some(None) => return None,
                None => next.plus(&Linear::symbol(itself), -1)?,
            };
            if !of_turn.is_constant() || begin.step != 0 && begin.step != of_turn.constant {
                return None;
            }
            begin.step = of_turn.constant;
        }
        Some(begin)
    }

    fn follow(&mut self, line: &Line<'a>, phis: &[(&'a str, Phi<'a>)]) {
        if line.operation == "store"
            && let Some(place) = self.access(line).and_then(|it| it.place).filter(|place| place.step == 0)
        {
            self.stored.insert(place);
        }
        let Some(name) = line.result else { return };
        let made = if phis.iter().any(|(it, _)| *it == name) {
            if let Some(known) = self.begins.get(name) {
                known.clone()
            } else {
                let symbol = self.symbol(Symbol::Local(name));
                Some(Linear::symbol(symbol))
            }
        } else {
            self.made(line)
        };
        self.known.insert(name, made);
    }

    /// What an instruction makes.
    fn made(&mut self, line: &Line<'a>) -> Option<Linear> {
        let mut words = Words::new(line.rest);
        words.skip_flags();
        match line.operation {
            "load" => {
                let place = self.access(line)?.place.filter(|place| place.step == 0 && !self.stored.contains(place))?;
                let symbol = self.symbol(Symbol::At(place));
                Some(Linear::symbol(symbol))
            }
            "getelementptr" => self.element(&mut words, 0),
            "sext" | "zext" | "trunc" | "bitcast" | "ptrtoint" | "inttoptr" | "addrspacecast" | "freeze" => {
                types::read(&mut words, 0)?;
                self.operand(&mut words, 0)
            }
            "phi" => {
                // Whichever way led here.
                let phi = phi(line.rest, &BTreeSet::new())?;
                let first = self.value(phi.before?)?;
                let is_one = phi.next.iter().all(|it| self.value(it).as_ref() == Some(&first));
                is_one.then_some(first)
            }
            operation => {
                types::read(&mut words, 0)?;
                let one = self.operand(&mut words, 0)?;
                let other = if words.accept(",") { self.operand(&mut words, 0)? } else { Linear::default() };
                self.of(operation, one, other)
            }
        }
    }

    fn of(&mut self, operation: &'a str, one: Linear, other: Linear) -> Option<Linear> {
        match operation {
            "add" => one.plus(&other, 1),
            "sub" => one.plus(&other, -1),
            "mul" if other.is_constant() => one.times(other.constant),
            "mul" if one.is_constant() => other.times(one.constant),
            "shl" if other.is_constant() => one.times(1_i64.checked_shl(other.constant.try_into().ok()?)?),
            // Of what stays it stays.
            "mul" | "sdiv" | "udiv" | "srem" | "urem" | "and" | "or" | "xor" | "shl" | "lshr" | "ashr"
                if one.step == 0 && other.step == 0 =>
            {
                let symbol = self.symbol(Symbol::Of(operation, vec![one, other]));
                Some(Linear::symbol(symbol))
            }
            _ => None,
        }
    }

    /// The address of an element, from its type on.
    fn element(&mut self, words: &mut Words<'a>, depth: u32) -> Option<Linear> {
        let (types, first) = (self.types, types::read(words, 0)?);
        let mut of = &first;
        words.accept(",").then_some(())?;
        types::read(words, 0)?;
        let mut place = self.operand(words, depth)?;
        let mut is_first = true;
        while words.accept(",") {
            words.accept("inrange");
            types::read(words, 0)?;
            let number = self.operand(words, depth)?;
            let step = if std::mem::take(&mut is_first) {
                Step::Each(types.size(of)?.bytes)
            } else {
                let (inner, step) = types.element(of, number.is_constant().then_some(number.constant))?;
                of = inner;
                step
            };
            place = match step {
                Step::Each(bytes) => place.plus(&number, i64::try_from(bytes).ok()?)?,
                Step::At(bytes) => place.plus(&Linear::constant(i64::try_from(bytes).ok()?), 1)?,
            };
        }
        Some(place)
    }

    /// Takes an operand: a name, a number, or a constant address.
    fn operand(&mut self, words: &mut Words<'a>, depth: u32) -> Option<Linear> {
        match words.next()? {
            "getelementptr" if depth < DEPTH => {
                words.skip_flags();
                words.accept("(").then_some(())?;
                let place = self.element(words, depth + 1)?;
                words.accept(")").then_some(place)
            }
            "bitcast" | "addrspacecast" | "inttoptr" | "ptrtoint" if depth < DEPTH => {
                words.accept("(").then_some(())?;
                types::read(words, 0)?;
                let place = self.operand(words, depth + 1)?;
                words.accept("to");
                types::read(words, 0)?;
                words.accept(")").then_some(place)
            }
            word => self.value(word),
        }
    }

    fn value(&mut self, word: &'a str) -> Option<Linear> {
        if word.starts_with('%') {
            if let Some(known) = self.known.get(word) {
                return known.clone();
            }
            let symbol = self.symbol(Symbol::Local(word));
            return Some(Linear::symbol(symbol));
        }
        if word.starts_with('@') {
            let symbol = self.symbol(Symbol::Global(word));
            return Some(Linear::symbol(symbol));
        }
        match word {
            "null" | "false" | "zeroinitializer" => Some(Linear::default()),
            "true" => Some(Linear::constant(1)),
            number => number.parse().ok().map(Linear::constant),
        }
    }

    /// What a `load` or a `store` touches; none of what is neither.
    pub(super) fn access(&mut self, line: &Line<'a>) -> Option<Access<'a>> {
        let mut words = Words::new(line.rest);
        words.skip_flags();
        let of = types::read(&mut words, 0)?;
        let is_store = line.operation == "store";
        if is_store {
            // What is stored ends where the address begins.
            let mut last = None;
            let mut after = words.clone();
            while after.next().is_some() {
                if after.accept(",") {
                    let mut pointer = after.clone();
                    if matches!(types::read(&mut pointer, 0), Some(Type::Pointer)) {
                        last = Some(pointer);
                    }
                }
            }
            words = last?;
        } else {
            words.accept(",").then_some(())?;
            types::read(&mut words, 0)?;
        }
        Some(Access { place: self.operand(&mut words, 0), of, is_store })
    }

    /// A number for what accesses to one array have in common.
    pub(super) fn array(&mut self, place: &Linear) -> Option<u32> {
        (!place.terms.is_empty()).then(|| self.symbol(Symbol::Terms(place.terms.clone())))
    }

    fn symbol(&mut self, symbol: Symbol<'a>) -> u32 {
        let new = self.symbols.len() as u32;
        *self.symbols.entry(symbol).or_insert(new)
    }
}

/// Looks at a loop until what its turns begin with is known.
const LOOKS: usize = 4;

/// Where a value comes from at the begin of a block.
#[derive(Clone, Debug)]
struct Phi<'a> {
    /// From before the loop; at other blocks than the head, from the first way there.
    before: Option<&'a str>,
    next: Vec<&'a str>,
}

/// `double [ 0.0, %entry ], [ %sum, %body ]`, where `inside` are the blocks of the loop.
fn phi<'a>(rest: &'a str, inside: &BTreeSet<&str>) -> Option<Phi<'a>> {
    let mut words = Words::new(rest);
    words.skip_flags();
    types::read(&mut words, 0)?;
    let mut phi = Phi { before: None, next: Vec::new() };
    while words.accept("[") {
        let value = words.next()?;
        words.accept(",").then_some(())?;
        let from = words.next()?.trim_start_matches('%').trim_matches('"');
        words.accept("]").then_some(())?;
        words.accept(",");
        if inside.contains(from) || inside.is_empty() && phi.before.is_some() {
            phi.next.push(value);
        } else if phi.before.replace(value).is_some() {
            // Several ways lead to the loop.
            return None;
        }
    }
    Some(phi)
}
