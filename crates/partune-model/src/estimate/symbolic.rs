//! The bounds as closed forms: one pass over the term, with loops summed and resources kept by symbolic index.
//!
//! A loop over which conditions change at one value is taken apart there; conditions that repeat with a period are told apart by cases.
//! What has no closed form leaves a sum or maximum that enumerates; what cannot be attributed to a resource weakens the lower bounds and is
//! said.

use std::collections::BTreeSet;

use partune_expr::{Atom, Bool, Context, Expr, Rat, Symbol, max_over, sum};

use super::ClosedForm;
use super::close::{Order, close};
use crate::model::{Draw, Model, Range, Term};

/// Terms that one derivation may visit; loops that are taken apart visit their bodies again.
const BUDGET: u32 = 2_000;
const CASES: usize = 4;
/// Parts of a loop that are taken apart again; beyond, conditions stay in sums.
const CUTS: u32 = 12;
const TOO_LARGE: &str =
    "the model is too large for a closed form; what is left out of it stays numeric: give values with -D NAME=VALUE";

/// Work that a term asks of a resource, for every value of its bound indices.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) resource: usize,
    /// None if it is not known which queues share the work.
    pub(super) index: Option<Vec<Expr>>,
    /// Indices that run over a range.
    pub(super) binders: Vec<(Symbol, Expr, Expr)>,
    pub(super) work: Expr,
    /// What is certain before its first use.
    pub(super) head: Expr,
    /// What is certain after its last use.
    pub(super) tail: Expr,
}

/// The cost of a term, as in the enumeration, with demands by symbolic index.
#[derive(Clone, Debug, Default)]
pub(super) struct Cost {
    pub(super) basic: Expr,
    pub(super) head_tail: Expr,
    /// What it takes whatever is drawn.
    pub(super) sure: Expr,
    /// Whether anything in it is drawn.
    pub(super) random: bool,
    /// Whether an exponential time is in it that enumeration knows the least of.
    pub(super) drawn: bool,
    pub(super) work: Expr,
    pub(super) path: Expr,
    pub(super) entries: Vec<Entry>,
}

/// Closed forms of the bounds of a term.
///
/// Cost: well below a millisecond for loop nests of the usual size.
pub fn closed_form(model: &Model, term: &Term) -> ClosedForm {
    let context = model.context();
    let mut estimator = Estimator {
        model,
        weaker: BTreeSet::new(),
        left: BUDGET,
        calls: 0,
        cuts: 0,
        fresh: 0,
        cut: false,
        awaits: model.awaits(term),
    };
    let cost = estimator.term(term, &context, false);
    // What was left out is no less than nothing, and no more than nobody knows what.
    let upper = if estimator.cut { Expr::undefined() } else { context.simplify(&(&cost.work + &cost.path)) };
    let (mut basic, mut head_tail) = (context.simplify(&cost.basic), context.simplify(&cost.head_tail));
    for bound in [&mut basic, &mut head_tail] {
        if bound.is_undefined() {
            *bound = Expr::zero();
            estimator.weaken("the formula has too many terms, or too large numbers; the bound stays numeric");
        }
    }
    let random = cost.random || estimator.cut && model.is_random(term);
    let awaits = estimator.awaits;
    ClosedForm { basic, head_tail, upper, random, awaits, weaker: estimator.weaker.into_iter().collect() }
}

pub(super) struct Estimator<'a> {
    pub(super) model: &'a Model,
    weaker: BTreeSet<String>,
    left: u32,
    calls: u32,
    cuts: u32,
    fresh: u32,
    /// Whether a part is left out, so that there is no upper bound.
    cut: bool,
    /// Whether processes wait for each other's events, so that no two may ever work at a time, however many servers there are.
    awaits: bool,
}

