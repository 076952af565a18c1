//! How many turns of the source's loop one of the machine's does: where that is not an element of each array, and where nobody can know.

use partune_kernels::{kernels, kernels_with_data, x86};

use crate::known::{bytes, core, near};

/// What it is, the turns of its loops, and the code of a function.
const CASES: &[(&str, &[Option<u32>], &str)] = &[
    (
        "GCC 12 -O1: four numbers of a structure, each by its own factor",
        &[Some(1)],
        "4885f67e614889f848c1e6054801f7f20f101d00000000f20f101500000000f20f100d00000000f20f1000f20f58c0f20f1100660f28c3f20f594008f20f114008660f28c2f20f594010f20f114010660f28c1f20f594018f20f1140184883c0204839f875c1c3",
    ),
    (
        "GCC 12 -O1: a sum of squares of three numbers of four",
        &[Some(1)],
        "4885f67e424889f848c1e6054801f7660fefdbf20f1000f20f105008f20f104810f20f59c0f20f59d2f20f58c2f20f59c9f20f58c1f20f58d84883c0204839f875d1660f28c3c3660fefdbebf5",
    ),
    (
        "Clang 14 -O3 -ffast-math: the same in vectors, and the rest one by one",
        &[Some(4), Some(1)],
        "4885f67e114883fe05730f660f57c031c0e9af0000000f57c0c389f083e0034885c0b904000000480f45c84889f04829c8488d4f70660f57c04889c2660f57c9f20f105190f20f105998660f1651b0660f59d2660f58d0f20f1041a0f20f1061d0660f1661f0660f1659b8660f59e4f20f1069d8660f1669f8660f58e1660f59db660f1641c0660f59edf20f1049e0660f1609660f59c0660f58c3660f58c2660f59c9660f58cd660f58cc4883e9804883c2fc758b660f58c8660f28c1660f15c1f20f58c14829c648c1e0054801f84883c008662e0f1f8400000000000f1f00f20f1048f8f20f59c9f20f58c8660f1010660f59d2660f28c2660f15c2f20f58c2f20f58c14883c0204883c6ff75d1c3",
    ),
    (
        "GCC 12 -O1 -ffast-math: products of complex numbers",
        &[Some(1)],
        "4885c97e5348c1e104b800000000f20f100406f20f104c0608f20f101c02f20f10640208660f28d0f20f59d3660f28e9f20f59ecf20f5cd5f20f111407f20f59c4f20f59cbf20f58c1f20f114407084883c0104839c875b6c3",
    ),
    (
        "GCC 12 -O2 -ffast-math: the same, each in a vector; two may be in one, too",
        &[None],
        "4885c97e4c48c1e10431c00f1f440000660f101406660f100402660f100c06660f14d2660f59d0660f15c9660fc6c001660f59c1660f28ca660f5cc8660f58c2f20f10c10f1104074883c0104839c875bfc3",
    ),
    (
        "GCC 12 -O3 -ffast-math -march=haswell: the same, two in a vector, as they were divided before",
        &[Some(2)],
        "4885c90f8e810000004883f9010f84810000004989c831c049d1e849c1e00590c4e37d0504060fc4e37d05140205c4e37d050c0600c5fd59c2c4e2f5b60402c5fd1104074883c0204c39c075d34889c84883e0fe83e1017437c5f87748c1e004c5f9100406c5f9101402c4e37905c800c4e37905da01c4e37905c003c5f959c3c4e2f1b6c2c5f9110407c30f1f440000c5f877c331c0ebc4",
    ),
    (
        "GCC 12 -O3 -march=haswell: every second element",
        &[Some(4)],
        "4989f94889d74885d20f8ed3000000488d42ff4883f8070f86c6000000c4e27d19150000000048c1e8034889f24889c14c89c84989c849c1e0064901f00f1f00c5fd101ac5e51442204883c2404883c040c4e3fd01c0d8c5fd59c2c5f91340c0c5f91740d0c4e37d19c001c5f91340e0c5f91740f04c39c275c6488d04cd00000000c5f877c5fb100500000000c5fb590cc6488d4802488d14c500000000c4c17b110cc14839cf7e39c5fb594c1610488d4804c4c17b114c11104839cf7e23c5fb594c16204883c006c4c17b114c11204839c77e0dc5fb59441630c4c17b11441130c331c0eb9e",
    ),
    (
        "GCC 12 -O3: `a[i] += 2.0 * b[i]` of `double` and `float`",
        &[Some(4)],
        "31c0660f1f4400000f12540608660f104c4710660f101c470f5ac2660f58c0660f58c80f5a0406660f58c0660f58c30f114c47100f1104474883c010483da00f000075c4c3",
    ),
    (
        "GCC 12 -O3: `a[i] = 0.5f * b[i]` of `float` and `short`",
        &[Some(8)],
        "f30f101d0000000031c0660fefe40fc6db00660f1f440000f30f6f0406660f6fd4660f65d0660f6fc8660f61ca660f69c20f5bc90f5bc00f59cb0f59c30f110c470f114447104883c010483dd007000075c6c3",
    ),
    (
        "GCC 12 -O3 -ffast-math -march=haswell: `sum += a[at[i]]`",
        &[Some(4)],
        "4889f94889f74885d20f8e19010000488d42ff4883f8060f86170100004889f0c5e957d2c5e576db4889d648c1ee0348c1e6054801fe662e0f1f840000000000c5fe6f00c5fd28ebc5fd28f34883c020c4e2d5920cc1c4e37d46c011c4e2cd9224c1c5f558c4c5ed58d04839f075d1c4e37d19d3014889d0c5e158ca4883e0f8c5e958d34989c0c5f115c1c5f958c14839c20f8498000000c5f8774889d64c29c64c8d4eff4983f902763ec4a17a6f0487c5e176db4989f0c5f928fb4983e0fcc4e2c1920cc1c5f970c0ee4c01c083e603c4e2e19224c1c5f158ccc5f158cac5f115c1c5f958c174434c630487488d348500000000c4a17b5804c14c8d40014c39c27e284c634437044883c002c4a17b5804c14839c27e144863443708c5fb5804c1c30f1f440000c5f957c0c30f1f00c5f877c3c5e957d24531c0c5f957c031c0e955ffffff",
    ),
    (
        "Clang 14 -O2: `a[i] = b[i + 1] - b[i]`, where vectors are put together from what was loaded",
        &[Some(8)],
        "660f160631c0662e0f1f840000000000660f104cc608660f1054c618660fc6c101660f28d9660fc6da01660f5cc8660f28c2660f5cc3660f110cc7660f1144c710660f104cc628660f1044c638660fc6d101660f28d9660fc6d801660f5cca660f28d0660f5cd3660f114cc720660f1154c7304883c008483d900100007591c3",
    ),
    (
        "GCC 12 -O2: a sum of products, added up in order",
        &[Some(2)],
        "31c0660fefc0662e0f1f840000000000660f100c06660f101c074883c010660f59cbf20f58c1660f15c9f20f58c1483d800c000075dac3",
    ),
    (
        "GCC 12 -O1: a sum of squares of two numbers of two, which may be two turns in another order",
        &[None],
        "4885f67e354889f848c1e6044801f7660fefd2f20f1000f20f104808f20f59c0f20f59c9f20f58c1f20f58d04883c0104839f875de660f28c2c3660fefd2ebf5",
    ),
    (
        "GCC 12 -O3 -ffast-math: a sum of squares of three numbers of four",
        &[Some(2)],
        "4885f60f8ef7000000488d4eff4883f9010f86ee0000004889ca4889f8660fefe448d1ea48c1e2064801fa0f1f440000660f1008660f1040204883c040660f1058f0660f1258e8660f1648d0660f1640f0660f28d1660f15c8660f59c9660f14d0660f1040d0660f1240c8660f59d2660f14c3660f59c0660f58e1660f58d0660f58e24839d075a8660f28d44883e1fe660f15d4660f58d44889ca4883c10148c1e205488d0417f20f1000f20f105808f20f104810f20f59c0f20f59c9f20f59dbf20f58caf20f58c3f20f58c14839ce7e32488d441720f20f1010f20f104808f20f105810f20f59d2f20f59dbf20f59c9f20f58c3f20f58caf20f58c1c36690660fefc0c331c9660fefd2eb8b",
    ),
];

