//! The modelling language PAMELA: the potential parallelism of an algorithm and the resources of a machine, from text to cost,
//! simulation and decision.
//!
//! For the command line and for whoever predicts. A pipeline of pure functions, a file each: text, tokens, syntax tree, checked model;
//! then estimate, simulation, decision, code. The crate reads no files and prints nothing; what is wrong with a model is a list of
//! [`Diagnostic`]s.
//!
//! Source: van Gemund, "Symbolic performance modeling of parallel systems" and the language it introduces.

pub mod ast;
pub mod change;
mod check;
pub mod code;
pub mod decide;
mod diagnostic;
pub mod emit;
pub mod estimate;
mod format;
mod lexer;
mod lower;
pub mod model;
mod parser;
pub mod plan;
pub mod shape;
pub mod simulate;

pub use check::check;
pub use diagnostic::{Diagnostic, Severity, Span, has_errors};
pub mod trace;

pub use format::format;
pub use lower::{Files, Values, defaults, lower};
pub use model::Model;
pub use parser::{RESERVED, is_quantity, parse, parse_changes, quantity};
