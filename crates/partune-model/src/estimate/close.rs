//! Loops over indices: which queues the iterations of a loop use, how much, and how early and late.
//!
//! The index as a function of the loop variable is inverted: a shift, a block (`i div B`), or a cycle (`i mod P`). Source: theory,
//! replication and index-dependent resources.

use partune_expr::{Atom, Context, Expr, Rat, Symbol, max_over, min_over, sum};

use super::symbolic::{Entry, Estimator};
use crate::model::Range;

/// In which order the iterations of a loop come.
#[derive(Clone, Copy)]
pub(super) enum Order<'a> {
    /// All at once, or not known.
    None,
    /// One after the other, each taking so long.
    Sequence(&'a Expr),
}

/// The name of an index that runs over a range, by its dimension.
fn binder(dimension: usize) -> Symbol {
    Symbol::int(&format!("k'{dimension}"))
}

/// An entry of the body of a loop as entries of the loop.
pub(super) fn close(
    estimator: &mut Estimator<'_>,
    entry: Entry,
    range: &Range,
    context: &Context,
    order: Order<'_>,
) -> Vec<Entry> {
    let Range { variable, lo, hi, .. } = range;
    let inside = context.with_range(variable, lo, hi);
    let entry = shifted(entry, range, &inside, order);
    let ends_vary = entry.head.mentions(variable) || entry.tail.mentions(variable);
    if ends_vary
        && entry.index.is_some()
        && let Some(reason) = entry.absent(&inside)
    {
        estimator.weaken(reason);
    }
    let lump = |estimator: &mut Estimator<'_>, entry: Entry| {
        let name = &estimator.model.resources[entry.resource].name;
        let text =
            format!("the index of `{name}` as a function of `{}` is not inverted: work is averaged", variable.name);
        estimator.weaken(text);
        vec![lumped(entry, range, context)]
    };
    let ranges_depend = entry.binders.iter().any(|(_, lo, hi)| lo.mentions(variable) || hi.mentions(variable));
    let Some(index) = entry.index.clone() else { return vec![lumped(entry, range, context)] };
    if ranges_depend {
        return lump(estimator, entry);
    }
    let Some(dimension) = index.iter().position(|e| e.mentions(variable)) else {
        return vec![every_time(entry, range, context)];
    };
    let component = &index[dimension];
    if entry.binders.iter().any(|(symbol, ..)| component.mentions(symbol)) {
        return lump(estimator, entry);
    }
    let pieces = match Map::of(component, variable) {
        Some(Map::Shift { sign, offset }) => vec![shift(&entry, range, dimension, sign, &offset)],
        Some(Map::Block { offset, size, base }) => blocks(&entry, range, context, dimension, &offset, &size, &base),
        Some(Map::Cycle(map)) => cycle(&entry, range, context, dimension, &map),
        _ => Vec::new(),
    };
    if pieces.is_empty() || pieces.iter().any(|piece| piece.mentions(variable)) {
        return lump(estimator, entry);
    }
    pieces
}

/// Heads and tails from the begin and to the end of the loop.
fn shifted(mut entry: Entry, range: &Range, inside: &Context, order: Order<'_>) -> Entry {
    let Order::Sequence(time) = order else { return entry };
    let Range { variable, lo, hi, .. } = range;
    let at = Expr::from(variable);
    let (before, after) = if time.mentions(variable) {
        let other = Symbol::int(&format!("{}'", variable.name));
        let of_other = time.substitute(variable, &Expr::from(&other));
        let until = |lo: &Expr, hi: &Expr| sum(&other, lo, hi, &of_other, inside);
        (until(lo, &(&at - Expr::one())), until(&(&at + Expr::one()), hi))
    } else {
        ((&at - lo) * time, (hi - &at) * time)
    };
    entry.head = entry.head + before;
    entry.tail = entry.tail + after;
    entry
}

/// The sum of the work, wherever it is done.
fn lumped(entry: Entry, range: &Range, context: &Context) -> Entry {
    let Range { variable, lo, hi, .. } = range;
    let mut work = entry.work;
    for (symbol, first, last) in entry.binders.iter().rev() {
        let inside = context.with_range(variable, lo, hi);
        work = sum(symbol, first, last, &work, &inside);
    }
    let work = sum(variable, lo, hi, &work, context);
    let nothing = Expr::zero;
    Entry { resource: entry.resource, index: None, binders: Vec::new(), work, head: nothing(), tail: nothing() }
}

