//! A run that is open: its diagnosis, and how the API numbers what is in it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use partune_base::{CallPathId, Id, PeId, Span, Table, Time};
use partune_engine::{Diagnosis, Exchanges, Fold, Pattern};
use rustc_hash::FxHashMap;

use crate::error::Error;

/// Everything that is known of a run.
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) diagnosis: Diagnosis,
    /// Numbers of PEs in the API: positions among those that recorded something.
    numbers: Table<PeId, u32>,
    /// Ids of findings.
    pub(crate) ids: Vec<String>,
    places: FxHashMap<(Pattern, CallPathId), u32>,
    exchanges: OnceLock<(Fold, Exchanges)>,
}

/// Rows of a matrix.
pub(crate) const SIDE: usize = 256;

impl Run {
    pub(crate) fn new(name: String, path: &Path, diagnosis: Diagnosis) -> Run {
        let recorded = &diagnosis.run;
        let mut numbers = Table::filled(recorded.pes().len(), u32::MAX);
        for (number, pe) in recorded.active_pes().iter().enumerate() {
            numbers[*pe] = number as u32;
        }
        let findings = || diagnosis.findings.iter().map(|ranked| &ranked.finding);
        let mut places = FxHashMap::default();
        for (position, finding) in findings().enumerate().filter(|(_, finding)| finding.pattern.is_wait()) {
            places.extend(finding.call_paths().map(|path| ((finding.pattern, path), position as u32)));
        }
        recorded.prepare();
        Run {
            name,
            path: path.to_owned(),
            numbers,
            ids: findings().map(|finding| partune_report::finding_id(recorded, finding)).collect(),
            places,
            exchanges: OnceLock::new(),
            diagnosis,
        }
    }

    /// What was recorded of it.
    pub(crate) fn recorded(&self) -> &partune_engine::Run {
        &self.diagnosis.run
    }

    /// The PEs that recorded something; a number of the API is a position here.
    pub(crate) fn pes(&self) -> &[PeId] {
        self.recorded().active_pes()
    }

    /// The number of a PE in the API.
    pub(crate) fn number(&self, pe: PeId) -> Option<u32> {
        self.numbers.get(pe).copied().filter(|number| *number != u32::MAX)
    }

    /// The PE of a number that was asked for.
    pub(crate) fn pe(&self, number: u32) -> Result<PeId, Error> {
        let found = self.pes().get(number as usize).copied();
        found.ok_or_else(|| Error::question(format!("there is no PE {number}"), "runs/R/pes lists them"))
    }

    /// The position of the finding that a wait belongs to.
    pub(crate) fn finding_at(&self, pattern: Pattern, path: CallPathId) -> Option<u32> {
        self.places.get(&(pattern, path)).copied()
    }

    pub(crate) fn seconds(&self, span: Span) -> f64 {
        self.recorded().seconds(span)
    }

    /// Nanoseconds from the begin of the run, rounded down.
    pub(crate) fn ns(&self, time: Time) -> i64 {
        let ticks = i128::from((time - self.recorded().begin()).0);
        let per_second = i128::from(self.recorded().clock().ticks_per_second());
        (ticks * 1_000_000_000).div_euclid(per_second).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    /// The last moment that [`Run::ns`] gives as this number, or as an earlier one.
    pub(crate) fn time(&self, ns: i64) -> Time {
        let per_second = i128::from(self.recorded().clock().ticks_per_second());
        let ticks = ((i128::from(ns) + 1) * per_second - 1).div_euclid(1_000_000_000);
        Time::clamped(i128::from(self.recorded().begin().0) + ticks)
    }

    /// The first moment that [`Run::ns`] gives as this number, or as a later one.
    pub(crate) fn first_time(&self, ns: i64) -> Time {
        Time(self.time(ns.saturating_sub(1)).0 + 1)
    }

    /// Who gives what to whom, on as many rows as a matrix has.
    pub(crate) fn exchanges(&self) -> &(Fold, Exchanges) {
        self.exchanges.get_or_init(|| {
            let fold = Fold::new(self.pes().to_vec(), SIDE);
            let exchanges = self.recorded().exchanges(&fold);
            (fold, exchanges)
        })
    }

    /// Makes what is made when it is first asked for, before somebody asks.
    pub(crate) fn warm(&self) {
        self.recorded().prepare_sums();
        self.exchanges();
    }

    /// Whether it is known when things happened.
    pub(crate) fn needs_times(&self) -> Result<(), Error> {
        if self.recorded().is_profile() { Err(Error::profile()) } else { Ok(()) }
    }

    /// Whether single events are known.
    pub(crate) fn needs_events(&self) -> Result<(), Error> {
        self.needs_times()?;
        if self.recorded().has_events() { Ok(()) } else { Err(Error::slices()) }
    }

    /// The call path of a number that was asked for.
    pub(crate) fn call_path(&self, number: u32) -> Result<CallPathId, Error> {
        let path = CallPathId::from_index(number as usize);
        let known = path.index() < self.recorded().paths().len();
        if known {
            Ok(path)
        } else {
            Err(Error::question(format!("there is no call path {number}"), "runs/R/tree lists them"))
        }
    }
}
