//! Chains of waits: each wait that was looked at in detail as a link, with the code that was late and the earlier waits that it
//! hangs on. Kept after costs are booked, so that single places can be followed to their roots (see [`super::roots`]).

use std::cmp::Reverse;
use std::ops::Range;

use partune_base::{CallPathId, PeId};
use partune_index::Place;
use partune_trace::Trace;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::excess::{AllExcess, Excess};
use crate::{Wait, Waits};

/// How many links to look back for one with the same cause.
const LOOK_BACK: usize = 64;

/// Who was late in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Root {
    pub(crate) pe: PeId,
    /// The call path in which it spent the time; none outside of recorded regions, the operation itself if no more is known.
    pub(crate) origin: CallPathId,
    /// Its operation that ended the first wait of a chain.
    pub(crate) path: CallPathId,
}

/// What is behind one wait: parts of D + W, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    /// D + W.
    pub(super) total: f64,
    /// Where D is, in a list of roots and ticks.
    pub(super) parts: (u32, u32),
    /// The earlier waits of the cause that were looked at too, as links.
    pub(super) first: u32,
    pub(super) end: u32,
    /// The other waits of the cause.
    pub(super) rest: Option<Rest>,
}

/// Waits that were not looked at: all are taken as the longest of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub(super) ticks: f64,
    /// The longest, as a position in [`Waits::as_slice`].
    pub(super) wait: u32,
    pub(super) like: Like,
}

/// How the longest of other waits goes on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Like {
    /// As an earlier link of the same PE with the same operation of the same PE as cause.
    Link(u32),
    /// Not at all.
    End(Root),
}

/// All links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chains {
    /// The waits, as positions in [`Waits::as_slice`], in order.
    pub(super) waits: Vec<u32>,
    pub(super) behind: Vec<Behind>,
    /// Who was late, as positions in `roots`, and for how long.
    pub(super) parts: Vec<(u32, f32)>,
    pub(super) roots: Vec<Root>,
    /// Links, those that ended last first.
    pub(super) order: Vec<u32>,
}

impl Root {
    /// The operation that ended a wait, for which nothing else was found.
    pub(super) fn operation(trace: &Trace, wait: &Wait) -> Root {
        let Place { pe, visit } = wait.cause;
        let path = trace.visit(pe, visit).path;
        Root { pe, origin: path, path }
    }
}

impl Chains {
    pub(super) fn new(trace: &Trace, waits: &Waits, excess: &AllExcess) -> Chains {
        let all = excess.pes.iter().flat_map(|pe| pe.iter().map(move |row| (pe, row)));
        let rows: Vec<_> = (0_u32..).zip(all).filter_map(|(i, (pe, row))| Some((i, pe, row?))).collect();
        let mut chains = Chains { waits: rows.iter().map(|(i, _, _)| *i).collect(), ..Chains::default() };
        let mut known: FxHashMap<Root, u32> = FxHashMap::default();
        let behind = |(i, _, row): &(u32, _, &Excess)| chains.behind(trace, waits, &waits.as_slice()[*i as usize], row);
        let behind: Vec<Behind> = rows.par_iter().map(behind).collect();
        for ((i, pe, row), behind) in rows.into_iter().zip(behind) {
            let wait = &waits.as_slice()[i as usize];
            let parts = parts(trace, wait, &pe.parts[row.parts.0 as usize..row.parts.1 as usize]);
            let first = chains.parts.len() as u32;
            for (root, ticks) in parts {
                let roots = &mut chains.roots;
                let number = *known.entry(root).or_insert_with(|| {
                    roots.push(root);
                    roots.len() as u32 - 1
                });
                chains.parts.push((number, ticks));
            }
            chains.behind.push(Behind { parts: (first, chains.parts.len() as u32), ..behind });
        }
        let mut order: Vec<u32> = (0..chains.waits.len() as u32).collect();
        order.par_sort_by_key(|link| Reverse((waits.as_slice()[chains.wait(*link as usize)].end, *link)));
        Chains { order, ..chains }
    }

    /// The position in [`Waits::as_slice`] of the wait that is a link.
    pub(crate) fn wait(&self, link: usize) -> usize {
        self.waits[link] as usize
    }

    /// The link of a wait, if it was looked at.
    pub(crate) fn link(&self, wait: usize) -> Option<u32> {
        self.waits.binary_search(&(wait as u32)).ok().map(|link| link as u32)
    }

    /// The links among the waits of a range.
    pub(crate) fn links(&self, waits: Range<usize>) -> Range<usize> {
        let first = self.waits.partition_point(|wait| (*wait as usize) < waits.start);
        first..first + self.waits[first..].partition_point(|wait| (*wait as usize) < waits.end)
    }

    /// What is behind a wait, without the parts of D.
    pub(super) fn behind(&self, trace: &Trace, waits: &Waits, wait: &Wait, row: &Excess) -> Behind {
        let links = self.links(row.first as usize..row.end as usize);
        let (first, end) = (links.start as u32, links.end as u32);
        let mut behind = Behind { total: (row.delay + row.waited).0 as f64, parts: (0, 0), first, end, rest: None };
        let mut looked_at = self.waits[links].iter().peekable();
        let (mut ticks, mut longest) = (0.0, None::<(i64, u32)>);
        for position in row.first..row.end {
            if looked_at.next_if_eq(&&position).is_none() {
                let duration = waits.as_slice()[position as usize].duration().0;
                ticks += duration as f64;
                longest = longest.max(Some((duration, position)));
            }
        }
        behind.rest =
            longest.map(|(_, position)| Rest { ticks, wait: position, like: self.like(trace, waits, wait, position) });
        behind
    }

    /// How a wait that was not looked at goes on, which keeps the cause of `later`.
    fn like(&self, trace: &Trace, waits: &Waits, later: &Wait, position: u32) -> Like {
        let wait = &waits.as_slice()[position as usize];
        let operation = |wait: &Wait| trace.visit(wait.cause.pe, wait.cause.visit).path;
        if !wait.cause.is_some() {
            // Nobody is known to have kept it: the time went by there.
            let origin = trace.visit(wait.pe, wait.operation).path;
            return Like::End(Root { pe: later.cause.pe, path: operation(later), origin });
        }
        let links = self.links(waits.first_of_pe(wait.pe)..position as usize);
        let same = |link: &usize| {
            let other = &waits.as_slice()[self.waits[*link] as usize];
            other.cause.pe == wait.cause.pe && operation(other) == operation(wait)
        };
        match links.rev().take(LOOK_BACK).find(same) {
            Some(link) => Like::Link(link as u32),
            None => Like::End(Root::operation(trace, wait)),
        }
    }
}

/// Who was late in the time before a wait, and for how long.
pub(super) fn parts<'a>(
    trace: &Trace,
    wait: &Wait,
    parts: &'a [(CallPathId, f32)],
) -> impl Iterator<Item = (Root, f32)> + use<'a> {
    let pe = wait.cause.pe;
    let path = trace.visit(pe, wait.cause.visit).path;
    parts.iter().map(move |(origin, ticks)| (Root { pe, path, origin: *origin }, *ticks))
}