impl Estimator<'_> {
    /// Says that the lower bounds lose something.
    pub(super) fn weaken(&mut self, reason: impl Into<String>) {
        self.weaker.insert(reason.into());
    }

    /// Leaves a term out.
    fn leave_out(&mut self, reason: impl Into<String>) -> Cost {
        self.cut = true;
        self.weaken(reason);
        Cost::default()
    }

    /// A symbol that no model has.
    pub(super) fn fresh(&mut self, name: &str) -> Symbol {
        self.fresh += 1;
        Symbol::int(&format!("{name}'{}", self.fresh))
    }

    /// Counts a step; false if there were too many.
    fn afford(&mut self, context: &Context) -> bool {
        if self.left == 0 || context.exhausted() {
            return false;
        }
        self.left -= 1;
        true
    }

    /// `demands` says that somebody asks for the entries.
    fn term(&mut self, term: &Term, context: &Context, demands: bool) -> Cost {
        if !self.afford(context) {
            return self.leave_out(TOO_LARGE);
        }
        match term {
            Term::Skip | Term::Event { .. } => Cost::default(),
            Term::Delay(duration, _) => {
                let time = context.simplify(&duration.mean());
                let (work, path) =
                    if self.awaits { (time.clone(), Expr::zero()) } else { (Expr::zero(), time.clone()) };
                Cost { work, path, ..Cost::of(&time, duration, context) }
            }
            Term::Use { resource, index, duration, .. } => {
                let time = context.simplify(&duration.mean());
                if time.is_zero() {
                    return Cost::default();
                }
                let of = &self.model.resources[*resource];
                let work = match &of.servers {
                    _ if self.awaits => time.clone(),
                    Some(servers) => time.over(servers),
                    None => Expr::zero(),
                };
                let entry = Entry {
                    resource: *resource,
                    index: Some(index.iter().map(|e| context.simplify(e)).collect()),
                    binders: Vec::new(),
                    work: time.clone(),
                    head: Expr::zero(),
                    tail: Expr::zero(),
                };
                let path = &time - &work;
                Cost { work, path, entries: vec![entry], ..Cost::of(&time, duration, context) }
            }
            Term::Sequence(all) => {
                let costs: Vec<Cost> = all.iter().map(|one| self.term(one, context, demands)).collect();
                self.sequence(costs, context)
            }
            Term::Parallel(all) => {
                let costs: Vec<Cost> = all.iter().map(|one| self.term(one, context, true)).collect();
                self.parallel(costs, context)
            }
            Term::If(condition, then, otherwise) => self.conditional(condition, then, otherwise, context, demands),
            Term::Choose(cases, _) => {
                let mut total = Cost::default();
                let mut sure = Vec::new();
                for (chance, case) in cases {
                    let cost = self.term(case, context, demands);
                    sure.push(-&cost.sure);
                    total.add(cost.scaled(chance).settled());
                }
                Cost { sure: -context.max(sure), ..total }
            }
            Term::WhileProb(again, body, _) => {
                let times = again.over(&(Expr::one() - again));
                self.term(body, context, demands).scaled(&times).settled()
            }
            Term::WhileBelow(Draw::Fixed(count), body, span) => {
                let variable = self.fresh("iter");
                let range = Range { variable, lo: Expr::zero(), hi: count.ceil() - Expr::one(), span: *span };
                self.looped(&range, body, context, false, demands)
            }
            Term::WhileBelow(count, body, _) => self.term(body, context, demands).scaled(&count.mean()).settled(),
            Term::Seq(range, body) => self.looped(range, body, context, false, demands),
            Term::Par(range, body) => self.looped(range, body, context, true, true),
            Term::Call(process, args, _) => self.call(*process, args, context, demands),
        }
    }

    fn call(&mut self, process: usize, args: &[Expr], context: &Context, demands: bool) -> Cost {
        let model = self.model;
        let process = &model.processes[process];
        let args: Vec<Expr> = args.iter().map(|arg| context.simplify(arg)).collect();
        if self.calls > 40 || args.iter().any(|arg| arg.to_int().is_none()) {
            return self.leave_out(format!("the recursive process `{}` stays numeric", process.name));
        }
        self.calls += 1;
        let mut body = process.body.clone();
        for (param, arg) in process.params.iter().zip(&args) {
            body = body.substitute(param, arg);
        }
        let cost = self.term(&body, context, demands);
        self.calls -= 1;
        cost
    }

    #[allow(clippy::unused_self)] // as its siblings
    fn sequence(&mut self, costs: Vec<Cost>, context: &Context) -> Cost {
        let mut total = Cost::default();
        for mut cost in costs {
            for entry in &mut cost.entries {
                entry.head = context.simplify(&(&entry.head + &total.sure));
            }
            for entry in &mut total.entries {
                entry.tail = context.simplify(&(&entry.tail + &cost.sure));
            }
            if total.drawn && !cost.entries.is_empty() || cost.drawn && !total.entries.is_empty() {
                self.weaken("of exponential times before and after uses only enumeration counts the least");
            }
            total.add(cost);
        }
        total
    }

    /// Branches side by side, bounded by the longest and by the resources they share.
    fn parallel(&mut self, costs: Vec<Cost>, context: &Context) -> Cost {
        let mut total = Cost::default();
        let longest = |of: fn(&Cost) -> &Expr| context.max(costs.iter().map(|cost| of(cost).clone()).collect());
        let (basic, head_tail) = (longest(|cost| &cost.basic), longest(|cost| &cost.head_tail));
        let (path, sure) = (longest(|cost| &cost.path), longest(|cost| &cost.sure));
        for cost in costs {
            total.random |= cost.random;
            total.drawn |= cost.drawn;
            total.work = &total.work + &cost.work;
            total.entries.extend(cost.entries);
        }
        (total.path, total.sure) = (path, sure);
        self.bounded(total, basic, head_tail, context)
    }

    /// With the bounds of resources; what is certain of branches becomes all of it where nothing is drawn.
    fn bounded(&mut self, mut total: Cost, basic: Expr, head_tail: Expr, context: &Context) -> Cost {
        let bounds = self.resource_bounds(&total.entries, context);
        let (mut basics, mut head_tails) = (vec![basic], vec![head_tail]);
        for (basic, head_tail) in bounds {
            basics.push(basic);
            head_tails.push(head_tail);
        }
        total.basic = context.max(basics);
        total.head_tail = context.max(head_tails);
        if !total.random {
            total.sure = total.head_tail.clone();
        }
        total
    }

    fn conditional(
        &mut self,
        condition: &Bool,
        then: &Term,
        otherwise: &Term,
        context: &Context,
        demands: bool,
    ) -> Cost {
        let condition = condition.map(&mut |e| context.simplify(e));
        match context.decide(&condition) {
            Some(true) => self.term(then, context, demands),
            Some(false) => self.term(otherwise, context, demands),
            None => {
                let mut total = Cost::default();
                let no = condition.clone().not();
                for (condition, term) in [(condition, then), (no, otherwise)] {
                    let inside = context.with(&condition);
                    let cost = self.term(term, &inside, demands);
                    let holds = condition.iverson();
                    total.add(cost.guarded(&holds));
                }
                total
            }
        }
    }

    /// A loop, taken apart where its conditions change.
    fn looped(&mut self, range: &Range, body: &Term, context: &Context, parallel: bool, demands: bool) -> Cost {
        let range = &range.map(&mut |e| context.simplify(e));
        let Range { variable, lo, hi, .. } = range;
        if !self.afford(context) {
            return self.leave_out(TOO_LARGE);
        }
        if context.le(&(hi + Expr::one()), lo) {
            return Cost::default();
        }
        if context.le(lo, hi) && context.le(hi, lo) {
            return self.term(&body.substitute(variable, lo), context, demands || parallel);
        }
        if !context.le(lo, hi) {
            // Perhaps empty: what follows holds if it is not.
            let some = Bool::le(lo, hi);
            let inside = context.with(&some);
            let cost = self.nonempty(range, body, &inside, parallel, demands);
            let count = hi - lo + Expr::one();
            if context.nonneg(&count) {
                return cost.guarded_unless_zero(&some.iverson(), &count);
            }
            return cost.guarded(&some.iverson());
        }
        self.nonempty(range, body, context, parallel, demands)
    }

    /// The same for a range that is not empty, whether or not that can be proven.
    fn nonempty(&mut self, range: &Range, body: &Term, context: &Context, parallel: bool, demands: bool) -> Cost {
        let Range { variable, lo, hi, span } = range;
        let inside = context.with_range(variable, lo, hi);
        let conditions = conditions(body, variable, &inside);
        let mut changes = conditions.iter().filter_map(|condition| change(condition, range, context));
        if self.cuts < CUTS
            && let Some(at) = changes.next()
        {
            self.cuts += 1;
            let part = |lo: &Expr, hi: &Expr| Range {
                lo: lo.clone(),
                hi: hi.clone(),
                variable: variable.clone(),
                span: *span,
            };
            let parts = [part(lo, &(&at - Expr::one())), part(&at, hi)];
            let costs = parts.iter().map(|part| self.looped(part, body, context, parallel, demands)).collect();
            self.cuts -= 1;
            return if parallel { self.parallel(costs, context) } else { self.sequence(costs, context) };
        }
        let periodic: Vec<Bool> =
            conditions.into_iter().filter(|condition| matches!(condition, Bool::Divides(..))).take(CASES + 1).collect();
        if periodic.is_empty() || periodic.len() > CASES {
            let cost = self.term(body, &inside, demands || parallel);
            return self.over_range(range, cost, context, parallel, demands, None);
        }
        self.periodic(range, body, &periodic, context, parallel, demands)
    }

    /// Every combination of conditions that repeat, weighted by how often it occurs.
    fn periodic(
        &mut self,
        range: &Range,
        body: &Term,
        conditions: &[Bool],
        context: &Context,
        parallel: bool,
        demands: bool,
    ) -> Cost {
        let Range { variable, lo, hi, .. } = range;
        let mut costs = Vec::new();
        for case in 0..1_usize << conditions.len() {
            let mut inside = context.with_range(variable, lo, hi);
            let mut holds = Expr::one();
            for (position, condition) in conditions.iter().enumerate() {
                let condition = if case >> position & 1 == 1 { condition.clone() } else { condition.clone().not() };
                inside.assume(&condition);
                holds = holds * condition.iverson();
            }
            let count = sum(variable, lo, hi, &holds, context);
            if count.is_zero() {
                continue;
            }
            let cost = self.term(body, &inside, demands || parallel);
            costs.push(self.over_range(range, cost, context, parallel, demands, Some((&holds, &count))));
        }
        if parallel {
            return self.parallel(costs, context);
        }
        let mut total = Cost::default();
        for mut cost in costs {
            // Cases alternate, so nothing is known of what lies before and after.
            if demands && !cost.entries.is_empty() {
                self.weaken("resources used by a loop with alternating cases have no head and tail");
                cost = cost.without_ends();
            }
            total.add(cost);
        }
        total
    }

    /// The body's cost over the values of the variable, or over those where a case holds.
    fn over_range(
        &mut self,
        range: &Range,
        body: Cost,
        context: &Context,
        parallel: bool,
        demands: bool,
        case: Option<(&Expr, &Expr)>,
    ) -> Cost {
        let Range { variable, lo, hi, .. } = range;
        let weighted = |e: &Expr| match case {
            Some((holds, _)) => holds * e,
            None => e.clone(),
        };
        let total = |e: &Expr| match case {
            Some((_, count)) if !e.mentions(variable) => count * e,
            _ => context.simplify(&sum(variable, lo, hi, &weighted(e), context)),
        };
        let some = match case {
            Some((_, count)) => context.simplify(&Bool::le(&Expr::one(), count).iverson()),
            None => Expr::one(),
        };
        let largest = |e: &Expr| match case {
            None => context.simplify(&max_over(variable, lo, hi, e, context)),
            Some(_) if !e.mentions(variable) => &some * e,
            Some(_) => max_over(variable, lo, hi, &weighted(e), context),
        };
        let (random, drawn) = (body.random, body.drawn);
        let mut cost = Cost { work: total(&body.work), random, drawn, ..Cost::default() };
        if parallel {
            cost.path = largest(&body.path);
            if random {
                cost.sure = largest(&body.sure);
            }
            for entry in body.entries {
                cost.entries.extend(close(self, entry.weighted(&weighted), range, context, Order::None));
            }
            return self.bounded(cost, largest(&body.basic), largest(&body.head_tail), context);
        }
        cost.path = total(&body.path);
        cost.basic = total(&body.basic);
        cost.head_tail = total(&body.head_tail);
        cost.sure = if random { total(&body.sure) } else { cost.head_tail.clone() };
        if demands {
            if drawn && !body.entries.is_empty() {
                self.weaken("of exponential times before and after uses only enumeration counts the least");
            }
            let order = if case.is_some() { Order::None } else { Order::Sequence(&body.sure) };
            for entry in body.entries {
                cost.entries.extend(close(self, entry.weighted(&weighted), range, context, order));
            }
        }
        cost
    }
}

