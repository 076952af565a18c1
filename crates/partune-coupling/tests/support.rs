//! Measurements in a line.

use partune_coupling::couplings::Measurements;
use partune_coupling::flow::KernelId;
use partune_coupling::measured::{Metric, Quantity};
use partune_coupling::predict::Application;

/// A chain of kernels named by letters.
pub(crate) fn chain(letters: &str) -> Vec<KernelId> {
    letters.bytes().map(|letter| KernelId(u32::from(letter - b'A'))).collect()
}

/// Times without errors, of kernels A, B, … alone and of chains.
pub(crate) fn times(isolated: &[f64], chains: &[(&str, f64)]) -> Measurements {
    times_within(0.0, isolated, chains)
}

/// Times that are off by a share.
pub(crate) fn times_within(share: f64, isolated: &[f64], chains: &[(&str, f64)]) -> Measurements {
    let time = |value: f64| Quantity::amount(value, share * value);
    Measurements {
        metric: Metric::time(0.0),
        isolated: isolated.iter().map(|value| time(*value)).collect(),
        chains: chains.iter().map(|(letters, value)| (chain(letters), time(*value))).collect(),
    }
}

pub(crate) const ONCE: Application = Application { once: Vec::new(), iterations: 1 };

#[track_caller]
pub(crate) fn near(found: f64, expected: f64, off: f64) {
    assert!((found - expected).abs() <= off, "{found} is not {expected}");
}

/// Numbers from 0 to 1 of a generator with a fixed seed: (x · a + c) mod 2⁶⁴, Knuth.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal: the sum of twelve uniform values less six.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
