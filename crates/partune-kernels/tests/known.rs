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
    let turns = ["fc", "fd", "fe", "d4"].map(|operation| sum(operation).turns());
    assert_eq!(turns, [16, 8, 4, 2], "paddb, paddw, paddd, paddq");
    // pmaddwd: products of 16 bits; pmaxsd, which is no comparison of doubles.
    assert_eq!((sum("f5").turns(), sum("383d").turns()), (8, 4));
    let kernel = sum("fe");
    assert_eq!((kernel.lanes, kernel.used_lanes), (0, 0));
    // Five instructions, `cmp` and `jne` being one, at four a cycle: for four turns.
    near(kernel.bounds.expect("it calls nothing").mac, 0.25);
}

/// Copies, fills and conversions have no arithmetic that tells the width of an element: what the compiler divided the number of turns by does, or an index with a
/// scale.
#[test]
fn turns_are_known_without_arithmetic() {
    let cases: &[(&str, &[u32], &str)] = &[
        (
            "GCC 12 -O3: `a[i] = x` of doubles; `movups` says nothing of them",
            &[2],
            "85f67e3983fe01743889f2660f28c84889f8d1ea660f14c948c1e2044801fa900f11084883c0104839c275f489f083e0fe83e601740a4898f20f1104c7c36690c331c0ebf166662e0f1f840000000000",
        ),
        (
            "GCC 12 -O3: `a[i] = b[i]`, of `float` to `double`",
            &[4],
            "4889f989d785d20f8e970000008d42ff83f8020f8690000000c1ea0231c048c1e204660f1f4400000f124406080f5a0c060f110c410f5ac80f114c41104883c0104839c275e289f883e0fc40f6c70374574863d0660fefc0f30f5a04964c8d0c95000000004c8d04d500000000f20f1104d18d500139d77e2b660fefc083c002f3420f5a440e04f2420f1144010839c77e12660fefc0f3420f5a440e08f2420f11440110c30f1f00c331c0eba40f1f00",
        ),
        (
            "GCC 12 -O3: `a[i] ^= b[i]` of 64 bits",
            &[2],
            "85d27e4383fa01744889d131c0d1e948c1e1040f1f440000f30f6f0407f30f6f0c06660fefc10f1104074883c0104839c175e589d083e0fe83e20174134898488b14c6483114c7c30f1f840000000000c331c0ebe866662e0f1f840000000000",
        ),
        (
            "GCC 12 -O2: a sum of doubles, a fourth of as many as it is given",
            &[1],
            "c1ee02741b89f6660fefc0488d04f790f20f58074883c7084839c775f3c36690660fefc0c3",
        ),
        (
            "Clang 14 -O3: a sum of `int`, unrolled, the rest of it in vectors, and one by one",
            &[32, 8, 1],
            "85f67e1089f183fe08730c31d231c0e9fc00000031c0c389ca83e2f8488d72f84889f048c1e8034883c0014189c04183e0034883fe18730c660fefc031f6660fefc9eb754883e0fc660fefc031f6660fefc9662e0f1f8400000000000f1f4000f30f6f14b7660ffed0f30f6f44b710660ffec1f30f6f4cb720f30f6f5cb730f30f6f64b740660ffee1660ffee2f30f6f54b750660ffed3660ffed0f30f6f44b760660ffec4f30f6f4cb770660ffeca4883c6204883c0fc75a74d85c0742e488d04b74883c01049c1e00531f60f1f4000f30f6f5430f0660ffec2f30f6f1430660ffeca4883c6204939f075e4660ffec1660f70c8ee660ffec8660f70c155660ffec1660f7ec04839ca74110f1f4400000304974883c2014839d175f4c3",
        ),
        (
            "Clang 14 -O3: `a[i] = b[n - 1 - i]` of doubles, unrolled; first the loop for few",
            &[2, 8],
            "5385d20f8e550100004189d283fa04737d4531c04c89c048f7d041f6c20174194489c1f7d101d14863c9f20f1004cef2420f1104c74983c8014c01d00f841c0100004d29c24489c0f7d001d04a8d0cc74883c10831d2662e0f1f8400000000004898f20f1004c6f20f1144d1f88d78ff4863fff20f1004fef20f1104d14883c20283c0fe4939d275d7e9d00000004d8d4aff8d42ff89c14429c94531c039c10f8f6fffffff49c1e9200f8565ffffff4589d04183e0fc498d40fc4989c149c1e9024983c1014885c00f84920000004d89cb4983e3fe8d42fb31c9660f1f4400008d58044863db0f1044dee80f104cdef80fc6c94e0fc6c04e0f110ccf0f1144cf1048980f1044c6e80f104cc6f80fc6c94e0fc6c04e0f114ccf200f1144cf304883c10883c0f84983c3fe75b441f6c101742389c8f7d001d048980f1044c6e80f104cc6f80fc6c94e0fc6c04e0f110ccf0f1144cf104d39d00f85b6feffff5bc3",
        ),
    ];
    for (what, turns, hex) in cases {
        let found = kernels(&x86::decode(&bytes(hex), 0x1000), core("zen3"));
        assert_eq!(found.iter().map(Kernel::turns).collect::<Vec<u32>>(), *turns, "{what}");
    }
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
    assert_eq!((kernel.known_turns, kernel.lanes, kernel.used_lanes, kernel.instructions), (Some(1), 8, 1, 6));
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
    assert_eq!((kernel.known_turns, kernel.used_lanes), (Some(4), 4));
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
    assert_eq!(kernel.turns(), 1);
    near(kernel.chain.expect("x depends on x").cycles, f64::from(core("zen4").forward) + 3.0 + 3.0);
    // x, y and z, of which x is stored as well.
    near(kernel.loaded, 24.0);
    near(kernel.stored, 8.0);
}

/// Columns of a matrix with rows of 25: `vmovsd 96(%rax)`, `vaddsd 8(%rax)`, `vmovsd` to `(%rax)`, `add $200`, `cmp`, `jne`, and `ret`.
#[test]
fn a_long_step_is_one_turn() {
    let kernel = one("c5fb104060 c5fb584008 c5fb1100 4805c8000000 4839c8 75e7 c3", "zen4");
    assert_eq!((kernel.turns(), kernel.instructions), (1, 6));
    near(kernel.loaded, 16.0);
}

/// A column of a matrix with rows of 512 bytes, two rows a turn: `vaddsd (%rax)`, `vaddsd 512(%rax)`, `add $1024`, `cmp`, `jne`, and `ret`.
#[test]
fn equal_steps_are_turns() {
    let kernel = one("c5fb5800 c5fb588000020000 480500040000 4839c8 75e9 c3", "zen4");
    assert_eq!((kernel.turns(), kernel.instructions), (2, 5));
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
