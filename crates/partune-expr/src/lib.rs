//! Symbolic expressions for performance models: canonical form, simplification, comparison and sums under assumptions, evaluation,
//! printing.
//!
//! For the modelling language; it knows nothing of models. Expressions are immutable data, rational arithmetic is exact, and nothing
//! panics: an overflow is an undefined value that evaluation reports.
//!
//! ```
//! use partune_expr::{Bool, Context, Expr, Symbol, sum};
//! let (n, i) = (Symbol::int("N"), Symbol::int("i"));
//! let mut assumed = Context::default();
//! assumed.assume(&Bool::le(&Expr::one(), &Expr::from(&n)));
//! let total = sum(&i, &Expr::one(), &Expr::from(&n), &Expr::from(&i), &assumed);
//! assert_eq!(total.to_string(), "N*(N + 1)/2");
//! ```

mod boolean;
mod build;
mod compare;
mod context;
mod eval;
mod expr;
mod factor;
mod logarithm;
mod points;
mod print;
mod proof;
mod rat;
mod simplify;
mod sum;

pub use boolean::Bool;
pub use build::nonempty;
pub use compare::{Comparison, Relation, Test};
pub use context::Context;
pub use eval::{EVAL_BUDGET, Environment, EvalError, Number};
pub use expr::{Atom, Expr, Monomial, Over, Powers, Symbol, Term};
pub use factor::{Factors, factors};
pub use print::Quotient;
pub use rat::Rat;
pub use sum::{max_over, min_over, sum};
