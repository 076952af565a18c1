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

use self::node::Build;
use self::scalar::Scalar;
use self::walk::{BUDGET, Shape, Walk};
use super::{Bounds, error};
use crate::code::{Compiler, Slots};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Model, Term};

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
        awaits: model.awaits(term),
        depth: 0,
        known: BTreeMap::new(),
    };
    let cost = walk.node(&node)?;
    let upper = cost.work.add(cost.path);
    let (basic, head_tail, upper) = (cost.basic.number(), cost.head_tail.number(), upper.number());
    Ok((|| Some(Bounds { basic: basic?, head_tail: head_tail?, upper: upper?, random: cost.random }))())
}