/// Every iteration uses the same queues.
fn every_time(entry: Entry, range: &Range, context: &Context) -> Entry {
    let Range { variable, lo, hi, .. } = range;
    let mut inside = context.clone();
    for (symbol, lo, hi) in &entry.binders {
        inside = inside.with_range(symbol, lo, hi);
    }
    let least = |e: &Expr| inside.simplify(&min_over(variable, lo, hi, e, &inside));
    Entry {
        work: inside.simplify(&sum(variable, lo, hi, &entry.work, &inside)),
        head: least(&entry.head),
        tail: least(&entry.tail),
        ..entry
    }
}

/// How an index depends on a loop variable.
enum Map {
    /// `sign*i + offset`, with a sign of 1 or -1.
    Shift {
        sign: Rat,
        offset: Expr,
    },
    /// `base + (i + offset) div size`.
    Block {
        offset: Expr,
        size: Expr,
        base: Expr,
    },
    Cycle(Cycle),
}

/// `base + scale * ((factor*i + offset) mod length)`.
struct Cycle {
    factor: Rat,
    offset: Expr,
    length: Expr,
    scale: Rat,
    base: Expr,
}

impl Map {
    fn of(e: &Expr, variable: &Symbol) -> Option<Map> {
        if let Some((sign, offset)) = e.affine(variable) {
            let sign = sign.to_rat().filter(|sign| sign.abs().is_one())?;
            return Some(Map::Shift { sign, offset });
        }
        let floors = e.atoms(|atom| matches!(atom, Atom::FloorDiv(..)) && atom.mentions(variable));
        let [floor @ Atom::FloorDiv(num, size)] = &floors[..] else { return None };
        let (factor, offset) = num.affine(variable)?;
        let factor = factor.to_rat().filter(|factor| factor.is_integer())?;
        if size.mentions(variable) {
            return None;
        }
        let rest = e - Expr::from(floor.clone());
        if factor.is_one() && !rest.mentions(variable) {
            return Some(Map::Block { offset, size: size.clone(), base: rest });
        }
        // scale*(i - P*(i div P))
        let turn = e.by_powers(floor)?.remove(&1)?;
        let scale = -turn.over(size).to_rat()?;
        let base = e - (num - size * Expr::from(floor.clone())).scale(scale);
        let cycle = Cycle { factor, offset, length: size.clone(), scale, base };
        (!cycle.base.mentions(variable)).then_some(Map::Cycle(cycle))
    }
}

/// The greatest common divisor of a positive number and an expression: as many as there are divisors of both, each counted as often as it
/// has smaller numbers without common divisor.
fn common_divisor(number: i64, of: &Expr) -> Expr {
    let coprime = |d: i64| (1..=d).filter(|n| Rat::from(*n).gcd(Rat::from(d)).is_one()).count() as i64;
    let divisors = (1..=number).filter(|d| number % d == 0);
    divisors.fold(Expr::zero(), |sum, d| {
        sum + Expr::from(coprime(d)) * partune_expr::Bool::divides(&Expr::from(d), of).iverson()
    })
}

fn with_binder(entry: &Entry, dimension: usize, lo: Expr, hi: Expr) -> (Entry, Symbol) {
    let symbol = binder(dimension);
    let mut piece = entry.clone();
    if let Some(index) = &mut piece.index {
        index[dimension] = Expr::from(&symbol);
    }
    piece.binders.push((symbol.clone(), lo, hi));
    piece.binders.sort();
    (piece, symbol)
}

fn shift(entry: &Entry, range: &Range, dimension: usize, sign: Rat, offset: &Expr) -> Entry {
    let Range { variable, lo, hi, .. } = range;
    let image = |e: &Expr| e.scale(sign) + offset;
    let (first, last) = if sign.signum() > 0 { (image(lo), image(hi)) } else { (image(hi), image(lo)) };
    let (mut piece, symbol) = with_binder(entry, dimension, first, last);
    let back = (Expr::from(&symbol) - offset).scale(sign);
    replace(&mut piece, dimension, variable, &back);
    piece
}

fn replace(piece: &mut Entry, dimension: usize, variable: &Symbol, value: &Expr) {
    for e in [&mut piece.work, &mut piece.head, &mut piece.tail] {
        *e = e.substitute(variable, value);
    }
    for (position, e) in piece.index.iter_mut().flatten().enumerate() {
        if position != dimension {
            *e = e.substitute(variable, value);
        }
    }
}

