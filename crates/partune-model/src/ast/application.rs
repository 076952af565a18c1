//! What application models add to the syntax tree: domains and data, who owns them, and what tasks do to them.
//!
//! Source: Hung and Davidson's application modelling language (control flow, data dependence, domain decomposition, data layout, weights), as
//! annotations of PAMELA terms.

use super::{Expr, Name, Spanned, Term};

/// Indices that loops run over and that data have: `0..E-1`, or several ranges with `x` between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    pub name: Name,
    pub ranges: Vec<(Expr, Expr)>,
}

/// An array.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    pub name: Name,
    /// Names of domains, or counts.
    pub dimensions: Vec<Expr>,
    /// Bytes of the type that was named, and how many of it an element is.
    pub bytes: u32,
    pub times: Option<Expr>,
}

/// Where elements of arrays are.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub names: Vec<Name>,
    pub specs: Vec<Spanned<Spec>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    RowMajor,
    ColumnMajor,
    /// So many elements along the dimension that lies together take the room of so many.
    Pad(Expr, Expr),
    /// Bytes that the address of the first element is a multiple of.
    Align(Expr),
    /// The address of the first element.
    Base(Expr),
    /// A record has an element of each, in the order of the names: an array of structures.
    Group,
}

/// Which PE owns which index of a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Decompose {
    pub domain: Name,
    pub parts: Expr,
    pub by: Spanned<By>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum By {
    Block,
    Cyclic,
    BlockCyclic(Expr),
    /// A table has the owners.
    Table(Name),
    /// Parts of equal weight with few edges between them, of the graph in a table of rows; the weight is a function of the index.
    Graph(Name, Option<Name>),
    /// Parts of equal weight of what is near each other, by recursive bisection of coordinates: functions of the index or tables, or the index itself if
    /// none is named.
    Coordinates(Vec<Name>, Option<Name>),
    /// `owner(i, j) = e`.
    Owner(Vec<Name>, Expr),
    If(Expr, Box<Spanned<By>>, Box<Spanned<By>>),
}

/// What is said of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    Line,
    Cache,
    Near,
    Far,
    Memory,
    Upgrade,
    Exclusive,
    Barrier,
    Unbound,
}

impl Setting {
    /// As written in models.
    pub const ALL: &'static [(&'static str, Setting)] = &[
        ("line", Setting::Line),
        ("cache", Setting::Cache),
        ("near", Setting::Near),
        ("far", Setting::Far),
        ("memory", Setting::Memory),
        ("upgrade", Setting::Upgrade),
        ("exclusive", Setting::Exclusive),
        ("barrier", Setting::Barrier),
        ("unbound", Setting::Unbound),
    ];

    pub fn name(self) -> &'static str {
        Setting::ALL.iter().find(|(_, setting)| *setting == self).map_or("", |(name, _)| name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub settings: Vec<(Spanned<Setting>, Expr)>,
    /// `node(q) = e`.
    pub node: Option<(Name, Expr)>,
    pub span: crate::diagnostic::Span,
}

/// Who of the PEs gets which index of a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// Its owner.
    Static,
    /// Who comes first, so many at a time.
    Own(Expr),
    /// The same, in pieces that become smaller down to so many.
    Guided(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Forall {
    pub variables: Vec<Name>,
    pub domain: Name,
    /// The owner, where it is not that of the decomposition.
    pub on: Option<Expr>,
    pub schedule: Schedule,
    /// Who is done goes on.
    pub nowait: bool,
    pub body: Term,
}

/// What is done for one index: effects on data, and how long it takes without them.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub effects: Vec<Effect>,
    pub weight: Option<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    Reads,
    Writes,
    /// Reads, then writes.
    Updates,
}

impl EffectKind {
    /// As written in models.
    pub const ALL: &'static [(&'static str, EffectKind)] =
        &[("reads", EffectKind::Reads), ("writes", EffectKind::Writes), ("updates", EffectKind::Updates)];
}

#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    pub kind: EffectKind,
    pub refs: Vec<Ref>,
}

/// `A[i, *] for i in nbr[e]`: elements of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Ref {
    pub data: Name,
    /// None is `*`: all of the dimension.
    pub index: Vec<Option<Expr>>,
    pub each: Vec<Each>,
    pub span: crate::diagnostic::Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Each {
    pub variable: Name,
    pub over: Over,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    Range(Expr, Expr),
    /// A row of a table of rows.
    Row(Name, Expr),
}
