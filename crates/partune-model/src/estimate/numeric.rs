//! The bounds by enumeration, for models with all parameters given: first with fractions, then, if those do not hold, with doubles.
//!
//! Cost: the number of leaf instances; a loop whose body does not mention its variable counts once.

mod cost;
mod node;
mod scalar;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use partune_expr::{Expr, Rat, Symbol};

use self::cost::Cost;
use self::node::Build;
use self::scalar::Scalar;
use self::walk::{BUDGET, Limits, Queues, STACK, Walk};
use super::{Bounds, error};
use crate::code::{Compiler, Slots};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Model, Term};
use crate::shape::Shape;

const ALL: Limits = Limits { ends: i64::MAX, calls: 400 };
/// What is looked at to find what is wrong with a term, and in how many steps.
const FEW: Limits = Limits { ends: 8, calls: 64 };
const LOOK: u64 = 100_000;
/// Steps that are worth it where the formula has too large numbers, which mostly is for so many turns.
const FEW_STEPS: u64 = 1_000_000;

/// The bounds of a term by enumeration.
pub fn bounds(model: &Model, term: &Term) -> Result<Bounds, Diagnostic> {
    if let Some(param) = model.open().next() {
        return Err(
            Diagnostic::error(param.span, format!("no value for {}", param.name)).help("give it with -D NAME=VALUE")
        );
    }
    let mut left = BUDGET;
    within(model, term, &mut left)
}

/// The same in few steps; none if those are not enough.
pub(super) fn bounds_of_few(model: &Model, term: &Term) -> Result<Option<Bounds>, Diagnostic> {
    let mut left = FEW_STEPS;
    let found = within(model, term, &mut left);
    if left == 0 { Ok(None) } else { found.map(Some) }
}

/// What a run of a term would meet that is wrong, such as an index that does not exist, or a time below zero: as far as a short walk sees it, to
/// both ends of loops, where what is affine is least and greatest. None if parameters are open.
pub fn fault(model: &Model, term: &Term) -> Option<Diagnostic> {
    if model.open().next().is_some() {
        return None;
    }
    let mut left = LOOK;
    let found = walk::<Rat>(model, term, FEW, &mut left).err();
    found.filter(|_| left > 0)
}

fn within(model: &Model, term: &Term, left: &mut u64) -> Result<Bounds, Diagnostic> {
    let steps = *left;
    if let Some(bounds) = attempt::<Rat>(model, term, left)? {
        return Ok(bounds);
    }
    *left = steps;
    let too_large = || Diagnostic::error(Span::default(), "times are too large");
    attempt::<f64>(model, term, left)?.ok_or_else(too_large)
}

fn attempt<S: Scalar>(model: &Model, term: &Term, left: &mut u64) -> Result<Option<Bounds>, Diagnostic> {
    let cost = walk::<S>(model, term, ALL, left)?;
    let upper = cost.work.add(cost.path);
    let (basic, head_tail, upper) = (cost.basic.number(), cost.head_tail.number(), upper.number());
    Ok((|| Some(Bounds { basic: basic?, head_tail: head_tail?, upper: upper?, random: cost.random }))())
}

/// What a term costs, as far as the limits let it be seen. No steps are left if the walk gave up.
///
/// Processes that call themselves go deeper than the stack that a caller may have: they are walked on one of their own.
fn walk<S: Scalar>(model: &Model, term: &Term, limits: Limits, left: &mut u64) -> Result<Cost<S>, Diagnostic> {
    if model.processes.is_empty() {
        return walk_here(model, term, limits, left);
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn_scoped(scope, || walk_here(model, term, limits, left)).map_err(|reason| {
            let text = format!("no stack of {} MiB for processes that call themselves: {reason}", STACK >> 20);
            Diagnostic::error(Span::default(), text).help("allow more memory (`ulimit -v`)")
        })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn walk_here<S: Scalar>(model: &Model, term: &Term, limits: Limits, left: &mut u64) -> Result<Cost<S>, Diagnostic> {
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
    let mut resources = Vec::new();
    let mut total: i64 = 0;
    for resource in &model.resources {
        let int = |e: &Expr| e.eval_int(&|_: &Symbol| None).map_err(|reason| error(resource.span, &reason));
        let shape = Shape::new(&resource.name, &resource.dimensions, resource.span)?;
        let count = shape.count().and_then(|count| i64::try_from(count).ok()).unwrap_or(i64::MAX);
        let servers = resource.servers.as_ref().map_or(Ok(1), int)?.max(1);
        resources.push(Queues { first: total, shape, servers: S::int(servers) });
        total = total.saturating_add(count);
    }
    let events = model.events.iter().map(|event| Shape::new(&event.name, &event.dimensions, event.span));
    let mut walk = Walk {
        resources,
        events: events.collect::<Result<_, _>>()?,
        processes: &model.processes,
        bodies: &build.bodies,
        slots: build.highest.max(1),
        variables: vec![0; build.highest.max(1)],
        left: *left,
        limits,
        awaits: model.awaits(term),
        calls: 0,
        depth: 0,
        known: BTreeMap::new(),
    };
    let cost = walk.node(&node);
    *left = walk.left;
    cost
}
