//! Decision code: a function that chooses the alternative, the cost of each, and a test that comes with them.
//!
//! For Rust, C (GNU dialect, for 128-bit integers) and Python. Integers are computed as integers of 128 bits and more, times as doubles. The
//! test holds points with costs that this crate computed exactly, and simulated times that lie between the bounds. What has no closed form is
//! enumerated by the code, too.

mod code;
mod points;
mod walk;
mod write;

use crate::decide::Decision;
use crate::diagnostic::Diagnostic;
use crate::model::Model;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Rust,
    C,
    Python,
}

impl Language {
    /// As the command line calls them.
    pub const ALL: &'static [(&'static str, Language)] =
        &[("rust", Language::Rust), ("c", Language::C), ("python", Language::Python)];
}

/// A point of the test: values of the open parameters in order, and for each alternative its cost, and its simulated time with the
/// upper bound where it was simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub values: Vec<partune_expr::Rat>,
    pub costs: Vec<f64>,
    /// None if costs that are compared as doubles are equal.
    pub chosen: Option<usize>,
    pub simulated: Vec<Option<(f64, f64)>>,
}

/// Lowers the model with more values given; for simulation at the points of the test.
pub type Instance<'a> = &'a dyn Fn(&crate::Values) -> Option<Model>;

/// The text of a source file. The same input gives the same text.
pub fn emit(
    model: &Model,
    decision: &Decision,
    language: Language,
    name: &str,
    instance: Instance<'_>,
) -> Result<String, Diagnostic> {
    let points = points::points(model, decision, instance)?;
    Ok(write::file(model, decision, language, name, &points))
}
