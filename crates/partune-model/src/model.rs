//! A checked model: names resolved, functions and processes expanded, every value an expression.
//!
//! This is what estimates, simulation and decisions read; the source is only in the spans.

mod application;
pub(crate) mod cost;
mod plan;
mod steps;

use std::collections::BTreeMap;
use std::sync::Arc;

use partune_expr::{Bool, Context, Expr, Number, Quotient, Rat, Symbol};

pub use self::application::{
    Application, Data, Domain, Each, Effect, EffectKind, Forall, Layout, Machine, Over, Owners, Schedule, Step, Task,
};
pub use self::plan::{Plan, Planned, Redistribution, Stage};
pub use self::steps::WhyNot;

pub use crate::ast::Act;
use crate::ast::Kind;
use crate::diagnostic::{Diagnostic, Span};

/// A parameter and what is known of it.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    pub kind: Kind,
    /// Given by the user, or the default.
    pub value: Option<Rat>,
    pub span: Span,
}

/// Servers behind one queue; many queues if it has dimensions.
#[derive(Clone, Debug)]
pub struct Resource {
    pub name: String,
    /// First and last index of each dimension.
    pub dimensions: Vec<(Expr, Expr)>,
    /// None if there are always enough.
    pub servers: Option<Expr>,
    pub span: Span,
}

/// What is posted once, and awaited by any number of processes; many if it has dimensions.
#[derive(Clone, Debug)]
pub struct Event {
    pub name: String,
    /// First and last index of each dimension.
    pub dimensions: Vec<(Expr, Expr)>,
    pub span: Span,
}

/// A value, or how it is drawn. Means and deviations in the unit of the value.
#[derive(Clone, Debug)]
pub enum Draw {
    Fixed(Expr),
    Exponential {
        mean: Expr,
    },
    Uniform {
        low: Expr,
        high: Expr,
    },
    /// Negative draws count as zero.
    Normal {
        mean: Expr,
        deviation: Expr,
    },
    /// The sum of so many exponential draws; the mean is that of the sum.
    Erlang {
        stages: Expr,
        mean: Expr,
    },
    Empirical(Arc<[Rat]>),
}

#[derive(Clone, Debug)]
pub struct Range {
    pub variable: Symbol,
    pub lo: Expr,
    pub hi: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Term {
    Skip,
    Delay(Draw, Span),
    Use {
        resource: usize,
        index: Vec<Expr>,
        duration: Draw,
        span: Span,
    },
    /// Takes no time of its own.
    Event {
        act: Act,
        event: usize,
        index: Vec<Expr>,
        span: Span,
    },
    Sequence(Vec<Term>),
    Parallel(Vec<Term>),
    Seq(Range, Box<Term>),
    Par(Range, Box<Term>),
    If(Bool, Box<Term>, Box<Term>),
    /// Cases with their probabilities, which sum to one.
    Choose(Vec<(Expr, Term)>, Span),
    /// Again with a probability, each time.
    WhileProb(Expr, Box<Term>, Span),
    /// So many times, drawn once.
    WhileBelow(Draw, Box<Term>, Span),
    /// A process that may call itself.
    Call(usize, Vec<Expr>, Span),
}

/// A process equation that was not expanded, because it is recursive.
#[derive(Clone, Debug)]
pub struct Process {
    pub name: String,
    pub params: Vec<Symbol>,
    pub body: Term,
}

impl Process {
    /// What to do about one that calls itself without end.
    pub(crate) const LET_IT_END: &str =
        "let a condition end it, as in `if (n > 0) f(n - 1)`; for turns without one there are `seq` and `while`";

    /// A call of it that is inside of more calls than are followed.
    pub(crate) fn too_deep(&self, most: u32, span: Span) -> Diagnostic {
        let text = format!("more than {most} calls inside each other, the last of `{}`", self.name);
        Diagnostic::error(span, text).help(Process::LET_IT_END)
    }
}

/// A design alternative; `main` is one, too.
#[derive(Clone, Debug)]
pub struct Alternative {
    pub name: String,
    pub term: Term,
    /// The same as steps whose effects on data can be followed, where any term of the model is one.
    pub steps: Option<Step>,
    /// The phase of plans that it is an alternative of.
    pub stage: Option<Stage>,
}

#[derive(Clone, Debug)]
pub struct Assumption {
    pub condition: Bool,
    /// As written.
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub params: Vec<Param>,
    pub assumptions: Vec<Assumption>,
    pub quotients: Vec<Quotient>,
    pub resources: Vec<Resource>,
    pub events: Vec<Event>,
    pub tables: BTreeMap<Arc<str>, Arc<[Rat]>>,
    pub processes: Vec<Process>,
    /// `main` first, if there is one; then alternatives as written.
    pub alternatives: Vec<Alternative>,
    pub application: Application,
    /// Phases of plans, and mappings of data, as named.
    pub phases: Vec<String>,
    pub mappings: Vec<String>,
    pub redistributions: Vec<Redistribution>,
    pub plans: Vec<Plan>,
}

impl Model {
    pub fn alternative(&self, name: &str) -> Option<&Alternative> {
        self.alternatives.iter().find(|alternative| alternative.name == name)
    }

