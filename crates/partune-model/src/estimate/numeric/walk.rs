//! The walk over a compiled term: every leaf instance once, a loop whose body does not mention its variable once, a call with the same
//! arguments once.

use std::collections::BTreeMap;
use std::rc::Rc;

use partune_expr::Rat;

use super::super::error;
use super::cost::{Cost, Demand};
use super::node::{Drawn, Node};
use super::scalar::Scalar;
use crate::code::{Quantity, Value};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::Process;
use crate::shape::Shape;

/// Leaves that one estimate may visit.
pub(super) const BUDGET: u64 = 100_000_000;

/// Terms inside each other that one walk goes into, those of calls too: as many as [`STACK`] holds without optimisation.
const DEEPEST: u32 = 10_000;
pub(super) const STACK: usize = 96 << 20;

/// A resource: the number of its first queue, its indices, servers behind each queue.
pub(super) struct Queues<S> {
    pub(super) first: i64,
    pub(super) shape: Shape,
    pub(super) servers: S,
}

/// How far a walk goes.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Of each loop, so many turns at its begin and as many at its end are walked.
    pub(super) ends: i64,
    /// Calls inside each other.
    pub(super) calls: u32,
}

/// A walk over a term: what variables are, and what calls cost that were walked already.
pub(super) struct Walk<'a, S> {
    pub(super) resources: Vec<Queues<S>>,
    pub(super) events: Vec<Shape>,
    pub(super) processes: &'a [Process],
    pub(super) bodies: &'a [Node],
    pub(super) slots: usize,
    pub(super) variables: Vec<i64>,
    /// Steps that may be taken; none are left once the walk gave up.
    pub(super) left: u64,
    pub(super) limits: Limits,
    /// Whether processes wait for each other's events, so that no two may ever work at a time, however many servers there are.
    pub(super) awaits: bool,
    /// Calls inside each other, and terms.
    pub(super) calls: u32,
    pub(super) depth: u32,
    pub(super) known: BTreeMap<(usize, Vec<i64>), Rc<Cost<S>>>,
}

