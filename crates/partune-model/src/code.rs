//! Expressions of a model with all parameters given, compiled for evaluation in every event and at every leaf.
//!
//! Almost all are integer polynomials over loop variables with one denominator: those run on 64-bit integers with checked arithmetic. The
//! rest is evaluated as algebra. Here are the forms; `compile` finds the one that costs least, `evaluate` runs it.

mod compile;
mod evaluate;

use std::collections::BTreeMap;
use std::sync::Arc;

use partune_expr::{Bool, Expr, Rat, Symbol};

pub use self::compile::Compiler;

/// Where loop variables live in a process.
pub type Slots = BTreeMap<Symbol, u16>;
type Tables = BTreeMap<Arc<str>, Arc<[Rat]>>;

/// A value: an integer numerator over a constant denominator, or algebra.
#[derive(Debug)]
pub enum Value {
    Constant {
        num: i64,
        den: i64,
    },
    Slot(u16),
    /// `(slot + offset) div size`, with a positive size: the block of an index.
    Block {
        slot: u16,
        offset: i64,
        size: i64,
    },
    /// A number if a condition holds, else zero.
    Conditional {
        test: Box<Test>,
        num: i64,
        den: i64,
    },
    Polynomial {
        sum: Sum,
        den: i64,
    },
    General(Box<General>),
}

#[derive(Debug)]
pub struct General {
    expr: Expr,
    slots: Slots,
    tables: Arc<Tables>,
}

#[derive(Debug)]
pub struct Sum {
    constant: i64,
    terms: Box<[(i64, Product)]>,
}

/// Factors, most often one.
#[derive(Debug)]
enum Product {
    One(Factor),
    Many(Box<[Factor]>),
}

#[derive(Debug)]
enum Factor {
    Slot(u16),
    FloorDiv(Box<(Sum, Sum)>),
    Test(Box<Test>),
    Max(Box<[Sum]>),
    Min(Box<[Sum]>),
    /// Entries scaled to integers, by index.
    Table(Box<(Arc<[i64]>, Sum, String)>),
    PowerOfTwo(Box<Sum>),
}

/// A condition on integers.
#[derive(Debug)]
pub enum Test {
    AtLeastZero(Sum),
    AboveZero(Sum),
    Zero(Sum),
    Divides(Sum, Sum),
    /// Whether a positive divisor divides `slot + offset`, or whether it does not.
    Multiple {
        divisor: i64,
        slot: u16,
        offset: i64,
        wanted: bool,
    },
    Not(Box<Test>),
    All(Box<[Test]>),
    Any(Box<[Test]>),
    General(Bool, Box<General>),
}

/// A number as the machine wants it.
#[derive(Clone, Copy, Debug)]
pub enum Quantity {
    Ratio { num: i64, den: i64 },
    Real(f64),
}

impl Sum {
    fn to_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// A slot and what is added to it.
    fn to_slot(&self) -> Option<(u16, i64)> {
        match *self.terms {
            [(1, Product::One(Factor::Slot(slot)))] => Some((slot, self.constant)),
            _ => None,
        }
    }
}

impl Quantity {
    /// The value, rounded if it has more than 64 bits.
    pub fn of(value: Rat) -> Quantity {
        match (i64::try_from(value.num()), i64::try_from(value.den())) {
            (Ok(num), Ok(den)) => Quantity::Ratio { num, den },
            _ => Quantity::Real(value.to_f64()),
        }
    }

    pub fn to_f64(self) -> f64 {
        match self {
            Quantity::Ratio { num, den } => num as f64 / den as f64,
            Quantity::Real(value) => value,
        }
    }

    pub fn is_negative(self) -> bool {
        match self {
            Quantity::Ratio { num, .. } => num < 0,
            Quantity::Real(value) => value < 0.0,
        }
    }
}
