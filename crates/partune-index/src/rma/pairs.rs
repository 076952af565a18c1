//! Operations that meet those PEs that they name, and nobody else: SYNC IMAGES of coarrays.
//!
//! The k-th of A that names B and the k-th of B that names A meet, counted in a team (Fortran 2018, section 11.6.4); neither goes on before
//! the other began. So an operation waits for the partner that began last. Whom it names, rows of one-sided synchronisation in it say: a PE
//! each, or a group. Where no row of a trace does, two PEs that are all there is can have named each other only; more are not guessed.
//! What is not known of every partner of an operation is not claimed.

use partune_base::{GroupId, Id, PeId, Time};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{RmaSync, RmaSyncKind, Trace};
use rayon::prelude::*;

use super::epochs::{PARTNERS, PARTNERS_OF_ALL};
use super::{EpochEnd, ValueWait};
use crate::Place;
use crate::scan::Scan;

/// An operation of one PE names another PE.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Naming {
    /// The two, and in which team: the smaller id first.
    pair: (GroupId, PeId, PeId),
    by: Place,
    /// The operation of the other that it meets; [`Place::NONE`] if that is not known.
    meets: Place,
}

/// All operations whose partners are known, and which of them met, in no order. Linear in rows and named PEs, but for sorting them; 32 bytes per
/// PE named. As for epochs, there is a limit on partners: a trace whose rows name more has no pairs, and that is reported.
pub(super) fn find(trace: &Trace, scans: &[Scan], quality: &mut Quality) -> (Vec<ValueWait>, Vec<EpochEnd>) {
    let operations: usize = scans.iter().map(|scan| scan.named.len()).sum();
    if operations == 0 {
        return (Vec::new(), Vec::new());
    }
    let pes = || scans.par_iter().enumerate().map(|(pe, scan)| (PeId::from_index(pe), scan));
    let (rows, partners) =
        pes().map(|(pe, scan)| size(trace, pe, scan)).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let fits = partners <= PARTNERS_OF_ALL + PARTNERS * rows;
    let named: Vec<Vec<Naming>> = pes().filter(|_| fits).map(|(pe, scan)| named(trace, pe, scan)).collect();
    let mut namings = if rows > 0 { named.concat() } else { of_two(trace, scans) };
    let silent = if namings.is_empty() { operations as u64 } else { 0 };
    namings.par_sort_unstable_by_key(|naming| (naming.pair, naming.by));
    let mut alone = 0;
    for pair in namings.chunk_by_mut(|a, b| a.pair == b.pair) {
        let (first, second) = pair.split_at_mut(pair.partition_point(|naming| naming.by.pe == naming.pair.1));
        if first.len() == second.len() {
            first.iter_mut().zip(second).for_each(|(a, b)| (a.meets, b.meets) = (b.by, a.by));
        } else {
            alone += (first.len() + second.len()) as u64;
        }
    }
    report(quality, alone, silent);
    namings.par_sort_unstable_by_key(|naming| (naming.by, naming.meets));
    let waits = namings.par_chunk_by(|a, b| a.by == b.by).filter_map(|of| last(trace, of)).collect();
    let met = namings.iter().filter(|naming| naming.meets.is_some());
    (waits, met.map(|naming| EpochEnd { wait: naming.by, complete: naming.meets }).collect())
}

/// The rows in such operations.
fn rows<'a>(trace: &'a Trace, pe: PeId, scan: &'a Scan) -> impl Iterator<Item = &'a RmaSync> {
    let rows = if scan.named.is_empty() { &[][..] } else { &trace.streams()[pe].rma_syncs };
    rows.iter().filter(|row| scan.named.binary_search(&row.visit).is_ok())
}

/// How many rows say whom the operations of a PE name, and how many PEs those name at most.
fn size(trace: &Trace, pe: PeId, scan: &Scan) -> (usize, usize) {
    let members = |group: GroupId| trace.groups().get(group).map_or(1, |group| group.members.len());
    let sizes = rows(trace, pe, scan).filter_map(|row| match row.kind {
        RmaSyncKind::NotifyIn | RmaSyncKind::NotifyOut => Some(1),
        RmaSyncKind::Group(group) => Some(members(group)),
        RmaSyncKind::Memory | RmaSyncKind::WaitChange | RmaSyncKind::WindowCreated | RmaSyncKind::WindowFreed => None,
    });
    sizes.fold((0, 0), |(rows, all), size| (rows + 1, all + size))
}

/// What the operations of a PE name.
fn named(trace: &Trace, pe: PeId, scan: &Scan) -> Vec<Naming> {
    let mut found = Vec::new();
    for row in rows(trace, pe, scan) {
        let by = Place { pe, visit: row.visit };
        let team = trace.windows().get(row.window).map_or(GroupId::NONE, |window| window.group);
        let mut names = |other: PeId| {
            if other != pe {
                found.push(Naming { pair: (team, pe.min(other), pe.max(other)), by, meets: Place::NONE });
            }
        };
        match row.kind {
            RmaSyncKind::NotifyIn | RmaSyncKind::NotifyOut => names(row.target),
            RmaSyncKind::Group(group) => match trace.groups().get(group) {
                Some(group) => group.members.iter().for_each(names),
                None => names(PeId::NONE),
            },
            RmaSyncKind::Memory | RmaSyncKind::WaitChange | RmaSyncKind::WindowCreated | RmaSyncKind::WindowFreed => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Of the only two PEs of a trace, if they made as many such operations, and each overlaps its counterpart.
fn of_two(trace: &Trace, scans: &[Scan]) -> Vec<Naming> {
    let pes: Vec<PeId> = trace.active_pes().collect();
    let &[a, b] = &pes[..] else { return Vec::new() };
    let places = |pe: PeId| scans[pe.index()].named.iter().map(move |&visit| Place { pe, visit });
    let overlap = |(a, b): (Place, Place)| a.enter(trace) <= b.exit(trace) && b.enter(trace) <= a.exit(trace);
    if places(a).len() != places(b).len() || !places(a).zip(places(b)).all(overlap) {
        return Vec::new();
    }
    let naming = |by| Naming { pair: (GroupId::NONE, a.min(b), a.max(b)), by, meets: Place::NONE };
    places(a).chain(places(b)).map(naming).collect()
}

/// The partner of an operation that began last, if all are known and none began after it was over: then the clocks contradict each other.
fn last(trace: &Trace, namings: &[Naming]) -> Option<ValueWait> {
    let by = namings.first()?.by;
    let began = |naming: &Naming| naming.meets.is_some().then(|| (naming.meets.enter(trace), naming.meets));
    let began: Option<Vec<(Time, Place)>> = namings.iter().map(began).collect();
    let (at, cause) = began?.into_iter().max()?;
    let (enter, exit) = (by.enter(trace), by.exit(trace));
    (at <= exit).then(|| ValueWait { pe: by.pe, operation: by.visit, cause, fulfilled: at.max(enter) })
}

fn report(quality: &mut Quality, alone: u64, silent: u64) {
    quality.add(
        Diagnostic::data_loss(
            Code::UnpairedSynchronisations,
            "synchronisations with named PEs have no counterpart on these, or it is not clear which; no waiting is reported of them",
            "record all processes from begin to end",
        )
        .times(alone),
    );
    quality.add(
        Diagnostic::info(
            Code::UnpairedSynchronisations,
            "synchronisations with named PEs (SYNC IMAGES) do not say whom they name; no waiting is reported of them",
            "record with a tool that writes the partners of each",
        )
        .times(silent),
    );
}
