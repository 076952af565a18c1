//! Changes of a model, as written: what somebody would do to its text, the machine and the program, without touching them.

use super::{By, Expr, Layout, Machine, Name, Schedule, Spanned};

pub type Change = Spanned<ChangeKind>;

#[derive(Clone, Debug, PartialEq)]
pub enum ChangeKind {
    /// `P = 8`: another value of a parameter.
    Set(Name, Expr),
    /// `alt SD8`: another alternative.
    Alternative(Name),
    /// `layout Pos: pad 3 -> 4`; what it does not say stays.
    Layout(Layout),
    /// `decompose elem -> 8 by cyclic`, or one of the two.
    Decompose { domain: Name, parts: Option<Expr>, by: Option<Spanned<By>> },
    /// `machine { cache 32768 }`; other settings stay.
    Machine(Machine),
    /// `schedule bars self(4)`: of the loops of a phase.
    Schedule(Name, Schedule),
    /// `nowait bars`: who is done with a loop of the phase goes on.
    NoWait(Name),
    /// `fuse forces, update`: two phases in a row become one, whose PE does all of an index.
    Fuse(Name, Name),
    /// `remove barrier after bars`.
    RemoveBarrier(Name),
}
