//! The bound that shared resources put on a parallel term: for the busiest queue, shortest head, work over servers, shortest tail.
//!
//! Entries that may mean the same queue must be added where they meet. Where it is not known whether they meet, each stands alone: still a
//! lower bound, and said.

use std::collections::BTreeMap;

use partune_expr::{Bool, Context, Expr, Symbol};

use super::close::over_binders;
use super::symbolic::{Entry, Estimator, queues};

/// Entries with equal index: one range of queues, with their sums and minima.
#[derive(Clone)]
struct Family {
    index: Vec<Expr>,
    binders: Vec<(Symbol, Expr, Expr)>,
    work: Expr,
    head: Expr,
    tail: Expr,
}

/// Two bounds: by work alone, and with head and tail.
type Bound = (Expr, Expr);

impl Estimator<'_> {
    /// Bounds of all resources that the entries use.
    pub(super) fn resource_bounds(&mut self, entries: &[Entry], context: &Context) -> Vec<Bound> {
        let mut by_resource: BTreeMap<usize, Vec<&Entry>> = BTreeMap::new();
        for entry in entries {
            by_resource.entry(entry.resource).or_default().push(entry);
        }
        let mut bounds = Vec::new();
        for (resource, entries) in by_resource {
            let model = self.model;
            let Some(servers) = &model.resources[resource].servers else { continue };
            let placed = || entries.iter().filter(|entry| entry.index.is_some());
            let vary = placed().skip(1).any(|entry| (&entry.head, &entry.tail) != (&entries[0].head, &entries[0].tail));
            if vary && let Some(reason) = placed().find_map(|entry| entry.absent(context)) {
                self.weaken(reason);
            }
            let families = families(&entries, context);
            if !families.is_empty() {
                let name = &model.resources[resource].name;
                bounds.extend(self.family_bounds(name, families, servers, context));
            }
            if entries.iter().any(|entry| entry.index.is_none()) {
                // The average queue: no more is known.
                let total = entries.iter().fold(Expr::zero(), |total, entry| total + spread(entry, context));
                let average = total.over(&(queues(model, resource) * servers));
                bounds.push((average.clone(), average));
            }
        }
        bounds
    }

    #[allow(clippy::needless_pass_by_value)] // they are made for this
    fn family_bounds(&mut self, name: &str, families: Vec<Family>, servers: &Expr, context: &Context) -> Vec<Bound> {
        let alone = |family: &Family| family.bound(servers, context);
        if let [only] = &families[..] {
            return vec![alone(only)];
        }
        let apart = families
            .iter()
            .enumerate()
            .all(|(position, a)| families[position + 1..].iter().all(|b| a.disjoint(b, context)));
        if apart {
            return families.iter().map(alone).collect();
        }
        if let Some(bounds) = point_in_range(&families, servers, context) {
            return bounds;
        }
        if let Some(bounds) = segments(&families, servers, context) {
            return bounds;
        }
        self.weaken(format!("uses of `{name}` with different indices may meet; they are counted apart"));
        families.iter().map(alone).collect()
    }
}

/// All work of an entry, over all its queues.
fn spread(entry: &Entry, context: &Context) -> Expr {
    let binders = entry.binders.iter().rev();
    binders.fold(entry.work.clone(), |work, (symbol, lo, hi)| partune_expr::sum(symbol, lo, hi, &work, context))
}

fn families(entries: &[&Entry], context: &Context) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for entry in entries {
        let Some(index) = &entry.index else { continue };
        let same = families.iter_mut().find(|family| family.index == *index && family.binders == entry.binders);
        match same {
            Some(family) => {
                let least = |a: &Expr, b: &Expr| -context.max(vec![-a, -b]);
                family.work = &family.work + &entry.work;
                family.head = least(&family.head, &entry.head);
                family.tail = least(&family.tail, &entry.tail);
            }
            None => families.push(Family {
                index: index.clone(),
                binders: entry.binders.clone(),
                work: entry.work.clone(),
                head: entry.head.clone(),
                tail: entry.tail.clone(),
            }),
        }
    }
    families
}

impl Family {
    fn bound(&self, servers: &Expr, context: &Context) -> Bound {
        let own = self.work.over(servers);
        let over = |e: &Expr| {
            let value = over_binders(e, &self.binders, context);
            // A range that may be empty bounds nothing.
            let some = self.binders.iter().map(|(_, lo, hi)| Bool::le(lo, hi));
            context.simplify(&Bool::all(some.collect::<Vec<_>>()).iverson()) * value
        };
        (over(&own), over(&(&self.head + &own + &self.tail)))
    }

    /// First and last index in a dimension.
    fn extent(&self, dimension: usize) -> Option<(Expr, Expr)> {
        let e = &self.index[dimension];
        let bound = self.binders.iter().find(|(symbol, ..)| e.mentions(symbol));
        match bound {
            None => Some((e.clone(), e.clone())),
            Some((symbol, lo, hi)) if e.to_symbol() == Some(symbol) => Some((lo.clone(), hi.clone())),
            Some(_) => None,
        }
    }

