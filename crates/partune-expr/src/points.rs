//! Admissible points: values of symbols that satisfy all assumptions. What fails at one of them cannot be proven.
//!
//! For [`Context`](crate::context::Context), which asks them before it searches for a proof. All points are evaluated side by side, in
//! doubles: an expression is walked once for all. Values are small integers and fractions of powers of two, so that rounding is rare;
//! where it happens, a proof is at worst not tried, never wrongly given.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::boolean::Bool;
use crate::expr::{Atom, Expr, Over, Symbol};
use crate::rat::Rat;

/// Points side by side.
const LANES: usize = 32;
/// Times that all lanes are filled with values, of which those stay that are admissible.
const ROUNDS: usize = 64;
/// Values of a bound variable that a sum or extreme visits; points with longer ranges do not answer.
const LONGEST: i64 = 24;
/// Fewer points than this are filled up.
const FEW: usize = 12;
/// What rounding may add up to, relative to the largest summand.
const ROUNDING: f64 = 1e-9;

const INTEGERS: [f64; 12] = [2.0, 3.0, 1.0, 4.0, 7.0, 5.0, 0.0, 8.0, 16.0, 11.0, 6.0, 40.0];
const REALS: [f64; 12] = [1.0, 4.0, 0.5, 16.0, 0.0, 2.0, 0.25, 64.0, 3.0, 0.75, 0.0625, 512.0];

/// One value a point; not finite where there is none.
type Lanes = [f64; LANES];

/// The same draws each time.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn value(&mut self, symbol: &Symbol) -> f64 {
        let values = if symbol.integer { &INTEGERS } else { &REALS };
        values[self.next() as usize % values.len()]
    }
}

/// The points that are left; cloning is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points {
    /// Later ones hide earlier ones of the same name.
    symbols: Rc<Vec<(Symbol, Lanes)>>,
    /// A bit for each point that is admissible.
    alive: u32,
    /// Loop variables so far, so that each is elsewhere in its range at the same point.
    ranges: u32,
}

impl Points {
    /// Points over these symbols at which all of the conditions have the truth they are known to have.
    pub(crate) fn find(symbols: &[Symbol], known: &BTreeMap<Bool, bool>) -> Points {
        let mut found = Points::default();
        let mut columns: Vec<(Symbol, Lanes)> =
            symbols.iter().map(|symbol| (symbol.clone(), [f64::NAN; LANES])).collect();
        let (mut count, mut state) = (0_usize, Draw(1));
        for _ in 0..ROUNDS {
            let mut drawn = columns.clone();
            for (symbol, lanes) in &mut drawn {
                lanes.iter_mut().for_each(|lane| *lane = state.value(symbol));
            }
            let mut points = Points { symbols: Rc::new(drawn), alive: u32::MAX, ranges: 0 };
            for (condition, truth) in known {
                points.keep(condition, *truth);
            }
            for lane in (0..LANES).filter(|lane| points.alive >> lane & 1 == 1) {
                if count < LANES {
                    for (column, (_, lanes)) in columns.iter_mut().zip(points.symbols.iter()) {
                        column.1[count] = lanes[lane];
                    }
                    found.alive |= 1 << count;
                    count += 1;
                }
            }
            if count == LANES {
                break;
            }
        }
        found.symbols = Rc::new(columns);
        found
    }

    /// Drops the points at which a condition does not have this truth; those that do not tell stay.
    pub(crate) fn keep(&mut self, condition: &Bool, truth: bool) {
        if self.alive == 0 {
            return;
        }
        let (holds, fails) = self.eval().condition(condition);
        self.alive &= !(if truth { fails } else { holds });
    }

    /// Where few are left, fills the others with the values of those and other values of real symbols, as far as they are admissible.
    pub(crate) fn refill(&mut self, known: &BTreeMap<Bool, bool>) {
        let left: Vec<usize> = (0..LANES).filter(|lane| self.alive >> lane & 1 == 1).collect();
        if left.is_empty() || left.len() >= FEW || self.symbols.iter().all(|(symbol, _)| symbol.integer) {
            return;
        }
        let (alive, mut state) = (self.alive, Draw(1));
        for (symbol, lanes) in Rc::make_mut(&mut self.symbols) {
            for lane in (0..LANES).filter(|lane| alive >> lane & 1 == 0) {
                lanes[lane] = if symbol.integer { lanes[left[lane % left.len()]] } else { state.value(symbol) };
            }
        }
        self.alive = u32::MAX;
        for (condition, truth) in known {
            self.keep(condition, *truth);
        }
        self.alive |= alive;
    }