/// Conditions on a variable that are open inside its loop, as atoms.
fn conditions(body: &Term, variable: &Symbol, inside: &Context) -> Vec<Bool> {
    let mut found: BTreeSet<Bool> = BTreeSet::new();
    let mut bound: BTreeSet<Symbol> = BTreeSet::new();
    body.visit(&mut |term| {
        if let Term::Seq(range, _) | Term::Par(range, _) = term {
            bound.insert(range.variable.clone());
        }
    });
    let mut note = |condition: &Bool| {
        let mut all = Vec::new();
        atoms_of(condition, &mut all);
        for atom in all {
            let own = atom.iverson();
            let foreign = bound.iter().any(|symbol| own.mentions(symbol));
            if own.mentions(variable) && !foreign && inside.decide(&atom).is_none() {
                found.insert(atom);
            }
        }
    };
    body.visit(&mut |term| {
        if let Term::If(condition, ..) = term {
            note(&condition.map(&mut |e| inside.simplify(e)));
        }
    });
    body.expressions(&mut |e| {
        if e.mentions(variable) {
            in_expr(&inside.simplify(e), &mut note);
        }
    });
    found.into_iter().collect()
}

fn atoms_of(condition: &Bool, all: &mut Vec<Bool>) {
    match condition {
        Bool::True | Bool::False => {}
        Bool::Not(inner) => atoms_of(inner, all),
        Bool::And(list) | Bool::Or(list) => list.iter().for_each(|one| atoms_of(one, all)),
        atom => all.push(atom.clone()),
    }
}

