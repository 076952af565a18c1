//! Whether advice came true: what it predicts, held against what the runs after it saved.

use partune_analysis::{Comparison, Interval};

use crate::{Advice, Saving};

/// Advice for the base of a comparison that predicts something, and what became of it.
pub struct Verified<'a> {
    pub advice: &'a Advice,
    pub saving: Saving,
    /// Seconds of the base that the saving is of.
    pub run_s: f64,
    /// What each run after the base saved, by all its repeats, in seconds between the end of start-up and the begin of shut-down.
    pub saved: Vec<Interval>,
}

/// What became of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// What was saved is in the range that was predicted.
    Inside,
    /// It is not, but runs differ so much that it may be.
    WithinNoise,
    Outside,
}

impl Came {
    pub const ALL: [Came; 3] = [Came::Inside, Came::WithinNoise, Came::Outside];

    /// The name used in JSON and in ledgers.
    pub fn name(self) -> &'static str {
        match self {
            Came::Inside => "inside",
            Came::WithinNoise => "within_noise",
            Came::Outside => "outside",
        }
    }
}

impl<'a> Verified<'a> {
    /// None where nothing predicts the advice.
    pub fn new(advice: &'a Advice, run_s: f64, comparison: &Comparison) -> Option<Verified<'a>> {
        let longer = comparison.runs.iter().skip(1).map(|run| run.longer);
        let saved = longer.map(|longer| longer.map(|it| it.map(|seconds| -seconds))).collect::<Option<_>>()?;
        Some(Verified { advice, saving: advice.saving?, run_s, saved })
    }

    pub fn came(&self, saved: &Interval) -> Came {
        self.saving.came(saved)
    }
}

impl Saving {
    pub(crate) fn came(&self, saved: &Interval) -> Came {
        let (low, high) = (self.saves_low_s, self.saves_high_s);
        if (low..=high).contains(&saved.estimate) {
            Came::Inside
        } else if saved.is_above(high) || saved.is_below(low) {
            Came::Outside
        } else {
            Came::WithinNoise
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_widens_what_was_saved_and_not_what_was_predicted() {
        let saving = Saving { predicted_run_s: 0.6, saves_s: 0.4, saves_low_s: 0.37, saves_high_s: 0.43 };
        let came = |estimate: f64, low: f64, high: f64| saving.came(&Interval { estimate, low, high, confidence: 0.9 });
        assert_eq!(came(0.4, 0.1, 0.9), Came::Inside);
        assert_eq!(came(0.371, 0.371, 0.371), Came::Inside);
        assert_eq!(came(0.36, 0.35, 0.375), Came::WithinNoise);
        assert_eq!(came(0.36, 0.35, 0.365), Came::Outside);
        assert_eq!(came(0.5, 0.44, 0.6), Came::Outside);
    }
}
