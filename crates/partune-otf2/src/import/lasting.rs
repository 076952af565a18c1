//! Which functions went on between two operations, where the recorder does not know: unwind distances below 2.
//!
//! Two operations of one function may lie in two calls of it. Where the calls are in its code decides. Outermost first, as long as both
//! operations have the same function at the same place, that place says nothing: the function may have gone round a loop, or have returned
//! and been called again from a loop around it. The first place that differs decides: a call further down in the same function follows in the same
//! execution of it, a call further up does not. So time between two operations is that of the innermost function that went on for sure,
//! and never that of a function that merely has both.
//!
//! The program's own outermost function always goes on: that is the innermost one that both start-up and shut-down are in (of a Fortran program,
//! `main` calls it), or the outermost one where that is not known and all operations are in it, as on a thread. Where they are in several, the recorder left out frames
//! around them, and none is known to go on. So does a function with two turns of a marked loop.
//!
//! A loop around one call (a receive posted for each neighbour) looks like that too. Where such gaps are short it does not matter whose they are, and taking
//! the functions for left and called again would make many visits of one. So the shortest kinds of unproven gaps, as long as they are 1 % of the time of a PE
//! together, leave all functions open.
//!
//! A thread that serves others is in no function between the parts that it has in their teams: what is around a part is where the team was forked.
//!
//! Traces ([`super::weave`]) and profiles ([`super::statistics`]) go by this one rule, which knows only the two contexts.

use std::cmp::Ordering;

use partune_base::{RegionId, Strings, Table};
use partune_trace::{Region, RegionKind, Role};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::contexts::{Contexts, DEEPEST, NO_FRAME, Position};
use super::tables::Tables;
use crate::start::is_below_main;

/// The gaps of a location for which the recorder does not know what went on, by the operations around them.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// Number and ticks of each kind.
    sums: FxHashMap<(u32, u32), (u64, u64)>,
    /// The outermost function that operations are in, and whether they are in others too.
    root: Option<u32>,
    has_roots: bool,
}

impl Pairs {
    /// The location has an operation in this context.
    pub(super) fn operation(&mut self, contexts: &Contexts, operation: u32) {
        let frame = contexts.around(operation);
        if frame != NO_FRAME {
            let root = contexts.ancestor(frame, 1);
            self.has_roots |= *self.root.get_or_insert(root) != root;
        }
    }

    /// There are so many gaps between two operations, which take so many ticks.
    pub(super) fn count(&mut self, pair: (u32, u32), count: u64, ticks: u64) {
        let sum = self.sums.entry(pair).or_default();
        *sum = (sum.0.saturating_add(count), sum.1.saturating_add(ticks));
    }
}

/// How many functions go on between two operations, by their contexts, on one location.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lasting {
    /// Whether all operations of the location are in one outermost function.
    has_root: bool,
    /// Whether it is not its process's main thread.
    serves: bool,
    known: FxHashMap<(u32, u32), u32>,
}

impl Lasting {
    /// Of a location that took `span` ticks, and `serves` others if it is not its process's main thread.
    pub(super) fn new(contexts: &Contexts, pairs: &Pairs, serves: bool, span: u64) -> Lasting {
        let mut lasting = Lasting { has_root: !pairs.has_roots, serves, known: <_>::default() };
        let common =
            |pair: (u32, u32)| contexts.depth(contexts.common(contexts.around(pair.0), contexts.around(pair.1)));
        // Functions around both sides may have been left in these.
        let is_unproven =
            |pair: (u32, u32)| !lasting.is_idle(contexts, pair) && lasting.find(contexts, pair) < common(pair);
        let unproven = pairs.sums.iter().map(|(pair, sum)| (*pair, *sum)).filter(|(pair, _)| is_unproven(*pair));
        let mut unproven: Vec<_> = unproven.collect();
        let mean = |sum: (u64, u64), other: (u64, u64)| u128::from(sum.1) * u128::from(other.0);
        unproven.sort_unstable_by(|a, b| mean(a.1, b.1).cmp(&mean(b.1, a.1)).then(a.0.cmp(&b.0)));
        let mut left = span / 100;
        for (pair, (_, ticks)) in unproven {
            let Some(rest) = left.checked_sub(ticks) else { break };
            left = rest;
            lasting.known.insert(pair, common(pair));
        }
        lasting
    }

    /// Whether the gap is one between two parts in teams.
    fn is_idle(&self, contexts: &Contexts, (before, next): (u32, u32)) -> bool {
        self.serves && contexts.is_parallel(before) && contexts.is_parallel(next)
    }

