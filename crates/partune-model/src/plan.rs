//! The cheapest way through a plan: an alternative for each phase, and where data are redistributed. Exact.
//!
//! Between phases data are in one of a few mappings. What a part of a plan takes is a table by the mapping before it and the one after it. Tables of parts
//! that follow each other multiply as matrices do, with the sum in the place of the product and the least in the place of the sum: dynamic
//! programming. A loop of S turns is the S-th power of its body's table, by squaring, so its turns may differ from each other: in ADI the last
//! sweep may redistribute where none before it does. Costs add up because each phase ends before the next one begins. Of equally cheap ways that with the
//! fewest redistributions is taken.
//!
//! Source: van Gemund, the decision whether to remap; R. Bellman, for the principle.

mod alike;
mod fold;

use partune_expr::{Expr, Number, Rat};

use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::estimate::Given;
use crate::model::{Model, Plan, Planned, Range, Redistribution, Term};

pub use self::alike::with_plans;
pub use self::fold::{Fold, fold};

/// Turns of a loop that are told one by one before they are folded.
const MAX_TURNS: u64 = 1_000_000;

/// What a term takes.
pub type Cost<'a> = &'a mut dyn FnMut(&Term) -> Result<Number, Diagnostic>;

/// A plan with its choices.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// All of it.
    pub cost: Number,
    /// What is in no phase, which nothing is chosen for.
    pub others: Number,
    pub acts: Vec<Act>,
    /// What each alternative of a phase takes, by the phases of the model; empty for those that are not in the plan.
    pub options: Vec<Vec<(usize, Number)>>,
    /// By the mappings of the model: the plan with all phases in that mapping, with what it takes to get there first and to where data must be last;
    /// none where a phase cannot be done in it.
    pub stays: Vec<Option<Number>>,
}

#[derive(Clone, Debug)]
pub enum Act {
    /// An alternative of a phase, by its position in the model.
    Run {
        alternative: usize,
        cost: Number,
    },
    /// By its position in the model.
    Redistribute {
        redistribution: usize,
        cost: Number,
    },
    /// Turns of a loop, from the first to the last value of its variable: these turns, again and again.
    Turns {
        range: Range,
        first: i64,
        last: i64,
        turns: Vec<Vec<Act>>,
    },
    Other(Term),
}

/// A cost, and how often data are redistributed for it.
type Value = Option<(Number, u64)>;

struct Node {
    /// By the mapping before and after.
    table: Vec<Value>,
    how: How,
}

enum How {
    Nothing,
    /// The alternative, by the mapping before and after.
    Phase(Vec<usize>),
    Other(Term),
    /// Two nodes, and the mapping between them.
    Then(usize, usize, Vec<usize>),
    /// The first value of the variable; the body, and it as often as there are turns.
    Turns {
        range: Range,
        first: i64,
        body: usize,
        all: usize,
    },
    Redistribute,
}

struct Planner<'a> {
    model: &'a Model,
    /// How many mappings there are, one where nothing depends on it.
    size: usize,
    nodes: Vec<Node>,
    alternatives: Vec<Option<Number>>,
    redistributions: Vec<Number>,
    /// The cheapest way from a mapping to another, and its first redistribution.
    ways: Vec<Value>,
    first: Vec<usize>,
}

