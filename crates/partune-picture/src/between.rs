//! What went from some PEs to others: how much, in pieces of which size, and how long each was on its way.

use partune_base::{PeId, Span, Table, Time};
use partune_index::Index;
use partune_trace::Trace;
use rayon::prelude::*;

use crate::content::{Edges, Lasting, used};
use crate::exchange::{Exchange, given};
use crate::lines::Moved;
use crate::parts::Sum;

/// Messages and one-sided accesses that took bytes from some PEs to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// As the cells of [`crate::Exchanges`] have it.
    pub total: Exchange,
    /// Those of which one end only is known: they are in the total and the sizes, and nowhere else.
    pub unmatched: u64,
    /// Those that came before they were sent, by clocks that could not be repaired: they are no time on their way.
    pub backwards: u64,
    /// From the smallest to the largest, without a gap.
    pub sizes: Vec<Holding>,
    /// Of how long they were on their way: from the send to the end of the receive, from begin to completion of an access.
    pub durations: Vec<Lasting>,
    /// The first ones in the order that is asked for.
    pub first: Vec<Moved>,
}

/// Those of at least `from` bytes, and less than `to` (none: any more).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    pub from: u64,
    pub to: Option<u64>,
    pub count: u64,
    pub bytes: u64,
}

/// Which come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Those longest on their way.
    Slowest,
    Largest,
    Earliest,
}

/// Classes of sizes: none, and so many bits.
const SIZES: usize = 65;

/// Where from and when, where to and when.
type Ends = ((PeId, Time), (PeId, Time));

/// A place in the order; then what makes it a total one, and what is there.
type Place = ((i64, Time, PeId, u32), Moved);

struct Sums {
    total: Exchange,
    unmatched: u64,
    backwards: u64,
    sizes: [Sum; SIZES],
    durations: Vec<u64>,
    first: Vec<Place>,
}

impl Between {
    /// What `givers` gave to `getters`, with the first `most` of it. Linear in what these PEs started; parallel over them.
    pub fn new(
        trace: &Trace,
        index: &Index,
        (givers, getters): (&[PeId], &[PeId]),
        (order, most): (First, usize),
    ) -> Between {
        let edges = Edges::new(trace.clock());
        let of = |pes: &[PeId]| {
            let mut is = Table::filled(trace.pes().len(), false);
            pes.iter().for_each(|pe| is[*pe] = true);
            is
        };
        let (gives, gets) = (of(givers), of(getters));
        let starters: Vec<PeId> = trace.pes().ids().filter(|pe| gives[*pe] || gets[*pe]).collect();
        let of_pe = |mut sums: Sums, pe: &PeId| {
            let mut number = 0;
            given(trace, index, *pe, |other, is_get, exchange, moved| {
                number += 1;
                let (from, to) = if is_get { (other, *pe) } else { (*pe, other) };
                if gives.get(from) == Some(&true) && gets.get(to) == Some(&true) {
                    sums.add(exchange, moved.map(|moved| (moved, moved.ends(trace))), &edges, (order, *pe, number));
                    sums.cut(most, 2 * most + 64);
                }
            });
            sums
        };
        let empty = || Sums::new(&edges);
        let pieces = starters.par_chunks(starters.len().div_ceil(4 * rayon::current_num_threads()).max(1));
        let mut sums = pieces.map(|pes| pes.iter().fold(empty(), of_pe)).reduce(empty, |a, b| a.and(b, most));
        sums.cut(most, 0);
        sums.first.sort_unstable_by_key(|(place, _)| *place);
        Between {
            total: sums.total,
            unmatched: sums.unmatched,
            backwards: sums.backwards,
            sizes: holding(&sums.sizes),
            durations: edges.lasting(&sums.durations),
            first: sums.first.into_iter().map(|(_, moved)| moved).collect(),
        }
    }
}

impl Sums {
    fn new(edges: &Edges) -> Sums {
        Sums {
            total: Exchange::default(),
            unmatched: 0,
            backwards: 0,
            sizes: [Sum::default(); SIZES],
            durations: vec![0; edges.len()],
            first: Vec::new(),
        }
    }

    fn add(
        &mut self,
        exchange: Exchange,
        moved: Option<(Moved, Ends)>,
        edges: &Edges,
        (order, pe, number): (First, PeId, u32),
    ) {
        self.total.add(exchange);
        self.sizes[(u64::BITS - exchange.bytes.leading_zeros()) as usize] += Sum::one(exchange.bytes);
        let Some((moved, ((_, begin), (_, end)))) = moved else {
            self.unmatched += exchange.count;
            return;
        };
        let lasted = end - begin;
        if lasted < Span::ZERO {
            self.backwards += 1;
        } else {
            self.durations[usize::from(edges.class(lasted))] += 1;
        }
        let key = match order {
            First::Slowest => lasted.0.saturating_neg(),
            First::Largest => -i64::try_from(exchange.bytes).unwrap_or(i64::MAX),
            First::Earliest => begin.0,
        };
        self.first.push(((key, begin, pe, number), moved));
    }

    /// Lets go of what is not among the first `most`, once there are more than `room`.
    fn cut(&mut self, most: usize, room: usize) {
        if self.first.len() > most.max(room) {
            self.first.select_nth_unstable_by_key(most, |(place, _)| *place);
            self.first.truncate(most);
        }
    }

    fn and(mut self, other: Sums, most: usize) -> Sums {
        self.total.add(other.total);
        self.unmatched += other.unmatched;
        self.backwards += other.backwards;
        for (own, others) in self.sizes.iter_mut().zip(other.sizes) {
            *own += others;
        }
        self.durations.iter_mut().zip(other.durations).for_each(|(own, others)| *own += others);
        self.first.extend(other.first);
        self.cut(most, 0);
        self
    }
}

/// The classes from the first to the last that have something.
fn holding(sizes: &[Sum; SIZES]) -> Vec<Holding> {
    let least = |class: usize| if class == 0 { Some(0) } else { 1u64.checked_shl(class as u32 - 1) };
    let row = |class: usize| Holding {
        from: least(class).unwrap_or(u64::MAX),
        to: least(class + 1),
        count: sizes[class].rows,
        bytes: sizes[class].value,
    };
    used(sizes, |size| size.rows > 0).map(row).collect()
}
