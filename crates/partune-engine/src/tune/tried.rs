//! What came of trying a setting.

use partune_analysis::{Interval, repeats};

use super::{Predicted, Setting};

/// A setting that was tried in turns with what was kept before it.
#[derive(Debug)]
pub struct Tried {
    pub setting: Setting,
    /// What came of it, or how the program ended that did not end well.
    pub measured: Result<Measured, String>,
    /// Whether it is to be kept.
    pub kept: bool,
}

/// Runs of the whole command with and without a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Of each kind.
    pub runs: usize,
    /// Seconds of wall-clock time without it, and what it saves of them.
    pub without: Interval,
    pub saved: Interval,
}

impl Measured {
    /// Of times that were measured in turns; none without any.
    pub fn new(without: &[f64], with: &[f64]) -> Option<Measured> {
        let saved = repeats::difference(with, without)?;
        Some(Measured { runs: with.len(), without: repeats::median(without)?, saved })
    }

    /// Whether it saves time beyond noise.
    pub fn helps(&self) -> bool {
        self.saved.is_known() && self.saved.is_above(0.0)
    }

    /// What it saves of the command, as a share.
    pub fn share(&self) -> f64 {
        self.saved.estimate / self.without.estimate.max(f64::MIN_POSITIVE)
    }
}

impl Tried {
    /// What it saves, in seconds, if that is beyond noise.
    pub fn saves(&self) -> Option<f64> {
        let measured = self.measured.as_ref().ok()?;
        (measured.helps() && !self.is_too_good()).then_some(measured.saved.estimate)
    }

    /// Whether more was saved than could be, so that something else changed.
    pub fn is_too_good(&self) -> bool {
        let Predicted { saving, is_most, .. } = &self.setting.predicted;
        let most = saving.saves_high_s / (saving.predicted_run_s + saving.saves_s).max(f64::MIN_POSITIVE);
        *is_most && self.measured.as_ref().is_ok_and(|it| it.share() > TOO_GOOD * most)
    }

    /// Whether it saves most of what was predicted.
    pub fn is_as_predicted(&self) -> bool {
        self.saves().is_some_and(|saves| saves >= 0.5 * self.setting.predicted.saving.saves_s)
    }
}

/// How many times what is most may be saved: the run that was recorded is one of many.
const TOO_GOOD: f64 = 2.0;
