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

/// All of them.
pub static THRESHOLDS: &[Threshold] = &[
    Threshold {
        name: "minimum",
        meaning: "Report findings that lose at least this share of the run on all PEs",
        kind: ThresholdKind::Share,
        least: 0.0,
        value: |options| options.minimum,
        set: |options, value| options.minimum = value,
    },
    Threshold {
        name: "hotspot",
        meaning: "A place is a hotspot from this share of the run",
        kind: ThresholdKind::Share,
        least: 0.0,
        value: |options| options.hotspot,
        set: |options, value| options.hotspot = value,
    },
    Threshold {
        name: "baseline_factor",
        meaning: "A hotspot is a bottleneck from this many times its baseline",
        kind: ThresholdKind::Factor,
        least: 0.0,
        value: |options| options.baseline_factor,
        set: |options, value| options.baseline_factor = value,
    },
    Threshold {
        name: "deviation",
        meaning: "Without a baseline, from this ratio of its longest execution to the average, or of the average to the shortest",
        kind: ThresholdKind::Factor,
        least: 0.0,
        value: |options| options.deviation,
        set: |options, value| options.deviation = value,
    },
    Threshold {
        name: "frequent_count",
        meaning: "Calls at one place on one PE from which an operation is frequent",
        kind: ThresholdKind::Count,
        least: 0.0,
        value: |options| options.frequent_count as f64,
        set: |options, value| options.frequent_count = value as u64,
    },
    Threshold {
        name: "small_bytes",
        meaning: "Transfers below this size are small, where the trace does not tell",
        kind: ThresholdKind::Bytes,
        least: 0.0,
        value: |options| options.small_bytes as f64,
        set: |options, value| options.small_bytes = value as u64,
    },
    Threshold {
        name: "small_run",
        meaning: "Small transfers to one PE in a row that could be one",
        kind: ThresholdKind::Count,
        least: 0.0,
        value: |options| options.small_run as f64,
        set: |options, value| options.small_run = value as u64,
    },
    Threshold {
        name: "file_block",
        meaning: "Bytes of a block of files: accesses below are small, and such that do not begin at a multiple are unaligned",
        kind: ThresholdKind::Bytes,
        least: 1.0,
        value: |options| options.file_block as f64,
        set: |options, value| options.file_block = value as u64,
    },
    Threshold {
        name: "file_accesses",
        meaning: "Small accesses of a PE to a file at one place that could be fewer",
        kind: ThresholdKind::Count,
        least: 0.0,
        value: |options| options.file_accesses as f64,
        set: |options, value| options.file_accesses = value as u64,
    },
    Threshold {
        name: "file_syncs",
        meaning: "Synchronisations of a file at one place of a PE that are many",
        kind: ThresholdKind::Count,
        least: 0.0,
        value: |options| options.file_syncs as f64,
        set: |options, value| options.file_syncs = value as u64,
    },
    Threshold {
        name: "details",
        meaning: "Causes and instances to list a finding",
        kind: ThresholdKind::Count,
        least: 0.0,
        value: |options| options.details as f64,
        set: |options, value| options.details = value as usize,
    },
];
