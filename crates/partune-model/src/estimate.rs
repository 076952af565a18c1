//! Bounds on the time of a model: two lower bounds and an upper one, as closed forms and as numbers.
//!
//! *Basic*: at every parallel term, the longest branch and the work of the busiest resource. *Head-tail*: the same, and no resource is used
//! before the shortest head nor after the shortest tail of those who use it. *Upper*: waiting never exceeds all work of others. For every
//! schedule, first come first served or not: basic ≤ head-tail ≤ time; for first come first served, time ≤ upper.
//!
//! Where something is drawn, the lower bounds are of the mean time: of times and work their means count, since the mean of a maximum is not
//! below the maximum of means; of heads and tails, of which the shortest counts, only what is certain and the mean of the least of exponential
//! times. The upper figure is then that of means, and no bound: the mean of a maximum may be above it.
//!
//! Waits for events are left out of the lower bounds: without them nothing ends later. The upper one then has all work and all delays one after the other,
//! since unless all wait for ever, one process at least goes on.
//!
//! Source: theory, cost estimation.

mod bound;
mod close;
mod numeric;
mod symbolic;

use partune_expr::{Environment, EvalError, Expr, Number, Symbol};

pub use numeric::{bounds, fault};
pub use symbolic::closed_form;

use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Model, Term};

/// Three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub basic: Number,
    pub head_tail: Number,
    /// No bound if something is drawn.
    pub upper: Number,
    pub random: bool,
}

/// Three formulas, and what they leave out.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedForm {
    pub basic: Expr,
    pub head_tail: Expr,
    /// Undefined if a part of the model was left out, as `weaker` then says.
    pub upper: Expr,
    /// Whether something is drawn, so that the lower bounds are of the mean time, and `upper`, of means, is no bound.
    pub random: bool,
    /// Whether processes wait for each other's events, which the lower bounds leave out; the upper one has all work one after the other.
    pub awaits: bool,
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
        self.0.entry(name, index)
    }
}

impl ClosedForm {
    /// The numbers, in an environment that has all symbols.
    pub fn eval(&self, environment: &dyn Environment) -> Result<Bounds, EvalError> {
        Ok(Bounds {
            basic: self.basic.eval(environment)?,
            head_tail: self.head_tail.eval(environment)?,
            upper: self.upper.eval(environment)?,
            random: self.random,
        })
    }

    /// Whether the lower bounds are what `numbers` gives, wherever the assumptions hold; else they are only not above it.
    pub fn is_closed(&self) -> bool {
        self.weaker.is_empty()
    }

    /// What its number is not above: undefined if a part was left out. Of waits for events the number knows nothing, and this does.
    pub fn most(&self) -> &Expr {
        if self.is_closed() && !self.awaits { &self.head_tail } else { &self.upper }
    }

    /// As people write it: quotients that were introduced are written as such.
    pub fn printed(&self, model: &Model) -> [String; 3] {
        [&self.basic, &self.head_tail, &self.upper].map(|e| e.fold(&model.quotients).to_string())
    }
}

/// The numbers of a term, and where they come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    pub bounds: Bounds,
    pub origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Formula,
    Enumeration,
    /// Enumeration, but for the head-tail bound, of which the formula is sharper.
    Both,
}

/// The numbers of a term: from the closed form if it loses nothing, else by enumeration, or where the formula is sharper from it.
///
/// Enumeration fails where a run would; before a formula is trusted, [`fault`] looks.
///
/// `general` is the model that the form is of, with parameters open, and `model` the same with values for all.
pub fn numbers(form: &ClosedForm, general: &Model, model: &Model, term: &Term) -> Result<Numbers, Diagnostic> {
    let with_values = Model { params: model.params.clone(), ..general.clone() };
    let closed = form.is_closed().then(|| form.eval(&Given(&with_values)));
    if let Some(Ok(bounds)) = closed {
        return fault(model, term).map_or(Ok(Numbers { bounds, origin: Origin::Formula }), Err);
    }
    let found = match closed {
        Some(Err(reason @ EvalError::TooLarge)) => {
            numeric::bounds_of_few(model, term)?.ok_or_else(|| error(Span::default(), &reason))?
        }
        _ => bounds(model, term)?,
    };
    Ok(match form.head_tail.eval(&Given(&with_values)) {
        Ok(head_tail) if head_tail.compare(found.head_tail).is_gt() => {
            Numbers { bounds: Bounds { head_tail, ..found }, origin: Origin::Both }
        }
        _ => Numbers { bounds: found, origin: Origin::Enumeration },
    })
}

fn error(span: Span, error: &EvalError) -> Diagnostic {
    Diagnostic::error(span, error.to_string())
}
