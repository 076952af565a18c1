//! How fast this processor computes and streams memory.
//!
//! Computing: many independent chains of x = x·m + c in double precision, held in registers, with the widest vectors
//! of x86-64 that the processor has (scalar on others). Memory: a[i] = b[i] + s·c[i] on arrays four times as large as
//! the largest cache (the triad of McCalpin's STREAM), counted as three accesses of eight bytes.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use partune_machine::Rates;

use crate::host;

/// Rounds between two looks at the clock.
const ROUNDS: u32 = 2000;

/// Both rates of one PE, in operations and bytes a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct One {
    pub(crate) flops: f64,
    pub(crate) memory: f64,
}

/// The rates of one thread, and of `cores` threads in sum; within about `budget_s`.
pub(crate) fn on_threads(budget_s: f64, cores: u32) -> Rates {
    let slice = (budget_s / 5.0).clamp(0.01, 0.5);
    let one = measure(slice, 1, &|| ());
    let start = Barrier::new(cores as usize);
    let together = || {
        start.wait();
    };
    let all: Vec<One> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(|| measure(slice, cores, &together))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    });
    Rates {
        flops_one: one.flops,
        flops_all: all.iter().map(|it| it.flops).sum(),
        memory_one: one.memory,
        memory_all: all.iter().map(|it| it.memory).sum(),
    }
}

/// The rates of this thread, each measured for `slice_s`, while `sharers` do the same on this host; `together` is
/// called before each, so that they start at once.
pub(crate) fn measure(slice_s: f64, sharers: u32, together: &dyn Fn()) -> One {
    together();
    let flops = flops(slice_s);
    let mut arrays = Arrays::new(sharers);
    together();
    let memory = arrays.rate(slice_s);
    One { flops, memory }
}

/// Floating-point operations a second.
fn flops(slice_s: f64) -> f64 {
    let kernel = kernel();
    let (mut done, begin) = (0.0, Instant::now());
    loop {
        done += kernel();
        let elapsed = begin.elapsed().as_secs_f64();
        if elapsed >= slice_s {
            return done / elapsed;
        }
    }
}

/// The kernel for this processor; it gives the number of operations that it did.
fn kernel() -> fn() -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return x86::avx512;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return x86::avx2;
        }
        x86::sse2
    }
    #[cfg(not(target_arch = "x86_64"))]
    scalar
}

/// Chains of multiply-adds: more than latency times issue width of the processors we know, fewer than fill the
/// registers.
const CHAINS: usize = 10;

/// The kernel for a vector of `$lanes` doubles; `$fused` is one step of all chains.
macro_rules! chains {
    ($lanes:expr, $one:expr, $step:expr) => {{
        let mut values = [$one(1.0); CHAINS];
        let (factor, term) = black_box(($one(0.999_999), $one(1e-6)));
        for _ in 0..ROUNDS {
            // Written out by the compiler, so that the values stay in registers.
            for value in &mut values {
                *value = $step(*value, factor, term);
            }
        }
        black_box(values);
        f64::from(ROUNDS) * (CHAINS * 2 * $lanes) as f64
    }};
}

/// For processors that we know no vectors of.
#[cfg(not(target_arch = "x86_64"))]
fn scalar() -> f64 {
    let fused = cfg!(target_feature = "fma") || cfg!(target_arch = "aarch64");
    let step = |value: f64, factor: f64, term: f64| {
        if fused { value.mul_add(factor, term) } else { value * factor + term }
    };
    chains!(1, |value: f64| value, step)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Vectors of x86-64.
    #![allow(unsafe_code, reason = "instructions that only some processors have")]

    use core::arch::x86_64::{
        _mm_add_pd, _mm_mul_pd, _mm_set1_pd, _mm256_fmadd_pd, _mm256_set1_pd, _mm512_fmadd_pd, _mm512_set1_pd,
    };

    use super::{CHAINS, ROUNDS, black_box};

    /// Only where the processor has `avx512f`.
    pub(super) fn avx512() -> f64 {
        #[target_feature(enable = "avx512f")]
        fn inner() -> f64 {
            chains!(8, _mm512_set1_pd, _mm512_fmadd_pd)
        }
        // SAFETY: called only where the processor has it.
        unsafe { inner() }
    }

    /// Only where the processor has `avx2` and `fma`.
    pub(super) fn avx2() -> f64 {
        #[target_feature(enable = "avx2,fma")]
        fn inner() -> f64 {
            chains!(4, _mm256_set1_pd, _mm256_fmadd_pd)
        }
        // SAFETY: called only where the processor has it.
        unsafe { inner() }
    }

    /// Every x86-64 processor has it.
    pub(super) fn sse2() -> f64 {
        #[target_feature(enable = "sse2")]
        fn inner() -> f64 {
            chains!(2, _mm_set1_pd, |value, factor, term| _mm_add_pd(_mm_mul_pd(value, factor), term))
        }
        // SAFETY: part of the base set.
        unsafe { inner() }
    }
}

/// The three arrays of the triad.
struct Arrays {
    sum: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Arrays {
    /// Four times the largest cache for all sharers of the host together, or what memory allows: a quarter of the free.
    fn new(sharers: u32) -> Arrays {
        let sharers = sharers.max(1) as usize;
        let wanted = (4 * host::last_cache()).min(1 << 30) / sharers;
        let bytes = wanted.max(24 << 20).min(host::free_memory() / 4 / sharers);
        let length = (bytes / 3 / size_of::<f64>()).max(1024);
        Arrays { sum: vec![0.5; length], left: vec![1.0; length], right: vec![2.0; length] }
    }

    /// Bytes a second.
    fn rate(&mut self, slice_s: f64) -> f64 {
        let bytes = (3 * size_of::<f64>() * self.sum.len()) as f64;
        let (mut done, begin) = (0.0, Instant::now());
        loop {
            let scale = black_box(3.0);
            for ((sum, left), right) in self.sum.iter_mut().zip(&self.left).zip(&self.right) {
                *sum = *left + scale * *right;
            }
            black_box(&mut self.sum);
            done += bytes;
            let elapsed = begin.elapsed().as_secs_f64();
            if elapsed >= slice_s {
                return done / elapsed;
            }
        }
    }
}
