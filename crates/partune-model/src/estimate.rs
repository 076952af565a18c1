//! Bounds on the time of a model: two lower bounds and an upper one, as closed forms and as numbers.
//!
//! *Basic*: at every parallel term, the longest branch and the work of the busiest resource. *Head-tail*: the same, and no resource is used
//! before the shortest head nor after the shortest tail of those who use it. *Upper*: waiting never exceeds all work of others. For every
//! schedule, first come first served or not: basic ≤ head-tail ≤ time; for first come first served, time ≤ upper.
//!
//! Source: theory, cost estimation. With random durations and branches their means are used, and bounds are of the mean time.

mod bound;
mod close;
mod numeric;
mod symbolic;

use partune_expr::{Environment, EvalError, Expr, Number, Symbol};

pub use numeric::bounds;
pub use symbolic::closed_form;

use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Model, Term};

/// Three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub basic: Number,
    pub head_tail: Number,
    pub upper: Number,
}

/// Three formulas, and what they leave out.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedForm {
    pub basic: Expr,
    pub head_tail: Expr,
    /// Undefined if a part of the model was left out, as `weaker` then says.
    pub upper: Expr,
    /// Why a lower bound is below what enumeration would give; it is a lower bound still. Empty if it is the same, or, where a loop was
    /// taken apart and its parts are bounded on their own, sharper.
    pub weaker: Vec<String>,
}

/// The values of parameters, of quotients of parameters, and of tables.
pub struct Given<'a>(pub &'a Model);

impl Environment for Given<'_> {
    fn symbol(&self, symbol: &Symbol) -> Option<Number> {
        let model = self.0;
        if let Some(param) = model.params.iter().find(|param| *param.name == *symbol.name) {
            return param.value.map(Number::Exact);
        }
        let quotient = model.quotients.iter().find(|quotient| quotient.symbol == *symbol)?;
        quotient.dividend.over(&quotient.divisor).eval(self).ok()
    }

    fn table(&self, name: &str, index: &[i64]) -> Option<Number> {
        let [index] = index else { return None };
        let entries = self.0.tables.get(name)?;
        entries.get(usize::try_from(*index).ok()?).copied().map(Number::Exact)
    }
}

impl ClosedForm {
    /// The numbers, in an environment that has all symbols.
    pub fn eval(&self, environment: &dyn Environment) -> Result<Bounds, EvalError> {
        Ok(Bounds {
            basic: self.basic.eval(environment)?,
            head_tail: self.head_tail.eval(environment)?,
            upper: self.upper.eval(environment)?,
        })
    }

    /// As people write it: quotients that were introduced are written as such.
    pub fn printed(&self, model: &Model) -> [String; 3] {
        [&self.basic, &self.head_tail, &self.upper].map(|e| e.fold(&model.quotients).to_string())
    }
}

/// The numbers of a term: from the closed form if it loses nothing, else by enumeration.
///
/// `general` is the same model with its parameters open, from which the closed form comes.
pub fn numbers(general: &ClosedForm, model: &Model, term: &Term) -> Result<Bounds, Diagnostic> {
    if general.weaker.is_empty()
        && let Ok(bounds) = general.eval(&Given(model))
    {
        return Ok(bounds);
    }
    bounds(model, term)
}

fn error(span: Span, error: &EvalError) -> Diagnostic {
    Diagnostic::error(span, error.to_string())
}
