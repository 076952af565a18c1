//! The bounds of loops whose machine code is at hand, against the tables of the hierarchy and what can be counted.

use partune_kernels::{Core, Kernel, cores, kernels, x86};

/// A scalar dot product: `vmovsd (%rdi,%rax,8)`, `vmulsd (%rsi,%rax,8)`, `vaddsd`, `inc`, `cmp`, `jne`, and `ret`.
const DOT: &str = "c5fb100cc7 c5f3590cc6 c5fb58c1 48ffc0 4839c2 75ea c3";
/// A triad of vectors of 32 bytes: `vmovupd`, `vfmadd213pd` from memory, `vmovupd` to memory, `add $32`, `cmp`, `jne`, and `ret`.
const TRIAD: &str = "c5fd100c06 c4e2fda80c02 c5fd110c07 4883c020 4839c1 75e7 c3";
/// `x[i] = z[i] * (y[i] - x[i - 1])`, where `x[i - 1]` is loaded again.
const ELIMINATION: &str = "c5fb100cc6 c5f35c4cc7f8 c5f3590cc2 c5fb110cc7 48ffc0 4839c1 75e3 c3";

/// The same as GCC 12 compiles it with `-O1`: the array has two addresses, one of them `lea -8(%rdi), %rcx` before the loop.
const TWO_ADDRESSES: &str = "c5fb10054e890200c5fb11054e7a0200b808000000488d3d427a0200488d353b5a0200488d4ff8488d15303a0200c5fb100406c5fb5c0401c5fb590402c5fb1104074883c008483d000f000075e0b8df010000c3";

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|it| !it.is_ascii_whitespace()).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16).expect("digits");
    digits.chunks(2).map(pair).collect()
}

pub(crate) fn core(id: &str) -> &'static Core {
    cores().iter().find(|core| core.id == id).expect("it is known")
}

pub(crate) fn one(hex: &str, on: &str) -> Kernel {
    let mut found = kernels(&x86::decode(&bytes(hex), 0x1000), core(on));
    assert_eq!(found.len(), 1);
    found.remove(0)
}

pub(crate) fn near(is: f64, should: f64) {
    assert!((is - should).abs() <= 0.01 * should.max(0.01), "{is} for {should}");
}

/// A sum of integers of 32 bits as GCC 12 compiles it with `-O3`: `movdqu (%rax)`, `add $16`, `paddd`, `cmp`, `jne`, and `ret`; its other widths differ in
/// one byte.
#[test]
fn vectors_of_integers_have_the_turns_of_their_elements() {
    let sum = |operation: &str| {
        let back = 0xf0 - operation.len() / 2;
        one(&format!("f30f6f10 4883c010 660f{operation}c2 4839c2 75{back:x} c3"), "skylake-server")
    };
    let turns = ["fc", "fd", "fe", "d4"].map(|operation| sum(operation).turns);
    assert_eq!(turns, [16, 8, 4, 2], "paddb, paddw, paddd, paddq");
    // pmaddwd: products of 16 bits; pmaxsd, which is no comparison of doubles.
    assert_eq!((sum("f5").turns, sum("383d").turns), (8, 4));
    let kernel = sum("fe");
    assert_eq!((kernel.lanes, kernel.used_lanes), (0, 0));
    // Five instructions, `cmp` and `jne` being one, at four a cycle: for four turns.
    near(kernel.bounds.expect("it calls nothing").mac, 0.25);
}

/// The table of Hung and Davidson's levels for loops whose parts are known; MAC and MACS as llvm-mca 14 has them for this core (1.2 and 4.012;
/// 1.3 and 1.347 for four elements).
#[test]
fn a_scalar_dot_product_waits_for_its_sum() {
    let kernel = one(DOT, "skylake-server");
    let bounds = kernel.bounds.expect("it calls nothing");
    near(bounds.m, 2.0 / 32.0);
    near(bounds.ma, 2.0 / 16.0);
    // Five instructions, `cmp` and `jne` being one, at four a cycle.
    near(bounds.mac, 1.25);
    near(bounds.macs.expect("it is short"), 4.0);
    assert_eq!((kernel.turns, kernel.lanes, kernel.used_lanes, kernel.instructions), (1, 8, 1, 6));
    let text = |at: &u64| x86::text(&bytes(DOT), 0x1000, *at);
    assert_eq!(kernel.chained.iter().map(text).collect::<Vec<_>>(), ["vaddsd %xmm1,%xmm0,%xmm0"]);
    // Where there is no such code there is no text.
    assert!([0xfff, 0x2000].iter().map(text).all(|text| text.is_empty()));
    near(kernel.chain.expect("a sum").cycles, 4.0);
    assert!(kernel.unknown.is_empty() && kernel.has_exit && !kernel.calls);
}

