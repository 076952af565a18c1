//! When an operation is a finding: the condition of a pattern, and what it is asked about.
//!
//! Numbers are exact: a constant is a whole number of [`PARTS`]ths of a second or byte, so `time > 2 ms` is decided by whole numbers whatever the
//! resolution of a trace is.

use partune_base::Span;
use partune_trace::Role;

/// Constants are whole numbers of so many parts of a second or of a byte.
pub(crate) const PARTS: i128 = 1_000_000_000_000_000;

/// A condition that an operation fulfils or not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Role(Role),
    /// The name of the construct, or of the function; its begin if `open`.
    Construct {
        name: String,
        open: bool,
    },
    Compare(Measure, Relation, Measure),
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// From enter to exit.
    Time,
    /// User time between the operation before on the same PE and this one.
    GapBefore,
    /// The part of its time that another PE's behaviour cost it.
    Waiting,
    /// What it sent, received, or accessed in memory of other PEs or in files.
    Bytes,
    /// So many parts of a second.
    Seconds(i128),
    /// So many parts of a byte.
    Amount(i128),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    Less,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    More,
}

/// What is known of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Figures<'a> {
    pub role: Role,
    pub construct: &'a str,
    pub ticks_per_second: u64,
    pub time: Span,
    pub gap_before: Span,
    pub waiting: Span,
    pub bytes: u64,
}

impl Condition {
    /// Whether an operation fulfils it. Linear in the condition.
    pub fn holds(&self, of: &Figures<'_>) -> bool {
        match self {
            Condition::All(all) => all.iter().all(|it| it.holds(of)),
            Condition::Any(any) => any.iter().any(|it| it.holds(of)),
            Condition::Not(it) => !it.holds(of),
            Condition::Role(role) => of.role == *role,
            Condition::Construct { name, open: true } => of.construct.starts_with(name.as_str()),
            Condition::Construct { name, open: false } => of.construct == name,
            Condition::Compare(one, relation, two) => {
                let ((a, per_a), (b, per_b)) = (one.value(of), two.value(of));
                let (a, b) = (a.saturating_mul(per_b), b.saturating_mul(per_a));
                match relation {
                    Relation::Less => a < b,
                    Relation::AtMost => a <= b,
                    Relation::Equal => a == b,
                    Relation::Unequal => a != b,
                    Relation::AtLeast => a >= b,
                    Relation::More => a > b,
                }
            }
        }
    }

    /// Of nothing shorter than this it holds, in ticks; so that a search through many may leave out most of them. Not the largest such number.
    pub fn shortest(&self, ticks_per_second: u64) -> Span {
        match self {
            Condition::All(parts) => parts.iter().map(|it| it.shortest(ticks_per_second)).max().unwrap_or(Span::ZERO),
            Condition::Any(parts) => parts.iter().map(|it| it.shortest(ticks_per_second)).min().unwrap_or(Span::ZERO),
            Condition::Compare(Measure::Time, Relation::AtLeast | Relation::More, Measure::Seconds(parts))
            | Condition::Compare(Measure::Seconds(parts), Relation::AtMost | Relation::Less, Measure::Time) => {
                let ticks = parts.saturating_mul(ticks_per_second.into()) / PARTS;
                Span(i64::try_from(ticks).unwrap_or(i64::MAX))
            }
            Condition::Not(_) | Condition::Role(_) | Condition::Construct { .. } | Condition::Compare(..) => Span::ZERO,
        }
    }

    /// Whether a measure stands somewhere in it.
    pub fn speaks_of(&self, measure: Measure) -> bool {
        match self {
            Condition::All(parts) | Condition::Any(parts) => parts.iter().any(|it| it.speaks_of(measure)),
            Condition::Not(it) => it.speaks_of(measure),
            Condition::Role(_) | Condition::Construct { .. } => false,
            Condition::Compare(one, _, two) => *one == measure || *two == measure,
        }
    }
}

impl Measure {
    /// Whether it is a time, and not a number of bytes.
    pub(crate) fn is_time(self) -> bool {
        match self {
            Measure::Time | Measure::GapBefore | Measure::Waiting | Measure::Seconds(_) => true,
            Measure::Bytes | Measure::Amount(_) => false,
        }
    }

    /// A fraction of seconds or bytes.
    fn value(self, of: &Figures<'_>) -> (i128, i128) {
        let ticks = |span: Span| (i128::from(span.0), i128::from(of.ticks_per_second.max(1)));
        match self {
            Measure::Time => ticks(of.time),
            Measure::GapBefore => ticks(of.gap_before),
            Measure::Waiting => ticks(of.waiting),
            Measure::Bytes => (i128::from(of.bytes), 1),
            Measure::Seconds(parts) | Measure::Amount(parts) => (parts, PARTS),
        }
    }
}