/// Whole blocks inside, and what the range leaves of the first and last.
fn blocks(
    entry: &Entry,
    range: &Range,
    context: &Context,
    dimension: usize,
    offset: &Expr,
    size: &Expr,
    base: &Expr,
) -> Vec<Entry> {
    let Range { variable, lo, hi, .. } = range;
    if !alone(entry, variable, dimension) {
        return Vec::new();
    }
    let one = Expr::one();
    let block_of = |e: &Expr| context.floor_div(&(e + offset), size);
    let (first, last) = (block_of(lo), block_of(hi));
    let begin = |block: &Expr| block * size - offset;
    let end = |block: &Expr| begin(block) + size - &one;
    let whole_first = context.le(lo, &begin(&first));
    let whole_last = context.le(&end(&last), hi);
    let piece = |from: &Expr, to: &Expr, lo: Option<&Expr>, hi: Option<&Expr>| {
        let (mut piece, symbol) = with_binder(entry, dimension, from + base, to + base);
        let block = Expr::from(&symbol) - base;
        let (lo, hi) = (lo.cloned().unwrap_or_else(|| begin(&block)), hi.cloned().unwrap_or_else(|| end(&block)));
        let mut inside = context.clone();
        for (symbol, lo, hi) in &piece.binders {
            inside = inside.with_range(symbol, lo, hi);
        }
        // Inside its block the floor is the block.
        let floor = Atom::FloorDiv(Expr::from(variable) + offset, size.clone());
        let known = |e: &Expr| inside.simplify(&e.rebuild(&mut |atom| (*atom == floor).then(|| block.clone())));
        let least = |e: &Expr| inside.simplify(&min_over(variable, &lo, &hi, &known(e), &inside));
        piece.work = inside.simplify(&sum(variable, &lo, &hi, &known(&piece.work), &inside));
        piece.head = least(&piece.head);
        piece.tail = least(&piece.tail);
        piece
    };
    if context.le(&last, &first) {
        return vec![piece(&first, &first, Some(lo), Some(hi))];
    }
    #[allow(clippy::nonminimal_bool)] // two cases that are said apart
    if !context.le(&(&first + &one), &last) && !(whole_first && whole_last) {
        return Vec::new();
    }
    let mut pieces = Vec::new();
    let inner_first = if whole_first { first.clone() } else { &first + &one };
    let inner_last = if whole_last { last.clone() } else { &last - &one };
    if !whole_first {
        pieces.push(piece(&first, &first, Some(lo), None));
    }
    if context.le(&inner_first, &(&inner_last + &one)) && !context.le(&(&inner_last + &one), &inner_first) {
        pieces.push(piece(&inner_first, &inner_last, None, None));
    }
    if !whole_last {
        pieces.push(piece(&last, &last, None, Some(hi)));
    }
    pieces
}

/// Multipliers whose divisors are told apart.
const LARGEST_FACTOR: i64 = 4096;

/// A cycle: after `length / gcd(factor, length)` iterations the same queues come again. The `j`-th queue is that of the `j`-th iteration.
fn cycle(entry: &Entry, range: &Range, context: &Context, dimension: usize, map: &Cycle) -> Vec<Entry> {
    let Range { variable, lo, hi, .. } = range;
    let Cycle { factor, offset, length, scale, base } = map;
    let factor_size = factor.abs().to_int().and_then(|factor| i64::try_from(factor).ok());
    let Some(size) = factor_size.filter(|size| (1..=LARGEST_FACTOR).contains(size)) else { return Vec::new() };
    let (zero, one) = (Expr::zero(), Expr::one());
    let count = hi - lo + &one;
    let alike = ![&entry.work, &entry.head, &entry.tail].iter().any(|e| e.mentions(variable));
    let ends_alike = !entry.head.mentions(variable) && !entry.tail.mentions(variable);
    let whole = || (&count - length * context.floor_div(&count, length)).is_zero();
    let alone = alone(entry, variable, dimension);
    if factor.is_one() && scale.is_one() && ((lo + offset).is_zero() || alone && alike && whole()) {
        return turns(entry, range, context, dimension, &map.base, length);
    }
    let period = context.simplify(&length.over(&common_divisor(size, length)));
    // A queue beyond the last iteration gets no work, which is all that counts if ends are alike.
    let last = if ends_alike { period.clone() } else { -context.max(vec![-&count, -&period]) } - &one;
    let (mut piece, symbol) = with_binder(entry, dimension, zero.clone(), last);
    let first = lo + Expr::from(&symbol);
    let round = Symbol::int(&format!("{}'round", variable.name));
    if let Some(index) = &mut piece.index {
        index[dimension] = base + (first.scale(*factor) + offset).modulo(length).scale(*scale);
    }
    replace(&mut piece, dimension, variable, &(first + &period * Expr::from(&round)));
    if piece.depends_on(&round) {
        return Vec::new();
    }
    let mut inside = context.clone();
    for (symbol, lo, hi) in &piece.binders {
        inside = inside.with_range(symbol, lo, hi);
    }
    let rounds = inside.floor_div(&(&count - &one - Expr::from(&symbol)), &period);
    let least = |e: &Expr| inside.simplify(&min_over(&round, &zero, &rounds, e, &inside));
    piece.work = inside.simplify(&sum(&round, &zero, &rounds, &piece.work, &inside));
    piece.head = least(&piece.head);
    piece.tail = least(&piece.tail);
    vec![piece]
}

