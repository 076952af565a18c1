//! Random numbers by counter: a draw depends on its place only, never on the order of draws.

/// A source of draws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rng {
    key: u64,
}

impl Rng {
    /// The source of a seed and a stream.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self { key: mix(seed ^ mix(stream.wrapping_add(0xA076_1D64_78BD_642F))) }
    }

    /// The draw at a counter.
    pub(crate) fn bits(self, counter: u64) -> u64 {
        mix(self.key ^ counter.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// In [-1, 1).
    pub(crate) fn signed_unit(self, counter: u64) -> f64 {
        (self.bits(counter) as i64 >> 11) as f64 / (1i64 << 52) as f64
    }
}

/// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_and_repeatable() {
        let rng = Rng::new(1, 2);
        assert_eq!(rng.bits(7), Rng::new(1, 2).bits(7));
        assert_ne!(rng.bits(7), Rng::new(1, 3).bits(7));
        let draws: Vec<f64> = (0..10_000).map(|i| rng.signed_unit(i)).collect();
        assert!(draws.iter().all(|draw| (-1.0..1.0).contains(draw)));
        assert!((draws.iter().sum::<f64>() / 10_000.0).abs() < 0.02);
    }
}