/// Visits the conditions in an expression.
fn in_expr(e: &Expr, note: &mut dyn FnMut(&Bool)) {
    for atom in e.atoms(|_| true) {
        if let Atom::Iverson(condition) = &atom {
            note(condition);
        }
    }
}

/// The first value at which a condition on the variable is different from before, inside the range.
fn change(condition: &Bool, range: &Range, context: &Context) -> Option<Expr> {
    let Range { variable, lo, hi, .. } = range;
    let inside = |at: &Expr| context.le(&(lo + Expr::one()), at) && context.le(at, &(hi + Expr::one()));
    match condition {
        Bool::AtLeastZero(e) => {
            let (a, b) = e.affine(variable)?;
            let a = a.to_rat().filter(|a| a.is_integer())?;
            let divisor = Expr::number(a.abs());
            let at = if a.signum() > 0 {
                -context.floor_div(&b, &divisor)
            } else {
                context.floor_div(&b, &divisor) + Expr::one()
            };
            Some(at).filter(inside)
        }
        Bool::Zero(e) => {
            let (a, b) = e.affine(variable)?;
            let point = b.over(&-a);
            if !point.is_integer() || !context.le(lo, &point) || !context.le(&point, hi) {
                return None;
            }
            [point.clone(), point + Expr::one()]
                .into_iter()
                .find(|at| inside(at) && !context.le(&(hi + Expr::one()), at))
        }
        _ => None,
    }
}