    /// The points inside a range, with the variable at its begin, its middle, its end or anywhere.
    #[must_use]
    pub(crate) fn within(&self, variable: &Symbol, lo: &Expr, hi: &Expr) -> Points {
        if self.alive == 0 {
            return Points::default();
        }
        let (lo, hi) = (self.eval().expr(lo), self.eval().expr(hi));
        let mut points = Points { ranges: self.ranges + 1, ..self.clone() };
        let mut lanes = [f64::NAN; LANES];
        let mut state = Draw(u64::from(self.ranges) + 1);
        for (lane, value) in lanes.iter_mut().enumerate() {
            let (lo, hi) = (lo[lane], hi[lane]);
            let inside = lo + (state.next() % 1024) as f64 / 1024.0 * (hi - lo + 1.0);
            *value = [lo, hi, f64::midpoint(lo, hi), inside, inside][state.next() as usize % 5].floor();
            if !value.is_finite() || lo > hi {
                points.alive &= !(1 << lane);
            }
        }
        let mut symbols = (*points.symbols).clone();
        symbols.retain(|(symbol, _)| symbol != variable);
        symbols.push((variable.clone(), lanes));
        points.symbols = Rc::new(symbols);
        points
    }

    /// Whether an expression is below zero at one of them.
    pub(crate) fn refute(&self, e: &Expr) -> bool {
        if self.alive == 0 {
            return false;
        }
        let (values, largest) = self.eval().sum(e);
        (0..LANES).any(|lane| {
            let value = values[lane];
            self.alive >> lane & 1 == 1 && value.is_finite() && value < -ROUNDING * largest[lane]
        })
    }

    fn eval(&self) -> Eval<'_> {
        Eval { points: self, bound: Vec::new() }
    }
}

/// An expression being walked, with the variables that it binds.
struct Eval<'a> {
    points: &'a Points,
    bound: Vec<(Symbol, Lanes)>,
}

/// Nothing was said of the symbol, so that any value is as good; the same each time.
fn unknown(symbol: &Symbol) -> Lanes {
    let seed = symbol.name.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let mut state = Draw(seed);
    let mut lanes = [0.0; LANES];
    lanes.iter_mut().for_each(|lane| *lane = state.value(symbol));
    lanes
}

fn each(values: &mut Lanes, f: impl Fn(f64) -> f64) {
    values.iter_mut().for_each(|value| *value = f(*value));
}

fn both(values: &mut Lanes, others: &Lanes, f: impl Fn(f64, f64) -> f64) {
    values.iter_mut().zip(others).for_each(|(value, other)| *value = f(*value, *other));
}

fn rational(value: Rat) -> f64 {
    if value.is_undefined() { f64::NAN } else { value.to_f64() }
}

