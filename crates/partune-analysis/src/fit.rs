//! t(s) = o + G s by least squares: overhead of a transfer and time per byte (LogGP), from durations in a trace.

use serde::{Deserialize, Serialize};

/// Sums of a fit; those of different PEs add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    count: f64,
    bytes: f64,
    time: f64,
    bytes_squared: f64,
    time_squared: f64,
    product: f64,
}

/// A line through durations over sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// o: what a transfer of no bytes takes.
    pub overhead: f64,
    /// G: what each byte adds.
    pub per_byte: f64,
}

/// Share of the variance that a line must explain to be believed.
const EXPLAINED: f64 = 0.5;

impl Fit {
    /// Adds a transfer.
    pub fn add(&mut self, bytes: f64, time: f64) {
        self.count += 1.0;
        self.bytes += bytes;
        self.time += time;
        self.bytes_squared += bytes * bytes;
        self.time_squared += time * time;
        self.product += bytes * time;
    }

    /// Adds the sums of another.
    pub fn merge(&mut self, other: &Fit) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.time += other.time;
        self.bytes_squared += other.bytes_squared;
        self.time_squared += other.time_squared;
        self.product += other.product;
    }

    /// Mean duration; zero without transfers.
    pub fn mean(&self) -> f64 {
        if self.count > 0.0 { self.time / self.count } else { 0.0 }
    }

    /// The line, if sizes differ, both of its parts are positive, and it explains half of the variance.
    pub fn line(&self) -> Option<Line> {
        let spread = self.count * self.bytes_squared - self.bytes * self.bytes;
        let together = self.count * self.product - self.bytes * self.time;
        let variance = self.count * self.time_squared - self.time * self.time;
        if self.count < 3.0 || spread <= 0.0 || together <= 0.0 || variance <= 0.0 {
            return None;
        }
        let per_byte = together / spread;
        let overhead = (self.time - per_byte * self.bytes) / self.count;
        let explained = together * together / (spread * variance);
        (overhead > 0.0 && explained >= EXPLAINED).then_some(Line { overhead, per_byte })
    }
}
