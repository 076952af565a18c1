//! Plans: phases of which each has alternatives, which need data in one mapping or another, and what it takes to bring them there.
//!
//! Source: van Gemund, the decision whether to remap between the sweeps of ADI.

use super::{Range, Term};
use crate::diagnostic::Span;

/// The phase that an alternative is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// A position in [`Model::phases`](super::Model::phases).
    pub phase: usize,
    /// The mapping that it needs, and the one that it leaves: positions in [`Model::mappings`](super::Model::mappings). None if it does not matter
    /// where data are, and they stay there.
    pub mapping: Option<(usize, usize)>,
}

/// Data from one mapping into another.
#[derive(Clone, Debug)]
pub struct Redistribution {
    pub from: usize,
    pub to: usize,
    pub term: Term,
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    /// Where data are before it; none if they can be anywhere, at no cost.
    pub from: Option<usize>,
    /// Where they must be after it.
    pub to: Option<usize>,
    pub body: Planned,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Planned {
    Phase(usize),
    Sequence(Vec<Planned>),
    /// With a phase in it; how many turns it has is the same in each turn of loops around it.
    Seq(Range, Box<Planned>),
    /// What is no phase and has none in it: the same whatever is chosen.
    Other(Term),
}
