//! Visits by what is known of them: of which a condition holds, as patterns of the user's own have it.

use std::cmp::Reverse;

use partune_base::{PeId, Span};
use partune_operations::{Condition, Figures, Measure, WrongCondition};
use partune_picture::Found;
use partune_trace::VisitIx;
use rayon::prelude::*;

use super::Run;
use super::visits::Visit;

impl Run {
    /// The longest visits of which a condition holds (`time > 5 ms and construct = MPI_*`), longest first, and how many there are. Bytes and
    /// waiting are those of operations. One pass over visits, parallel over PEs.
    pub fn search(&self, condition: &str, most: usize) -> Result<Found<Visit>, WrongCondition> {
        let condition = partune_operations::condition(condition)?;
        if condition.speaks_of(Measure::GapBefore) {
            let (message, remedy) =
                ("gaps are not searched", "name a pattern that asks for gap_before, see operations.md");
            return Err(WrongCondition { at: 0, message: message.to_owned(), remedy: remedy.to_owned() });
        }
        let of_pes = self.active.par_iter().map(|pe| self.search_pe(*pe, &condition, most));
        let sum = |mut one: Found<Visit>, other: Found<Visit>| {
            one.count += other.count;
            one.rows.extend(other.rows);
            keep_longest(&mut one.rows, most);
            one
        };
        Ok(of_pes.reduce(|| Found { rows: Vec::new(), count: 0 }, sum))
    }

    fn search_pe(&self, pe: PeId, condition: &Condition, most: usize) -> Found<Visit> {
        let stream = &self.trace.streams()[pe];
        let mut bytes = InOrder::new(Vec::new());
        if condition.speaks_of(Measure::Bytes) {
            bytes = InOrder::new(stream.moved().map(|(visit, sent, got)| (visit, sent.saturating_add(got))).collect());
        }
        let mut waiting = InOrder::new(Vec::new());
        if condition.speaks_of(Measure::Waiting) {
            let waits = self.waits.of_pe(pe).iter().chain(self.waits.start_up_of_pe(pe));
            waiting = InOrder::new(waits.map(|wait| (wait.operation, wait.duration().0.cast_unsigned())).collect());
        }
        let (regions, strings) = (self.trace.regions(), self.trace.strings());
        let ticks_per_second = self.trace.clock().ticks_per_second();
        let shortest = condition.shortest(ticks_per_second);
        // What is shorter than so many others is not among the longest.
        let mut shortest_row = Span(i64::MIN);
        let mut found = Found { rows: Vec::new(), count: 0 };
        for (at, visit) in stream.visits.iter().enumerate() {
            if visit.duration() < shortest {
                continue;
            }
            let at = VisitIx(at as u32);
            let region = &regions[self.trace.paths().region(visit.path)];
            let figures = Figures {
                role: region.role,
                construct: strings.get(region.construct),
                ticks_per_second,
                time: visit.duration(),
                gap_before: Span::ZERO,
                waiting: Span(waiting.sum_of(at).cast_signed()),
                bytes: bytes.sum_of(at),
            };
            if !condition.holds(&figures) {
                continue;
            }
            found.count += 1;
            if visit.duration() < shortest_row {
                continue;
            }
            found.rows.push(Visit { pe, path: visit.path, enter: visit.enter, exit: visit.exit });
            if found.rows.len() > 2 * most + 8 {
                keep_longest(&mut found.rows, most);
                shortest_row = found.rows.last().map_or(shortest_row, |row| row.exit.since(row.enter));
            }
        }
        keep_longest(&mut found.rows, most);
        found
    }
}

fn keep_longest(visits: &mut Vec<Visit>, most: usize) {
    visits.sort_by_key(|it| (Reverse(it.exit.since(it.enter)), it.enter, it.pe, it.path));
    visits.truncate(most);
}

/// Numbers of visits that are asked for in order.
struct InOrder {
    rows: Vec<(VisitIx, u64)>,
    next: usize,
}

impl InOrder {
    fn new(mut rows: Vec<(VisitIx, u64)>) -> InOrder {
        rows.sort_unstable();
        InOrder { rows, next: 0 }
    }

    /// The sum of those of a visit; visits before it are not asked for any more.
    fn sum_of(&mut self, visit: VisitIx) -> u64 {
        let mut sum = 0u64;
        while let Some((of, number)) = self.rows.get(self.next).filter(|row| row.0 <= visit) {
            sum = if *of == visit { sum.saturating_add(*number) } else { sum };
            self.next += 1;
        }
        sum
    }
}