impl Eval<'_> {
    fn expr(&mut self, e: &Expr) -> Lanes {
        self.sum(e).0
    }

    /// The values, and their largest summands.
    fn sum(&mut self, e: &Expr) -> (Lanes, Lanes) {
        let (mut sum, mut largest) = ([0.0; LANES], [0.0; LANES]);
        for term in e.terms() {
            // Divided once, so that whole quotients are exact.
            let mut product = [term.coefficient.num() as f64; LANES];
            let mut divisor =
                [if term.coefficient.is_undefined() { f64::NAN } else { term.coefficient.den() as f64 }; LANES];
            for (atom, exponent) in term.factors.iter() {
                let value = self.atom(atom);
                let into = if *exponent > 0 { &mut product } else { &mut divisor };
                match exponent.abs() {
                    1 => both(into, &value, |a, b| a * b),
                    power => both(into, &value, |a, b| a * b.powi(power)),
                }
            }
            both(&mut product, &divisor, |a, b| if b == 0.0 { f64::NAN } else { a / b });
            both(&mut largest, &product, |a, b| a.max(b.abs()));
            both(&mut sum, &product, |a, b| a + b);
        }
        (sum, largest)
    }

    fn atom(&mut self, atom: &Atom) -> Lanes {
        match atom {
            Atom::Symbol(symbol) => {
                let known = self.bound.iter().rev().chain(self.points.symbols.iter().rev());
                known.into_iter().find(|(own, _)| own == symbol).map_or_else(|| unknown(symbol), |(_, lanes)| *lanes)
            }
            Atom::FloorDiv(num, den) => {
                let (mut value, den) = (self.expr(num), self.expr(den));
                both(&mut value, &den, |a, b| if b == 0.0 { f64::NAN } else { (a / b).floor() });
                value
            }
            // A comparison that ignores values that do not exist would invent one.
            Atom::Max(args) => self.extreme(args, |a, b| if b > a || b.is_nan() { b } else { a }),
            Atom::Min(args) => self.extreme(args, |a, b| if b < a || b.is_nan() { b } else { a }),
            Atom::Iverson(condition) => {
                let (holds, fails) = self.condition(condition);
                let mut value = [f64::NAN; LANES];
                for (lane, value) in value.iter_mut().enumerate() {
                    match (holds >> lane & 1, fails >> lane & 1) {
                        (1, _) => *value = 1.0,
                        (_, 1) => *value = 0.0,
                        _ => {}
                    }
                }
                value
            }
            Atom::Sum(over) => self.range(over, 0.0, |sum, value| sum + value),
            Atom::MaxOver(over) => self.range(over, f64::NEG_INFINITY, f64::max),
            Atom::MinOver(over) => self.range(over, f64::INFINITY, f64::min),
            Atom::Table(..) => [f64::NAN; LANES],
            Atom::Log2(e) => {
                let mut value = self.expr(e);
                each(&mut value, |value| if value > 0.0 { value.log2() } else { f64::NAN });
                value
            }
            Atom::Power(base, e) => {
                let (base, mut value) = (rational(*base), self.expr(e));
                each(&mut value, |value| base.powf(value));
                value
            }
            Atom::Group(e) => self.expr(e),
        }
    }

    fn extreme(&mut self, args: &[Expr], better: fn(f64, f64) -> f64) -> Lanes {
        let mut all = args.iter();
        let Some(first) = all.next() else { return [f64::NAN; LANES] };
        let mut best = self.expr(first);
        for arg in all {
            let value = self.expr(arg);
            both(&mut best, &value, better);
        }
        best
    }

    fn range(&mut self, over: &Over, empty: f64, add: fn(f64, f64) -> f64) -> Lanes {
        let (lo, hi) = (self.expr(&over.lo), self.expr(&over.hi));
        let mut result = [empty; LANES];
        let mut longest = 0;
        for lane in 0..LANES {
            let length = hi[lane] - lo[lane] + 1.0;
            let alive = self.points.alive >> lane & 1 == 1;
            if alive && length.is_finite() && length <= LONGEST as f64 {
                longest = longest.max(length as i64);
            } else {
                result[lane] = f64::NAN;
            }
        }
        self.bound.push((over.variable.clone(), lo));
        for step in 0..longest {
            let mut at = lo;
            each(&mut at, |lo| lo + step as f64);
            if let Some(top) = self.bound.last_mut() {
                top.1 = at;
            }
            let value = self.expr(&over.body);
            for lane in 0..LANES {
                if at[lane] <= hi[lane] && !result[lane].is_nan() {
                    let value = value[lane];
                    result[lane] = if value.is_nan() { value } else { add(result[lane], value) };
                }
            }
        }
        self.bound.pop();
        result
    }

    /// Where it holds, and where it does not; neither where a value is missing.
    fn condition(&mut self, condition: &Bool) -> (u32, u32) {
        match condition {
            Bool::True => (u32::MAX, 0),
            Bool::False => (0, u32::MAX),
            Bool::AtLeastZero(e) => self.test(e, |value| value >= 0.0),
            Bool::AboveZero(e) => self.test(e, |value| value > 0.0),
            Bool::Zero(e) => self.test(e, |value| value == 0.0),
            Bool::Divides(a, b) => {
                let (a, mut rest) = (self.expr(a), self.expr(b));
                both(&mut rest, &a, |b, a| if a == 0.0 { b } else { b % a });
                masks(&rest, |rest| rest == 0.0)
            }
            Bool::Not(inner) => {
                let (holds, fails) = self.condition(inner);
                (fails, holds)
            }
            Bool::And(all) => all.iter().fold((u32::MAX, 0), |(holds, fails), one| {
                let own = self.condition(one);
                (holds & own.0, fails | own.1)
            }),
            Bool::Or(all) => all.iter().fold((0, u32::MAX), |(holds, fails), one| {
                let own = self.condition(one);
                (holds | own.0, fails & own.1)
            }),
        }
    }

    fn test(&mut self, e: &Expr, holds: fn(f64) -> bool) -> (u32, u32) {
        masks(&self.expr(e), holds)
    }
}

fn masks(values: &Lanes, holds: fn(f64) -> bool) -> (u32, u32) {
    let (mut yes, mut no) = (0, 0);
    for (lane, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        *(if holds(*value) { &mut yes } else { &mut no }) |= 1 << lane;
    }
    (yes, no)
}
