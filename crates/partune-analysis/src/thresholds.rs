//! The thresholds that a reader may change: one list, for the command line and for pages.

use crate::Options;

/// What the value of a threshold is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdKind {
    /// Of the run, 0 to 1.
    Share,
    Factor,
    Count,
    Bytes,
}

/// One of [`Options`] that is a number.
pub struct Threshold {
    pub name: &'static str,
    /// What is told from this value on.
    pub meaning: &'static str,
    pub kind: ThresholdKind,
    /// The smallest value that makes sense.
    pub least: f64,
    pub value: fn(&Options) -> f64,
    set: fn(&mut Options, f64),
}

impl Threshold {
    /// Changes it; an error says which values there are.
    pub fn set(&self, options: &mut Options, value: f64) -> Result<(), String> {
        // Up to here whole numbers are exact.
        let (most, is_whole) = match self.kind {
            ThresholdKind::Share => (1.0, false),
            ThresholdKind::Factor => (f64::MAX, false),
            ThresholdKind::Count | ThresholdKind::Bytes => ((1_u64 << 53) as f64, true),
        };
        if !(self.least..=most).contains(&value) || (is_whole && value.fract() != 0.0) {
            return Err(match self.kind {
                ThresholdKind::Share => "a share between 0 and 1".to_owned(),
                ThresholdKind::Factor => format!("a factor from {} on", self.least),
                ThresholdKind::Count | ThresholdKind::Bytes => format!("a whole number from {} on", self.least),
            });
        }
        (self.set)(options, value);
        Ok(())
    }
}

/// A number among the options, by its name there.
macro_rules! threshold {
    ($name:ident, $kind:ident, $least:literal, $meaning:literal) => {
        Threshold {
            name: stringify!($name),
            meaning: $meaning,
            kind: ThresholdKind::$kind,
            least: $least,
            value: |options| options.$name as f64,
            set: |options, value| options.$name = value as _,
        }
    };
}

/// All of them.
pub static THRESHOLDS: &[Threshold] = &[
    threshold!(minimum, Share, 0.0, "Report findings that lose at least this share of the run on all PEs"),
    threshold!(hotspot, Share, 0.0, "A place is a hotspot from this share of the run"),
    threshold!(baseline_factor, Factor, 0.0, "A hotspot is a bottleneck from this many times its baseline"),
    threshold!(
        deviation,
        Factor,
        0.0,
        "Without a baseline, from this ratio of its longest execution to the average, or of the average to the shortest"
    ),
    threshold!(frequent_count, Count, 0.0, "Calls at one place on one PE from which an operation is frequent"),
    threshold!(small_bytes, Bytes, 0.0, "Transfers below this size are small, where the trace does not tell"),
    threshold!(small_run, Count, 0.0, "Small transfers to one PE in a row that could be one"),
    threshold!(
        file_block,
        Bytes,
        1.0,
        "Bytes of a block of files: accesses below are small, and such that do not begin at a multiple are unaligned"
    ),
    threshold!(file_accesses, Count, 0.0, "Small accesses of a PE to a file at one place that could be fewer"),
    threshold!(file_syncs, Count, 0.0, "Synchronisations of a file at one place of a PE that are many"),
    threshold!(details, Count, 0.0, "Causes and instances to list a finding"),
];
