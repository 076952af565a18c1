//! The application model in a checked model: domains, data and their layout, owners, the machine, and the program as steps whose effects on data
//! can be followed. For model-driven simulation; estimates and the simulator read [`Term`](super::Term)s, which are made of the same syntax.
//!
//! Sizes are expressions of the parameters; whoever follows the data needs numbers.

use std::sync::Arc;

use partune_expr::{Bool, Expr, Symbol};

use super::Range;
pub use crate::ast::EffectKind;
use crate::ast::{Act, Setting};
use crate::diagnostic::Span;

/// What is not in terms. Empty where the model names no data.
#[derive(Clone, Debug, Default)]
pub struct Application {
    pub domains: Vec<Domain>,
    pub data: Vec<Data>,
    pub machine: Machine,
    /// Names of phases, in the order of the text.
    pub phases: Vec<String>,
    /// Resources that stand for PEs where no data are followed: a queue each, and one for all.
    pub processors: Option<(usize, usize)>,
}

/// Indices that loops run over.
#[derive(Clone, Debug)]
pub struct Domain {
    pub name: String,
    /// First and last index of each dimension.
    pub ranges: Vec<(Expr, Expr)>,
    pub owners: Option<Owners>,
    pub span: Span,
}

/// Which PE owns which index, from 0.
#[derive(Clone, Debug)]
pub struct Owners {
    pub parts: Expr,
    /// Stand for the index in `owner`, one a dimension.
    pub symbols: Vec<Symbol>,
    pub owner: Expr,
    pub span: Span,
}

/// An array.
#[derive(Clone, Debug)]
pub struct Data {
    pub name: String,
    /// First and last index of each dimension.
    pub ranges: Vec<(Expr, Expr)>,
    /// Of an element.
    pub bytes: Expr,
    pub layout: Layout,
    pub span: Span,
}

/// Where the elements of an array are; addresses are in bytes.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Else the last dimension lies together.
    pub column_major: bool,
    /// So many elements along the dimension that lies together take the room of so many.
    pub pad: Option<(Expr, Expr, Span)>,
    pub align: Option<(Expr, Span)>,
    pub base: Option<(Expr, Span)>,
    /// Arrays with the same number are one array of structures: a record has what each has of one first index.
    pub group: Option<usize>,
}

/// The machine as data see it. Latencies are times.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Bytes of a line.
    pub line: Expr,
    /// Bytes that a PE keeps; none: all.
    pub cache: Option<Expr>,
    /// From the cache of a PE of the same node, of another one, and from memory.
    pub near: Expr,
    pub far: Expr,
    pub memory: Expr,
    /// To become the only one that has a line, which is there already.
    pub upgrade: Expr,
    /// Not 0: who has a line alone may write it without that, though it has only read it (MESI). 0: it may not (MSI).
    pub exclusive: Expr,
    /// What a barrier takes from the last that comes until all go on.
    pub barrier: Expr,
    /// Not 0: threads are not bound to PEs. Where all have met they go on elsewhere, drawn from this.
    pub unbound: Expr,
    /// The node of a PE; none: all are on one.
    pub node: Option<(Symbol, Expr)>,
    pub span: Span,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            line: Expr::from(64),
            cache: None,
            near: Expr::zero(),
            far: Expr::zero(),
            memory: Expr::zero(),
            upgrade: Expr::zero(),
            exclusive: Expr::zero(),
            barrier: Expr::zero(),
            unbound: Expr::zero(),
            node: None,
            span: Span::default(),
        }
    }
}

impl Machine {
    /// What was said of it; none of a cache that keeps all.
    pub fn setting(&self, setting: Setting) -> Option<&Expr> {
        Some(match setting {
            Setting::Line => &self.line,
            Setting::Cache => return self.cache.as_ref(),
            Setting::Near => &self.near,
            Setting::Far => &self.far,
            Setting::Memory => &self.memory,
            Setting::Upgrade => &self.upgrade,
            Setting::Exclusive => &self.exclusive,
            Setting::Barrier => &self.barrier,
            Setting::Unbound => &self.unbound,
        })
    }
}

/// What happens, in its order, with what it does to data.
#[derive(Clone, Debug)]
pub enum Step {
    Nothing,
    Sequence(Vec<Step>),
    Seq(Range, Box<Step>),
    If(Bool, Box<Step>, Box<Step>),
    /// A position in [`Application::phases`].
    Phase(usize, Box<Step>),
    Forall(Box<Forall>),
    Task(Box<Task>),
    /// An event by its place in the model, and which of those of the name.
    Event {
        act: Act,
        event: usize,
        index: Vec<Expr>,
        span: Span,
    },
    Barrier(Span),
    /// What says nothing about data, by its name in the language.
    Other(&'static str, Span),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    Static,
    /// So many at a time, to who comes first.
    Own(Expr),
    Guided(Expr),
}

/// A loop over a domain, whose indices may be done in any order.
#[derive(Clone, Debug)]
pub struct Forall {
    pub domain: usize,
    pub symbols: Vec<Symbol>,
    /// In place of the domain's owners.
    pub owner: Option<Expr>,
    pub schedule: Schedule,
    pub nowait: bool,
    pub body: Step,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Task {
    pub effects: Vec<Effect>,
    /// How long it takes if all data are at hand.
    pub weight: Option<(Expr, Span)>,
}

#[derive(Clone, Debug)]
pub struct Effect {
    pub kind: EffectKind,
    pub data: usize,
    /// None: all of the dimension.
    pub index: Vec<Option<Expr>>,
    /// For each of these, the outermost first.
    pub each: Vec<Each>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Each {
    pub symbol: Symbol,
    pub over: Over,
}

#[derive(Clone, Debug)]
pub enum Over {
    Range(Expr, Expr),
    /// The row of this number, of a table of rows: its items are the table with this name, and where rows begin is that with the second.
    Row(Arc<str>, Arc<str>, Expr),
}

impl Application {
    /// How many PEs there are: as many as the finest decomposition has parts. One where there is none.
    pub fn pes(&self) -> Expr {
        let parts: Vec<&Expr> = self.domains.iter().filter_map(|it| it.owners.as_ref()).map(|it| &it.parts).collect();
        let mut distinct: Vec<&Expr> = Vec::new();
        parts.into_iter().for_each(|it| {
            if !distinct.contains(&it) {
                distinct.push(it);
            }
        });
        match distinct[..] {
            [] => Expr::one(),
            [only] => only.clone(),
            _ => Expr::max(distinct),
        }
    }
}
