//! Where not all of a run was recorded: what was recorded in one go on a PE, between two times at which it was off.

use partune_base::{PeId, Table, Time};
use partune_trace::{Pause, PauseKind, Trace};

/// When recording was off, by PE, in order of time: 24 bytes a pause. In a run of which the begin is missing there is one stretch.
pub(crate) struct Stretches(Table<PeId, Vec<Pause>>);

impl Stretches {
    /// None of a run that was recorded from begin to end: what belongs together is counted from its begin. Linear in pauses.
    pub(crate) fn of(trace: &Trace) -> Option<Stretches> {
        let off = |stream: &partune_trace::Stream| -> Vec<Pause> {
            stream.pauses.iter().filter(|pause| pause.kind == PauseKind::Off).copied().collect()
        };
        let off: Table<PeId, Vec<Pause>> = trace.streams().iter().map(off).collect();
        (trace.begins_late() || off.iter().any(|pauses| !pauses.is_empty())).then_some(Stretches(off))
    }

    /// Which stretch of a PE a time is in. Logarithmic in pauses.
    pub(crate) fn at(&self, pe: PeId, time: Time) -> u32 {
        self.0.get(pe).map_or(0, |pauses| pauses.partition_point(|pause| pause.end <= time) as u32)
    }

    /// When recording went on, of a stretch of a PE, and when it was switched off after it: the least and the greatest time at the ends of the run.
    pub(crate) fn span(&self, pe: PeId, stretch: u32) -> (Time, Time) {
        let pauses = self.0.get(pe).map_or(&[][..], |pauses| pauses);
        let before = (stretch as usize).checked_sub(1).and_then(|before| pauses.get(before));
        (
            before.map_or(Time::MIN, |pause| pause.end),
            pauses.get(stretch as usize).map_or(Time::MAX, |pause| pause.begin),
        )
    }
}