#[test]
fn turns_are_right_or_not_known() {
    for (what, turns, hex) in CASES {
        let found = kernels(&x86::decode(&bytes(hex), 0x1000), core("zen4"));
        let is: Vec<Option<u32>> = found.iter().map(|it| it.known_turns).collect();
        assert_eq!(is, *turns, "{what}");
    }
}

/// `vmovapd 0x4000` to a register, then `vmulpd (%rdi)` by it, `vmovapd` to there, `add $32`, `cmp`, `jne`, and `ret`: four turns if all numbers are the same,
/// else of a structure of four, or of two.
#[test]
fn different_factors_are_of_one_turn() {
    let code = x86::decode(&bytes("c5fd280c2500400000 c5f55907 c5fd2907 4883c720 4839c7 75ef c3"), 0x1000);
    for (factors, turns) in [([3.0, 3.0, 3.0, 3.0], 4), ([2.0, 3.0, 2.0, 3.0], 2), ([2.0, 3.0, 5.0, 7.0], 1)] {
        let numbers: Vec<u8> = factors.iter().flat_map(|it: &f64| it.to_le_bytes()).collect();
        let data = |address: u64, bytes: u64| (address == 0x4000 && bytes == 32).then_some(&numbers[..]);
        let found = kernels_with_data(&code, &data, core("zen4"));
        assert_eq!(found[0].known_turns, Some(turns), "{factors:?}");
    }
    let found = kernels(&code, core("zen4"));
    assert_eq!(found[0].known_turns, Some(4));
}

/// A loop that does the same four times over, and one that does the rest of its turns: a sum, of doubles.
#[test]
fn the_rest_of_a_loop_tells_its_turns() {
    let of = |hex: &str| kernels(&x86::decode(&bytes(hex), 0x1000), core("zen4")).remove(0);
    // addsd (%rax), and so on at 8, 16 and 24; add; cmp; jne; ret.
    let four = of("f20f5800 f20f584008 f20f584010 f20f584018 4883c020 4839c8 75e4 c3");
    let rest = of("f20f5800 4883c008 4839c8 75f3 c3");
    assert_eq!((four.times(&rest), rest.times(&four), rest.times(&rest)), (Some(4), None, None));
    // Products are something else.
    assert_eq!(four.times(&of("f20f5900 f20f5800 4883c008 4839c8 75ef c3")), None);

    // A turn of 32 bytes is one of the source's if that moves by 32, and two where it moves by 16.
    let by = |steps: &[u64]| four.turns_by_steps(&steps.iter().copied().collect());
    assert_eq!((by(&[32]), by(&[16]), by(&[8]), by(&[24]), by(&[])), (Some(1), Some(2), Some(4), None, None));
    assert_eq!(by(&[8, 16]), None);
    let mut one = four.clone();
    one.set_turns(1);
    let macs = |it: &partune_kernels::Kernel| it.bounds.as_ref().and_then(|it| it.macs).expect("it is short");
    near(macs(&one), 4.0 * macs(&four));
    near(one.flops, 4.0);
}