/// Golden Cove's additions take each other's results sooner, those of 64 bytes not; a multiplication does not.
#[test]
fn chains_of_additions_may_be_shorter() {
    let chain = |hex: &str| one(hex, "golden-cove").chain.expect("a sum").cycles;
    near(chain(DOT), 2.0);
    near(one(DOT, "golden-cove").bounds.and_then(|it| it.macs).expect("it is short"), 2.0);
    // `vaddpd` of 64 bytes from memory, of which eight elements are a turn's each.
    near(chain("62f1fd48580406 4883c040 4839c2 75f0 c3") * 8.0, 3.0);
    // x[i] = z[i] * (y[i] - x[i - 1]): forwarding, subtraction and multiplication.
    let golden = core("golden-cove");
    near(chain(ELIMINATION), f64::from(golden.forward) + 3.0 + 4.0);
}

/// At each width: both ports of Golden Cove that add in 64 bytes multiply as well, and one of those in 32 bytes does not.
#[test]
fn peaks_are_of_one_width() {
    for (id, flops) in [("golden-cove", 32.0), ("skylake-server", 32.0), ("zen4", 24.0), ("zen3", 24.0)] {
        near(core(id).peak_flops(8), flops);
        near(core(id).peak_flops(4), 2.0 * flops);
    }
}

#[test]
fn a_triad_in_short_vectors_keeps_its_ports_busy() {
    let kernel = one(TRIAD, "skylake-server");
    let bounds = kernel.bounds.expect("it calls nothing");
    assert_eq!((kernel.turns, kernel.used_lanes), (4, 4));
    near(bounds.m * 4.0, 0.25);
    near(bounds.ma * 4.0, 0.5);
    // Five instructions at four a cycle; two loads and the address of a store would need one.
    near(bounds.mac * 4.0, 1.25);
    let macs = bounds.macs.expect("it is short") * 4.0;
    assert!((1.25..=1.36).contains(&macs), "{macs}");
    near(kernel.loaded, 16.0);
    near(kernel.stored, 8.0);
    // The counter goes from turn to turn, and nothing else.
    near(kernel.chain.expect("a counter").cycles * 4.0, 1.0);
}

#[test]
fn what_was_stored_is_waited_for() {
    let zen = core("zen4");
    let kernel = one(ELIMINATION, "zen4");
    let chain = kernel.chain.expect("x depends on x");
    // Forwarding, subtraction, multiplication.
    near(chain.cycles, f64::from(zen.forward) + 3.0 + 3.0);
    assert_eq!(kernel.chained.len(), 3, "{:x?}", kernel.chained);
    let bounds = kernel.bounds.expect("it calls nothing");
    near(bounds.macs.expect("it is short"), chain.cycles);
    // x, y and z are three streams of eight bytes, and what is loaded of x lies a turn behind.
    near(kernel.loaded, 24.0);
}

#[test]
fn addresses_that_were_made_of_each_other_are_of_one_array() {
    let kernel = one(TWO_ADDRESSES, "zen4");
    assert_eq!(kernel.turns, 1);
    near(kernel.chain.expect("x depends on x").cycles, f64::from(core("zen4").forward) + 3.0 + 3.0);
    // x, y and z, of which x is stored as well.
    near(kernel.loaded, 24.0);
    near(kernel.stored, 8.0);
}

/// Columns of a matrix with rows of 25: `vmovsd 96(%rax)`, `vaddsd 8(%rax)`, `vmovsd` to `(%rax)`, `add $200`, `cmp`, `jne`, and `ret`.
#[test]
fn a_long_step_is_one_turn() {
    let kernel = one("c5fb104060 c5fb584008 c5fb1100 4805c8000000 4839c8 75e7 c3", "zen4");
    assert_eq!((kernel.turns, kernel.instructions), (1, 6));
    near(kernel.loaded, 16.0);
}

/// A column of a matrix with rows of 512 bytes, two rows a turn: `vaddsd (%rax)`, `vaddsd 512(%rax)`, `add $1024`, `cmp`, `jne`, and `ret`.
#[test]
fn equal_steps_are_turns() {
    let kernel = one("c5fb5800 c5fb588000020000 480500040000 4839c8 75e9 c3", "zen4");
    assert_eq!((kernel.turns, kernel.instructions), (2, 5));
}

#[test]
fn levels_are_in_order_on_every_core() {
    for core in cores() {
        for hex in [DOT, TRIAD, ELIMINATION] {
            let bounds = one(hex, &core.id).bounds.expect("they call nothing");
            let macs = bounds.macs.expect("they are short");
            assert!(bounds.m <= bounds.ma && bounds.ma <= bounds.mac && bounds.mac <= macs, "{}: {bounds:?}", core.id);
        }
    }
}

#[test]
fn cores_are_found_by_what_the_system_says_of_them() {
    let id = |vendor, family, model| partune_kernels::core_of(vendor, family, model).map(|core| core.id.as_str());
    assert_eq!(id("AuthenticAMD", 25, 17), Some("zen4"));
    assert_eq!(id("AuthenticAMD", 25, 1), Some("zen3"));
    assert_eq!(id("GenuineIntel", 6, 85), Some("skylake-server"));
    assert_eq!(id("GenuineIntel", 6, 3), None);
    for core in cores() {
        assert!(core.ports.len() <= 32 && !core.source.is_empty());
        let fma = core.peak_flops(8);
        assert!(fma >= 16.0, "{}: {fma} operations a cycle", core.id);
    }
}