/// A cycle of neighbours: the first `rest` queues get one iteration more.
fn turns(entry: &Entry, range: &Range, context: &Context, dimension: usize, base: &Expr, length: &Expr) -> Vec<Entry> {
    let Range { variable, lo, hi, .. } = range;
    let one = Expr::one();
    let count = hi - lo + &one;
    let rounds = context.floor_div(&count, length);
    let rest = &count - length * &rounds;
    let round = Symbol::int(&format!("{}'round", variable.name));
    let piece = |from: &Expr, to: &Expr, last: &Expr| {
        let (mut piece, symbol) = with_binder(entry, dimension, from + base, to + base);
        let at = Expr::from(&symbol) - base + lo + length * Expr::from(&round);
        replace(&mut piece, dimension, variable, &at);
        let mut inside = context.clone();
        for (symbol, lo, hi) in &piece.binders {
            inside = inside.with_range(symbol, lo, hi);
        }
        let least = |e: &Expr| inside.simplify(&min_over(&round, &Expr::zero(), last, e, &inside));
        piece.work = inside.simplify(&sum(&round, &Expr::zero(), last, &piece.work, &inside));
        piece.head = least(&piece.head);
        piece.tail = least(&piece.tail);
        piece
    };
    let mut pieces = Vec::new();
    if !rest.is_zero() {
        pieces.push(piece(&Expr::zero(), &(&rest - &one), &rounds));
    }
    if !rounds.is_zero() {
        let mut others = piece(&rest, &(length - &one), &(&rounds - &one));
        // Without a whole round nobody uses them, and there is nothing before and after.
        let some = context.simplify(&partune_expr::Bool::le(&one, &rounds).iverson());
        others.head = others.head * &some;
        others.tail = others.tail * &some;
        pieces.push(others);
    }
    // Where another dimension changes from round to round, nobody knows which queues these are.
    if pieces.iter().any(|piece| piece.depends_on(&round)) { Vec::new() } else { pieces }
}

/// Whether no other dimension depends on the loop variable.
fn alone(entry: &Entry, variable: &Symbol, dimension: usize) -> bool {
    entry.index.iter().flatten().enumerate().all(|(position, e)| position == dimension || !e.mentions(variable))
}

impl Entry {
    /// Whether the queue that it uses depends on a symbol.
    fn depends_on(&self, symbol: &Symbol) -> bool {
        self.index.iter().flatten().any(|e| e.mentions(symbol))
    }

    fn mentions(&self, symbol: &Symbol) -> bool {
        self.depends_on(symbol) || [&self.work, &self.head, &self.tail].iter().any(|e| e.mentions(symbol))
    }
}

/// The largest value over all bound indices.
pub(super) fn over_binders(e: &Expr, binders: &[(Symbol, Expr, Expr)], context: &Context) -> Expr {
    let mut inside = context.clone();
    for (symbol, lo, hi) in binders {
        inside = inside.with_range(symbol, lo, hi);
    }
    let mut value = inside.simplify(e);
    for (symbol, lo, hi) in binders.iter().rev() {
        value = max_over(symbol, lo, hi, &value, &inside);
    }
    context.simplify(&value)
}