    fn disjoint(&self, other: &Family, context: &Context) -> bool {
        (0..self.index.len()).any(|dimension| {
            let (Some((a, b)), Some((c, d))) = (self.extent(dimension), other.extent(dimension)) else { return false };
            let below = |a: &Expr, b: &Expr| context.le(&(a + Expr::one()), b);
            if below(&b, &c) || below(&d, &a) {
                return true;
            }
            // Two single indices may be known to differ without an order, or one asks for nothing where they meet.
            if a != b || c != d {
                return false;
            }
            let meet = Bool::eq(&a, &c);
            let nothing = |family: &Family| {
                let there = context.with(&meet);
                there.simplify(&family.work).is_zero()
            };
            context.decide(&meet) == Some(false) || nothing(self) || nothing(other)
        })
    }

    /// Whether it has all queues of a box: each of its ranges is a dimension of its own.
    fn is_box(&self) -> bool {
        self.binders.iter().all(|(symbol, ..)| self.index.iter().filter(|e| e.mentions(symbol)).count() == 1)
    }

    fn without_ends(&self) -> bool {
        self.head.is_zero() && self.tail.is_zero()
    }
}

/// One queue inside a range: there both add up; elsewhere the range is alone.
fn point_in_range(families: &[Family], servers: &Expr, context: &Context) -> Option<Vec<Bound>> {
    let [a, b] = families else { return None };
    let (point, range) = if a.binders.is_empty() { (a, b) } else { (b, a) };
    let [(symbol, lo, hi)] = &range.binders[..] else { return None };
    let dimension = range.index.iter().position(|e| e.to_symbol() == Some(symbol))?;
    let rest_equal = (0..point.index.len()).all(|other| other == dimension || point.index[other] == range.index[other]);
    let at = &point.index[dimension];
    let inside = context.le(lo, at) && context.le(at, hi);
    if !point.binders.is_empty() || !rest_equal || !inside || !point.without_ends() || !range.without_ends() {
        return None;
    }
    let there = context.simplify(&range.work.substitute(symbol, at));
    let met = Family { work: &point.work + there, ..point.clone() };
    Some(vec![met.bound(servers, context), range.bound(servers, context)])
}

/// Ranges in one dimension, cut where one begins or ends; the ends must be in a known order.
fn segments(families: &[Family], servers: &Expr, context: &Context) -> Option<Vec<Bound>> {
    let first = families.first().filter(|_| families.iter().all(Family::is_box))?;
    let varies = |dimension: usize| families.iter().any(|family| family.index[dimension] != first.index[dimension]);
    let ranged = |dimension: usize| {
        first
            .extent(dimension)
            .is_none_or(|own| families.iter().any(|family| family.extent(dimension) != Some(own.clone())))
    };
    let mut open = (0..first.index.len()).filter(|dimension| varies(*dimension) || ranged(*dimension));
    let (dimension, None) = (open.next()?, open.next()) else { return None };
    let one = Expr::one();
    let mut extents = Vec::new();
    let mut cuts: Vec<Expr> = Vec::new();
    for family in families {
        let (lo, hi) = family.extent(dimension)?;
        for cut in [lo.clone(), &hi + &one] {
            if cuts.iter().any(|own| context.le(own, &cut) && context.le(&cut, own)) {
                continue;
            }
            let mut position = cuts.len();
            while position > 0 && !context.le(&cuts[position - 1], &cut) {
                if !context.le(&cut, &cuts[position - 1]) {
                    return None;
                }
                position -= 1;
            }
            cuts.insert(position, cut);
        }
        extents.push((lo, hi));
    }
    let symbol = Symbol::int(&format!("k'{dimension}"));
    let mut bounds = Vec::new();
    for pair in cuts.windows(2) {
        let (lo, hi) = (&pair[0], &(&pair[1] - &one));
        let active = families
            .iter()
            .zip(&extents)
            .filter(|(_, (from, to))| context.le(from, lo) && context.le(&pair[1], &(to + &one)));
        let mut met: Option<Family> = None;
        for (family, _) in active {
            // All speak of the same index by now.
            let own = family.binders.iter().find(|(symbol, ..)| family.index[dimension].mentions(symbol));
            let renamed = |e: &Expr| match own {
                Some((own, ..)) if *own != symbol => e.substitute(own, &Expr::from(&symbol)),
                _ => e.clone(),
            };
            let (work, head, tail) = (renamed(&family.work), renamed(&family.head), renamed(&family.tail));
            met = Some(match met {
                None => {
                    let mut binders: Vec<_> =
                        family.binders.iter().filter(|binder| own != Some(binder)).cloned().collect();
                    binders.push((symbol.clone(), lo.clone(), hi.clone()));
                    binders.sort();
                    let mut index = family.index.clone();
                    index[dimension] = Expr::from(&symbol);
                    Family { index, binders, work, head, tail }
                }
                Some(sum) => {
                    let least = |a: &Expr, b: &Expr| -context.max(vec![-a, -b]);
                    Family {
                        work: &sum.work + &work,
                        head: least(&sum.head, &head),
                        tail: least(&sum.tail, &tail),
                        ..sum
                    }
                }
            });
        }
        bounds.extend(met.map(|family| family.bound(servers, context)));
    }
    Some(bounds)
}