impl Entry {
    fn weighted(self, weighted: &dyn Fn(&Expr) -> Expr) -> Entry {
        Entry { work: weighted(&self.work), head: weighted(&self.head), tail: weighted(&self.tail), ..self }
    }

    /// Why it may ask for nothing though all times are above zero, so that its head and tail count for nobody; none if it cannot.
    pub(super) fn absent(&self, context: &Context) -> Option<&'static str> {
        let mut inside = context.clone();
        for (symbol, lo, hi) in &self.binders {
            inside = inside.with_range(symbol, lo, hi);
        }
        // Any time does for a sign.
        let unit = |atom: &Atom| matches!(atom, Atom::Symbol(symbol) if !symbol.integer).then(Expr::one);
        let work = inside.simplify(&self.work.rebuild(&mut |atom| unit(atom)));
        if work.to_rat().map_or_else(|| inside.positive(&work), |work| work > Rat::ZERO) {
            return None;
        }
        let conditional = !work.atoms(|atom| matches!(atom, Atom::Iverson(_))).is_empty();
        Some(if conditional { LEFT_OUT } else { NO_TIME })
    }
}

/// Why a bound with heads and tails is below enumeration.
const LEFT_OUT: &str = "of uses that conditions or empty ranges leave out, heads and tails count all the same";
const NO_TIME: &str = "of uses whose time may be zero, heads and tails count all the same";

