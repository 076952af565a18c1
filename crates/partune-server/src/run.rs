//! A run that is open: its diagnosis, and what answers are made of. What only some views need is made when it is first asked for.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use partune_analysis::{CriticalPath, PathTimes, Pattern, path_times};
use partune_base::{CallPathId, Id, PeId, RegionId, Span, Table, Time};
use partune_engine::{Diagnosis, Machine};
use partune_picture::{CallTree, Detail, Exchanges, Flat, Fold, Lines, Stacks};
use partune_trace::{Trace, VisitIx};
use rustc_hash::FxHashMap;

use crate::reply::Error;

/// Everything that is known of a run.
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) diagnosis: Diagnosis,
    pub(crate) machine: Option<Machine>,
    pub(crate) detail: Detail,
    pub(crate) lines: Lines,
    pub(crate) stacks: Stacks,
    /// The PEs that recorded something; a number of the API is a position here.
    pub(crate) pes: Vec<PeId>,
    numbers: Table<PeId, u32>,
    /// Ids of findings.
    pub(crate) ids: Vec<String>,
    places: FxHashMap<(Pattern, CallPathId), u32>,
    times: OnceLock<PathTimes>,
    tree: OnceLock<CallTree>,
    /// The parts of the critical path, in order of time.
    pub(crate) critical: Vec<(PeId, Time, Time)>,
    flat: OnceLock<Vec<Flat>>,
    firsts: OnceLock<Table<RegionId, Option<First>>>,
    waiting: OnceLock<Table<CallPathId, Span>>,
    exchanges: OnceLock<(Fold, Exchanges)>,
}

/// The first visit of a region: when, where.
pub(crate) type First = (Time, PeId, VisitIx);

/// Rows of a matrix.
pub(crate) const SIDE: usize = 256;

impl Run {
    pub(crate) fn new(name: String, path: &Path, diagnosis: Diagnosis, machine: Option<Machine>) -> Run {
        let Diagnosis { trace, index, waits, .. } = &diagnosis;
        let pes: Vec<PeId> = trace.active_pes().collect();
        let mut numbers = Table::filled(trace.pes().len(), u32::MAX);
        for (number, pe) in pes.iter().enumerate() {
            numbers[*pe] = number as u32;
        }
        let findings = || diagnosis.findings.iter().map(|ranked| &ranked.finding);
        let mut places = FxHashMap::default();
        for (position, finding) in findings().enumerate().filter(|(_, finding)| finding.pattern.is_wait()) {
            places.extend(finding.call_paths().map(|path| ((finding.pattern, path), position as u32)));
        }
        let ((detail, lines), (stacks, critical)) = rayon::join(
            || (Detail::new(trace, waits), Lines::new(waits, index)),
            || rayon::join(|| Stacks::new(trace), || critical(&diagnosis)),
        );
        Run {
            name,
            path: path.to_owned(),
            detail,
            lines,
            stacks,
            pes,
            numbers,
            ids: findings().map(|finding| partune_report::finding_id(trace, finding)).collect(),
            places,
            machine,
            times: OnceLock::new(),
            tree: OnceLock::new(),
            critical,
            flat: OnceLock::new(),
            firsts: OnceLock::new(),
            waiting: OnceLock::new(),
            exchanges: OnceLock::new(),
            diagnosis,
        }
    }

    pub(crate) fn trace(&self) -> &Trace {
        &self.diagnosis.trace
    }

    /// The number of a PE in the API.
    pub(crate) fn number(&self, pe: PeId) -> Option<u32> {
        self.numbers.get(pe).copied().filter(|number| *number != u32::MAX)
    }

    /// The PE of a number that was asked for.
    pub(crate) fn pe(&self, number: u32) -> Result<PeId, Error> {
        let found = self.pes.get(number as usize).copied();
        found.ok_or_else(|| Error::question(format!("there is no PE {number}"), "runs/R/pes lists them"))
    }

    /// The position of the finding that a wait belongs to.
    pub(crate) fn finding_at(&self, pattern: Pattern, path: CallPathId) -> Option<u32> {
        self.places.get(&(pattern, path)).copied()
    }

    pub(crate) fn seconds(&self, span: Span) -> f64 {
        self.trace().clock().seconds(span)
    }

    /// Nanoseconds from the begin of the run, rounded down.
    pub(crate) fn ns(&self, time: Time) -> i64 {
        let ticks = i128::from((time - self.trace().begin()).0);
        let per_second = i128::from(self.trace().clock().ticks_per_second());
        (ticks * 1_000_000_000).div_euclid(per_second).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    /// The last moment that [`Run::ns`] tells as this number, or as an earlier one.
    pub(crate) fn time(&self, ns: i64) -> Time {
        let per_second = i128::from(self.trace().clock().ticks_per_second());
        let ticks = ((i128::from(ns) + 1) * per_second - 1).div_euclid(1_000_000_000);
        Time::clamped(i128::from(self.trace().begin().0) + ticks)
    }

    pub(crate) fn times(&self) -> &PathTimes {
        self.times.get_or_init(|| path_times(self.trace()))
    }

    pub(crate) fn tree(&self) -> &CallTree {
        self.tree.get_or_init(|| CallTree::new(self.trace(), self.times()))
    }

    /// Regions, by exclusive time.
    pub(crate) fn flat(&self) -> &[Flat] {
        self.flat.get_or_init(|| partune_picture::flat(self.trace(), self.times(), &self.diagnosis.waits))
    }

    /// The first visit of each region.
    pub(crate) fn firsts(&self) -> &Table<RegionId, Option<First>> {
        self.firsts.get_or_init(|| partune_picture::firsts(self.trace()))
    }

    /// Waiting in the operations of each call path and of all below it.
    pub(crate) fn waiting(&self) -> &Table<CallPathId, Span> {
        self.waiting.get_or_init(|| {
            let paths = self.trace().paths();
            let mut sums = partune_picture::waiting(self.trace(), &self.diagnosis.waits);
            for path in paths.ids().rev() {
                if let Some(parent) = paths.parent(path).some() {
                    let below = sums[path];
                    sums[parent] += below;
                }
            }
            sums
        })
    }

    /// Who gives what to whom, on as many rows as a matrix has.
    pub(crate) fn exchanges(&self) -> &(Fold, Exchanges) {
        self.exchanges.get_or_init(|| {
            let fold = Fold::new(self.pes.clone(), SIDE);
            let exchanges = Exchanges::new(self.trace(), &self.diagnosis.index, &fold);
            (fold, exchanges)
        })
    }

    /// Makes what is made when it is first asked for, before somebody asks.
    pub(crate) fn warm(&self) {
        self.tree();
        self.flat();
        self.waiting();
        self.firsts();
        self.exchanges();
    }

    /// Whether it has times.
    pub(crate) fn needs_events(&self) -> Result<(), Error> {
        if self.trace().profile().is_some() { Err(Error::profile()) } else { Ok(()) }
    }

    /// The call path of a number that was asked for.
    pub(crate) fn call_path(&self, number: u32) -> Result<CallPathId, Error> {
        let path = CallPathId::from_index(number as usize);
        let known = path.index() < self.trace().paths().len();
        if known {
            Ok(path)
        } else {
            Err(Error::question(format!("there is no call path {number}"), "runs/R/tree lists them"))
        }
    }
}

/// The parts of the critical path, in order of time.
fn critical(diagnosis: &Diagnosis) -> Vec<(PeId, Time, Time)> {
    let mut parts = CriticalPath::find(&diagnosis.trace, &diagnosis.index, &diagnosis.waits).parts;
    parts.reverse();
    parts
}