/// Chooses. All parameters of the model must have values.
pub fn plan(model: &Model, plan: &Plan, cost: Cost<'_>) -> Result<Chosen, Diagnostic> {
    let undefined = |error: partune_expr::EvalError| Diagnostic::error(plan.span, error.to_string());
    let others = cost(&rest(&plan.body))?;
    let mut is_used = vec![false; model.phases.len()];
    plan.body.visit(&mut |phase| is_used[phase] = true);
    let mut alternatives = Vec::new();
    for it in &model.alternatives {
        let is_wanted = it.stage.is_some_and(|stage| is_used[stage.phase]);
        alternatives.push(if is_wanted { Some(cost(&it.term)?) } else { None });
    }
    let redistributions = model.redistributions.iter().map(|it| cost(&it.term)).collect::<Result<Vec<_>, _>>()?;
    let size = model.mappings.len().max(1);
    let mut planner = Planner {
        model,
        size,
        nodes: Vec::new(),
        alternatives,
        redistributions,
        ways: vec![None; size * size],
        first: vec![usize::MAX; size * size],
    };
    planner.find_ways().map_err(undefined)?;
    let stays = (0..model.mappings.len()).map(|mapping| planner.stay(plan, mapping, others).map_err(undefined));
    let stays = stays.collect::<Result<Vec<_>, _>>()?;
    let body = planner.part(&plan.body, None)?;
    let to = planner.push(planner.ways.clone(), How::Redistribute);
    let all = if plan.to.is_some() { planner.then(body, to).map_err(undefined)? } else { body };
    let is_end =
        |at: &usize| plan.from.is_none_or(|from| from == at / size) && plan.to.is_none_or(|to| to == at % size);
    let table = &planner.nodes[all].table;
    let best = (0..size * size).filter(is_end).filter_map(|at| Some((at, table[at]?)));
    let Some((at, (found, _))) = best.reduce(|best, other| if less(other.1, best.1) { other } else { best }) else {
        return Err(planner.no_way(plan));
    };
    let mut acts = Vec::new();
    planner.walk(all, at / size, at % size, &mut acts);
    let of = |phase: usize| {
        let all = model.alternatives.iter().zip(&planner.alternatives).enumerate();
        all.filter(move |(_, (it, _))| it.stage.is_some_and(|stage| stage.phase == phase))
            .filter_map(|(at, (_, cost))| Some((at, (*cost)?)))
            .collect()
    };
    let options = (0..model.phases.len()).map(of).collect();
    Ok(Chosen { cost: found.plus(others).map_err(undefined)?, others, acts, options, stays })
}

/// What was chosen as a term: for the simulator.
pub fn term(model: &Model, acts: &[Act]) -> Term {
    let one = |act: &Act| match act {
        Act::Run { alternative, .. } => model.alternatives[*alternative].term.clone(),
        Act::Redistribute { redistribution, .. } => model.redistributions[*redistribution].term.clone(),
        Act::Other(term) => term.clone(),
        Act::Turns { range, first, last, turns } => {
            let count = turns.len() as i64;
            let rounds =
                Range { lo: Expr::zero(), hi: Expr::number(Rat::from((last - first) / count)), ..range.clone() };
            let round = Expr::from(&range.variable).scale(Rat::from(count));
            let turn = |(at, acts): (usize, &Vec<Act>)| {
                term(model, acts).substitute(&range.variable, &(&round + Expr::number(Rat::from(first + at as i64))))
            };
            Term::Seq(rounds, Box::new(Term::Sequence(turns.iter().enumerate().map(turn).collect())))
        }
    };
    Term::Sequence(acts.iter().map(one).collect())
}

fn less((a, moves): (Number, u64), (b, more): (Number, u64)) -> bool {
    a.compare(b).then(moves.cmp(&more)).is_lt()
}

/// A plan without its phases.
fn rest(body: &Planned) -> Term {
    match body {
        Planned::Phase(_) => Term::Skip,
        Planned::Other(term) => term.clone(),
        Planned::Sequence(all) => crate::model::cost::joined(all.iter().map(rest).collect(), Term::Sequence),
        Planned::Seq(range, body) => match rest(body) {
            Term::Skip => Term::Skip,
            body => Term::Seq(range.clone(), Box::new(body)),
        },
    }
}

impl Planned {
    /// Visits phases, in their order.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Planned::Phase(phase) => visit(*phase),
            Planned::Other(_) => {}
            Planned::Sequence(all) => all.iter().for_each(|one| one.visit(visit)),
            Planned::Seq(_, body) => body.visit(visit),
        }
    }
}

type Sum<T> = Result<T, partune_expr::EvalError>;

