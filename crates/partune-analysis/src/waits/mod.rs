//! Waits: the part of every operation that another PE's behaviour cost it (program-induced delay), and who ended it.
//!
//! Found once: those for a gift of another PE from the ties of the run, those for locks and shared memory from who had them; all other analyses that speak of waiting read this list. An operation has at most
//! one wait for what others did. Where several partners kept it (a completion of many messages), it is the one that ended last:
//! the operation could not have returned before, and no second is counted twice. Only a wait for the PE's own transfers can
//! follow it ([`completion`]). Waiting is never claimed from a partner that is not known,
//! nor between processes whose clocks contradict each other.
//!
//! Definitions: Su, "Parallel Performance Wizard", figures 4-4 to 4-7; names and the cases of messages and collectives as in
//! Scalasca's manual of patterns.

mod completion;
mod lock;
mod rma;
mod tied;
mod unseen;

use partune_base::{Id, PeId, Span, Table, Time};
use partune_index::{Index, Moves, Place, Ties};
use partune_trace::{Role, Trace, VisitIx};
use rayon::prelude::*;

use crate::{Options, Pattern};

pub(crate) use completion::{asks, completed};
pub(crate) use lock::holders;
pub(crate) use rma::contenders;

/// One wait of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub pe: PeId,
    /// The operation that waits.
    pub operation: VisitIx,
    pub pattern: Pattern,
    pub begin: Time,
    pub end: Time,
    /// The operation whose begin (or end, for locks and values) ended the wait; [`Place::NONE`] if unknown.
    pub cause: Place,
    /// Position of what it took part in: in [`partune_index::Collectives::instances`] for collectives, in
    /// [`partune_index::Locks::grants`] for locks, in [`partune_index::RmaIndex::transfers`] for puts and gets; else `u32::MAX`.
    pub instance: u32,
}

impl Wait {
    pub fn duration(&self) -> Span {
        self.end.since(self.begin)
    }

    /// The part in a piece of the run; `None` if there is none.
    fn within(self, moves: &Moves) -> Option<Wait> {
        let (begin, end) = (moves.time(self.begin), moves.time(self.end));
        let operation = moves.visit(self.pe, self.operation);
        let instance = match self.pattern {
            Pattern::WaitOnLock => moves.grant(self.instance),
            Pattern::CompetingPutGet => moves.transfer(self.instance),
            _ => moves.instance(self.instance),
        };
        let wait = Wait { operation, begin, end, cause: moves.place(self.cause), instance, ..self };
        (begin < end && operation.is_some()).then_some(wait)
    }
}

/// All waits longer than zero, in order of (PE, begin, end): 48 bytes a wait. Waits of one PE do not overlap.
///
/// Waits inside start-up and shut-down are the paradigm's own and no place for tuning: they are kept apart, in [`Waits::start_up`].
#[derive(Clone, Debug, Default)]
pub struct Waits {
    program: Rows,
    start_up: Rows,
}

impl<'a> IntoIterator for &'a Waits {
    type Item = &'a Wait;
    type IntoIter = std::slice::Iter<'a, Wait>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Waits by PE.
#[derive(Clone, Debug, Default)]
struct Rows {
    rows: Vec<Wait>,
    /// Where the waits of each PE begin in `rows`; one more entry than PEs.
    offsets: Table<PeId, u32>,
}

impl Waits {
    /// Finds all waits with the default thresholds, on a machine of which nothing is known.
    pub fn find(trace: &Trace, index: &Index) -> Waits {
        Waits::find_with(trace, index, &Options::default())
    }

    /// Finds all waits. Linear in operations, messages, members of collectives and transfers, but for sorting waits by PE;
    /// parallel over PEs and instances, with a result that does not depend on the number of threads.
    pub fn find_with(trace: &Trace, index: &Index, options: &Options) -> Waits {
        Waits::in_ties(trace, index, &Ties::build(trace, index), options)
    }

    /// The same, where the ties are known.
    pub fn in_ties(trace: &Trace, index: &Index, ties: &Ties, options: &Options) -> Waits {
        let mut shared: Vec<Vec<Wait>> = vec![Vec::new(); trace.streams().len()];
        let (locks, accesses) = rayon::join(|| lock::find(trace, index, options), || rma::find(trace, index, options));
        for wait in locks.into_iter().chain(accesses).chain(unseen::find(trace, index)) {
            if let Some(rows) = shared.get_mut(wait.pe.index()) {
                rows.push(wait);
            }
        }
        let found = shared.into_par_iter().enumerate().map(|(pe, shared)| {
            let pe = PeId::from_index(pe);
            let mut rows = tied::find(trace, index, ties, pe);
            rows.extend(shared);
            settle(trace, index, pe, rows)
        });
        let parts: Vec<(Vec<Wait>, Vec<Wait>)> = found.collect();
        let (program, start_up): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        Waits { program: Rows::new(program), start_up: Rows::new(start_up) }
    }

