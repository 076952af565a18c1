//! What lines of memory cost one core, by the cache that has them: streams of loads, and of stores, through buffers that lie in one level each.
//!
//! A buffer is as many times larger than the level before as it is smaller than its own, so that the levels before it keep little of it until it is needed again,
//! and tables of pages and neighbours on the machine have as little a part as can be; memory is four times the last level. Vectors of 32 bytes load or store all
//! of each line, in four streams at once. The least of several samples counts, since nothing makes a stream faster than it is.

use std::hint::black_box;
use std::time::Instant;

use partune_machine::{Cache, Caches, LineCost};

use crate::host;

/// A line at its own place in memory; longer lines of a machine are several of these.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Block([u64; 8]);

const BLOCK: usize = size_of::<Block>();
/// Streams at once, each through its part of a buffer: loops have several arrays, and one stream alone is slower.
const STREAMS: usize = 4;
/// Samples of a stream, at least.
const SAMPLES: usize = 5;
/// A sample lasts at least this long, as far as one pass is shorter.
const LEAST_SAMPLE_S: f64 = 2e-5;
/// Bytes of the largest buffer.
const LARGEST: usize = 1 << 30;

/// Measures the caches of the core that runs this, within about `budget_s` and not below a second's tenth; says why if it cannot.
pub(crate) fn measure(budget_s: f64) -> Result<Caches, &'static str> {
    let levels = host::caches();
    let last = levels.last().ok_or("the system does not describe them")?.bytes as usize;
    let largest = (4 * last).min(LARGEST).min(host::free_memory() / 4);
    if largest < 2 * last {
        return Err("there is too little memory for a buffer that they do not hold");
    }
    let stream::Streams { load, store } = stream::streams().ok_or("this is known for x86-64 only")?;
    // Written, so that each page has memory of its own.
    let mut buffer = vec![Block([0x3ff8_0000_0000_0001; 8]); largest / BLOCK];
    let slice_s = budget_s / (2 * levels.len() + 3) as f64;
    let cycle_s = least(slice_s, || stream::chain(CHAIN)) / CHAIN as f64;
    let mut cost = |bytes: usize, line: u32| {
        let blocks = (bytes / BLOCK / STREAMS * STREAMS).clamp(STREAMS, buffer.len());
        let line = f64::from(line) / BLOCK as f64 / blocks as f64;
        let buffer = &mut buffer[..blocks];
        LineCost { load_s: line * least(slice_s, || load(buffer)), store_s: line * least(slice_s, || store(buffer)) }
    };
    let memory = cost(largest, levels.last().map_or(64, |level| level.line));
    let mut before = None;
    let mut level = |level: host::CacheSize| {
        let host::CacheSize { bytes, line, ways } = level;
        let before: u64 = before.replace(bytes).unwrap_or(bytes / 2);
        // Between both, by as large a factor from each.
        let buffer = (before as f64 * bytes as f64).sqrt();
        let LineCost { load_s, store_s } = cost(buffer as usize, line);
        Cache { bytes, line, ways, load_s, store_s }
    };
    let levels = levels.into_iter().map(&mut level).collect();
    black_box(buffer[0].0[0]);
    Ok(Caches { cycle_s, levels, memory })
}

/// Additions of a chain.
const CHAIN: usize = 20_000;

/// The least time that something took, of samples of several times each.
fn least(slice_s: f64, mut something: impl FnMut()) -> f64 {
    // Warms up, and tells how often a sample does it.
    something();
    let begin = Instant::now();
    something();
    let times = (LEAST_SAMPLE_S / begin.elapsed().as_secs_f64().max(1e-9)).clamp(1.0, 1e5) as u32;
    let (mut least, mut count, all) = (f64::INFINITY, 0, Instant::now());
    while count < SAMPLES || all.elapsed().as_secs_f64() < slice_s {
        let begin = Instant::now();
        (0..times).for_each(|_| something());
        least = least.min(begin.elapsed().as_secs_f64() / f64::from(times));
        count += 1;
    }
    // No clock stands still for so long.
    least.max(1e-12)
}

#[cfg(target_arch = "x86_64")]
mod stream {
    //! Loops whose instructions are given, so that they are the same however partune is compiled.
    #![allow(unsafe_code, reason = "instructions that no compiler may change")]

    use std::arch::asm;

    use super::{Block, STREAMS};

    /// A pass through `$buffer`, a block of each quarter a turn; `$access` are the instructions of a turn, after `$before` and before `$after`. They find the
    /// quarters at `rdi` plus `rdx`, twice `rdx`, and `rcx`.
    macro_rules! pass {
        ($buffer:expr, [$($before:literal),*], [$($access:literal),*], [$($after:literal),*]) => {{
            let quarter = $buffer.len() / STREAMS;
            if quarter > 0 {
                let begin = $buffer.as_mut_ptr();
                let bytes = quarter * size_of::<Block>();
                // SAFETY: turns pass whole blocks, from the first one of each quarter of the buffer to its last one, which are this function's to read and
                // write; callers check that the processor has the instructions.
                unsafe {
                    asm!(
                        $($before,)*
                        "2:",
                        $($access,)*
                        "add rdi, 64",
                        "cmp rdi, rsi",
                        "jb 2b",
                        $($after,)*
                        inout("rdi") begin => _,
                        inout("rsi") begin.add(quarter) => _,
                        inout("rdx") bytes => _,
                        inout("rcx") 3 * bytes => _,
                        clobber_abi("C"),
                        options(nostack),
                    );
                }
            }
        }};
    }