impl<S: Scalar> Walk<'_, S> {
    fn step(&mut self) -> Result<(), Diagnostic> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            let text = format!("the estimate takes more than {BUDGET} steps by enumeration");
            return Err(Diagnostic::error(Span::default(), text).help("a smaller case, or a model with a closed form"));
        }
        Ok(())
    }

    fn quantity(&self, value: &Value, span: Span) -> Result<Quantity, Diagnostic> {
        value.eval(&self.variables).map_err(|reason| error(span, &reason))
    }

    /// The mean of a draw, and what no draw is below.
    fn drawn(&self, values: &[Value], drawn: &Drawn, span: Span) -> Result<(S, S), Diagnostic> {
        let at = |position: usize| match values.get(position) {
            Some(value) => {
                let quantity = self.quantity(value, span)?;
                if quantity.is_negative() {
                    return Err(Diagnostic::error(span, format!("a negative duration: {}", quantity.to_f64())));
                }
                Ok(S::new(quantity))
            }
            None => Ok(S::int(0)),
        };
        let constant = |value: &Rat| S::new(Quantity::of(*value));
        let zero = S::int(0);
        Ok(match drawn {
            Drawn::Fixed => (at(0)?, at(0)?),
            Drawn::Exponential | Drawn::First => (at(0)?, zero),
            Drawn::Second => (at(1)?, zero),
            Drawn::Middle => (at(0)?.add(at(1)?).div(S::int(2)), at(0)?),
            Drawn::Constant(mean, least) => (constant(mean), constant(least)),
        })
    }

    /// A time without queues.
    fn time(&self, values: &[Value], drawn: &Drawn, span: Span) -> Result<Cost<S>, Diagnostic> {
        let (time, sure) = self.drawn(values, drawn, span)?;
        Ok(Cost {
            basic: time,
            head_tail: time,
            sure,
            drawn: if matches!(drawn, Drawn::Exponential) { time } else { S::int(0) },
            random: !matches!(drawn, Drawn::Fixed),
            path: time,
            ..Cost::zero()
        })
    }

    fn chance(&self, value: &Value, span: Span) -> Result<S, Diagnostic> {
        let quantity = self.quantity(value, span)?;
        if !(0.0..=1.0).contains(&quantity.to_f64()) {
            return Err(Diagnostic::error(span, format!("{} is no probability", quantity.to_f64())));
        }
        Ok(S::new(quantity))
    }

    pub(super) fn node(&mut self, node: &Node) -> Result<Cost<S>, Diagnostic> {
        self.step()?;
        if self.depth >= DEEPEST {
            self.left = 0;
            let text = format!("more than {DEEPEST} terms inside each other, in {} calls", self.calls);
            return Err(Diagnostic::error(Span::default(), text).help(Process::LET_IT_END));
        }
        self.depth += 1;
        let cost = self.part(node);
        self.depth -= 1;
        cost
    }

    fn part(&mut self, node: &Node) -> Result<Cost<S>, Diagnostic> {
        let mut cost = Cost::zero();
        match node {
            Node::Skip => {}
            Node::Event { event, index, span } => {
                self.events[*event].offset(index, &self.variables, *span)?;
            }
            Node::Delay(values, drawn, span) => {
                let one = self.time(values, drawn, *span)?;
                cost = if self.awaits { Cost { work: one.path, path: S::int(0), ..one } } else { one };
            }
            Node::Use { resource, index, duration, drawn, span } => {
                let one = self.time(duration, drawn, *span)?;
                let work = one.basic;
                if work > S::int(0) || work.number().is_none() {
                    let queue = self.queue(*resource, index, *span)?;
                    let servers = self.resources[*resource].servers;
                    let (own, none) = (if self.awaits { work } else { work.div(servers) }, S::int(0));
                    cost = Cost { work: own, path: work.sub(own), ..one };
                    let ends =
                        Demand { work, head: none, head_drawn: none, tail_drawn: none, reach: one.sure, servers };
                    cost.demands.insert(queue, ends);
                }
            }
            Node::Sequence(all) => {
                for one in all {
                    let next = self.node(one)?;
                    cost.then(next);
                }
            }
            Node::Parallel(all) => {
                for one in all {
                    let next = self.node(one)?;
                    cost.beside(next, S::int(1));
                }
                cost = cost.joined();
            }
            Node::Loop { parallel, slot, lo, hi, body, constant, span } => {
                let int = |value: &Value| value.int(&self.variables).map_err(|reason| error(*span, &reason));
                let (lo, hi) = (int(lo)?, int(hi)?);
                if lo > hi {
                    return Ok(cost);
                }
                let count = S::int(hi).sub(S::int(lo)).add(S::int(1));
                if *constant {
                    self.variables[*slot] = lo;
                    let one = self.node(body)?;
                    if !parallel {
                        return Ok(one.times(count));
                    }
                    cost.beside(one, count);
                    return Ok(cost.joined());
                }
                for value in turns(lo, hi, self.limits.ends) {
                    self.variables[*slot] = value;
                    let next = self.node(body)?;
                    if *parallel { cost.beside(next, S::int(1)) } else { cost.then(next) }
                }
                if *parallel {
                    cost = cost.joined();
                }
            }
            Node::If(test, then, otherwise) => {
                let holds = test.eval(&self.variables).map_err(|reason| error(Span::default(), &reason))?;
                return self.node(if holds { then } else { otherwise });
            }
            Node::Choose(cases, span) => {
                for (position, (chance, case)) in cases.iter().enumerate() {
                    let chance = self.chance(chance, *span)?;
                    let next = self.node(case)?;
                    cost.mixed(next, chance, position == 0);
                }
                let sure = cost.sure;
                cost.settle(sure);
            }
            Node::Times(values, drawn, body, span) => {
                let (mean, _) = self.drawn(values, drawn, *span)?;
                let random = !matches!(drawn, Drawn::Fixed);
                let times = if random { mean } else { mean.ceil() };
                if times > S::int(0) || times.number().is_none() {
                    cost = self.node(body)?.times(times);
                    if random {
                        cost.settle(S::int(0));
                    }
                }
            }
            Node::Chance(chance, body, span) => {
                let again = self.chance(chance, *span)?;
                if again >= S::int(1) {
                    return Err(Diagnostic::error(*span, "this loop never ends"));
                }
                let times = again.div(S::int(1).sub(again));
                if times > S::int(0) {
                    cost = self.node(body)?.times(times);
                    cost.settle(S::int(0));
                }
            }
            Node::Call(process, args, span) => return self.call(*process, args, *span),
        }
        Ok(cost)
    }

    fn queue(&self, resource: usize, index: &[Value], span: Span) -> Result<i64, Diagnostic> {
        let Queues { first, shape, .. } = &self.resources[resource];
        Ok(first.saturating_add(shape.offset(index, &self.variables, span)?))
    }

    fn call(&mut self, process: usize, args: &[Value], span: Span) -> Result<Cost<S>, Diagnostic> {
        let mut values = Vec::new();
        for arg in args {
            values.push(arg.int(&self.variables).map_err(|reason| error(span, &reason))?);
        }
        let key = (process, values);
        if let Some(known) = self.known.get(&key) {
            return Ok(Cost::clone(known));
        }
        if self.calls >= self.limits.calls {
            self.left = 0;
            return Err(self.processes[process].too_deep(self.limits.calls, span));
        }
        let mut inner = vec![0; self.slots];
        inner.iter_mut().zip(&key.1).for_each(|(slot, value)| *slot = *value);
        let outer = std::mem::replace(&mut self.variables, inner);
        self.calls += 1;
        let bodies = self.bodies;
        let cost = self.node(&bodies[process]);
        self.calls -= 1;
        self.variables = outer;
        let cost = cost?;
        self.known.insert(key, Rc::new(cost.clone()));
        Ok(cost)
    }
}

/// All turns of a loop, or so many at each end.
fn turns(lo: i64, hi: i64, ends: i64) -> impl Iterator<Item = i64> {
    let first = lo.saturating_add(ends - 1).min(hi);
    let last = hi.saturating_sub(ends - 1).max(first.saturating_add(1));
    (lo..=first).chain((first < hi).then_some(last..=hi).into_iter().flatten())
}
