//! Random numbers by counting: the n-th draw of a process depends on the seed, on where the process stands in the model, and on n.
//!
//! So two mappings of one model see the same samples, and an event more in one process changes nothing in another. The mixing
//! function is that of SplitMix64 (Steele, Lea and Flood, 2014).

/// Mixes 64 bits.
pub(super) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The path of a child.
pub(super) fn child(path: u64, position: u64) -> u64 {
    mix(path ^ mix(position.wrapping_add(0x5851_F42D_4C95_7F2D)))
}

/// The draws of one process.
pub(super) struct Source<'a> {
    pub(super) seed: u64,
    pub(super) path: u64,
    pub(super) count: &'a mut u32,
}

impl Source<'_> {
    /// Uniform in the open interval from 0 to 1.
    pub(super) fn unit(&mut self) -> f64 {
        *self.count = self.count.wrapping_add(1);
        let bits = mix(self.seed ^ mix(self.path ^ (u64::from(*self.count) << 32)));
        ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }

    /// By Box and Muller.
    pub(super) fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        mean + deviation * radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A position below a length.
    pub(super) fn position(&mut self, length: usize) -> usize {
        ((self.unit() * length as f64) as usize).min(length.saturating_sub(1))
    }
}