    pub(super) fn of(&mut self, contexts: &Contexts, pair: (u32, u32)) -> u32 {
        if self.is_idle(contexts, pair) {
            return 0;
        }
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        let found = self.find(contexts, pair);
        self.known.insert(pair, found);
        found
    }

    fn find(&self, contexts: &Contexts, pair: (u32, u32)) -> u32 {
        contexts.lasting(pair.0, pair.1, self.has_root)
    }
}

impl Contexts {
    /// How many of the functions around two operations, outermost first, went on from the end of one to the begin of the next.
    fn lasting(&self, before: u32, next: u32, has_root: bool) -> u32 {
        let common = self.common(self.around(before), self.around(next));
        if self.is_iteration(before) && self.region(before) == self.region(next) {
            return self.depth(common);
        }
        let mut lasting = self.program(common, has_root);
        // So that the cost is bounded; in recursion so deep the program's function is the answer.
        if self.length(before).max(self.length(next)) > 4 * DEEPEST {
            return lasting;
        }
        for (a, b) in self.functions(before).into_iter().zip(self.functions(next)) {
            if self.inside(a) != self.inside(b) {
                break;
            }
            match order(self.at(a), self.at(b)) {
                Some(Ordering::Less) => {
                    lasting = lasting.max(self.depth(self.inside(a)));
                    break;
                }
                Some(Ordering::Greater) => break,
                Some(Ordering::Equal) | None => {}
            }
        }
        lasting.min(self.depth(common))
    }

    /// The contexts around one that are functions, outermost first.
    fn functions(&self, context: u32) -> Vec<u32> {
        let around = std::iter::successors(self.parent(context), |at| self.parent(*at));
        let is_function =
            |at: &u32| self.parent(*at).map_or(NO_FRAME, |parent| self.inside(parent)) != self.inside(*at);
        let mut functions: Vec<u32> = around.filter(is_function).collect();
        functions.reverse();
        functions
    }

    fn is_parallel(&self, context: u32) -> bool {
        self.kinds.parallel.contains(&self.region(context))
    }

    fn is_iteration(&self, context: u32) -> bool {
        self.kinds.iterations.contains(&self.region(context))
    }

    /// How many functions on the way to a frame are there as long as the program or thread runs.
    fn program(&self, frame: u32, has_root: bool) -> u32 {
        if frame == NO_FRAME {
            return 0;
        }
        if let Some(program) = self.kinds.programs.get(&self.ancestor(frame, 1)) {
            return self.depth(self.common(frame, *program));
        }
        let is_start = |depth: &u32| self.kinds.starts.contains(&self.frame(self.ancestor(frame, *depth)).region);
        let depth = self.depth(frame);
        ((1..=depth).take_while(is_start).count() as u32 + u32::from(has_root)).min(depth)
    }

    /// Looks at regions once. Called when all chains are known.
    pub(super) fn know_kinds(&mut self, regions: &Table<RegionId, Region>, strings: &Strings, tables: &Tables) {
        self.kinds.operations = regions.iter().map(|region| !region.role.is_transparent()).collect();
        let starts = regions.ids().filter(|id| is_below_main(strings.get(regions[*id].name)));
        self.kinds.starts = starts.collect();
        // By outermost function: what start-up and shut-down have in common so far, and whether there are both.
        let mut programs: FxHashMap<u32, (u32, [bool; 2])> = FxHashMap::default();
        for context in 0..self.len() as u32 {
            let region = &regions[tables.region(self.region(context).into())];
            if region.kind == RegionKind::Iteration {
                self.kinds.iterations.insert(self.region(context));
            }
            if region.role == Role::Parallel {
                self.kinds.parallel.insert(self.region(context));
            }
            let frame = self.around(context);
            let ends = [Role::Init, Role::Finalize].map(|role| role == region.role);
            if frame != NO_FRAME && ends.contains(&true) {
                let program = programs.entry(self.ancestor(frame, 1)).or_insert((frame, [false; 2]));
                program.0 = self.common(program.0, frame);
                program.1.iter_mut().zip(ends).for_each(|(has, it)| *has |= it);
            }
        }
        let whole = programs.into_iter().filter(|(_, (_, has))| *has == [true; 2]);
        self.kinds.programs = whole.map(|(root, (program, _))| (root, program)).collect();
    }
}

/// Which of two places in one function comes first: by line where these differ, for compilers move code, else by address; none where neither is known.
fn order(a: Position, b: Position) -> Option<Ordering> {
    let of_lines = (a.line.is_some() && a.line.file == b.line.file).then(|| a.line.line.cmp(&b.line.line));
    let of_addresses = a.offset.zip(b.offset).map(|(a, b)| a.cmp(&b));
    of_lines.filter(|order| order.is_ne()).or(of_addresses).or(of_lines)
}
