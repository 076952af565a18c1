//! The syntax tree of a model: what was written, with its place. Names are not resolved.

mod application;
mod change;

use partune_expr::Rat;

pub use self::application::{
    By, Data, Decompose, Domain, Each, Effect, EffectKind, Forall, Layout, Machine, Over, Ref, Schedule, Setting, Spec,
    Task,
};
pub use self::change::{Change, ChangeKind};
use crate::diagnostic::Span;

/// Something with its place in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    pub node: T,
    pub span: Span,
}

pub type Name = Spanned<String>;
pub type Expr = Spanned<ExprKind>;
pub type Term = Spanned<TermKind>;

#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Param(Param),
    Let {
        name: Name,
        params: Vec<Name>,
        body: Expr,
    },
    Resource(Resource),
    Event(Event),
    Table(Table),
    Domain(Domain),
    Data(Data),
    Layout(Layout),
    Decompose(Decompose),
    Machine(Machine),
    Proc {
        name: Name,
        params: Vec<Name>,
        body: Term,
    },
    /// A named design alternative; of a phase of plans, where one is named.
    Alt {
        name: Name,
        stage: Option<Stage>,
        body: Term,
    },
    /// `redistribute columns -> rows = term`: data from one mapping into another.
    Redistribute {
        from: Name,
        to: Name,
        body: Term,
    },
    Plan(Plan),
    Main {
        span: Span,
        body: Term,
    },
}

/// Whether the quotient of two expressions is a fraction as it is written, such as `3/4` and `-(1)/2`: of numbers, and no integer.
pub fn is_fraction(dividend: &Expr, divisor: &Expr) -> bool {
    let quotient = dividend.written().zip(divisor.written()).map(|(dividend, divisor)| dividend / divisor);
    quotient.is_some_and(|quotient| !quotient.is_undefined() && !quotient.is_integer())
}

impl Expr {
    /// The value of a number, perhaps with signs before it.
    fn written(&self) -> Option<Rat> {
        match &self.node {
            ExprKind::Number(value) => Some(*value),
            ExprKind::Negate(inner) => inner.written().map(|value| -value),
            _ => None,
        }
    }
}

/// `of sweep on columns -> rows`: what an alternative is one of, and which mapping of data it needs and leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub phase: Name,
    /// None if it does not matter where data are, and they stay there.
    pub mapping: Option<(Name, Name)>,
}

/// Phases one after the other, in loops too, for each of which an alternative is chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub name: Name,
    /// Where data are before it, and must be after it.
    pub from: Option<Name>,
    pub to: Option<Name>,
    /// Phases stand in it as processes do.
    pub body: Term,
}

/// What a parameter is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Time,
    Real,
    Prob,
}

impl Kind {
    /// As written in models.
    pub const ALL: &'static [(&'static str, Kind)] =
        &[("int", Kind::Int), ("time", Kind::Time), ("real", Kind::Real), ("prob", Kind::Prob)];

    pub fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: Name,
    pub kind: Kind,
    pub default: Option<Expr>,
    pub assumptions: Vec<Expr>,
}

/// One dimension: `n` is `0..n-1`.
#[derive(Clone, Debug, PartialEq)]
pub enum Dimension {
    Count(Expr),
    Range(Expr, Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Multiplicity {
    One,
    Servers(Expr),
    Infinite,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    pub name: Name,
    pub dimensions: Vec<Dimension>,
    pub servers: Multiplicity,
}

/// What is posted once, and awaited by any number of processes; many if it has dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub name: Name,
    pub dimensions: Vec<Dimension>,
}

/// What is done with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Post,
    /// Waits until it is posted; does not if it is already.
    Await,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TableSource {
    Values(Vec<Expr>),
    /// Rows of any length, for a table of rows.
    Rows(Vec<Vec<Expr>>),
    /// A file of numbers, by its name.
    File(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub name: Name,
    /// What stands between the brackets: a domain, or a name that is only for readers.
    pub index: Option<Name>,
    /// Whether an entry is a row of numbers: `nbr[elem, ..]`.
    pub rows: bool,
    pub source: TableSource,
    pub source_span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    IntDiv,
    Mod,
    Pow,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Divides,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Number(Rat),
    Name(String),
    /// A function of the language or of the model.
    Call(Name, Vec<Expr>),
    /// An entry of a table.
    Entry(Name, Vec<Expr>),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `[condition]`: one if it holds, else zero.
    Iverson(Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Sum {
        variable: Name,
        lo: Box<Expr>,
        hi: Box<Expr>,
        body: Box<Expr>,
    },
    Text(String),
    Bool(bool),
    /// What could not be read; already told.
    Error,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Expr(Expr),
    Prob(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub enum While {
    Prob(Expr),
    /// So many times; the number may be drawn from a distribution.
    Below(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub variable: Name,
    pub lo: Expr,
    pub hi: Expr,
    pub body: Box<Term>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TermKind {
    Skip,
    Delay(Expr),
    Use {
        resource: Name,
        index: Vec<Expr>,
        duration: Expr,
    },
    Event {
        act: Act,
        event: Name,
        index: Vec<Expr>,
    },
    /// One after the other.
    Sequence(Vec<Term>),
    /// All at once.
    Parallel(Vec<Term>),
    Seq(Loop),
    Par(Loop),
    If(Condition, Box<Term>, Option<Box<Term>>),
    While(While, Box<Term>),
    Choose(Vec<(Expr, Term)>),
    Call(Name, Vec<Expr>),
    /// A named part of the program.
    Phase(Name, Box<Term>),
    Forall(Box<Forall>),
    Task(Task),
    Barrier,
    /// What could not be read; already told.
    Error,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    pub items: Vec<Item>,
}
