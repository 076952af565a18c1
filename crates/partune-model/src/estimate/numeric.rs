//! The bounds by enumeration, for models with all parameters given.
//!
//! Cost: the number of leaf instances; a loop whose body does not mention its variable counts once.

use std::collections::BTreeMap;
use std::ops::{Add, Div, Mul, Sub};
use std::rc::Rc;
use std::sync::Arc;

use partune_expr::{Expr, Number, Rat, Symbol};

use super::{Bounds, error};
use crate::code::{Compiler, Quantity, Slots, Test, Value};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Model, Range, Term};

/// Leaves that one estimate may visit.
const BUDGET: u64 = 100_000_000;
const DEPTH: u32 = 400;

/// Exact or rounded numbers.
trait Scalar:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn new(quantity: Quantity) -> Self;
    fn number(self) -> Option<Number>;

    fn int(value: i64) -> Self {
        Self::new(Quantity::Ratio { num: value, den: 1 })
    }

    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Scalar for Rat {
    fn new(quantity: Quantity) -> Rat {
        match quantity {
            Quantity::Ratio { num, den } => Rat::new(num.into(), den.into()),
            // Sends the caller to doubles.
            Quantity::Real(_) => Rat::UNDEFINED,
        }
    }
    fn number(self) -> Option<Number> {
        (!self.is_undefined()).then_some(Number::Exact(self))
    }
    // What is undefined stays so.
    fn max(self, other: Rat) -> Rat {
        if self.is_undefined() || other.is_undefined() { Rat::UNDEFINED } else { Ord::max(self, other) }
    }
    fn min(self, other: Rat) -> Rat {
        if self.is_undefined() || other.is_undefined() { Rat::UNDEFINED } else { Ord::min(self, other) }
    }
}

impl Scalar for f64 {
    fn new(quantity: Quantity) -> f64 {
        quantity.to_f64()
    }
    fn number(self) -> Option<Number> {
        self.is_finite().then_some(Number::Approx(self))
    }
}

/// The bounds of a term by enumeration.
pub fn bounds(model: &Model, term: &Term) -> Result<Bounds, Diagnostic> {
    if let Some(param) = model.open().next() {
        return Err(
            Diagnostic::error(param.span, format!("no value for {}", param.name)).help("give it with -D NAME=VALUE")
        );
    }
    if let Some(bounds) = attempt::<Rat>(model, term)? {
        return Ok(bounds);
    }
    let too_large = || Diagnostic::error(Span::default(), "times are too large");
    attempt::<f64>(model, term)?.ok_or_else(too_large)
}

fn attempt<S: Scalar>(model: &Model, term: &Term) -> Result<Option<Bounds>, Diagnostic> {
    let tables = Arc::new(model.tables.clone());
    let mut build =
        Build { compiler: Compiler { slots: Slots::new(), tables: &tables }, highest: 0, bodies: Vec::new() };
    for process in &model.processes {
        let outer = std::mem::take(&mut build.compiler.slots);
        for param in &process.params {
            build.slot(param);
        }
        let body = build.node(&process.body);
        build.bodies.push(body);
        build.compiler.slots = outer;
    }
    let node = build.node(term);
    let none = |_: &Symbol| None;
    let mut resources = Vec::new();
    let mut total: i64 = 0;
    for resource in &model.resources {
        let int = |e: &Expr| e.eval_int(&none).map_err(|reason| error(resource.span, &reason));
        let mut dimensions = Vec::new();
        let mut count: i64 = 1;
        for (lo, hi) in &resource.dimensions {
            let (lo, hi) = (int(lo)?, int(hi)?);
            dimensions.push((lo, hi));
            count = count.saturating_mul((hi.saturating_sub(lo)).saturating_add(1).max(0));
        }
        let servers = resource.servers.as_ref().map_or(Ok(1), int)?.max(1);
        resources.push(Shape { first: total, dimensions, servers: S::int(servers) });
        total = total.saturating_add(count);
    }
    let mut walk = Walk {
        resources,
        bodies: &build.bodies,
        slots: build.highest.max(1),
        variables: vec![0; build.highest.max(1)],
        left: BUDGET,
        depth: 0,
        known: BTreeMap::new(),
    };
    let cost = walk.node(&node)?;
    let upper = cost.work.add(cost.path);
    Ok((|| Some(Bounds { basic: cost.basic.number()?, head_tail: cost.head_tail.number()?, upper: upper.number()? }))())
}