    /// Passes through a buffer.
    pub(super) struct Streams {
        pub(super) load: fn(&mut [Block]),
        pub(super) store: fn(&mut [Block]),
    }

    /// None on processors that nothing is known of; here, with the widest vectors that this one has.
    #[allow(clippy::unnecessary_wraps, reason = "others are not known")]
    pub(super) fn streams() -> Option<Streams> {
        let is_wide = is_x86_feature_detected!("avx");
        Some(Streams { load: load(is_wide), store: store(is_wide) })
    }

    fn load(is_wide: bool) -> fn(&mut [Block]) {
        fn wide(buffer: &mut [Block]) {
            pass!(
                buffer,
                [],
                [
                    "vmovups ymm0, [rdi]",
                    "vmovups ymm1, [rdi + 32]",
                    "vmovups ymm2, [rdi + rdx]",
                    "vmovups ymm3, [rdi + rdx + 32]",
                    "vmovups ymm4, [rdi + 2*rdx]",
                    "vmovups ymm5, [rdi + 2*rdx + 32]",
                    "vmovups ymm6, [rdi + rcx]",
                    "vmovups ymm7, [rdi + rcx + 32]"
                ],
                ["vzeroupper"]
            );
        }
        fn short(buffer: &mut [Block]) {
            pass!(
                buffer,
                [],
                [
                    "movups xmm0, [rdi]",
                    "movups xmm1, [rdi + 16]",
                    "movups xmm2, [rdi + 32]",
                    "movups xmm3, [rdi + 48]",
                    "movups xmm4, [rdi + rdx]",
                    "movups xmm5, [rdi + rdx + 16]",
                    "movups xmm6, [rdi + rdx + 32]",
                    "movups xmm7, [rdi + rdx + 48]",
                    "movups xmm0, [rdi + 2*rdx]",
                    "movups xmm1, [rdi + 2*rdx + 16]",
                    "movups xmm2, [rdi + 2*rdx + 32]",
                    "movups xmm3, [rdi + 2*rdx + 48]",
                    "movups xmm4, [rdi + rcx]",
                    "movups xmm5, [rdi + rcx + 16]",
                    "movups xmm6, [rdi + rcx + 32]",
                    "movups xmm7, [rdi + rcx + 48]"
                ],
                []
            );
        }
        if is_wide { wide } else { short }
    }

    fn store(is_wide: bool) -> fn(&mut [Block]) {
        fn wide(buffer: &mut [Block]) {
            pass!(
                buffer,
                ["vmovups ymm0, [rdi]"],
                [
                    "vmovups [rdi], ymm0",
                    "vmovups [rdi + 32], ymm0",
                    "vmovups [rdi + rdx], ymm0",
                    "vmovups [rdi + rdx + 32], ymm0",
                    "vmovups [rdi + 2*rdx], ymm0",
                    "vmovups [rdi + 2*rdx + 32], ymm0",
                    "vmovups [rdi + rcx], ymm0",
                    "vmovups [rdi + rcx + 32], ymm0"
                ],
                ["vzeroupper"]
            );
        }
        fn short(buffer: &mut [Block]) {
            pass!(
                buffer,
                ["movups xmm0, [rdi]"],
                [
                    "movups [rdi], xmm0",
                    "movups [rdi + 16], xmm0",
                    "movups [rdi + 32], xmm0",
                    "movups [rdi + 48], xmm0",
                    "movups [rdi + rdx], xmm0",
                    "movups [rdi + rdx + 16], xmm0",
                    "movups [rdi + rdx + 32], xmm0",
                    "movups [rdi + rdx + 48], xmm0",
                    "movups [rdi + 2*rdx], xmm0",
                    "movups [rdi + 2*rdx + 16], xmm0",
                    "movups [rdi + 2*rdx + 32], xmm0",
                    "movups [rdi + 2*rdx + 48], xmm0",
                    "movups [rdi + rcx], xmm0",
                    "movups [rdi + rcx + 16], xmm0",
                    "movups [rdi + rcx + 32], xmm0",
                    "movups [rdi + rcx + 48], xmm0"
                ],
                []
            );
        }
        if is_wide { wide } else { short }
    }

    /// So many additions, of which each needs the one before: one a cycle of the core. Of two registers, since cores from Golden Cove on
    /// add constants while they rename registers, several a cycle.
    pub(super) fn chain(additions: usize) {
        // SAFETY: it changes two registers, reads one, and touches no memory.
        unsafe {
            asm!(
                "2:",
                ".rept 50",
                "add {sum}, {one}",
                ".endr",
                "dec {turns}",
                "jnz 2b",
                sum = inout(reg) 0_u64 => _,
                one = in(reg) 1_u64,
                turns = inout(reg) (additions / 50).max(1) => _,
                options(nostack, nomem),
            );
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod stream {
    //! Nothing is known of other processors here.

    use super::Block;

    pub(super) struct Streams {
        pub(super) load: fn(&mut [Block]),
        pub(super) store: fn(&mut [Block]),
    }

    pub(super) fn streams() -> Option<Streams> {
        None
    }

    pub(super) fn chain(_: usize) {}
}