    /// Whether anything in a term, or in a process that it may call, is drawn.
    pub fn is_random(&self, term: &Term) -> bool {
        self.has(term, |term| match term {
            Term::Delay(draw, _) | Term::Use { duration: draw, .. } | Term::WhileBelow(draw, ..) => draw.is_random(),
            Term::Choose(..) | Term::WhileProb(..) => true,
            Term::Skip
            | Term::Event { .. }
            | Term::Sequence(_)
            | Term::Parallel(_)
            | Term::Seq(..)
            | Term::Par(..)
            | Term::If(..)
            | Term::Call(..) => false,
        })
    }

    /// Whether anything in a term, or in a process that it may call, awaits an event.
    pub fn awaits(&self, term: &Term) -> bool {
        self.has(term, |term| matches!(term, Term::Event { act: Act::Await, .. }))
    }

    fn has(&self, term: &Term, is: impl Fn(&Term) -> bool) -> bool {
        let (mut found, mut calls) = (false, false);
        let mut look = |term: &Term| {
            term.visit(&mut |term| {
                found |= is(term);
                calls |= matches!(term, Term::Call(..));
            });
            calls
        };
        if look(term) {
            self.processes.iter().for_each(|process| _ = look(&process.body));
        }
        found
    }

    /// An entry of a table.
    pub fn entry(&self, table: &str, index: &[i64]) -> Option<Number> {
        let [index] = index else { return None };
        self.tables.get(table)?.get(usize::try_from(*index).ok()?).copied().map(Number::Exact)
    }

    /// Parameters that have no value.
    pub fn open(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|param| param.value.is_none())
    }

    /// What may be assumed of the parameters.
    pub fn context(&self) -> Context {
        let mut context = Context::default();
        let (zero, one) = (Expr::zero(), Expr::one());
        for param in &self.params {
            let symbol = Expr::from(&param.symbol());
            match param.kind {
                Kind::Time => context.assume(&Bool::le(&zero, &symbol)),
                Kind::Prob => {
                    context.assume(&Bool::le(&zero, &symbol));
                    context.assume(&Bool::le(&symbol, &one));
                }
                Kind::Int | Kind::Real => {}
            }
        }
        // Twice, because a fact may need another that comes later.
        for assumption in self.assumptions.iter().chain(&self.assumptions) {
            context.assume(&assumption.condition);
        }
        for quotient in &self.quotients {
            // A quotient of something at least one, by something at least one, is at least one.
            let symbol = Expr::from(&quotient.symbol);
            context.assume(&Bool::le(&zero, &symbol));
            if context.positive(&(&quotient.divisor * &symbol)) || context.positive(&quotient.dividend) {
                context.assume(&Bool::le(&one, &symbol));
            }
        }
        let symbols = self.params.iter().map(Param::symbol);
        let symbols: Vec<Symbol> =
            symbols.chain(self.quotients.iter().map(|quotient| quotient.symbol.clone())).collect();
        context.find_points(&symbols);
        context
    }
}

impl Param {
    pub fn symbol(&self) -> Symbol {
        Symbol { name: self.name.as_str().into(), integer: self.kind == Kind::Int }
    }
}