/// A term with compiled values.
enum Node {
    Skip,
    Delay(Vec<Value>, Mean, Span),
    Use {
        resource: usize,
        index: Vec<Value>,
        duration: Vec<Value>,
        mean: Mean,
        span: Span,
    },
    Sequence(Vec<Node>),
    Parallel(Vec<Node>),
    Loop {
        parallel: bool,
        slot: usize,
        lo: Value,
        hi: Value,
        body: Box<Node>,
        constant: bool,
        span: Span,
    },
    If(Test, Box<Node>, Box<Node>),
    Choose(Vec<(Value, Node)>, Span),
    /// The last says that the number is drawn.
    Times(Vec<Value>, Mean, Box<Node>, Span, bool),
    Chance(Value, Box<Node>, Span),
    Call(usize, Vec<Value>, Span),
}

/// How the mean follows from the values of a distribution.
#[derive(Clone)]
enum Mean {
    First,
    Second,
    Middle,
    Constant(Rat),
}

struct Build<'a> {
    compiler: Compiler<'a>,
    highest: usize,
    bodies: Vec<Node>,
}

impl Build<'_> {
    fn slot(&mut self, variable: &Symbol) -> usize {
        let slot = self.compiler.slots.len();
        self.compiler.slots.insert(variable.clone(), slot as u16);
        self.highest = self.highest.max(slot + 1);
        slot
    }

    fn draw(&self, draw: &crate::model::Draw) -> (Vec<Value>, Mean) {
        use crate::model::Draw;
        let mean = match draw {
            Draw::Fixed(_) | Draw::Exponential { .. } | Draw::Normal { .. } => Mean::First,
            Draw::Uniform { .. } => Mean::Middle,
            Draw::Erlang { .. } => Mean::Second,
            Draw::Empirical(_) => Mean::Constant(draw.mean().to_rat().unwrap_or(Rat::UNDEFINED)),
        };
        (draw.parts().into_iter().map(|e| self.compiler.value(e)).collect(), mean)
    }

    fn node(&mut self, term: &Term) -> Node {
        match term {
            Term::Skip => Node::Skip,
            Term::Delay(duration, span) => {
                let (values, mean) = self.draw(duration);
                Node::Delay(values, mean, *span)
            }
            Term::Use { resource, index, duration, span } => {
                let (duration, mean) = self.draw(duration);
                let index = index.iter().map(|e| self.compiler.value(e)).collect();
                Node::Use { resource: *resource, index, duration, mean, span: *span }
            }
            Term::Sequence(all) => Node::Sequence(all.iter().map(|one| self.node(one)).collect()),
            Term::Parallel(all) => Node::Parallel(all.iter().map(|one| self.node(one)).collect()),
            Term::Seq(range, body) => self.each(false, range, body),
            Term::Par(range, body) => self.each(true, range, body),
            Term::If(condition, then, otherwise) => {
                let test = self.compiler.test(condition);
                Node::If(test, Box::new(self.node(then)), Box::new(self.node(otherwise)))
            }
            Term::Choose(cases, span) => {
                let cases = cases.iter().map(|(chance, term)| (self.compiler.value(chance), self.node(term))).collect();
                Node::Choose(cases, *span)
            }
            Term::WhileProb(chance, body, span) => {
                Node::Chance(self.compiler.value(chance), Box::new(self.node(body)), *span)
            }
            Term::WhileBelow(count, body, span) => {
                let (values, mean) = self.draw(count);
                Node::Times(values, mean, Box::new(self.node(body)), *span, count.is_random())
            }
            Term::Call(process, args, span) => {
                Node::Call(*process, args.iter().map(|e| self.compiler.value(e)).collect(), *span)
            }
        }
    }

    fn each(&mut self, parallel: bool, range: &Range, body: &Term) -> Node {
        let (lo, hi) = (self.compiler.value(&range.lo), self.compiler.value(&range.hi));
        let slot = self.slot(&range.variable);
        let node = self.node(body);
        self.compiler.slots.remove(&range.variable);
        let mut constant = true;
        body.expressions(&mut |e| constant &= !e.mentions(&range.variable));
        Node::Loop { parallel, slot, lo, hi, body: Box::new(node), constant, span: range.span }
    }
}

struct Shape<S> {
    first: i64,
    dimensions: Vec<(i64, i64)>,
    servers: S,
}