impl Cost {
    /// A time without queues.
    fn of(time: &Expr, duration: &Draw, context: &Context) -> Cost {
        let random = duration.is_random();
        let sure = if random { context.simplify(&duration.least()) } else { time.clone() };
        let drawn = matches!(duration, Draw::Exponential { .. });
        Cost { basic: time.clone(), head_tail: time.clone(), sure, random, drawn, ..Cost::default() }
    }

    /// Sums; the caller has shifted heads and tails.
    fn add(&mut self, other: Cost) {
        self.sure = &self.sure + &other.sure;
        self.random |= other.random;
        self.drawn |= other.drawn;
        self.basic = &self.basic + &other.basic;
        self.head_tail = &self.head_tail + &other.head_tail;
        self.work = &self.work + &other.work;
        self.path = &self.path + &other.path;
        self.entries.extend(other.entries);
    }

    fn scaled(mut self, by: &Expr) -> Cost {
        self.basic = &self.basic * by;
        self.head_tail = &self.head_tail * by;
        self.sure = &self.sure * by;
        self.work = &self.work * by;
        self.path = &self.path * by;
        for entry in &mut self.entries {
            entry.work = &entry.work * by;
        }
        self
    }

    /// Nothing if a condition, given as one or zero, does not hold: heads and tails too.
    fn guarded(self, holds: &Expr) -> Cost {
        let mut cost = self.scaled(holds);
        for entry in &mut cost.entries {
            entry.head = &entry.head * holds;
            entry.tail = &entry.tail * holds;
        }
        cost
    }

    /// The same, without the condition where the value is a multiple of a count that is then zero.
    fn guarded_unless_zero(self, holds: &Expr, count: &Expr) -> Cost {
        let guard = |e: &Expr| {
            let quotient = e.over(count);
            let vanishes = quotient.atoms(|atom| matches!(atom, Atom::Group(_))).is_empty()
                && quotient.terms().iter().all(|term| term.factors.iter().all(|(_, power)| *power > 0));
            if vanishes { e.clone() } else { e * holds }
        };
        let entries = self.entries.iter().map(|entry| Entry {
            work: guard(&entry.work),
            head: &entry.head * holds,
            tail: &entry.tail * holds,
            ..entry.clone()
        });
        Cost {
            basic: guard(&self.basic),
            head_tail: guard(&self.head_tail),
            sure: guard(&self.sure),
            random: self.random,
            drawn: self.drawn,
            work: guard(&self.work),
            path: guard(&self.path),
            entries: entries.collect(),
        }
    }

    /// Without heads and tails, where alternation decides what comes first.
    fn without_ends(mut self) -> Cost {
        for entry in &mut self.entries {
            entry.head = Expr::zero();
            entry.tail = Expr::zero();
        }
        self
    }

    /// The same where chance decides: nothing is certain.
    fn settled(self) -> Cost {
        Cost { sure: Expr::zero(), random: true, drawn: false, ..self.without_ends() }
    }
}

/// The number of queues of a resource.
pub(super) fn queues(model: &Model, resource: usize) -> Expr {
    let extents = model.resources[resource].dimensions.iter();
    extents.fold(Expr::number(Rat::ONE), |product, (lo, hi)| product * (hi - lo + Expr::one()))
}