impl Draw {
    /// The expressions in it.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Draw::Fixed(e) | Draw::Exponential { mean: e } => vec![e],
            Draw::Uniform { low: a, high: b }
            | Draw::Normal { mean: a, deviation: b }
            | Draw::Erlang { stages: a, mean: b } => vec![a, b],
            Draw::Empirical(_) => Vec::new(),
        }
    }

    /// The mean; of a normal draw that of the uncut distribution, which is not larger.
    pub fn mean(&self) -> Expr {
        match self {
            Draw::Fixed(e)
            | Draw::Exponential { mean: e }
            | Draw::Normal { mean: e, .. }
            | Draw::Erlang { mean: e, .. } => e.clone(),
            Draw::Uniform { low, high } => (low + high).scale(Rat::new(1, 2)),
            Draw::Empirical(values) => {
                let sum = values.iter().fold(Rat::ZERO, |sum, value| sum + *value);
                Expr::number(sum / Rat::int(values.len().max(1) as i128))
            }
        }
    }

    /// What no draw is below.
    pub fn least(&self) -> Expr {
        match self {
            Draw::Fixed(e) => e.clone(),
            Draw::Uniform { low, .. } => low.clone(),
            Draw::Exponential { .. } | Draw::Normal { .. } | Draw::Erlang { .. } => Expr::zero(),
            Draw::Empirical(values) => Expr::number(values.iter().copied().min().unwrap_or(Rat::ZERO)),
        }
    }

    /// The same of changed expressions.
    #[must_use]
    pub fn map(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Draw {
        match self {
            Draw::Fixed(e) => Draw::Fixed(f(e)),
            Draw::Exponential { mean } => Draw::Exponential { mean: f(mean) },
            Draw::Uniform { low, high } => Draw::Uniform { low: f(low), high: f(high) },
            Draw::Normal { mean, deviation } => Draw::Normal { mean: f(mean), deviation: f(deviation) },
            Draw::Erlang { stages, mean } => Draw::Erlang { stages: f(stages), mean: f(mean) },
            Draw::Empirical(values) => Draw::Empirical(values.clone()),
        }
    }

    pub fn is_random(&self) -> bool {
        !matches!(self, Draw::Fixed(_))
    }
}

impl Term {
    /// The same with a symbol replaced.
    #[must_use]
    pub fn substitute(&self, symbol: &Symbol, value: &Expr) -> Term {
        self.map(&mut |e| e.substitute(symbol, value))
    }

    /// The same of changed expressions; bound variables are unique, so none is captured.
    #[must_use]
    pub fn map(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Term {
        match self {
            Term::Skip => Term::Skip,
            Term::Delay(duration, span) => Term::Delay(duration.map(f), *span),
            Term::Use { resource, index, duration, span } => Term::Use {
                resource: *resource,
                index: index.iter().map(&mut *f).collect(),
                duration: duration.map(f),
                span: *span,
            },
            Term::Event { act, event, index, span } => {
                Term::Event { act: *act, event: *event, index: index.iter().map(f).collect(), span: *span }
            }
            Term::Sequence(all) => Term::Sequence(all.iter().map(|one| one.map(f)).collect()),
            Term::Parallel(all) => Term::Parallel(all.iter().map(|one| one.map(f)).collect()),
            Term::Seq(range, body) => Term::Seq(range.map(f), Box::new(body.map(f))),
            Term::Par(range, body) => Term::Par(range.map(f), Box::new(body.map(f))),
            Term::If(condition, then, otherwise) => {
                Term::If(condition.map(f), Box::new(then.map(f)), Box::new(otherwise.map(f)))
            }
            Term::Choose(cases, span) => {
                Term::Choose(cases.iter().map(|(chance, term)| (f(chance), term.map(f))).collect(), *span)
            }
            Term::WhileProb(chance, body, span) => Term::WhileProb(f(chance), Box::new(body.map(f)), *span),
            Term::WhileBelow(count, body, span) => Term::WhileBelow(count.map(f), Box::new(body.map(f)), *span),
            Term::Call(process, args, span) => Term::Call(*process, args.iter().map(f).collect(), *span),
        }
    }

    /// Visits every expression in it.
    pub fn expressions(&self, visit: &mut dyn FnMut(&Expr)) {
        let _ = self.map(&mut |e| {
            visit(e);
            e.clone()
        });
    }

    /// Visits this term and all inside.
    pub fn visit(&self, visit: &mut dyn FnMut(&Term)) {
        visit(self);
        match self {
            Term::Skip | Term::Delay(..) | Term::Use { .. } | Term::Event { .. } | Term::Call(..) => {}
            Term::Sequence(all) | Term::Parallel(all) => all.iter().for_each(|one| one.visit(visit)),
            Term::Seq(_, body) | Term::Par(_, body) | Term::WhileProb(_, body, _) | Term::WhileBelow(_, body, _) => {
                body.visit(visit);
            }
            Term::If(_, then, otherwise) => {
                then.visit(visit);
                otherwise.visit(visit);
            }
            Term::Choose(cases, _) => cases.iter().for_each(|(_, term)| term.visit(visit)),
        }
    }
}

impl Range {
    #[must_use]
    pub fn map(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Range {
        Range { variable: self.variable.clone(), lo: f(&self.lo), hi: f(&self.hi), span: self.span }
    }
}