/// What a term asks of one queue: work, earliest begin of a use from the start of the term, and latest end of one, as a place before the
/// end: the tail is the time of the term minus this.
#[derive(Clone, Copy)]
struct Demand<S> {
    work: S,
    head: S,
    reach: S,
    servers: S,
}

/// The cost of a term: the two lower bounds, its demands by queue, all work over servers, and the longest chain of uninterrupted waits.
#[derive(Clone)]
struct Cost<S> {
    basic: S,
    head_tail: S,
    work: S,
    path: S,
    demands: BTreeMap<i64, Demand<S>>,
}

impl<S: Scalar> Cost<S> {
    fn zero() -> Self {
        let zero = S::int(0);
        Cost { basic: zero, head_tail: zero, work: zero, path: zero, demands: BTreeMap::new() }
    }

    fn then(&mut self, next: Cost<S>) {
        for (queue, mut demand) in next.demands {
            demand.head = demand.head.add(self.head_tail);
            demand.reach = demand.reach.add(self.head_tail);
            self.demands
                .entry(queue)
                .and_modify(|own| {
                    own.work = own.work.add(demand.work);
                    own.reach = own.reach.max(demand.reach);
                })
                .or_insert(demand);
        }
        self.basic = self.basic.add(next.basic);
        self.head_tail = self.head_tail.add(next.head_tail);
        self.work = self.work.add(next.work);
        self.path = self.path.add(next.path);
    }

    /// Beside another; `reach` holds the negated tail until `joined`.
    fn beside(&mut self, next: Cost<S>, times: S) {
        for (queue, demand) in next.demands {
            let tail = next.head_tail.sub(demand.reach);
            let work = demand.work.mul(times);
            self.demands
                .entry(queue)
                .and_modify(|own| {
                    own.work = own.work.add(work);
                    own.head = own.head.min(demand.head);
                    own.reach = own.reach.min(tail);
                })
                .or_insert(Demand { work, reach: tail, ..demand });
        }
        self.basic = self.basic.max(next.basic);
        self.head_tail = self.head_tail.max(next.head_tail);
        self.work = self.work.add(next.work.mul(times));
        self.path = self.path.max(next.path);
    }

    /// All branches are in: the work of resources bounds the time.
    fn joined(mut self) -> Self {
        for demand in self.demands.values() {
            let own = demand.work.div(demand.servers);
            self.basic = self.basic.max(own);
            self.head_tail = self.head_tail.max(demand.head.add(own).add(demand.reach));
        }
        for demand in self.demands.values_mut() {
            demand.reach = self.head_tail.sub(demand.reach);
        }
        self
    }

    /// So many times in a row.
    fn times(mut self, times: S) -> Self {
        let extra = self.head_tail.mul(times).sub(self.head_tail);
        for demand in self.demands.values_mut() {
            demand.work = demand.work.mul(times);
            demand.reach = demand.reach.add(extra);
        }
        self.basic = self.basic.mul(times);
        self.head_tail = self.head_tail.mul(times);
        self.work = self.work.mul(times);
        self.path = self.path.mul(times);
        self
    }
}