impl Planner<'_> {
    /// The cheapest way between each two mappings, by way of others too.
    fn find_ways(&mut self) -> Sum<()> {
        let size = self.size;
        for (at, Redistribution { from, to, .. }) in self.model.redistributions.iter().enumerate() {
            self.ways[from * size + to] = Some((self.redistributions[at], 1));
            self.first[from * size + to] = at;
        }
        (0..size).for_each(|at| self.ways[at * size + at] = Some((Number::Exact(Rat::ZERO), 0)));
        for by in 0..size {
            for from in 0..size {
                for to in 0..size {
                    let found = sum(self.ways[from * size + by], self.ways[by * size + to])?;
                    let Some(found) = found else { continue };
                    if self.ways[from * size + to].is_none_or(|known| less(found, known)) {
                        self.ways[from * size + to] = Some(found);
                        self.first[from * size + to] = self.first[from * size + by];
                    }
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, table: Vec<Value>, how: How) -> usize {
        self.nodes.push(Node { table, how });
        self.nodes.len() - 1
    }

    fn nothing(&mut self) -> usize {
        let table = (0..self.size * self.size)
            .map(|at| (at / self.size == at % self.size).then_some((Number::Exact(Rat::ZERO), 0)));
        let table = table.collect();
        self.push(table, How::Nothing)
    }

    /// The table of a part; only with alternatives of one mapping, if one is given.
    fn part(&mut self, part: &Planned, only: Option<usize>) -> Result<usize, Diagnostic> {
        let undefined = |span, error: partune_expr::EvalError| Diagnostic::error(span, error.to_string());
        match part {
            Planned::Phase(phase) => self.phase(*phase, only).map_err(|error| undefined(Span::default(), error)),
            Planned::Other(term) => {
                let at = self.nothing();
                self.nodes[at].how = How::Other(term.clone());
                Ok(at)
            }
            // In halves, so that what walks through them does not go deep.
            Planned::Sequence(all) => match &all[..] {
                [] => Ok(self.nothing()),
                [one] => self.part(one, only),
                all => {
                    let (left, right) = all.split_at(all.len() / 2);
                    let left = self.part(&Planned::Sequence(left.to_vec()), only)?;
                    let right = self.part(&Planned::Sequence(right.to_vec()), only)?;
                    self.then(left, right).map_err(|error| undefined(Span::default(), error))
                }
            },
            Planned::Seq(range, body) => {
                let bound = |e: &Expr| e.eval_int(&Given(self.model)).map_err(|error| undefined(range.span, error));
                let (first, last) = (bound(&range.lo)?, bound(&range.hi)?);
                let turns = u64::try_from(i128::from(last) - i128::from(first) + 1).unwrap_or(0);
                if turns > MAX_TURNS {
                    let text = format!("a loop with phases has at most {MAX_TURNS} turns, not {turns}");
                    return Err(Diagnostic::error(range.span, text));
                }
                let body = self.part(body, only)?;
                let all = self.power(body, turns).map_err(|error| undefined(range.span, error))?;
                let table = self.nodes[all].table.clone();
                Ok(if turns == 0 {
                    all
                } else {
                    self.push(table, How::Turns { range: range.clone(), first, body, all })
                })
            }
        }
    }

    fn phase(&mut self, phase: usize, only: Option<usize>) -> Sum<usize> {
        let size = self.size;
        let mut table: Vec<Value> = vec![None; size * size];
        let mut chosen = vec![usize::MAX; size * size];
        for (at, it) in self.model.alternatives.iter().enumerate() {
            let Some(stage) = it.stage.filter(|stage| stage.phase == phase) else { continue };
            let Some(cost) = self.alternatives[at] else { continue };
            for before in (0..size).filter(|at| only.is_none_or(|only| only == *at)) {
                let (needs, leaves) = stage.mapping.unwrap_or((before, before));
                if only.is_some_and(|only| needs != only || leaves != only) {
                    continue;
                }
                let to = before * size + leaves;
                let found = sum(self.ways[before * size + needs], Some((cost, 0)))?;
                if let Some(found) = found
                    && table[to].is_none_or(|known| less(found, known))
                {
                    table[to] = Some(found);
                    chosen[to] = at;
                }
            }
        }
        Ok(self.push(table, How::Phase(chosen)))
    }

    fn then(&mut self, left: usize, right: usize) -> Sum<usize> {
        let size = self.size;
        let mut table: Vec<Value> = vec![None; size * size];
        let mut between = vec![usize::MAX; size * size];
        for from in 0..size {
            for by in 0..size {
                for to in 0..size {
                    let found = sum(self.nodes[left].table[from * size + by], self.nodes[right].table[by * size + to])?;
                    let Some(found) = found else { continue };
                    if table[from * size + to].is_none_or(|known| less(found, known)) {
                        table[from * size + to] = Some(found);
                        between[from * size + to] = by;
                    }
                }
            }
        }
        Ok(self.push(table, How::Then(left, right, between)))
    }

    /// So many turns, by squaring.
    fn power(&mut self, body: usize, mut turns: u64) -> Sum<usize> {
        let mut all: Option<usize> = None;
        let mut square = body;
        while turns > 0 {
            if turns % 2 == 1 {
                all = Some(match all {
                    None => square,
                    Some(all) => self.then(all, square)?,
                });
            }
            turns /= 2;
            if turns > 0 {
                square = self.then(square, square)?;
            }
        }
        Ok(all.unwrap_or_else(|| self.nothing()))
    }

    /// A plan that stays in one mapping.
    fn stay(&mut self, plan: &Plan, mapping: usize, others: Number) -> Sum<Option<Number>> {
        let size = self.size;
        let before = plan.from.map_or(mapping, |from| from) * size + mapping;
        let after = mapping * size + plan.to.unwrap_or(mapping);
        let Ok(body) = self.part(&plan.body, Some(mapping)) else { return Ok(None) };
        let inner = self.nodes[body].table[mapping * size + mapping];
        let all = sum(sum(self.ways[before], inner)?, self.ways[after])?;
        all.map(|(cost, _)| cost.plus(others)).transpose()
    }

    fn walk(&self, node: usize, before: usize, after: usize, acts: &mut Vec<Act>) {
        let size = self.size;
        match &self.nodes[node].how {
            How::Nothing | How::Other(Term::Skip) => {}
            How::Other(term) => acts.push(Act::Other(term.clone())),
            How::Redistribute => self.redistribute(before, after, acts),
            How::Phase(chosen) => {
                let alternative = chosen[before * size + after];
                let stage = self.model.alternatives[alternative].stage;
                let needs = stage.and_then(|stage| stage.mapping).map_or(before, |mapping| mapping.0);
                self.redistribute(before, needs, acts);
                let cost = self.alternatives[alternative].unwrap_or(Number::Exact(Rat::ZERO));
                acts.push(Act::Run { alternative, cost });
            }
            How::Then(left, right, between) => {
                let by = between[before * size + after];
                self.walk(*left, before, by, acts);
                self.walk(*right, by, after, acts);
            }
            How::Turns { range, first, body, all } => {
                let mut turns = Vec::new();
                self.turns(*all, *body, (before, after), &mut turns);
                for Fold { begin, period, times } in fold(&turns) {
                    let one = |&(before, after): &(usize, usize)| {
                        let mut acts = Vec::new();
                        self.walk(*body, before, after, &mut acts);
                        acts
                    };
                    acts.push(Act::Turns {
                        range: range.clone(),
                        first: first + begin as i64,
                        last: first + (begin + period * times) as i64 - 1,
                        turns: turns[begin..begin + period].iter().map(one).collect(),
                    });
                }
            }
        }
    }

    /// The mappings before and after each turn.
    fn turns(&self, node: usize, body: usize, (before, after): (usize, usize), turns: &mut Vec<(usize, usize)>) {
        match &self.nodes[node].how {
            How::Then(left, right, between) if node != body => {
                let by = between[before * self.size + after];
                self.turns(*left, body, (before, by), turns);
                self.turns(*right, body, (by, after), turns);
            }
            _ => turns.push((before, after)),
        }
    }

    fn redistribute(&self, mut from: usize, to: usize, acts: &mut Vec<Act>) {
        while from != to {
            let redistribution = self.first[from * self.size + to];
            acts.push(Act::Redistribute { redistribution, cost: self.redistributions[redistribution] });
            from = self.model.redistributions[redistribution].to;
        }
    }

    fn no_way(&self, plan: &Plan) -> Diagnostic {
        let name = |at: usize| self.model.mappings.get(at).map_or("", String::as_str);
        let missing = (0..self.size * self.size).find(|at| self.ways[*at].is_none());
        let error = Diagnostic::error(plan.span, "data cannot get from phase to phase, whatever is chosen");
        match missing {
            Some(at) => {
                let (from, to) = (name(at / self.size), name(at % self.size));
                error.help(format!("say what it takes: `redistribute {from} -> {to} = ...;`"))
            }
            None => error,
        }
    }
}

fn sum(a: Value, b: Value) -> Sum<Value> {
    let (Some((a, moves)), Some((b, more))) = (a, b) else { return Ok(None) };
    Ok(Some((a.plus(b)?, moves + more)))
}