    /// The same in a piece of the run, to which this trace belongs: each wait is what it is in the run, and the part in the piece
    /// counts.
    #[must_use]
    pub fn within(self, trace: &Trace, moves: &Moves) -> Waits {
        let pes = trace.pes().len();
        let of_piece = |rows: Rows| {
            let mut of_pes: Vec<Vec<Wait>> = vec![Vec::new(); pes];
            rows.rows
                .into_iter()
                .filter_map(|wait| wait.within(moves))
                .for_each(|wait| of_pes[wait.pe.index()].push(wait));
            Rows::new(of_pes)
        };
        Waits { program: of_piece(self.program), start_up: of_piece(self.start_up) }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Wait> {
        self.program.rows.iter()
    }

    pub fn as_slice(&self) -> &[Wait] {
        &self.program.rows
    }

    pub fn len(&self) -> usize {
        self.program.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.program.rows.is_empty()
    }

    /// The waits of a PE, in order of time.
    pub fn of_pe(&self, pe: PeId) -> &[Wait] {
        self.program.of_pe(pe)
    }

    /// Where the waits of a PE begin in [`Waits::as_slice`].
    pub fn first_of_pe(&self, pe: PeId) -> usize {
        self.program.offsets.get(pe).map_or(0, |first| *first as usize)
    }

    /// Waits inside start-up and shut-down, in order of (PE, begin, end). No finding is made of them; the critical path passes through them.
    pub fn start_up(&self) -> &[Wait] {
        &self.start_up.rows
    }

    /// Those of a PE, in order of time.
    pub fn start_up_of_pe(&self, pe: PeId) -> &[Wait] {
        self.start_up.of_pe(pe)
    }
}

impl Rows {
    fn new(pes: Vec<Vec<Wait>>) -> Rows {
        let mut offsets: Table<PeId, u32> = Table::new();
        let mut total = 0;
        offsets.push(0);
        for rows in &pes {
            total += rows.len() as u32;
            offsets.push(total);
        }
        let mut rows = Vec::with_capacity(total as usize);
        pes.into_iter().for_each(|mut part| rows.append(&mut part));
        Rows { rows, offsets }
    }

    fn of_pe(&self, pe: PeId) -> &[Wait] {
        match (self.offsets.get(pe), self.offsets.get(PeId(pe.0.wrapping_add(1)))) {
            (Some(first), Some(end)) => &self.rows[*first as usize..*end as usize],
            _ => &[],
        }
    }
}

/// Of the waits of a PE, keeps for each operation the one that ended last, adds those for own transfers, and puts those of start-up and shut-down apart.
fn settle(trace: &Trace, index: &Index, pe: PeId, mut rows: Vec<Wait>) -> (Vec<Wait>, Vec<Wait>) {
    rows.retain(|wait| wait.end > wait.begin && wait.operation.is_some());
    if !index.clocks.aligned {
        rows.retain(|wait| one_clock(trace, index, wait));
    }
    rows.sort_unstable_by_key(|wait| {
        (wait.operation, std::cmp::Reverse(wait.end), wait.begin, wait.pattern, wait.cause, wait.instance)
    });
    rows.dedup_by_key(|wait| wait.operation);
    completion::add(trace, index, pe, &mut rows);
    rows.sort_unstable_by_key(|wait| (wait.operation, wait.begin));
    let start_up = rows.extract_if(.., |wait| is_start_up(trace.role_of(wait.pe, wait.operation))).collect();
    rows.shrink_to_fit();
    (rows, start_up)
}

/// Whether all PEs that a wait depends on are of one process, so that their times can be compared whatever the clocks.
fn one_clock(trace: &Trace, index: &Index, wait: &Wait) -> bool {
    let process = |pe: PeId| trace.pes().get(pe).map(|pe| pe.process);
    let own = process(wait.pe);
    let group = match wait.pattern {
        Pattern::WaitOnLock | Pattern::CompetingPutGet => None,
        _ => index.collectives.instances.get(wait.instance as usize),
    };
    let members = group.map_or(&[][..], |instance| index.collectives.members(instance));
    (!wait.cause.is_some() || process(wait.cause.pe) == own) && members.iter().all(|member| process(member.pe) == own)
}

/// Whether an operation is the paradigm's own business: start-up and shut-down.
pub(crate) fn is_start_up(role: Role) -> bool {
    matches!(role, Role::Init | Role::Finalize)
}

/// Adds a wait, or replaces the one before it if that is of the same operation and pattern and ended earlier.
fn push_latest(rows: &mut Vec<Wait>, wait: Wait) {
    match rows.last_mut() {
        Some(last) if last.operation == wait.operation && last.pattern == wait.pattern => {
            if wait.end > last.end {
                *last = wait;
            }
        }
        _ => rows.push(wait),
    }
}