struct Walk<'a, S> {
    resources: Vec<Shape<S>>,
    bodies: &'a [Node],
    slots: usize,
    variables: Vec<i64>,
    left: u64,
    depth: u32,
    known: BTreeMap<(usize, Vec<i64>), Rc<Cost<S>>>,
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

    fn mean(&self, values: &[Value], mean: &Mean, span: Span) -> Result<S, Diagnostic> {
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
        Ok(match mean {
            Mean::First => at(0)?,
            Mean::Second => at(1)?,
            Mean::Middle => at(0)?.add(at(1)?).div(S::int(2)),
            Mean::Constant(value) => {
                let ratio = i64::try_from(value.num()).ok().zip(i64::try_from(value.den()).ok());
                S::new(ratio.map_or(Quantity::Real(value.to_f64()), |(num, den)| Quantity::Ratio { num, den }))
            }
        })
    }

    fn chance(&self, value: &Value, span: Span) -> Result<S, Diagnostic> {
        let quantity = self.quantity(value, span)?;
        if !(0.0..=1.0).contains(&quantity.to_f64()) {
            return Err(Diagnostic::error(span, format!("{} is no probability", quantity.to_f64())));
        }
        Ok(S::new(quantity))
    }

    fn node(&mut self, node: &Node) -> Result<Cost<S>, Diagnostic> {
        self.step()?;
        let mut cost = Cost::zero();
        match node {
            Node::Skip => {}
            Node::Delay(values, mean, span) => {
                let time = self.mean(values, mean, *span)?;
                cost = Cost { basic: time, head_tail: time, path: time, ..cost };
            }
            Node::Use { resource, index, duration, mean, span } => {
                let time = self.mean(duration, mean, *span)?;
                if time > S::int(0) || time.number().is_none() {
                    let queue = self.queue(*resource, index, *span)?;
                    let servers = self.resources[*resource].servers;
                    let own = time.div(servers);
                    cost = Cost { basic: time, head_tail: time, work: own, path: time.sub(own), ..cost };
                    cost.demands.insert(queue, Demand { work: time, head: S::int(0), reach: time, servers });
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
                let count = S::int(hi.saturating_sub(lo).saturating_add(1));
                if *constant {
                    self.variables[*slot] = lo;
                    let one = self.node(body)?;
                    if !parallel {
                        return Ok(one.times(count));
                    }
                    cost.beside(one, count);
                    return Ok(cost.joined());
                }
                for value in lo..=hi {
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
                for (chance, case) in cases {
                    let chance = self.chance(chance, *span)?;
                    let next = self.node(case)?;
                    cost.mixed(next, chance);
                }
                cost.settle();
            }
            Node::Times(values, mean, body, span, drawn) => {
                let times = self.mean(values, mean, *span)?;
                if times > S::int(0) || times.number().is_none() {
                    let mut cost = self.node(body)?.times(times);
                    if *drawn {
                        cost.settle();
                    }
                    return Ok(cost);
                }
            }
            Node::Chance(chance, body, span) => {
                let again = self.chance(chance, *span)?;
                if again >= S::int(1) {
                    return Err(Diagnostic::error(*span, "this loop never ends"));
                }
                let times = again.div(S::int(1).sub(again));
                if times > S::int(0) {
                    let mut one = self.node(body)?.times(times);
                    one.settle();
                    return Ok(one);
                }
            }
            Node::Call(process, args, span) => return self.call(*process, args, *span),
        }
        Ok(cost)
    }

    fn queue(&self, resource: usize, index: &[Value], span: Span) -> Result<i64, Diagnostic> {
        let shape = &self.resources[resource];
        let mut position: i64 = 0;
        for (value, (lo, hi)) in index.iter().zip(&shape.dimensions) {
            let at = value.int(&self.variables).map_err(|reason| error(span, &reason))?;
            if at < *lo || at > *hi {
                return Err(Diagnostic::error(span, format!("an index of {at}, outside of {lo} to {hi}")));
            }
            position = position.saturating_mul(hi - lo + 1).saturating_add(at - lo);
        }
        Ok(shape.first.saturating_add(position))
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
        if self.depth >= DEPTH {
            return Err(Diagnostic::error(span, format!("more than {DEPTH} calls inside each other")));
        }
        let mut inner = vec![0; self.slots];
        inner.iter_mut().zip(&key.1).for_each(|(slot, value)| *slot = *value);
        let outer = std::mem::replace(&mut self.variables, inner);
        self.depth += 1;
        let bodies = self.bodies;
        let cost = self.node(&bodies[process]);
        self.depth -= 1;
        self.variables = outer;
        let cost = cost?;
        self.known.insert(key, Rc::new(cost.clone()));
        Ok(cost)
    }
}

impl<S: Scalar> Cost<S> {
    /// A case of a choice; `reach` holds tails until `settle`.
    fn mixed(&mut self, next: Cost<S>, chance: S) {
        for (queue, demand) in next.demands {
            let tail = next.head_tail.sub(demand.reach);
            let work = demand.work.mul(chance);
            self.demands
                .entry(queue)
                .and_modify(|own| {
                    own.work = own.work.add(work);
                    own.head = own.head.min(demand.head);
                    own.reach = own.reach.min(tail);
                })
                .or_insert(Demand { work, reach: tail, ..demand });
        }
        self.basic = self.basic.add(next.basic.mul(chance));
        self.head_tail = self.head_tail.add(next.head_tail.mul(chance));
        self.work = self.work.add(next.work.mul(chance));
        self.path = self.path.add(next.path.mul(chance));
    }

    /// Where chance decides, a resource may not be used at all: then no head and no tail is certain.
    fn settle(&mut self) {
        for demand in self.demands.values_mut() {
            demand.head = S::int(0);
            demand.reach = self.head_tail;
        }
    }
}
