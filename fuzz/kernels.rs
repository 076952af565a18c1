//! What the fuzz target of machine code does with its input.
//!
//! For `fuzz_targets/kernels.rs` and for the tests of `partune-kernels`, which run it over code that is put together from instructions and jumps.

use partune_cache::Level;
use partune_kernels::traffic::{LineCycles, finite, traffic};
use partune_kernels::{cores, kernels, x86};

/// Bytes before the code: which core, how many turns, and the address in eight more.
const HEAD: usize = 10;

/// Small ones, so that few turns fill them.
const LEVELS: [Level; 2] = [Level { bytes: 2 << 10, line: 64, ways: 4 }, Level { bytes: 8 << 10, line: 64, ways: 8 }];
/// Of the levels and memory.
const COSTS: [LineCycles; 3] = [
    LineCycles { load: 1.0, store: 2.0 },
    LineCycles { load: 2.0, store: 4.0 },
    LineCycles { load: 16.0, store: 40.0 },
];

/// Code of x86-64 with a head. Besides not panicking, every byte is of one instruction, the bounds of each loop are in order, and its lines are no more
/// than its accesses can touch.
pub(crate) fn code(bytes: &[u8]) {
    let (head, code) = bytes.split_at(bytes.len().min(HEAD));
    let [core, turns, address @ ..] = head else { return };
    let address = address.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let decoded = x86::decode(code, address);
    let mut at = address;
    for it in &decoded {
        assert!(it.address == at && it.length > 0);
        at = it.end();
    }
    assert_eq!(at, address.wrapping_add(code.len() as u64));
    let core = &cores()[usize::from(*core) % cores().len()];
    for kernel in kernels(&decoded, core) {
        assert!(kernel.turns() > 0 && kernel.instructions + kernel.conditional <= decoded.len());
        for at in kernel.chained.iter().chain(&kernel.unknown) {
            assert!(!x86::text(code, address, *at).is_empty());
        }
        if let Some(bounds) = &kernel.bounds {
            assert!(bounds.m <= bounds.ma && bounds.ma <= bounds.mac);
            assert!(bounds.macs.is_none_or(|macs| bounds.mac <= macs && macs.is_finite()));
        }
        let Ok(traffic) = traffic(&kernel, &LEVELS, u64::from(*turns) * 37) else { continue };
        let accesses = kernel.streams.loads.iter().chain(&kernel.streams.stores);
        // Each touches the lines that its bytes are on, and one more where they begin inside of one.
        let most: u64 = accesses.map(|it| u64::from(it.bytes) / u64::from(LEVELS[0].line) + 2).sum();
        let lines: f64 = traffic.sources.iter().map(|it| it.loaded + it.stored).sum();
        assert!(lines * f64::from(kernel.turns()) <= most as f64 + 1e-6);
        if let Some((bound, macs)) = finite(&kernel, &traffic, &COSTS).zip(kernel.bounds.and_then(|it| it.macs)) {
            assert!(bound.is_finite() && bound >= macs);
        }
    }
}
